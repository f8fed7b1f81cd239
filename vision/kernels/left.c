/* What remains unexplained on a site (left_on() of vision/readers/loose/residual_blobs.py). */

#include "sampling.h"

#define FOLD 2                  /* these as in vision/readers/loose/scene/scene.py */
#define CELL 24
#define STEP 0.955f             /* from a pixel to the next, and across, as cv2.distanceTransform counts them */
#define ACROSS 1.3693f

/* Pixels from the middle to the rim of the largest disc in a mask (high, wide), in room for (high + 2) * (wide + 2) numbers */
INLINE float radius_of(const uint8_t *mask, int wide, int high, float *room)
{
    int w = wide + 2;
    float most = 0;
    memset(room, 0, sizeof(float) * w * (high + 2));
    for (int y = 0; y < high; y++)
        for (int x = 0; x < wide; x++)
            if (mask[y * wide + x]) {
                float *at = room + (y + 1) * w + x + 1;
                *at = lesser(lesser(at[-1], at[-w]) + STEP, lesser(at[-w - 1], at[-w + 1]) + ACROSS);
            }
    for (int y = high - 1; y >= 0; y--)
        for (int x = wide - 1; x >= 0; x--)
            if (mask[y * wide + x]) {
                float *at = room + (y + 1) * w + x + 1;
                *at = lesser(*at, lesser(lesser(at[1], at[w]) + STEP, lesser(at[w + 1], at[w - 1]) + ACROSS));
                most = greater(most, *at);
            }
    return most;
}

/* Pixels of the largest part of a mask (high, wide) that hangs together, corners too; uses the mask up */
INLINE int largest_of(uint8_t *mask, int wide, int high, int32_t *heap)
{
    int most = 0;
    for (int start = 0; start < wide * high; start++) {
        if (!mask[start])
            continue;
        int many = 1, done = 0;
        heap[0] = start, mask[start] = 0;
        while (done < many) {
            int y = heap[done] / wide, x = heap[done] % wide;
            done++;
            for (int v = y > 0 ? y - 1 : 0; v <= y + 1 && v < high; v++)
                for (int u = x > 0 ? x - 1 : 0; u <= x + 1 && u < wide; u++)
                    if (mask[v * wide + u])
                        mask[v * wide + u] = 0, heap[many++] = v * wide + u;
        }
        most = many > most ? many : most;
    }
    return most;
}

/* A scene's seen, ground (.., canvas, 4), weight (.., canvas), strange (.., coarse) and light (rows, columns, 3); of strange the part from
   (x0, y0) on, mask (high, wide) of it. out: pixels surely unknown, of these the most that hang together, the radius of the largest disc
   that is strange all over and of the largest that is no shadow besides, the most surely unknown pixels that hang together and are none */
void left_on(const uint8_t *seen, const uint8_t *ground, const float *weight, int canvas, const float *strange, int coarse,
             const float *light, int rows, int columns, int x0, int y0, int wide, int high, const uint8_t *mask, double unknown,
             double odd, double shaded, double noisy, double levels, double usual, float *out)
{
    uint8_t *sure = calloc(4, (size_t)wide * high), *stands = sure + wide * high, *lit = stands + wide * high, *open = lit + wide * high;
    int sures = 0, most_x = -1, most_y = -1, least_x = wide, least_y = high;
    float u = (float)unknown;
    for (int y = 0; y < high; y++)
        for (int x = 0; x < wide; x++) {
            const float *at = strange + (size_t)(y0 + y) * coarse + x0 + x;
            int p = y * wide + x;
            if (!mask[p] || !(*at > (float)odd))
                continue;
            stands[p] = 1, most_y = y;
            least_x = x < least_x ? x : least_x, most_x = x > most_x ? x : most_x, least_y = y < least_y ? y : least_y;
            if (*at > u) {
                float least = *at;
                for (int b = y > 0 ? -1 : 0; b <= 1 && y + b < high; b++)
                    for (int a = x > 0 ? -1 : 0; a <= 1 && x + a < wide; a++)
                        least = lesser(least, at[b * coarse + a]);
                sures += sure[p] = least > u;
            }
            int row = held((int)(((y0 + y + 0.5) * FOLD - 0.5) / CELL + 0.5), rows - 1);
            int column = held((int)(((x0 + x + 0.5) * FOLD - 0.5) / CELL + 0.5), columns - 1);
            const float *gain = light + 3 * (row * columns + column);
            size_t first = (size_t)(y0 + y) * FOLD * canvas + (x0 + x) * FOLD;
            float s[3], g[3], both = 0, square = 0, off = 0;
            for (int c = 0; c < 3; c++) {
                const uint8_t *i = seen + 4 * first + c, *j = ground + 4 * first + c;
                s[c] = (float)((i[0] + i[4] + i[4 * canvas] + i[4 * canvas + 4] + 2) >> 2) * gain[c];
                g[c] = (float)((j[0] + j[4] + j[4 * canvas] + j[4 * canvas + 4] + 2) >> 2);
                both += s[c] * g[c], square += g[c] * g[c];
            }
            float share = both / greater(square, 1);
            share = lesser(greater(share, (float)shaded), 1);
            for (int c = 0; c < 3; c++)
                off = greater(off, fabsf(s[c] - share * g[c]));
            float noise = 1 / greater(fabsf(weight[first]), 1e-6f) - (float)(usual * usual);
            lit[p] = !(off < (float)noisy * sqrtf(greater(noise, (float)(levels * levels))));
        }
    memset(out, 0, 5 * sizeof *out);
    out[0] = sures;
    if (most_y >= 0) {
        int w = most_x + 1 - least_x, h = most_y + 1 - least_y;
        float *room = malloc(sizeof(float) * ((size_t)(wide + 2) * (high + 2)));
        if (sures) {
            for (int p = 0; p < wide * high; p++)
                open[p] = sure[p] && lit[p];
            out[1] = largest_of(sure, wide, high, (int32_t *)room);
            out[4] = largest_of(open, wide, high, (int32_t *)room);
        }
        for (int y = 0; y < h; y++) {
            memmove(stands + y * w, stands + (least_y + y) * wide + least_x, w);
            memmove(lit + y * w, lit + (least_y + y) * wide + least_x, w);
        }
        out[2] = radius_of(stands, w, h, room);
        out[3] = radius_of(lit, w, h, room);
        free(room);
    }
    free(sure);
}
