// A plant: the state-space face of anything that moves. Simulators, observers and fitters know plants and nothing else.
//
//   x = [z, w, c]   nz positions, their nz rates, and nc states of first order (pressures, spools); nx = 2 nz + nc
//   k = [w', c']    the rates that are not states themselves; nk = nz + nc
//   g(t, x, k, u, p) = 0   the residual that defines k: for a mechanism M a - Q, elsewhere c' - f
//   y = h(t, x, u, p)
//
// The residual form spares the inverse of the mass matrix in implicit steps; od_sim_derivatives() gives the explicit
// form x' = f. All matrices are dense and row-major. Everything that changes lives in the caller's work memory: one
// block per thread, which may be copied to save and restore what it holds.
#ifndef OLEODYN_PLANT_H
#define OLEODYN_PLANT_H

#include <stdbool.h>
#include <stddef.h>

#include "oleodyn/status.h"

OD_BEGIN_C

typedef struct od_plant od_plant;

// The residual in complex numbers, for derivatives by complex steps through whole integration steps. Complex numbers are pairs
// (real, imaginary). The memory is the caller's; it is zero before the first use.
typedef struct od_complex_ops {
  size_t (*memory)(const od_plant *plant);  // bytes
  // Makes it ready at the last point, with one parameter (-1: none) moved by `by` along the imaginary axis.
  od_status (*begin)(const od_plant *plant, void *work, void *memory, int parameter, double by);
  // g (2 nk) at x (2 nx), k (2 nk) near that point, with its time and inputs.
  od_status (*residual)(const od_plant *plant, void *work, void *memory, const double *x, const double *k, double *g);
  void (*reserved[2])(void);  // zero
} od_complex_ops;

// What a plant has to offer. Functions that read "the last point" refer to the last successful residual().
typedef struct od_plant_ops {
  // Makes work memory ready; x (nx) receives the initial state.
  od_status (*start)(const od_plant *plant, void *work, double *x);
  // The free parameters' values (np): reading them (they begin as the model has them) and replacing them.
  void (*get_parameters)(const od_plant *plant, const void *work, double *p);
  od_status (*set_parameters)(const od_plant *plant, void *work, const double *p);
  // g at a point (nk).
  od_status (*residual)(const od_plant *plant, void *work, double t, const double *x, const double *k, const double *u,
                        double *g);
  // dg/dk + beta dg/d(w,c) + alpha dg/dz at the last point (nk x nk): the matrix of an implicit step.
  od_status (*step_matrix)(const od_plant *plant, void *work, double alpha, double beta, double *matrix);
  // The same matrix, factored in the plant's own work memory, by plants that need not write it out: large sparse ones. What
  // it returns besides OD_OK is the status of a matrix that it cannot factor, OD_SINGULAR; step_matrix() may still serve.
  // The factors stay until the next call. step_solve() solves with them in place, for `columns` right-hand sides that stand
  // side by side (nk x columns). Both NULL: simulations factor step_matrix() themselves.
  od_status (*step_factors)(const od_plant *plant, void *work, double alpha, double beta);
  void (*step_solve)(const od_plant *plant, void *work, double *right, int columns);
  // dg/dx (nk x nx), dg/dk (nk x nk), dg/du (nk x nu) at the last point; any may be NULL.
  od_status (*jacobians)(const od_plant *plant, void *work, double *gx, double *gk, double *gu);
  // dg/dp (nk x np) at the last point.
  od_status (*parameter_jacobian)(const od_plant *plant, void *work, double *gp);
  // y (ny) at the last point, whose k must solve g = 0. energy: the nq integrals of the powers (NULL: zeros).
  od_status (*outputs)(const od_plant *plant, void *work, const double *energy, double *y);
  // dy/dx (ny x nx), dy/du (ny x nu), dy/dp (ny x np), k following x, u and p; any may be NULL. kx (nk x nx), ku, kp
  // are the derivatives of k: solutions of gk kx = -gx and so on. They are there where plant->outputs_of_rates says so.
  // wanted (ny): zero for rows that may be left as they are; NULL: all are wanted. energy: as for outputs; the integrals are
  // constants here, but what multiplies an output, such as a sensor's scale, multiplies them, too.
  od_status (*output_jacobians)(const od_plant *plant, void *work, const double *energy, const unsigned char *wanted,
                                const double *kx, const double *ku, const double *kp, double *hx, double *hu,
                                double *hp);
  // The powers (nq, W) whose integrals an energy balance needs, at the last point.
  od_status (*powers)(const od_plant *plant, void *work, double *power);
  // Whether the coordinates in use have become bad, near the last point. NULL for plants with fixed coordinates.
  bool (*wants_repartition)(const od_plant *plant, void *work);
  // Chooses better ones at the last point: x is rewritten, map (nx x nx) receives dx_new/dx_old, map_p (nx x np)
  // dx_new/dp at a fixed x_old, since lengths tell how coordinates belong together; either may be NULL.
  od_status (*repartition)(const od_plant *plant, void *work, double *x, double *map, double *map_p);
  // Remembers the last point as the one to come back to (back false), or comes back to it after a failure (true): what a plant
  // finds by iteration, such as dependent coordinates, starts from there again, and samples taken since then were not taken. NULL for
  // plants without such memory.
  void (*settle)(const od_plant *plant, void *work, bool back);
  // What runs once per sample, between steps: the time of the next sample (INFINITY: none), and taking those that are
  // due at time t at the last point: x is rewritten; map (nx x nx) and by_parameters (nx x np), if not NULL, receive
  // the derivatives of the new x. NULL for plants without samples.
  double (*next_sample)(const od_plant *plant, const void *work);
  od_status (*sample)(const od_plant *plant, void *work, double t, double *x, double *map, double *by_parameters);
  // The guards at the last point: margins, then zeros, then scales (see od_plant). sample() takes the switches that are due.
  // NULL for plants without guards.
  od_status (*guards)(const od_plant *plant, void *work, double *guard);
  // Optional (NULL): the generalized stiffness of the forces of elements at the last point (nz x nz): -J' (dF/ds) J with the
  // forces F along lines and in joints, their lengths s, and J = ds/dz taken as constant.
  od_status (*force_stiffness)(const od_plant *plant, void *work, double *K);
  const od_complex_ops *in_complex;  // NULL for plants that know real numbers only
  // Which outputs (ny) may be held at an edge in state x, such as a pressure that cavitates: nonzero where the output may have no slope
  // although it moves on the other side of the edge; zero where it has no edge or is not at it. NULL: any output may.
  void (*edges)(const od_plant *plant, const double *x, unsigned char *at_edge);
  void (*reserved)(void);  // zero
} od_plant_ops;

