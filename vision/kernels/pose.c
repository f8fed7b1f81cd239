/* Many places at once: see Pose.to_px of vision/geometry/pose.py. */

#include "project.h"

/* mm (n, 2), height (n); px (n, 2) */
QUICK void to_px(const double *camera, const double *mm, const double *height, int n, double *px)
{
    for (int i = 0; i < n; i++)
        project(camera, mm[2 * i], mm[2 * i + 1], height[i], px + 2 * i);
}

/* px (n, 2); mm (n, 2): what lies there in the plane `height` mm above the board. See Pose.to_mm; a lens is undone as cv2.undistortPoints
   does it */
QUICK void to_mm(const double *camera, const double *px, double height, int n, double *mm)
{
    const double *R = camera, *t = camera + 9, *lens = camera + 12, *f = camera + 16;
    double H[9], back[9];
    for (int k = 0; k < 3; k++)
        H[3 * k] = R[3 * k], H[3 * k + 1] = R[3 * k + 1], H[3 * k + 2] = t[k] - height * R[3 * k + 2];
    for (int i = 0; i < 3; i++)             /* its inverse, but for a factor */
        for (int k = 0; k < 3; k++) {
            int a = (k + 1) % 3, b = (k + 2) % 3, c = (i + 1) % 3, d = (i + 2) % 3;
            back[3 * i + k] = H[3 * a + c] * H[3 * b + d] - H[3 * a + d] * H[3 * b + c];
        }
    for (int i = 0; i < n; i++) {
        double x0 = (px[2 * i] - f[2]) / f[0], y0 = (px[2 * i + 1] - f[3]) / f[1], x = x0, y = y0;
        for (int round = 0; round < 5; round++) {
            double r2 = x * x + y * y, less = 1 / (1 + r2 * (lens[0] + r2 * lens[1]));
            if (less < 0) {                 /* beyond what the lens shows */
                x = x0, y = y0;
                break;
            }
            double dx = 2 * lens[2] * x * y + lens[3] * (r2 + 2 * x * x), dy = lens[2] * (r2 + 2 * y * y) + 2 * lens[3] * x * y;
            x = (x0 - dx) * less, y = (y0 - dy) * less;
        }
        double depth = back[6] * x + back[7] * y + back[8];
        mm[2 * i] = (back[0] * x + back[1] * y + back[2]) / depth;
        mm[2 * i + 1] = (back[3] * x + back[4] * y + back[5]) / depth;
    }
}
