/* Colours of a picture at many places round the middle of a site, which looks at all `places` through its own `rows`: x = the sum over t
   of rows[0][t] * places[t][p], y likewise. */

#ifndef SEEN_H
#define SEEN_H

#include "sampling.h"

/* A pixel of a picture that has no fourth number to one, and so may lie anywhere */
typedef uint32_t __attribute__((may_alias, aligned(1))) loose_pixel;

/* Of a block of places from the first on: which pixels (h, w) they lie between, none beyond the edge -> how many there are */
INLINE int seen_by(const float *rows, const float *places, int terms, int count, int first, int h, int w, Spots *at)
{
    int many = count - first < BLOCK ? count - first : BLOCK;
    float x[BLOCK] = {0}, y[BLOCK] = {0};
    for (int t = 0; t < terms; t++)
        for (int p = 0; p < many; p++) {
            x[p] += rows[t] * places[t * count + first + p];
            y[p] += rows[terms + t] * places[t * count + first + p];
        }
    for (int p = 0; p < many; p++) {
        x[p] = x[p] < 0 ? 0 : x[p] > w - 1.001f ? w - 1.001f : x[p];
        y[p] = y[p] < 0 ? 0 : y[p] > h - 1.001f ? h - 1.001f : y[p];
    }
    find_spots(at, x, y, many, h, w);
    return many;
}

/* picture (h, w, 3); tone (256, 3): the logarithm of the paint that shows as a grey level at this site; rows (2, terms); places (terms,
   count); out (count, 3) opponent colours. Grey levels are rounded as cv2.remap does. */
INLINE void seen_at(const uint8_t *picture, int h, int w, const float *tone, const float *rows, const float *places, int terms, int count,
                    float *out)
{
    Spots at;
    int32_t grey[3][BLOCK];
    for (int first = 0; first < count; first += BLOCK) {
        int many = seen_by(rows, places, terms, count, first, h, w, &at);
#pragma omp simd
        for (int p = 0; p < many; p++) {
            /* those on the right are read a byte early: what comes after a picture's last pixel must not be */
            pixel a = *(const loose_pixel *)(picture + at.upper[p] * 3), c = *(const loose_pixel *)(picture + at.lower[p] * 3);
            pixel b = *(const loose_pixel *)(picture + at.upper[p] * 3 + 2) >> 8;
            pixel d = *(const loose_pixel *)(picture + at.lower[p] * 3 + 2) >> 8;
            for (int k = 0; k < 3; k++)
                grey[k][p] = (int32_t)(0.5f + between(channel(a, k), channel(b, k), channel(c, k), channel(d, k), at.u[p], at.v[p]));
        }
        for (int p = 0; p < many; p++, out += 3) {
            float blue = tone[grey[0][p] * 3], green = tone[grey[1][p] * 3 + 1], red = tone[grey[2][p] * 3 + 2];
            out[0] = (blue + green + red) * (1.0f / 3);
            out[1] = blue - green;
            out[2] = red - green;
        }
    }
}

#endif
