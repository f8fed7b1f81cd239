/* How wide the slices of a thing that stands are best taken to be (vision/readers/standing/shape_model.py). need (slices, pixels): the least of some radii
   with which each slice is seen at each pixel; radii (slices): those that they have; cover (pixels): how many slices are seen there. */

#include "kernels.h"

#define BLOCK 512

/* Of the pixels that no slice but first to last - 1 covers: what speaks for a thing there, added up by the least radius with which one
   of these would be seen, gain (radii); and of those that one of them covers now, now (1) */
QUICK void form_gain(const uint8_t *need, const uint8_t *cover, const float *speaks, const int *radii, int pixels, int first, int last,
                     double *gain, double *now)
{
    for (int a = 0; a < pixels; a += BLOCK) {
        int many = pixels - a < BLOCK ? pixels - a : BLOCK;
        uint8_t own[BLOCK] = {0}, least[BLOCK];
        memset(least, 255, BLOCK);
        for (int s = first; s < last; s++) {
            const uint8_t *n = need + (size_t)s * pixels + a, r = (uint8_t)radii[s];
            for (int i = 0; i < many; i++)
                own[i] += n[i] <= r, least[i] = n[i] < least[i] ? n[i] : least[i];
        }
        for (int i = 0; i < many; i++)
            if (cover[a + i] == own[i]) {
                gain[least[i]] += speaks[a + i];
                if (own[i])
                    *now += speaks[a + i];
            }
    }
}

/* cover, in place, when slices first to last - 1 get the radius `other` */
QUICK void form_changed(const uint8_t *need, uint8_t *cover, const int *radii, int pixels, int first, int last, int other)
{
    for (int s = first; s < last; s++) {
        const uint8_t *n = need + (size_t)s * pixels, r = (uint8_t)radii[s], o = (uint8_t)other;
        for (int i = 0; i < pixels; i++)
            cover[i] += (n[i] <= o) - (n[i] <= r);
    }
}
