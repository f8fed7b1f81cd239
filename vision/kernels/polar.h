/* Polar patches of a scene (vision/readers/loose/scene/polar_patches.py): R rings of A angles around a place, and how looks fit there in every turn.

   A scene is given as seen, ground (h, w, 4) uint8, weight (h, w) and light (rows, columns, 3) float32. A turn is a shift along the
   rings, so all turns are compared by way of waves: a plane of a patch, A numbers a ring, becomes F = A / 2 pairs, the wave of the
   highest frequency in the place of the imaginary part that the constant one does not have. */

#ifndef POLAR_H
#define POLAR_H

#include "sampling.h"

#define LIGHT_STEP 24           /* as in vision/readers/loose/scene/scene.py */
#define CLIPPED 250.0f          /* vision/photometry/room_light.py */
#define HARDLY 0.95f
#define PLANES 5                /* what the ground tells against a piece, three colours, weight */
#define AT_ONCE 4               /* places compared together, so that spectra are read less often */

typedef struct {
    const uint8_t *seen, *ground;
    const float *weight, *light;
    int h, w, rows, columns;
} Scene;

typedef struct {
    int points;                 /* R A */
    float *seen, *ground;       /* 3 planes each */
    float *weight, *free;
    float limit[3];             /* how bright a camera can show anything there */
} Patch;

/* The three factors of the light at a place (x, y), in pixels; light: (rows, columns, 3) */
INLINE const float *light_at(const float *light, int rows, int columns, double x, double y)
{
    int row = held((int)rint(y / LIGHT_STEP), rows - 1), column = held((int)rint(x / LIGHT_STEP), columns - 1);
    return light + 3 * (row * columns + column);
}

/* What shows at offsets (2, points) around a place (x, y), all in pixels */
INLINE void look_at(const Scene *scene, float x, float y, const float *offsets, Patch *out)
{
    int n = out->points;
    const float *light = light_at(scene->light, scene->rows, scene->columns, x, y);
    const float *right = offsets, *down = offsets + n;
    float px[BLOCK], py[BLOCK], got[3 * BLOCK], heavy[BLOCK];
    Spots at;
    for (int c = 0; c < 3; c++)
        out->limit[c] = CLIPPED * light[c];
    for (int start = 0; start < n; start += BLOCK) {
        int many = n - start < BLOCK ? n - start : BLOCK;
        float *seen = out->seen + start, *weight = out->weight + start, *free_ = out->free + start;
        for (int i = 0; i < many; i++)
            px[i] = x + right[start + i], py[i] = y + down[start + i];
        find_spots(&at, px, py, many, scene->h, scene->w);
        colours_at(scene->seen, &at, many, got, BLOCK);
        colours_at(scene->ground, &at, many, out->ground + start, n);
        values_at(scene->weight, &at, many, heavy);
        for (int c = 0; c < 3; c++) {
            float l = light[c], *to = seen + c * n;
#pragma omp simd
            for (int i = 0; i < many; i++)
                to[i] = got[c * BLOCK + i] * l;
        }
#pragma omp simd
        for (int i = 0; i < many; i++) {
            free_[i] = fabsf(heavy[i]);
            weight[i] = greater(heavy[i], 0);
        }
    }
}

/* Whether something shows as bright as the camera can, where looks whose brightest colour is `most` would be brighter */
INLINE int is_burnt(const Patch *p, const float *most)
{
    int bright = 0, n = p->points;
    for (int c = 0; c < 3; c++)
        bright |= p->limit[c] < HARDLY * most[c];
    if (!bright)
        return 0;
    for (int c = 0; c < 3; c++)
        for (int i = 0; i < n; i++)
            if (p->seen[c * n + i] >= HARDLY * p->limit[c])
                return 1;
    return 0;
}

/* (PLANES R, A) what waves are made of */
INLINE void planes_of(const Patch *p, float *out)
{
    int n = p->points;
    const float *s = p->seen, *g = p->ground, *weight = p->weight;
#pragma omp simd
    for (int i = 0; i < n; i++) {
        float w = weight[i] * (1 / 3.0f);
        float b = g[i], green = g[n + i], r = g[2 * n + i];
        out[i] = w * (b * (2 * s[i] - b) + green * (2 * s[n + i] - green) + r * (2 * s[2 * n + i] - r));
        out[n + i] = w * s[i], out[2 * n + i] = w * s[n + i], out[3 * n + i] = w * s[2 * n + i];
        out[4 * n + i] = w;
    }
}

