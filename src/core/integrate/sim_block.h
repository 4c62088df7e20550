// The memory of a simulation: one block with offsets instead of pointers, so that the block may be copied.
#ifndef OD_SIM_BLOCK_H
#define OD_SIM_BLOCK_H

#include <stdint.h>

#include "base/parts.h"
#include "oleodyn/sim.h"
#include "integrate/rates.h"

// The variables with respect to which derivatives are computed.
enum { OD_BY_STATE = 1, OD_BY_INPUT = 2, OD_BY_PARAMETER = 4 };

enum { OD_MOST_JUMPS_IN_STEP = 24 };  // largest number of jumps that a step holds or passes (slide.c)

// Location of the factors of Newton's matrix: none, in this block, or in the plant's work memory.
typedef enum od_matrix_place { OD_NO_MATRIX, OD_MATRIX_HERE, OD_MATRIX_OF_PLANT } od_matrix_place;

struct od_sim {
  const od_plant *plant;
  const od_integrator *integrator;
  size_t size;
  int plain;       // whether there is no memory for derivatives
  int dense_room;  // whether there is memory for Newton's matrix and for the matrix of the rates

  // The fields from here to `counts` are saved with a state (sim_save.c).
  double t;
  int started;
  int has_matrix;  // od_matrix_place
  int history;     // number of earlier rates that are known: 0, 1 (k_before), 2 (also k_earlier)

  // at_point: whether the current point is the plant's last point. At the current point: whether gk is known and factored, and
  // which derivatives of g (`slopes`) and of k (`linear`) are known (OD_BY_*).
  int at_point, has_gk, has_gk_factors, slopes, linear;
  int rates_with_gk;  // whether the last computation of rates left gk and its factors
  int jumped;         // whether the rates have jumped at the current point
  int has_curve;      // trapezoid: whether the second derivative of the rates is known for the last step
  int has_error;      // tr-bdf2: whether the error estimate of the last step is complete

  // Jumps of the plant (slide.c): the number of held jumps, and whether jump_start belongs to the current point.
  int holding, jumps_known;
  // Length of the last step if sliding began or a jump was passed in this step (slide.c), s; otherwise 0.
  double entered;
  int left_out;        // 1 + the index of a jump beyond OD_MOST_JUMPS_IN_STEP in the failed step; 0: none
  int by_held;         // whether derivatives with respect to held values replace derivatives with respect to parameters
  double last_step;    // length of the last step, s
  double step_before;  // length of the step before the last step, s
  double matrix_beta;  // beta of the stage to which the factored matrix belongs
  double contraction;  // recent reduction of the error per Newton iteration
  // Distance of the rates at the plant's last evaluation from the solution of the stage, relative to the size of the
  // rates; INFINITY: unknown.
  double distance;
  long sets;  // number of changes of the state, the inputs or the parameters by od_sim_set() and similar functions
  od_sim_counts counts;
  // Offsets in bytes from the block's start.
  size_t x, k, k_before, k_earlier;     // state, rates, rates one and two steps ago
  size_t u, energy, power, power_next;  // inputs, integrals of powers, powers at the current and at the next point
  size_t curve;                         // trapezoid: h^3/12 times the second derivative of the rates
  size_t x_next, k_next, base, g, matrix, pivot;  // memory of Newton's iteration; see implicit.h
  size_t careful;                                 // memory of the damped iteration
  size_t kx, ku, kp;                              // derivatives of k
  size_t gx, gu, gp, rate_matrix;                 // derivatives of g with respect to x, u and p; dg/dk and its factors
                                                  // (od_rate_matrix)
  size_t right;                                   // right-hand sides for the derivatives of an implicit step
  size_t inside;                                  // inputs at the integrator's points within a step
  size_t scratch;                                 // scratch memory of the integrator
  size_t guards;                                  // guards of the plant
  size_t before_set;                              // the saved point, restored when another point cannot be evaluated
  // Values of held jumps and their rates; guards of jumps at the current point; memory of slide.c.
  size_t held, jump_start, slide;
  size_t work;
};

static inline double *od_sim_at(od_sim *sim, size_t offset) {
  return (double *)((char *)sim + offset);
}
static inline int *od_sim_pivot(od_sim *sim) {
  return (int *)((char *)sim + sim->pivot);
}
static inline od_rate_matrix od_sim_rate_matrix(od_sim *sim) {
  int nk = od_plant_nk(sim->plant);
  double *gk = od_sim_at(sim, sim->rate_matrix);
  return (od_rate_matrix){gk, gk + nk * nk, gk + 2 * nk * nk, od_sim_pivot(sim) + nk};
}
static inline void *od_sim_work(od_sim *sim) {
  return (char *)sim + sim->work;
}

// Saves the plant's last point if the status is OD_OK, otherwise restores the saved point. Returns the status.
static inline od_status od_sim_settle(od_sim *sim, od_status status) {
  if (sim->plant->ops->settle) sim->plant->ops->settle(sim->plant, od_sim_work(sim), status != OD_OK);
  return status;
}

