/* One picture made ready for reading (Stage of vision/readers/loose/scene/scene.py). */

#include "sampling.h"

#define FOLD 2                  /* these as in vision/readers/loose/scene/scene.py */
#define CELL 24
#define SOFT 9                  /* pixels either way that a cell of light is judged by */

typedef uint64_t __attribute__((may_alias, aligned(1))) two_pixels;

/* A row of a map (rows, columns, 3) stretched over `wide` pixels, `step` of them a cell, of which the first is the x0-th: three rows
   of `wide` numbers. between: room for (columns, 3) */
INLINE void stretched(const float *map, int rows, int columns, float y, int x0, int wide, int step, float *between, float *out)
{
    int top = held((int)y, rows - 1), below = top + 1 < rows ? top + 1 : top;
    const float *a = map + 3 * columns * top, *b = map + 3 * columns * below;
    float share = y - top;
    for (int i = 0; i < 3 * columns; i++)
        between[i] = a[i] + share * (b[i] - a[i]);
    for (int x = 0; x < wide;) {
        int cell = (x0 + x) / step, first = (x0 + x) % step, many = step - first < wide - x ? step - first : wide - x;
        int left = held(cell, columns - 1), right = held(cell + 1, columns - 1);
        for (int c = 0; c < 3; c++) {
            float from = between[3 * left + c], by = (between[3 * right + c] - from) / step;
            for (int i = 0; i < many; i++)
                out[c * wide + x + i] = from + by * (first + i);
        }
        x += many;
    }
}

/* The average of four pixels, two above two, each of three colours rounded: blue and red, and green, both in 32 bits */
INLINE void folded(uint64_t above, uint64_t below, uint32_t *outer, uint32_t *green)
{
    const uint64_t even = 0x00ff00ff00ff00ff;
    uint64_t a = (above & even) + (below & even), b = (above >> 8 & even) + (below >> 8 & even);
    *outer = (uint32_t)((a + (a >> 32) + 0x00020002) >> 2) & 0x00ff00ff;
    *green = (uint32_t)((b + (b >> 32) + 2) >> 2) & 0xff;
}

/* How strange a part (high, wide) from (x0, y0) on of the coarse map is: seen, ground (.., canvas, 4), light (rows, columns, 3), spread
   (.., apart) from its own first place on, strange (.., coarse) */
QUICK void estrange(const uint8_t *seen, const uint8_t *ground, int canvas, const float *light, int rows, int columns, const float *spread,
                    int apart, float *strange, int coarse, int x0, int y0, int wide, int high)
{
    float *room = malloc(sizeof(float) * (5 * (size_t)wide + 3 * columns)), *lit = room, *now = room + 3 * wide, *before = now + wide;
    float *between = before + wide;
    for (int row = -1; row < high; row++) {
        int y = row < 0 ? (high > 1) : row;             /* beyond the edge is what lies within it, as cv2.blur has it */
        const two_pixels *s = (const two_pixels *)(seen + 4 * ((size_t)(y0 + y) * FOLD * canvas + x0 * FOLD));
        const two_pixels *g = (const two_pixels *)(ground + 4 * ((size_t)(y0 + y) * FOLD * canvas + x0 * FOLD));
        const two_pixels *s2 = (const two_pixels *)((const uint8_t *)s + 4 * (size_t)canvas);
        const two_pixels *g2 = (const two_pixels *)((const uint8_t *)g + 4 * (size_t)canvas);
        const float *noise = spread + (size_t)y * apart;
        stretched(light, rows, columns, (float)(y0 + y) * FOLD / CELL, x0, wide, CELL / FOLD, between, lit);
#pragma omp simd
        for (int x = 0; x < wide; x++) {
            uint32_t a, b, c, d;
            folded(s[x], s2[x], &a, &b);
            folded(g[x], g2[x], &c, &d);
            int blue = (int)lesser((float)(int)(a & 255) * lit[x] + 0.5f, 255) - (int)(c & 255);
            int green = (int)lesser((float)(int)b * lit[wide + x] + 0.5f, 255) - (int)d;
            int red = (int)lesser((float)(int)(a >> 16) * lit[2 * wide + x] + 0.5f, 255) - (int)(c >> 16);
            blue = blue < 0 ? -blue : blue, green = green < 0 ? -green : green, red = red < 0 ? -red : red;
            int most = blue > green ? blue : green;
            most = most > red ? most : red;
            now[x] = lesser(greater(((float)most / noise[x] - 2) * (1 / 3.0f), 0), 1);
        }
        if (row >= 0) {
            float *out = strange + (size_t)(y0 + y) * coarse + x0;
            for (int x = 1; x < wide; x++)
                out[x] = 0.25f * (now[x] + now[x - 1] + before[x] + before[x - 1]);
            int beside = wide > 1;
            out[0] = 0.25f * (now[0] + now[beside] + before[0] + before[beside]);
        }
        float *other = before;
        before = now, now = other;
    }
    free(room);
}

/* No pixel of a ground (.., canvas, 4), from (x0, y0) on wide x high, is left brighter than a map (rows, columns, 3) says, a number every
   CELL pixels; (x0, y0) in whole cells of it */
