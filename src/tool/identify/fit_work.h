// Working data of one fit, shared by the files of the search, the verdict and the uncertainty.
#ifndef OD_IDENTIFY_FIT_WORK_H
#define OD_IDENTIFY_FIT_WORK_H

#include "identify/fit.h"
#include "identify/influence.h"
#include "identify/shooting.h"

// A block of rows that is passed to the search.
typedef struct od_fit_passing {
  double *r, *part;  // residuals; factors of their derivatives
  double *J;         // derivatives by all unknowns
  int *of;           // their entries in the block
} od_fit_passing;

typedef struct od_fit_work {
  od_arena arena;
  const od_fit_plan *plan;
  const od_fit_options *options;
  double done;  // estimated fraction of the search that is done
  // An interrupt ends the search at once. The start of the search and its result are reported only if this takes less time than
  // until patience_ends.
  bool interrupted, begun, telling, out_of_patience;
  double patience_ends;
  od_fitted *f;
  od_plant *plant;
  int np, nx, ns, ny, nu;
  int n;        // parameters and unknown initial states
  int *states;  // of each set: index of its initial state among the unknowns; only fitted sets have one
  od_predictor **predictor;
  double **y, **dy;  // of each set; dy: NULL if it is not needed, or would take too much memory
  size_t kept;       // number of doubles of all dy
  od_fit_passing passing;
  double *derived_at;  // n: the point of the predictions with derivatives, in dy and in segments; NAN: none
  bool whole;          // all rows of a set are predicted at once: in segments, or by a source
  bool eager;          // then: the last trial was accepted, so the derivatives of the next one are probably
                       // needed
  double *x0;          // the plant's initial state, and a trial's
  long m;              // residuals
  double *start, *low, *high;
  double *box_low, *box_high;  // range of further starts; initial states begin at the model's
  bool left;                   // a trial left the possible range of a parameter
  double *left_at;             // n: this trial; NAN: none
  int *every_state;
  double *constraint_scratch;  // one number per parameter
  od_shooting **shooting;      // of each fitted set; NULL: each set is predicted as a whole
  od_influence *influence;     // of the residuals on the estimates, at the solution; NULL: not available
} od_fit_work;

// Whether to go on. Returns false after an interrupt if the report would take too long. Long computations over many rows call
// this function regularly, with the od_fit_work as user.
bool od_fit_keeps_going(void *work);

// fit_problem.c: data and predictors of all sets, the problem's unknowns.
od_status od_fit_prepare(od_fit_work *w, od_error *err);
// A predictor of a set with `finer` times the number of steps of the plan. `free_start`: the initial state is free and given,
// regardless of the plan.
od_status od_fit_predictor(od_fit_work *w, int set, int finer, bool free_start, od_predictor **out, od_error *err);

// fit_residuals.c: whether the initial states of fitted sets are unknowns.
bool od_fit_is_from_anywhere(const od_fit_work *w);
// The prediction of a set at x (parameters, then unknown initial states): row by row, or its values into y.
od_status od_fit_predict_rows(const od_fit_work *w, int set, od_predictor *predictor, const double *x,
                              const od_predict_wish *wish);
od_status od_fit_predict(const od_fit_work *w, int set, od_predictor *predictor, const double *x, double *y);
// The same into the set's own arrays, if they are allocated.
od_status od_fit_predict_set(const od_fit_work *w, int set, const double *x, bool derivatives);
void od_fit_keep_rows(const od_fit_work *w, int set, const od_predicted *rows);
// The same for all fitted sets; and whether their predictions with derivatives are at x.
bool od_fit_predict_fitted(od_fit_work *w, const double *x, bool derivatives);
bool od_fit_is_derived_at(const od_fit_work *w, const double *x);

