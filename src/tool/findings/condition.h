// A condition on outputs during a run: when and how long the condition held, and how far its value exceeded the limit.
//
// The value of a condition is v = s - limit or v = |s| - limit, with s = gain y[column] + second_gain y[second] -
// center. The condition begins when v rises above zero. When v falls below -margin, the condition ends; its end is the
// last time at which v fell to zero. The margin merges intervals that noise or ripple would separate. Times between
// steps are interpolated linearly.
#ifndef OD_FINDINGS_CONDITION_H
#define OD_FINDINGS_CONDITION_H

#include <stdbool.h>

enum { OD_MOST_COMPANIONS = 3 };

typedef struct od_condition {
  int column, second;  // columns of the outputs; second -1: none
  double gain, second_gain, center, limit, margin;
  bool is_magnitude;
  int companion[OD_MOST_COMPANIONS];  // columns of further outputs whose values are recorded; -1: none
} od_condition;

typedef struct od_span {
  double from, to;  // s
} od_span;

// The record of a condition. The struct contains no addresses, so it can be copied.
typedef struct od_condition_record {
  bool has_point, holds;
  bool held_at_start;  // whether the condition held at the first point
  double start, t, v;  // time of the first point; time and value of the last point
  double crossed;      // time at which v last fell to zero, while `holds`; NAN: v is above zero
  long count;          // number of times that the condition began, including the first point
  double total;        // time with v > 0, s
  od_span now, first, longest;
  double high, high_at, low, low_at;  // extremes of v over the whole run, and their times
  double integral;                    // integral of v over time
  double largest_jump;                // largest magnitude of a change of v at one time (jumps of inputs or states)
  struct {
    double begin;      // value when the condition first begins after the start
    double at_high;    // value at the time of `high`
    double low, high;  // extremes while the condition holds
  } with[OD_MOST_COMPANIONS];
} od_condition_record;

// Initializes the record of a condition, before the first point.
void od_condition_begin(od_condition_record *r);
// Returns the value of a condition.
double od_condition_value(const od_condition *c, const double *y);
// Adds the point at time t. Returns true if the condition has begun since the last point; *at is then the time at which
// the condition began.
bool od_condition_add(const od_condition *c, od_condition_record *r, double t, const double *y, double *at);
// Ends the interval that is open at the end of the run.
void od_condition_end(od_condition_record *r);

#endif
