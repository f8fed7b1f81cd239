/* Looks compared with what shows at many places, in every turn at once. */

#include "polar.h"

/* At (n, 2) pixels: gain (n, K), how much better each look explains what shows than bare ground, in its best turn, and that turn
   (n, K); burnt (n,): where that does not hold, as looks are brighter than the camera shows anything.
   offsets: (2, R A) pixels; spectra: (K, F / 8, PLANES R, 3, 8); table: see waves_of; most: the looks' brightest colour;
   only: (n,) the one look to compare at each place (of the others nothing is filled in), or a single -1 */
INLINE void compare(const Scene *scene, const double *at, int n, const float *offsets, int r, int a, const float *spectra, int k,
                    const float *table, const float *most, const int64_t *only, float *gain, int64_t *turn, uint8_t *burnt)
{
    Room *room = room_for(r * a);
    int rows = PLANES * r;
    size_t size = (size_t)rows * 3 * (a / 2);
    float like[AT_ONCE * 64];
    for (int start = 0; start < n; start += AT_ONCE) {
        int many = n - start < AT_ONCE ? n - start : AT_ONCE;
        for (int b = 0; b < many; b++) {
            Patch *p = &room->patch[b];
            look_at(scene, at[2 * (start + b)], at[2 * (start + b) + 1], offsets, p);
            burnt[start + b] = is_burnt(p, most);
            planes_of(p, room->planes);
            waves_of(room->planes, rows, a, table, room->waves[b]);
        }
        const float *waves[AT_ONCE];
        for (int b = 0; b < AT_ONCE; b++)
            waves[b] = room->waves[b < many ? b : 0];
        for (int j = 0; j < k; j++) {
            int wanted = only[0] < 0;
            for (int b = 0; b < many; b++)
                wanted |= only[0] >= 0 && only[start + b] == j;
            if (!wanted)
                continue;
            likeness(waves, spectra + j * size, rows, a, like);
            for (int b = 0; b < many; b++) {
                size_t where = (size_t)(start + b) * k + j;
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
                         const float *table, const float *most, const int64_t *only, float *gain, int64_t *turn, uint8_t *burnt)
{
    Scene scene = {seen, ground, weight, light, h, w, rows, columns};
    if (a == 32)        /* constants, so that loops are unrolled */
        compare(&scene, at, n, offsets, r, 32, spectra, k, table, most, only, gain, turn, burnt);
    else
        compare(&scene, at, n, offsets, r, 64, spectra, k, table, most, only, gain, turn, burnt);
}