// The residual of sensor i in row k of a set, in units of its noise, from the last prediction. NAN: the sensor
// has no value.
double od_fit_residual(const od_fit_work *w, int set, long k, int i);
// Derivatives of some rows of a set's predictions: by the parameters, then by the initial state of the set, whose columns among
// all unknowns begin at `states`.
typedef struct od_fit_block {
  int set, columns, states;
  long first, count;  // rows
  const double *dy;   // count x ny x columns
} od_fit_block;
// Derivatives of sensor i in row k, a row of the block. Divided by sigma they are in units of the noise.
static inline const double *od_fit_derivatives(const od_fit_work *w, const od_fit_block *b, long k, int i) {
  return b->dy + ((k - b->first) * w->ny + i) * b->columns;
}
// The index of column c of a block among all unknowns.
static inline int od_fit_column(const od_fit_work *w, const od_fit_block *b, int c) {
  return c < w->np ? c : b->states + c - w->np;
}
// All rows of a set that is predicted as a whole.
od_fit_block od_fit_whole_block(const od_fit_work *w, int set);
// Call before rows at the solution are visited: computes the stored predictions at the solution.
od_status od_fit_stand(od_fit_work *w);
// Calls `visit` for each block of a fitted set's rows at the solution, in order. Blocks that are not in memory are predicted
// again. Afterwards the set's y is at the solution.
typedef void od_fit_visit(void *user, const od_fit_block *block);
od_status od_fit_visit_set(od_fit_work *w, int set, od_fit_visit *visit, void *user);

// Runs the statement for each fitted sample that has a value, in order.
#define OD_FOR_EACH_RESIDUAL(w, d, set, k, i)            \
  for (int set = 0; set < (w)->f->sets; set++)           \
    for (long k = 0; k < (w)->f->data[set]->fitted; k++) \
      for (int i = 0; i < (w)->ns; i++)                  \
        if (!isnan((d = (w)->f->data[set])->y[k * (w)->ns + i]))

// Residuals for the search engine; the user is the od_fit_work. Rows during the prediction:
int od_fit_rows(void *work, const double *x, bool derivatives, int every, od_ls_take *take, void *to);
// For sets that are predicted as a whole: all residuals, and their Jacobian (m x n).
int od_fit_residuals(void *work, const double *x, double *r);
int od_fit_jacobian(void *work, const double *x, double *J);

// fit_constraints.c: constraints for the engine; the user is the od_fit_work.
int od_fit_constraints(void *work, const double *x, double *c, double *C);
// Gradients of active constraints by the parameters (rows may be NULL). Returns the number of active constraints.
int od_fit_active_rows(const od_fitted *f, double *rows);

// fit_shooting.c: makes the segments of all fitted sets if the plan uses shooting. Call after the predictors are made.
od_status od_fit_make_shooting(od_fit_work *w, od_error *err);
bool od_fit_is_shooting(const od_fit_work *w);
od_ls_hidden od_fit_hidden(const od_fit_work *w);
// Call after a prediction with derivatives: eliminates the nodes.
od_status od_fit_eliminate(od_fit_work *w);
// Whether a set can be predicted in segments with the starting values.
od_status od_fit_shooting_status(od_fit_work *w, int set);
// Stores the gaps between segments of a set at the solution in its result.
void od_fit_keep_gaps(od_fit_work *w, int set);
// The prediction of a set with half the step, with continuity restored to first order. NAN if it fails.
od_status od_fit_shooting_half(od_fit_work *w, int set, double *half, od_error *err);

// fit_search.c: fills f->search.
od_status od_fit_search(od_fit_work *w, od_error *err);

// fit_quality.c: fills f->set, f->start_fit, f->fit and, if requested, the table. Afterwards predictions are at the solution.
od_status od_fit_judge_sets(od_fit_work *w, od_error *err);

// colored_residuals.c: standard deviations for correlated residuals. Fills all sigmas of f. Without an influence they are those of white
// residuals.
od_status od_fit_find_sigmas(od_fit_work *w, od_error *err);

// fit_step.c: the shift of the estimates by integration errors. Fills f->shift and f->better_substeps.
od_status od_fit_find_shift(od_fit_work *w, od_error *err);
// fit_quality.c: sensors with correlated residuals.
od_status od_fit_find_pair(od_fit_work *w, od_error *err);
// fit_cost_rise.c: checks the cost at a distance of one standard deviation.
od_status od_fit_check_cost_rise(od_fit_work *w, od_error *err);

// fit_verdict.c: fills f->verdict.
od_status od_fit_judge(od_fit_work *w, od_error *err);
// fit_causes.c: adds the cause of a bad verdict about the residuals.
od_status od_fit_name_causes(od_fit_work *w, od_error *err);

#endif
