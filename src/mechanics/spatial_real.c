// The mechanics of spatial machines in real numbers.
#include "mechanics/kernel_x.h"

const od_mechanics_real od_mechanics_spatial_real = {
    .prepare = prepare_r,
    .open_positions = open_positions_r,
    .open_velocities = open_velocities_r,
    .motion = motion_r,
    .residual = residual_r,
    .actuator_map = actuator_map_r,
    .closure_forces = closure_forces,
    .tangent = tangent_r,
    .tangent_motion = tangent_motion_r,
    .output = output_r,
    .output_tangent = output_tangent_r,
};
