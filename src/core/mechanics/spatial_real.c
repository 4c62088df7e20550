// The mechanics of spatial machines in real arithmetic.
#define OD_TABLE od_mechanics_spatial_real
#include "mechanics/kernel_x.h"
