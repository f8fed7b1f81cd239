/* How brightness rises across a small picture, as cv2.Sobel has it. */

#ifndef SLOPES_H
#define SLOPES_H

#include "kernels.h"

#define MOST 64             /* pixels along a picture at most */

/* Slopes of brightness (side, side), an eighth of what Sobel gives; nought along the upper and lower edge */
INLINE void slopes(const float *bright, int side, float *gx, float *gy)
{
    memset(gx, 0, side * side * sizeof *gx);
    memset(gy, 0, side * side * sizeof *gy);
    for (int y = 1; y < side - 1; y++) {
        const float *up = bright + (y - 1) * side, *here = up + side, *down = here + side;
        float across[MOST], drop[MOST];
        for (int x = 0; x < side; x++) {
            across[x] = up[x] + 2 * here[x] + down[x];
            drop[x] = down[x] - up[x];
        }
        for (int x = 1; x < side - 1; x++) {
            gx[y * side + x] = (across[x + 1] - across[x - 1]) * 0.125f;
            gy[y * side + x] = (drop[x - 1] + 2 * drop[x] + drop[x + 1]) * 0.125f;
        }
        gy[y * side] = (drop[0] + drop[1]) * 0.25f;              /* mirrored beyond the edge */
        gy[y * side + side - 1] = (drop[side - 1] + drop[side - 2]) * 0.25f;
    }
}

#endif
