// The mechanics of spatial machines in complex numbers.
#define OD_COMPLEX
#include "mechanics/kernel_x.h"

const od_mechanics_complex od_mechanics_spatial_complex = {
    .prepare = prepare_c,
    .open_positions = open_positions_c,
    .open_velocities = open_velocities_c,
    .motion = motion_c,
    .residual = residual_c,
    .output = output_c,
};
