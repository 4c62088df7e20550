// Working data of one fit, shared by the files of the search, the verdict and the uncertainty.
#ifndef OD_IDENTIFY_FIT_WORK_H
#define OD_IDENTIFY_FIT_WORK_H

#include "identify/fit.h"
#include "identify/influence.h"
#include "identify/shooting.h"

// A block of rows that is passed to the search.
typedef struct od_fit_passing {
  double *r, *part;  // residuals, and factors of their derivatives
  double *J;         // derivatives with respect to all unknowns
  int *of;           // indices of the residuals in the block
} od_fit_passing;

typedef struct od_fit_work {
  od_arena arena;
  const od_fit_plan *plan;
  const od_fit_options *options;
  double done;  // estimated fraction of the search that is done
  // An interrupt ends the search at once. The result is then reported only if the report is complete before `report_deadline`.
  // begun: derivatives were computed at least once. reporting: the search has ended.
  bool interrupted, begun, reporting, report_late;
  double report_deadline;
  od_fitted *f;
  od_plant *plant;
  int np, nx, ns, ny, nu;
  int n;        // number of unknowns: parameters and unknown initial states
  int *states;  // for each set: index of its initial state among the unknowns (fitted sets only)
  od_predictor **predictor;
  double **y;   // y[set]: predictions, rows x outputs, from the last trial
  double **dy;  // dy[set]: derivatives of y[set], rows x outputs x parameters and unknown states; NULL: not stored
  size_t kept;  // number of doubles in all dy[set]
  od_fit_passing passing;
  double *derived_at;  // n unknowns: point at which dy and the derivatives of segments were computed; [0] NAN: none
  bool whole;          // whether all rows of a set are predicted at once: in segments, or by a source
  // For `whole`: whether the last trial was accepted, so that derivatives of the next trial are probably needed.
  bool eager;
  double *x0;  // the plant's initial state, and the initial state of a trial
  long m;      // number of residuals
  double *start, *low, *high;
  double *box_low, *box_high;  // range of random starts; initial states start at the model's initial state
  bool left;                   // whether a trial left the possible range of a parameter
  double *left_at;             // n unknowns: the first trial that left the range; [0] NAN: no such trial
  int *every_state;
  double **
      own_start;  // for each validation set: initial state that was found from its rows, relative to x0; NULL: not found
  double *constraint_scratch;  // one number per parameter
  od_shooting **shooting;      // segments of each fitted set; NULL: no shooting
  od_influence *influence;     // influence of the residuals on the estimates, at the solution; NULL: not available
} od_fit_work;

// Returns whether the fit continues. After an interrupt, returns true only while the start or the report is evaluated
// within the time limit. Long computations over many rows call this function regularly. work: the od_fit_work.
bool od_fit_keeps_going(void *work);

// fit_problem.c: prepares the data and predictors of all sets and the unknowns of the problem. Fails with OD_BAD_INPUT, OD_IO,
// OD_INTERRUPTED, OD_NO_MEMORY, or a status of the plant, of od_fit_predictor(), od_fit_find_starts() or od_fit_make_shooting().
od_status od_fit_prepare(od_fit_work *w, od_error *err);
// Creates a predictor of a set with `finer` times as many steps as in the plan. `free_start`: the caller gives the initial state
// and may vary it, regardless of the plan. Fails with OD_BAD_INPUT if 'integrator: exact' is given for times that are not uniform, or
// with a status of od_predictor_new(), od_predictor_delayed() or od_predictor_of_model().
od_status od_fit_predictor(od_fit_work *w, int set, int finer, bool free_start, od_predictor **out, od_error *err);

// fit_start.c: od_fit_find_starts() finds the initial states with which the search begins in sets that start at their
// first row, with the start values of the parameters. od_fit_find_validation_start() finds the initial state of a
// validation set with the parameters x: from its first row (OD_FIT_FROM_FIRST_ROW), or from all rows (the set itself has
// OD_FIT_FROM_ANYWHERE). Both fail with OD_NO_MEMORY, with OD_NOT_FINITE if the set cannot be predicted from the model's initial state,
// or with a status of od_fit_predictor().
od_status od_fit_find_starts(od_fit_work *w, od_error *err);
od_status od_fit_find_validation_start(od_fit_work *w, int set, const double *x, od_error *err);

// fit_residuals.c: returns whether the initial state of a set is unknown. Initial states of fitted sets are then unknowns.
bool od_fit_is_from_anywhere(const od_fit_work *w, int set);
// Predict a set at x (parameters, then unknown initial states). The first function passes blocks of rows to the callback of
// `wish`. The second function writes all values into y. Both fail with a status of od_predict().
od_status od_fit_predict_rows(const od_fit_work *w, int set, od_predictor *predictor, const double *x,
                              const od_predict_wish *wish);
od_status od_fit_predict(const od_fit_work *w, int set, od_predictor *predictor, const double *x, double *y);
// Predicts a set at x. Writes the values into w->y and, if requested, the derivatives into w->dy (if allocated). Fails with a
// status of od_predict().
od_status od_fit_predict_set(const od_fit_work *w, int set, const double *x, bool derivatives);

