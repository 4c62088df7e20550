// Fit of a machine's uncertain parameters to logs: the plan from a fit file, the fit, and its result.
//
// The fit finds the parameters with which the model's predictions are closest to the sensor values of all fitted data sets.
// Distances are in units of the sensors' noise. The result contains the uncertainty of each parameter and the combinations of
// parameters that are not identifiable from the data. The result also contains the quality of predictions for data that were not
// used in the fit. docs/fit-files.md is the reference.
#ifndef OD_IDENTIFY_FIT_H
#define OD_IDENTIFY_FIT_H

#include "document/expression.h"
#include "experiment/experiment.h"
#include "logs/log.h"
#include "identify/identifiability.h"
#include "io/table.h"
#include "io/verdict.h"
#include "memory/scoped.h"
#include "oleodyn/least_squares.h"
#include "predict/predict.h"
#include "prepare/prepare.h"

// Initial state of predictions: the model's initial state, the equilibrium under the first inputs, or an unknown state
// of each data set. An unknown state is fitted. With OD_FIT_FROM_FIRST_ROW, the search begins with the state that
// predicts the first row and is nearest to the model's initial state.
typedef enum od_fit_start {
  OD_FIT_FROM_MODEL,
  OD_FIT_FROM_REST,
  OD_FIT_FROM_ANYWHERE,
  OD_FIT_FROM_FIRST_ROW,
} od_fit_start;

// Data of a set and the model that predicts these data. The model is not a machine, but a friction law driven by a measured speed.
// All rows are fitted.
typedef struct od_fit_source {
  const double *time;   // time of each row, s; NULL: the index of the row
  const double *y;      // measured values, rows x sensors
  const double *sigma;  // standard deviation of each sensor's noise
  od_prediction_model model;
} od_fit_source;

// Data of one run: from a log, from a simulation with the sensors' noise, or from a source.
typedef struct od_fit_set {
  const char *name;
  const od_fit_source *source;  // NULL: the experiment's machine predicts the set
  bool validates;               // whether the set is predicted but not fitted
  bool start_is_given;          // whether `start` is the start of this set; false: the start of the plan
  od_fit_start start;
  od_log_plan plan;
  od_log *log;        // NULL: the set is simulated or has a source
  int *channel;       // indices of the channels of the log: sensors, then inputs
  od_machine *truth;  // true machine of this set only; NULL: the true machine of the experiment
  double time;        // duration of the simulation, s
  bool clean;         // whether simulated measurements have only scale and bias, without noise and other errors
  bool borrowed;      // whether log, plan and channels belong to the experiment
  // Motion of the true machine, the same for all seeds: inputs and sensor outputs per row, without noise. NULL: each fit
  // simulates the motion. See od_fit_keep_truth().
  struct od_fit_data *true_motion;
} od_fit_set;

// A user-defined function of the parameters: a product of powers times a weighted sum.
typedef struct od_combination {
  const char *name;
  double *power, *weight;  // one per parameter; if all weights are zero, the sum is 1
} od_combination;

// A relation between parameters that the estimates must satisfy.
typedef struct od_fit_constraint {
  const char *text, *left_text, *right_text;
  od_relation_kind kind;
  od_expression left, right;
} od_fit_constraint;

// Multiple shooting: number or length of the segments of each fitted set.
typedef struct od_fit_shooting {
  bool on;
  int segments;  // number of segments; 0: computed from `length`
  // Duration of a segment, s; 0: computed from `segments`. If both are 0, the program chooses the number of segments.
  double length;
} od_fit_shooting;

typedef struct od_fit_plan {
  od_arena arena;
  od_experiment *e;  // machines (NULL if all sets have a source), sensors, parameters with their starts and bounds
  od_ls_method method;
  double cost_tolerance, step_tolerance, precision;  // see od_ls_options
  const od_ls_transform *transform;                  // one per parameter; NULL: all linear
  od_ls_loss loss;
  double loss_scale;
  long evaluations;  // largest number of evaluations; 0: the default of the search engine
  bool rule_is_given;
  od_rule rule;
  od_hold hold;
  int substeps;
  od_fit_start start;
  int starts;       // number of random starts in the box, in addition to the start in the file
  double hold_out;  // fraction of each fitted set, at its end, that is predicted but not fitted
  // Whether the sensors' sigmas are exact: the uncertainty follows from the sigmas, not from the residuals.
  bool known_noise;
  od_prepare prepare;
  od_fit_set *set;
  int sets;
  od_combination *combination;
  int combinations;
  od_fit_constraint *constraint;  // all constraints, equalities first
  int constraints, equalities;
  od_fit_shooting shooting;
} od_fit_plan;

// Names of methods in files, in the order of their enumeration. The last entry is NULL.
extern const char *const od_fit_methods[];

// Returns the start of a set: the set's own start, or the start of the plan (fit_start.c).
od_fit_start od_fit_start_of(const od_fit_plan *plan, const od_fit_set *set);

// Loads a fit file: an experiment file with the sections fit, sets, prepare, combinations and constraints. Fails with the statuses of
// od_experiment_load().
od_status od_fit_plan_load(const char *path, const od_experiment_options *options, od_fit_plan **out,
                           od_messages *messages);
