/* Colours at many places round the middles of sites: see PictureField of vision/photometry/colour_sampling.py. */

#include "seen.h"

/* tones (N, 256, 3) of all sites; site (n) of those; rows (n, 2, terms); out (n, count, 3); the others as seen_at() has them */
QUICK void sample_picture(const uint8_t *picture, int h, int w, const float *tones, const int64_t *site, int n, const float *rows,
                          const float *places, int terms, int count, float *out)
{
    for (int i = 0; i < n; i++)
        seen_at(picture, h, w, tones + site[i] * 256 * 3, rows + i * 2 * terms, places, terms, count, out + (size_t)i * count * 3);
}
