/* What a piece laid straight looks like, and how it differs from the cut-out it is taken for: see vision/readers/pile/features.py. */

#include "slopes.h"

#define DIRECTIONS 8
#define LEVELS 4.0f         /* differences beyond so many steps are all alike */

/* The means of (side, side) over cells x cells, side in whole cells */
INLINE void pooled(const float *values, int side, int cells, float *out)
{
    int wide = side / cells;
    for (int y = 0; y < cells; y++) {
        float sums[MOST] = {0};
        for (int row = y * wide; row < (y + 1) * wide; row++)
            for (int x = 0; x < side; x++)
                sums[x] += values[row * side + x];
        for (int x = 0; x < cells; x++) {
            float sum = 0;
            for (int k = 0; k < wide; k++)
                sum += sums[x * wide + k];
            out[y * cells + x] = sum / (wide * wide);
        }
    }
}

/* pictures (n, side, side, 3) opponent colours; floor (3): steps of each; out (n, DIRECTIONS * cells^2 + tints^2 * 3 + parts^2 * 6):
   how strong edges are in each cell by direction, colours, and the least and most of each colour in large cells */
QUICK void describe(const float *pictures, int n, int side, int cells, int tints, int parts, const float *floor, float *out)
{
    float plane[3][MOST * MOST], gx[MOST * MOST], gy[MOST * MOST], rising[MOST * MOST], mean_x[MOST * MOST], mean_y[MOST * MOST];
    int area = side * side, wide = side / parts;
    for (int i = 0; i < n; i++, pictures += area * 3) {
        for (int p = 0; p < area; p++)
            for (int k = 0; k < 3; k++)
                plane[k][p] = pictures[p * 3 + k];
        slopes(plane[0], side, gx, gy);
        pooled(gx, side, cells, mean_x);
        pooled(gy, side, cells, mean_y);
        for (int d = 0; d < DIRECTIONS / 2; d++) {
            float c = (float)cos(d * 2 * M_PI / DIRECTIONS), s = (float)sin(d * 2 * M_PI / DIRECTIONS);
            float *ahead = out + d * cells * cells, *back = ahead + DIRECTIONS / 2 * cells * cells;
            for (int p = 0; p < area; p++) {
                float up = gx[p] * c + gy[p] * s;
                rising[p] = up > 0 ? up : 0;
            }
            pooled(rising, side, cells, ahead);
            for (int p = 0; p < cells * cells; p++) {
                float falling = ahead[p] - (mean_x[p] * c + mean_y[p] * s);
                back[p] = sqrtf((falling > 0 ? falling : 0) / 0.1f);
                ahead[p] = sqrtf(ahead[p] / 0.1f);
            }
        }
        out += DIRECTIONS * cells * cells;
        for (int k = 0; k < 3; k++) {
            pooled(plane[k], side, tints, rising);
            for (int p = 0; p < tints * tints; p++)
                out[p * 3 + k] = rising[p] / (4 * floor[k]);
        }
        out += tints * tints * 3;
        for (int y = 0; y < parts; y++)
            for (int k = 0; k < 3; k++) {
                const float *rows = plane[k] + y * wide * side;
                float low[MOST], high[MOST];
                memcpy(low, rows, side * sizeof *low);
                memcpy(high, rows, side * sizeof *high);
                for (int r = 1; r < wide; r++)
                    for (int x = 0; x < side; x++) {
                        float v = rows[r * side + x];
                        low[x] = v < low[x] ? v : low[x];
                        high[x] = v > high[x] ? v : high[x];
                    }
                for (int x = 0; x < parts; x++) {
                    float least = low[x * wide], most = high[x * wide];
                    for (int w = 1; w < wide; w++) {
                        least = low[x * wide + w] < least ? low[x * wide + w] : least;
                        most = high[x * wide + w] > most ? high[x * wide + w] : most;
                    }
                    out[((y * parts + x) * 3 + k) * 2] = least / (6 * floor[k]);
                    out[((y * parts + x) * 3 + k) * 2 + 1] = most / (6 * floor[k]);
                }
            }
        out += parts * parts * 6;
    }
}

