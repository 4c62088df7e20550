// Who is wrong, the sensor or the filter? A guard stands before each sensor and lets its values in or keeps them out.
//
//   gate      An innovation beyond so many standard deviations is kept out: a spike.
//   settling  A filter that starts far off is, being linear, surer after its first corrections than it should be. Until
//             its innovations are as large as it expects, a sensor's gate is wide: settled when a running mean of their
//             normalized squares, which starts at that of the gate, has come down to 2.
//   frozen    The very same value again and again comes from no sensor with noise: it is kept out, whatever the
//             gate says.
//   patience  A sensor that lives and has been kept out so many times in a row is right, and the filter is wrong: it is let
//             in again, after the uncertainty of the states has been raised to what the innovation says.
#ifndef OD_GUARD_H
#define OD_GUARD_H

#include "oleodyn/observer.h"

typedef struct od_guard {
  double mean, last;             // running mean of normalized squares, negative once settled; the last value
  long same, out;                // repetitions of it so far; times in a row beyond the gate
  long gated, frozen, reopened;  // how often
} od_guard;

typedef struct od_guard_rules {
  double gate;   // 0: none
  int patience;  // of the gate
  int frozen;    // so many equal values in a row are a fault; 0: they are none
} od_guard_rules;

void od_guard_start(od_guard *g, const od_guard_rules *rules);
// What is to be done with a value whose innovation has the normalized square nis. *reopen: use it, after the uncertainty
// has been raised.
od_sensor_use od_guard_judge(od_guard *g, const od_guard_rules *rules, double measured, double nis, int *reopen);

#endif
