/* How well kinds that stand explain windows (vision/readers/standing/shape_search.py). Pictures have CHANNELS layers, one after another. */

#include "kernels.h"

#define CHANNELS 4              /* these as in vision/readers/standing/shape_model.py and vision/readers/standing/shape_search.py */
#define WORST 16.0f
#define PARTS 4                 /* foot, body, head, and what is just outside */

/* Rows and columns from .. to of a kind's pictures, which are th high and tw wide, outside of which they are empty */
typedef struct {
    int top, left, bottom, right;
} Box;

/* How much better K kinds explain windows than the empty board, laid at every place: gain (n, places, K). window (n, CHANNELS, h, w),
   bare and open (n, h, w): its misfit and what of it can be seen; colour and weight (K, CHANNELS, th, tw), diffuse and inside (K, th, tw):
   how kinds look; level: what speaks against a thing that is darker or brighter all over */
QUICK void upright_places(const float *window, const float *bare, const float *open, int n, int h, int w, const float *colour,
                          const float *weight, const float *diffuse, const float *inside, const int *box, int kinds, int th, int tw,
                          double level, float *gain)
{
    int down = h - th + 1, across = w - tw + 1, area = h * w, small = th * tw;
    for (int i = 0; i < n; i++)
        for (int place = 0; place < down * across; place++) {
            size_t at = (size_t)(place / across) * w + place % across;
            for (int k = 0; k < kinds; k++) {
                const Box b = ((const Box *)box)[k];
                float better = 0, lit = 0, whole = 0;
                for (int y = b.top; y < b.bottom; y++) {
                    size_t row = at + (size_t)y * w, own = (size_t)k * small + y * tw, first = (size_t)i * area + row;
                    const float *x = window + (size_t)i * CHANNELS * area + row, *o = open + first, *e = bare + first;
                    const float *m = colour + (size_t)k * (CHANNELS - 1) * small + own, *v = weight + (m - colour);
                    const float *f = diffuse + own, *in = inside + own;
#pragma omp simd reduction(+:better, lit, whole)
                    for (int j = b.left; j < b.right; j++) {
                        float p = x[j] - m[j], q = x[area + j] - m[small + j], r = x[2 * area + j] - m[2 * small + j];
                        float s = x[3 * area + j] - m[3 * small + j], heavy = o[j] * v[j];
                        better += o[j] * (e[j] * in[j] - f[j] - v[small + j] * q * q - v[2 * small + j] * r * r - v[3 * small + j] * s * s)
                                  - heavy * p * p;
                        lit += heavy * p, whole += heavy;
                    }
                }
                gain[((size_t)i * down * across + place) * kinds + k] = better + lit * lit / (whole + (float)level);
            }
        }
}

/* The same of m windows `which`, kinds `kind` and places to (m, 2), x and y, with a limit to what a pixel counts: sums (m, PARTS), of
   foot, body and head (shares (K, PARTS, th, tw)) how much better, and around them the board's misfit; seen (m,): how much of what is
   around them can be seen */
