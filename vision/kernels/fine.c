/* How a cut-out has to move and turn to fit better: see Fine of vision/match.py. */

#include "kernels.h"

#define MOST 1024           /* points of a cut-out at most */
#define BEYOND 3.0f         /* differences larger than so many steps are something else's */

/* What is seen (count, 3) against a cut-out's values, both in steps of `floor`, the mean brightness taken out: rest (count * 3) */
INLINE void rest_of(const float *seen, const float *values, int count, const float *floor, float *rest)
{
    float mean = 0;
#pragma omp simd reduction(+ : mean)
    for (int p = 0; p < count; p++)
        mean += seen[p * 3];
    mean /= count;
    for (int p = 0; p < count; p++)
        for (int k = 0; k < 3; k++)
            rest[p * 3 + k] = (seen[p * 3 + k] - (k ? 0 : mean)) * (1 / floor[k]) - values[p * 3 + k];
    for (int p = 0; p < count * 3; p++)
        rest[p] = rest[p] < -BEYOND ? -BEYOND : rest[p] > BEYOND ? BEYOND : rest[p];
}

/* seen (n, count, 3) where the cut-outs piece (n) are thought to lie; values (E, count, 3), step (E, 3, count * 3) of all cut-outs;
   move (n, 3): x, y mm and radians by which each would fit better */
QUICK void fine_moves(const float *seen, int n, int count, const float *values, const float *step, const int64_t *piece,
                      const float *floor, float *move)
{
    float rest[MOST * 3];
    int numbers = count * 3;
    for (int i = 0; i < n; i++) {
        rest_of(seen + (size_t)i * numbers, values + piece[i] * numbers, count, floor, rest);
        for (int d = 0; d < 3; d++) {
            const float *one = step + (piece[i] * 3 + d) * numbers;
            float sum = 0;
#pragma omp simd reduction(+ : sum)
            for (int p = 0; p < numbers; p++)
                sum += one[p] * rest[p];
            move[i * 3 + d] = -sum;
        }
    }
}

/* misfit (n): the mean square of what is left where inside (count) is not nought */
QUICK void fine_misfit(const float *seen, int n, int count, const float *values, const int64_t *piece, const float *floor,
                       const uint8_t *inside, float *misfit)
{
    float rest[MOST * 3];
    for (int i = 0; i < n; i++) {
        rest_of(seen + (size_t)i * count * 3, values + piece[i] * count * 3, count, floor, rest);
        float sum = 0;
        int many = 0;
        for (int p = 0; p < count; p++)
            if (inside[p]) {
                sum += rest[p * 3] * rest[p * 3] + rest[p * 3 + 1] * rest[p * 3 + 1] + rest[p * 3 + 2] * rest[p * 3 + 2];
                many++;
            }
        misfit[i] = sum / many;
    }
}
