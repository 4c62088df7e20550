// Segments of a signal. Each segment begins with the last value of the previous segment.
#ifndef OD_SEQUENCE_H
#define OD_SEQUENCE_H

#include <stdbool.h>

// Kinds of segments. The comments list the numbers of a segment after kind and duration (s).
typedef enum od_segment_kind {
  OD_SEGMENT_HOLD,         // constant
  OD_SEGMENT_STEP,         // to: jumps to this value
  OD_SEGMENT_RAMP,         // to: changes linearly to this value
  OD_SEGMENT_HALF_COSINE,  // to: follows a half-cosine to this value
  OD_SEGMENT_SINE,         // amplitude, frequency (Hz), phase (rad): a sine, shifted so that it starts at the last
                           // value of the previous segment
  OD_SEGMENT_LAGGED_STEP,  // to, time constant (s): a step to this value through a first-order lag
  OD_SEGMENT_KINDS,
} od_segment_kind;

enum { OD_SEGMENT_NUMBERS = 5 };  // count of numbers of each segment: kind, duration and up to three more

// Returns whether the numbers of a segment are valid: a known kind, a positive duration and, for a lagged step, a
// positive time constant.
bool od_segment_is_one(const double *segment);
// Return the value, or its exact derivative of order 1 to 3, at `since` seconds after a segment began with the value `from`.
double od_segment_value(const double *segment, double from, double since);
double od_segment_derivative(const double *segment, double from, double since, int order);
// Returns the derivative of order 0 to 3 of amplitude * sin(phase) with respect to time, where the phase has the constant rate
// omega.
double od_sine_derivative(double amplitude, double omega, double phase, int order);
// Returns the value at the end of a segment.
double od_segment_end(const double *segment, double from);

// The density of values v: floor + peak exp(-rate v).
typedef struct od_density {
  double peak, rate, floor;
} od_density;

// Returns value i (0 .. count - 1) of `count` values from low to high, both included, with equal areas under the density between
// neighbors. Returns NAN if the density is not positive and finite everywhere.
double od_density_place(const od_density *density, double low, double high, int count, int i);

#endif
