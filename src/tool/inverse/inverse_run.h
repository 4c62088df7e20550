// What a prescribed motion asks of a machine: efforts of its drives over time, and pressures and flows of those that are cylinders and
// motors.
#ifndef OD_INVERSE_RUN_H
#define OD_INVERSE_RUN_H

#include "inverse/trajectory.h"
#include "io/table.h"
#include "io/verdict.h"
#include "machine/below_zero.h"
#include "oleodyn/machine.h"
#include "plant/inverse.h"

// Which pressure the other side of a cylinder or motor has.
typedef enum od_pressure_rule {
  OD_RULE_BACK,  // the chamber that does not work has the back pressure; no chamber has less
  OD_RULE_SUM,   // both pressures add up to a constant, as with a symmetric servo valve
} od_pressure_rule;

typedef struct od_inverse_options {
  double begin, end, step;  // s
  int moves;         // as many as the machine has degrees of freedom; the last `loose` of them, joint coordinates,
  int loose;         // move on their own from the machine's initial state on
  const int *moved;  // outputs
  const od_trajectory *motion;  // of each
  int drives;
  const od_drive *drive;
  const int *outputs;  // what else is recorded
  int output_count;
  od_pressure_rule rule;
  double pressure;        // of the rule, Pa
  double pump_flow;       // what there is, m3/s; 0: nobody says
  double pressure_limit;  // Pa; 0: nobody says
  bool (*progress)(void *user, double done);
  void *user;
} od_inverse_options;

// What of the table belongs to a drive.
typedef struct od_drive_columns {
  int effort, speed, power;                    // always
  int length;                                  // of a cylinder; -1
  int input;                                   // of a load with an input: that input; -1
  int pressure_a, pressure_b, flow_a, flow_b;  // of a cylinder; a motor has pressure_a, its difference, and flow_a; -1
} od_drive_columns;

// A friction without states, and where the motion stands still for it.
typedef struct od_standstill {
  int instance;
  double reach;            // speed that its law needs to build up
  double friction, power;  // to be overcome, with a factor of 1; the power of the factor that it has
  double band;             // the same with the largest factor where it stood still
  long rows, together;     // so many; of the present stretch
  double first, began;     // s: when at first; the present stretch
} od_standstill;

typedef struct od_inverse_result {
  od_table *table;            // time, moved outputs, drives, sums, further outputs
  od_drive_columns *columns;  // of each drive
  int supply_flow, power;     // columns of what flows into all chambers together (-1: no oil), and of all power
  od_standstill *still;
  int stills;
  od_below_zero *signal;
  int signals;
  double *noise;   // of each drive: the largest standard deviation of its effort by noise of sampled motions
  double *ends;    // errors of its effort in the first and the last row, where polynomials of samples are one-sided
  double *coarse;  // and what of its effort is due to second rates that the samples are too few for
  // Of each column: its extremes where value, rate or second rate of a motion is largest or least, between rows, and when.
  double *most, *least, *most_at, *least_at;
  double loose_error;  // of coordinates that move on their own: how far off they may be in the end, of their ranges
  od_verdict verdict;
} od_inverse_result;

// inverse_drives.c: whether an element is a cylinder or motor; whether what a drive does is a torque.
bool od_drive_can_be(const od_model *m, int instance);
bool od_drive_turns(const od_model *m, const od_drive *drive);
// Drives of a machine: by name (a cylinder, a motor, a force or torque, a joint). False: there is none of that name.
bool od_inverse_find_drive(const od_machine *machine, const char *name, od_drive *out);
// All cylinders and motors; where there are none, all forces and torques with an input; else none. At most `room`; returns how many.
int od_inverse_usual_drives(const od_machine *machine, od_drive *out, int room);
// The joints of the moved outputs (count); 0: one of them is no joint coordinate.
int od_inverse_joint_drives(const od_machine *machine, const int *moved, int count, od_drive *out);
// The name of a drive, and what kind it is ("cylinder").
const char *od_inverse_drive_name(const od_machine *machine, const od_drive *drive);
const char *od_inverse_drive_noun(const od_machine *machine, const od_drive *drive);
// The flow of all pumps of a machine, m3/s; 0: it has none whose flow is known.
double od_inverse_pump_flow(const od_machine *machine);

// On failure err says why; the table has what was computed until then. Free the result in any case.
od_status od_inverse_run(const od_machine *machine, const od_inverse_options *options, od_inverse_result *out,
                         od_error *err);
void od_inverse_result_free(od_inverse_result *result);

// inverse_verdict.c: adds what speaks against the motion. False: memory ran out.
bool od_inverse_judge(const od_machine *machine, const od_inverse_options *options, od_inverse_result *result);

// motion_verdict.c: what speaks against the motion itself: jumps, noise and resolution of samples, rows that miss its peaks.
bool od_motion_judge(const od_machine *machine, const od_inverse_options *options, od_inverse_result *result);

// standstill.c: frictions without states; a row; what is said about them. False: memory ran out.
bool od_standstills_find(const od_model *m, od_inverse_result *result);
void od_standstills_watch(const od_model *m, od_inverse *inverse, double t, od_inverse_result *result);
bool od_standstills_judge(const od_model *m, double step, od_inverse_result *result);

// kept_signals.c: signals that stay at what they are at the start. False: memory ran out.
bool od_kept_signals_judge(const od_model *m, const od_inverse_options *options, od_verdict *verdict);

// drive_oil.c: areas of a cylinder; pressures and flows that a drive needs.
typedef struct od_drive_oil {
  bool cylinder, motor;
  double area_a, area_b;  // a motor: displacement in area_a
  double closed, stroke, dead_a, dead_b;
  double leakage, viscous;
  double tank_a, tank_b;  // pressures of chambers of a cylinder that are tanks; NAN: they are not
} od_drive_oil;
od_drive_oil od_drive_oil_of(const od_model *m, const od_drive *drive);
typedef struct od_oil_need {
  double pressure_a, pressure_b, flow_a, flow_b;
  double supply;  // what flows in and is not from a tank at the chamber itself
} od_oil_need;
// signal: what swivels a motor; 1 where nothing does.
od_oil_need od_drive_oil_need(const od_drive_oil *oil, const od_inverse_options *options, double signal, double effort,
                              double speed);
// The oil's bulk modulus at a pressure, Pa; 0: there is no oil.
double od_drive_oil_modulus(const od_model *m, double pressure);

#endif
