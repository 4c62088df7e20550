// The mechanics of planar machines in real arithmetic.
#define OD_PLANAR
#define OD_TABLE od_mechanics_planar_real
#include "mechanics/kernel_x.h"
