// The mechanics of spatial machines in complex arithmetic.
#define OD_COMPLEX
#define OD_TABLE od_mechanics_spatial_complex
#include "mechanics/kernel_x.h"
