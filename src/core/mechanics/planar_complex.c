// The mechanics of planar machines in complex arithmetic.
#include "base/parts.h"

#if OD_WITH_COMPLEX
#define OD_PLANAR
#define OD_COMPLEX
#define OD_TABLE od_mechanics_planar_complex
#include "mechanics/kernel_x.h"
#endif
