/* From board millimetres to pixels: see Pose.to_px of vision/pose.py. */

#include "kernels.h"

/* camera: R (3, 3), t (3), k1, k2, p1, p2 of the lens, fx, fy, cx, cy; mm (n, 2), height (n) above the board; px (n, 2) */
QUICK void to_px(const double *camera, const double *mm, const double *height, int n, double *px)
{
    const double *R = camera, *t = camera + 9, *lens = camera + 12, *f = camera + 16;
    for (int i = 0; i < n; i++) {
        double X = mm[2 * i], Y = mm[2 * i + 1], Z = -height[i];
        double depth = R[6] * X + R[7] * Y + R[8] * Z + t[2];
        double x = (R[0] * X + R[1] * Y + R[2] * Z + t[0]) / depth, y = (R[3] * X + R[4] * Y + R[5] * Z + t[1]) / depth;
        double r2 = x * x + y * y, xy = 2 * x * y, radial = 1 + r2 * (lens[0] + r2 * lens[1]);
        px[2 * i] = (x * radial + lens[2] * xy + lens[3] * (r2 + 2 * x * x)) * f[0] + f[2];
        px[2 * i + 1] = (y * radial + lens[2] * (r2 + 2 * y * y) + lens[3] * xy) * f[1] + f[3];
    }
}
