// Inverse dynamics of a prescribed motion: efforts of drives over time, and pressures and flows of cylinders and motors.
#ifndef OD_INVERSE_RUN_H
#define OD_INVERSE_RUN_H

#include "inverse/trajectory.h"
#include "io/table.h"
#include "io/verdict.h"
#include "machine/below_zero.h"
#include "oleodyn/machine.h"
#include "plant/inverse.h"

// The rule for the pressure on the other side of a cylinder or motor.
typedef enum od_pressure_rule {
  OD_RULE_BACK,  // the passive chamber has the back pressure; no chamber has less
  OD_RULE_SUM,   // the sum of both pressures is constant, as with a symmetric servo valve
} od_pressure_rule;

typedef struct od_inverse_options {
  double begin, end, step;  // s
  int moves;         // as many as the machine has degrees of freedom; the last `loose` of them, joint coordinates,
  int loose;         // move freely, beginning at the machine's initial state
  const int *moved;  // outputs
  const od_trajectory *motion;  // of each moved output
  int drives;
  const od_drive *drive;
  const int *outputs;  // further recorded outputs
  int output_count;
  od_pressure_rule rule;
  double pressure;        // of the rule, Pa
  double pump_flow;       // available, m3/s; 0: not given
  double pressure_limit;  // Pa; 0: not given
  bool (*progress)(void *user, double done);
  void *user;
} od_inverse_options;

// The columns of a drive in the table.
typedef struct od_drive_columns {
  int effort, speed, power;                    // always
  int length;                                  // of a cylinder; -1
  int input;                                   // of a load with an input: that input; -1
  int pressure_a, pressure_b, flow_a, flow_b;  // of a cylinder; a motor has pressure_a, its difference, and flow_a; -1
} od_drive_columns;

// A friction without states, and the rows in which its speed is zero.
typedef struct od_standstill {
  int instance;
  double reach;            // speed range over which its law builds up
  double friction, power;  // breakaway force with a factor of 1; the exponent of the factor
  double band;             // the same with the largest factor at standstill
  long rows, together;     // number of rows; of the present interval
  double first, began;     // s: first time; beginning of the present interval
} od_standstill;

typedef struct od_inverse_result {
  od_table *table;            // time, moved outputs, drives, sums, further outputs
  od_drive_columns *columns;  // of each drive
  int supply_flow, power;     // columns of the total flow into all chambers (-1: no oil), and of the total power
  od_standstill *still;
  int stills;
  od_below_zero *signal;
  int signals;
  double *noise;   // of each drive: the largest standard deviation of its effort by noise of sampled motions
  double *ends;    // errors of its effort in the first and the last row, where polynomials of samples are one-sided
  double *coarse;  // the part of its effort that is due to second derivatives which the samples do not resolve
  // For each column: its extremes at times where the value, rate or second derivative of a motion has an extreme between rows,
  // and these times.
  double *most, *least, *most_at, *least_at;
  double loose_error;  // of freely moving coordinates: estimated final error, relative to their ranges
  od_verdict verdict;
} od_inverse_result;

// inverse_drives.c: whether an element is a cylinder or motor; whether the effort of a drive is a torque.
bool od_drive_can_be(const od_model *m, int instance);
bool od_drive_turns(const od_model *m, const od_drive *drive);
// Drives of a machine: by name (a cylinder, a motor, a force or torque, a joint). False: there is none of that name.
bool od_inverse_find_drive(const od_machine *machine, const char *name, od_drive *out);
// All cylinders and motors; if there are none, all forces and torques with an input; else none. At most `room`. Returns their
// number.
int od_inverse_usual_drives(const od_machine *machine, od_drive *out, int room);
// The joints of the moved outputs (count); 0: one of them is not a joint coordinate.
int od_inverse_joint_drives(const od_machine *machine, const int *moved, int count, od_drive *out);
// The name of a drive, and its kind ("cylinder").
const char *od_inverse_drive_name(const od_machine *machine, const od_drive *drive);
const char *od_inverse_drive_noun(const od_machine *machine, const od_drive *drive);
// The flow of all pumps of a machine, m3/s; 0: no pump with a known flow.
double od_inverse_pump_flow(const od_machine *machine);

// On failure err contains the reason, and the table the rows computed so far. Free the result in any case.
od_status od_inverse_run(const od_machine *machine, const od_inverse_options *options, od_inverse_result *out,
                         od_error *err);
void od_inverse_result_free(od_inverse_result *result);

// inverse_verdict.c: adds remarks against the result. False: out of memory.
bool od_inverse_judge(const od_machine *machine, const od_inverse_options *options, od_inverse_result *result);

// motion_verdict.c: remarks against the motion itself: jumps, noise and resolution of samples, rows that miss its peaks.
bool od_motion_judge(const od_machine *machine, const od_inverse_options *options, od_inverse_result *result);

// standstill.c: finds frictions without states; processes a row; adds remarks. False: out of memory.
bool od_standstills_find(const od_model *m, od_inverse_result *result);
void od_standstills_watch(const od_model *m, od_inverse *inverse, double t, od_inverse_result *result);
bool od_standstills_judge(const od_model *m, double step, od_inverse_result *result);

// kept_signals.c: signals that keep their initial values. False: out of memory.
bool od_kept_signals_judge(const od_model *m, const od_inverse_options *options, od_verdict *verdict);

// drive_oil.c: areas of a cylinder; pressures and flows of a drive.
typedef struct od_drive_oil {
  bool cylinder, motor;
  double area_a, area_b;  // a motor: displacement in area_a
  double closed, stroke, dead_a, dead_b;
  double leakage, viscous;
  double tank_a, tank_b;  // pressures of chambers of a cylinder that are tanks; NAN: not tanks
} od_drive_oil;
od_drive_oil od_drive_oil_of(const od_model *m, const od_drive *drive);
typedef struct od_oil_need {
  double pressure_a, pressure_b, flow_a, flow_b;
  double supply;  // inflow that does not come from a tank at the chamber itself
} od_oil_need;
// signal: relative displacement of a motor; 1 without such a signal.
od_oil_need od_drive_oil_need(const od_drive_oil *oil, const od_inverse_options *options, double signal, double effort,
                              double speed);
// The oil's bulk modulus at a pressure, Pa; 0: there is no oil.
double od_drive_oil_modulus(const od_model *m, double pressure);

#endif
