// Requirements of a machine: bounds of its outputs in a time window, margins of its loops, sizes of accumulators and hoses. This
// header holds the contents of the file in SI; the module `requirements` judges them.
#ifndef OD_MACHINE_REQUIREMENT_H
#define OD_MACHINE_REQUIREMENT_H

#include <stdbool.h>

#include "oleodyn/machine.h"

typedef enum od_requirement_kind {
  OD_REQUIRE_MAX,           // the signal is at most the bound
  OD_REQUIRE_MIN,           // the signal is at least the bound
  OD_REQUIRE_WITHIN,        // the magnitude of the signal is at most the bound
  OD_REQUIRE_RMS,           // its root mean square is at most the bound
  OD_REQUIRE_SETTLING,      // after this time from the start of the window its magnitude is at most `band`
  OD_REQUIRE_OVERSHOOT,     // overshoot beyond the reference at the window's end, relative to the step, at most
  OD_REQUIRE_PHASE_MARGIN,  // of a loop, rad, at least
  OD_REQUIRE_GAIN_MARGIN,   // of a loop, as a factor, at least
  OD_REQUIRE_ACCUMULATOR,   // the required volume is at most that of the accumulator
  OD_REQUIRE_HOSE_LOSS,     // the pressure loss of a hose is at most the bound
  OD_REQUIRE_HOSE_SPEED,    // the speed of the oil in a hose is at most the bound
} od_requirement_kind;

// The judged signal: output - reference, relative to the magnitude of another output if `relative` is given.
typedef struct od_requirement_signal {
  int output;     // of the machine
  int reference;  // output of the machine; -1: the constant
  double constant;
  int relative;  // output of the machine; -1: the signal is absolute
} od_requirement_signal;

// An accumulator at a pump that supplies the mean flow of the window.
typedef struct od_accumulator_size {
  double volume, precharge;
  int pressure;           // output whose range in the window is used; -1: the range is given
  double low, high;       // Pa
  double precharge_part;  // relative to the least pressure, if there is no precharge (0)
  double exponent, correction, safety;
} od_accumulator_size;

typedef struct od_hose_size {
  double diameter, length, density, viscosity;
} od_hose_size;

typedef struct od_requirement {
  const char *name, *text;  // text: NULL: none
  const char *unit;         // of the bound
  int line, column;         // place in the file
  od_requirement_kind kind;
  od_requirement_signal signal;  // of a loop: the output at which it is opened; of an accumulator or a hose: its flow
  double from, to;               // the window, s; `to` NAN: the end of the run
  double bound, band;
  const char *band_unit;  // of settling
  int input;              // of a loop: the input at that point; -1: the only one
  double at;              // of a loop: the time of the operating point, s; 0: the initial state
  od_accumulator_size accumulator;
  od_hose_size hose;
} od_requirement;

// Whether a run over time judges the requirement.
static inline bool od_requirement_is_of_run(const od_requirement *q) {
  return q->kind != OD_REQUIRE_PHASE_MARGIN && q->kind != OD_REQUIRE_GAIN_MARGIN;
}
// Whether the bound is a lower bound.
static inline bool od_requirement_is_least(const od_requirement *q) {
  return q->kind == OD_REQUIRE_MIN || !od_requirement_is_of_run(q);
}

// The requirements of the machine, in the order of its file. The machine owns them.
const od_requirement *od_machine_requirements(const od_machine *machine, int *count);

#endif
