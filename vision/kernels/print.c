/* Patches of a print looked for in a picture: see Print.measure of vision/registration/print_map.py. */

#include "kernels.h"

#define LANES 8         /* shifts to the right that are worked out at once */

/* n pixels less their mean */
INLINE void levelled(const uint8_t *pixels, int n, float *out)
{
    int32_t sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int i = 0; i < n; i++)
        sum += pixels[i];
    for (int i = 0; i < n; i++)
        out[i] = pixels[i] - (float)sum / n;
}

/* seen (n, side, side), patches (n, wide, wide) uint8 -> alike (n, m, m), m = side - wide + 1: how a patch correlates with what is seen at
   each shift, 0 where one of them is all of one grey */
QUICK void correlate(const uint8_t *seen, const uint8_t *patches, int n, int side, int wide, float *alike)
{
    int m = side - wide + 1, all = wide * wide;
    float *there = calloc(side * side + LANES, sizeof(float)), *own = malloc(sizeof(float) * all);
    for (int i = 0; i < n; i++, alike += m * m) {
        float square = 0;
        levelled(seen + (size_t)i * side * side, side * side, there);
        levelled(patches + (size_t)i * all, all, own);
#pragma omp simd reduction(+ : square)
        for (int p = 0; p < all; p++)
            square += own[p] * own[p];
        for (int y = 0; y < m; y++)
            for (int x = 0; x < m; x += LANES) {
                floats8 both = {0}, sum = {0}, squares = {0};
                for (int row = 0; row < wide; row++)
                    for (int p = 0; p < wide; p++) {
                        floats8 v = load8(there + (y + row) * side + x + p);
                        both += v * own[row * wide + p], sum += v, squares += v * v;
                    }
                for (int k = 0; k < LANES && x + k < m; k++) {
                    float spread = sqrtf(greater(squares[k] - sum[k] / all * sum[k], 0) * square);
                    alike[y * m + x + k] = spread > 0 ? both[k] / spread : 0;
                }
            }
    }
    free(there);
    free(own);
}
