// Fitting a machine's uncertain numbers to logs: what a fit file says, the fit, and what came of it.
//
// The parameters are found for which the model's predictions come closest to what the sensors of all fitted data sets
// said, each in units of its noise. What comes out says how sure each number is, which combinations of numbers the data
// cannot tell at all, and how well the fitted model predicts data that it has not seen. docs/fit-files.md is the
// reference.
#ifndef OD_IDENTIFY_FIT_H
#define OD_IDENTIFY_FIT_H

#include "document/expression.h"
#include "experiment/experiment.h"
#include "experiment/log.h"
#include "identify/identifiability.h"
#include "io/table.h"
#include "io/verdict.h"
#include "oleodyn/least_squares.h"
#include "predict/predict.h"
#include "prepare/prepare.h"

// Where predictions begin: at the model's own initial state, at rest under the first inputs, or at an unknown state that
// is fitted along, one for each data set.
typedef enum od_fit_start { OD_FIT_FROM_MODEL, OD_FIT_FROM_REST, OD_FIT_FROM_ANYWHERE } od_fit_start;

// Data of one run: a log, or simulated with the sensors' noise.
typedef struct od_fit_set {
  const char *name;
  bool validates;  // it is predicted, but nothing is fitted to it
  od_log_plan plan;
  od_log *log;        // NULL: simulated
  int *channel;       // of the log: sensors, then inputs
  od_machine *truth;  // of its own; NULL: the experiment's
  double time;        // to be simulated
  bool clean;         // simulated without noise
  bool borrowed;      // log, plan and channels are the experiment's own
  // What the true machine does, the same for all seeds: inputs and sensors' outputs per row; NULL: each fit simulates it. See
  // od_fit_keep_truth().
  double *true_u, *true_y;
} od_fit_set;

// A function of the parameters that people want to know: a product of powers times a weighted sum.
typedef struct od_combination {
  const char *name;
  double *power, *weight;  // one per parameter; no weight other than zero: the sum is 1
} od_combination;

// A relation between parameters that the estimates must satisfy.
typedef struct od_fit_constraint {
  const char *text, *left_text, *right_text;
  od_relation_kind kind;
  od_expression left, right;
} od_fit_constraint;

// Multiple shooting: how many segments each fitted set has.
typedef struct od_fit_shooting {
  bool on;
  int segments;   // 0: by their length
  double length;  // s; 0: chosen by the program
} od_fit_shooting;

typedef struct od_fit_plan {
  od_experiment *e;  // machines, sensors, parameters with their starts and bounds
  od_ls_method method;
  od_ls_loss loss;
  double loss_scale;
  long evaluations;  // at most; 0: the engine's own
  bool rule_is_given;
  od_rule rule;
  od_hold hold;
  int substeps;
  od_fit_start start;
  int starts;        // in the box, besides the file's own
  double hold_out;   // the last part of each fitted set that is only predicted
  bool known_noise;  // the sensors' sigmas are right: uncertainty follows from them, not from the residuals
  od_prepare prepare;
  od_fit_set *set;
  int sets;
  od_combination *combination;
  int combinations;
  od_fit_constraint *constraint;  // equalities first
  int constraints, equalities;
  od_fit_shooting shooting;
} od_fit_plan;

// Methods as files name them, in the order of their enumeration; a NULL at the end.
extern const char *const od_fit_methods[];

// Loads a fit file: an experiment file with the sections fit, sets, prepare and combinations.
od_status od_fit_plan_load(const char *path, const od_experiment_options *options, od_fit_plan **out,
                           od_messages *messages);
void od_fit_plan_free(od_fit_plan *plan);

// What the engine takes for the scale of the loss.
double od_fit_loss_scale(const od_fit_plan *plan);

// A combination's value, and its gradient by the parameters (NULL: not wanted).
double od_combination_value(const od_combination *c, int parameters, const double *p, double *gradient);

// A constraint's value, which is zero (equalities) or not negative where it is satisfied, and its gradient by the parameters
// (NULL: not wanted; scratch: as many numbers).
double od_fit_constraint_value(const od_fit_constraint *c, int parameters, const double *p, double *gradient,
                               double *scratch);

// --- The data -----------------------------------------------------------------------------------------------------

// One set in SI, prepared: rows of inputs and of what the sensors said (NAN: nothing).
typedef struct od_fit_data {
  const od_fit_set *set;
  long rows, fitted;  // rows, and how many of them count for the fit
  double begin, step;
  double *time;      // one per row
  bool uniform;      // times are meant to be begin + k step,
  bool own_times;    // and are not to the last digits
  double *u, *y;     // rows x inputs, rows x sensors
  double *sigma;     // of each sensor in this set
  long outliers;     // removed on purpose
  long gaps_filled;  // by resampling
  long bridged;      // values of inputs that the log lacks, taken from their neighbours
} od_fit_data;

// Whether to go on, asked while data are made; NULL: always.
typedef struct od_waiting {
  bool (*keeps_going)(void *user);
  void *user;
} od_waiting;
od_status od_fit_data_make(const od_fit_plan *plan, const od_fit_set *set, const od_waiting *waiting, od_fit_data **out,
                           od_error *err);
