// A plant: a dynamic system in state-space form. Simulations, observers and fits work on plants only.
//
//   x = [z, w, c]   nz positions, their nz rates, and nc first-order states (pressures, spools); nx = 2 nz + nc
//   k = [w', c']    the rates that are not states themselves; nk = nz + nc
//   g(t, x, k, u, p) = 0   the residual that defines k: M a - Q for a mechanism, c' - f for other states
//   y = h(t, x, u, p)
//
// The residual form avoids the inverse of the mass matrix in implicit steps; od_sim_derivatives() gives the explicit form
// x' = f. All matrices are dense and row-major. All values are in SI units. A plant is constant: all data that change are in the
// caller's work memory, one block per thread. A copy of the block saves its contents; copying the block back restores the contents.
#ifndef OLEODYN_PLANT_H
#define OLEODYN_PLANT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "oleodyn/status.h"

OD_BEGIN_C

typedef struct od_plant od_plant;

// The residual in complex numbers. Integration steps in complex numbers give exact derivatives (complex steps). Complex
// numbers are pairs (real, imaginary). The caller provides the memory and sets the memory to zero before the first use.
typedef struct od_complex_ops {
  size_t (*memory)(const od_plant *plant);  // bytes of memory

  // Prepares `memory` for evaluations near the last point. parameter: index of the parameter to whose imaginary part
  // `by` is added; -1: none.
  od_status (*begin)(const od_plant *plant, void *work, void *memory, int parameter, double by);
  // Computes g (2 nk) at x (2 nx) and k (2 nk) near the last point, with the time and inputs of that point.
  od_status (*residual)(const od_plant *plant, void *work, void *memory, const double *x, const double *k, double *g);
  void (*reserved[2])(void);  // zero
} od_complex_ops;

// A direction in which a point changes: changes of the state (nx), the inputs (nu), the parameters (np) and the values at which
// jumps are held (jumps). NULL: no change.
typedef struct od_point_change {
  const double *x, *u, *p, *held;
} od_point_change;

