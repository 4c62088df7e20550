// A friction law fitted to data, and the identifiability of its parameters.
#ifndef OD_FRICTION_FIT_H
#define OD_FRICTION_FIT_H

#include "base/arena.h"
#include "friction_fit/friction_data.h"
#include "io/verdict.h"
#include "memory/scoped.h"

// Quality of an estimate, from its standard deviation.
typedef enum od_friction_known {
  OD_PARAMETER_KNOWN,
  OD_PARAMETER_WEAK,     // standard deviation of more than a tenth of the value
  OD_PARAMETER_UNKNOWN,  // not identifiable, or only the order of magnitude is known
} od_friction_known;

typedef struct od_friction_parameter {
  const char *key, *unit;
  int number;           // index of the number in the law
  double value, sigma;  // sigma infinite: not identifiable
  double truth;         // true value; NAN: not known
  double shift;         // expected shift of the value caused by noise of a log's speed
  od_friction_known known;
} od_friction_parameter;

typedef struct od_friction_fitted {
  od_arena arena;
  const od_friction_plan *plan;
  const od_friction_data *data;
  od_law_numbers law;
  int parameters;
  od_friction_parameter parameter[OD_MOST_LAW_NUMBERS];
  int rows;                       // number of points, or of samples of the run
  int compared;                   // number of rows with residuals: all points, or the samples of the run after `skip`
  double mean_abs, largest, rms;  // mean magnitude, largest magnitude and root mean square of the residuals, N
  double squares;                 // sum of squared residuals, N^2
  long iterations, evaluations;
  int searches;        // number of searches until residuals were accepted, or the largest allowed number
  bool accepted;       // whether the residuals of the best search are accepted (key `accept` of `fit`)
  double speed_force;  // effect of noise of a log's speed on the force, root mean square, N
  bool converged;      // whether the best search ended at a minimum
  // Whether the film computed from the force does not lag behind the speed, so that tau_hn keeps its start.
  bool film_leads;
  double film_pole;   // pole of the film in discrete time
  double film_sigma;  // standard deviation of tau_hn from the ARMAX model, s
  double *model;      // force of the fitted law at the points or samples, N
  double *share;  // parts of the run x parameters: share of a part in the information of each estimate; NULL: no run
  od_verdict verdict;
} od_friction_fitted;

typedef struct od_friction_run_options {
  bool (*progress)(void *user, double done);
  void *user;
  bool random_start;  // whether to start at parameters drawn with start_seed
  uint64_t start_seed;
  // Whether to also compute the shares of parts, the effect of position and the verdict; false: estimates only.
  bool judge;
} od_friction_run_options;

// Fits the law. The caller frees *out. After an error *out is NULL. Fails with OD_INTERRUPTED, OD_NO_MEMORY, or a status of
// od_friction_data_make() or od_law_fit().
od_status od_friction_fit(const od_friction_plan *plan, const od_friction_data *data,
                          const od_friction_run_options *options, od_friction_fitted **out, od_error *err);
void od_friction_fitted_free(od_friction_fitted *f);
OD_OWNED_POINTER(od_friction_fitted, od_friction_fitted_free);

// Returns the largest relative error of the parameters with a true value; NAN: no parameter has a true value.
double od_friction_largest_error(const od_friction_fitted *f);
// Computes Cramer-Rao bounds: the smallest standard deviations of any unbiased estimator for these data, at the true values. bound
// (plan->parameters) receives the bounds, in the SI units of the parameters. A bound is NAN in these cases: the true values are not
// known or have another meaning in the fitted law; the speed has noise; the noise of the force is zero; the method is neither
// `complete` nor `steady`; or the method is `steady` and the points do not determine the parameter. Fails with OD_NO_MEMORY,
// OD_INTERRUPTED, or a status of od_law_linearize().
od_status od_friction_bounds(const od_friction_plan *plan, const od_friction_data *data, double *bound, od_error *err);
// Computes the sum of squared residuals as a function of one parameter at a time. The parameter varies from a fifth to five times
// its true value. If the true value is not known, the start is used instead. The other parameters are multiplied by
// fit.start_factor. The caller frees *out. Fails with OD_NO_MEMORY.
od_status od_friction_costs(const od_friction_plan *plan, const od_friction_data *data, od_table **out, od_error *err);
// sequential_fit.c: computes two values for each sample. film: the film that follows from the force if the bristles are
// settled. settled: the settled value of the film (eq. 6.3 of source 28). Only for laws with a film.
void od_friction_film(const od_law_numbers *n, int count, const double *v, const double *force, double *film,
                      double *settled);
// Computes the sum of squared residuals as a function of two parameters. The parameters vary from a fifth to five times their true
// values. If the true values are not known, the starts are used instead. The other parameters are multiplied by the start factor of
// the fit. The table contains log10 of both factors and of the sum; a sum below the accepted sum is replaced by the accepted sum.
// The caller frees *out. Fails with OD_NO_MEMORY.
enum { OD_COST_STEPS = 41 };
od_status od_friction_cost_field(const od_friction_plan *plan, const od_friction_data *data, const int parameter[2],
                                 od_table **out, od_error *err);
// Writes the true numbers as numbers of the fitted law. Returns false if the parameters of the fitted law have another
// meaning.
bool od_friction_truth(const od_friction_plan *plan, od_law_numbers *truth);

#endif
