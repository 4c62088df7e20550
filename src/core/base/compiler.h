// Extensions of compilers, each with a replacement in plain C. Other files of the core use these macros and base/wide.h only.
// OD_PLAIN_C selects the replacements for any compiler.
#ifndef OD_BASE_COMPILER_H
#define OD_BASE_COMPILER_H

#include <stdint.h>

#if defined __GNUC__ && !defined OD_PLAIN_C
#define OD_HAS_EXTENSIONS 1
#else
#define OD_HAS_EXTENSIONS 0
#endif

// Whether the compiler optimizes for size (-Os). If so, OD_UNROLLED has no effect, and the compiler decides which
// functions to inline.
#ifdef __OPTIMIZE_SIZE__
#define OD_SMALL 1
#else
#define OD_SMALL 0
#endif

// OD_APART marks a rarely used function that is never inlined; OD_INLINED marks a function that is always inlined.
#if OD_HAS_EXTENSIONS && !OD_SMALL
#define OD_APART   __attribute__((noinline))
#define OD_INLINED inline __attribute__((always_inline))
#else
#define OD_APART
#define OD_INLINED inline
#endif

// OD_UNROLLED unrolls the next loop 8 times, except with sanitizers, because Clang needs minutes to compile the unrolled checks of
// dense.c.
#if defined __has_feature
#if __has_feature(address_sanitizer)
#define OD_UNROLLED
#endif
#endif
#if !defined OD_UNROLLED && OD_HAS_EXTENSIONS && !OD_SMALL
#define OD_UNROLLED _Pragma("GCC unroll 8")
#elif !defined OD_UNROLLED
#define OD_UNROLLED
#endif

// Returns the position of the lowest bit that is set; `bits` must not be zero.
static inline int od_lowest_bit(uint64_t bits) {
#if OD_HAS_EXTENSIONS
  return __builtin_ctzll(bits);
#else
  int at = 0;
  for (int width = 32; width > 0; width /= 2)
    if ((bits & ((UINT64_C(1) << width) - 1)) == 0) bits >>= width, at += width;
  return at;
#endif
}

#endif
