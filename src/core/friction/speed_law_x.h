// Common part of laws that are a function of the speed alone, in the scalar of the build. A law includes this header before
// X(numbers), X(friction), X(scale) and friction_slopes(); see law_tables.h.
#include "friction/law_factor_x.h"

#ifndef OD_COMPLEX
// Derivatives of the force with respect to the speed and to the logarithm of the factor. The numbers of the law are
// already scaled.
typedef struct speed_law_slopes {
  double speed, log_factor;
} speed_law_slopes;
#endif
