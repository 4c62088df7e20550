// What one fit works with, shared by the files that search, judge, and tell how far the result may be off.
#ifndef OD_IDENTIFY_FIT_WORK_H
#define OD_IDENTIFY_FIT_WORK_H

#include "identify/fit.h"
#include "identify/influence.h"
#include "identify/shooting.h"

// A block of rows on its way to the search.
typedef struct od_fit_passing {
  double *r, *part;  // residuals; what their derivatives are to be multiplied by
  double *J;         // derivatives by all that is fitted
  int *of;           // which entries of the block they are
} od_fit_passing;

typedef struct od_fit_work {
  const od_fit_plan *plan;
  const od_fit_options *options;
  double done;  // part of the search, as far as anybody knows
  // After an interrupt the search ends at once. What it begins with and what was found is reported if that does not take long:
  // until patience_ends.
  bool interrupted, begun, telling, out_of_patience;
  double patience_ends;
  od_fitted *f;
  od_plant *plant;
  int np, nx, ns, ny, nu;
  int n;        // parameters and unknown initial states
  int *states;  // of each set: where its initial state stands among them; only fitted sets have one
  od_predictor **predictor;
  double **y, **dy;  // of each set; dy: NULL where it is not needed, or would take too much memory
  size_t kept;       // doubles of all dy
  od_fit_passing passing;
  double *derived_at;  // n: where predictions with derivatives stand, those of dy and of segments; NAN: nowhere
  bool eager;          // segments: the last trial was accepted, so that the next one's derivatives will be wanted
  double *x0;          // the plant's own initial state, and a trial's
  long m;              // residuals
  double *start, *low, *high;
  double *box_low, *box_high;  // where other starts are drawn; initial states begin at the model's
  bool left;                   // a trial went where a parameter is not possible
  double *left_at;             // n: that trial; NAN: none did
  int *every_state;
  double *constraint_scratch;  // as many numbers as there are parameters
  od_shooting **shooting;      // of each fitted set; NULL: each set is predicted in one go
  od_influence *influence;     // of the residuals on the estimates, at the solution; NULL: it has none
} od_fit_work;

// Whether to go on: false after an interrupt, as soon as what is told of it would take too long. To be asked every so often
// by whatever takes long with very many rows; its user is the od_fit_work.
bool od_fit_keeps_going(void *work);

// fit_problem.c: data and predictors of all sets, the problem's unknowns.
od_status od_fit_prepare(od_fit_work *w, od_error *err);
// A predictor of a set with so many steps for each that the plan wants.
// `free_start`: whatever the plan says, the initial state is free and given.
od_status od_fit_predictor(od_fit_work *w, int set, int finer, bool free_start, od_predictor **out, od_error *err);

// fit_residual_blocks.c: whether the initial states of fitted sets are unknowns, too.
bool od_fit_is_from_anywhere(const od_fit_work *w);
// A set's prediction at x (parameters, then unknown initial states): row by row, or its values into y.
od_status od_fit_predict_rows(const od_fit_work *w, int set, od_predictor *predictor, const double *x,
                              const od_predict_wish *wish);
od_status od_fit_predict(const od_fit_work *w, int set, od_predictor *predictor, const double *x, double *y);
// The same into the set's own memory, as far as there is some.
od_status od_fit_predict_set(const od_fit_work *w, int set, const double *x, bool derivatives);
void od_fit_keep_rows(const od_fit_work *w, int set, const od_predicted *rows);
// All fitted sets; and whether they stand at x with derivatives.
bool od_fit_predict_fitted(od_fit_work *w, const double *x, bool derivatives);
bool od_fit_is_derived_at(const od_fit_work *w, const double *x);

