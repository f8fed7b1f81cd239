/* Looks compared with what shows at many places, in every turn at once. */

#include "polar.h"

/* Whether no look can explain a patch better than bare ground by more than `least`, in any turn: even if all that its colours leave
   open fitted perfectly. bounds: (K, R, 7), of each ring of a look the lowest and highest of each colour, and the largest area a point of it
   may count with; nothing is known of the colours where these differ from turn to turn. more, less: times what is told for and against
   looks: a patch of few of the points tells of the others too, but not exactly */
INLINE int hopeless(const Patch *p, int r, int a, const float *bounds, int k, float least, float more, float less)
{
    float worth[64];
    int n = p->points;
    const float *seen = p->seen, *ground = p->ground, *weight = p->weight;
    for (int ring = 0; ring < r; ring++) {
        float sum = 0;
#pragma omp simd reduction(+:sum)
        for (int i = ring * a; i < (ring + 1) * a; i++) {
            float x = seen[i] - ground[i], y = seen[n + i] - ground[n + i], z = seen[2 * n + i] - ground[2 * n + i];
            sum += weight[i] * (x * x + y * y + z * z);
        }
        worth[ring] = sum * more * (1 / 3.0f);
    }
    for (int j = 0; j < k; j++) {
        const float *bound = bounds + (size_t)7 * r * j;
        float most = 0;
        for (int ring = 0; ring < r; ring++)
            most += bound[7 * ring + 6] * worth[ring];
        for (int ring = 0; ring < r && most > least; ring++, bound += 7) {
            float cost = 0;
            if (!(bound[3] < 1e9f))
                continue;
            float low[3], high[3];
            for (int c = 0; c < 3; c++)         /* it may be shown no brighter than the camera can */
                low[c] = lesser(bound[c], p->limit[c] * 0.9f), high[c] = bound[3 + c];
#pragma omp simd reduction(+:cost)
            for (int i = ring * a; i < (ring + 1) * a; i++) {
                float x = greater(greater(low[0] - seen[i], seen[i] - high[0]), 0);
                float y = greater(greater(low[1] - seen[n + i], seen[n + i] - high[1]), 0);
                float z = greater(greater(low[2] - seen[2 * n + i], seen[2 * n + i] - high[2]), 0);
                cost += weight[i] * (x * x + y * y + z * z);
            }
            most -= bound[6] * cost * less * (1 / 3.0f);
        }
        if (most > least)
            return 0;
    }
    return 1;
}

#define FEW 8                   /* points of a ring that are looked at first */
#define UNSURE 1.5f             /* times what they tell for looks, so much of what they tell against, to exclude all for sure */

/* Places compared together with the same spectra */
typedef struct {
    int many, place[AT_ONCE];
    const float *spectra;
    float *waves[AT_ONCE];
} Group;

/* Compares the places of a group, and empties it; as in compare_polar */
INLINE void tell(Group *group, int rows, int a, int k, const float *table, const int64_t *only, float *gain, int64_t *turn)
{
    float like[AT_ONCE * 64];
    const float *waves[AT_ONCE];
    for (int b = 0; b < AT_ONCE; b++)
        waves[b] = group->waves[b < group->many ? b : 0];
    for (int j = 0; j < k && group->many; j++) {
        int wanted = only[0] < 0;
        for (int b = 0; b < group->many; b++)
            wanted |= only[0] >= 0 && only[group->place[b]] == j;
        if (!wanted)
            continue;
        likeness(waves, group->spectra + (size_t)j * rows * 3 * (a / 2), rows, a, like);
        for (int b = 0; b < group->many; b++) {
            size_t where = (size_t)group->place[b] * k + j;
            int best;
            gain[where] = most_of(like + b * a, a, table, &best);
            turn[where] = best;
        }
    }
    group->many = 0;
}

/* At (n, 2) pixels: gain (n, K), how much better each look explains what shows than bare ground, in its best turn, and that turn
   (n, K); burnt (n,): where looks are brighter than the camera shows anything, so that dim has been taken, not spectra.
   offsets: (2, R A) pixels; spectra, dim: (K, F / 8, PLANES R, 3, 8); table: see waves_of; most: the looks' brightest colour;
   only: (n,) the one look to compare at each place (of the others nothing is filled in), or a single -1; bounds: of hopeless(), at places
   for which that holds nothing is filled in; a single number: it is not asked */
