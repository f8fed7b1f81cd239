/* From board millimetres to pixels: Pose.to_px of vision/geometry/pose.py. */

#ifndef PROJECT_H
#define PROJECT_H

#include "kernels.h"

/* camera: R (3, 3), t (3), k1, k2, p1, p2 of the lens, fx, fy, cx, cy; X, Y mm on the board, height above it; px (2) */
INLINE void project(const double *camera, double X, double Y, double height, double *px)
{
    const double *R = camera, *t = camera + 9, *lens = camera + 12, *f = camera + 16;
    double depth = R[6] * X + R[7] * Y - R[8] * height + t[2];
    double x = (R[0] * X + R[1] * Y - R[2] * height + t[0]) / depth, y = (R[3] * X + R[4] * Y - R[5] * height + t[1]) / depth;
    double r2 = x * x + y * y, xy = 2 * x * y, radial = 1 + r2 * (lens[0] + r2 * lens[1]);
    px[0] = (x * radial + lens[2] * xy + lens[3] * (r2 + 2 * x * x)) * f[0] + f[2];
    px[1] = (y * radial + lens[2] * (r2 + 2 * y * y) + lens[3] * xy) * f[1] + f[3];
}

#endif
