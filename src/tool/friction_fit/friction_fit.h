// A friction law fitted to data, and what the data could tell about each of its parameters.
#ifndef OD_FRICTION_FIT_H
#define OD_FRICTION_FIT_H

#include "friction_fit/friction_data.h"
#include "io/verdict.h"

// How well a parameter is known.
typedef enum od_friction_known {
  OD_PARAMETER_KNOWN,
  OD_PARAMETER_WEAK,     // standard deviation of more than a tenth of the value
  OD_PARAMETER_UNKNOWN,  // the data cannot tell it, or only its order of magnitude
} od_friction_known;

typedef struct od_friction_parameter {
  const char *key, *unit;
  int number;           // of the law
  double value, sigma;  // sigma infinite: the data do not tell it
  double truth;         // NAN: not known
  double shift;         // by which noise of a log's speed is likely to have moved the value
  od_friction_known known;
} od_friction_parameter;

typedef struct od_friction_fitted {
  const od_friction_plan *plan;
  const od_friction_data *data;
  od_law_numbers law;
  int parameters;
  od_friction_parameter parameter[OD_MOST_LAW_NUMBERS];
  int rows;                       // that it was fitted to
  double mean_abs, largest, rms;  // residuals, N
  double squares;                 // their sum
  long iterations, evaluations;
  int searches;        // until the residual was small enough, or all that were allowed
  bool accepted;       // it was
  double speed_force;  // N, root mean square: what the law makes of noise of a log's speed
  bool converged;      // the best search ended at a minimum
  bool film_leads;     // the film that the force tells does not lag behind the speed, so that tau_hn stays at its start
  double film_pole;
  double *model;  // the force at the points or samples
  double *share;  // parts of the run x parameters: how much of each estimate comes from there; NULL: no run
  od_verdict verdict;
} od_friction_fitted;

typedef struct od_friction_run_options {
  bool (*progress)(void *user, double done);
  void *user;
  bool random_start;  // begin at parameters drawn by start_seed
  uint64_t start_seed;
  bool judge;  // shares of parts, position, verdict; else estimates alone
} od_friction_run_options;

// OD_NOT_CONVERGED comes with a result.
od_status od_friction_fit(const od_friction_plan *plan, const od_friction_data *data,
                          const od_friction_run_options *options, od_friction_fitted **out, od_error *err);
void od_friction_fitted_free(od_friction_fitted *f);

// The largest error of a parameter that has a true value, relative; NAN: none has.
double od_friction_largest_error(const od_friction_fitted *f);
// The least standard deviations that any unbiased estimator can have from data like these, at the true values; NAN where errors are
// not independent or the truth is not known.
od_status od_friction_bounds(const od_friction_plan *plan, const od_friction_data *data, double *bound, od_error *err);
// The sum of squared residuals while one parameter at a time goes from a fifth to five times its true value, or its start where that is not
// known; the others are as many times theirs as fit.start_factor says.
od_status od_friction_costs(const od_friction_plan *plan, const od_friction_data *data, od_table **out, od_error *err);
// sequential_fit.c: the film that a force tells if bristles follow, and what it settles to, sample by sample (eq. 6.3 of source 28); of
// laws with a film.
void od_friction_film(const od_law_numbers *n, int count, const double *v, const double *force, double *film,
                      double *settled);
// The sum of squared residuals while two parameters go from a fifth to five times their true values: log10 of both factors, and of the sum.
enum { OD_COST_STEPS = 41 };
od_status od_friction_cost_field(const od_friction_plan *plan, const od_friction_data *data, const int parameter[2],
                                 od_table **out, od_error *err);
// The true numbers as those of the fitted law; false: its parameters do not mean the same.
bool od_friction_truth(const od_friction_plan *plan, od_law_numbers *truth);

#endif
