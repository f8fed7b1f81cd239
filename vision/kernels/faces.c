/* Before and after the product with which faces are slid over what is seen: see Faces of vision/readers/pile/face_match.py. */

#include "kernels.h"

/* seen (n, wide, wide, 3) opponent colours, of which brightness is looked at, in steps; every square of `side` pixels in it: patches
   (n * k * k, side^2) with k = wide - side + 1, and total (n * k * k), their squares about their mean where mask (side^2) is */
QUICK void face_patches(const float *seen, int n, int wide, int side, double step, const float *mask, float *patches, float *total)
{
    float *bright = malloc(wide * wide * sizeof *bright), one = (float)(1 / step), whole = 0;
    int area = side * side;
    for (int p = 0; p < area; p++)
        whole += mask[p];
    for (int i = 0; i < n; i++) {
        for (int p = 0; p < wide * wide; p++)
            bright[p] = *seen * one, seen += 3;
        for (int y = 0; y + side <= wide; y++)
            for (int x = 0; x + side <= wide; x++, patches += area) {
                float sum = 0, squares = 0;
                for (int r = 0; r < side; r++)
                    memcpy(patches + r * side, bright + (y + r) * wide + x, side * sizeof *patches);
#pragma omp simd reduction(+ : sum, squares)
                for (int p = 0; p < area; p++) {
                    float v = patches[p] * mask[p];
                    sum += v;
                    squares += v * patches[p];
                }
                *total++ = squares - sum * sum / whole;
            }
    }
    free(bright);
}

/* like (n, places, count): products of patches with prints; total (n, places); squares (count) of the prints; faint: what another strength
   than learnt costs, see strength() of vision/readers/pile/features.py. Where a place fits better than best (n, count) has it, that and place, turn
   (n, count) are set: its number, and the turn (n) the patches were taken in. */
QUICK void face_best(const float *like, const float *total, const float *squares, double faint, int n, int places, int count,
                     const float *turned, float *best, int32_t *place, float *turn)
{
    float f = (float)faint, *one = malloc(count * sizeof *one);
    int32_t *better_at = malloc(count * sizeof *better_at);
    for (int e = 0; e < count; e++)
        one[e] = 1 / ((1 + f) * squares[e] + 1e-6f);
    for (int i = 0; i < n; i++, best += count, place += count, turn += count) {
        for (int e = 0; e < count; e++)
            better_at[e] = -1;
        for (int p = 0; p < places; p++, like += count, total++) {
            float here = *total;
#pragma omp simd
            for (int e = 0; e < count; e++) {
                float square = squares[e], much = (like[e] + f * square) * one[e];
                much = much < 0.3f ? 0.3f : much;
                much = much > 2 ? 2 : much;
                float misfit = here + much * (much * square - 2 * like[e]) + f * square * (much - 1) * (much - 1);
                better_at[e] = misfit < best[e] ? p : better_at[e];
                best[e] = misfit < best[e] ? misfit : best[e];
            }
        }
        for (int e = 0; e < count; e++)
            if (better_at[e] >= 0) {
                place[e] = better_at[e];
                turn[e] = turned[i];
            }
    }
    free(one);
    free(better_at);
}
