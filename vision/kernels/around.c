/* Averages around places: of canvases, only where somebody looks (vision/readers/loose/scene/softening.py), and of what is strange; and the
   best of the places of a net around each (Net of vision/readers/loose/pieces/search.py). Beyond an edge lies what lies within it, mirrored, as cv2.blur has it. */

#include "kernels.h"

#define TILE 32                 /* pixels a side that are averaged together, as in vision/readers/loose/scene/softening.py */

INLINE int mirrored(int v, int length)
{
    v = abs(v);
    return held(v < length ? v : 2 * (length - 1) - v, length - 1);
}

/* Part of a canvas (h, w, 4), columns x0 to x1 and rows y0 to y1, each pixel the mean of n x n, rounded as OpenCV does. room: numbers,
   4 (n + 1) (x1 - x0); mended: 4 (x1 - x0 + n) */
INLINE void soften_part(const uint8_t *canvas, int h, int w, int n, int x0, int x1, int y0, int y1, uint16_t *room, uint8_t *mended,
                        uint8_t *out)
{
    int wide = 4 * (x1 - x0), before = n / 2;
    uint16_t share = 65536 / (n * n), more = n * n / 2;
    int inside = x0 >= before && x1 + n - 1 - before <= w;
    uint16_t *sum = room + n * wide;
    if (65536 % (n * n) * 2 < n * n)
        more++;
    else
        share++;
    memset(room, 0, sizeof(uint16_t) * (n + 1) * wide);
    for (int y = y0 - n + 1; y < y1; y++) {
        const uint8_t *row = canvas + 4 * (size_t)w * mirrored(y + n - 1 - before, h);
        uint16_t *line = room + (y + n) % n * wide;
        if (inside)
            row += 4 * (x0 - before);
        else {
            for (int i = 0; i < x1 - x0 + n - 1; i++)
                memcpy(mended + 4 * i, row + 4 * mirrored(x0 - before + i, w), 4);
            row = mended;
        }
        uint8_t *to = out + 4 * ((size_t)y * w + x0);
        if (n == 1 && y >= y0)
            memcpy(to, row, wide);
        else if (y < y0)
#pragma omp simd
            for (int i = 0; i < wide; i++) {
                uint16_t now = row[i];
                for (int k = 1; k < n; k++)
                    now += row[i + 4 * k];
                line[i] = now, sum[i] += now;
            }
        else
#pragma omp simd
            for (int i = 0; i < wide; i++) {
                uint16_t now = row[i];
                for (int k = 1; k < n; k++)
                    now += row[i + 4 * k];
                uint16_t all = sum[i] + now - line[i], rounded = all + more;
                sum[i] = all, line[i] = now;
                to[i] = (uint8_t)(uint16_t)((uint32_t)rounded * share >> 16);
            }
    }
}

/* Fills in out (h, w, 4), the canvas averaged over n x n, in all tiles within `reach` of one of px (many, 2) of which done (tiles down,
   across) is not set already; where these are more than half of all, only that is told, in all (1,) */