void od_fit_plan_free(od_fit_plan *plan);
OD_OWNED_POINTER(od_fit_plan, od_fit_plan_free);

// Returns the scale of the loss that the search engine uses.
double od_fit_loss_scale(const od_fit_plan *plan);

// Returns the value of a combination, and its gradient with respect to the parameters (may be NULL).
double od_combination_value(const od_combination *c, int parameters, const double *p, double *gradient);

// --- The data -----------------------------------------------------------------------------------------------------

// One prepared set in SI units: rows of inputs and of sensor values (NAN: no value).
typedef struct od_fit_data {
  od_arena arena;
  const od_fit_set *set;
  long rows, fitted;  // number of all rows, and of fitted rows
  double begin, step;
  double *time;  // time of each row, s
  bool uniform;  // whether times are begin + k step within a tolerance
  // Whether times differ from begin + k step by more than round-off, so that the times of the log are kept.
  bool own_times;
  double *u, *y;     // inputs, rows x inputs; sensor values, rows x sensors
  double *sigma;     // standard deviation of each sensor's noise in this set
  long outliers;     // number of values removed as outliers
  long gaps_filled;  // number of gaps filled by resampling
  long bridged;      // number of missing input values of the log that were interpolated from their neighbors
} od_fit_data;

// Callback that returns whether to continue, called while data are created. NULL: always continue.
typedef struct od_waiting {
  bool (*keeps_going)(void *user);
  void *user;
} od_waiting;
od_status od_fit_data_make(const od_fit_plan *plan, const od_fit_set *set, const od_waiting *waiting, od_fit_data **out,
                           od_error *err);
void od_fit_data_free(od_fit_data *data);
OD_OWNED_POINTER(od_fit_data, od_fit_data_free);
// Returns the raw value of a sensor's measured value (SI): the number in the file, with which users compare the key
// 'missing'. Returns NAN if the data are simulated, resampled, filtered or detrended, or if no number with nine digits gives the
// measured value.
double od_fit_raw_value(const od_fit_plan *plan, const od_fit_data *d, int sensor, double value);
// For plans that are fitted many times. The first function returns the memory of the true motion of a simulated set, in
// bytes. The second function simulates the motion once and keeps the motion until the plan is freed. od_fit_keep_truth() fails
// with OD_BAD_INPUT, OD_INTERRUPTED, OD_NO_MEMORY, or a status of od_machine_plant(), od_predictor_new() or od_predict().
double od_fit_truth_bytes(const od_fit_plan *plan, int set);
od_status od_fit_keep_truth(od_fit_plan *plan, int set, const od_waiting *waiting, od_error *err);
// Returns the integration rule of predictions: the rule of the plan. Without such a rule: exact discretization for linear
// machines with uniform samples and without shooting, else the default integrator.
od_rule od_fit_rule(const od_fit_plan *plan, bool uniform);

// --- The fit ------------------------------------------------------------------------------------------------------

// Quality of the predictions of one sensor in one set. fit = 100 (1 - |y - prediction| / |y - mean(y)|).
typedef struct od_fit_quality {
  double start_fit,
      fit;     // percent, with the starting and the fitted parameters; NAN: the sensor is constant, or the set cannot
               // be predicted
  double rms;  // root mean square of the residuals
  double lag1, white;        // correlation of neighboring residuals (lag 1); p-value of the Ljung-Box test of whiteness
  double correlation;        // the largest magnitude of the autocorrelation at lags 1 to 20
  double worst, worst_time;  // largest residual, in standard deviations of the noise, and time of this residual, s
  double worst_value;        // measured value of this sample, SI
  // Number of outliers if all of them have the same measured value, otherwise 0. An outlier is a sample whose residual
  // is at least OD_FIT_OUTLIER times `typical`.
  long equal_outliers;
  double typical;  // median magnitude of the residuals, in standard deviations of the noise
  long samples, missing;
  bool still;  // whether the sensor value is constant, so that `fit` is undefined
} od_fit_quality;
// Smallest residual of an outlier, as a multiple of the median magnitude of the residuals.
#define OD_FIT_OUTLIER 100
// Limit of p-values. A smaller p-value rejects the tested hypothesis, such as white residuals.
#define OD_FIT_UNLIKELY 0.001
// Returns whether the residuals of fitted samples are correlated: whiteness is rejected, the largest correlation is
// above 0.05, and the residuals are above round-off.
bool od_fit_is_colored(const od_fit_quality *q);

typedef struct od_fit_set_result {
  const char *name;
  bool validates;
  const od_fit_data *data;
  long rows, fitted;
  od_status predicted;  // status of the prediction with the fitted parameters
  int segments;         // number of segments of multiple shooting; 0: no multiple shooting
  // Largest jump of a state between two segments, as a fraction of the state's range; time of the jump, s.
  double gap, gap_time;
  od_fit_quality *fitted_quality,
      *unseen_quality;  // per sensor: quality for the fitted rows, and for the rows that are not fitted
} od_fit_set_result;

