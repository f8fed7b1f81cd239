/* How well the sides of blocks are seen where they should be (side_gain() of vision/readers/loose/pieces/blocks.py). */

#include "polar.h"

#define CAP 9.0f                /* these as in vision/readers/loose/pieces/blocks.py */
#define DARKEST 0.35f
#define BRIGHTEST 1.7f
#define UNUSUAL 0.25f
#define OUTSIDE 0.3f            /* mm outside of its top that a point of a side must show to count */
#define MANY 128                /* points of sides, at most */

/* n blocks, tops seen at (n, 2) pixels, leaning (n, 2) mm, turned by (n,) radians, of colours (n, 3), sides as bright as (n, 2) times
   that; rim (around, 2) mm along the outline, levels: heights at which sides are looked at -> gain, most (n,) */
QUICK void sides_polar(const uint8_t *seen, const uint8_t *ground, const float *weight, const float *light, int h, int w, int rows,
                       int columns, const double *at, const double *lean, const double *turn, int n, const float *colours,
                       const float *shades, const double *rim, int around, const double *levels, int heights, double width,
                       double depth, int disc, double scale, float *gain, float *most)
{
    for (int i = 0; i < n; i++) {
        double c = cos(turn[i]), s = sin(turn[i]), u = c * lean[2 * i] + s * lean[2 * i + 1], v = c * lean[2 * i + 1] - s * lean[2 * i];
        double x0 = at[2 * i] - lean[2 * i] * scale, y0 = at[2 * i + 1] - lean[2 * i + 1] * scale;         /* the foot */
        const float *l = light_at(light, rows, columns, x0, y0);
        float x[BLOCK], y[BLOCK], a[3 * BLOCK], b[3 * BLOCK], heavy[BLOCK], top[3], better = 0, best = 0;
        float px[MANY], py[MANY], tt = 0, dark = shades[2 * i], bright = shades[2 * i + 1], middle = (dark + bright) / 2;
        int many = 0;
        for (int k = 0; k < 3; k++)
            top[k] = lesser(colours[3 * i + k], CLIPPED * l[k]), tt += top[k] * top[k];
        for (int level = 0; level < heights; level++)
            for (int j = 0; j < around && many < MANY; j++) {
                double p = rim[2 * j] + (levels[level] - 1) * u, q = rim[2 * j + 1] + (levels[level] - 1) * v;
                double in = disc ? width / 2 - sqrt(p * p + q * q) : fmin(width / 2 - fabs(p), depth / 2 - fabs(q));
                if (in < -OUTSIDE) {
                    px[many] = (float)(p * c - q * s) * scale + at[2 * i];
                    py[many++] = (float)(p * s + q * c) * scale + at[2 * i + 1];
                }
            }
        for (int start = 0; start < many; start += BLOCK) {
            int some = many - start < BLOCK ? many - start : BLOCK;
            Spots spots;
            memcpy(x, px + start, sizeof(float) * some), memcpy(y, py + start, sizeof(float) * some);
            find_spots(&spots, x, y, some, h, w);
            colours_at(seen, &spots, some, a, BLOCK);
            colours_at(ground, &spots, some, b, BLOCK);
            values_at(weight, &spots, some, heavy);
            for (int j = 0; j < some; j++) {
                float ss = 0, st = 0, sg = 0, gg = 0, gt = 0, sure = greater(heavy[j], 0) / 3;
                for (int k = 0; k < 3; k++) {
                    float here = a[k * BLOCK + j] * l[k], bare = b[k * BLOCK + j];
                    ss += here * here, st += here * top[k], sg += here * bare, gg += bare * bare, gt += bare * top[k];
                }
                float tone = lesser(greater(st / tt, DARKEST), BRIGHTEST), usual = lesser(greater(tone, dark), bright);
                /* the lamp may stand where samplers did not have it */
                float odd = tone == usual ? 0 : logf(tone / usual) / UNUSUAL;
                float cost = lesser(sure * (ss - tone * (2 * st - tone * tt)), CAP) + odd * odd;
                better += lesser(sure * (ss - 2 * sg + gg), CAP) - lesser(cost, CAP);
                best += lesser(sure * (gg - middle * (2 * gt - middle * tt)), CAP);
            }
        }
        double area = disc ? width * sqrt(u * u + v * v) : fabs(u) * depth + fabs(v) * width;
        gain[i] = many ? better * area / many : 0, most[i] = many ? best * area / many : 0;
    }
}