QUICK void soften(const uint8_t *canvas, int h, int w, int n, const double *px, int many, double reach, uint8_t *done, int down,
                  int across, uint8_t *out, uint8_t *all)
{
    enum { WANTED = 2 };
    int first = h, last = -1, wanted = 0;
    for (int i = 0; i < many; i++) {
        int left = held((int)floor(px[2 * i] - reach), w - 1) / TILE, right = held((int)ceil(px[2 * i] + reach), w - 1) / TILE;
        int top = held((int)floor(px[2 * i + 1] - reach), h - 1) / TILE, bottom = held((int)ceil(px[2 * i + 1] + reach), h - 1) / TILE;
        for (int y = top; y <= bottom; y++)
            for (int x = left; x <= right; x++)
                if (!done[y * across + x]) {
                    done[y * across + x] = WANTED, wanted++;
                    first = y < first ? y : first, last = y > last ? y : last;
                }
    }
    all[0] = 2 * wanted > down * across;
    if (last < first || all[0])
        return;
    uint16_t *room = malloc((sizeof(uint16_t) * (n + 1) + 1) * 4 * (across * TILE + n));
    uint8_t *mended = (uint8_t *)(room + (size_t)4 * (n + 1) * across * TILE);
    for (int y = first; y <= last; y++)
        for (int x = 0; x < across; x++) {
            int from = x;
            for (; x < across && done[y * across + x] == WANTED; x++)
                done[y * across + x] = 1;
            int x1 = x * TILE < w ? x * TILE : w, y1 = y * TILE + TILE < h ? y * TILE + TILE : h;
            if (x > from)
                switch (n) {    /* constants, so that loops are unrolled */
#define OVER(N) case N: soften_part(canvas, h, w, N, from * TILE, x1, y * TILE, y1, room, mended, out); break
                OVER(2);
                OVER(3);
                OVER(4);
                OVER(5);
                default: soften_part(canvas, h, w, n, from * TILE, x1, y * TILE, y1, room, mended, out);
                }
        }
    free(room);
}

/* Which places of a net, columns xs (nx,) and rows ys (ny,) of a map (h, w), are allowed (h, w) and have more than `share` of n x n around
   strange (h, w): out (ny, nx) */
QUICK void strange_around(const float *strange, const uint8_t *allowed, int h, int w, const int64_t *xs, int nx, const int64_t *ys, int ny,
                          int n, double share, uint8_t *out)
{
    int before = n / 2;
    float *column = malloc(sizeof(float) * w);
    double *upto = malloc(sizeof(double) * (w + n + 1));
    for (int j = 0; j < ny; j++, out += nx) {
        const uint8_t *may = allowed + (size_t)ys[j] * w;
        int any = 0;
        for (int i = 0; i < nx; i++)
            any |= may[xs[i]];
        memset(out, 0, nx);
        if (!any)
            continue;
        memset(column, 0, sizeof(float) * w);
        for (int k = 0; k < n; k++) {
            const float *row = strange + (size_t)w * mirrored((int)ys[j] - before + k, h);
            for (int x = 0; x < w; x++)
                column[x] += row[x];
        }
        upto[0] = 0;
        for (int x = 0; x < w + n; x++)
            upto[x + 1] = upto[x] + column[mirrored(x - before, w)];
        for (int i = 0; i < nx; i++)
            out[i] = may[xs[i]] && (float)((upto[xs[i] + n] - upto[xs[i]]) / ((double)n * n)) > (float)share;
    }
    free(column);
    free(upto);
}

/* Of n places of a net (high, wide), rows y and columns x (n,) in order: the largest of values (n,) at places no further than `radius` of its
   steps, of which `reach` are whole, from each: out (n,) */
QUICK void most_near(const float *values, const int64_t *y, const int64_t *x, int n, int high, int wide, int reach, double radius,
                     float *out)
{
    int line = wide + 2 * reach;
    size_t all = (size_t)line * (high + 2 * reach);
    float *field = malloc(sizeof(float) * all);
    for (size_t i = 0; i < all; i++)
        field[i] = -1e9f;
    for (int i = 0; i < n; i++)
        field[(y[i] + reach) * line + x[i] + reach] = values[i];
    for (int i = 0; i < n; i++)
        out[i] = values[i];
    for (int down = -reach; down <= reach; down++) {
        int to = 0;
        while (to < reach && hypot(to + 1, down) <= radius)
            to++;
        for (int i = 0; i < n && hypot(0, down) <= radius; i++) {
            const float *row = field + (y[i] + reach + down) * line + x[i] + reach;
            float most = row[-to];
            for (int across = -to + 1; across <= to; across++)
                most = greater(most, row[across]);
            out[i] = greater(out[i], most);
        }
    }
    free(field);
}
