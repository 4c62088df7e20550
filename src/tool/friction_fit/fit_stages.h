// Declarations shared by the stages of a friction fit.
#ifndef OD_FIT_STAGES_H
#define OD_FIT_STAGES_H

#include "friction_fit/friction_fit.h"
#include "friction_fit/law_fit.h"

// Adds the iterations and evaluations of a search to the result.
void od_friction_count(od_friction_fitted *f, const od_law_found *found);

// Selects the parameters of the plan for the positive direction (0), for the negative direction (1), or common to both
// directions (2). Returns the number of selected parameters.
int od_friction_select(const od_friction_plan *plan, int which, int *number);

// steady_fit.c: fits the numbers that points determine, separately for each direction if the directions have their own
// numbers. Fails with a status of od_law_fit().
od_status od_friction_fit_points(od_friction_fitted *f, const od_friction_run_options *options, od_error *err);
// The points of one direction, or of both directions, and the numbers that these points determine. od_point_groups()
// returns the number of groups; 0: out of memory. The arrays belong to the arena.
typedef struct od_point_group {
  od_law_rows rows;
  int columns, number[OD_MOST_LAW_NUMBERS];
  double noise;  // mean standard deviation of the forces, N; 0: not known
} od_point_group;
int od_point_groups(const od_friction_plan *plan, const od_steady_points *p, od_arena *arena, od_point_group group[2]);

// Returns whether residuals at neighboring speeds are correlated, because the measured curve does not have the form of the
// law. Always false for fewer than 20 points.
bool od_residuals_follow_speed(int count, const double *v, const double *force, const double *model);

// complete_fit.c: fits numbers to the run, from several starts. Fails with a status of od_law_fit().
od_status od_friction_fit_run(od_friction_fitted *f, const od_friction_run_options *options, int columns,
                              const int *number, od_error *err);
// Returns the index of the first sample of the run that is fitted: the first sample after `skip`.
int od_friction_first_fitted(const od_friction_fitted *f);
// Returns the largest accepted root mean square of residuals, N. This limit combines the limit in the file, the noise of the force,
// and the effect of the speed's noise on the force. The variance of the noise is increased by four standard deviations of a sample
// variance.
double od_friction_most_rms(const od_friction_fitted *f);
// sequential_fit.c: fits the film's time constant, then the bristles' stiffness. Fails with a status of od_law_fit().
od_status od_friction_fit_sequence(od_friction_fitted *f, const od_friction_run_options *options, od_error *err);

// friction_errors.c: computes standard deviations, and the share of each part of the run in the information. Fails with a status
// of od_law_linearize().
od_status od_friction_find_errors(od_friction_fitted *f, od_error *err);
// speed_noise.c: computes the effect of noise of a log's speed on estimates from a run: their shift, and the increase of
// their standard deviations. `influence` is the dependence of the estimates on the rows. Fails with OD_NO_MEMORY or
// OD_NOT_FINITE.
od_status od_friction_speed_errors(const od_friction_fitted *f, od_law_rows *rows, const double *influence, int columns,
                                   double *shift, double *spread, od_error *err);
// Returns the part of the predicted force that is due to noise of a log's speed: its root mean square, N.
double od_friction_speed_force(const od_friction_data *d, const od_run_model *m, const od_law_numbers *law);
// friction_verdict.c: computes the standard deviations and the verdict. Fails with a status of od_law_linearize().
od_status od_friction_judge(od_friction_fitted *f, od_error *err);

#endif
