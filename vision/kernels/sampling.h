/* Bilinear samples of canvases at places that lie anywhere, a block of places at a time, eight at once where the processor can. */

#ifndef SAMPLING_H
#define SAMPLING_H

#include "kernels.h"

#define BLOCK 64

/* A pixel (b, g, r, anything) as one number: little-endian, as all machines are that this runs on */
typedef uint32_t __attribute__((may_alias)) pixel;

/* Two neighbours in a row at once: half as many reads from places that lie anywhere */
typedef uint64_t __attribute__((may_alias, aligned(4))) pixel_pair;

/* For each place of a block: the upper and lower left one of the four pixels around it, counted from the canvas's first, and how far it is
   past the upper left. The others are next to these */
typedef struct {
    int32_t upper[BLOCK], lower[BLOCK];
    float u[BLOCK], v[BLOCK];
} Spots;

/* x, y: (n,) pixels of a canvas (h, w), at least two either way; beyond its edge is what lies on the edge */
INLINE void find_spots(Spots *at, const float *x, const float *y, int n, int h, int w)
{
#pragma omp simd
    for (int i = 0; i < n; i++) {
        float right = lesser(greater(x[i], 0), w - 1), down = lesser(greater(y[i], 0), h - 1);
        int32_t x0 = (int32_t)right, y0 = (int32_t)down;
        x0 = x0 > w - 2 ? w - 2 : x0, y0 = y0 > h - 2 ? h - 2 : y0;
        at->u[i] = right - x0, at->v[i] = down - y0;
        at->upper[i] = y0 * w + x0, at->lower[i] = y0 * w + x0 + w;
    }
}

INLINE float between(float a, float b, float c, float d, float u, float v)
{
    float above = a + u * (b - a), below = c + u * (d - c);
    return above + v * (below - above);
}

INLINE float channel(pixel p, int which) { return (float)(int32_t)(p >> 8 * which & 255); }

INLINE void pairs_at(const void *canvas, const int32_t *at, int n, uint64_t *out)
{
    const pixel *px = canvas;
    for (int i = 0; i < n; i++)
        out[i] = *(const pixel_pair *)(px + at[i]);
}

/* Colours at n places of a canvas (h, w, 4) uint8: three rows of `apart` numbers, whole grey levels as in a picture */
INLINE void colours_at(const void *canvas, const Spots *at, int n, float *out, int apart)
{
    uint64_t above[BLOCK], below[BLOCK];
    pairs_at(canvas, at->upper, n, above);
    pairs_at(canvas, at->lower, n, below);
    const pixel *p = (const pixel *)above, *q = (const pixel *)below;
#pragma omp simd
    for (int i = 0; i < n; i++) {
        pixel a = p[2 * i], b = p[2 * i + 1], c = q[2 * i], d = q[2 * i + 1];
        float u = at->u[i], v = at->v[i];
        for (int k = 0; k < 3; k++)
            out[k * apart + i] = (float)(int32_t)(0.5f + between(channel(a, k), channel(b, k), channel(c, k), channel(d, k), u, v));
    }
}

typedef float __attribute__((may_alias)) any_float;

/* Values at n places of a canvas (h, w) float32 */
INLINE void values_at(const float *canvas, const Spots *at, int n, float *out)
{
    uint64_t above[BLOCK], below[BLOCK];
    pairs_at(canvas, at->upper, n, above);
    pairs_at(canvas, at->lower, n, below);
    const any_float *p = (const any_float *)above, *q = (const any_float *)below;
#pragma omp simd
    for (int i = 0; i < n; i++)
        out[i] = between(p[2 * i], p[2 * i + 1], q[2 * i], q[2 * i + 1], at->u[i], at->v[i]);
}

/* The same of one channel of a canvas (h, w, channels) */
INLINE void channel_at(const float *canvas, int channels, const Spots *at, int n, float *out)
{
#pragma omp simd
    for (int i = 0; i < n; i++) {
        const float *p = canvas + (size_t)at->upper[i] * channels, *q = canvas + (size_t)at->lower[i] * channels;
        out[i] = between(p[0], p[channels], q[0], q[channels], at->u[i], at->v[i]);
    }
}

#endif
