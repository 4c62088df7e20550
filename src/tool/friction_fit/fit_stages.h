// What the stages of a friction fit share.
#ifndef OD_FIT_STAGES_H
#define OD_FIT_STAGES_H

#include "friction_fit/friction_fit.h"
#include "friction_fit/law_search.h"

// Adds up what a search cost.
void od_friction_count(od_friction_fitted *f, const od_law_found *found);
od_law_options od_friction_law_options(const od_friction_plan *plan, const od_friction_run_options *options);

// The parameters of the plan that differ by direction and stand for the positive (0) or the negative one (1), or those that do not (2).
int od_friction_select(const od_friction_plan *plan, int which, int *number);

// steady_fit.c: numbers that points can tell, directions one by one where they have their own numbers.
od_status od_friction_fit_points(od_friction_fitted *f, const od_friction_run_options *options, od_error *err);
// The same rows as it takes, per direction: to be freed with od_point_groups_free().
typedef struct od_point_group {
  int count, columns, number[OD_MOST_LAW_NUMBERS];
  double *v, *force, *weight;
  double noise;
} od_point_group;
int od_point_groups(const od_friction_plan *plan, const od_steady_points *p, od_point_group group[2]);
void od_point_groups_free(od_point_group group[2]);

// speed_order.c: whether residuals of neighbouring speeds are alike; never of fewer than 20 points.
bool od_residuals_follow_speed(int count, const double *v, const double *force, const double *model);

// complete_fit.c: numbers to the run, from several starts.
od_status od_friction_fit_run(od_friction_fitted *f, const od_friction_run_options *options, int columns,
                              const int *number, od_error *err);
// The largest root mean square of residuals that is accepted: what the file accepts, and noise with four of its standard deviations: that
// of the force, and what the law makes of that of the speed.
double od_friction_most_rms(const od_friction_fitted *f);
// sequential_fit.c: the film's time constant, then the bristles' stiffness.
od_status od_friction_fit_sequence(od_friction_fitted *f, const od_friction_run_options *options, od_error *err);

// friction_errors.c: standard deviations, and how much parts of the run tell.
od_status od_friction_find_errors(od_friction_fitted *f, od_error *err);
// speed_noise.c: what noise of a log's speed does to estimates of numbers that a run told: by how much it has shifted them, and what it adds to
// their standard deviations.
od_status od_friction_speed_errors(const od_friction_fitted *f, int columns, const int *number, double *shift,
                                   double *spread, od_error *err);
// How much of the predicted force is due to noise of a log's speed, root mean square.
double od_friction_speed_force(const od_friction_data *d, const od_run_model *m, const od_law_numbers *law);
// friction_verdict.c
od_status od_friction_judge(od_friction_fitted *f, od_error *err);

#endif
