// The mechanics of spatial machines in real numbers.
#define OD_TABLE od_mechanics_spatial_real
#include "mechanics/kernel_x.h"
