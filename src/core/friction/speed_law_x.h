// What the text of a law outside the family begins with, in the scalar of the build. Behind it come X(numbers), X(friction)(q, v),
// X(scale)(q, log_factor), which makes of the numbers what a factor makes of them, and friction_slopes(q, v).
#include "friction/law_factor_x.h"

#ifndef OD_COMPLEX
// d friction by the speed and by the logarithm of the factor, with scaled numbers.
typedef struct plain_slopes {
  double speed, log_factor;
} plain_slopes;
#endif
