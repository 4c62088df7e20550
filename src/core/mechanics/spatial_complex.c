// The mechanics of spatial machines in complex arithmetic.
#include "base/parts.h"

#if OD_WITH_COMPLEX
#define OD_COMPLEX
#define OD_TABLE od_mechanics_spatial_complex
#include "mechanics/kernel_x.h"
#endif