QUICK void upright_tried(const float *window, const float *bare, const float *open, int h, int w, const float *colour,
                         const float *weight, const float *diffuse, const float *shares, const int *box, int th, int tw,
                         const int64_t *which, const int64_t *kind, const int64_t *to, int m, double level, double most, float *sums,
                         float *seen)
{
    int area = h * w, small = th * tw;
    for (int n = 0; n < m; n++) {
        const Box b = ((const Box *)box)[kind[n]];
        size_t at = (size_t)to[2 * n + 1] * w + to[2 * n];
        const float *x0 = window + (size_t)which[n] * CHANNELS * area + at, *o0 = open + (size_t)which[n] * area + at;
        const float *e0 = bare + (o0 - open), *m0 = colour + (size_t)kind[n] * CHANNELS * small, *v0 = weight + (m0 - colour);
        const float *f0 = diffuse + (size_t)kind[n] * small, *s0 = shares + (size_t)kind[n] * PARTS * small;
        float lit = 0, whole = 0, foot = 0, body = 0, head = 0, rim = 0, free = 0;
        for (int y = b.top; y < b.bottom; y++) {
            const float *x = x0 + (size_t)y * w, *o = o0 + (size_t)y * w, *c = m0 + y * tw, *v = v0 + y * tw;
#pragma omp simd reduction(+:lit, whole)
            for (int j = b.left; j < b.right; j++)
                lit += o[j] * v[j] * (x[j] - c[j]), whole += o[j] * v[j];
        }
        float shift = lesser(greater(lit / (whole + (float)level), -(float)most), (float)most);
        for (int y = b.top; y < b.bottom; y++) {
            const float *x = x0 + (size_t)y * w, *o = o0 + (size_t)y * w, *e = e0 + (size_t)y * w;
            const float *c = m0 + y * tw, *v = v0 + y * tw, *f = f0 + y * tw, *s = s0 + y * tw;
#pragma omp simd reduction(+:foot, body, head, rim, free)
            for (int j = b.left; j < b.right; j++) {
                float p = x[j] - c[j] - shift, q = x[area + j] - c[small + j], r = x[2 * area + j] - c[2 * small + j];
                float t = x[3 * area + j] - c[3 * small + j];
                float off = v[j] * p * p + v[small + j] * q * q + v[2 * small + j] * r * r + v[3 * small + j] * t * t + f[j];
                float better = o[j] * (e[j] - lesser(off, WORST));
                foot += better * s[j], body += better * s[small + j], head += better * s[2 * small + j];
                rim += o[j] * e[j] * s[3 * small + j], free += o[j] * s[3 * small + j];
            }
        }
        sums[PARTS * n] = foot, sums[PARTS * n + 1] = body, sums[PARTS * n + 2] = head, sums[PARTS * n + 3] = rim, seen[n] = free;
    }
}

/* How much better single men, seen at `many` of a window's pixels spots, explain m windows `which` at places to (m, 2): gain (m, men).
   look (men, CHANNELS, many); sharp (CHANNELS): what a difference counts */
QUICK void upright_men(const float *window, const float *bare, const float *open, int h, int w, const int *spots, int many,
                       const float *look, int men, const float *sharp, const int64_t *which, const int64_t *to, int m, double level,
                       double most, float *gain)
{
    int area = h * w;
    float *room = malloc(sizeof(float) * many * (CHANNELS + 2)), *e = room + CHANNELS * many, *o = e + many;
    for (int n = 0; n < m; n++) {
        size_t at = (size_t)to[2 * n + 1] * w + to[2 * n], first = (size_t)which[n] * area + at;
        const float *x = window + (size_t)which[n] * CHANNELS * area + at;
        float whole = 0;
        for (int j = 0; j < many; j++) {
            for (int c = 0; c < CHANNELS; c++)
                room[c * many + j] = x[c * area + spots[j]];
            e[j] = bare[first + spots[j]], o[j] = open[first + spots[j]];
            whole += o[j];
        }
        for (int k = 0; k < men; k++) {
            const float *l = look + (size_t)k * CHANNELS * many;
            float lit = 0, better = 0;
#pragma omp simd reduction(+:lit)
            for (int j = 0; j < many; j++)
                lit += o[j] * (room[j] - l[j]);
            float shift = lesser(greater(lit / (whole + (float)level), -(float)most), (float)most);
#pragma omp simd reduction(+:better)
            for (int j = 0; j < many; j++) {
                float p = room[j] - l[j] - shift, q = room[many + j] - l[many + j], r = room[2 * many + j] - l[2 * many + j];
                float s = room[3 * many + j] - l[3 * many + j];
                float off = sharp[0] * p * p + sharp[1] * q * q + sharp[2] * r * r + sharp[3] * s * s;
                better += o[j] * (e[j] - lesser(off, WORST));
            }
            gain[(size_t)n * men + k] = better;
        }
    }
    free(room);
}