/* The mean of (side, side) over every step-th pixel of the inner part */
INLINE float inner_mean(const float *values, int side, int step)
{
    int edge = side / 8, many = 0;
    float sum = 0;
    for (int y = edge; y < side - edge; y += step, many++)
#pragma omp simd reduction(+ : sum)
        for (int x = edge; x < side - edge; x += step)
            sum += values[y * side + x];
    return sum / (many * many);
}

/* The print of a cut-out made as strong as it is seen; faint: what another strength costs, see strength() of features.py */
INLINE void made_as_strong(const float *seen, float *print, int side, float faint)
{
    float mean = inner_mean(print, side, 1), both[MOST * MOST], squares[MOST * MOST];
    for (int p = 0; p < side * side; p++) {
        float off = print[p] - mean;
        both[p] = seen[p] * off;
        squares[p] = off * off;
    }
    float square = inner_mean(squares, side, 1), much = (inner_mean(both, side, 1) + faint * square) / ((1 + faint) * square + 1e-6f);
    much = much < 0.3f ? 0.3f : much > 2 ? 2 : much;
    for (int p = 0; p < side * side; p++)
        print[p] = (print[p] - mean) * much + mean;
}

INLINE void sort(float *values, int n)
{
    for (int i = 1; i < n; i++) {
        float v = values[i];
        int k = i;
        for (; k && values[k - 1] > v; k--)
            values[k] = values[k - 1];
        values[k] = v;
    }
}

/* pictures (n, side, side, 3); the cut-outs each is taken for: models (E, side, side, 3), piece (n); faint: 0, or prints may be seen
   weaker and strokes count more. left (n, cells^2 + 4): where they differ, by cells, and how much the cells do that differ most together;
   misfit (n, 2): how much in brightness, in colour */
QUICK void held_against(const float *pictures, int n, const float *models, const int64_t *piece, int side, int cells, int step,
                        const float *floor, double faint, float *left, float *misfit)
{
    int area = side * side, few = cells - 2, pairs = (few - 1) * (few - 1);
    float seen[3][MOST * MOST], model[3][MOST * MOST], sum[MOST * MOST], pair[MOST * MOST];
    for (int i = 0; i < n; i++, pictures += area * 3, left += cells * cells + 4, misfit += 2) {
        const float *mine = models + piece[i] * area * 3;
        for (int p = 0; p < area; p++)
            for (int k = 0; k < 3; k++) {
                seen[k][p] = pictures[p * 3 + k];
                model[k][p] = mine[p * 3 + k];
            }
        if (faint > 0)
            made_as_strong(seen[0], model[0], side, (float)faint);
        for (int k = 0; k < 3; k++)
            for (int p = 0; p < area; p++)
                seen[k][p] = (seen[k][p] - model[k][p]) / floor[k];
        float few_mean = inner_mean(seen[0], side, step), mean = inner_mean(seen[0], side, 1);
        for (int p = 0; p < area; p++) {
            float off = seen[0][p], light = fabsf(off - few_mean), blue = fabsf(seen[1][p]), red = fabsf(seen[2][p]);
            float colour = (blue < LEVELS ? blue : LEVELS) + (red < LEVELS ? red : LEVELS), least = fabsf(off - mean);
            sum[p] = (light < LEVELS ? light : LEVELS) + colour;
            seen[0][p] = faint > 0 ? (off - mean) * (off - mean) : least < LEVELS ? least : LEVELS;
            seen[1][p] = colour;
        }
        misfit[0] = inner_mean(seen[0], side, 1);
        if (faint > 0)
            misfit[0] = sqrtf(misfit[0]);
        misfit[1] = inner_mean(seen[1], side, 1) / 2;
        pooled(sum, side, cells, left);
        for (int p = 0; p < cells * cells; p++)
            left[p] /= 3;
        float whole = 0;
        for (int y = 0; y < few; y++)
            for (int x = 0; x < few; x++) {
                const float *at = left + (y + 1) * cells + x + 1;
                whole += at[0];
                if (x < few - 1 && y < few - 1)
                    pair[y * (few - 1) + x] = (at[0] + at[1] + at[cells] + at[cells + 1]) / 4;
            }
        sort(pair, pairs);
        float *last = left + cells * cells;
        last[0] = pair[pairs - 1], last[1] = pair[pairs - 6], last[2] = pair[pairs / 2], last[3] = whole / (few * few);
    }
}
