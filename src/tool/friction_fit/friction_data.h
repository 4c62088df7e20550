// The data of a friction fit: points of steady motion and a run, simulated or from logs.
#ifndef OD_FRICTION_DATA_H
#define OD_FRICTION_DATA_H

#include "experiment/true_run.h"
#include "friction_fit/run_model.h"
#include "io/table.h"
#include "memory/scoped.h"

// Speed and force of steady motion. sigma: standard deviation of the force, 0 if it is not known.
typedef struct od_steady_points {
  int count;
  double *v, *force, *sigma;
} od_steady_points;

// Error of a measured friction force, N, root mean square over the run: contribution of each term of eq. 6.10 of source 28 in
// docs/theory.md, and total.
typedef struct od_force_budget {
  bool known;
  double pressure, load, acceleration, area, mass, total;
} od_force_budget;

typedef struct od_friction_data {
  od_arena arena;      // memory of the points
  od_arena run_arena;  // memory of the run
  od_steady_points points;
  double *point_clean;                       // forces of the points without errors; NULL: not simulated
  int samples, parts;                        // number of samples of the run, and number of parts of the run
  double *t, *v, *force, *clean, *position;  // data of the run; position NULL: not known
  double *pressure[2];                       // chamber pressures minus the normal pressures, Pa; NULL: not known
  int *part;                                 // index of the part of the run to which each sample belongs
  double noise;                              // standard deviation of the noise of the run's force, N; 0: no noise
  double speed_noise;                        // standard deviation of the noise of a log's speed before smoothing, m/s
  double held;   // longest time for which a log's speed repeats its value until the motion reverses, s; 0: no such time
  int smoothed;  // half the width of the smoothing window, in samples; 0: not smoothed
  od_velocity_run *run;  // simulated run, which defines the speed between samples; NULL: a log, interpolated linearly
  od_force_budget budget;
  od_true_run *motion;  // motion of an experiment, measured again for each seed; NULL: no experiment
  bool shares_motion;   // whether these data are a copy whose `motion` belongs to the original data
  od_verdict of_truth;  // remarks about the simulation of `motion`, or about the times of a log
} od_friction_data;

// Reads points and run from logs, or simulates both. Simulated points and forces have no errors yet; sensor values of an experiment
// have the noise of the seed. The seed also determines the variation of the run's pieces. The caller frees *out. Fails with
// OD_BAD_INPUT, OD_IO, OD_NO_MEMORY, or a status of the simulation (od_sim_advance()).
od_status od_friction_data_make(const od_friction_plan *plan, uint64_t seed, od_going_on going, od_friction_data **out,
                                od_error *err);
// Replaces the errors of simulated measurements by the errors of a seed. Data from logs do not change. Fails with OD_NO_MEMORY or
// a status of od_machine_plant().
od_status od_friction_data_disturb(const od_friction_plan *plan, uint64_t seed, od_friction_data *d, od_error *err);
void od_friction_data_free(od_friction_data *d);
OD_OWNED_POINTER(od_friction_data, od_friction_data_free);
// Copies the data, so that several threads can add errors to the same simulation. The copy must not outlive the original. Fails
// with OD_NO_MEMORY.
od_status od_friction_data_copy(const od_friction_data *from, od_friction_data **out, od_error *err);

// Creates a model of the run with each interval between samples divided into `substeps` steps. Fails with OD_BAD_ARGUMENT or
// OD_NO_MEMORY.
od_status od_friction_data_model(const od_friction_data *d, int substeps, od_run_model **out);

// Returns the force of steady motion, N. At a speed of zero, returns the force at which motion in the positive direction
// begins.
double od_law_steady(const od_law_numbers *n, double v);
// Returns the derivative of the force of steady motion with respect to a number of the law.
double od_law_steady_slope(const od_law_numbers *n, double v, int number);

// friction_log.c: functions that read the run from a table in memory, the run from a log, and points from a log. They fail with
// OD_BAD_INPUT, OD_IO or OD_NO_MEMORY.
od_status od_friction_table_take(const od_friction_plan *plan, od_table *table, const char *path, od_friction_data *d,
                                 od_error *err);
od_status od_friction_log_read(const od_friction_plan *plan, od_friction_data *d, od_error *err);
od_status od_points_log_read(const od_friction_plan *plan, od_friction_data *d, od_error *err);

// steady_points.c: finds points in the settled parts of a run, if the method needs points and the file contains none. Fails with
// OD_BAD_INPUT or OD_NO_MEMORY.
od_status od_steady_points_find(const od_friction_plan *plan, od_friction_data *d, od_error *err);

// Replaces each value by the value of a parabola fitted to this value and `half` neighbors on either side (Savitzky and
// Golay). Fails with OD_NO_MEMORY.
od_status od_smooth(int count, int half, double *x);

// Allocate memory for points, and for the samples of a run (`simulated`: also for the force without errors).
// od_friction_data_take_run() also frees the previous samples. Fail with OD_NO_MEMORY.
od_status od_friction_data_take_points(od_friction_data *d, int count);
od_status od_friction_data_take_run(od_friction_data *d, int samples, bool simulated);

#endif
