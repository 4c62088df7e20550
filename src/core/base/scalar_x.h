// The scalar of kernels. Each kernel is compiled twice: for double, and for double complex, whose imaginary part is an exact
// derivative (the complex step). OD_COMPLEX selects the complex build. X(name) gives each build its own names; od_x_sqrt() and
// similar functions act on these scalars. Comparisons use the real part only. <tgmath.h> is not used, because C libraries of
// small processors lack this header.
#include <math.h>

#include "base/complex_number.h"
#if OD_WITH_COMPLEX
#include <complex.h>
#endif

// The macro I of <complex.h> is removed, because I is the name of an inertia.
#undef I
#undef X
#undef RE
#undef od_x
#undef od_x_sqrt
#undef od_x_pow
#undef od_x_log
#undef od_x_exp
#undef od_x_sin
#undef od_x_cos
#undef od_x_tanh
#undef od_x_tan
#undef od_x_asin
#undef od_x_acos
#undef od_x_atan
#undef od_x_sinh
#undef od_x_cosh
#ifdef OD_COMPLEX
#define X(name)   name##_c
#define RE(value) creal(value)
#define od_x      od_complex
#define od_x_sqrt csqrt
#define od_x_pow  cpow
#define od_x_log  clog
#define od_x_exp  cexp
#define od_x_sin  csin
#define od_x_cos  ccos
#define od_x_tanh ctanh
#define od_x_tan  ctan
#define od_x_asin casin
#define od_x_acos cacos
#define od_x_atan catan
#define od_x_sinh csinh
#define od_x_cosh ccosh
#else
#define X(name)   name##_r
#define RE(value) (value)
#define od_x      double
#define od_x_sqrt sqrt
#define od_x_pow  pow
#define od_x_log  log
#define od_x_exp  exp
#define od_x_sin  sin
#define od_x_cos  cos
#define od_x_tanh tanh
#define od_x_tan  tan
#define od_x_asin asin
#define od_x_acos acos
#define od_x_atan atan
#define od_x_sinh sinh
#define od_x_cosh cosh
#endif
