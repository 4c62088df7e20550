// Quality of a fitted model's predictions, per set and sensor, for fitted rows and for rows that are not fitted;
// whiteness of residuals; and the table of all samples.
#include <math.h>
#include <stdio.h>

#include "experiment/innovations.h"
#include "identify/fit_work.h"
#include "prepare/whiteness.h"

enum { WHITE_LAGS = 20 };

// Euclidean norm of numbers, computed without overflow. NAN if one of the numbers is NAN.
typedef struct norm {
  double largest, sum;
} norm;
static void add_to(norm *n, double value) {
  double size = fabs(value);
  if (isnan(n->largest)) return;
  if (!(size <= n->largest)) {
    n->sum = n->largest > 0 ? n->sum * (n->largest / size) * (n->largest / size) : 0;
    n->largest = size;
  }
  if (size > 0) n->sum += isinf(size) ? 1 : size / n->largest * (size / n->largest);
}
static double root(const norm *n) {
  return n->largest * sqrt(n->sum);
}

// Returns the norm of the deviations of a sensor's values from their mean, over the rows `first` to `end` - 1.
static norm movement(const od_fit_work *w, int set, int i, long first, long end) {
  const od_fit_data *d = w->f->data[set];
  norm moved = {0};
  double mean = 0;
  long n = 0;
  for (long k = first; k < end; k++)
    if (!isnan(d->y[k * w->ns + i])) n++;
  for (long k = first; k < end; k++)
    if (!isnan(d->y[k * w->ns + i])) mean += d->y[k * w->ns + i] / (double)n;
  for (long k = first; k < end; k++)
    if (!isnan(d->y[k * w->ns + i])) add_to(&moved, d->y[k * w->ns + i] - mean);
  return moved;
}

// Returns the percentage of a movement that predictions with the error `off` reproduce. NAN: no movement, or no prediction.
static double explained(const norm *off, const norm *moved) {
  return root(moved) > 0 ? 100 * (1 - root(off) / root(moved)) : (double)NAN;
}

// Errors of predictions, accumulated block by block.
typedef struct misses {
  const od_fit_work *w;
  int set;
  norm *off;  // ns norms for the fitted rows, then ns norms for the rows that are not fitted
} misses;

static void add_misses(void *user, const od_predicted *rows) {
  const misses *m = user;
  const od_fit_work *w = m->w;
  const od_fit_data *d = w->f->data[m->set];
  for (int k = 0; k < rows->count; k++) {
    long row = rows->first + k;
    norm *off = m->off + (row < d->fitted ? 0 : w->ns);
    for (int i = 0; i < w->ns; i++) {
      double measured = d->y[row * w->ns + i];
      if (!isnan(measured)) add_to(&off[i], measured - rows->y[k * w->ny + i]);
    }
  }
}

// Returns the value that has the index `index` when the values are sorted, by Hoare's selection in linear time.
// Reorders the values.
static double select_value(double *values, long count, long index) {
  for (long low = 0, high = count - 1; low < high;) {
    double pivot = values[low + (high - low) / 2];
    long i = low, j = high;
    while (i <= j) {
      while (values[i] < pivot) i++;
      while (values[j] > pivot) j--;
      if (i > j) break;
      double kept = values[i];
      values[i++] = values[j];
      values[j--] = kept;
    }
    if (index > j && index < i) break;
    if (index <= j)
      high = j;
    else
      low = i;
  }
  return values[index];
}

// Sets q->equal_outliers to the number of outliers in rows `first` to `end` - 1 if all outliers have the same value,
// such as a code for a missing value. Otherwise sets q->equal_outliers to zero.
static void count_outliers(const od_fit_work *w, int set, int i, long first, long end, od_fit_quality *q) {
  const od_fit_data *d = w->f->data[set];
  q->equal_outliers = 0;
  for (long k = first; k < end; k++) {
    double measured = d->y[k * w->ns + i], r = fabs(measured - w->y[set][k * w->ny + i]) / d->sigma[i];
    if (isnan(measured) || !(r >= OD_FIT_OUTLIER * q->typical)) continue;
    if (measured == q->worst_value) {
      q->equal_outliers++;
      continue;
    }
    q->equal_outliers = 0;
    return;
  }
}

