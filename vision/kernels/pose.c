/* Many places at once: see Pose.to_px of vision/pose.py. */

#include "project.h"

/* mm (n, 2), height (n); px (n, 2) */
QUICK void to_px(const double *camera, const double *mm, const double *height, int n, double *px)
{
    for (int i = 0; i < n; i++)
        project(camera, mm[2 * i], mm[2 * i + 1], height[i], px + 2 * i);
}