void od_fit_data_free(od_fit_data *data);
// For plans that are fitted many times: the memory that the true motion of a simulated set takes, and that motion, simulated once and kept
// until the plan is freed.
double od_fit_truth_bytes(const od_fit_plan *plan, int set);
od_status od_fit_keep_truth(od_fit_plan *plan, int set, const od_waiting *waiting, od_error *err);
// The rule for predictions: the plan's, else exact for linear machines with uniform samples, else steps of the first integrator.
od_rule od_fit_rule(const od_fit_plan *plan, bool uniform);

// --- The fit ------------------------------------------------------------------------------------------------------

// How well one sensor of one set is predicted; fit: 100 (1 - |y - prediction| / |y - mean(y)|).
typedef struct od_fit_quality {
  double start_fit, fit;     // percent, with the starting and the fitted parameters; NAN: see `still`, or not predicted
  double rms;                // of the residuals
  double lag1, white;        // correlation of neighbouring residuals; probability that white ones look like this
  double correlation;        // the largest over 20 lags, without its sign
  double worst, worst_time;  // the largest residual in standard deviations of its noise, and when
  double typical;            // the median of their sizes, in the same
  long samples, missing;
  bool still;  // the sensor never moves, so that there is nothing to explain
} od_fit_quality;
// A chance below it is none.
#define OD_FIT_UNLIKELY 0.001
// Residuals of fitted samples that depend on each other, and enough to matter.
bool od_fit_is_coloured(const od_fit_quality *q);

typedef struct od_fit_set_result {
  const char *name;
  bool validates;
  const od_fit_data *data;
  long rows, fitted;
  od_status predicted;   // with the fitted parameters
  int segments;          // of multiple shooting; 0: none
  double gap, gap_time;  // the largest jump of a state between two of them, as a part of its own range, and when
  od_fit_quality *fitted_quality, *unseen_quality;  // per sensor: of the rows that count for the fit, and of the others
} od_fit_set_result;

// The two sensors whose residuals go together most; a = -1: none do, or their noise is known to.
typedef struct od_fit_pair {
  int a, b;
  double correlation;
} od_fit_pair;

// How much the cost has risen one standard deviation away from its minimum, of what it would if standard deviations held: where that
// is farthest from 1. See fit_bowl.c.
typedef struct od_fit_bowl {
  int parameter;  // -1: not looked at, or nowhere
  double rise;
} od_fit_bowl;

typedef struct od_fitted {
  const od_fit_plan *plan;
  od_ls_result *search;  // its parameters: the experiment's, then the unknown initial states of each set
  const char **name;     // of the parameters
  od_rule rule;
  bool used_modes;
  bool only_predicted;  // nothing was searched
  double *estimate;     // of the parameters
  double *sigma;        // as quoted; infinite: not identifiable
  double *sigma_white;  // if residuals are white
  // If they depend on each other, never less than that; quoted where they do (`widened`). See coloured.c.
  double *sigma_coloured;
  bool widened;
  long window;          // rows over which residuals may depend on each other
  double *correlation;  // of their errors; NAN where there is no sigma
  // How much too large the steps of the predictions make the estimates; NAN: no steps, or not known. And how many
  // steps between two samples would do; 0: no steps.
  double *shift;
  int better_substeps;
  // Of the parameters, whatever the unknown initial states are.
  od_identifiability *identifiability;
  double *combination_value, *combination_sigma, *combination_white, *combination_coloured;
  double *combination_bound;  // Cramer and Rao's, with the sensors' sigmas
  double start_fit, fit;      // percent, root mean square over fitted sets and sensors that move
  od_fit_set_result *set;
  od_fit_data **data;
  int sets;
  od_table *table;  // rows of all sets: number of the set, time, inputs, per sensor measured, predicted, residual
  double seconds;   // of the search alone
  od_fit_bowl bowl;
  od_fit_pair pair;
  od_verdict verdict;
} od_fitted;

typedef struct od_fit_options {
  bool only_predict;  // nothing is searched: what the starting values give
  bool random_start;  // begin at a point of the box drawn by `start_seed`
  uint64_t start_seed;
  bool table;     // the table of all samples is wanted
  bool diagnose;  // after a bad verdict, names its cause (experiment/diagnosis.h)
  // So many numbers of derivatives of rows may stay in memory; what is beyond is predicted again where it is wanted. Zero: 4 million, 32 MB.
  size_t most_kept;
  bool (*progress)(void *user, double done);
  void *user;
} od_fit_options;

// OD_INTERRUPTED and OD_NOT_CONVERGED come with the best so far; otherwise *out is NULL after a failure. What takes longer than
// half a second to be judged after an interrupt is not reported: *out is NULL, and err names the best values so far. The plan must live
// as long as what was found.
od_status od_fit(const od_fit_plan *plan, const od_fit_options *options, od_fitted **out, od_error *err);
void od_fitted_free(od_fitted *f);

// What the search took, in words.
void od_fit_search_text(const od_fitted *f, char *text, size_t size);
// Whether active constraints alone say what a parameter is.
bool od_fit_is_fixed(const od_fitted *f, int parameter);
// What a constraint says about the result, in words, and whether the data contradict it.
void od_fit_constraint_text(const od_fitted *f, int i, char *text, size_t size);
bool od_fit_constraint_is_doubtful(const od_fitted *f, int i);

#endif
