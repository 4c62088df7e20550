// Inverse dynamics of a prescribed motion: efforts of drives over time, and pressures and flows of cylinders and motors.
#ifndef OD_INVERSE_RUN_H
#define OD_INVERSE_RUN_H

#include "base/arena.h"
#include "inverse/trajectory.h"
#include "io/table.h"
#include "io/verdict.h"
#include "machine/below_zero.h"
#include "oleodyn/machine.h"
#include "plant/inverse.h"
#include "result/result.h"

// The rule for the pressures on the two sides of a cylinder or motor.
typedef enum od_pressure_rule {
  OD_RULE_BACK,  // the passive chamber has the back pressure; no chamber has a lower pressure
  OD_RULE_SUM,   // the sum of both pressures is constant, as with a symmetric servo valve
} od_pressure_rule;

typedef struct od_inverse_options {
  double begin, end, step;  // s
  int moves;                // number of moved outputs: the degrees of freedom of the machine
  int loose;                // number of joint coordinates that move freely from the initial state: the last entries of
                            // `moved`
  const int *moved;         // moved outputs: the prescribed outputs, then the loose coordinates
  const od_trajectory *motion;  // motion of each prescribed output
  int drives;
  const od_drive *drive;
  const int *outputs;  // additional recorded outputs
  int output_count;
  od_pressure_rule rule;
  double pressure;        // pressure of the rule, Pa
  double pump_flow;       // available flow, m3/s; 0: not given
  double pressure_limit;  // Pa; 0: not given
  bool (*progress)(void *user, double done);
  void *user;
} od_inverse_options;

// The columns of a drive in the table; -1: the drive has no such column.
typedef struct od_drive_columns {
  int effort, speed, power;
  int length;                // length of an actuator with chambers
  int input;                 // input of a load that has an input
  int pressure[2], flow[2];  // columns of each chamber; motor: only the first entries, pressure difference and flow
} od_drive_columns;

// A friction element without states, and the rows in which its speed is below build_up_speed.
typedef struct od_standstill {
  int instance;
  double build_up_speed;         // speed above which the force is fully built up, m/s or rad/s
  double breakaway, exponent;    // breakaway force with a factor of 1; exponent of the factor
  double largest;                // breakaway force with the largest factor at standstill
  long rows, rows_of_interval;   // number of rows at standstill, in total and in the current interval
  double first, interval_begin;  // first time at standstill, and beginning of the current interval, s
} od_standstill;

typedef struct od_inverse_result {
  od_arena arena;             // owns all arrays below
  od_table *table;            // time, moved outputs, drives, sums, additional outputs
  od_drive_columns *columns;  // columns of each drive
  int supply_flow, power;     // columns of the total flow into all chambers (-1: no oil), and of the total power
  od_standstill *still;
  int stills;
  od_below_zero *signal;
  int signals;
  double *noise;   // for each drive: largest standard deviation of its effort due to noise of sampled motions
  double *ends;    // for each drive: error of its effort in the first and the last row, where polynomials are
                   // one-sided
  double *coarse;  // for each drive: part of its effort due to second derivatives that the samples do not resolve
  double *
      compression;  // for each drive: the largest flow that compresses the oil of a chamber, m3/s, from differences of rows

  // For each column: the largest and the smallest value at peaks between rows, and their times. A peak is an extreme value of a
  // motion, of its rate, of its second derivative or of an input.
  double *most, *least, *most_at, *least_at;
  double loose_error;  // estimated final error of freely moving coordinates, relative to their ranges
  od_verdict verdict;
} od_inverse_result;

// --- inverse_drives.c

// Returns whether an element can be a drive: pressures drive the elements of its class.
bool od_drive_can_be(const od_model *m, int instance);
bool od_drive_is_chosen(const od_inverse_options *options, od_drive_kind kind, int index);
// Returns whether the effort of a drive is a torque.
bool od_drive_turns(const od_model *m, const od_drive *drive);
// Finds a drive by name: an actuator, a force, a torque or a joint. Returns false if no drive has this name.
bool od_inverse_find_drive(const od_machine *machine, const char *name, od_drive *out);
// Lists the default drives: all actuators or, in a machine without actuators, all forces and torques with an input. Writes at
// most `room` drives. Returns their number.
int od_inverse_usual_drives(const od_machine *machine, od_drive *out, int room);
// Lists the joints of the moved outputs. Returns their number; 0: one of the outputs is not a joint coordinate.
int od_inverse_joint_drives(const od_machine *machine, const int *moved, int count, od_drive *out);
// Return the name of a drive, and its kind ("cylinder").
const char *od_inverse_drive_name(const od_machine *machine, const od_drive *drive);
const char *od_inverse_drive_noun(const od_machine *machine, const od_drive *drive);
// Returns the sum of the rated flows of all pumps of a machine, m3/s. 0: no pump has a rated flow, or a signal replaces the rated
// flow of a pump.
double od_inverse_pump_flow(const od_machine *machine);