INLINE void compare(const Scene *scene, const double *at, int n, const float *offsets, int r, int a, const float *spectra,
                    const float *dim, int k, const float *table, const float *most, const int64_t *only, const float *bounds, int bounded,
                    float least, float *gain, int64_t *turn, uint8_t *burnt)
{
    int rows = PLANES * r, points = r * a, some = r * FEW;
    float *room = malloc(sizeof(float) * ((size_t)points * (8 + PLANES * (1 + 2 * AT_ONCE)) + (size_t)some * 10)), *next = room;
    Patch patch = {points, next, next + 3 * points, next + 6 * points, next + 7 * points, {0}};
    float *planes = next += 8 * points;
    Group groups[2] = {{0, {0}, spectra, {0}}, {0, {0}, dim, {0}}};
    for (int b = 0; b < 2 * AT_ONCE; b++)
        groups[b / AT_ONCE].waves[b % AT_ONCE] = next += PLANES * points;
    next += PLANES * points;
    Patch few = {some, next, next + 3 * some, next + 6 * some, next + 7 * some, {0}};
    float *of_few = next + 8 * some;
    for (int i = 0; i < some; i++) {
        int from = i / FEW * a + i % FEW * (a / FEW) + i / FEW % 2 * (a / FEW / 2);
        of_few[i] = offsets[from], of_few[some + i] = offsets[points + from];
    }
    for (int i = 0; i < n; i++) {
        float x = at[2 * i], y = at[2 * i + 1];
        if (bounded) {
            look_at(scene, x, y, of_few, &few);
            if (hopeless(&few, r, FEW, bounds, k, least, a / FEW * UNSURE, a / FEW / UNSURE))
                continue;
        }
        look_at(scene, x, y, offsets, &patch);
        if (bounded && hopeless(&patch, r, a, bounds, k, least, 1, 1))
            continue;
        burnt[i] = is_burnt(&patch, most);
        Group *group = &groups[burnt[i]];
        planes_of(&patch, planes);
        waves_of(planes, rows, a, table, group->waves[group->many]);
        group->place[group->many++] = i;
        if (group->many == AT_ONCE)
            tell(group, rows, a, k, table, only, gain, turn);
    }
    for (int g = 0; g < 2; g++)
        tell(&groups[g], rows, a, k, table, only, gain, turn);
    free(room);
}

QUICK void compare_polar(const uint8_t *seen, const uint8_t *ground, const float *weight, const float *light, int h, int w, int rows,
                         int columns, const double *at, int n, const float *offsets, int r, int a, const float *spectra,
                         const float *dim, int k, const float *table, const float *most, const int64_t *only, const float *bounds,
                         int bounded, double least, float *gain, int64_t *turn, uint8_t *burnt)
{
    Scene scene = {seen, ground, weight, light, h, w, rows, columns};
    if (a == 32)        /* constants, so that loops are unrolled */
        compare(&scene, at, n, offsets, r, 32, spectra, dim, k, table, most, only, bounds, bounded, least, gain, turn, burnt);
    else
        compare(&scene, at, n, offsets, r, 64, spectra, dim, k, table, most, only, bounds, bounded, least, gain, turn, burnt);
}

/* Which of (n, 2) pixels show about the colour of a piece: the mean over offsets (2, points), no more than BLOCK, in the light there,
   is within `own` of one of tones (many, 3). out (n,) */
QUICK void coloured_places(const uint8_t *seen, int h, int w, const float *light, int rows, int columns, const double *at, int n,
                           const float *offsets, int points, const float *tones, int many, double own, uint8_t *out)
{
    Spots spots;
    float x[BLOCK], y[BLOCK], got[3 * BLOCK];
    for (int i = 0; i < n; i++) {
        const float *l = light_at(light, rows, columns, at[2 * i], at[2 * i + 1]);
        float mean[3] = {0}, x0 = at[2 * i], y0 = at[2 * i + 1];
        for (int j = 0; j < points; j++)
            x[j] = x0 + offsets[j], y[j] = y0 + offsets[points + j];
        find_spots(&spots, x, y, points, h, w);
        colours_at(seen, &spots, points, got, BLOCK);
        for (int c = 0; c < 3; c++) {
            for (int j = 0; j < points; j++)
                mean[c] += got[c * BLOCK + j];
            mean[c] *= l[c] / points;
        }
        out[i] = 0;
        for (int k = 0; k < many; k++, tones += 3)
            out[i] |= fabsf(mean[0] - tones[0]) < own && fabsf(mean[1] - tones[1]) < own && fabsf(mean[2] - tones[2]) < own;
        tones -= 3 * many;
    }
}
