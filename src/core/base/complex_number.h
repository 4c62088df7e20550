// Complex numbers of the core: od_complex, whose imaginary part carries a derivative (the complex step).
#ifndef OD_BASE_COMPLEX_NUMBER_H
#define OD_BASE_COMPLEX_NUMBER_H

#include "base/compiler.h"
#if !OD_HAS_EXTENSIONS
#include <complex.h>
#endif

typedef double _Complex od_complex;

// The complex number with these real and imaginary parts. The fallback, a sum with a product, may change infinities and signed
// zeros.
#if OD_HAS_EXTENSIONS
#define OD_COMPLEX_OF(real, imaginary) __builtin_complex((double)(real), (double)(imaginary))
#elif defined CMPLX
#define OD_COMPLEX_OF(real, imaginary) CMPLX(real, imaginary)
#else
#define OD_COMPLEX_OF(real, imaginary) ((real) + (imaginary)*_Complex_I)
#endif

#endif
