#include "study/study_summary.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/json.h"
#include "io/wording.h"

od_starred_text od_study_row_text(const od_study_row *row, double factor) {
  od_starred_text t = {"- "};
  if (!row || isnan(row->value)) return t;
  int length = od_number_round(t.text, row->value * factor, 4);
  memcpy(t.text + length, od_study_row_outside(row) ? "*" : " ", 2);
  return t;
}

void od_study_add_effort(od_result *r, const od_study_result *study) {
  od_result_line(r, "%s in %.1f s on %s", od_count(study->done, "run").text, study->seconds,
                 od_count(study->threads, "thread").text);
}

static void add_row(od_result_table *t, const od_study_row *row, bool is_first_of_case) {
  const od_metric *m = row->metric;
  const double value[] = {row->low, row->high, m->bound};
  od_result_add_row(t, NULL, NAN);
  od_result_row_set(t, "case", od_json_text(row->case_name));
  od_result_cell_text(t, is_first_of_case ? row->case_name : "");
  od_result_cell_text(t, m->name);
  od_result_cell_shown(t, row->value, od_study_row_text(row, 1).text);
  od_result_cell_text(t, strcmp(m->unit, "1") ? m->unit : "");
  for (int i = 0; i < 3; i++) od_result_cell(t, value[i]);
  for (int i = 0; i < OD_ORIGINS; i++) od_result_cell(t, m->known[i]);
  od_result_cell(t, (double)row->runs);
  od_result_row_set(t, "unit", od_json_text(m->unit));
  if (od_study_row_expects(row)) od_result_row_set(t, "outside", json_boolean(od_study_row_outside(row)));
}

// Returns whether a metric of the rows has a value of this origin.
static bool has_known_value(const od_study_result *r, od_origin origin) {
  for (int i = 0; i < r->rows; i++)
    if (!isnan(r->row[i].metric->known[origin])) return true;
  return false;
}

od_result od_study_summary(const od_study *s, const od_study_result *r, int files) {
  enum { FIRST_ORIGIN = 7, COLUMNS = FIRST_ORIGIN + OD_ORIGINS + 1 };
  od_result_column columns[COLUMNS] = {
      {NULL, "case", OD_CELL_TEXT},          {"metric", "metric", OD_CELL_TEXT},
      {"value", "value ", OD_CELL_PLAIN},    {NULL, "unit", OD_CELL_TEXT},
      {"low", "99 % low", OD_CELL_PLAIN, 4}, {"high", "high", OD_CELL_PLAIN, 4},
      {"bound", "bound", OD_CELL_PLAIN, 4},  [COLUMNS - 1] = {"runs", "runs", OD_CELL_WHOLE}};
  // An origin without values is only in the data.
  for (int i = 0; i < OD_ORIGINS; i++) {
    const char *name = od_origin_names[i];
    columns[FIRST_ORIGIN + i] =
        (od_result_column){name, has_known_value(r, (od_origin)i) ? name : NULL, OD_CELL_PLAIN, 4};
  }
  od_result result = od_result_new("Study", s->title);
  od_result_heading(&result, "%s", s->title);
  od_result_table *t = od_result_add_table(&result, "rows", columns, COLUMNS);
  int outside = 0;
  for (int i = 0; i < r->rows; i++) {
    add_row(t, &r->row[i], i == 0 || strcmp(r->row[i].case_name, r->row[i - 1].case_name) != 0);
    outside += od_study_row_outside(&r->row[i]);
  }
  if (outside > 0)
    od_result_line(&result, "* %s outside the interval of a consistent estimator", od_count(outside, "value").text);
  if (files > 0)
    od_result_line(&result, "%s from %s", od_count(r->done, "run").text, od_count(files, "file").text);
  else
    od_study_add_effort(&result, r);
  return result;
}
