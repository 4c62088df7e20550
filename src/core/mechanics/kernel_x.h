// The complete mechanics for one space (planar if OD_PLANAR) and one scalar type (complex if OD_COMPLEX). Four small files
// include this file once each; OD_TABLE is the name of the table of functions that they define.
#include <stdbool.h>
#include <stddef.h>

#include "base/scalar_x.h"
#include "mechanics/mechanics.h"
#include "mechanics/partition.h"
#include "model/model.h"
// The space.
#ifdef OD_PLANAR
enum { ND = OD_PLANAR_ND, NV = OD_PLANAR_NV, NR = OD_PLANAR_NR, NI = OD_PLANAR_NI, NA = 1 };
#else
enum { ND = OD_SPATIAL_ND, NV = OD_SPATIAL_NV, NR = OD_SPATIAL_NR, NI = OD_SPATIAL_NI, NA = 3 };
#endif

// Type and names for scalars: od_t is the scalar type of the kernel. lanes_x.h defines the same macros for lanes.
#define od_t     od_x
#define T(name)  name
#define PT(name) name
#define TP(name) name
#define D(name)  (w + l->name)
#define OD_STAGE static
#define OD_PART  static inline
#define N(name)  name
#define OD_A     od_x
#define OD_B     od_x
#define OD_C     od_x
#define OD_C_IS_B
#include "mechanics/space_x.h"
// The stages of the computation, in the order of the data flow.
#include "mechanics/linear_x.h"
#include "mechanics/derive_x.h"
#include "mechanics/kinematics_x.h"
#include "mechanics/closure_x.h"
#include "mechanics/dependent_coordinates_x.h"
#include "mechanics/forces_x.h"
#include "mechanics/dynamics_x.h"
#include "mechanics/reactions_x.h"
#ifndef OD_COMPLEX
#include "mechanics/tangent_numbers_x.h"
#include "mechanics/tangent_motion_x.h"
#include "mechanics/tangent_forces_x.h"
#if OD_WITH_TREE
#include "mechanics/tree_solve_x.h"
#endif
#endif
#include "mechanics/outputs_x.h"
#if !defined(OD_COMPLEX) && OD_LANES_PAY
#include "mechanics/lanes_x.h"
#endif

// Computes positions, closure rows and their Jacobian at the coordinates in w, for the assembly.
static void X(open_positions)(const od_model *m, od_x *w) {
  positions(m, w);
  closure_rows(m, w);
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
    .tangent = tangent,
    .tangent_motion = tangent_motion,
#if OD_LANES_PAY
    .tangent_lanes = X(tangent_lanes),
#endif
    .output_tangent = X(output_tangent),
    .contact_height = X(contact_height),
#if OD_WITH_TREE
    .tree_factor = X(tree_factor),
    .tree_solve = X(tree_solve),
    .tree_line = X(tree_line),
#endif
#endif
    .prepare = X(prepare),
    .open_positions = X(open_positions),
    .open_velocities = X(open_velocities),
    .motion = X(motion),
    .residual = X(residual),
    .closure_forces = X(closure_forces),
    .output = X(output),
};
