/* What all kernels share. Arrays lie in C order; nothing is allocated that is not freed, nothing is kept between calls. */

#ifndef KERNELS_H
#define KERNELS_H

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Compiled twice, for processors with AVX2 and for others; which runs is chosen when the library is loaded. On others than
   x86-64 one way is quick enough: every aarch64 has NEON. */
#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(__clang__) && !defined(ONE_FOR_ALL)
#if __GNUC__ >= 12
#define QUICK __attribute__((target_clones("arch=x86-64-v3", "default")))
#else
#define QUICK __attribute__((target_clones("avx2", "default")))
#endif
#else
#define QUICK
#endif

#define INLINE static inline __attribute__((always_inline))

INLINE int held(int v, int most) { return v < 0 ? 0 : v > most ? most : v; }

typedef float floats8 __attribute__((vector_size(32), aligned(4)));

INLINE floats8 load8(const float *p) { return *(const floats8 *)p; }

/* Not fminf and fmaxf, which mind numbers that are none and so are not worked out several at once */
INLINE float lesser(float a, float b) { return a < b ? a : b; }
INLINE float greater(float a, float b) { return a > b ? a : b; }

/* d = -A⁻¹ b of a symmetric A given as its six upper numbers, in rows */
INLINE void solved(const double *A, const double *b, double *d)
{
    double p = A[3] * A[5] - A[4] * A[4], q = A[2] * A[4] - A[1] * A[5], r = A[1] * A[4] - A[2] * A[3];
    double whole = A[0] * p + A[1] * q + A[2] * r;
    d[0] = -(p * b[0] + q * b[1] + r * b[2]) / whole;
    d[1] = -(q * b[0] + (A[0] * A[5] - A[2] * A[2]) * b[1] + (A[1] * A[2] - A[0] * A[4]) * b[2]) / whole;
    d[2] = -(r * b[0] + (A[1] * A[2] - A[0] * A[4]) * b[1] + (A[0] * A[3] - A[1] * A[1]) * b[2]) / whole;
}

#endif
