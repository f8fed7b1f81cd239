/* Looks compared with what shows at many places, in every turn at once. */

#include "polar.h"

/* Whether no look can explain a patch better than bare ground by more than `least`, in any turn: even if all that its colours leave
   open fitted perfectly. bounds: (K, R, 7), of each ring of a look the lowest and highest of each colour, and the largest area a point of it
   may count with; nothing is known of the colours where these differ from turn to turn */
INLINE int hopeless(const Patch *p, int r, int a, const float *bounds, int k, float least)
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
        worth[ring] = sum * (1 / 3.0f);
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
            most -= bound[6] * cost * (1 / 3.0f);
        }
        if (most > least)
            return 0;
    }
    return 1;
}

/* At (n, 2) pixels: gain (n, K), how much better each look explains what shows than bare ground, in its best turn, and that turn
   (n, K); burnt (n,): where that does not hold, as looks are brighter than the camera shows anything.
   offsets: (2, R A) pixels; spectra: (K, F / 8, PLANES R, 3, 8); table: see waves_of; most: the looks' brightest colour;
   only: (n,) the one look to compare at each place (of the others nothing is filled in), or a single -1; bounds: of hopeless(), at places
   for which that holds nothing is filled in; a single number: it is not asked */
INLINE void compare(const Scene *scene, const double *at, int n, const float *offsets, int r, int a, const float *spectra, int k,
                    const float *table, const float *most, const int64_t *only, const float *bounds, int bounded, float least, float *gain,
                    int64_t *turn, uint8_t *burnt)
{
    Room *room = room_for(r * a);
    int rows = PLANES * r;
    size_t size = (size_t)rows * 3 * (a / 2);
    float like[AT_ONCE * 64];
    for (int next = 0; next < n;) {
        int many = 0, place[AT_ONCE];
        for (; many < AT_ONCE && next < n; next++) {
            Patch *p = &room->patch[many];
            look_at(scene, at[2 * next], at[2 * next + 1], offsets, p);
            if (bounded && hopeless(p, r, a, bounds, k, least))
                continue;
            burnt[next] = is_burnt(p, most);
            planes_of(p, room->planes);
            waves_of(room->planes, rows, a, table, room->waves[many]);
            place[many++] = next;
        }
        const float *waves[AT_ONCE];
        for (int b = 0; b < AT_ONCE; b++)
            waves[b] = room->waves[b < many ? b : 0];
        for (int j = 0; j < k && many; j++) {
            int wanted = only[0] < 0;
            for (int b = 0; b < many; b++)
                wanted |= only[0] >= 0 && only[place[b]] == j;
            if (!wanted)
                continue;
            likeness(waves, spectra + j * size, rows, a, like);
            for (int b = 0; b < many; b++) {
                size_t where = (size_t)place[b] * k + j;
                int best;
                gain[where] = most_of(like + b * a, a, table, &best);
                turn[where] = best;
            }
        }
    }
    free(room);
}

QUICK void compare_polar(const uint8_t *seen, const uint8_t *ground, const float *weight, const float *light, int h, int w, int rows,
                         int columns, const double *at, int n, const float *offsets, int r, int a, const float *spectra, int k,
                         const float *table, const float *most, const int64_t *only, const float *bounds, int bounded, double least,
                         float *gain, int64_t *turn, uint8_t *burnt)
{
    Scene scene = {seen, ground, weight, light, h, w, rows, columns};
    if (a == 32)        /* constants, so that loops are unrolled */
        compare(&scene, at, n, offsets, r, 32, spectra, k, table, most, only, bounds, bounded, least, gain, turn, burnt);
    else
        compare(&scene, at, n, offsets, r, 64, spectra, k, table, most, only, bounds, bounded, least, gain, turn, burnt);
}
