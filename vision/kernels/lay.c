/* Cards laid on the ground of a scene (lay() of vision/readers/loose/scene/scene.py). */

#include "sampling.h"

#define CLEAR 25.0f             /* squared grey levels by which anything may be off */
#define EDGE 15.0f              /* grey levels that the rim of a card may be off besides */
#define FOLD 2                  /* these as in vision/readers/loose/scene/scene.py */

#define WHOLE 64                /* of a grey level are the numbers of a print */

typedef int16_t shorts8 __attribute__((vector_size(16), aligned(2)));

INLINE floats8 print_at(const int16_t *p) { return __builtin_convertvector(*(const shorts8 *)p, floats8); }

/* A canvas (h, w) from (x0, y0) on, wide x high pixels of it, all in whole FOLDs: seen, ground (h, w, 4), weight (h, w), strange (h / FOLD,
   w / FOLD). print (rows, columns, 8): three colours and how much each may be off; way (2, 3): from the part's pixels to the print's;
   gain: of the print's colours, light: of the canvas's, limit: of a card's as it is shown; mask, rim (high, wide): where the card is and
   where its edge may be; noise, usual: what is squared and added to what it may be off, for what is laid and for its weight */
QUICK void lay_card(const pixel *seen, pixel *ground, float *weight, float *strange, int w, int x0, int y0, int wide, int high,
                    const int16_t *print, int rows, int columns, const double *way, const float *gain, const float *light,
                    const float *limit, const uint8_t *mask, const uint8_t *rim, double noise, double usual)
{
    float *odd = malloc(sizeof(float) * wide * (FOLD + 12)), *us = odd + wide * FOLD, *vs = us + wide, *got = vs + 3 * wide;
    int32_t *at = (int32_t *)(vs + wide);
    float gains[3];
    for (int c = 0; c < 3; c++)
        gains[c] = gain[c] / WHOLE;
    for (int y = 0; y < high; y++) {
        const uint8_t *in = mask + y * wide, *edge = rim + y * wide;
        size_t first = (size_t)(y0 + y) * w + x0;
        float *strange_row = odd + y % FOLD * wide;
        int from = 0, to = wide;
        while (from < to && !(in[from] | edge[from]))
            from++;
        while (to > from && !(in[to - 1] | edge[to - 1]))
            to--;
        memset(strange_row, 0, sizeof(float) * wide);
        float left = (float)(way[1] * y + way[2]), top = (float)(way[4] * y + way[5]), right = (float)way[0], down = (float)way[3];
#pragma omp simd
        for (int x = from; x < to; x++) {
            float u = lesser(greater(right * x + left, 0), columns - 1), v = lesser(greater(down * x + top, 0), rows - 1);
            int column = held((int)u, columns - 2), row = held((int)v, rows - 2);
            us[x] = u - column, vs[x] = v - row, at[x] = 8 * (row * columns + column);
        }
        for (int x = from; x < to; x++) {
            const int16_t *p = print + at[x], *q = p + 8 * columns;
            floats8 above = print_at(p), below = print_at(q);
            above += us[x] * (print_at(p + 8) - above), below += us[x] * (print_at(q + 8) - below);
            *(floats8 *)(got + 8 * x) = above + vs[x] * (below - above);
        }
#pragma omp simd
        for (int x = from; x < to; x++) {
            const float *card = got + 8 * x;
            float i = card[4] * gains[0], j = card[5] * gains[1], k = card[6] * gains[2];
            float spread = sqrtf(greater(i * i, greater(j * j, k * k)) + CLEAR + (float)noise) + (edge[x] ? EDGE : 0), most = 0;
            uint32_t whole = 0;
            for (int c = 0; c < 3; c++) {
                int even = (int)lesser((float)(int)(seen[first + x] >> 8 * c & 255) * light[c] + 0.5f, 255);
                int shown = held((int)lesser(card[c] * gains[c], limit[c]), 255), off = even > shown ? even - shown : shown - even;
                most = greater(most, off), whole |= (uint32_t)shown << 8 * c;
            }
            ground[first + x] = in[x] ? whole | (ground[first + x] & 0xff000000) : ground[first + x];
            weight[first + x] = in[x] | edge[x] ? 1 / (spread * spread + (float)usual) : weight[first + x];
            strange_row[x] = in[x] | edge[x] ? lesser(greater((most / spread - 2) * (1 / 3.0f), 0), 1) : 0;
        }
        if (y % FOLD == FOLD - 1)
            for (int x = 0; x < wide; x += FOLD)
                if (mask[(y - 1) * wide + x])
                    strange[(size_t)((y0 + y) / FOLD) * (w / FOLD) + (x0 + x) / FOLD] =
                        0.25f * (odd[x] + odd[x + 1] + odd[wide + x] + odd[wide + x + 1]);
    }
    free(odd);
}
