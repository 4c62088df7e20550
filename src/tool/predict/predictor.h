// Internal data of a predictor, shared by the source files of this module.
#ifndef OD_PREDICTOR_H
#define OD_PREDICTOR_H

#include "base/arena.h"
#include "oleodyn/sim.h"
#include "predict/linear.h"
#include "predict/predict.h"

typedef struct od_modal od_modal;

struct od_predictor {
  od_arena arena;
  const od_plant *plant;
  od_prediction_model model;   // model that replaces the plant, if model.predict is not NULL
  double *model_y, *model_dy;  // all rows of the model, for predictions in blocks; allocated when first needed
  od_logged_inputs log;        // the predicted rows: all rows, or a window
  od_logged_inputs whole;      // all rows
  od_rule rule;
  od_hold hold;
  int substeps, nx, nu, ny, np, columns;
  bool steady, dense, used_modes;
  bool changed;  // whether the coordinates have changed during the current prediction
  int *free_states, free_count;
  double bound;
  bool (*keeps_going)(void *user);
  void *user;
  long steps;  // number of steps of the current prediction
  od_predict_wish wish;
  double *y, *dy;     // outputs and sensitivities of a block of rows
  int given, filled;  // number of rows passed on in the current prediction, and of rows in the current block
  od_sim *sim;
  double *p;               // parameters of the current prediction
  double *x0;              // initial state
  double *S;               // nx x columns: sensitivities of the current state
  double *own_p, *own_x0;  // the plant's own parameters and initial state
  // Arrays for steps; see march.c. Newton's method for a steady start uses some of these arrays.
  double *F, *Gp, *hx, *hp, *scratch, *u;
  int *pivot;
  // Arrays for the exact rule.
  od_linear linear;
  double *exp_in, *exp_out, *exp_scratch, *exp_rate, *out_rate, *dense_step;
  int *exp_pivot;
  od_modal *modal;
};

static inline double od_log_time(const od_logged_inputs *log, int k) {
  return log->times ? log->times[k] : log->start + k * log->step;
}

// Returns whether to continue. Called once per step; the caller's function is called once in 256 steps.
static inline bool od_keeps_going(od_predictor *pr) {
  return !pr->keeps_going || pr->steps++ % 256 != 0 || pr->keeps_going(pr->user);
}

// Returns whether all values are finite and within the bound.
static inline bool od_within(const double *values, int count, double bound) {
  bool good = true;
  for (int i = 0; i < count; i++) good &= values[i] <= bound && values[i] >= -bound;
  return good;
}

// Return memory for the next row of outputs and, if requested, of sensitivities. Call od_row_is_predicted() (predict.c)
// after the row is filled.
static inline double *od_next_y(const od_predictor *pr) {
  return pr->y + pr->filled * pr->ny;
}
static inline double *od_next_dy(const od_predictor *pr) {
  return pr->wish.sensitivities ? pr->dy + pr->filled * pr->ny * pr->columns : NULL;
}
void od_row_is_predicted(od_predictor *pr);
// Passes the current block to the caller.
void od_give_rows(od_predictor *pr);

// predict_start.c: computes the initial state x0 and its sensitivities S, for predictions step by step. Afterwards, sim is at x0. Fails
// with OD_NOT_CONVERGED, OD_NOT_FINITE, OD_SINGULAR or another status of the simulation.
od_status od_start_prediction(od_predictor *pr, const double *x0, bool sensitivities);
// Variant of od_start_prediction() for a linear plant whose matrices are known; sim is not used. Returns OD_SINGULAR if a steady start
// does not have exactly one equilibrium, and OD_NOT_FINITE if the matrices are not finite.
od_status od_start_linear(od_predictor *pr, const double *x0, bool sensitivities);

// march.c: predicts step by step
od_status od_predict_marching(od_predictor *pr);

// exact.c: od_exact_new() allocates the memory of the exact rule, and returns false on failure.
bool od_exact_new(od_predictor *pr);
od_status od_predict_exactly(od_predictor *pr, const double *x0);

// eigenmodes.c and modal.c: od_modal_new() allocates the memory of the sum of modes, and returns false on failure.
bool od_modal_new(od_predictor *pr);
// Computes the poles of the plant. Returns false if the poles cannot be computed.
bool od_modal_poles(od_predictor *pr, double *largest_real_part);
// Computes modes and their residues, with derivatives if requested. Returns false if the sum of modes would be inaccurate.
bool od_modal_prepare(od_predictor *pr, bool sensitivities);
od_status od_predict_by_modes(od_predictor *pr);

#endif
