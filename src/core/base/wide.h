// OD_WIDE before a function: compiled a second time for processors with wider vectors, chosen when the program starts. The
// bits stay the same: nothing is contracted, and sums keep the order in which they are written. Only where the compiler
// and the system can do that; elsewhere it means nothing. For static functions: what chooses between the two would leave the
// shared library otherwise.
#ifndef OD_BASE_WIDE_H
#define OD_BASE_WIDE_H

#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define OD_WIDE __attribute__((target_clones("avx2", "default")))
#else
#define OD_WIDE
#endif

// What such a function calls in its loops becomes part of it.
#define OD_INTO_WIDE static inline __attribute__((always_inline))

// Four numbers side by side. For variables inside a function only.
typedef double od_quad __attribute__((vector_size(32)));

#endif
