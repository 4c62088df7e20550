// What a machine is required to do: bounds on its outputs in a time window, margins of its loops, sizes of accumulators and
// hoses. The room `requirements` judges them; here is what the file says, in SI.
#ifndef OD_MACHINE_REQUIREMENT_H
#define OD_MACHINE_REQUIREMENT_H

#include <stdbool.h>

#include "oleodyn/machine.h"

typedef enum od_requirement_kind {
  OD_REQUIRE_MAX,           // the signal is at most the bound
  OD_REQUIRE_MIN,           // and at least
  OD_REQUIRE_WITHIN,        // its magnitude is at most the bound
  OD_REQUIRE_RMS,           // its root mean square is
  OD_REQUIRE_SETTLING,      // from so long after the beginning of the window on its magnitude is at most `band`
  OD_REQUIRE_OVERSHOOT,     // it goes at most so much, as a part of its step, beyond the reference at the window's end
  OD_REQUIRE_PHASE_MARGIN,  // of a loop, rad, at least
  OD_REQUIRE_GAIN_MARGIN,   // of a loop, as a factor, at least
  OD_REQUIRE_ACCUMULATOR,   // the volume that is needed is at most that of the accumulator
  OD_REQUIRE_HOSE_LOSS,     // the pressure that a hose takes is at most the bound
  OD_REQUIRE_HOSE_SPEED,    // the oil in it is at most so fast
} od_requirement_kind;

// The signal that is judged: output - reference, as a part of the magnitude of another output where `relative` is given.
typedef struct od_requirement_signal {
  int output;     // of the machine
  int reference;  // output of the machine; -1: the constant
  double constant;
  int relative;  // output of the machine; -1: the signal itself counts
} od_requirement_signal;

// An accumulator beside a pump that supplies the mean flow of the window.
typedef struct od_accumulator_size {
  double volume, precharge;
  int pressure;           // output whose range in the window counts; -1: the range is given
  double low, high;       // Pa
  double precharge_part;  // of the least pressure, where there is no precharge (0)
  double exponent, correction, safety;
} od_accumulator_size;

typedef struct od_hose_size {
  double diameter, length, density, viscosity;
} od_hose_size;

typedef struct od_requirement {
  const char *name, *text;  // text: NULL where there is none
  const char *unit;         // of the bound
  int line, column;         // where it stands
  od_requirement_kind kind;
  od_requirement_signal signal;  // of a loop: the output where it is looked at; of an accumulator or a hose: its flow
  double from, to;               // the window, s; `to` NAN: the end of the run
  double bound, band;
  const char *band_unit;  // of settling
  int input;              // of a loop: the one that comes in there; -1: the only one
  double at;              // of a loop: the time of the operating point; 0: the initial state
  od_accumulator_size accumulator;
  od_hose_size hose;
} od_requirement;

// Whether it is judged by a run over time.
static inline bool od_requirement_is_of_run(const od_requirement *q) {
  return q->kind != OD_REQUIRE_PHASE_MARGIN && q->kind != OD_REQUIRE_GAIN_MARGIN;
}
// Whether larger is better.
static inline bool od_requirement_is_least(const od_requirement *q) {
  return q->kind == OD_REQUIRE_MIN || !od_requirement_is_of_run(q);
}

// The machine's, in the order of its file.
const od_requirement *od_machine_requirements(const od_machine *machine, int *count);

#endif
