// Order and preconditions of the steps of prepare.h, and the simplest step: removal of means and lines,
//
//   slope = sum (t - middle)(x - mean) / sum (t - middle)^2     over the available samples
//
// Channels are processed one by one, contiguous in memory as `column`; callers pass rows. Filters: hampel.c, resample.c,
// low_pass.c, savitzky_golay.c.
#include "prepare/prepare.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/allocate.h"
#include "prepare/prepare_steps.h"

static const double most_rows = 1e8;
// Tolerance of uniform times, as a fraction of a step, for times printed with few digits.
static const double uniform_within = 0.01;
static const double longest_gap = 3;  // largest time across a filled gap, in steps of the log
// Corner frequency of the low-pass filter before resampling, as a fraction of the new sampling rate. The gain at half
// the new sampling rate is at most 1/17.
static const double anti_alias_corner = 0.25;
// Smallest corner frequency without significant rounding errors, as a fraction of the sampling rate.
static const double least_corner = 1e-10;
enum { OUTLIER_WINDOW = 21 };

typedef struct work {
  const od_prepare *p;
  const bool *is_input;
  int channels;
  long rows;
  bool uniform;
  double step;     // interval between rows, s; the median if times are not uniform
  od_arena arena;  // memory of `time` and `column`
  double *time, *column;
  od_prepared *to;
} work;

// --- Checks -------------------------------------------------------------------------------------------------------

typedef struct complaints {
  char text[512];
  size_t used;
} complaints;

__attribute__((format(printf, 2, 3))) static void complain(complaints *c, const char *format, ...) {
  if (c->used > 0 && c->used + 3 < sizeof c->text) c->used += (size_t)sprintf(c->text + c->used, "; ");
  va_list list;
  va_start(list, format);
  int length = vsnprintf(c->text + c->used, sizeof c->text - c->used, format, list);
  va_end(list);
  c->used += length > 0 ? (size_t)length : 0;
  if (c->used >= sizeof c->text) c->used = sizeof c->text - 1;
}

static void check_sizes(const od_prepare *p, complaints *c) {
  if (!(p->resample >= 0) || isinf(p->resample))
    complain(c, "'resample': found a step of %g s, expected a positive number", p->resample);
  if (!(p->low_pass >= 0) || isinf(p->low_pass))
    complain(c, "'low_pass': found a corner frequency of %g Hz, expected a positive number", p->low_pass);
  if (!(p->outliers >= 0))
    complain(c, "'outliers': found %g standard deviations, expected a positive number", p->outliers);
  if (p->outlier_window != 0 && (p->outlier_window < 5 || p->outlier_window % 2 == 0))
    complain(c, "the window for outliers has %d samples; expected an odd number of at least 5", p->outlier_window);
  if (p->detrend != OD_DETREND_NONE && p->detrend != OD_DETREND_MEAN && p->detrend != OD_DETREND_LINEAR)
    complain(c, "'detrend' is %d, expected 0, 1 or 2", (int)p->detrend);
}

static void check_smoothing(const od_prepare *p, complaints *c) {
  int window = p->savgol_window, order = p->savgol_order;
  if (order < 0) complain(c, "the order of Savitzky-Golay smoothing is %d; expected 0 or more", order);
  if (window == 0 && order > 0)
    complain(c, "Savitzky-Golay smoothing of order %d needs a window; give the number of samples of the window", order);
  if (window == 0) return;
  if (window < 0 || window % 2 == 0)
    complain(c, "the window of Savitzky-Golay smoothing has %d samples; expected a positive odd number", window);
  else if (window <= order)
    complain(c, "the window of Savitzky-Golay smoothing has %d samples; expected more samples than the order, %d",
             window, order);
}

// Returns the number of rows with this step (s) over the duration of the log. Round-off does not remove the last row.
static double rows_of(const work *w, double step) {
  return floor((w->time[w->rows - 1] - w->time[0] + OD_SAME_TIME * fmin(step, w->step)) / step) + 1;
}

