// Input signals of a machine, as functions of time.
//
// Signals are compiled into one flat table, so their evaluation allocates nothing. A signal is a node; a sum refers to other
// nodes of the same table. Numbers are in one array, so that each number can have a path.
#ifndef OD_SIGNAL_H
#define OD_SIGNAL_H

#include "oleodyn/status.h"

typedef enum od_signal_kind {
  OD_SIGNAL_CONSTANT,  // value
  OD_SIGNAL_SINE,      // amplitude, frequency (Hz), phase (rad), offset, start (s); equals offset before start
  OD_SIGNAL_CHIRP,  // amplitude, from (Hz), to (Hz), duration (s), offset, start; flag: logarithmic sweep; offset outside
  OD_SIGNAL_STEPPED_SINE,  // amplitude, from (Hz), to (Hz), step (Hz), periods: whole periods at each frequency; zero afterward
  OD_SIGNAL_STEPS,         // initial value, then (time, value) pairs: jumps
  OD_SIGNAL_LAGGED_STEPS,  // time constant, initial value, then (time, value) pairs: jumps through a first-order lag
  OD_SIGNAL_RAMPS,         // (time, value) pairs connected by straight lines, constant outside
  OD_SIGNAL_HALF_COSINES,  // (time, value) pairs connected by half-cosines, constant outside
  OD_SIGNAL_PRBS,          // low, high, bit time (s), seed, order (register length 2..31)
  OD_SIGNAL_SUM,           // children
  OD_SIGNAL_SEQUENCE,  // initial value, then segments (signals/sequence.h) starting at time zero; constant before and after
  OD_SIGNAL_DERIVATIVE,  // one child: its exact derivative; jumps are ignored
  OD_SIGNAL_TABLE,       // samples (time, value) connected by straight lines, from a file
} od_signal_kind;

typedef struct od_signals od_signals;

// Creates an empty list of signals, freed with od_signals_free(). Returns NULL if an allocation fails.
od_signals *od_signals_new(void);
void od_signals_free(od_signals *s);

// Adds a node with its numbers (copied). Returns its index, or -1 if the count or the numbers are not valid for this kind, or if
// an allocation fails.
int od_signals_add(od_signals *s, od_signal_kind kind, int flag, const double *numbers, int count);
// Add the sum of earlier nodes, or the derivative of an earlier node that contains no derivative. Return the index of the new
// node, or -1 on failure.
int od_signals_add_sum(od_signals *s, const int *children, int count);
int od_signals_add_derivative(od_signals *s, int child);

// Returns the value of a node at time t. Allocates nothing and has no state. Bisection finds the interval of a table, so the cost
// grows with the logarithm of the number of samples.
double od_signal_value(const od_signals *s, int node, double t);
// Returns the exact derivative of a node at time t, from the right; jumps are ignored.
double od_signal_slope(const od_signals *s, int node, double t);
// Returns the exact derivative of order 1 or 2 at time t, from the right; jumps are ignored. Order 3 is allowed if the signal is
// not itself a derivative.
double od_signal_derivative(const od_signals *s, int node, double t, int order);
// Returns the (time, value) pairs of a table; NULL and 0 if the node is of another kind.
const double *od_signal_samples(const od_signals *s, int node, int *count);
// Returns the start times of the segments of a sequence, followed by its end time, s; NULL and 0 if the node is of another kind.
const double *od_signal_segments(const od_signals *s, int node, int *count);
// Returns the kind (od_segment_kind) and the final value of segment k of a sequence.
int od_signal_segment_kind(const od_signals *s, int node, int k);
double od_signal_segment_end(const od_signals *s, int node, int k);
// Returns the earliest time after t at which the signal, its slope or its second derivative may jump, or INFINITY. Between two such
// times the signal is smooth. Integrators restart at these times. Difference quotients must not span such a time.
double od_signal_next_break(const od_signals *s, int node, double t);
// Returns the first time after t, up to `until`, at which the sign changes, or INFINITY. If the signal is zero over an interval,
// the result is the end of this interval. Two changes within 1/32 of a period, or of an interval of a sum, may be missed.
double od_signal_next_reversal(const od_signals *s, int node, double t, double until);
// Returns a duration after t in which the signal changes its sign at most once. For a sine, the duration is 1/32 of the period; for
// a sum, 1/32 of the interval from t to `end`. Returns INFINITY for signals that are monotone between breaks.
double od_signal_pace(const od_signals *s, int node, double t, double end);
// Returns the interval of periodic jumps: the bit time of a binary sequence; INFINITY for signals with a finite number of jumps.
double od_signal_bit(const od_signals *s, int index);
// Returns the time after which the signal is constant (0 for a constant, INFINITY for a sine without an end). For lagged steps the
// result is five time constants after the last jump. For a binary sequence the result is the end of its first period.
double od_signal_duration(const od_signals *s, int node);

#endif
