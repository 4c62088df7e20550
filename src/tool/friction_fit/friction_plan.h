// Contents of a friction file: numbers of friction laws, data, and the settings of the fit. The data are points of steady motion
// and a run, simulated or logged. docs/friction-files.md is the reference.
#ifndef OD_FRICTION_PLAN_H
#define OD_FRICTION_PLAN_H

#include <stdint.h>

#include "logs/log_settings.h"
#include "document/loader.h"
#include "experiment/experiment.h"
#include "friction/law.h"
#include "friction_fit/velocity_run.h"
#include "memory/scoped.h"
#include "oleodyn/least_squares.h"

// Indices after the numbers of a law: numbers of the law's factor, which depends on the pressures of two chambers and on the position x:
// 1 + per_p1 (p1 - normal) + per_p2 (p2 - normal) + (f(x) - 1). f is linear between some positions, where it has the values factor_x1,
// factor_x2, ..., and constant beyond the first and the last position.
enum {
  OD_MOST_POSITIONS = 12,
  OD_PER_P1 = 2 * OD_MOST_ELEMENT_FIELDS,
  OD_PER_P2,
  OD_FACTOR_X1,
  OD_MOST_LAW_NUMBERS = OD_FACTOR_X1 + OD_MOST_POSITIONS,
};

// A law with its numbers.
typedef struct od_law_numbers {
  const char *name;  // name in the file
  const od_friction_law *law;
  bool two_sided;
  int positions;  // number of positions of the factor; 0: the factor does not depend on the position
  double position[OD_MOST_POSITIONS];  // positions of the factor, m, in ascending order
  double q[OD_MOST_LAW_NUMBERS];
} od_law_numbers;

// Returns the numbers of `from`, by their keys, as numbers of `law`. Numbers that `law` does not have are left out.
// Numbers that only `law` has get their defaults. The dependence on pressures and positions is left out.
od_law_numbers od_law_numbers_as(const od_law_numbers *from, const od_friction_law *law);
// od_law_key() returns the index of a key among the numbers of a law; -1: no such key. od_law_field() returns the
// description of the number at an index.
int od_law_key(const od_friction_law *law, const char *key);
const od_element_field *od_law_field(const od_friction_law *law, int number);
// Returns whether a number is a coefficient of the dependence on pressures.
static inline bool od_is_per_pressure(int number) {
  return number == OD_PER_P1 || number == OD_PER_P2;
}
// Returns whether a number belongs to the dependence of the factor on pressures or on the position.
static inline bool od_is_of_factor(int number) {
  return number >= OD_PER_P1;
}
// Returns the weight of factor number k (0: factor_x1) at the position x. The weights of all positions add up to 1.
double od_position_weight(const od_law_numbers *n, int k, double x);
// Returns the factor at the position x; 1 if the factor does not depend on the position.
double od_position_factor(const od_law_numbers *n, double x);

typedef enum od_friction_method {
  OD_FRICTION_STEADY,      // fit a steady law to points
  OD_FRICTION_COMPLETE,    // fit all parameters to a run
  OD_FRICTION_SEQUENTIAL,  // fit points, then the film's time constant, then the bristles' stiffness
  OD_FRICTION_DYNAMIC,     // fit points, then all other parameters to the run
} od_friction_method;
extern const char *const od_friction_methods[];  // terminated by NULL

// Estimation method for the film's time constant in the sequential method.
typedef enum od_film_by { OD_FILM_BY_ARMAX, OD_FILM_BY_LEAST_SQUARES } od_film_by;

// Errors of simulated measurements.
typedef enum od_friction_error_kind {
  OD_ERROR_NONE,
  OD_ERROR_NORMAL,      // size is the standard deviation
  OD_ERROR_UNIFORM,     // uniform errors between -size and size
  OD_ERROR_POLYNOMIAL,  // a parabola over the force through three uniform errors, at -range, 0 and range
  OD_ERROR_POSITION,  // not a measurement error but additional friction: a sine of the position with wavelength `length`
} od_friction_error_kind;
typedef struct od_friction_error {
  od_friction_error_kind kind;
  double size, range, length;
} od_friction_error;

// Points of steady motion: evenly spaced from low to high; or `count` points in each direction, with the density peak
// exp(-decay v) + floor (eq. C.1 of source 28 in docs/theory.md); or columns of a log; or samples of the run, settled or
// not.
typedef struct od_friction_points {
  bool given;
  const char *log;  // path; NULL: simulated
  const char *velocity, *force, *sigma;
  double low, high, step;
  int count;
  int every;       // distance between two points, in samples of the run; 0: no points from the run
  double time[2];  // first and last time of the points from the run, settled or not, s
  double peak, decay, floor;
  od_friction_error error;
} od_friction_points;

// Criteria for a settled part of a run.
typedef struct od_settling {
  double window, drift;  // duration of a window, s; largest relative change of the speed in a settled window
  double least;          // shortest duration of a settled part, s
  bool drops_rise;  // whether to leave out points slower than the point with the largest force in the same direction
} od_settling;

