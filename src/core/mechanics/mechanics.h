// The mechanics as two tables of functions, real and complex, for planar or spatial machines. `w` is the work memory of scalars
// and `in` the work memory of integers, both with the layout of model/layout.h. The caller allocates both.
#ifndef OD_MECHANICS_H
#define OD_MECHANICS_H

#include "base/complex_number.h"
#include "base/parts.h"
#include "base/precision.h"
#include "base/wide.h"
#include "model/model.h"

// Direct derivatives with respect to a number of the mechanism, or in lanes with respect to OD_LANES numbers together. They are
// derivatives of the constants at the beginning of the work memory (od_layout, before `chart`), in the same order. `kinds` gives
// the groups that may be nonzero.
enum { OD_CHANGES_PLACES = 1, OD_CHANGES_INERTIA = 2, OD_CHANGES_LOADS = 4 };
typedef struct od_number_change {
  const double *by;
  int kinds;
} od_number_change;

typedef struct od_mechanics_real {
  // Computes the constants from theta (in w), and the motion of the ground.
  void (*prepare)(const od_model *m, double *w);
  // Compute the tree and the closure rows at the coordinates in w, without closing loops; then the velocities.
  void (*open_positions)(const od_model *m, double *w);
  void (*open_velocities)(const od_model *m, double *w);
  // Computes the motion of all links at (z, z', z'') of the independent coordinates, with actuator lengths and speeds.
  od_status (*motion)(const od_model *m, const int *in, double *w, const double *z, const double *zd,
                      const double *zdd);
  // Computes the accelerations of all links for another z'', at z and z' of the last motion.
  void (*accelerate)(const od_model *m, const int *in, double *w, const double *zdd);
  // Computes the residual g for the last motion, with the inputs and actuator forces in w.
  od_status (*residual)(const od_model *m, const int *in, double *w, double *g);
  // Computes d length / d z_ind of all actuators and stores these derivatives in w.
  void (*actuator_map)(const od_model *m, const int *in, double *w);
  // Computes closure forces. Call this function once per point, before tangents at position level and before reactions of joints.
  void (*closure_forces)(const od_model *m, const int *in, double *w);
  // Computes dg along a direction of positions, velocities, accelerations (starting at `level`; see tangent_motion_x.h), inputs
  // and a number of the mechanism. du and change may be NULL.
  void (*tangent)(const od_model *m, const int *in, double *w, const double *dz, const double *dzd, const double *dzdd,
                  const double *du, const od_number_change *change, int level, double *dg);
  // Computes only the motion of a tangent, for outputs and for a change of coordinates; without accelerations if dzdd is
  // NULL, and without velocities if dzd is also NULL.
  void (*tangent_motion)(const od_model *m, const int *in, double *w, const double *dz, const double *dzd,
                         const double *dzdd, const od_number_change *change, int level);
  // Computes the results of tangent() for OD_LANES directions together. No direction starts below `level`. NULL if OD_LANES_PAY is
  // 0.
  void (*tangent_lanes)(const od_model *m, const int *in, double *w, const od_lanes *dz, const od_lanes *dzd,
                        const od_lanes *dzdd, const od_number_change *change, int level, od_lanes *dg);
  double (*output)(const od_model *m, const double *w, const od_output *o);
  // Returns the change of an output along the last tangent or tangent_motion, with the same du and change.
  double (*output_tangent)(const od_model *m, const double *w, const od_output *o, const double *du,
                           const od_number_change *change);
  // Returns the height of the point of a contact above its plane, m.
  double (*contact_height)(const od_model *m, const double *w, int load);
  // For machines without loops (tree_solve_x.h). tree_factor: factors Newton's matrix at the last point along the tree into `tree`
  // (od_tree_doubles()), with `own` added to its diagonal (NULL: zero). The matrix does not include lines between two moving links.
  // tree_solve: solves with these factors, in place. tree_line: for a line between two moving links, computes the
  // effect of its pull on the coordinates, and the derivatives of its pull, length and speed with respect to the
  // coordinates.
  od_status (*tree_factor)(const od_model *m, double *w, double alpha, double beta, const double *own, double *tree);
  void (*tree_solve)(const od_model *m, double *tree, double *right, int stride);
  void (*tree_line)(const od_model *m, double *w, int actuator, double alpha, double beta, double *across, double *pull,
                    double *length, double *speed);
} od_mechanics_real;

typedef struct od_mechanics_complex {
  void (*prepare)(const od_model *m, od_complex *w);
  void (*open_positions)(const od_model *m, od_complex *w);
  void (*open_velocities)(const od_model *m, od_complex *w);
  od_status (*motion)(const od_model *m, const int *in, od_complex *w, const od_complex *z, const od_complex *zd,
                      const od_complex *zdd);
  od_status (*residual)(const od_model *m, const int *in, od_complex *w, od_complex *g);
  void (*closure_forces)(const od_model *m, const int *in, od_complex *w);
  od_complex (*output)(const od_model *m, const od_complex *w, const od_output *o);
} od_mechanics_complex;

extern const od_mechanics_real od_mechanics_planar_real, od_mechanics_spatial_real;
extern const od_mechanics_complex od_mechanics_planar_complex, od_mechanics_spatial_complex;

static inline const od_mechanics_real *od_mechanics(const od_model *m) {
#if !OD_WITH_SPATIAL
  (void)m;
  return &od_mechanics_planar_real;
#else
  return m->planar ? &od_mechanics_planar_real : &od_mechanics_spatial_real;
#endif
}
static inline const od_mechanics_complex *od_mechanics_with_derivatives(const od_model *m) {
#if !OD_WITH_SPATIAL
  (void)m;
  return &od_mechanics_planar_complex;
#else
  return m->planar ? &od_mechanics_planar_complex : &od_mechanics_spatial_complex;
#endif
}

static inline size_t od_tree_doubles(const od_model *m) {
  size_t links = (size_t)m->links;
  return links * (m->planar ? OD_TREE_LINK_SCALARS(OD_PLANAR_NV) : OD_TREE_LINK_SCALARS(OD_SPATIAL_NV));
}

// The lowest order of motion that a direction changes: levels of od_mechanics_real.tangent.
typedef enum od_level { OD_LEVEL_POSITION, OD_LEVEL_VELOCITY, OD_LEVEL_ACCELERATION, OD_LEVEL_INPUT } od_level;

#endif
