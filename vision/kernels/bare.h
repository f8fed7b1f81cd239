/* How bare ground explains what shows, beside pieces of any form. */

#ifndef BARE_H
#define BARE_H

#include "polar.h"

#define CAP 9.0f                /* these as in vision/readers/loose/pieces/fit.py */
#define SHADOW 8.0f
#define DARKEST 0.55f
#define THIRD (1 / 3.0f)

/* How badly bare ground, lit or in a shadow, explains a point, given products of colours */
INLINE float bareness(float ss, float sg, float gg, float weight, float price)
{
    float plain = weight * (ss - 2 * sg + gg) * THIRD, dark = sg / (gg + 1);
    dark = dark < DARKEST ? DARKEST : dark > 1 ? 1 : dark;
    float shaded = weight * (ss - dark * (2 * sg - dark * gg)) * THIRD + (weight > 0 ? (1 - dark) * price : 0);
    plain = plain < CAP ? plain : CAP;
    return plain < shaded ? plain : shaded;
}

#endif
