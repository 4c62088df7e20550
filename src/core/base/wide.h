// A function marked OD_WIDE is also compiled for processors with wider vectors; the program selects a version when it starts. The
// results are bit-identical: operations are not contracted, and sums keep their order. OD_WIDE has no effect if the compiler or the
// system does not support versions of functions. Use OD_WIDE only for static functions, because the shared library would export the
// selectors of other functions. Use OD_WIDE_QUAD for functions whose vectors have at most four numbers.
#ifndef OD_BASE_WIDE_H
#define OD_BASE_WIDE_H

#include <float.h>

#include "base/compiler.h"

#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#if __GNUC__ >= 12
#define OD_WIDE __attribute__((target_clones("arch=x86-64-v4", "avx2", "default")))
#else
#define OD_WIDE __attribute__((target_clones("avx2", "default")))
#endif
#define OD_WIDE_QUAD __attribute__((target_clones("avx2", "default")))
#else
#define OD_WIDE
#define OD_WIDE_QUAD
#endif

// Whether the processor has vector instructions. On other processors compilers keep quads in memory, so functions that need much time have
// a second version for single numbers, with the same bits.
#if defined __SSE2__ || defined __aarch64__ || defined __ARM_NEON || defined __ALTIVEC__ || defined __riscv_vector || \
    defined __wasm_simd128__
#define OD_HAS_VECTORS 1
#else
#define OD_HAS_VECTORS 0
#endif

// Marks functions that an OD_WIDE function calls in its loops, so that they are inlined.
#define OD_INTO_WIDE static OD_INLINED

// Four numbers side by side; only for variables inside a function.
typedef double od_quad __attribute__((vector_size(4 * sizeof(double))));
// Integers of the size of these numbers, which are floats in an export in single precision.
#if DBL_DIG > FLT_DIG
typedef long long od_quad_place;
#else
typedef int od_quad_place;
#endif
typedef od_quad_place od_quad_places __attribute__((vector_size(4 * sizeof(double))));
// Four consecutive numbers in memory, for reading or writing.
typedef double od_quad_anywhere __attribute__((vector_size(4 * sizeof(double)), aligned(sizeof(double)), may_alias));
#define OD_QUAD_AT(place) (*(od_quad_anywhere *)(place))
// Two consecutive numbers.
typedef double od_pair_anywhere __attribute__((vector_size(2 * sizeof(double)), aligned(sizeof(double)), may_alias));
#define OD_PAIR_AT(place) (*(od_pair_anywhere *)(place))
// Applies DO(AT) to a short row, four numbers at a time, without the prologue that compilers add to long loops. j is
// the index of the first number. DO uses AT(place), which is the quad, the pair or the single number at the address
// `place`.
#define OD_ONE_AT(place) (*(place))
#if OD_SMALL
#define OD_FOR_FOURS(count, DO) \
  for (int j = 0; j < (count); j++) DO(OD_ONE_AT)
#else
#define OD_FOR_FOURS(count, DO)                     \
  do {                                              \
    int j = 0;                                      \
    for (; j + 3 < (count); j += 4) DO(OD_QUAD_AT); \
    if ((count)&2) DO(OD_PAIR_AT), j += 2;          \
    if ((count)&1) DO(OD_ONE_AT);                   \
  } while (0)
#endif

// Copy or clear a few numbers without a call of memcpy() or memset().
OD_INTO_WIDE void od_copy_few(int count, const double *from, double *to) {
  for (; OD_HAS_VECTORS && count >= 4; count -= 4, from += 4, to += 4) OD_QUAD_AT(to) = OD_QUAD_AT(from);
  for (; !OD_HAS_VECTORS && count > 0; count--) *to++ = *from++;
  if (count > 0) to[0] = from[0];
  if (count > 1) to[1] = from[1];
  if (count > 2) to[2] = from[2];
}
OD_INTO_WIDE void od_clear_few(int count, double *to) {
  const od_quad zero = {0};
  for (; OD_HAS_VECTORS && count >= 4; count -= 4, to += 4) OD_QUAD_AT(to) = zero;
  for (; !OD_HAS_VECTORS && count > 0; count--) *to++ = 0;
  if (count > 0) to[0] = 0;
  if (count > 1) to[1] = 0;
  if (count > 2) to[2] = 0;
}

// OD_LANES directions of a tangent, in memory that is aligned only for single numbers. Lanes are faster if the processor has
// vector instructions; on other processors, and in builds optimized for size, lanes are not compiled.
enum { OD_LANES = 4 };
#if (defined(__SSE2__) || defined(__aarch64__)) && !OD_SMALL
#define OD_LANES_PAY 1
#else
#define OD_LANES_PAY 0
#endif
typedef double od_lanes __attribute__((vector_size(4 * sizeof(double)), aligned(sizeof(double))));
// Functions that pass lanes by value are inlined, so their calling convention, about which -Wpsabi warns, does not matter.
// Compilers emit this warning at the end of the file, so the pragma stays in effect.
#define OD_LANES_BY_VALUE _Pragma("GCC diagnostic ignored \"-Wpsabi\"")

// The first two shift the numbers of x up by one or two places and fill the free places with the first numbers of y.
// The third exchanges the two numbers of each pair of x.
#if defined(__clang__)
#define OD_QUAD_MOVED_ONE(x, y) __builtin_shufflevector(x, y, 4, 0, 1, 2)
#define OD_QUAD_MOVED_TWO(x, y) __builtin_shufflevector(x, y, 4, 5, 0, 1)
#define OD_QUAD_PAIRS_TURNED(x) __builtin_shufflevector(x, x, 1, 0, 3, 2)
#else
#define OD_QUAD_MOVED_ONE(x, y) __builtin_shuffle(x, y, (od_quad_places){4, 0, 1, 2})
#define OD_QUAD_MOVED_TWO(x, y) __builtin_shuffle(x, y, (od_quad_places){4, 5, 0, 1})
#define OD_QUAD_PAIRS_TURNED(x) __builtin_shuffle(x, (od_quad_places){1, 0, 3, 2})
#endif

#endif
