/* Before and after the product with which looks are slid over small windows: see Slide of vision/readers/pile/coarse_search.py. */

#include "kernels.h"

/* seen (n, side, side, 3), bare (n, side, side): every square of m pixels whose upper left one is within k of `skip`: patches
   (n * k * k, m * m * 3), and before (n * k * k), what is the same for all looks; weight (m * m * 3), mask (m * m) */
QUICK void slide_patches(const float *seen, const float *bare, int n, int side, int skip, int k, int m, const float *weight,
                         const float *mask, float *patches, float *before)
{
    for (int i = 0; i < n; i++, seen += side * side * 3, bare += side * side)
        for (int y = skip; y < skip + k; y++)
            for (int x = skip; x < skip + k; x++, patches += m * m * 3) {
                float empty = 0, own = 0;
                for (int r = 0; r < m; r++) {
                    const float *row = bare + (y + r) * side + x;
                    memcpy(patches + r * m * 3, seen + ((y + r) * side + x) * 3, m * 3 * sizeof *patches);
#pragma omp simd reduction(+ : empty)
                    for (int c = 0; c < m; c++)
                        empty += mask[r * m + c] * row[c];
                }
#pragma omp simd reduction(+ : own)
                for (int p = 0; p < m * m * 3; p++)
                    own += weight[p] * patches[p] * patches[p];
                *before++ = empty - own;
            }
}

/* How far from its highest sample a parabola through three is highest */
INLINE float peak(float left, float top, float right)
{
    float curve = left + right - 2 * top, off = 0.5f * (left - right) / (curve < -1e-6f ? curve : -1e-6f);
    return off < -0.5f ? -0.5f : off > 0.5f ? 0.5f : off;
}

/* fit (n, k, k, looks): the products; own (looks): of each with itself; share: of a footprint that a pixel is, halved; off (n, looks, 2)
   pixels from the middle where each is expected; room (2) pixels either way that cost nothing, give: those beyond that cost one.
   gain (n, looks), place (n, looks, 2) pixels off the middle: where each explains most more than the empty site does */
QUICK void slide_best(const float *fit, const float *before, int n, int k, int looks, const float *own, double share, const float *off,
                      const float *room, double give, float *gain, float *place)
{
    float middle = (k - 1) * 0.5f, part = (float)share, one = (float)(1 / give), *all = malloc((size_t)k * k * looks * sizeof *all);
    int *best = malloc(looks * sizeof *best);
    for (int i = 0; i < n; i++, off += looks * 2, gain += looks, place += looks * 2) {
        for (int l = 0; l < looks; l++)
            gain[l] = -INFINITY;
        for (int p = 0; p < k * k; p++, fit += looks, before++) {
            float x = p % k - middle, y = p / k - middle, *here = all + p * looks;
#pragma omp simd
            for (int l = 0; l < looks; l++) {
                float dx = fabsf(x - off[l * 2]) - room[0], dy = fabsf(y - off[l * 2 + 1]) - room[1];
                dx = (dx > 0 ? dx : 0) * one, dy = (dy > 0 ? dy : 0) * one;
                here[l] = (2 * fit[l] + *before - own[l]) * part - dx * dx - dy * dy;
                int better = here[l] > gain[l];
                best[l] = better ? p : best[l];
                gain[l] = better ? here[l] : gain[l];
            }
        }
        for (int l = 0; l < looks; l++) {
            int x = best[l] % k, y = best[l] / k;
            const float *at = all + best[l] * looks + l;
            place[l * 2] = x - middle + peak(x ? at[-looks] : *at, *at, x < k - 1 ? at[looks] : *at);
            place[l * 2 + 1] = y - middle + peak(y ? at[-looks * k] : *at, *at, y < k - 1 ? at[looks * k] : *at);
        }
    }
    free(all);
    free(best);
}
