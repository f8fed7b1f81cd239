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

typedef float floats8 __attribute__((vector_size(32), aligned(4)));

INLINE floats8 load8(const float *p) { return *(const floats8 *)p; }

/* Not fmaxf, which minds numbers that are none and so is not worked out several at once */
INLINE float greater(float a, float b) { return a > b ? a : b; }

#endif
