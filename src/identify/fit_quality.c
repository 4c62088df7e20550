// How well a fitted model predicts: per set and sensor, what was fitted and what was not seen; whether residuals are white; and
// the table of all samples.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "identify/fit_work.h"
#include "prepare/whiteness.h"

enum { WHITE_LAGS = 20 };

// Of one sensor over some rows: how much of its movement is explained.
static double fit_percent(const od_fit_work *w, int set, int i, long first, long end) {
  const od_fit_data *d = w->f->data[set];
  double mean = 0, off = 0, moved = 0;
  long n = 0;
  for (long k = first; k < end; k++)
    if (!isnan(d->y[k * w->ns + i])) mean += d->y[k * w->ns + i], n++;
  mean /= (double)n;
  for (long k = first; k < end; k++) {
    double y = d->y[k * w->ns + i];
    if (isnan(y)) continue;
    off += pow(y - w->y[set][k * w->ny + i], 2);
    moved += pow(y - mean, 2);
  }
  return n > 0 && moved > 0 ? 100 * (1 - sqrt(off / moved)) : (double)NAN;
}

// What is simulated without noise leaves residuals that nobody expects to be white.
static void judge_residuals(const od_fit_work *w, int set, int i, long first, long end, double *memory,
                            od_fit_quality *q) {
  const od_fit_data *d = w->f->data[set];
  double squares = 0, low = INFINITY, high = -INFINITY;
  for (long k = first; k < end; k++) low = fmin(low, d->y[k * w->ns + i]), high = fmax(high, d->y[k * w->ns + i]);
  q->still = low == high;
  q->samples = 0;
  for (long k = first; k < end; k++) {
    double measured = d->y[k * w->ns + i], r = memory[k - first] = measured - w->y[set][k * w->ny + i];
    if (isnan(measured)) continue;
    squares += r * r;
    q->samples++;
  }
  q->missing = end - first - q->samples;
  q->rms = q->samples > 0 ? sqrt(squares / (double)q->samples) : (double)NAN;
  double correlation[WHITE_LAGS + 1];
  od_whiteness white = od_whiteness_find(memory, end - first, WHITE_LAGS, correlation);
  q->lag1 = correlation[1];
  q->white = d->set->clean ? (double)NAN : white.p;
}

static od_status judge_set(od_fit_work *w, int set, const double *x, bool at_start, od_error *err) {
  const od_fit_data *d = w->f->data[set];
  od_fit_set_result *r = &w->f->set[set];
  od_status status = od_fit_predict(w, set, x, false);
  // Nothing is said about what cannot be predicted.
  for (long k = 0; status != OD_OK && k < d->rows * w->ny; k++) w->y[set][k] = NAN;
  if (!at_start) r->predicted = status;
  double *memory = malloc(((size_t)d->rows + 1) * sizeof *memory);
  if (!memory) return od_fail(err, OD_NO_MEMORY, "memory ran out");
  for (int i = 0; i < w->ns; i++) {
    od_fit_quality *q[] = {&r->fitted_quality[i], &r->unseen_quality[i]};
    long first[] = {0, d->fitted}, end[] = {d->fitted, d->rows};
    for (int part = 0; part < 2; part++) {
      double percent = fit_percent(w, set, i, first[part], end[part]);
      *(at_start ? &q[part]->start_fit : &q[part]->fit) = percent;
      if (at_start) continue;
      judge_residuals(w, set, i, first[part], end[part], memory, q[part]);
    }
  }
  free(memory);
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
  double *row = calloc((size_t)w->f->table->columns, sizeof *row);
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
  free(row);
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
  if (w->options->table && label_table(w) != OD_OK) return od_fail(err, OD_NO_MEMORY, "memory ran out");
  for (int set = 0; set < w->f->sets; set++) {
    const od_fit_data *d = w->f->data[set];
    od_fit_set_result *r = &w->f->set[set];
    *r = (od_fit_set_result){
        .name = d->set->name, .validates = d->set->validates, .data = d, .rows = d->rows, .fitted = d->fitted};
    r->fitted_quality = calloc(2 * (size_t)w->ns + 1, sizeof *r->fitted_quality);
    if (!r->fitted_quality) return od_fail(err, OD_NO_MEMORY, "memory ran out");
    r->unseen_quality = r->fitted_quality + w->ns;
    od_status status = judge_set(w, set, w->start, true, err);
    if (status == OD_OK) status = judge_set(w, set, w->f->search->x, false, err);
    if (status == OD_OK && w->options->table && fill_table(w, set) != OD_OK)
      status = od_fail(err, OD_NO_MEMORY, "memory ran out");
    if (status != OD_OK) return status;
    w->f->used_modes = w->f->used_modes || od_predictor_used_modes(w->predictor[set]);
  }
  w->f->start_fit = overall(w, true);
  w->f->fit = overall(w, false);
  return OD_OK;
}
