// Complex numbers of the core: od_complex, whose imaginary part carries a derivative (the complex step). A build without complex numbers
// (OD_WITHOUT=complex) has a struct instead, so that declarations compile; no function computes with such structs.
#ifndef OD_BASE_COMPLEX_NUMBER_H
#define OD_BASE_COMPLEX_NUMBER_H

#include "base/compiler.h"
#include "base/parts.h"

#if OD_WITH_COMPLEX
#if !OD_HAS_EXTENSIONS
#include <complex.h>
#endif

typedef double _Complex od_complex;

// Returns the complex number with these real and imaginary parts. The fallback, a sum with a product, may change
// infinities and signed zeros.
#if OD_HAS_EXTENSIONS
#define OD_COMPLEX_OF(real, imaginary) __builtin_complex((double)(real), (double)(imaginary))
#elif defined CMPLX
#define OD_COMPLEX_OF(real, imaginary) CMPLX(real, imaginary)
#else
#define OD_COMPLEX_OF(real, imaginary) ((real) + (imaginary)*_Complex_I)
#endif

// Return the real and the imaginary part.
#if OD_HAS_EXTENSIONS
static inline double od_real(od_complex z) {
  return __real__ z;
}
static inline double od_imaginary(od_complex z) {
  return __imag__ z;
}
#else
static inline double od_real(od_complex z) {
  return creal(z);
}
static inline double od_imaginary(od_complex z) {
  return cimag(z);
}
#endif
#else
typedef struct od_complex {
  double real, imaginary;
} od_complex;
static inline double od_imaginary(od_complex z) {
  return z.imaginary;
}
#endif

#endif
