// The result of tuning: numbers, the innovations of both parts before and after, first innovations, verdict.
#include <math.h>
#include <stdio.h>

#include "io/json.h"
#include "io/wording.h"
#include "math/normal.h"
#include "tune/tune.h"

static void add_numbers(const od_tuned *t, od_result *r) {
  static const od_result_column columns[] = {{"path", "number", OD_CELL_TEXT},
                                             {"unit", "unit", OD_CELL_UNIT},
                                             {"before", "before", OD_CELL_NUMBER, 4},
                                             {"after", "tuned", OD_CELL_NUMBER, 4},
                                             {"low", "95 %, from", OD_CELL_NUMBER, 4},
                                             {"high", "to", OD_CELL_NUMBER, 4},
                                             {NULL, NULL, OD_CELL_REMARK}};
  od_result_table *table = od_result_add_table(r, "numbers", columns, 7);
  for (int i = 0; i < t->numbers; i++) {
    const od_tuned_number *n = &t->number[i];
    double spread = exp(OD_NORMAL95 * n->error);
    bool is_bounded = n->may_be_zero || !isfinite(spread);
    od_result_add_row(table, n->unit, fmax(n->before, n->after));
    od_result_cell_text(table, n->path);
    od_result_cell(table, n->before);
    od_result_cell(table, n->after);
    od_result_cell(table, n->may_be_zero ? 0 : is_bounded ? (double)NAN : n->after / spread);
    od_result_cell(table, n->may_be_zero ? n->bound : is_bounded ? (double)NAN : n->after * spread);
    od_result_cell_text(table, n->at_edge                          ? "close to failure"
                               : n->may_be_zero && isnan(n->bound) ? "no effect"
                               : n->may_be_zero                    ? "not distinguishable from zero"
                               : !(n->error < 1)                   ? "not determined"
                                                                   : "");
    od_result_row_set(table, "log_error", od_json_number(n->error));
    od_result_row_set(table, "may_be_zero", json_boolean(n->may_be_zero));
    od_result_row_set(table, "at_edge", json_boolean(n->at_edge));
    od_result_row_set(table, "upper_bound", od_json_number(n->bound));
  }
}

static void add_part(od_result_table *table, const char *part, const char *numbers, const od_tuned_run *run,
                     const od_tuned_part *p, double reference) {
  od_consistency c = od_consistency_of(p->squares, (double)p->used);
  char interval[80];
  snprintf(interval, sizeof interval, "%.4f to %.4f", c.low, c.high);
  od_result_add_row(table, NULL, NAN);
  od_result_cell_text(table, part);
  od_result_cell_text(table, numbers);
  od_result_cell(table, (double)p->count);
  od_result_cell(table, run->failed ? (double)NAN : p->log_likelihood);
  od_result_cell(table, run->failed ? (double)NAN : p->log_likelihood - reference);
  od_result_cell(table, run->failed ? (double)NAN : c.value);
  od_result_mark(table, !(c.value >= c.low && c.value <= c.high));
  od_result_cell_text(table, interval);
  od_result_row_set(table, "nis_low", od_json_number(c.low));
  od_result_row_set(table, "nis_high", od_json_number(c.high));
}

static void add_parts(const od_tuned *t, od_result *r) {
  static const od_result_column columns[] = {{"part", "part", OD_CELL_TEXT},
                                             {"numbers", "numbers", OD_CELL_TEXT},
                                             {"innovations", "innovations", OD_CELL_WHOLE},
                                             {"log_likelihood", "log likelihood", OD_CELL_PLAIN, 8},
                                             {"gain", "gain", OD_CELL_PLAIN, 5},
                                             {"nis", "NIS", OD_CELL_PLAIN, 5},
                                             {NULL, "95 % interval", OD_CELL_TEXT}};
  od_result_table *table = od_result_add_table(r, "parts", columns, 7);
  // Without a complete run before tuning there is no gain.
  double tuned = t->before.failed ? (double)NAN : t->before.tuned.log_likelihood;
  double rest = t->before.failed ? (double)NAN : t->before.rest.log_likelihood;
  add_part(table, "tuning", "before", &t->before, &t->before.tuned, tuned);
  add_part(table, "tuning", "tuned", &t->after, &t->after.tuned, tuned);
  add_part(table, "rest", "before", &t->before, &t->before.rest, rest);
  od_result_begin_group(table);
  add_part(table, "rest", "tuned", &t->after, &t->after.rest, rest);
}

static void add_sensors(const od_experiment *e, const od_tuned *t, od_result *r) {
  static const od_result_column columns[] = {
      {"sensor", "rest of the data", OD_CELL_TEXT}, {"nis_before", "NIS before", OD_CELL_PLAIN, 4},
      {"nis", "tuned", OD_CELL_PLAIN, 4},           {"lag1_before", "lag 1 before", OD_CELL_PLAIN, 3},
      {"lag1", "tuned", OD_CELL_PLAIN, 3},          {"white_before", "p white before", OD_CELL_PLAIN, 3},
      {"white", "tuned", OD_CELL_PLAIN, 3}};
  od_result_table *table = od_result_add_table(r, "sensors", columns, 7);
  for (int i = 0; i < e->sensors; i++) {
    const od_innovations *b = &t->before.rest.sensor[i], *a = &t->after.rest.sensor[i];
    od_result_add_row(table, NULL, NAN);
    od_result_cell_text(table, e->sensor[i].name);
    od_result_cell(table, b->run.square);
    od_result_cell(table, a->run.square);
    od_result_cell(table, b->correlation[1]);
    od_result_cell(table, a->correlation[1]);
    od_result_cell(table, b->chance);
    od_result_cell(table, a->chance);
  }
}

