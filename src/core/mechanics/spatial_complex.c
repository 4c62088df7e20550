// The mechanics of spatial machines in complex numbers.
#define OD_COMPLEX
#define OD_TABLE od_mechanics_spatial_complex
#include "mechanics/kernel_x.h"
