/* Bilinear samples of canvases at places that lie anywhere, a block of places at a time, eight at once where the processor can. */

#ifndef SAMPLING_H
#define SAMPLING_H

#include "kernels.h"

#define BLOCK 64

/* A pixel (b, g, r, anything) as one number: little-endian, as all machines are that this runs on */
typedef uint32_t __attribute__((may_alias)) pixel;

/* For each place of a block: the four pixels around it, counted from the canvas's first, and how far it is past the upper left */
typedef struct {
    int32_t upper[BLOCK], upper_next[BLOCK], lower[BLOCK], lower_next[BLOCK];
    float u[BLOCK], v[BLOCK];
} Spots;

/* x, y: (n,) pixels of a canvas (h, w); beyond its edge is what lies on the edge */
INLINE void find_spots(Spots *at, const float *x, const float *y, int n, int h, int w)
{
#pragma omp simd
    for (int i = 0; i < n; i++) {
        float left = floorf(x[i]), top = floorf(y[i]);
        int32_t x0 = (int32_t)left, y0 = (int32_t)top;
        int32_t x1 = held(x0 + 1, w - 1), y1 = held(y0 + 1, h - 1);
        x0 = held(x0, w - 1), y0 = held(y0, h - 1);
        at->u[i] = x[i] - left, at->v[i] = y[i] - top;
        at->upper[i] = y0 * w + x0, at->upper_next[i] = y0 * w + x1;
        at->lower[i] = y1 * w + x0, at->lower_next[i] = y1 * w + x1;
    }
}

INLINE float between(float a, float b, float c, float d, float u, float v)
{
    float above = a + u * (b - a), below = c + u * (d - c);
    return above + v * (below - above);
}

INLINE float channel(pixel p, int which) { return (float)(int32_t)(p >> 8 * which & 255); }

/* Colours at n places of a canvas (h, w, 4) uint8: three rows of `apart` numbers, whole grey levels as in a picture */
INLINE void colours_at(const void *canvas, const Spots *at, int n, float *out, int apart)
{
    const pixel *px = canvas;
#pragma omp simd
    for (int i = 0; i < n; i++) {
        pixel a = px[at->upper[i]], b = px[at->upper_next[i]], c = px[at->lower[i]], d = px[at->lower_next[i]];
        float u = at->u[i], v = at->v[i];
        for (int k = 0; k < 3; k++)
            out[k * apart + i] = (float)(int32_t)(0.5f + between(channel(a, k), channel(b, k), channel(c, k), channel(d, k), u, v));
    }
}

/* Values at n places of one channel of a canvas (h, w, channels) float32 */
INLINE void values_at(const float *canvas, int channels, const Spots *at, int n, float *out)
{
#pragma omp simd
    for (int i = 0; i < n; i++)
        out[i] = between(canvas[at->upper[i] * channels], canvas[at->upper_next[i] * channels], canvas[at->lower[i] * channels],
                         canvas[at->lower_next[i] * channels], at->u[i], at->v[i]);
}

#endif
