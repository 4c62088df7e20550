// The mechanics, all of it, for one space (OD_PLANAR or not) and one scalar (OD_COMPLEX or not). Four small files
// include this once each, with OD_TABLE the name of the table of functions they hand out.
#include <stdbool.h>
#include <stddef.h>

#include "base/scalar_x.h"
#include "mechanics/mechanics.h"
#include "mechanics/partition.h"
#include "model/model.h"
// The space.
#ifdef OD_PLANAR
#include "mechanics/space_planar_x.h"
#else
#include "mechanics/space_spatial_x.h"
#endif
// The pipeline, in the order in which data flows.
#include "mechanics/derive_x.h"
#include "mechanics/kinematics_x.h"
#include "mechanics/closure_x.h"
#include "mechanics/loops_x.h"
#include "mechanics/forces_x.h"
#include "mechanics/dynamics_x.h"
#include "mechanics/reactions_x.h"
#ifndef OD_COMPLEX
#include "mechanics/tangent_x.h"
#include "mechanics/tree_solve_x.h"
#endif
#include "mechanics/outputs_x.h"

// Positions, closure rows and their Jacobian for all coordinates as they stand in w: what assembly needs.
static void X(open_positions)(const od_model *m, od_x *w) {
  positions(m, w);
  closure_residual(m, w);
  closure_jacobian(m, w);
}

static void X(open_velocities)(const od_model *m, od_x *w) {
  inertias(m, w);
  velocities(m, w);
  actuator_motion(m, w);
}

static void X(prepare)(const od_model *m, od_x *w) {
  X(derive)(m, w);
  ground(m, w);
}

#ifdef OD_COMPLEX
const od_mechanics_complex OD_TABLE = {
#else
const od_mechanics_real OD_TABLE = {
    .accelerate = X(accelerate),
    .actuator_map = X(actuator_map),
    .tangent = X(tangent),
    .tangent_motion = X(tangent_motion),
    .output_tangent = X(output_tangent),
    .tree_factor = X(tree_factor),
    .tree_solve = X(tree_solve),
    .tree_line = X(tree_line),
#endif
    .prepare = X(prepare),
    .open_positions = X(open_positions),
    .open_velocities = X(open_velocities),
    .motion = X(motion),
    .residual = X(residual),
    .closure_forces = X(closure_forces),
    .output = X(output),
};
