// Prediction of a log from its inputs, with exact sensitivities, for the fit of parameters.
//
// od_predict() computes the outputs y of a plant at the samples, from sampled inputs, parameters p and an initial state.
// od_predict() also computes the derivatives of y with respect to the parameters and to selected entries of the initial state.
// The derivatives are exact for the discrete rule itself (forward variational equations through each step).
//
// Memory is allocated at creation; a prediction of a plant allocates nothing. If a trial cannot be predicted (unstable, not finite,
// an integrator that fails), the prediction ends early with a status. The predictor remains usable.
#ifndef OD_PREDICT_H
#define OD_PREDICT_H

#include <stdbool.h>

#include "memory/scoped.h"
#include "oleodyn/integrator.h"
#include "oleodyn/plant.h"

// The rule of a prediction: steps of an integrator, for any plant; or exact discretization, for plants that are linear in
// states and inputs (also with offsets).
typedef struct od_rule {
  const od_integrator *integrator;  // NULL: the first integrator of the table
  bool exact;                       // whether exact discretization is used instead of the integrator
} od_rule;

// Returns the name of the rule in files: "exact", or the name of the integrator.
const char *od_rule_name(od_rule rule);

typedef enum od_hold {
  OD_HOLD_FIRST,  // inputs are linear between samples
  OD_HOLD_ZERO,   // inputs are constant from one sample to the next
} od_hold;

// The inputs of a log. The caller owns the arrays, which must outlive the predictor.
typedef struct od_logged_inputs {
  int count;
  double start, step;   // times are start + k step if `times` is NULL
  const double *times;  // times of the samples, or NULL
  const double *u;      // count x nu
} od_logged_inputs;

typedef struct od_predictor_options {
  od_rule rule;
  od_hold hold;
  int substeps;  // number of integrator steps from one sample to the next; zero: 1
  // Whether the initial state solves f = 0 at the first inputs. If so, x0 of od_predict() is the start of the iteration.
  bool steady;
  const int *free_states;  // entries of the initial state whose sensitivities are also computed
  int free_count;
  // Limit of outputs, of states (steps of an integrator) and of growth (exact rule); larger values count as divergence; zero: 1e12.
  double bound;
  bool dense;  // exact rule: whether the matrices are used even if modes can be used
  // This function is called regularly. If the function returns false, the prediction ends with OD_INTERRUPTED. NULL: no
  // interrupts.
  bool (*keeps_going)(void *user);
  void *user;
} od_predictor_options;

typedef struct od_predictor od_predictor;

// Creates a predictor for the rows of a log. The plant must outlive the predictor. Fails with OD_BAD_ARGUMENT if the log or the options
// are wrong, with OD_NOT_AVAILABLE if the rule is exact and the plant is not linear, with OD_NO_MEMORY, or with a status of the
// simulation.
od_status od_predictor_new(const od_plant *plant, const od_logged_inputs *log, const od_predictor_options *options,
                           od_predictor **out, od_error *err);
void od_predictor_free(od_predictor *predictor);
OD_OWNED_POINTER(od_predictor, od_predictor_free);

// A model other than a plant, with its own functions for outputs and exact sensitivities. An example is a friction law driven
// by a measured speed (friction_fit/law_fit.c).
typedef struct od_prediction_model {
  int rows, outputs, parameters;
  // Computes all rows: y (rows x outputs) and, unless dy is NULL, its derivatives with respect to the parameters (rows
  // outputs x parameters). x0: the initial state, as for od_predict().
  od_status (*predict)(void *user, const double *p, const double *x0, double *y, double *dy);
  void (*release)(void *user);  // called when the predictor is freed; may be NULL
  void *user;
} od_prediction_model;
// Creates a predictor of a model that is not a plant. Its predictions need p, and have no windows. Fails with OD_NO_MEMORY.
od_status od_predictor_of_model(const od_prediction_model *model, od_predictor **out, od_error *err);

// An output that is late by a parameter, in s: y(t - p). A negative parameter means that the output is early.
typedef struct od_output_delay {
  int output, parameter;
} od_output_delay;
// Creates a predictor with the rows of `inner` and delayed outputs. The derivatives of `inner` with respect to the delays must be zero.
// time: the times of the rows, s; the array must outlive the predictor. The new predictor owns `inner`; on failure the caller still owns
// `inner`. Fails with OD_NO_MEMORY. (delayed.c)
od_status od_predictor_delayed(od_predictor *inner, const od_output_delay *delay, int delays, const double *time,
                               int rows, int outputs, od_predictor **out, od_error *err);

// Returns the number of columns of the sensitivities: np parameters, then the free states.
int od_predictor_columns(const od_predictor *predictor);

// Predicts all rows. y: count x ny. dy: (count ny) x columns, row-major, rows in the order of y; may be NULL. p: NULL for
// the plant's own parameters. x0 (nx): NULL for the plant's own initial state, which does not depend on p. After a failure,
// y and dy are undefined. Fails with OD_INTERRUPTED, OD_DIVERGED, OD_NOT_FINITE, OD_NOT_CONVERGED, OD_SINGULAR, or another
// status of the simulation or of the model.
od_status od_predict(od_predictor *predictor, const double *p, const double *x0, double *y, double *dy);

enum { OD_PREDICTED_BLOCK = 128, OD_PREDICT_MOST_EVERY = 64 };
// Prediction without memory for all rows: blocks of at most OD_PREDICTED_BLOCK rows are passed to the caller during the
// prediction. A prediction that fails may already have passed some blocks. Fails with OD_BAD_ARGUMENT if `every` is out of range, with
// OD_NO_MEMORY (only for a model that is not a plant), or with a status of od_predict().
typedef struct od_predicted {
  int first, count, every;  // rows first, first + every, ...; number of rows
  const double *y, *dy;     // outputs and sensitivities of these rows, as for od_predict(); dy NULL: not requested
} od_predicted;
typedef void od_take_predicted(void *user, const od_predicted *rows);
typedef struct od_predict_wish {
  bool sensitivities;
  int every;  // distance between passed rows, beginning with the first row; zero: 1; at most OD_PREDICT_MOST_EVERY
  od_take_predicted *take;
  void *user;
} od_predict_wish;
od_status od_predict_rows(od_predictor *predictor, const double *p, const double *x0, const od_predict_wish *wish);
// Returns whether omitted rows probably save most of the work: sums of modes, which the exact rule uses if possible, skip these rows.
bool od_predictor_leaps(const od_predictor *predictor);

// Restricts further predictions to `count` rows, starting at row `first`. The exact rule does not support windows.
void od_predictor_window(od_predictor *predictor, int first, int count);
// Writes the state at the last row of the last prediction. S (nx x columns; may be NULL) receives its sensitivities, if
// sensitivities were predicted. Returns false if the plant has changed its coordinates during the prediction.
bool od_predictor_end(const od_predictor *predictor, double *x, double *S);

// Returns whether the last prediction was a sum of modes (exact rule only).
bool od_predictor_used_modes(const od_predictor *predictor);

#endif
