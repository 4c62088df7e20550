// Guards: each sensor has a guard that decides whether its value is used, in case the sensor or the filter is wrong.
//
//   gate      An innovation beyond this many standard deviations is rejected as a spike.
//   settling  After a poor start the variance of a linearizing filter is too small after its first corrections. Until its innovations
//             are consistent, the gate of a sensor is wide. It is settled when a running mean of their normalized squares, which
//             starts at that of the gate, has decreased to 2.
//   frozen    A value that repeats exactly does not come from a sensor with noise: it is rejected, also within the gate.
//   patience  After this many rejections in a row of a sensor that is not frozen, the filter is taken to be wrong: the sensor is used
//             again, after the uncertainty of the states has been increased to match the innovation.
#ifndef OD_GUARD_H
#define OD_GUARD_H

#include "oleodyn/observer.h"

typedef struct od_guard {
  double mean, last;             // running mean of normalized squares, negative once settled; the last value
  long same, out;                // repetitions of it so far; times in a row beyond the gate
  long gated, frozen, reopened;  // counts
} od_guard;

typedef struct od_guard_rules {
  double gate;   // 0: none
  int patience;  // of the gate
  int frozen;    // this many equal values in a row are a fault; 0: no check
} od_guard_rules;

void od_guard_start(od_guard *g, const od_guard_rules *rules);
// Decides about a value whose innovation has the normalized square nis. *reopen: use it after the uncertainty has been increased.
od_sensor_use od_guard_judge(od_guard *g, const od_guard_rules *rules, double measured, double nis, int *reopen);

#endif
