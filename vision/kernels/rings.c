/* Circles of points as Fourier series along the circle: see Rings of vision/readers/pile/fine_match.py. */

#include "kernels.h"

#define RINGS 12
#define ANGLES 64
#define ROWS (RINGS * 3)            /* a circle's three colours each */
#define WAVES (ANGLES / 2 + 1)

/* seen (n, ANGLES, RINGS, 3) opponent colours; scale (RINGS, 3): what they are multiplied by once the mean brightness is taken out;
   series (WAVES, n, 2, ROWS): their cosines' and their sines' parts; squares (n), of all numbers */
QUICK void ring_series(const float *seen, int n, const float *scale, float *series, float *squares)
{
    float cosine[ANGLES], sine[ANGLES], even[WAVES][ROWS], odd[WAVES][ROWS];
    for (int k = 0; k < ANGLES; k++) {
        cosine[k] = (float)cos(2 * M_PI * k / ANGLES);
        sine[k] = (float)sin(2 * M_PI * k / ANGLES);
    }
    for (int i = 0; i < n; i++, seen += ANGLES * ROWS) {
        float mean = 0, square = 0, level[ROWS];
#pragma omp simd reduction(+ : mean)
        for (int p = 0; p < ANGLES * RINGS; p++)
            mean += seen[p * 3];
        for (int r = 0; r < ROWS; r++)
            level[r] = r % 3 ? 0 : mean / (ANGLES * RINGS);
        /* an angle and the one across: cosines go with their sum, sines with their difference */
        for (int a = 0; a < WAVES; a++) {
            const float *here = seen + a * ROWS, *across = seen + (ANGLES - a) % ANGLES * ROWS;
            float both = here == across ? 0 : 1;
#pragma omp simd reduction(+ : square)
            for (int r = 0; r < ROWS; r++) {
                float first = (here[r] - level[r]) * scale[r], second = (across[r] - level[r]) * scale[r] * both;
                even[a][r] = first + second;
                odd[a][r] = first - second;
                square += first * first + second * second;
            }
        }
        squares[i] = square;
        for (int f = 0; f < WAVES; f++) {
            float re[ROWS] = {0}, im[ROWS] = {0}, *out = series + ((size_t)f * n + i) * ROWS * 2;
            for (int a = 0; a < WAVES; a++) {
                float c = cosine[f * a % ANGLES], s = sine[f * a % ANGLES];
#pragma omp simd
                for (int r = 0; r < ROWS; r++) {
                    re[r] += c * even[a][r];
                    im[r] -= s * odd[a][r];
                }
            }
            memcpy(out, re, sizeof re);
            memcpy(out + ROWS, im, sizeof im);
        }
    }
}

/* The largest of each column of (rows, n), and its row */
QUICK void largest(const float *values, int rows, int n, float *most, int32_t *at)
{
    for (int i = 0; i < n; i++)
        most[i] = values[i], at[i] = 0;
    for (int r = 1; r < rows; r++) {
        const float *row = values + (size_t)r * n;
#pragma omp simd
        for (int i = 0; i < n; i++) {
            int better = row[i] > most[i];
            at[i] = better ? r : at[i];
            most[i] = better ? row[i] : most[i];
        }
    }
}