// Returns the residual of sensor i in row k of a set from the last prediction, in units of the sensor's noise. NAN: the sensor has
// no value.
double od_fit_residual(const od_fit_work *w, int set, long k, int i);
// Derivatives of some rows of a set's predictions: first with respect to the parameters, then with respect to the set's initial
// state. The columns of this state among all unknowns begin at `states`.
typedef struct od_fit_block {
  int set, columns, states;
  long first, count;  // index of the first row, and number of rows
  const double *dy;   // count x ny x columns
} od_fit_block;
// Returns the derivatives of sensor i in row k of the block. To get units of the noise, divide the derivatives by sigma.
static inline const double *od_fit_derivatives(const od_fit_work *w, const od_fit_block *b, long k, int i) {
  return b->dy + ((k - b->first) * w->ny + i) * b->columns;
}
// Returns the index of column c of a block among all unknowns.
static inline int od_fit_column(const od_fit_work *w, const od_fit_block *b, int c) {
  return c < w->np ? c : b->states + c - w->np;
}
// Computes the stored predictions and derivatives at the solution, and eliminates the nodes of shooting. Call before
// od_fit_visit_set(). Returns OD_NOT_CONVERGED if a set cannot be predicted. Also fails with OD_NOT_FINITE or OD_NO_MEMORY.
od_status od_fit_stand(od_fit_work *w);
// Calls `visit` for each block of a fitted set's rows at the solution, in order. Blocks that are not in memory are predicted
// again. Afterwards the set's y contains the predictions at the solution. Fails with a status of od_predict().
typedef void od_fit_visit(void *user, const od_fit_block *block);
od_status od_fit_visit_set(od_fit_work *w, int set, od_fit_visit *visit, void *user);

// Runs the statement for each fitted sample that has a value, in order.
#define OD_FOR_EACH_RESIDUAL(w, d, set, k, i)            \
  for (int set = 0; set < (w)->f->sets; set++)           \
    for (long k = 0; k < (w)->f->data[set]->fitted; k++) \
      for (int i = 0; i < (w)->ns; i++)                  \
        if (!isnan((d = (w)->f->data[set])->y[k * (w)->ns + i]))

// Computes residuals for the search engine and passes their rows to `take` during the prediction. The user is the
// od_fit_work. Returns 1 if a prediction fails or x is outside the possible range of a parameter.
int od_fit_rows(void *work, const double *x, bool derivatives, int every, od_ls_take *take, void *to);
// For sets that are predicted as a whole: compute all residuals, and their Jacobian (m x n). Return 1 if a prediction or the
// elimination of nodes fails, or if x is outside the possible range of a parameter.
int od_fit_residuals(void *work, const double *x, double *r);
int od_fit_jacobian(void *work, const double *x, double *J);

// fit_constraints.c: computes the constraints for the search engine. The user is the od_fit_work. Always returns 0
// (success).
int od_fit_constraints(void *work, const double *x, double *c, double *C);
// Writes the gradients of active constraints with respect to the parameters (rows may be NULL). Returns the number of active
// constraints.
int od_fit_active_rows(const od_fitted *f, double *rows);

// fit_shooting.c: creates the segments of all fitted sets if the plan uses shooting. Call after the predictors are created. Fails
// with OD_BAD_INPUT if a set has too few rows, with OD_NO_MEMORY, or with a status of od_fit_predictor().
od_status od_fit_make_shooting(od_fit_work *w, od_error *err);
bool od_fit_is_shooting(const od_fit_work *w);
od_ls_hidden od_fit_hidden(const od_fit_work *w);
// Eliminates the nodes of all fitted sets. Call after a prediction with derivatives. Fails with OD_NOT_FINITE or OD_NO_MEMORY.
od_status od_fit_eliminate(od_fit_work *w);
// Returns OD_OK if a set can be predicted in segments with the start values, else the status of the failed prediction.
od_status od_fit_shooting_status(od_fit_work *w, int set);
// Stores the gaps between segments of a set at the solution in its result.
void od_fit_keep_gaps(od_fit_work *w, int set);
// Predicts a set with half the step and restores continuity to first order. Writes the values into `half` (rows x ny); NAN if
// the prediction fails. Fails with OD_NO_MEMORY or a status of od_fit_predictor().
od_status od_fit_shooting_half(od_fit_work *w, int set, double *half, od_error *err);

// fit_search.c: fills f->search. Fails with OD_INTERRUPTED or OD_NOT_CONVERGED (f->search has the best result so far, if there is one),
// OD_BAD_INPUT, OD_NO_MEMORY, a status of od_least_squares(), or the status of the first prediction.
od_status od_fit_search(od_fit_work *w, od_error *err);

// fit_quality.c: fills f->set, f->start_fit, f->fit and, if requested, the table. Afterwards, the stored predictions
// are the predictions at the solution. Fails with OD_INTERRUPTED or OD_NO_MEMORY.
od_status od_fit_judge_sets(od_fit_work *w, od_error *err);

// colored_residuals.c: computes standard deviations for correlated residuals and stores them in f. If w->influence
// is NULL, uses the standard deviations for white residuals. Fails with OD_NO_MEMORY or a status of od_predict().
od_status od_fit_find_sigmas(od_fit_work *w, od_error *err);

// fit_step.c: computes the shift of the estimates caused by integration errors. Fills f->shift and f->better_substeps. Fails with
// OD_NO_MEMORY, or a status of od_fit_predictor() or od_fit_visit_set().
od_status od_fit_find_shift(od_fit_work *w, od_error *err);
// fit_quality.c: finds the sensors with the most correlated residuals.
od_status od_fit_find_pair(od_fit_work *w, od_error *err);
// fit_cost_rise.c: checks the cost at points one standard deviation of a parameter away from the minimum. Fails with OD_NO_MEMORY.
od_status od_fit_check_cost_rise(od_fit_work *w, od_error *err);

// fit_verdict.c: fills f->verdict. Fails with OD_NO_MEMORY.
od_status od_fit_judge(od_fit_work *w, od_error *err);
// fit_causes.c: if the options request a diagnosis and the verdict has a remark that a fault of the data or of the model can cause,
// adds possible causes to the verdict. An interrupt ends the diagnosis without a failure. Fails with OD_NO_MEMORY or another status of
// od_diagnose().
od_status od_fit_name_causes(od_fit_work *w, od_error *err);

#endif