/* Rows as waves are worked out from: folded twice, so that each wave is a sum of A / 4 + 1 products. In pairs, the first for even
   frequencies, the second for odd ones: A / 4 + 1 pairs for cosines, as many for sines */
#define FOLDED(a) ((a) + 4)

INLINE int whole_fours(int rows) { return (rows + 3) / 4 * 4; }

/* (8,) numbers the other way round, and two of them in turn */
#if defined(__clang__) || __GNUC__ >= 12
#define SHUFFLED(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
typedef int ints8 __attribute__((vector_size(32)));
#define SHUFFLED(a, b, ...) __builtin_shuffle(a, b, (ints8){__VA_ARGS__})
#endif
#define REVERSED(a) SHUFFLED(a, a, 7, 6, 5, 4, 3, 2, 1, 0)

INLINE void in_turn(floats8 a, floats8 b, float *out)
{
    *(floats8 *)out = SHUFFLED(a, b, 0, 8, 1, 9, 2, 10, 3, 11);
    *(floats8 *)(out + 8) = SHUFFLED(a, b, 4, 12, 5, 13, 6, 14, 7, 15);
}

/* rows of A numbers (A in whole 32), and one more number that is there -> (rows, FOLDED(A)); squares (rows,): the sums of their squares */
INLINE void fold(const float *planes, int rows, int a, float *out, float *squares)
{
    int f = a / 2, h = f / 2;
    for (int row = 0; row < rows; row++, out += FOLDED(a)) {
        const float *x = planes + (size_t)row * a;
        float *sines = out + f + 2;
        floats8 all = {0};
        for (int j = 0; j < a; j += 8)
            all += load8(x + j) * load8(x + j);
        squares[row] = ((all[0] + all[4]) + (all[1] + all[5])) + ((all[2] + all[6]) + (all[3] + all[7]));
        for (int j = 0; j < h; j += 8) {
            floats8 near = load8(x + j), far = REVERSED(load8(x + a - j - 7));
            floats8 before = REVERSED(load8(x + f - j - 7)), after = load8(x + f + j);
            floats8 even = near + far, odd = far - near, other = before + after, less = after - before;
            in_turn(even + other, even - other, out + 2 * j);
            in_turn(odd - less, odd + less, sines + 2 * j);
        }
        out[0] = x[0] + x[f], out[1] = x[0] - x[f], sines[0] = sines[1] = 0;
        out[f] = x[h] + x[a - h], out[f + 1] = 0, sines[f] = 0, sines[f + 1] = x[a - h] - x[h];
    }
}

/* A pair as often as there is room for it */
typedef double __attribute__((may_alias, aligned(4))) pair;
typedef double doubles4 __attribute__((vector_size(32)));

INLINE floats8 pairs8(const float *p)
{
    double d = *(const pair *)p;
    return (floats8)(doubles4){d, d, d, d};
}

/* Of the waves (F / 8, rows, 2, 8) of folded rows, of which there are whole fours, the frequencies from 8 `chunk` on; table: (2, F + 1, F)
   cosines and sines of angle times frequency. high: (rows,) the root of what all higher frequencies of a row make up (of the first chunk,
   given the rows' squares), or NULL */
INLINE void waves_of(const float *folded, int rows, int a, const float *table, int chunk, float *out, const float *squares, float *high)
{
    int f = a / 2, h = f / 2;
    const float *sines = table + (f + 1) * f + 8 * chunk;
    table += 8 * chunk;
    for (int start = 0; start < rows; start += 4) {
        int many = rows - start < 4 ? rows - start : 4;
        const float *x = folded + (size_t)start * FOLDED(a), *y = x + f + 2;
        floats8 re[4] = {{0}}, im[4] = {{0}};
        for (int j = 0; j <= h; j++) {
            floats8 c = load8(table + j * f), s = load8(sines + j * f);
            for (int b = 0; b < 4; b++)
                re[b] += pairs8(x + b * FOLDED(a) + 2 * j) * c, im[b] += pairs8(y + b * FOLDED(a) + 2 * j) * s;
        }
        for (int b = 0; b < many; b++) {
            float *to = out + 2 * ((size_t)8 * chunk * rows + 8 * (start + b));
            if (!chunk) {
                const float *first = x + b * FOLDED(a);
                float even = 0, odd = 0;
                for (int j = 0; j < h; j += 2)
                    even += first[2 * j], odd += first[2 * j + 2];
                im[b][0] = even + first[f] - odd;
            }
            *(floats8 *)to = re[b], *(floats8 *)(to + 8) = im[b];
            if (high) {
                floats8 v = re[b] * re[b] + im[b] * im[b];
                float low = ((v[1] + v[5]) + (v[2] + v[6])) + ((v[3] + v[7]) + v[4]), all = a * squares[start + b];
                high[start + b] = greater((all - v[0]) / 2 - low, 0) + 1e-6f * all;
            }
        }
    }
    if (high)
#pragma omp simd
        for (int row = 0; row < rows; row++)
            high[row] = sqrtf(high[row]);
}

