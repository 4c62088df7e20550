// What a friction file says: numbers of friction laws, data (points of steady motion, a run, simulated or logged), and how a law is
// fitted to them. docs/friction-files.md is the reference.
#ifndef OD_FRICTION_PLAN_H
#define OD_FRICTION_PLAN_H

#include <stdint.h>

#include "document/loader.h"
#include "experiment/experiment.h"
#include "friction/law.h"
#include "friction_fit/velocity_run.h"
#include "oleodyn/least_squares.h"

// The numbers of a law, and behind them how its factor follows the pressures in two chambers: 1 + per_p1 (p1 - normal) + per_p2 (p2 - normal).
enum {
  OD_PER_P1 = 2 * OD_MOST_ELEMENT_FIELDS,
  OD_PER_P2,
  OD_MOST_LAW_NUMBERS,
};

// A law with its numbers.
typedef struct od_law_numbers {
  const char *name;  // in the file
  const od_friction_law *law;
  bool two_sided;
  double q[OD_MOST_LAW_NUMBERS];
} od_law_numbers;

// The same numbers, by their keys, in another law. What the other law does not have is left out, what it has besides is its default.
// How it follows pressures is left out, too.
od_law_numbers od_law_numbers_as(const od_law_numbers *from, const od_friction_law *law);
// The place of a key in a law's numbers; -1: it has none. And what is said about the number there.
int od_law_key(const od_friction_law *law, const char *key);
const od_element_field *od_law_field(const od_friction_law *law, int number);
// Whether it is one of those that follow pressures.
static inline bool od_is_per_pressure(int number) {
  return number == OD_PER_P1 || number == OD_PER_P2;
}

typedef enum od_friction_method {
  OD_FRICTION_STEADY,      // a steady law to points
  OD_FRICTION_COMPLETE,    // all parameters to a run
  OD_FRICTION_SEQUENTIAL,  // points, then the film's time constant, then the bristles' stiffness
  OD_FRICTION_DYNAMIC,     // points, then all other parameters to the run
} od_friction_method;
extern const char *const od_friction_methods[];  // a NULL at the end

// How the time constant of the film is found by the sequential method.
typedef enum od_film_by { OD_FILM_BY_ARMAX, OD_FILM_BY_LEAST_SQUARES } od_film_by;

// What simulated measurements are off by.
typedef enum od_friction_error_kind {
  OD_ERROR_NONE,
  OD_ERROR_NORMAL,      // size is the standard deviation
  OD_ERROR_UNIFORM,     // within the size, either side
  OD_ERROR_POLYNOMIAL,  // a parabola over the force through three uniform errors, at -range, 0 and range
  OD_ERROR_POSITION,    // no error but friction that the law does not have: a sine of the position, of length `length`
} od_friction_error_kind;
typedef struct od_friction_error {
  od_friction_error_kind kind;
  double size, range, length;
} od_friction_error;

// Points of steady motion: evenly spaced from low to high, or `count` of them in either direction, placed as densely as
// peak exp(-decay v) + floor says (eq. C.1 of source 28 in docs/theory.md), or columns of a log, or samples of the run, settled or not.
typedef struct od_friction_points {
  bool given;
  const char *log;  // path; NULL: simulated
  const char *velocity, *force, *sigma;
  double low, high, step;
  int count;
  int every;       // so many samples of the run from point to point; 0: none of it
  double time[2];  // s, of those samples
  double peak, decay, floor;
  od_friction_error error;
} od_friction_points;

// A settled part of a run.
typedef struct od_settling {
  double window, drift;  // s; relative change of the speed that is still none
  double least;          // s that it lasts
  bool drops_rise;       // leaves out what comes before the largest force of a direction
} od_settling;

// The force of friction from what a test bench measures (eq. 6.10): p1 A1 - p2 A2 - load - mass a.
typedef struct od_force_balance {
  bool given;
  const char *pressure[2], *load, *acceleration;  // columns; acceleration NULL: from the velocity
  double area[2], mass;
  double pressure_sigma, load_sigma, acceleration_sigma, area_sigma, mass_sigma;  // area: relative
} od_force_balance;

// A run that is not simulated from its own pieces: the columns of a file, or what the sensors of an experiment say about its true machine.
typedef struct od_friction_log {
  od_experiment *experiment;  // NULL: a file
  const char *file, *time, *velocity, *force, *position;
  const char *pressure[2];  // columns; NULL: those of the balance, if there is one
  double skip;              // s, not fitted
  double smooth;            // s: over so long the speed is smoothed before anything else; 0: it is not
  od_force_balance balance;
} od_friction_log;

// Pairs of chamber pressures at which parameters are estimated, and how they depend on them in the true law.
typedef enum od_map_form { OD_MAP_LINEAR, OD_MAP_SATURATING, OD_MAP_TABLE } od_map_form;
enum { OD_MOST_AXIS = 20, OD_MOST_PAIRS = OD_MOST_AXIS * OD_MOST_AXIS };
typedef struct od_map_change {
  int number;    // of the true law
  double by[2];  // part of itself per pressure of either chamber, 1/Pa
} od_map_change;
typedef struct od_map_plan {
  bool given;
  od_map_form form;
  double normal[2];  // where the true numbers hold
  double limit;      // pressure over which they saturate; 0: they do not
  int pairs, changes;
  double pressure[OD_MOST_PAIRS][2];
  const char *log[OD_MOST_PAIRS];  // NULL: simulated
  od_map_change change[OD_MOST_LAW_NUMBERS];
} od_map_plan;

typedef struct od_friction_plan {
  od_document *file;
  const char *title, *path;
  od_law_numbers *set;
  int sets;
  bool simulates;
  od_law_numbers truth, start;
  int parameter[OD_MOST_LAW_NUMBERS], parameters;  // numbers of the law that are searched
  bool log_scale;
  od_friction_method method;
  od_ls_method search;
  double start_factor, step_tolerance, accept;
  double normal[2];     // pressures at which the numbers hold
  double start_spread;  // random starts are up to so many times the start, or the start divided by it
  long evaluations;
  int restarts, substeps, polish, data_substeps;  // polish: substeps of the last search, 0: none
  double noise;                                   // standard deviation of the force of a log; 0: found from it
  double tolerance;                               // of parameters, relative: a run counts as found within it
  od_film_by film_by;
  double film_time[2], bristle_time[2];  // s, parts of the run that the sequential method takes
  od_friction_points points;
  od_settling settling;
  bool has_run;
  od_velocity_run run;  // simulated; no pieces: logged
  double vary;          // how much pieces of the run differ from seed to seed, relative
  od_friction_error run_error;
  od_friction_log log;
  od_map_plan map;
  uint64_t seed;
} od_friction_plan;

typedef struct od_friction_options {
  const char *const *set;
  int set_count;
  const char *truth, *variant, *log;  // instead of the file's
  od_content content;                 // of the file, where it has been read already
} od_friction_options;

od_status od_friction_plan_load(const char *path, const od_friction_options *options, od_friction_plan **out,
                                od_messages *messages);
void od_friction_plan_free(od_friction_plan *plan);

#endif