static void add_start(const od_experiment *e, const od_tuned *t, od_result *r) {
  static const od_result_column columns[] = {{"sensor", "first innovation", OD_CELL_TEXT},
                                             {"unit", "unit", OD_CELL_UNIT},
                                             {"value", "value", OD_CELL_NUMBER, 4},
                                             {"sigma", "predicted sigma", OD_CELL_NUMBER, 4},
                                             {"deviations", "value/sigma", OD_CELL_PLAIN, 4}};
  static const od_result_column wanted[] = {{"path", "P0 too small", OD_CELL_TEXT},
                                            {"unit", "unit", OD_CELL_UNIT},
                                            {"sigma", "sigma", OD_CELL_NUMBER, 4},
                                            {"better", "better", OD_CELL_NUMBER, 4},
                                            {"gain", "gain of log likelihood", OD_CELL_PLAIN, 4}};
  od_result_table *table = od_result_add_table(r, "first_innovations", columns, 5);
  for (int i = 0; i < e->sensors; i++) {
    double value = t->after.first_value[i], sigma = t->after.first_sigma[i];
    if (isnan(value)) continue;
    od_result_add_row(table, e->sensor[i].unit, fmax(fabs(value), sigma));
    od_result_cell_text(table, e->sensor[i].name);
    od_result_cell(table, value);
    od_result_cell(table, sigma);
    od_result_cell(table, value / sigma);
    od_result_mark(table, fabs(value) > t->largest_first * sigma);
  }
  table = od_result_add_table(r, "start", wanted, 5);
  for (int i = 0; i < t->starts; i++) {
    const od_tuned_start *s = &t->start[i];
    od_result_add_row(table, s->unit, s->better);
    od_result_cell_text(table, s->path);
    od_result_cell(table, s->sigma);
    od_result_cell(table, s->better);
    od_result_cell(table, s->gain);
  }
  od_result_flag(r, "start_is_contradicted", t->starts > 0 || od_verdict_has(&t->verdict, "tuning.first_innovation"));
}

od_result od_tuned_result(const od_experiment *e, const od_tuned *t) {
  od_result r = od_result_new("Tuning report", e->title && e->title[0] ? e->title : e->path);
  r.doubtful_means = "the tuned observer may report standard deviations that are too small";
  od_result_heading(&r, "%s: tuned on %.6g s to %.6g s, judged on %.6g s to %.6g s", r.title, t->from, t->split,
                    t->split, t->end);
  add_numbers(t, &r);
  add_parts(t, &r);
  add_sensors(e, t, &r);
  add_start(e, t, &r);
  if (t->before.failed) od_result_line(&r, "Before tuning the observer fails: %s", t->before.message);
  od_result_line(&r, "%s, %s.", od_count(t->runs, "run of the observer").text,
                 od_count(t->iterations, "scoring step").text);
  od_result_verdict(&r, &t->verdict);
  od_result_text(&r, "experiment", e->title);
  od_result_text(&r, "file", e->path);
  od_result_text(&r, "variant", e->variant);
  if (e->truth) od_result_set(&r, "seed", json_integer((json_int_t)e->seed));
  od_result_number(&r, "from", t->from);
  od_result_number(&r, "split", t->split);
  od_result_number(&r, "end", t->end);
  od_result_flag(&r, "converged", t->converged);
  od_result_whole(&r, "runs", t->runs);
  od_result_whole(&r, "iterations", t->iterations);
  return r;
}

// --- Picture ----------------------------------------------------------------------------------------------------------

static void add_nis(od_picture *p, const od_experiment *e, const od_tuned_run *run, const char *title) {
  const char **name = OD_TAKE(&p->arena, const char *, e->sensors);
  double *value = OD_TAKE(&p->arena, double, e->sensors);
  if (!name || !value || run->failed) return;
  for (int i = 0; i < e->sensors; i++) name[i] = e->sensor[i].name, value[i] = run->rest.sensor[i].run.square;
  od_panel *panel = od_picture_add_list(p, title, "1", name, value, NULL, e->sensors);
  if (panel) panel->y_log = true;
  od_panel_level(p, panel, 1, "consistent observer");
}

void od_picture_add_tuned(od_picture *p, const od_experiment *e, const od_tuned *t) {
  const char **name = OD_TAKE(&p->arena, const char *, t->numbers);
  double *value = OD_TAKE(&p->arena, double, t->numbers);
  int count = 0;
  if (!name || !value) return;
  for (int i = 0; i < t->numbers; i++) {
    if (!(t->number[i].after > 0) || !(t->number[i].before > 0)) continue;
    name[count] = t->number[i].path, value[count++] = t->number[i].after / t->number[i].before;
  }
  od_panel *panel =
      od_picture_add_list(p, "tuned standard deviations, relative to the file", "1", name, value, NULL, count);
  if (panel) panel->y_log = true;
  od_panel_level(p, panel, 1, "value of the file");
  add_nis(p, e, &t->before, "NIS of the rest of the data, before");
  add_nis(p, e, &t->after, "NIS of the rest of the data, tuned");
}
