/* Figures seen from the side (gains_of() of vision/readers/loose/pieces/figures.py). */

#include "bare.h"

#define TONE 2.0f               /* these as in vision/readers/loose/pieces/figures.py */
#define UNLIKELY 3.0f

/* The logarithm of a number between 1 / TONE and TONE, to a millionth */
INLINE float log_near_one(float t)
{
    float z = (t - 1) / (t + 1), q = z * z;
    return 2 * z * (1 + q * (1 / 3.0f + q * (1 / 5.0f + q * (1 / 7.0f + q * (1 / 9.0f)))));
}

/* How much better figures of K kinds that stand at n feet (n, 2), pixels, and lean (n, 2) mm explain what shows than bare ground: gain
   (n, K), and most (n, K) what perfect ones would. along (columns), across (lines): mm of the pictures looks (K, 3, lines columns) and
   area, the latter mm² that count; reach: mm the pictures lean; bright (K,): whether a camera may not show a look as
   bright as it is */
QUICK void figures_upright(const uint8_t *seen, const uint8_t *ground, const float *weight, const float *light, int h, int w, int rows,
                           int columns, const double *feet, const double *lean, int n, double scale, const float *along, int wide,
                           const float *across, int lines, double reach, const float *looks, const float *area, const uint8_t *bright,
                           int k, float *gain, float *most)
{
    int p = wide * lines;
    float *room = malloc(sizeof(float) * (p * 13 + 2 * wide)), *s = room, *g = s + 3 * p, *heavy = g + 3 * p, *bare = heavy + p, *f = bare + p;
    float *xs = f + 3 * p, *ys = xs + p, *out_x = ys + p, *out_y = out_x + wide;
    for (int i = 0; i < n; i++) {
        double x0 = feet[2 * i], y0 = feet[2 * i + 1], u = lean[2 * i], v = lean[2 * i + 1], length = sqrt(u * u + v * v);
        const float *l = light_at(light, rows, columns, x0, y0);
        float ux = u / fmax(length, 1e-6) * scale, uy = v / fmax(length, 1e-6) * scale;
        Spots at;
        for (int j = 0; j < wide; j++) {
            float far = along[j];
            far = far < 0 ? far : far < reach ? far * (length / reach) : far - reach + length;
            out_x[j] = x0 + far * ux, out_y[j] = y0 + far * uy;
        }
        for (int line = 0; line < lines; line++) {
            float to_x = across[line] * uy, to_y = across[line] * ux;
            for (int j = 0; j < wide; j++)
                xs[line * wide + j] = out_x[j] - to_x, ys[line * wide + j] = out_y[j] + to_y;
        }
        for (int start = 0; start < p; start += BLOCK) {
            int many = p - start < BLOCK ? p - start : BLOCK;
            find_spots(&at, xs + start, ys + start, many, h, w);
            colours_at(seen, &at, many, s + start, p);
            colours_at(ground, &at, many, g + start, p);
            values_at(weight, &at, many, heavy + start);
        }
#pragma omp simd
        for (int j = 0; j < p; j++) {
            float a = s[j] * l[0], b = s[p + j] * l[1], c = s[2 * p + j] * l[2], x = g[j], y = g[p + j], z = g[2 * p + j];
            s[j] = a, s[p + j] = b, s[2 * p + j] = c;
            heavy[j] = greater(heavy[j], 0);
            bare[j] = bareness(a * a + b * b + c * c, a * x + b * y + c * z, x * x + y * y + z * z, heavy[j], SHADOW);
        }
        for (int m = 0; m < k; m++) {
            const float *look = looks + (size_t)3 * p * m;
            float better = 0, best = 0;
            for (int c = 0; bright[m] && c < 3; c++)
                for (int j = 0; j < p; j++)
                    f[c * p + j] = lesser(look[c * p + j], CLIPPED * l[c]);
            look = bright[m] ? f : look;
#pragma omp simd reduction(+:better, best)
            for (int j = 0; j < p; j++) {
                float a = s[j], b = s[p + j], c = s[2 * p + j], x = g[j], y = g[p + j], z = g[2 * p + j];
                float d = look[j], e = look[p + j], q = look[2 * p + j];
                float sf = a * d + b * e + c * q, ff = d * d + e * e + q * q;
                float tone = lesser(greater(sf / (ff + 1), 1 / TONE), TONE), odd = log_near_one(tone);
                float off = heavy[j] * THIRD * (a * a + b * b + c * c - tone * (2 * sf - tone * ff)) + UNLIKELY * odd * odd;
                better += (bare[j] - lesser(off, CAP)) * area[j];
                best += bareness(tone * tone * ff, tone * (x * d + y * e + z * q), x * x + y * y + z * z, heavy[j], SHADOW) * area[j];
            }
            gain[(size_t)i * k + m] = better, most[(size_t)i * k + m] = best;
        }
    }
    free(room);
}
