// Predictions of outputs that are late by parameters: y_i(t - p_j). Between the rows, the outputs of the inner predictor are cubic Hermite
// polynomials with slopes from the neighboring rows, so that the predictions have continuous derivatives with respect to the delay.
#include <math.h>
#include <string.h>

#include "base/allocate.h"
#include "predict/predict.h"

enum { WEIGHTS = 4 };

typedef struct delayed {
  od_predictor *inner;
  od_output_delay *delay;
  int delays, rows, outputs, columns;
  const double *time;
  double *y, *dy;  // all rows of one output before the delay; dy is allocated when first needed
  od_arena arena;
} delayed;

// A value between rows: the sum of weight[i] times the value of row[i], and its derivative with respect to the time.
typedef struct between {
  int row[WEIGHTS];
  double weight[WEIGHTS], slope[WEIGHTS];
} between;

// Adds the slope of the outputs at a row to *b: multiplied by `value` to the value between rows, multiplied by `derivative` to the
// derivative of this value. The slope belongs to the parabola through the row and its neighbors, or to the line to the only neighbor.
static void add_slope(const delayed *d, int row, double value, double derivative, between *b) {
  double before = row > 0 ? d->time[row] - d->time[row - 1] : INFINITY,
         after = row + 1 < d->rows ? d->time[row + 1] - d->time[row] : INFINITY;
  double share = isinf(before) ? 1 : isinf(after) ? 0 : before / (before + after);  // of the slope after the row
  for (int i = 0; i < WEIGHTS; i++) {
    double part = 0;
    if (b->row[i] == row - 1 && row > 0) part = (share - 1) / before;
    if (b->row[i] == row) part = (isinf(before) ? 0 : (1 - share) / before) - (isinf(after) ? 0 : share / after);
    if (b->row[i] == row + 1 && row + 1 < d->rows) part = share / after;
    b->weight[i] += part * value;
    b->slope[i] += part * derivative;
  }
}

// Interpolates between the rows `row` and `row` + 1.
static between interpolate(const delayed *d, int row, double t) {
  double h = d->time[row + 1] - d->time[row], s = (t - d->time[row]) / h, rest = 1 - s;
  between b = {.row = {row - 1, row, row + 1, row + 2}};
  b.weight[1] = rest * rest * (1 + 2 * s), b.slope[1] = -6 * s * rest / h;
  b.weight[2] = s * s * (3 - 2 * s), b.slope[2] = 6 * s * rest / h;
  add_slope(d, row, h * s * rest * rest, rest * (1 - 3 * s), &b);
  add_slope(d, row + 1, -h * s * s * rest, s * (3 * s - 2), &b);
  return b;
}

// Returns the weights for the value at time t. The outputs are constant before the first row, and linear after the last row. *row: the
// last row at or before the time; *row does not decrease from one call to the next.
static between at(const delayed *d, double t, int *row) {
  int last = d->rows - 1;
  while (*row < last && d->time[*row + 1] <= t) ++*row;
  if (t < d->time[0] || last == 0) return (between){.weight = {1}};
  if (*row < last) return interpolate(d, *row, t);
  between b = {.row = {last - 1, last, -1, -1}, .weight = {0, 1}};
  add_slope(d, last, t - d->time[last], 1, &b);
  return b;
}

static double sum(const between *b, const double *weight, const double *value, int stride) {
  double x = 0;
  for (int i = 0; i < WEIGHTS; i++)
    if (weight[i] != 0) x += weight[i] * value[(size_t)b->row[i] * (size_t)stride];
  return x;
}

// Delays one output in y (rows x outputs) and its derivatives.
static void delay_output(delayed *d, const od_output_delay *of, double delay, double *y, double *dy) {
  const size_t ny = (size_t)d->outputs, width = (size_t)d->columns, output = (size_t)of->output;
  for (size_t k = 0; k < (size_t)d->rows; k++) {
    d->y[k] = y[k * ny + output];
    if (dy) memcpy(d->dy + k * width, dy + (k * ny + output) * width, width * sizeof *dy);
  }
  for (int k = 0, row = 0; k < d->rows; k++) {
    const between b = at(d, d->time[k] - delay, &row);
    const size_t to = (size_t)k * ny + output;
    y[to] = sum(&b, b.weight, d->y, 1);
    for (int c = 0; dy && c < d->columns; c++) dy[to * width + (size_t)c] = sum(&b, b.weight, d->dy + c, d->columns);
    if (dy) dy[to * width + (size_t)of->parameter] -= sum(&b, b.slope, d->y, 1);
  }
}

static od_status predict(void *user, const double *p, const double *x0, double *y, double *dy) {
  delayed *d = user;
  if (dy && !d->dy && !(d->dy = OD_TAKE_MATRIX(&d->arena, double, d->rows, d->columns))) return OD_NO_MEMORY;
  od_status status = od_predict(d->inner, p, x0, y, dy);
  for (int i = 0; i < d->delays && status == OD_OK; i++) {
    const double delay = p[d->delay[i].parameter];
    if (!isfinite(delay)) return OD_NOT_FINITE;
    delay_output(d, &d->delay[i], delay, y, dy);
  }
  return status;
}

static void release(void *user) {
  delayed *d = user;
  od_predictor_free(d->inner);
  od_arena_free(&d->arena);
  od_free(d);
}

od_status od_predictor_delayed(od_predictor *inner, const od_output_delay *delay, int delays, const double *time,
                               int rows, int outputs, od_predictor **out, od_error *err) {
  delayed *d = od_calloc(1, sizeof *d);
  if (!d) return od_fail(err, OD_NO_MEMORY, "out of memory");
  *d = (delayed){
      .delays = delays, .rows = rows, .outputs = outputs, .columns = od_predictor_columns(inner), .time = time};
  d->delay = OD_TAKE(&d->arena, od_output_delay, delays);
  d->y = OD_TAKE(&d->arena, double, rows);
  od_status status = od_arena_status(&d->arena);
  if (status == OD_OK) memcpy(d->delay, delay, (size_t)delays * sizeof *delay);
  const od_prediction_model model = {
      .rows = rows, .outputs = outputs, .parameters = d->columns, .predict = predict, .release = release, .user = d};
  od_predictor *made = NULL;
  if (status == OD_OK) status = od_predictor_of_model(&model, &made, err);
  if (status != OD_OK) {
    release(d);
    return od_fail(err, OD_NO_MEMORY, "out of memory");
  }
  d->inner = inner;
  *out = made;
  return OD_OK;
}