QUICK void held_below(uint8_t *ground, int canvas, const float *limit, int rows, int columns, int x0, int y0, int wide, int high)
{
    float *lit = malloc(sizeof(float) * 3 * ((size_t)wide + columns)), *between = lit + 3 * (size_t)wide;
    for (int y = y0; y < y0 + high; y++) {
        pixel *row = (pixel *)ground + (size_t)y * canvas + x0;
        stretched(limit, rows, columns, (float)y / CELL, x0, wide, CELL, between, lit);
#pragma omp simd
        for (int x = 0; x < wide; x++) {
            uint32_t is = row[x], out = is & 0xff000000;
            for (int c = 0; c < 3; c++) {
                int now = is >> 8 * c & 255, most = (int)(lit[c * wide + x] + 0.5f);
                out |= (uint32_t)(now < most ? now : most) << 8 * c;
            }
            row[x] = out;
        }
    }
    free(lit);
}

/* Averages over SOFT x SOFT pixels of a picture (h, w, 3), reflected at its edges, at px (n, 2) places between them -> out (n, 3) uint8 */
void softly_at(const uint8_t *picture, int h, int w, const float *px, int n, uint8_t *out)
{
    for (int i = 0; i < n; i++) {
        float x = lesser(greater(px[2 * i], 0), w - 1), y = lesser(greater(px[2 * i + 1], 0), h - 1);
        int left = held((int)x, w - 2), top = held((int)y, h - 2);
        float u = x - left, v = y - top;
        int sums[SOFT + 1][2][3];                       /* of each row about the place, and about the next */
        int columns[SOFT + 1];
        for (int k = 0; k <= SOFT; k++) {
            int at = abs(left + k - SOFT / 2);
            columns[k] = 3 * (at < w ? at : 2 * (w - 1) - at);
        }
        for (int r = 0; r <= SOFT; r++) {
            int at = abs(top + r - SOFT / 2);
            const uint8_t *row = picture + 3 * (size_t)w * (at < h ? at : 2 * (h - 1) - at);
            int sum[3] = {0};
            for (int k = 1; k < SOFT; k++)
                for (int c = 0; c < 3; c++)
                    sum[c] += row[columns[k] + c];
            for (int c = 0; c < 3; c++)
                sums[r][0][c] = sum[c] + row[columns[0] + c], sums[r][1][c] = sum[c] + row[columns[SOFT] + c];
        }
        for (int c = 0; c < 3; c++) {
            float mean[2][2];
            for (int b = 0; b < 2; b++)
                for (int a = 0; a < 2; a++) {
                    int sum = 0;
                    for (int r = 0; r < SOFT; r++)
                        sum += sums[r + b][a][c];
                    mean[b][a] = (float)((sum + SOFT * SOFT / 2) / (SOFT * SOFT));
                }
            out[3 * i + c] = (uint8_t)(between(mean[0][0], mean[0][1], mean[1][0], mean[1][1], u, v) + 0.5f);
        }
    }
}

typedef uint8_t bytes8 __attribute__((vector_size(8), aligned(1)));
typedef uint8_t bytes16 __attribute__((vector_size(16)));
typedef int16_t shorts8 __attribute__((vector_size(16)));
typedef int32_t ints4 __attribute__((vector_size(16)));

/* The two pixels of a picture's row at x, one after the other; beyond the edge is what lies on the edge */
INLINE bytes8 two_of(const uint8_t *row, int x, int w)
{
    const uint8_t *p = row + 3 * held(x, w - 1), *q = row + 3 * held(x + 1, w - 1);
    return (bytes8){p[0], p[1], p[2], q[0], q[1], q[2]};
}

/* A picture (h, w, 3) seen through cv2.remap's fixed-point maps, at (n, 2) and share (n,): out (n, 4), the last 255; beyond its edge is
   what lies on the edge */
QUICK void flatten(const uint8_t *picture, int h, int w, const int16_t *at, const uint16_t *share, int n, uint8_t *out)
{
    for (int i = 0; i < n; i++) {
        int x = at[2 * i], y = at[2 * i + 1], fx = share[i] & 31, fy = share[i] >> 5 & 31;
        bytes8 above, below;
        if ((unsigned)x < (unsigned)(w - 2) && (unsigned)y < (unsigned)(h - 1)) {
            const uint8_t *p = picture + 3 * ((size_t)y * w + x);
            above = *(const bytes8 *)p, below = *(const bytes8 *)(p + 3 * (size_t)w);
        } else {
            above = two_of(picture + 3 * (size_t)w * held(y, h - 1), x, w);
            below = two_of(picture + 3 * (size_t)w * held(y + 1, h - 1), x, w);
        }
        shorts8 a = __builtin_convertvector(above, shorts8), b = __builtin_convertvector(below, shorts8);
        shorts8 both = (a << 5) + (b - a) * (int16_t)fy, next = __builtin_shuffle(both, (shorts8){3, 4, 5, 6, 7, 7, 7, 7});
        ints4 l = __builtin_convertvector(__builtin_shufflevector(both, both, 0, 1, 2, 3), ints4);
        ints4 r = __builtin_convertvector(__builtin_shufflevector(next, next, 0, 1, 2, 3), ints4);
        ints4 s = ((l << 5) + (r - l) * fx + 512) >> 10;
        bytes16 packed = __builtin_shuffle((bytes16)s, (bytes16){0, 4, 8, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3});
        ((uint32_t *)out)[i] = ((ints4)packed)[0] | 0xff000000;
    }
}