// Checks the settings that depend on the times of the log: number of rows, corner frequency, window, uniform times.
static void check_against_time(const work *w, complaints *c) {
  const od_prepare *p = w->p;
  double step = p->resample > 0 ? p->resample : w->step, rows = p->resample > 0 ? rows_of(w, step) : (double)w->rows;
  if (rows > most_rows) {
    complain(c, "a step of %g s results in %.3g rows for %g s; expected at most 100 million rows. Use a longer step",
             step, rows, w->time[w->rows - 1] - w->time[0]);
    return;
  }
  if (p->resample > w->step && !w->uniform && rows_of(w, w->step) > most_rows)
    complain(
        c,
        "the times are too uneven for the low-pass filter before resampling; use a step of at most %g s, the median "
        "step",
        w->step);
  if (p->resample > 0 && rows < 2)
    complain(c, "a step of %g s is longer than the log, which lasts %g s; use a shorter step", step,
             w->time[w->rows - 1] - w->time[0]);
  if (p->low_pass > 0 && !(p->low_pass * step < 0.5))
    complain(c,
             "the corner frequency of the low-pass filter is %g Hz; expected less than half the sampling rate, %g Hz",
             p->low_pass, 0.5 / step);
  if (p->low_pass > 0 && p->low_pass * step < least_corner)
    complain(
        c,
        "the corner frequency of the low-pass filter is %g Hz, too far below the sampling rate of %g Hz; expected at "
        "least %g Hz",
        p->low_pass, 1 / step, least_corner / step);
  if ((double)p->savgol_window > rows)
    complain(c, "the window of Savitzky-Golay smoothing has %d samples; expected at most %.0f, the samples of the log",
             p->savgol_window, rows);
  if (p->resample > 0 || w->uniform) return;
  if (p->low_pass > 0) complain(c, "the low-pass filter needs uniform times; resample first ('resample')");
  if (p->savgol_window > 0) complain(c, "Savitzky-Golay smoothing needs uniform times; resample first ('resample')");
}

static od_status check_times(const double *time, long rows, od_error *err) {
  for (long i = 0; i < rows; i++) {
    if (!isfinite(time[i]))
      return od_fail(err, OD_BAD_INPUT, "the time of row %ld is not a number; expected a time in each row", i + 1);
    if (i > 0 && !(time[i] > time[i - 1]))
      return od_fail(err, OD_BAD_INPUT, "times must increase: row %ld has %.9g s after %.9g s", i + 1, time[i],
                     time[i - 1]);
  }
  return OD_OK;
}

static od_status check_values(const work *w, od_error *err) {
  for (int c = 0; c < w->channels; c++)
    for (long i = 0; i < w->rows; i++) {
      double x = w->column[c * w->rows + i];
      if (isinf(x))
        return od_fail(err, OD_BAD_INPUT, "channel %d is infinite in row %ld, at %g s; expected a finite number", c + 1,
                       i + 1, w->time[i]);
      if (isnan(x) && w->is_input[c])
        return od_fail(err, OD_BAD_INPUT,
                       "channel %d is an input without a value in row %ld, at %g s; inputs must not have gaps", c + 1,
                       i + 1, w->time[i]);
    }
  return OD_OK;
}

// If a log with inputs is resampled, checks that no time interval without rows is longer than longest_gap steps of the log. Fails
// with OD_BAD_INPUT.
static od_status check_stretches(const work *w, od_error *err) {
  bool any = false;
  for (int c = 0; c < w->channels; c++) any |= w->is_input[c];
  for (long i = 1; any && w->p->resample > 0 && i < w->rows; i++)
    if (w->time[i] - w->time[i - 1] > (longest_gap + uniform_within) * w->step)
      return od_fail(err, OD_BAD_INPUT,
                     "the log has no rows between %g s and %g s, more than %g steps of %g s; inputs must not have gaps",
                     w->time[i - 1], w->time[i], longest_gap, w->step);
  return OD_OK;
}

// --- Time ---------------------------------------------------------------------------------------------------------

