// The result of a series: mean and spread of the estimates of several runs, and the estimates of each run.
#include <math.h>

#include "io/json.h"
#include "io/wording.h"
#include "report/friction_result.h"
#include "report/page_values.h"

static json_t *numbers_json(const double *x, int count) {
  json_t *list = json_array();
  for (int i = 0; i < count; i++) json_array_append_new(list, od_json_number(x[i]));
  return list;
}

static void add_parameters(const od_friction_series *s, od_result *r) {
  bool has_truth = false;
  for (int i = 0; i < s->parameters; i++) has_truth = has_truth || !isnan(s->parameter[i].truth);
  const od_result_column columns[] = {{NULL, "parameter", OD_CELL_TEXT},
                                      {"unit", "unit", OD_CELL_UNIT},
                                      {"mean", "mean", OD_CELL_NUMBER},
                                      {"spread", "spread", OD_CELL_NUMBER},
                                      {NULL, "spread, %", OD_CELL_PLAIN, 3},
                                      {"reported", "reported sigma", OD_CELL_NUMBER},
                                      {"chi_squared", "chi2", OD_CELL_PLAIN, 3},
                                      {"truth", has_truth ? "true" : NULL, OD_CELL_NUMBER},
                                      {NULL, has_truth ? "error of the mean, %" : NULL, OD_CELL_PLAIN, .decimals = 3}};
  od_result_section(r, "Parameters");
  od_result_table *t = od_result_add_map(r, "parameters", columns, (int)(sizeof columns / sizeof *columns));
  for (int i = 0; i < s->parameters; i++) {
    const od_series_parameter *p = &s->parameter[i];
    od_result_add_row(t, p->unit, od_larger(p->mean, p->truth));
    od_result_cell_text(t, p->key);
    od_result_cell_value(t, p->mean, p->spread);
    od_result_cell_uncertainty(t, p->spread);
    od_result_cell(t, 100 * p->spread / fabs(p->mean));
    od_result_cell_uncertainty(t, p->reported);
    od_result_cell(t, p->chi_squared);
    od_result_cell_value(t, p->truth, NAN);
    od_result_cell(t, 100 * (p->mean / p->truth - 1));
    od_result_row_set(t, "estimates", numbers_json(p->estimate, s->runs));
    od_result_row_set(t, "sigmas", numbers_json(p->sigma, s->runs));
  }
}

od_result od_friction_series_result(const od_friction_series *s) {
  const od_friction_plan *plan = s->plan;
  od_result r = od_result_new("Friction of several runs", plan->title);
  r.doubtful_means = "errors may be larger than the spread";
  od_result_audience(&r, OD_FOR_TERMINAL);
  od_result_heading(&r, "%s", plan->title);
  od_result_audience(&r, OD_FOR_ALL);
  od_result_text(&r, "title", plan->title);
  od_result_text(&r, "law", plan->start.law->name);
  od_result_text(&r, "method", od_friction_methods[plan->method]);
  od_result_whole(&r, "runs", s->runs);
  od_result_whole(&r, "failed", s->failed);
  od_result_whole(&r, "doubtful", s->doubtful);
  od_result_set(&r, "rms_residuals", numbers_json(s->rms, s->runs));
  od_result_line(&r, "%s, method %s, %s. The spread is the standard deviation of the estimates of the runs.",
                 plan->start.law->name, od_friction_methods[plan->method], od_count(s->runs, "run").text);
  add_parameters(s, &r);
  od_result_verdict(&r, &s->verdict);
  return r;
}

od_table *od_friction_series_table(const od_friction_series *s) {
  int columns = 2 + 2 * s->parameters;
  OD_OWNED(od_table_free) od_table *t = od_table_new(columns);
  double row[2 + 2 * OD_MOST_LAW_NUMBERS];
  bool ok = t && od_table_label(t, 0, "run", "1") == OD_OK && od_table_label(t, 1, "rms_residual", "N") == OD_OK;
  for (int i = 0; ok && i < s->parameters; i++) {
    char name[100];
    snprintf(name, sizeof name, "%.80s sigma", s->parameter[i].key);
    ok = od_table_label(t, 2 + 2 * i, s->parameter[i].key, s->parameter[i].unit) == OD_OK &&
         od_table_label(t, 3 + 2 * i, name, s->parameter[i].unit) == OD_OK;
  }
  for (int k = 0; ok && k < s->runs; k++) {
    row[0] = k + 1, row[1] = s->rms[k];
    for (int i = 0; i < s->parameters; i++)
      row[2 + 2 * i] = s->parameter[i].estimate[k], row[3 + 2 * i] = s->parameter[i].sigma[k];
    ok = od_table_append(t, row) == OD_OK;
  }
  return ok ? OD_GIVE(t) : NULL;
}
