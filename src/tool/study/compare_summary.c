#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/json.h"
#include "study/study_summary.h"

enum { MOST_METRICS = 6, MOST_COLUMNS = MOST_METRICS + 9 };  // limits of the table; the JSON data contain all metrics

// The columns of the table, in their order.
typedef struct layout {
  od_result_column column[MOST_COLUMNS];
  int columns;
  const od_metric *metric[MOST_METRICS];
  od_display unit[MOST_METRICS];
  char title[MOST_METRICS][100];
  int metrics;
} layout;

// Returns the display unit of a metric that suits its largest value.
static od_display unit_of(const od_comparison *c, const od_study_result *r, const od_metric *metric) {
  double most = 0;
  for (int i = 0; i < c->rows; i++) {
    const od_study_row *row = od_comparison_find(c, r, &c->row[i], metric->name);
    if (row && isfinite(row->value)) most = fmax(most, fabs(row->value));
  }
  return od_display_unit(metric->unit, most);
}

static void add_column(layout *l, const char *key, const char *heading, od_cell_kind kind, int digits) {
  l->column[l->columns++] = (od_result_column){key, heading, kind, digits};
}

// Lays out the columns. All cases have the metrics of the file, as their first metrics.
static void lay_out(const od_comparison *c, const od_study_result *r, layout *l) {
  const od_case *first = c->study.cases > 0 ? &c->study.item[0] : NULL;
  add_column(l, NULL, "filter", OD_CELL_TEXT, 0);
  if (c->by_sensors) add_column(l, NULL, "sensors", OD_CELL_TEXT, 0);
  if (c->by_variant) add_column(l, NULL, "variant", OD_CELL_TEXT, 0);
  if (c->by_step) add_column(l, NULL, "step", OD_CELL_TEXT, 0);
  for (int i = 0; first && i < first->metrics && l->metrics < MOST_METRICS; i++) {
    const od_metric *m = &first->metric[i];
    if (strcmp(m->name, OD_COMPARE_NIS) == 0) break;
    int k = l->metrics++;
    l->metric[k] = m;
    l->unit[k] = unit_of(c, r, m);
    snprintf(l->title[k], sizeof l->title[k], "%.60s%s%.30s ", m->name, *l->unit[k].unit ? ", " : "", l->unit[k].unit);
    add_column(l, NULL, l->title[k], OD_CELL_PLAIN, 0);
  }
  add_column(l, NULL, "NIS ", OD_CELL_PLAIN, 0);
  add_column(l, NULL, "diverged", OD_CELL_WHOLE, 0);
  add_column(l, NULL, "us/step", OD_CELL_PLAIN, 3);
  add_column(l, "times_real_time", "real time", OD_CELL_PLAIN, 0);
  add_column(l, "problem", NULL, OD_CELL_REMARK, 0);
}

static json_t *metrics_json(const od_comparison *c, const od_study_result *r, const od_compared *row) {
  json_t *list = json_array();
  for (int i = 0; row->item >= 0 && i < c->study.item[row->item].metrics; i++) {
    const od_study_row *found = od_comparison_find(c, r, row, c->study.item[row->item].metric[i].name);
    json_t *item =
        json_pack("{s:o, s:o, s:o, s:o, s:o, s:I}", "metric", od_json_text(found->metric->name), "unit",
                  od_json_text(found->metric->unit), "value", od_json_number(found->value), "low",
                  od_json_number(found->low), "high", od_json_number(found->high), "runs", (json_int_t)found->runs);
    if (od_study_row_expects(found)) json_object_set_new(item, "outside", json_boolean(od_study_row_outside(found)));
    json_array_append_new(list, item);
  }
  return list;
}

static const char *text_or(const char *text, const char *otherwise) {
  return text ? text : otherwise;
}

static void add_row(const od_comparison *c, const od_study_result *r, const od_compared *row, const layout *l,
                    od_result_table *t) {
  const od_study_row *cost = od_comparison_find(c, r, row, OD_COMPARE_COST);
  const od_study_row *diverged = od_comparison_find(c, r, row, OD_COMPARE_DIVERGED);
  double speed = cost ? 1e6 * row->seconds / cost->value : (double)NAN;
  bool is_run = !row->problem;
  char times[40] = "";
  if (is_run) snprintf(times, sizeof times, "%.0fx", speed);
  od_result_add_row(t, NULL, NAN);
  od_result_cell_text(t, text_or(row->filter, "no correction"));
  if (c->by_sensors) od_result_cell_text(t, text_or(row->sensors, "-"));
  if (c->by_variant) od_result_cell_text(t, text_or(row->variant, "-"));
  if (c->by_step) od_result_cell_text(t, text_or(row->step, "-"));
  for (int k = 0; k <= l->metrics; k++) {
    const char *name = k < l->metrics ? l->metric[k]->name : OD_COMPARE_NIS;
    od_starred_text value =
        od_study_row_text(od_comparison_find(c, r, row, name), k < l->metrics ? l->unit[k].factor : 1);
    od_result_cell_text(t, is_run ? value.text : "");
  }
  if (is_run) {
    od_result_cell(t, diverged ? diverged->value : (double)NAN);
    od_result_cell(t, cost ? cost->value : (double)NAN);
  } else {
    od_result_cell_text(t, "");
    od_result_cell_text(t, "");
  }
  od_result_cell_shown(t, speed, times);
  od_result_cell_text(t, row->problem);
  od_result_row_set(t, "filter", od_json_text(row->filter));
  od_result_row_set(t, "sensors", od_json_text(row->sensors));
  od_result_row_set(t, "variant", od_json_text(row->variant));
  od_result_row_set(t, "step", od_json_number(row->seconds));
  od_result_row_set(t, "metrics", metrics_json(c, r, row));
}

od_result od_comparison_summary(const od_comparison *c, const od_study_result *r) {
  od_result result = od_result_new("Comparison", c->study.title);
  layout l = {0};
  lay_out(c, r, &l);
  od_result_text(&result, "experiment", c->study.title);
  od_result_text(&result, "file", c->study.path);
  od_result_whole(&result, "runs", r->done);
  od_result_flag(&result, "complete", r->done == r->all);
  od_result_heading(&result, "%s", c->study.title);
  od_result_table *t = od_result_add_table(&result, "rows", l.column, l.columns);
  for (int i = 0; i < c->rows; i++) add_row(c, r, &c->row[i], &l, t);
  od_result_line(&result, "* outside the 99 %% interval of a consistent estimator");
  od_study_add_effort(&result, r);
  return result;
}