// The functions of a plant. "The last point" is the point of the last successful residual(). Functions that return a status
// fail with OD_NOT_FINITE, OD_SINGULAR or OD_NOT_CONVERGED where they cannot be evaluated. No function
// allocates memory.
typedef struct od_plant_ops {
  // Initializes the work memory; x (nx) receives the initial state.
  od_status (*start)(const od_plant *plant, void *work, double *x);
  // Read and replace the values of the free parameters (np), whose initial values are the values of the model.
  void (*get_parameters)(const od_plant *plant, const void *work, double *p);
  od_status (*set_parameters)(const od_plant *plant, void *work, const double *p);
  // Computes g (nk) at a point, which becomes the last point.
  od_status (*residual)(const od_plant *plant, void *work, double t, const double *x, const double *k, const double *u,
                        double *g);
  // Computes dg/dk + beta dg/d(w,c) + alpha dg/dz at the last point (nk x nk): the matrix of an implicit step.
  od_status (*step_matrix)(const od_plant *plant, void *work, double alpha, double beta, double *matrix);
  // Optional, for large plants with a sparse matrix (both NULL: simulations factor the result of step_matrix()).
  // step_factors() factors the same matrix in the plant's work memory; the factors are valid until the next call of
  // step_factors(). step_factors() returns OD_SINGULAR if the matrix cannot be factored; a dense factorization of
  // step_matrix() may still succeed. step_solve() solves in place for `columns` right-hand sides side by side (nk x
  // columns).
  od_status (*step_factors)(const od_plant *plant, void *work, double alpha, double beta);
  void (*step_solve)(const od_plant *plant, void *work, double *right, int columns);
  // Computes dg/dx (nk x nx), dg/dk (nk x nk), dg/du (nk x nu) at the last point; any may be NULL.
  od_status (*jacobians)(const od_plant *plant, void *work, double *gx, double *gk, double *gu);
  // Computes dg/dp (nk x np) at the last point.
  od_status (*parameter_jacobian)(const od_plant *plant, void *work, double *gp);
  // Computes y (ny) at the last point, whose k must solve g = 0. energy: the nq integrals of the powers (NULL: zeros).
  od_status (*outputs)(const od_plant *plant, void *work, const double *energy, double *y);
  // Computes the total derivatives dy/dx (ny x nx), dy/du (ny x nu), dy/dp (ny x np) at the last point; any may be
  // NULL. kx (nk x nx), ku and kp are the derivatives of k, the solutions of gk kx = -gx and similar equations. kx, ku
  // and kp are required only if plant->outputs_of_rates is true. wanted (ny): rows with zero may be left unchanged;
  // NULL: all rows. energy: as for outputs(). The integrals are constants here, but the derivatives with respect to a
  // sensor's scale include the integrals.
  od_status (*output_jacobians)(const od_plant *plant, void *work, const double *energy, const unsigned char *wanted,
                                const double *kx, const double *ku, const double *kp, double *hx, double *hu,
                                double *hp);
  // Computes the powers (nq, in W) at the last point. An energy balance uses their integrals.
  od_status (*powers)(const od_plant *plant, void *work, double *power);
  // Returns whether the independent coordinates are ill-conditioned near the last point. NULL: fixed coordinates.
  bool (*wants_repartition)(const od_plant *plant, void *work);
  // Chooses better coordinates at the last point and rewrites x. map (nx x nx) receives dx_new/dx_old. map_p (nx x np)
  // receives dx_new/dp at constant x_old, because the relation between old and new coordinates depends on lengths. Either may be
  // NULL.
  od_status (*repartition)(const od_plant *plant, void *work, double *x, double *map, double *map_p);
  // back false: saves the last point. back true: after a failure, restores the saved point and undoes the samples taken
  // after it was saved. Iterations, such as the iteration for dependent coordinates, then start from the saved point
  // again. NULL: nothing to save.
  void (*settle)(const od_plant *plant, void *work, bool back);
  // Samples are taken between steps. next_sample() returns the time of the next sample in s (INFINITY: none). sample() takes the
  // samples that are due at time t at the last point and rewrites x. map (nx x nx) and by_parameters (nx x np) receive the
  // derivatives of the new x unless NULL. Both functions NULL: the plant takes no samples.
  double (*next_sample)(const od_plant *plant, const void *work);
  od_status (*sample)(const od_plant *plant, void *work, double t, double *x, double *map, double *by_parameters);
  // Computes the guards at the last point: margins, then zeros, then scales (see od_plant). sample() takes the switches
  // that are due. NULL: no guards.
  od_status (*guards)(const od_plant *plant, void *work, double *guard);
  // Optional (may be NULL). Computes the generalized stiffness K (nz x nz) of the forces of elements at the last point:
  // -J' (dF/ds) J. F are the forces along lines and in joints, s their lengths or joint coordinates. The derivative of
  // J = ds/dz is neglected.
  od_status (*force_stiffness)(const od_plant *plant, void *work, double *K);
  const od_complex_ops *in_complex;  // NULL: no complex residual

  // Marks the outputs (ny) that may be limited in state x, such as the pressure of a cavitating volume: nonzero if the derivative
  // of an output may be zero here although the output changes beyond the limit. NULL: any output may be limited.
  void (*edges)(const od_plant *plant, const double *x, unsigned char *at_edge);
  // Holds the results of jumps (see od_plant) at the values `held` (jumps): from -1, the law on the negative side of the guard,
  // to 1, the law on the positive side. NAN: this jump follows its guard; held NULL: all jumps follow their guards. The setting
  // is valid until the next call; start() releases all jumps. The function is NULL for plants without jumps.
  void (*hold)(const od_plant *plant, void *work, const double *held);
  // For plants with jumps, at the last point. held_jacobian() computes dg/dv (nk x jumps), where v are the values at which jumps
  // are held; columns of jumps at -1 or 1 and of jumps that follow their guards are zero. guard_slopes() computes the derivatives
  // of the guards of all jumps (jumps) in a direction.
  od_status (*held_jacobian)(const od_plant *plant, void *work, double *gv);
  od_status (*guard_slopes)(const od_plant *plant, void *work, od_point_change along, double *slope);

  // For states that are saved (od_sim_save()). fingerprint() computes two numbers that identify the plant: `selection` depends on
  // the choice of outputs and free parameters, `machine` on all other data. NULL: states of this plant cannot be saved. restore()
  // fills the work memory from a saved copy (work_size bytes, aligned to 16) that may contain any bytes, and returns true. Integers
  // from the copy are checked or computed again. If an integer is out of range, restore() returns false and leaves `work`
  // unchanged. work NULL: the copy is only checked. restore NULL: the work memory contains doubles only and is copied.
  void (*fingerprint)(const od_plant *plant, uint64_t *machine, uint64_t *selection);
  bool (*restore)(const od_plant *plant, const void *saved, void *work);

  // For saved states: data outside x and the work memory on which the plant depends. Returns their number of bytes, which is constant.
  // `to` not NULL: writes the data of the state x. `from` not NULL: restores such data and changes x accordingly; returns 0 and changes
  // nothing if the data are invalid; x NULL: only checks. NULL: there are no such data.
  size_t (*outside)(const od_plant *plant, double *x, void *to, const void *from);

  // Optional, for plants whose outputs depend on the state alone. Makes t, x and u the last point for outputs() and
  // output_jacobians(), without the evaluation of g, and thus cheaper than residual(). No other function may be called before the
  // next residual(). NULL: outputs at another state need residual().
  od_status (*place)(const od_plant *plant, void *work, double t, const double *x, const double *u);
} od_plant_ops;