struct od_plant {
  int nz, nc, nu, ny, np, nq;
  const double *scale;    // nk typical sizes of the rates k, for convergence tests; NULL: all 1
  bool outputs_of_rates;  // whether some output depends on k
  size_t work_size;       // bytes of work memory
  const void *model;      // what the functions read
  const od_plant_ops *ops;
  void (*destroy)(od_plant *plant);
  // Guards: functions of the point that decide which piece of a law holds. Between two pieces the rates jump or bend.
  int margins;             // of modes (a relay, a brake): positive until a switch is due
  int zeros;               // the sign decides (a contact, a branch of a formula)
  int scales;              // the interval decides: knot k of a table is at the value k
  const int *scale_knots;  // the number of knots of each scale
  void *reserved[2];       // zero
};
static inline int od_plant_guards(const od_plant *plant) {
  return plant->margins + plant->zeros + plant->scales;
}
static inline int od_plant_nx(const od_plant *plant) {
  return 2 * plant->nz + plant->nc;
}
static inline int od_plant_nk(const od_plant *plant) {
  return plant->nz + plant->nc;
}
OD_API void od_plant_free(od_plant *plant);

// A user's own function as a plant: x' = f(t, x, u, p), y = h(t, x, u, p) with their Jacobians, all nx of first order.
// Without h the outputs are the states. Jacobians not given (NULL) are taken by the complex step from f_complex and
// h_complex; one of the two must be there. Each f_* function returns zero, or anything else for "cannot evaluate here".
typedef struct od_function {
  int nx, nu, ny, np;
  const double *x0, *p;  // initial state, parameters
  void *user;
  int (*f)(void *user, double t, const double *x, const double *u, const double *p, double *dx);
  int (*h)(void *user, double t, const double *x, const double *u, const double *p, double *y);
  int (*f_jacobians)(void *user, double t, const double *x, const double *u, const double *p, double *fx, double *fu,
                     double *fp);
  int (*h_jacobians)(void *user, double t, const double *x, const double *u, const double *p, double *hx, double *hu,
                     double *hp);
  // Complex numbers are pairs (real, imaginary): x is 2 nx doubles, and so on.
  int (*f_complex)(void *user, double t, const double *x, const double *u, const double *p, double *dx);
  int (*h_complex)(void *user, double t, const double *x, const double *u, const double *p, double *y);
  void *reserved[4];  // zero
} od_function;
OD_API od_status od_plant_from_function(const od_function *function, od_plant **out, od_error *err);

// The same plant read through imperfect sensors, y = scale h + bias: its parameters are those of the plant inside, then
// the given calibrations (scale 1, bias 0 to begin with). Owns the plant inside; on failure the caller still does.
typedef enum od_calibration_kind { OD_CALIBRATE_BIAS, OD_CALIBRATE_SCALE } od_calibration_kind;
typedef struct od_calibration {
  int output;
  od_calibration_kind kind;
} od_calibration;
OD_API od_status od_plant_calibrated(od_plant *inner, const od_calibration *item, int count, od_plant **out,
                                     od_error *err);

// The same plant with parameters that follow others, p = f(q): its parameters are the q (`count` of them, `start` are their
// values to begin with, at which f gives what the plant inside begins with). follow() fills p (np of the plant inside) and its derivatives (np x count); it must not
// allocate. Owns the plant inside and, by free_user(), the user data; on failure the caller still does. It has no complex
// residual.
typedef struct od_tie {
  int count;
  const double *start;
  const void *user;
  void (*follow)(const void *user, const double *q, double *p, double *slope);
  void (*free_user)(void *user);  // NULL: it needs none
  void *reserved[4];              // zero
} od_tie;
OD_API od_status od_plant_tied(od_plant *inner, const od_tie *tie, od_plant **out, od_error *err);

OD_END_C

#endif