// fit_residuals.c: the residual of sensor i in row k of a set, in units of its noise; NAN: the sensor says nothing. Valid for what was
// predicted last.
double od_fit_residual(const od_fit_work *w, int set, long k, int i);
// Derivatives of some rows of a set's predictions: by the parameters, then by the initial state of the set, whose columns
// among all begin at `states`.
typedef struct od_fit_block {
  int set, columns, states;
  long first, count;  // rows
  const double *dy;   // count x ny x columns
} od_fit_block;
// Of sensor i in row k, which is one of the block's; in units of the noise each is to be divided by sigma.
static inline const double *od_fit_derivatives(const od_fit_work *w, const od_fit_block *b, long k, int i) {
  return b->dy + ((k - b->first) * w->ny + i) * b->columns;
}
// Where column c of a block stands among all.
static inline int od_fit_column(const od_fit_work *w, const od_fit_block *b, int c) {
  return c < w->np ? c : b->states + c - w->np;
}
// All rows of a set that is predicted in segments.
od_fit_block od_fit_segments(const od_fit_work *w, int set);
// Before rows at the solution are visited: what memory holds of them is predicted there.
od_status od_fit_stand(od_fit_work *w);
// Calls for each block of a fitted set's rows at the solution, in order; they are predicted again where memory does not hold them.
// The set's y stands there afterwards.
typedef void od_fit_visit(void *user, const od_fit_block *block);
od_status od_fit_visit_set(od_fit_work *w, int set, od_fit_visit *visit, void *user);

// Calls for each fitted sample that is there, in order.
#define OD_FOR_EACH_RESIDUAL(w, d, set, k, i)            \
  for (int set = 0; set < (w)->f->sets; set++)           \
    for (long k = 0; k < (w)->f->data[set]->fitted; k++) \
      for (int i = 0; i < (w)->ns; i++)                  \
        if (!isnan((d = (w)->f->data[set])->y[k * (w)->ns + i]))

// The same for the engine; the user is the od_fit_work. Rows as they are predicted:
int od_fit_rows(void *work, const double *x, bool derivatives, int every, od_ls_take *take, void *to);
// and of segments all residuals, and their Jacobian (m x n).
int od_fit_residuals(void *work, const double *x, double *r);
int od_fit_jacobian(void *work, const double *x, double *J);

// fit_constraints.c: constraints for the engine; the user is the od_fit_work.
int od_fit_constraints(void *work, const double *x, double *c, double *C);
// Gradients of active constraints by the parameters (NULL: not wanted); returns how many there are.
int od_fit_active_rows(const od_fitted *f, double *rows);

// fit_shooting.c: segments of all fitted sets if the plan wants them, after the predictors are there.
od_status od_fit_make_shooting(od_fit_work *w, od_error *err);
bool od_fit_is_shooting(const od_fit_work *w);
od_ls_hidden od_fit_hidden(const od_fit_work *w);
// After a prediction with derivatives: of what is left when nodes are eliminated.
od_status od_fit_eliminate(od_fit_work *w);
// Whether a set can be predicted in segments with the starting values.
od_status od_fit_shooting_status(od_fit_work *w, int set);
// Continuity of a set at the solution, for its result.
void od_fit_keep_gaps(od_fit_work *w, int set);
// The prediction of a set with half the steps, continuity restored to first order; NAN where it fails.
od_status od_fit_shooting_half(od_fit_work *w, int set, double *half, od_error *err);

// fit_search.c: fills f->search.
od_status od_fit_search(od_fit_work *w, od_error *err);

// fit_quality.c: fills f->set, f->start_fit, f->fit and, if wanted, the table. Predictions stand at the solution
// afterwards.
od_status od_fit_judge_sets(od_fit_work *w, od_error *err);

// coloured.c: standard deviations that hold where residuals depend on each other. Fills what f says about sigmas;
// without an influence they are those of white residuals.
od_status od_fit_find_sigmas(od_fit_work *w, od_error *err);

// fit_step.c: how far the steps of the predictions shift the estimates. Fills f->shift and f->better_substeps.
od_status od_fit_find_shift(od_fit_work *w, od_error *err);
// fit_pairs.c: sensors that say the same.
od_status od_fit_find_pair(od_fit_work *w, od_error *err);
// fit_bowl.c: whether standard deviations hold as far as they reach.
od_status od_fit_look_beside(od_fit_work *w, od_error *err);

// fit_verdict.c: fills f->verdict.
od_status od_fit_judge(od_fit_work *w, od_error *err);
// fit_causes.c: adds the cause of a bad verdict about the residuals.
od_status od_fit_name_causes(od_fit_work *w, od_error *err);

#endif
