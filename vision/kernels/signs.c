/* Cards that look alike but for a sign, told apart by the places where they differ (Signs.misfits() of vision/readers/loose/cards/small_symbols.py). */

#include "sampling.h"

/* Of prints (K, 3, P) seen at px (P, 2), in light (3,), shifted by each of shifts (S, 2) pixels: out (K,), the least sum of squared
   misfits, a place's share held below cap. Any share of its light dims (D,) may be left, at a cost. spots (B,): places beside pieces,
   whose (B,): which of tones (.., T, 3) may be seen there instead. unit: of squared grey levels */
QUICK void misfit_signs(const uint8_t *seen, int h, int w, const float *px, int places, const double *shifts, int shifts_n,
                        const float *light, const float *prints, int kinds, const float *dims, int dims_n, double shadow,
                        const int32_t *spots, const int32_t *whose, int beside, const float *tones, int tones_n, double cap,
                        double unit, float *out)
{
    float *room = malloc(sizeof(float) * places * 6), *got = room, *most = room + 3 * places, *x = room + 4 * places, *y = x + places;
    for (int k = 0; k < kinds; k++)
        out[k] = INFINITY;
    for (int shift = 0; shift < shifts_n; shift++) {
        for (int i = 0; i < places; i++) {
            x[i] = px[2 * i] + (float)shifts[2 * shift], y[i] = px[2 * i + 1] + (float)shifts[2 * shift + 1];
            most[i] = cap;
        }
        for (int start = 0; start < places; start += BLOCK) {
            int many = places - start < BLOCK ? places - start : BLOCK;
            Spots at;
            find_spots(&at, x + start, y + start, many, h, w);
            colours_at(seen, &at, many, got + start, places);
        }
        for (int c = 0; c < 3; c++)
            for (int i = 0; i < places; i++)
                got[c * places + i] *= light[c];
        for (int b = 0; b < beside; b++) {
            int i = spots[b];
            for (int t = 0; t < tones_n; t++) {
                const float *tone = tones + 3 * (tones_n * whose[b] + t);
                float p = got[i] - tone[0], q = got[places + i] - tone[1], r = got[2 * places + i] - tone[2];
                most[i] = lesser(most[i], (p * p + q * q + r * r) * (float)unit);
            }
        }
        for (int k = 0; k < kinds; k++) {
            const float *look = prints + (size_t)3 * places * k;
            float sum = 0;
#pragma omp simd reduction(+:sum)
            for (int i = 0; i < places; i++) {
                float a = got[i], b = got[places + i], c = got[2 * places + i];
                float d = look[i], e = look[places + i], f = look[2 * places + i];
                float own = a * a + b * b + c * c, both = a * d + b * e + c * f, square = d * d + e * e + f * f, least = most[i];
                for (int m = 0; m < dims_n; m++) {
                    float dim = dims[m], off = (own - dim * (2 * both - dim * square)) * (float)unit + (1 - dim) * (float)shadow;
                    least = lesser(least, off);
                }
                sum += least;
            }
            out[k] = lesser(out[k], sum);
        }
    }
    free(room);
}
