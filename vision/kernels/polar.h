/* Polar patches of a scene (vision/cluster_polar.py): R rings of A angles around a place, and how looks fit there in every turn.

   A scene is given as seen, ground (h, w, 4) uint8, weight (h, w) and light (rows, columns, 3) float32. A turn is a shift along the
   rings, so all turns are compared by way of waves: a plane of a patch, A numbers a ring, becomes F = A / 2 pairs, the wave of the
   highest frequency in the place of the imaginary part that the constant one does not have. */

#ifndef POLAR_H
#define POLAR_H

#include "sampling.h"

#define LIGHT_STEP 24           /* as in vision/cluster_scene.py */
#define CLIPPED 250.0f          /* vision/light.py */
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

/* rows of A numbers -> their waves (F / 8, rows, 2, 8); table: (2, F + 1, F) cosines and sines of angle times frequency */
INLINE void waves_of(const float *planes, int rows, int a, const float *table, float *out)
{
    int f = a / 2;
    const float *sines = table + (f + 1) * f;
    float even[4][33] = {{0}}, odd[4][33] = {{0}};
    for (int start = 0; start < rows; start += 4) {
        int many = rows - start < 4 ? rows - start : 4;
        for (int b = 0; b < many; b++) {
            const float *x = planes + (size_t)(start + b) * a;
            even[b][0] = x[0], even[b][f] = x[f], odd[b][0] = odd[b][f] = 0;
            for (int j = 1; j < f; j++)
                even[b][j] = x[j] + x[a - j], odd[b][j] = x[a - j] - x[j];
        }
        for (int chunk = 0; chunk < f; chunk += 8) {
            floats8 re[4] = {{0}}, im[4] = {{0}};
            for (int j = 0; j <= f; j++) {
                floats8 c = load8(table + j * f + chunk), s = load8(sines + j * f + chunk);
                for (int b = 0; b < 4; b++)
                    re[b] += even[b][j] * c, im[b] += odd[b][j] * s;
            }
            for (int b = 0; b < many; b++) {
                float *to = out + 2 * ((size_t)chunk * rows + 8 * (start + b));
                *(floats8 *)to = re[b], *(floats8 *)(to + 8) = im[b];
            }
        }
        for (int b = 0; b < many; b++) {
            float highest = 0;
            for (int j = 0; j <= f; j++)
                highest += j & 1 ? -even[b][j] : even[b][j];
            out[16 * (start + b) + 8] = highest;
        }
    }
}

/* Waves of AT_ONCE patches times one look's spectrum (F / 8, rows, 3, 8), summed over rows: (AT_ONCE, 2, F) */
INLINE void likeness(const float *const *waves, const float *spectrum, int rows, int a, float *out)
{
    int f = a / 2;
    for (int chunk = 0; chunk < f; chunk += 8) {
        floats8 re[AT_ONCE] = {{0}}, im[AT_ONCE] = {{0}};
        for (int p = 0; p < rows; p++) {
            const float *s = spectrum + 3 * ((size_t)chunk * rows + 8 * p);
            floats8 real = load8(s), imaginary = load8(s + 8), other = load8(s + 16);
            for (int b = 0; b < AT_ONCE; b++) {
                const float *xy = waves[b] + 2 * ((size_t)chunk * rows + 8 * p);
                floats8 x = load8(xy), y = load8(xy + 8);
                re[b] += x * real, im[b] += x * imaginary;
                re[b] -= y * imaginary, im[b] += y * other;
            }
        }
        for (int b = 0; b < AT_ONCE; b++) {
            *(floats8 *)(out + b * a + chunk) = re[b];
            *(floats8 *)(out + b * a + f + chunk) = im[b];
        }
    }
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
