// The data that a friction law is fitted to: points of steady motion and a run, simulated or from logs.
#ifndef OD_FRICTION_DATA_H
#define OD_FRICTION_DATA_H

#include "experiment/true_run.h"
#include "friction_fit/run_model.h"
#include "io/table.h"

// Speed and force of steady motion. sigma: standard deviation of the force, 0 where it is not known.
typedef struct od_steady_points {
  int count;
  double *v, *force, *sigma;
} od_steady_points;

// What a measured force of friction is off by, root mean square over the run: eq. 6.10 term by term.
typedef struct od_force_budget {
  bool known;
  double pressure, load, acceleration, area, mass, total;
} od_force_budget;

typedef struct od_friction_data {
  od_steady_points points;
  double *point_clean;  // the force without errors; NULL: not simulated
  int samples, parts;
  double *t, *v, *force, *clean, *position;  // of the run; position NULL: not known
  double *pressure[2];                       // in the chambers, less the normal ones; NULL: not known
  int *part;                                 // of the run that each sample belongs to
  double noise;                              // standard deviation of the run's force; 0: none
  double speed_noise;                        // the same of a log's speed, before it was smoothed
  int smoothed;                              // over so many samples on either side; 0: it was not
  od_velocity_run *run;  // which says what the speed is between samples; NULL: a log, straight lines
  od_force_budget budget;
  od_true_run *motion;  // of an experiment, which is measured anew by each seed; NULL: none
  bool shares_motion;   // it is that of the data that these are a copy of
  od_verdict of_truth;  // what speaks against that simulation, or the times of a log
} od_friction_data;

// Without errors of simulated measurements; the seed decides how the run's pieces vary.
od_status od_friction_data_make(const od_friction_plan *plan, uint64_t seed, od_going_on going, od_friction_data **out,
                                od_error *err);
// Puts the errors of a seed on simulated measurements.
od_status od_friction_data_disturb(const od_friction_plan *plan, uint64_t seed, od_friction_data *d, od_error *err);
void od_friction_data_free(od_friction_data *d);
// A copy, so that several threads can disturb what is simulated once; it must not outlive what it is a copy of.
od_status od_friction_data_copy(const od_friction_data *from, od_friction_data **out, od_error *err);

// The run with every time between samples divided into so many steps.
od_status od_friction_data_model(const od_friction_data *d, int substeps, od_run_model **out);

// The force of steady motion; a speed of zero is the beginning of motion in the positive direction.
double od_law_steady(const od_law_numbers *n, double v);
double od_law_steady_slope(const od_law_numbers *n, double v, int number);

// friction_log.c: the run, and points, of logs; the run of a table that was not read from a file.
od_status od_friction_table_take(const od_friction_plan *plan, od_table *table, const char *path, od_friction_data *d,
                                 od_error *err);
od_status od_friction_log_read(const od_friction_plan *plan, od_friction_data *d, od_error *err);
od_status od_points_log_read(const od_friction_plan *plan, od_friction_data *d, od_error *err);

// steady_points.c: points from the settled parts of a run, for methods that need them and files that give none.
od_status od_steady_points_find(const od_friction_plan *plan, od_friction_data *d, od_error *err);

// smooth_speed.c: each value becomes that of the parabola through its neighbours, `half` of them on either side. False: memory ran out.
bool od_smooth(int count, int half, double *x);

// Whether memory for the samples of a run, or for points, is there.
bool od_friction_data_room(od_friction_data *d, int samples, bool simulated);
void od_friction_data_clear_run(od_friction_data *d);
bool od_steady_points_room(od_steady_points *p, int count);

#endif