// Sets the time to zero. Only for plants whose equations and samples do not depend on the time.
static inline void od_sim_reset_time(od_sim *sim) {
  sim->t = 0;
}

// Marks that the current point changes: from here on no derivatives are known.
static inline void od_sim_leave_point(od_sim *sim) {
  sim->at_point = sim->has_gk = sim->has_gk_factors = sim->slopes = sim->linear = 0;
}
// Computes the rates k (nk) at a point, which becomes the plant's last point. The factors of Newton's matrix in a large plant are
// lost.
od_status od_sim_find_rates(od_sim *sim, double t, const double *x, const double *u, double *k);
// Declares that the rates were computed last at the current point, so that the matrix gk belongs to this point.
static inline void od_sim_adopt_rates_point(od_sim *sim) {
  sim->at_point = 1;
  sim->has_gk = sim->has_gk_factors = sim->rates_with_gk;
}
// Returns the inputs at the integrator's points within a step, interpolated linearly from the current inputs to u.
const double *od_sim_inputs_inside(od_sim *sim, const double *u);
// Evaluates the plant at the current point, unless this is already the plant's last point.
od_status od_sim_refresh(od_sim *sim);
// Computes the derivatives of g and gk at the plant's last point; `by`: OD_BY_*. The derivatives are then known for the
// current point.
od_status od_sim_find_slopes(od_sim *sim, int by);
// Computes the derivatives of k at the current point, unless they are known. The current point becomes the plant's last point.
od_status od_sim_linearize(od_sim *sim, int by);

// Computes the results of od_sim_linearize(). If the derivatives are known, the plant's last point does not change.
od_status od_sim_linearize_rates(od_sim *sim, int by);

// Returns the number of jumps of the plant. In a build without jumps (base/parts.h) the result is 0, and od_sim_start() rejects
// plants with jumps.
static inline int od_sim_jumps(const od_sim *sim) {
  return OD_WITH_JUMPS ? sim->plant->jumps : 0;
}
// Releases all held jumps, so that they follow their guards. The plant must be evaluated again.
void od_sim_release_jumps(od_sim *sim);
// Holds the same jumps as `after`, with their values at time t within the last step of `after`. `sim` is a copy of `after`.
void od_sim_hold_within(od_sim *sim, const od_sim *after, double t);
// Returns the number of doubles of memory at `slide`, which slide.c uses.
size_t od_slide_doubles(const od_plant *plant, bool plain);
// Takes a step of a plant with jumps, either by the integrator alone or sliding along a jump. out NULL: no derivatives.
od_status od_sim_step_with_jumps(od_sim *sim, double h, const double *inside, const double *u,
                                 const od_transition *out);
// If sliding began or a jump was passed in the last step, adds the error due to the unknown time of this event to the
// local error `before` of the step.
void od_sim_add_entry_error(od_sim *sim, double *before);

// Return the number of parameters with respect to which derivatives are computed, and the largest value of this number.
static inline int od_sim_np(const od_sim *sim) {
  return sim->by_held ? sim->plant->jumps : sim->plant->np;
}
static inline int od_most_parameters(const od_plant *plant) {
  return plant->jumps > plant->np ? plant->jumps : plant->np;
}

// Lists the pieces of a saved simulation (sim_save.c). The simulation must be initialized.
struct od_pieces;
void od_sim_transfer(od_sim *sim, struct od_pieces *t);
// OD_PIECES_CHECK and OD_PIECES_RESTORE: returns the time of the simulation that is read next, s. Otherwise returns the time of
// `sim`.
double od_sim_saved_time(const od_sim *sim, const struct od_pieces *t);
// Computes the fingerprints of a plant for saved states. Returns false if the plant has none.
bool od_plant_fingerprint(const od_plant *plant, uint64_t *machine, uint64_t *selection);

// Columns of a transition's derivatives: x0 (nx), then p (np), u0 (nu) and u1 (nu) where they are wanted.
typedef struct od_step_columns {
  int p, u0, u1, count;
  int by;  // OD_BY_*
} od_step_columns;
// Returns the columns for the wanted derivatives `out`.
static inline od_step_columns od_sim_columns(const od_sim *sim, const od_transition *out) {
  const od_plant *plant = sim->plant;
  int nx = od_plant_nx(plant), np = out->Gp ? od_sim_np(sim) : 0, nu = out->Gu0 || out->Gu1 ? plant->nu : 0;
  return (od_step_columns){
      .p = nx,
      .u0 = nx + np,
      .u1 = nx + np + nu,
      .count = nx + np + 2 * nu,
      .by = OD_BY_STATE | (out->Gp ? OD_BY_PARAMETER : 0) | (out->Gu0 || out->Gu1 ? OD_BY_INPUT : 0)};
}
static inline size_t od_most_columns(const od_plant *plant) {
  return (size_t)(od_plant_nx(plant) + od_most_parameters(plant) + 2 * plant->nu);
}
// Copies the columns of X (nx x count) to the wanted matrices. X contains the derivatives of the new state with respect to the
// variables of all columns.
void od_sim_give_transition(const od_sim *sim, od_step_columns c, const double *X, const od_transition *out);

#endif