struct od_plant {
  int nz, nc, nu, ny, np, nq;
  const double *scale;    // nk typical sizes of the rates k, for convergence tests; NULL: all 1
  bool outputs_of_rates;  // whether any output depends on k
  size_t work_size;       // bytes of work memory
  const void *model;      // data of the functions in ops
  const od_plant_ops *ops;
  void (*destroy)(od_plant *plant);
  // Guards: functions of the point (t, x, k, u) whose values select the branch of a law. Rates or their derivatives are
  // discontinuous between two branches.
  int margins;             // number of margins of modes (a relay, a brake); a margin is positive until the switch of
                           // the mode is due
  int zeros;               // number of guards whose sign selects the branch (a contact, a branch of a formula)
  int scales;              // number of guards that are positions in a table (k at knot k); the interval of the position
                           // selects the branch
  const int *scale_knots;  // the number of knots of each scale

  // Number of zeros at which the law jumps from one value to another. While a jump is held (sliding motion), the law is a
  // weighted mean of both values.
  int jumps;
  const int *jump_guard;  // index of the guard of each jump
};
// Returns the number of guards.
static inline int od_plant_guards(const od_plant *plant) {
  return plant->margins + plant->zeros + plant->scales;
}
// Returns the number of states.
static inline int od_plant_nx(const od_plant *plant) {
  return 2 * plant->nz + plant->nc;
}
// Returns the number of rates that are not states.
static inline int od_plant_nk(const od_plant *plant) {
  return plant->nz + plant->nc;
}
// Frees a plant and the plants that it owns; NULL is allowed.
OD_API void od_plant_free(od_plant *plant);

// A user-defined function as a plant: x' = f(t, x, u, p), y = h(t, x, u, p), with nx first-order states. Without h the outputs
// are the states. Jacobians that are NULL are computed by complex steps through f_complex and h_complex; for each, the Jacobian
// or the complex function must be given. Each function returns zero, or a nonzero value if it cannot be evaluated at this point.
typedef struct od_function {
  int nx, nu, ny, np;
  const double *x0, *p;  // initial state, parameters
  void *user;            // first argument of the functions
  int (*f)(void *user, double t, const double *x, const double *u, const double *p, double *dx);
  int (*h)(void *user, double t, const double *x, const double *u, const double *p, double *y);
  int (*f_jacobians)(void *user, double t, const double *x, const double *u, const double *p, double *fx, double *fu,
                     double *fp);
  int (*h_jacobians)(void *user, double t, const double *x, const double *u, const double *p, double *hx, double *hu,
                     double *hp);
  // Complex numbers are pairs (real, imaginary). For example, x has 2 nx doubles.
  int (*f_complex)(void *user, double t, const double *x, const double *u, const double *p, double *dx);
  int (*h_complex)(void *user, double t, const double *x, const double *u, const double *p, double *y);
  // Identifies the functions in saved states (od_sim_save()): a number that the user changes with the functions; 0: none.
  uint64_t fingerprint;
  void *reserved[3];  // zero
} od_function;
// Creates a plant from a function. The struct and its arrays are copied; `user` must outlive the plant. Free the plant with
// od_plant_free(). Fails with OD_BAD_ARGUMENT or OD_NO_MEMORY; err (may be NULL) has the reason.
OD_API od_status od_plant_from_function(const od_function *function, od_plant **out, od_error *err);

// A plant with imperfect sensors: y = scale h + bias. OD_CALIBRATE_NOTHING is a parameter without effect on the plant, for callers that use
// the parameter themselves, such as the delay of a sensor.
typedef enum od_calibration_kind { OD_CALIBRATE_BIAS, OD_CALIBRATE_SCALE, OD_CALIBRATE_NOTHING } od_calibration_kind;
typedef struct od_calibration {
  int output;  // index of the output
  od_calibration_kind kind;
} od_calibration;
// Creates a plant whose parameters are the parameters of `inner` followed by the `count` calibrations (initially scale 1, others
// 0). The new plant owns `inner`; on failure the caller still owns `inner`. Fails with OD_BAD_ARGUMENT if an output does not exist, and
// with OD_NO_MEMORY; err (may be NULL) has the reason.
OD_API od_status od_plant_calibrated(od_plant *inner, const od_calibration *item, int count, od_plant **out,
                                     od_error *err);

// Parameters p of an inner plant as functions of other parameters q: p = f(q).
typedef struct od_tie {
  int count;            // number of parameters q
  const double *start;  // initial values of q; f(q) must give the initial parameters of the inner plant
  const void *user;     // passed to follow()

  // Computes p (np of the inner plant) and its derivatives `slope` (np x count). The function must not allocate.
  void (*follow)(const void *user, const double *q, double *p, double *slope);
  void (*free_user)(void *user);  // frees `user` with the plant; NULL: nothing to free
  uint64_t fingerprint;           // identifies follow() and `user` in saved states; 0: none
  void *reserved[3];              // zero
} od_tie;
// Creates a plant whose parameters are q. The new plant owns `inner` and the user data; on failure the caller still owns both.
// The new plant has no complex residual. Fails with OD_NO_MEMORY; err may be NULL.
OD_API od_status od_plant_tied(od_plant *inner, const od_tie *tie, od_plant **out, od_error *err);

OD_END_C

#endif
