// Spline: a smooth curve through points, linear beyond them. Use a spline for fitted characteristics, such as the static characteristic of
// a valve in series with a linear block. The output is linear in the values, and each value has an effect only near its point.
//
// Between two points the curve is a cubic. The slope of the curve at each point is the slope of the parabola through the
// point and its two neighbors (Bessel); at an end, of the parabola through the three points nearest to this end. Thus the
// curve has a continuous slope and reproduces a parabola exactly. Two points give a line.
#ifdef OD_BLOCK_TEXT
#define OD_BLOCK_SLOPES
#include "blocks/interval_x.h"

typedef struct X(numbers) {
  od_x at[1];  // abscissae (count: choice 0), then the values
} X(numbers);

// Returns the slope of the straight line from point i to the next point.
static inline od_x X(secant)(const od_x *at, const od_x *value, int i) {
  return (value[i + 1] - value[i]) / (at[i + 1] - at[i]);
}

static inline od_x X(slope)(const od_x *at, const od_x *value, int count, int i) {
  if (count == 2) return X(secant)(at, value, 0);
  int middle = i == 0 ? 1 : i == count - 1 ? count - 2 : i;
  od_x left = X(secant)(at, value, middle - 1), right = X(secant)(at, value, middle);
  od_x before = at[middle] - at[middle - 1], after = at[middle + 1] - at[middle];
  od_x bend = (right - left) / (before + after);
  if (i < middle) return left - before * bend;
  return i > middle ? right + after * bend : left + before * bend;
}

// Returns the index of the first or the last point if u is at or beyond this point; -1 if u is between the first and
// the last point.
static inline int X(end_of)(const od_x *at, int count, od_x u) {
  return RE(u) <= RE(at[0]) ? 0 : RE(u) >= RE(at[count - 1]) ? count - 1 : -1;
}

static inline void X(evaluate)(const X(numbers) * q, X(block) b) {
  int count = b.s->choice[0], end = X(end_of)(q->at, count, b.u[0]);
  const od_x *at = q->at, *value = q->at + count;
  od_x u = b.u[0];
  if (end >= 0) {
    b.y[0] = value[end] + X(slope)(at, value, count, end) * (u - at[end]);
    return;
  }
  int i = X(interval_of)(at, count, u).first;
  od_x h = at[i + 1] - at[i], t = (u - at[i]) / h, s = 1 - t;
  b.y[0] = value[i] * (1 + 2 * t) * s * s + value[i + 1] * t * t * (3 - 2 * t) +
           h * t * s * (X(slope)(at, value, count, i) * s - X(slope)(at, value, count, i + 1) * t);
}

#ifndef OD_COMPLEX
static inline void slopes(const numbers_r *q, block_r b, double *by) {
  int count = b.s->choice[0], end = end_of_r(q->at, count, b.u[0]);
  const double *at = q->at, *value = q->at + count;
  if (end >= 0) {
    by[0] = slope_r(at, value, count, end);
    return;
  }
  int i = interval_of_r(at, count, b.u[0]).first;
  double h = at[i + 1] - at[i], t = (b.u[0] - at[i]) / h, s = 1 - t;
  by[0] = 6 * t * s * (value[i + 1] - value[i]) / h + slope_r(at, value, count, i) * s * (s - 2 * t) +
          slope_r(at, value, count, i + 1) * t * (t - 2 * s);
}
#endif

#else
#define OD_BLOCK_FILE "blocks/spline.c"
#include "blocks/block_template_x.h"

const od_block_class od_spline_block = {
    .type = "spline",
    .is_linear = od_block_never_linear,
    .table_axes = 1,
    OD_BLOCK_EVALUATES,
    .slopes = slopes_block,
};
const od_block_description od_spline_block_description = {
    .equations = &od_spline_block,
    .summary = "a smooth curve through points, linear beyond them",
    .inputs = {{"input"}},
    .fields = {{"at", OD_UNIT_IN, OD_ANY, NAN, "inputs at the points, increasing", .shape = OD_ABSCISSAE},
               {"values", OD_UNIT_OUT, OD_ANY, NAN, "outputs at the points", .shape = OD_ORDINATES}},
    .choices = {{OD_CHOICE_ENTRIES, "at", 40}},
    .outputs = {""},
};
#endif