static int by_size(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static od_status find_step(work *w) {
  long steps = w->rows - 1;
  w->uniform = true;
  if (steps < 1) return OD_OK;
  w->step = (w->time[steps] - w->time[0]) / (double)steps;
  for (long i = 0; i <= steps && w->uniform; i++)
    w->uniform = fabs(w->time[i] - (w->time[0] + (double)i * w->step)) <= uniform_within * w->step;
  if (w->uniform) return OD_OK;
  OD_SCRATCH(scratch);
  double *sorted = OD_TAKE(&scratch, double, steps);
  if (!sorted) return OD_NO_MEMORY;
  for (long i = 0; i < steps; i++) sorted[i] = w->time[i + 1] - w->time[i];
  qsort(sorted, (size_t)steps, sizeof *sorted, by_size);
  w->step = sorted[steps / 2];
  return OD_OK;
}

// --- Steps --------------------------------------------------------------------------------------------------------

static od_status remove_outliers(work *w) {
  int window = w->p->outlier_window > 0 ? w->p->outlier_window : OUTLIER_WINDOW;
  OD_SCRATCH(scratch);
  double *memory = OD_TAKE(&scratch, double, w->rows + window);
  if (!memory) return OD_NO_MEMORY;
  for (int c = 0; c < w->channels; c++)
    if (!w->is_input[c])
      w->to->channel[c].outliers_removed = od_hampel(w->column + c * w->rows, w->rows, w->p->outliers, window, memory);
  return OD_OK;
}

// Resamples all channels. If the new step is longer, a low-pass filter removes frequencies that would be aliased. The signal is
// interpolated to a uniform grid with the old step, filtered, and then interpolated to the new grid. Fails with OD_NO_MEMORY.
static od_status resample(work *w) {
  double corner = w->p->resample > (1 + uniform_within) * w->step ? anti_alias_corner / w->p->resample : 0;
  double duration = w->time[w->rows - 1] - w->time[0], steps = ceil(duration / w->step - OD_SAME_TIME);
  // The fine grid begins and ends at the first and last times of the log.
  od_grid fine = {w->time[0], duration / steps, (long)steps + 1};
  od_grid grid = {w->time[0], w->p->resample, (long)rows_of(w, w->p->resample)};
  OD_SCRATCH(resampled);
  OD_SCRATCH(scratch);
  double *time = OD_TAKE(&resampled, double, grid.rows);
  double *column = OD_TAKE_MATRIX(&resampled, double, grid.rows, w->channels);
  long rows = corner > 0 ? fine.rows : 0;
  double *even = OD_TAKE(&scratch, double, rows), *even_time = OD_TAKE(&scratch, double, rows);
  double *memory = OD_TAKE(&scratch, double, 2 * rows);
  if (od_arena_status(&resampled) != OD_OK || od_arena_status(&scratch) != OD_OK) return OD_NO_MEMORY;
  for (long i = 0; i < rows; i++) even_time[i] = fine.start + (double)i * fine.step;
  for (int c = 0; c < w->channels; c++) {
    const double *x = w->column + c * w->rows;
    double *to = column + c * grid.rows, longest = (longest_gap + uniform_within) * w->step;
    long *filled = &w->to->channel[c].gaps_filled;
    if (!(corner > 0)) {
      *filled = od_resample(w->time, x, w->rows, longest, &grid, to);
      continue;
    }
    *filled = od_resample(w->time, x, w->rows, longest, &fine, even);
    od_low_pass(even, fine.rows, corner * fine.step, memory);
    od_resample(even_time, even, fine.rows, longest, &grid, to);
  }
  for (long i = 0; i < grid.rows; i++) time[i] = grid.start + (double)i * grid.step;
  od_arena_free(&w->arena);
  w->arena = resampled, resampled = (od_arena){0};
  w->time = time, w->column = column, w->rows = grid.rows, w->step = grid.step, w->uniform = true;
  w->to->anti_alias = corner;
  return OD_OK;
}

static od_status low_pass(work *w) {
  OD_SCRATCH(scratch);
  double *memory = OD_TAKE(&scratch, double, 2 * w->rows);
  if (!memory) return OD_NO_MEMORY;
  for (int c = 0; c < w->channels; c++) od_low_pass(w->column + c * w->rows, w->rows, w->p->low_pass * w->step, memory);
  return OD_OK;
}

static od_status smooth(work *w) {
  OD_SCRATCH(scratch);
  double *memory = OD_TAKE(&scratch, double, w->rows + 4L * w->p->savgol_window);
  if (!memory) return OD_NO_MEMORY;
  for (int c = 0; c < w->channels; c++)
    if (!w->is_input[c])
      od_savitzky_golay(w->column + c * w->rows, w->rows, w->p->savgol_window, w->p->savgol_order, memory);
  return OD_OK;
}

static void detrend(const work *w, int c) {
  od_prepared_channel *to = &w->to->channel[c];
  double *x = w->column + c * w->rows, n = 0, t_sum = 0, sum = 0, along = 0, squares = 0;
  for (long i = 0; i < w->rows; i++)
    if (!isnan(x[i])) n++, t_sum += w->time[i] - w->time[0], sum += x[i];
  if (n == 0) return;
  to->middle = w->time[0] + t_sum / n, to->mean = sum / n;
  for (long i = 0; i < w->rows; i++) {
    double t = w->time[i] - to->middle;
    if (!isnan(x[i])) along += t * (x[i] - to->mean), squares += t * t;
  }
  to->slope = w->p->detrend == OD_DETREND_LINEAR && squares > 0 ? along / squares : 0;
  for (long i = 0; i < w->rows; i++) x[i] -= to->mean + to->slope * (w->time[i] - to->middle);
}

// --- The complete preparation -------------------------------------------------------------------------------------

static od_status begin(work *w, const double *time, const double *value) {
  w->to->channel = OD_TAKE(&w->to->arena, od_prepared_channel, w->channels);
  w->time = OD_TAKE(&w->arena, double, w->rows);
  w->column = OD_TAKE_MATRIX(&w->arena, double, w->rows, w->channels);
  if (!w->to->channel || od_arena_status(&w->arena) != OD_OK) return OD_NO_MEMORY;
  memcpy(w->time, time, (size_t)w->rows * sizeof *time);
  for (int c = 0; c < w->channels; c++)
    for (long i = 0; i < w->rows; i++) w->column[c * w->rows + i] = value[i * w->channels + c];
  return find_step(w);
}

static od_status deliver(const work *w) {
  od_prepared *to = w->to;
  to->time = OD_TAKE(&to->arena, double, w->rows);
  to->value = OD_TAKE_MATRIX(&to->arena, double, w->rows, w->channels);
  if (od_arena_status(&to->arena) != OD_OK) return OD_NO_MEMORY;
  to->rows = w->rows, to->channels = w->channels, to->step = w->step;
  memcpy(to->time, w->time, (size_t)w->rows * sizeof *to->time);
  for (int c = 0; c < w->channels; c++) {
    od_prepared_channel *channel = &to->channel[c];
    for (long i = 0; i < w->rows; i++) {
      double x = to->value[i * w->channels + c] = w->column[c * w->rows + i];
      channel->missing += isnan(x);
    }
    to->gaps_filled += channel->gaps_filled, to->outliers_removed += channel->outliers_removed;
  }
  return OD_OK;
}

static void end(work *w) {
  od_arena_free(&w->arena);
}

od_status od_prepare_signals(const od_prepare *p, const double *time, const double *value, long rows, int channels,
                             const bool *is_input, od_prepared **out, od_error *err) {
  *out = NULL;
  if (rows < 1 || channels < 1)
    return od_fail(err, OD_BAD_ARGUMENT, "found %ld rows and %d channels, expected at least 1 of each", rows, channels);
  od_status status = check_times(time, rows, err);
  if (status != OD_OK) return status;
  OD_OWNED(od_prepared_free) od_prepared *to = od_calloc(1, sizeof *to);
  OD_SCOPED(end) work w = {.p = p, .is_input = is_input, .channels = channels, .rows = rows, .to = to};
  if (!to || begin(&w, time, value) != OD_OK) return od_fail(err, OD_NO_MEMORY, "out of memory");
  complaints c = {.used = 0};
  check_sizes(p, &c);
  check_smoothing(p, &c);
  if (c.used == 0) check_against_time(&w, &c);
  if (c.used > 0) return od_fail(err, OD_BAD_INPUT, "%s", c.text);
  status = check_values(&w, err);
  if (status == OD_OK) status = check_stretches(&w, err);
  if (status != OD_OK) return status;
  if (p->outliers > 0) status = remove_outliers(&w);
  if (status == OD_OK && p->resample > 0) status = resample(&w);
  if (status == OD_OK && p->low_pass > 0) status = low_pass(&w);
  if (status == OD_OK && p->savgol_window > 0) status = smooth(&w);
  for (int i = 0; status == OD_OK && p->detrend != OD_DETREND_NONE && i < channels; i++) detrend(&w, i);
  if (status != OD_OK || deliver(&w) != OD_OK) return od_fail(err, OD_NO_MEMORY, "out of memory");
  *out = OD_GIVE(to);
  return OD_OK;
}

void od_prepared_free(od_prepared *prepared) {
  if (!prepared) return;
  od_arena_free(&prepared->arena);
  od_free(prepared);
}
