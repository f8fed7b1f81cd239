/* Bilinear samples of a canvas, as cv2.remap takes them. */

#include "sampling.h"

INLINE int part(const float *px, int start, int n, float *x, float *y)
{
    int many = n - start < BLOCK ? n - start : BLOCK;
    for (int i = 0; i < many; i++)
        x[i] = px[2 * (start + i)], y[i] = px[2 * (start + i) + 1];
    return many;
}

/* canvas (h, w, 4) uint8; px (n, 2); out (n, 3) */
QUICK void sample_colours(const uint8_t *canvas, int h, int w, const float *px, int n, float *out)
{
    float x[BLOCK], y[BLOCK], got[3 * BLOCK];
    Spots at;
    for (int start = 0; start < n; start += BLOCK) {
        int many = part(px, start, n, x, y);
        find_spots(&at, x, y, many, h, w);
        colours_at(canvas, &at, many, got, BLOCK);
        for (int i = 0; i < many; i++)
            for (int c = 0; c < 3; c++)
                out[3 * (start + i) + c] = got[c * BLOCK + i];
    }
}

/* canvas (h, w, channels) float32; px (n, 2); out (n, channels) */
QUICK void sample_floats(const float *canvas, int h, int w, int channels, const float *px, int n, float *out)
{
    float x[BLOCK], y[BLOCK], got[BLOCK];
    Spots at;
    for (int start = 0; start < n; start += BLOCK) {
        int many = part(px, start, n, x, y);
        find_spots(&at, x, y, many, h, w);
        for (int c = 0; c < channels; c++) {
            channel_at(canvas + c, channels, &at, many, got);
            for (int i = 0; i < many; i++)
                out[(start + i) * channels + c] = got[i];
        }
    }
}