// Fills the fields of q that describe the residuals of rows `first` to `end` - 1. For data simulated without noise, whose
// residuals need not be white, q->white is NAN. memory: one number per row.
static void judge_residuals(const od_fit_work *w, int set, int i, long first, long end, double *memory,
                            od_fit_quality *q) {
  const od_fit_data *d = w->f->data[set];
  norm squares = {0};
  double low = INFINITY, high = -INFINITY;
  for (long k = first; k < end; k++) low = fmin(low, d->y[k * w->ns + i]), high = fmax(high, d->y[k * w->ns + i]);
  q->still = low == high;
  q->samples = 0;
  q->worst = 0;
  for (long k = first; k < end; k++) {
    double measured = d->y[k * w->ns + i], r = memory[k - first] = measured - w->y[set][k * w->ny + i];
    if (isnan(measured)) continue;
    add_to(&squares, r);
    if (fabs(r) / d->sigma[i] > q->worst)
      q->worst = fabs(r) / d->sigma[i], q->worst_time = d->time[k], q->worst_value = measured;
    q->samples++;
  }
  // Rows of other files and groups of a log do not count as missing samples. Residuals on both sides of such rows are
  // neighbors.
  const od_log *log = d->set->log;
  bool has_rates = log && log->has_rates;
  long rows = 0;
  for (long k = 0; k < end - first; k++)
    if (!has_rates || !isnan(memory[k])) memory[rows++] = memory[k];
  q->missing = end - first - q->samples;
  if (has_rates && end > first) q->missing = first == 0 ? log->missing[d->set->channel[i]] : 0;
  q->rms = q->samples > 0 ? root(&squares) / sqrt((double)q->samples) : (double)NAN;
  double correlation[WHITE_LAGS + 1];
  od_whiteness white = od_whiteness_find(memory, rows, WHITE_LAGS, correlation);
  q->lag1 = correlation[1];
  q->correlation = 0;
  for (int k = 1; k <= WHITE_LAGS; k++) q->correlation = fmax(q->correlation, fabs(correlation[k]));
  q->white = d->set->clean ? (double)NAN : white.p;
  // Computes the median magnitude of the available residuals.
  long n = 0;
  for (long k = 0; k < rows; k++)
    if (!isnan(memory[k])) memory[n++] = fabs(memory[k]);
  q->typical = n > 0 ? select_value(memory, n, n / 2) / d->sigma[i] : (double)NAN;
  count_outliers(w, set, i, first, end, q);
}

// A range of rows with its quality: the fitted rows of a set, or the rows that are not fitted.
typedef struct part {
  long first, end;
  od_fit_quality *quality;
} part;
static void find_parts(const od_fit_work *w, int set, int i, part parts[2]) {
  const od_fit_data *d = w->f->data[set];
  const od_fit_set_result *r = &w->f->set[set];
  parts[0] = (part){0, d->fitted, &r->fitted_quality[i]};
  parts[1] = (part){d->fitted, d->rows, &r->unseen_quality[i]};
}

// Computes the quality with the start values; NAN if the set cannot be predicted. The stored predictions at the solution are not
// changed. Fails with OD_NO_MEMORY.
static od_status judge_start(od_fit_work *w, int set, od_error *err) {
  OD_SCRATCH(scratch);
  misses m = {w, set, OD_TAKE(&scratch, norm, 2 * w->ns)};
  if (!m.off) return od_fail(err, OD_NO_MEMORY, "out of memory");
  const od_predict_wish wish = {.take = add_misses, .user = &m};
  od_status status = od_fit_find_validation_start(w, set, w->start, err);
  if (status == OD_NO_MEMORY) return status;
  if (status == OD_OK) status = od_fit_predict_rows(w, set, w->predictor[set], w->start, &wish);
  for (int i = 0; i < w->ns; i++) {
    part parts[2];
    find_parts(w, set, i, parts);
    for (int p = 0; p < 2; p++) {
      norm moved = movement(w, set, i, parts[p].first, parts[p].end);
      parts[p].quality->start_fit = status == OD_OK ? explained(&m.off[p * w->ns + i], &moved) : (double)NAN;
    }
  }
  return OD_OK;
}