// The two sensors with the most correlated residuals. a = -1: no correlation was computed. Reasons: fewer than two sensors, fewer
// than OD_ENOUGH_TOGETHER rows with values of two sensors, no search, or correlated noise of the sensors in the file.
typedef struct od_fit_pair {
  int a, b;
  double correlation;
} od_fit_pair;

// Check of the cost at points one standard deviation of a parameter away from the minimum. ratio: rise of the cost
// divided by the rise of a quadratic cost. Only the point with the ratio farthest from 1 is stored. See
// fit_cost_rise.c.
typedef struct od_fit_cost_rise {
  int parameter;  // index of the parameter that is changed; -1: not examined, or no such point
  double ratio;
} od_fit_cost_rise;

typedef struct od_fitted {
  od_arena arena;
  const od_fit_plan *plan;
  od_ls_result *search;  // unknowns: parameters; without shooting also the unknown initial states of fitted sets
  const char **name;     // names of the parameters
  od_rule rule;
  bool used_modes;
  bool only_predicted;  // whether the start values were only used for predictions, without a search
  double *estimate;     // estimates of the parameters
  double *sigma;        // the reported standard deviation; infinite: not identifiable
  double *sigma_white;  // the standard deviation if residuals are white
  // The standard deviation for correlated residuals, never below sigma_white. If `widened` is set, `sigma` is equal to
  // sigma_colored. See colored_residuals.c.
  double *sigma_colored;
  bool widened;
  long window;          // number of rows over which residuals may be correlated
  double *correlation;  // correlations of the errors of the estimates; NAN without a sigma
  // shift: error of the estimates caused by the integration error of the predictions (positive: estimate too large).
  // NAN: the prediction has no integration steps, or the shift was not computed. better_substeps: sufficient number of
  // steps between two samples. 0: no integration steps, or not computed.
  double *shift;
  int better_substeps;
  // Identifiability of the parameters, with unknown initial states projected out.
  od_identifiability *identifiability;
  // Fitted values x parameters, only for OD_FIT_LINEARIZATION: the change of each estimate per unit change of each fitted
  // value.
  double *influence;
  double *combination_value, *combination_sigma, *combination_white, *combination_colored;
  double *combination_bound;  // Cramer-Rao bound of each combination, for the sensors' sigmas
  // Percent: 100 minus the root mean square of 100 - fit, over fitted sets and sensors that are not constant.
  double start_fit, fit;
  od_fit_set_result *set;
  od_fit_data **data;
  int sets;
  od_table *table;    // rows of all sets: number of the set, time, inputs; per sensor measured, predicted, residual
  od_table *history;  // cost and parameters after each iteration of the search, for OD_FIT_COMPLETE; else NULL
  double seconds;     // duration of the search only
  od_fit_cost_rise cost_rise;
  od_fit_pair pair;
  od_verdict verdict;
} od_fitted;

// Extent of a fit: the results that are computed. Repeated searches and studies need no statistics.
typedef enum od_fit_extent {
  OD_FIT_COMPLETE,      // all results
  OD_FIT_SEARCH_ONLY,   // od_fitted.search only
  OD_FIT_LINEARIZATION  // the search, the identifiability, and the influence of each fitted value
} od_fit_extent;

typedef struct od_fit_options {
  od_fit_extent extent;
  bool only_predict;  // whether to predict with the start values, without a search
  bool random_start;  // whether to begin at a point of the box drawn with `start_seed`
  uint64_t start_seed;
  bool table;     // whether to compute the table of all samples
  bool diagnose;  // whether to find the cause of a bad verdict (experiment/diagnosis.h)
  // Largest number of derivatives of rows in memory. Other derivatives are predicted again when needed. Zero: 4 million, 32 MB.
  size_t most_kept;
  bool (*progress)(void *user, double done);
  void *user;
} od_fit_options;

// Runs the fit. After OD_INTERRUPTED and OD_NOT_CONVERGED *out has the best result so far; after other failures *out is NULL. If
// the evaluation after an interrupt takes longer than half a second, *out is NULL. err then contains the best values so far. The
// plan must outlive the result. Fails with OD_INTERRUPTED, OD_NOT_CONVERGED, OD_BAD_INPUT, OD_IO, OD_NO_MEMORY, or a status of
// the prediction (od_predict()).
od_status od_fit(const od_fit_plan *plan, const od_fit_options *options, od_fitted **out, od_error *err);
void od_fitted_free(od_fitted *f);
OD_OWNED_POINTER(od_fitted, od_fitted_free);

// Writes the effort of the search in words: number of iterations and predictions.
void od_fit_search_text(const od_fitted *f, char *text, size_t size);
// Returns whether active constraints alone determine a parameter.
bool od_fit_is_fixed(const od_fitted *f, int parameter);
// The first function writes a description of a constraint at the solution. The second function returns whether the data
// contradict the constraint.
void od_fit_constraint_text(const od_fitted *f, int i, char *text, size_t size);
bool od_fit_constraint_is_doubtful(const od_fitted *f, int i);

#endif
