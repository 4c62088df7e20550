// The scalar of a kernel that is written once and built twice: for double, and for double complex, whose imaginary
// part carries an exact derivative (the complex step). A template is included after defining OD_COMPLEX or not;
// X(name) gives each build its own names. Comparisons look at the real part only.
#include <complex.h>
#include <math.h>
#include <tgmath.h>

// I is an inertia here, not the imaginary unit.
#undef I
#undef X
#undef RE
#undef od_x
#ifdef OD_COMPLEX
#define X(name)   name##_c
#define RE(value) creal(value)
#define od_x      double _Complex
#else
#define X(name)   name##_r
#define RE(value) (value)
#define od_x      double
#endif