// Computes the quality with the estimates. If there is an influence, fitted sets have already been predicted at the estimates for
// their derivatives. A failed prediction gives a quality of NAN and its status in the result of the set. Fails with OD_NO_MEMORY.
static od_status judge_end(od_fit_work *w, int set, od_error *err) {
  const od_fit_data *d = w->f->data[set];
  od_fit_set_result *r = &w->f->set[set];
  bool done = w->influence && d->fitted > 0;
  od_status status = od_fit_find_validation_start(w, set, w->f->search->x, err);
  if (status == OD_NO_MEMORY) return status;
  r->predicted = done ? OD_OK : status != OD_OK ? status : od_fit_predict_set(w, set, w->f->search->x, false);
  od_fit_keep_gaps(w, set);
  // A set that cannot be predicted has no predicted values.
  for (long k = 0; r->predicted != OD_OK && k < d->rows * w->ny; k++) w->y[set][k] = NAN;
  w->f->used_modes = w->f->used_modes || od_predictor_used_modes(w->predictor[set]);
  OD_SCRATCH(scratch);
  double *memory = OD_TAKE(&scratch, double, d->rows);
  const od_predicted all = {.count = (int)d->rows, .every = 1, .y = w->y[set]};
  misses m = {w, set, OD_TAKE(&scratch, norm, 2 * w->ns)};
  if (od_arena_status(&scratch) != OD_OK) return od_fail(err, OD_NO_MEMORY, "out of memory");
  add_misses(&m, &all);
  for (int i = 0; i < w->ns; i++) {
    part parts[2];
    find_parts(w, set, i, parts);
    for (int p = 0; p < 2 && od_fit_keeps_going(w); p++) {
      norm moved = movement(w, set, i, parts[p].first, parts[p].end);
      parts[p].quality->fit = explained(&m.off[p * w->ns + i], &moved);
      judge_residuals(w, set, i, parts[p].first, parts[p].end, memory, parts[p].quality);
    }
  }
  return OD_OK;
}

// --- The table of all samples -------------------------------------------------------------------------------------

static od_status label_table(od_fit_work *w) {
  static const char *const kinds[] = {"measured", "predicted", "residual"};
  const od_experiment *e = w->plan->e;
  int c = 2;
  od_table *t = w->f->table = od_table_new(2 + w->nu + 3 * w->ns);
  od_status status = t ? od_table_label(t, 0, "set", "1") : OD_NO_MEMORY;
  if (status == OD_OK) status = od_table_label(t, 1, "time", "s");
  for (int i = 0; i < w->nu && status == OD_OK; i++)
    status = od_table_label(t, c++, od_machine_input_name(e->model, i), od_machine_input_unit(e->model, i));
  for (int i = 0; i < w->ns; i++)
    for (int k = 0; k < 3 && status == OD_OK; k++) {
      char name[256];
      snprintf(name, sizeof name, "%s.%.200s", kinds[k], e->sensor[i].name);
      status = od_table_label(t, c++, name, e->sensor[i].unit);
    }
  return status;
}

static od_status fill_table(od_fit_work *w, int set) {
  const od_fit_data *d = w->f->data[set];
  OD_SCRATCH(scratch);
  double *row = OD_TAKE(&scratch, double, w->f->table->columns);
  od_status status = row ? OD_OK : OD_NO_MEMORY;
  for (long k = 0; k < d->rows && status == OD_OK; k++) {
    double *to = row;
    *to++ = set + 1;
    *to++ = d->time[k];
    for (int i = 0; i < w->nu; i++) *to++ = d->u[k * w->nu + i];
    for (int i = 0; i < w->ns; i++) {
      double measured = d->y[k * w->ns + i], predicted = w->y[set][k * w->ny + i];
      *to++ = measured;
      *to++ = predicted;
      *to++ = measured - predicted;
    }
    status = od_table_append(w->f->table, row);
  }
  return status;
}

