// Guards: each sensor has a guard, which determines whether the filter uses the sensor's value. Guards detect errors of sensors and of
// the filter.
//
//   gate      An innovation beyond this many standard deviations is rejected as a spike.
//   settling  After a poor start, the first corrections of a linearizing filter leave a variance that is too small. Until the
//             innovations of a sensor are consistent, its gate is wide. The sensor is settled when a running mean of the
//             normalized squares of its innovations has decreased to 2. The mean starts at the square of the gate.
//   frozen    A value that repeats exactly does not come from a sensor with noise. Such a value is rejected, also within the gate.
//   patience  After this many consecutive rejections of a sensor that is not frozen, the filter is assumed to be wrong. The
//             sensor is used again, after the uncertainty of the states has been increased to match the innovation.
#ifndef OD_GUARD_H
#define OD_GUARD_H

#include "oleodyn/observer.h"

typedef struct od_guard {
  double mean, last;  // running mean of the normalized squares of innovations (negative: the sensor is settled); the
                      // last measured value
  long same, out;     // number of repetitions of the last value so far; number of consecutive values beyond the gate
  // Numbers of values rejected by the gate, of frozen values, and of uses after `patience` rejections.
  long gated, frozen, reopened;
} od_guard;

typedef struct od_guard_rules {
  double gate;   // largest accepted innovation, in standard deviations; 0: no gate
  int patience;  // consecutive rejections by the gate before the sensor is used again
  int frozen;    // number of consecutive equal values that is a fault; 0: no check
} od_guard_rules;

// Resets the guard of a sensor to its state before the first sample: no previous value, and all counts zero.
void od_guard_start(od_guard *g, const od_guard_rules *rules);
// Returns how a measured value is used; nis: normalized square of its innovation. *reopen: whether the uncertainty must
// be increased before the value is used.
od_sensor_use od_guard_judge(od_guard *g, const od_guard_rules *rules, double measured, double nis, int *reopen);

#endif
