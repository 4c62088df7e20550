// The products of the kernel's space, for factors of types OD_A and OD_B.
#ifdef OD_PLANAR
#include "mechanics/space_planar_x.h"
#else
#include "mechanics/space_spatial_x.h"
#endif