// --- All sets -----------------------------------------------------------------------------------------------------

static double overall(const od_fit_work *w, bool at_start) {
  double sum = 0;
  int n = 0;
  for (int set = 0; set < w->f->sets; set++)
    for (int i = 0; i < w->ns && w->f->data[set]->fitted > 0; i++) {
      const od_fit_quality *q = &w->f->set[set].fitted_quality[i];
      if (q->still || q->samples == 0) continue;
      sum += pow(100 - (at_start ? q->start_fit : q->fit), 2);
      n++;
    }
  return n > 0 ? 100 - sqrt(sum / n) : (double)NAN;
}

od_status od_fit_judge_sets(od_fit_work *w, od_error *err) {
  if (w->options->table && label_table(w) != OD_OK) return od_fail(err, OD_NO_MEMORY, "out of memory");
  for (int set = 0; set < w->f->sets; set++) {
    const od_fit_data *d = w->f->data[set];
    od_fit_set_result *r = &w->f->set[set];
    *r = (od_fit_set_result){
        .name = d->set->name, .validates = d->set->validates, .data = d, .rows = d->rows, .fitted = d->fitted};
    r->fitted_quality = OD_TAKE(&w->f->arena, od_fit_quality, 2 * w->ns);
    if (!r->fitted_quality) return od_fail(err, OD_NO_MEMORY, "out of memory");
    r->unseen_quality = r->fitted_quality + w->ns;
    od_status status = judge_end(w, set, err);
    if (status == OD_OK && !od_fit_keeps_going(w)) status = OD_INTERRUPTED;
    if (status == OD_OK) status = judge_start(w, set, err);
    if (status == OD_OK && w->options->table && fill_table(w, set) != OD_OK)
      status = od_fail(err, OD_NO_MEMORY, "out of memory");
    if (status != OD_OK) return status;
  }
  w->f->start_fit = overall(w, true);
  w->f->fit = overall(w, false);
  return OD_OK;
}

// --- Correlated sensors -------------------------------------------------------------------------------------------

// Returns the correlation of the residuals of two sensors, from -1 to 1, over all fitted rows in which both sensors have a value.
// The residuals are not centered. Returns 0 if there are fewer than OD_ENOUGH_TOGETHER such rows or all residuals of a sensor are
// zero. A fit assumes that the noise of sensors is independent. If two sensors share noise, the fit counts this noise twice, and
// standard deviations become too small.
static double correlation_of(const od_fit_work *w, int a, int b) {
  double both = 0, of_a = 0, of_b = 0;
  long count = 0;
  for (int set = 0; set < w->f->sets; set++) {
    const od_fit_data *d = w->f->data[set];
    for (long k = 0; k < d->fitted; k++) {
      if (isnan(d->y[k * w->ns + a]) || isnan(d->y[k * w->ns + b])) continue;
      double x = od_fit_residual(w, set, k, a), y = od_fit_residual(w, set, k, b);
      both += x * y, of_a += x * x, of_b += y * y, count++;
    }
  }
  return count >= OD_ENOUGH_TOGETHER && of_a > 0 && of_b > 0 ? both / sqrt(of_a * of_b) : 0;
}

// Uses the predictions in w->y, which were computed at the solution.
od_status od_fit_find_pair(od_fit_work *w, od_error *err) {
  od_fitted *f = w->f;
  (void)err;
  f->pair = (od_fit_pair){-1, -1, 0};
  if (w->plan->e->sensor_covariance || f->only_predicted) return OD_OK;
  for (int a = 0; a < w->ns && od_fit_keeps_going(w); a++)
    for (int b = a + 1; b < w->ns; b++) {
      double correlation = correlation_of(w, a, b);
      if (fabs(correlation) > fabs(f->pair.correlation)) f->pair = (od_fit_pair){a, b, correlation};
    }
  return OD_OK;
}