// The friction force from the measurements of a test bench (eq. 6.10 of source 28 in docs/theory.md): p1 A1 - p2 A2 - load - mass
// a.
typedef struct od_force_balance {
  bool given;
  const char *pressure[2], *load, *acceleration;  // names of columns; acceleration NULL: computed from the velocity
  double area[2], mass;
  double pressure_sigma, load_sigma, acceleration_sigma;  // standard deviations of the columns, Pa, N, m/s2
  double area_sigma, mass_sigma;                          // relative standard deviations of areas and mass
} od_force_balance;

// A run that is not simulated from its own pieces: columns of a file, or sensor values of an experiment's true machine.
typedef struct od_friction_log {
  od_experiment *experiment;  // experiment that gives the data; NULL: a file
  const char *file, *time, *velocity, *force, *position;
  const char *pressure[2];  // columns; NULL: the columns of the balance
  double skip;              // duration at the beginning that is not fitted, s
  double slope;   // duration of the window in which the speed is the slope of the position, s; 0: column of speeds
  double smooth;  // duration of the window in which the speed is smoothed, s; 0: not smoothed
  od_force_balance balance;
} od_friction_log;

// Pairs of chamber pressures at which parameters are estimated, and the dependence of the true law on the pressures.
typedef enum od_map_form { OD_MAP_LINEAR, OD_MAP_SATURATING, OD_MAP_TABLE } od_map_form;
enum { OD_MOST_AXIS = 20, OD_MOST_PAIRS = OD_MOST_AXIS * OD_MOST_AXIS };
typedef struct od_map_change {
  int number;    // index of the number in the true law
  double by[2];  // relative change of the number per pressure of each chamber, 1/Pa
} od_map_change;
typedef struct od_map_plan {
  bool given;
  od_map_form form;
  double normal[2];  // pressures at which the true numbers are valid, Pa
  double limit;      // saturation pressure, Pa; 0: no saturation
  int pairs, changes;
  double pressure[OD_MOST_PAIRS][2];
  const char *log[OD_MOST_PAIRS];  // log of each pair; NULL: simulated
  od_map_change change[OD_MOST_LAW_NUMBERS];
} od_map_plan;

enum { OD_MOST_SERIES = 1000 };  // largest number of runs of a series

typedef struct od_friction_plan {
  od_document *file;
  const char *title, *path;
  od_law_numbers *set;
  int sets;
  bool simulates;
  od_law_numbers truth, start;
  int parameter[OD_MOST_LAW_NUMBERS], parameters;  // indices of the fitted numbers of the law
  bool log_scale;
  od_friction_method method;
  od_ls_method search;
  double start_factor, step_tolerance, accept;
  double normal[2];     // pressures at which the numbers are valid, Pa
  int normal_position;  // index of the position at which the numbers are valid; its factor is 1
  double start_spread;  // largest factor between a random start and the start in the file
  long evaluations;
  int restarts, substeps, polish, data_substeps;  // polish: substeps of the last search; 0: no such search
  double noise;      // standard deviation of the noise of a log's force, N; 0: estimated from the log
  double tolerance;  // for studies: largest relative error at which a parameter counts as found
  od_film_by film_by;
  // First and last time of the parts of the run from which `tau_hn` and `sigma_0` are estimated, s (method `sequential`).
  double film_time[2], bristle_time[2];
  od_friction_points points;
  od_settling settling;
  bool has_run;
  od_velocity_run run;  // pieces of a simulated run; no pieces: a logged run
  double run_from;      // position at the beginning of a simulated run, m
  double vary;          // relative variation of the run's pieces from seed to seed
  od_friction_error run_error;
  od_friction_log log;
  od_map_plan map;
  uint64_t seed;
  int repeats;  // number of runs of a series; 1: a single fit
  int logs;     // number of logs of a series; 0: no such logs, the runs are simulated
  const char *series_log[OD_MOST_SERIES];
  od_log_settings settings;  // settings of all logs of runs, or of the log of points if there is no run
} od_friction_plan;

typedef struct od_friction_options {
  const char *const *set;
  int set_count;
  const char *truth, *variant;  // entry of `laws` that replaces the true law of the file, and variant of the file;
                                // NULL: none
  const char *const *log;       // logs that replace the data of the file; several logs are a series
  int logs;
  // The log that replaces the data of the file, and settings of all logs. The texts must outlive the plan.
  od_log_settings settings;
  od_content content;  // content of the file, if the file has already been read
} od_friction_options;

// Loads a friction file and checks it. On success the caller frees *out. On failure *out is NULL, and `messages` has the errors.
// Fails with OD_BAD_INPUT, OD_IO or OD_NO_MEMORY.
od_status od_friction_plan_load(const char *path, const od_friction_options *options, od_friction_plan **out,
                                od_messages *messages);
void od_friction_plan_free(od_friction_plan *plan);
OD_OWNED_POINTER(od_friction_plan, od_friction_plan_free);

#endif