/* Waves of AT_ONCE patches times one look's spectrum (F / 8, rows, 3, 8), summed over rows, at the frequencies from 8 `chunk` on: put
   there in (AT_ONCE, 2, F) */
INLINE void likeness(const float *const *waves, int at_once, const float *spectrum, int rows, int a, int chunk, float *out)
{
    int f = a / 2;
    floats8 re[AT_ONCE] = {{0}}, im[AT_ONCE] = {{0}};
    for (int p = 0; p < rows; p++) {
        const float *s = spectrum + 3 * ((size_t)8 * chunk * rows + 8 * p);
        floats8 real = load8(s), imaginary = load8(s + 8), other = load8(s + 16);
        for (int b = 0; b < at_once; b++) {
            const float *xy = waves[b] + 2 * ((size_t)8 * chunk * rows + 8 * p);
            floats8 x = load8(xy), y = load8(xy + 8);
            re[b] += x * real, im[b] += x * imaginary;
            re[b] -= y * imaginary, im[b] += y * other;
        }
    }
    for (int b = 0; b < at_once; b++) {
        *(floats8 *)(out + b * a + 8 * chunk) = re[b];
        *(floats8 *)(out + b * a + f + 8 * chunk) = im[b];
    }
}

/* No less than the most of what a sum of waves (2, F) is at any angle; rest: no less than what the frequencies beyond the first `known`
   make of it together, times A / 2, but for the highest, which is always there */
INLINE float most_at_most(const float *waves, int a, int known, float rest)
{
    int f = a / 2;
    float sum = 0;
#pragma omp simd reduction(+:sum)
    for (int j = 0; j < known; j++)
        sum += sqrtf(waves[j] * waves[j] + waves[f + j] * waves[f + j]);
    float constant = sqrtf(waves[0] * waves[0] + waves[f] * waves[f]);
    return (waves[0] + fabsf(waves[f]) + 2 * (sum - constant + rest)) / a;
}

/* The most of what a sum of waves (2, F) is at the A angles, and at which */
INLINE float most_of(const float *waves, int a, const float *table, int *turn)
{
    int f = a / 2;
    const float *sines = table + (f + 1) * f;
    const floats8 changing = {1, -1, 1, -1, 1, -1, 1, -1};
    float ahead[32], back[32], last = waves[0] + (f & 1 ? -waves[f] : waves[f]), most;     /* at angles t, and A - t */
    for (int chunk = 0; chunk < f; chunk += 8) {
        floats8 even = {0}, odd = {0};
        for (int j = 1; j < f; j++) {
            even += waves[j] * load8(table + j * f + chunk);
            odd += waves[f + j] * load8(sines + j * f + chunk);
        }
        floats8 same = waves[0] + waves[f] * changing;
        *(floats8 *)(ahead + chunk) = same + 2 * (even - odd);
        *(floats8 *)(back + chunk) = same + 2 * (even + odd);
    }
    for (int j = 1; j < f; j++)
        last += j & 1 ? -2 * waves[j] : 2 * waves[j];
    most = last, back[0] = last;
#pragma omp simd reduction(max:most)
    for (int t = 0; t < f; t++)
        most = greater(most, greater(ahead[t], back[t]));
    int best = f;
    for (int t = f - 1; t > 0; t--)
        best = back[t] == most ? a - t : best;
    best = last == most ? f : best;
    for (int t = f - 1; t >= 0; t--)
        best = ahead[t] == most ? t : best;
    *turn = best;
    return most / a;
}

/* Room for AT_ONCE patches and their waves; freed with free() */
typedef struct {
    Patch patch[AT_ONCE];
    float *planes, *waves[AT_ONCE];
} Room;

INLINE Room *room_for(int points)
{
    size_t each = (size_t)points * (8 + PLANES);
    Room *room = malloc(sizeof(Room) + sizeof(float) * (each * AT_ONCE + (size_t)points * PLANES));
    float *next = (float *)(room + 1);
    for (int b = 0; b < AT_ONCE; b++) {
        room->patch[b] = (Patch){points, next, next + 3 * points, next + 6 * points, next + 7 * points, {0}};
        room->waves[b] = next + 8 * points;
        next += each;
    }
    room->planes = next;
    return room;
}

#endif