// --- drive_oil.c

// Pressures and flows that an actuator requires at its ends.
typedef struct od_oil_need {
  double pressure[2], flow[2];  // pressure and flow at each end, Pa and m3/s
  double difference;            // pressure[0] - pressure[1]
  double volume[2];             // volume of the oil at each end, m3
  double supply;                // inflow at the ends without a tank; motor: magnitude of the flow; m3/s
} od_oil_need;
// Returns the number of chambers whose pressures drive the element; 0: a pressure difference drives the element, or the drive is
// not an element.
int od_drive_chambers(const od_model *m, const od_drive *drive);
// Returns whether an end of an element is at a tank. If so, *pressure is the pressure of the tank.
bool od_drive_end_is_tank(const od_model *m, int instance, int end, double *pressure);
// Returns the pressures at which an actuator has the effort `effort` (N or N m) at the last solution of `inverse`, and
// the flows and volumes at these pressures. The pressures are infinite or NAN if no pressures give this effort.
od_oil_need od_drive_oil_need(const od_model *m, const od_inverse *inverse, const od_inverse_options *options,
                              int instance, double effort);
// Returns the bulk modulus of the oil at a pressure, Pa; 0: there is no oil.
double od_drive_oil_modulus(const od_model *m, double pressure);

// --- inverse_run.c

// Computes the inverse dynamics. On failure err contains the reason, and the table contains the rows computed so far (NULL: none). Free the result in
// all cases. Fails with OD_BAD_INPUT, OD_INTERRUPTED or OD_NO_MEMORY, or with a status of od_inverse_solve(): OD_NOT_CONVERGED or OD_NOT_FINITE if a
// position cannot be reached, OD_SINGULAR if the prescribed outputs do not determine the motion or the drives cannot produce it.
od_status od_inverse_run(const od_machine *machine, const od_inverse_options *options, od_inverse_result *out,
                         od_error *err);
void od_inverse_result_free(od_inverse_result *result);

// --- Remarks. If out of memory, the verdict is incomplete.

// Adds all remarks about the result to the verdict (inverse_verdict.c).
void od_inverse_judge(const od_machine *machine, const od_inverse_options *options, od_inverse_result *result);
// Adds remarks about the motion itself (motion_verdict.c): jumps, noise and resolution of samples, rows that miss peaks.
void od_motion_judge(const od_machine *machine, const od_inverse_options *options, od_inverse_result *result);
// Friction elements without states at standstill (standstill.c). The functions find these elements (false: out of memory), check
// one row, and add remarks.
bool od_standstills_find(const od_model *m, od_inverse_result *result);
void od_standstills_watch(const od_model *m, od_inverse *inverse, double t, od_inverse_result *result);
void od_standstills_judge(const od_model *m, double step, od_inverse_result *result);
// Adds remarks about signals that keep their initial values (kept_signals.c).
void od_kept_signals_judge(const od_model *m, const od_inverse_options *options, od_verdict *verdict);

// --- Result of the command: peaks of all quantities, how the rates of samples were computed, the pressure rule, the verdict

typedef struct od_inverse_findings {
  const od_machine *machine;
  const od_inverse_options *options;
  const od_inverse_result *run;  // has a table with rows
  const char *message;           // reason for an early stop, or NULL
} od_inverse_findings;

// Creates the result of the command. The findings must outlive the result.
od_result od_inverse_findings_result(const od_inverse_findings *f);
// Draws the table. `user` points to an od_inverse_findings. Fails with OD_IO or OD_NO_MEMORY.
od_status od_inverse_findings_write_plot(const void *user, const char *path, od_error *err);

#endif
