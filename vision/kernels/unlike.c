/* How small windows differ from the empty site's: see Stage.unlike of vision/readers/pile/classifier.py. */

#include "slopes.h"

/* Which pixels an area of a smaller picture is made of, and how much of each */
typedef struct {
    int first, many;
    float share[MOST];
} Part;

INLINE void parts_of(int side, int tiles, Part *parts)
{
    float wide = (float)side / tiles;
    for (int t = 0; t < tiles; t++) {
        float from = t * wide, to = (t + 1) * wide;
        parts[t].first = (int)(from + 1e-4f), parts[t].many = 0;
        for (int x = parts[t].first; x < to - 1e-4f; x++)
            parts[t].share[parts[t].many++] = ((x + 1 < to ? x + 1 : to) - (x > from ? x : from)) / wide;
    }
}

/* values (side, side, channels) as a smaller picture (tiles, tiles, channels) */
INLINE void shrunk(const float *values, int side, int channels, const Part *parts, int tiles, float *out)
{
    for (int t = 0; t < tiles; t++) {
        float row[MOST * 3] = {0};
        for (int k = 0; k < parts[t].many; k++) {
            const float *from = values + (parts[t].first + k) * side * channels;
            float share = parts[t].share[k];
            for (int x = 0; x < side * channels; x++)
                row[x] += share * from[x];
        }
        for (int u = 0; u < tiles; u++)
            for (int c = 0; c < channels; c++) {
                float sum = 0;
                for (int k = 0; k < parts[u].many; k++)
                    sum += parts[u].share[k] * row[(parts[u].first + k) * channels + c];
                *out++ = sum;
            }
    }
}

/* seen (n, side, side, 3), empties (N, side, side, 3) of which these are `which` (n). cells (n, tiles, tiles, 3): the difference;
   edges (n, tiles, tiles): how strong edges of brightness are; both in tiles */
QUICK void tiles_unlike(const float *seen, const float *empties, const int64_t *which, int n, int side, int tiles, float *cells,
                        float *edges)
{
    Part parts[MOST];
    float off[MOST * MOST * 3], *bright = off, gx[MOST * MOST], gy[MOST * MOST];
    int area = side * side;
    parts_of(side, tiles, parts);
    for (int i = 0; i < n; i++, seen += area * 3) {
        const float *empty = empties + which[i] * area * 3;
        for (int p = 0; p < area * 3; p++)
            off[p] = seen[p] - empty[p];
        shrunk(off, side, 3, parts, tiles, cells + (size_t)i * tiles * tiles * 3);
        for (int p = 0; p < area; p++)
            bright[p] = seen[p * 3];
        slopes(bright, side, gx, gy);
        for (int p = 0; p < area; p++)
            gx[p] = sqrtf(gx[p] * gx[p] + gy[p] * gy[p]);
        memcpy(gx, gx + side, side * sizeof *gx);               /* along the upper and lower edge as beside it */
        memcpy(gx + area - side, gx + area - 2 * side, side * sizeof *gx);
        shrunk(gx, side, 1, parts, tiles, edges + (size_t)i * tiles * tiles);
    }
}
