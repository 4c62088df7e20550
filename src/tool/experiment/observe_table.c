// The table of a run: a row per sample with measured, estimated and true values (od_columns in observe.h).
//
// Standard deviations of outputs take longer than the filter's step, because outputs are evaluated at many states
// (observe/spread.h). If no rows are requested, they are computed for the last row, and for samples in which an output may be
// clipped.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "experiment/observe_run.h"
#include "machine/machine.h"
#include "math/normal.h"

static od_columns lay_out(const od_observe_run *r) {
  const od_experiment *e = r->e;
  od_columns c = {.watched = 1 + e->sensors, .per_watched = r->o->has_truth ? 4 : 2};
  c.parameter = c.watched + c.per_watched * e->watches;
  c.innovation = c.parameter + 2 * e->parameters;
  c.nis = c.innovation + 2 * e->sensors;
  c.settled = c.nis + r->o->asks_itself;
  c.input = c.settled + 1;
  c.count = c.input + r->nu;
  return c;
}

static od_status label(od_observe_run *r, int column, const char *what, const char *name, const char *unit) {
  char text[256];
  snprintf(text, sizeof text, "%s.%s", what, name);
  return od_table_label(r->o->table, column, text, unit);
}

od_status od_observe_make_table(od_observe_run *r, od_error *err) {
  static const char *const kinds[] = {"estimate", "sigma", "true", "error"};
  const od_experiment *e = r->e;
  od_columns c = r->o->columns = lay_out(r);
  r->o->table = od_table_new(c.count);
  r->row = calloc((size_t)c.count, sizeof *r->row);
  r->o->sums = calloc((size_t)c.count, sizeof *r->o->sums);
  r->o->kept = r->options->keep;
  bool thins = r->options->keep == OD_ROWS_PICTURE;
  if (thins && r->o->table) r->thin = od_thin_table_new(r->o->table);
  if (!r->o->table || !r->row || !r->o->sums || (thins && !r->thin))
    return od_fail(err, OD_NO_MEMORY, "memory ran out");
  od_status status = od_table_label(r->o->table, 0, "time", "s");
  for (int i = 0; i < e->sensors && status == OD_OK; i++) {
    status = label(r, 1 + i, "measured", e->sensor[i].name, e->sensor[i].unit);
    if (status == OD_OK) status = label(r, c.innovation + 2 * i, "innovation", e->sensor[i].name, e->sensor[i].unit);
    if (status == OD_OK)
      status = label(r, c.innovation + 2 * i + 1, "innovation_sigma", e->sensor[i].name, e->sensor[i].unit);
  }
  for (int i = 0; i < e->watches; i++)
    for (int k = 0; k < c.per_watched && status == OD_OK; k++)
      status = label(r, c.watched + c.per_watched * i + k, kinds[k], e->watched[i].name, e->watched[i].unit);
  for (int i = 0; i < e->parameters; i++)
    for (int k = 0; k < 2 && status == OD_OK; k++)
      status = label(r, c.parameter + 2 * i + k, kinds[k], e->parameter[i].path, e->parameter[i].unit);
  if (status == OD_OK) status = od_table_label(r->o->table, c.nis, "nis", "1");
  if (status == OD_OK && r->o->asks_itself) status = od_table_label(r->o->table, c.settled, "settled", "1");
  for (int i = 0; i < r->nu && status == OD_OK; i++)
    status = label(r, c.input + i, "input", od_machine_input_name(e->model, i), od_machine_input_unit(e->model, i));
  return status == OD_OK ? OD_OK : od_fail(err, OD_NO_MEMORY, "memory ran out");
}

// --- Rows ---------------------------------------------------------------------------------------------------------

static void fill_watched(od_observe_run *r, const od_sample *s) {
  const od_experiment *e = r->e;
  const od_columns *c = &r->o->columns;
  for (int i = 0; i < e->watches; i++) {
    double *to = r->row + c->watched + c->per_watched * i;
    double estimated = r->y_estimated[e->watched[i].row];
    to[0] = estimated;
    to[1] = r->y_sigma[e->watched[i].row];
    r->o->clipped[i] += od_observer_clipped(r->observer, e->watched[i].row);
    if (!r->o->has_truth) continue;
    to[2] = s->truth[i];
    to[3] = estimated - s->truth[i];
    r->o->known[i] += !isnan(to[2]);
    r->o->within[i] += !isnan(to[2]) && fabs(to[0] - to[2]) <= OD_NORMAL95 * to[1];
  }
}

static od_status fill_row(od_observe_run *r, const od_sample *s) {
  const od_experiment *e = r->e;
  const od_columns *c = &r->o->columns;
  od_status status = od_observer_outputs(r->observer, r->y_estimated, r->y_sigma);
  if (status != OD_OK) return status;
  const double *p = od_observer_parameters(r->observer);
  const od_innovation *innovation = od_observer_innovations(r->observer);
  int used;
  r->row[0] = s->t;
  fill_watched(r, s);
  for (int i = 0; i < e->parameters; i++) {
    r->row[c->parameter + 2 * i] = p[i];
    r->row[c->parameter + 2 * i + 1] = od_observer_parameter_sigma(r->observer, i);
  }
  for (int i = 0; i < e->sensors; i++) {
    r->row[1 + i] = s->y[i];
    r->row[c->innovation + 2 * i] = innovation[i].value;
    r->row[c->innovation + 2 * i + 1] = innovation[i].sigma;
  }
  double nis = od_observer_nis(r->observer, &used);
  r->row[c->settled] = od_observer_settled(r->observer);
  r->row[c->nis] = used > 0 ? nis : (double)NAN;
  for (int i = 0; i < r->nu; i++) r->row[c->input + i] = s->u_after ? s->u_after[i] : s->u[i];
  for (int i = c->watched; i < c->parameter; i++) od_summing_take(&r->o->sums[i], r->row[i]);
  return OD_OK;
}

static od_status record(od_observe_run *r, const od_sample *s) {
  od_status status = fill_row(r, s);
  if (status != OD_OK) return status;
  if (r->thin) return od_thin_table_append(r->thin, r->row);
  if (r->options->keep == OD_ROWS_LAST) r->o->table->rows = 0;
  return od_table_append(r->o->table, r->row);
}

od_status od_observe_record_row(od_observe_run *r, const od_sample *s) {
  bool wanted = r->options->keep != OD_ROWS_LAST || r->options->answer || r->o->has_truth;
  r->last = *s;
  r->o->rows++;
  r->unrecorded = !wanted && !od_observer_may_clip(r->observer);
  if (r->unrecorded) return OD_OK;
  od_step_clock_leave(&r->clock);
  od_status status = record(r, s);
  od_step_clock_return(&r->clock);
  return status;
}

od_status od_observe_end_rows(od_observe_run *r) {
  od_status status = r->unrecorded ? record(r, &r->last) : OD_OK;
  r->unrecorded = false;
  return status == OD_OK && r->thin ? od_thin_table_finish(r->thin) : status;
}

od_summary od_observed_summary(const od_observed *o, int column) {
  bool has_sums = o->kept != OD_ROWS_ALL && column >= o->columns.watched && column < o->columns.parameter;
  return has_sums ? od_summing_result(&o->sums[column]) : od_table_summary(o->table, column);
}
