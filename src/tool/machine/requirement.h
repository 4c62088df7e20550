// Requirements of a machine: bounds of its outputs in a time window, margins of its loops, sizes of accumulators and hoses. This
// header contains the values from the file in SI units; the module `requirements` evaluates the requirements.
#ifndef OD_MACHINE_REQUIREMENT_H
#define OD_MACHINE_REQUIREMENT_H

#include <stdbool.h>

#include "oleodyn/machine.h"

typedef enum od_requirement_kind {
  OD_REQUIRE_MAX,       // the signal is at most the bound
  OD_REQUIRE_MIN,       // the signal is at least the bound
  OD_REQUIRE_WITHIN,    // the magnitude of the signal is at most the bound
  OD_REQUIRE_RMS,       // the root mean square of the signal is at most the bound
  OD_REQUIRE_SETTLING,  // the time from the window's start until the magnitude stays within `band` is at most the bound
  OD_REQUIRE_OVERSHOOT,     // the overshoot beyond the final reference, relative to the step, is at most the bound
  OD_REQUIRE_PHASE_MARGIN,  // the phase margin of a loop, rad, is at least the bound
  OD_REQUIRE_GAIN_MARGIN,   // the gain margin of a loop, as a factor, is at least the bound
  OD_REQUIRE_ACCUMULATOR,   // the required volume is at most the volume of the accumulator
  OD_REQUIRE_HOSE_LOSS,     // the pressure loss of a hose is at most the bound
  OD_REQUIRE_HOSE_SPEED,    // the speed of the oil in a hose is at most the bound
} od_requirement_kind;

// The judged signal: output - reference. If `relative` is given, the signal is divided by the magnitude of the output
// `relative`.
typedef struct od_requirement_signal {
  int output;     // index of the judged output
  int reference;  // index of the output that is the reference; -1: the reference is `constant`
  double constant;
  int relative;  // index of the output by whose magnitude the signal is divided; -1: the signal is absolute
} od_requirement_signal;

// Data for the size of an accumulator next to a pump that supplies the mean flow of the window.
typedef struct od_accumulator_size {
  double volume, precharge;  // m3, Pa; 0: not given
  int pressure;              // index of the output whose range in the window is used; -1: `low` and `high` are given
  double low, high;          // lowest and highest pressure, Pa
  double precharge_part;     // precharge relative to the lowest pressure; used if `precharge` is 0 (not given)
  double exponent, correction, safety;
} od_accumulator_size;

typedef struct od_hose_size {
  double diameter, length, density, viscosity;  // m, m, kg/m3, Pa s
} od_hose_size;

typedef struct od_requirement {
  const char *name, *text;  // text NULL: none
  const char *unit;         // unit of the bound
  int line, column;         // place of the requirement in the file
  od_requirement_kind kind;
  od_requirement_signal signal;  // loop: output at which the loop is opened; accumulator or hose: output with the flow
  double from, to;               // start and end of the window, s; `to` NAN: the end of the run
  double bound, band;
  const char *band_unit;  // unit of `band`
  int input;              // loop: input that enters at `signal`; -1: the only input
  double at;              // loop: time of the operating point, s; 0: the initial state
  od_accumulator_size accumulator;
  od_hose_size hose;
} od_requirement;

// Returns whether the requirement is evaluated in a run over time.
static inline bool od_requirement_is_of_run(const od_requirement *q) {
  return q->kind != OD_REQUIRE_PHASE_MARGIN && q->kind != OD_REQUIRE_GAIN_MARGIN;
}
// Returns whether the bound is a lower bound.
static inline bool od_requirement_is_least(const od_requirement *q) {
  return q->kind == OD_REQUIRE_MIN || !od_requirement_is_of_run(q);
}

// Returns the requirements of the machine, in the order of its file. The machine owns the requirements.
const od_requirement *od_machine_requirements(const od_machine *machine, int *count);

#endif
