// Creates the result of a sweep.
#include <math.h>
#include <stdio.h>

#include "io/display.h"
#include "io/json.h"
#include "io/wording.h"
#include "sweep/draw_statistics.h"
#include "sweep/sweep.h"

enum { SHOWN_RESULTS = 8, SHOWN_FAILURES = 5 };

static const char *failure_text(const od_sweep *s, int point) {
  return s->err[point].text[0] ? s->err[point].text : od_status_text(s->status[point]);
}

// --- Data -------------------------------------------------------------------------------------------------------------

static void add_data(const od_sweep *s, const od_table *t, od_result *r) {
  json_t *columns = json_array(), *rows = json_array(), *failures = json_array();
  for (int i = 0; i < t->columns; i++)
    json_array_append_new(columns, json_pack("{s:o, s:o, s:b}", "name", od_json_text(t->name[i]), "unit",
                                             od_json_text(t->unit[i]), "swept", i < s->plan.axes));
  for (int k = 0; k < s->plan.points; k++) {
    json_array_append_new(rows, od_json_numbers(t->data + (long)k * t->columns, t->columns, 1));
    if (s->status[k] != OD_OK)
      json_array_append_new(failures, json_pack("{s:i, s:o}", "row", k, "message", od_json_text(failure_text(s, k))));
  }
  od_result_set(r, "columns", columns);
  od_result_set(r, "rows", rows);
  od_result_set(r, "failures", failures);
  if (s->plan.is_drawn) od_result_set(r, "seed", json_integer((json_int_t)s->plan.seed));
}

// --- View -------------------------------------------------------------------------------------------------------------

// Adds a row for each point of the sweep.
static void add_points(const od_sweep *s, const od_table *t, od_result *r) {
  int most = s->plan.axes + SHOWN_RESULTS, shown = t->columns > most ? most : t->columns;
  od_result_column column[OD_SWEEP_AXES + SHOWN_RESULTS] = {0};
  char heading[OD_SWEEP_AXES + SHOWN_RESULTS][600];
  double factor[OD_SWEEP_AXES + SHOWN_RESULTS];
  for (int c = 0; c < shown; c++) {
    double largest = NAN;
    for (long k = 0; k < t->rows; k++) largest = fmax(largest, fabs(t->data[k * t->columns + c]));
    od_display unit = od_display_unit(t->unit[c], largest);
    snprintf(heading[c], sizeof *heading, unit.unit[0] ? "%.500s (%s)" : "%.500s%s", t->name[c], unit.unit);
    column[c] = (od_result_column){NULL, heading[c], OD_CELL_PLAIN};
    factor[c] = unit.factor;
  }
  od_result_table *points = od_result_add_table(r, NULL, column, shown);
  for (long k = 0; k < t->rows; k++) {
    od_result_add_row(points, NULL, NAN);
    for (int c = 0; c < shown; c++) od_result_cell(points, t->data[k * t->columns + c] * factor[c]);
  }
  if (shown < t->columns)
    od_result_line(r, "%d more column%s in the files of --csv, --mat and --json", t->columns - shown,
                   t->columns - shown == 1 ? " is" : "s are");
}

// Adds a row for each column: its statistics over the draws.
static void add_statistics(const od_sweep *s, const od_table *t, od_result *r) {
  od_result_column column[5 + OD_DRAW_LEVELS] = {{"name", "result over the draws", OD_CELL_TEXT},
                                                 {"unit", "unit", OD_CELL_UNIT},
                                                 {"count", NULL, OD_CELL_WHOLE},
                                                 {"mean", "mean", OD_CELL_NUMBER},
                                                 {"deviation", "deviation", OD_CELL_NUMBER}};
  char heading[OD_DRAW_LEVELS][16];
  for (int k = 0; k < OD_DRAW_LEVELS; k++) {
    snprintf(heading[k], sizeof *heading, "%g %%", 100 * od_draw_levels[k]);
    column[5 + k] = (od_result_column){NULL, heading[k], OD_CELL_NUMBER};
  }
  od_result_line(r, "%s, seed %llu", od_count(s->plan.points, "draw").text, s->plan.seed);
  od_result_table *over = od_result_add_table(r, "over_draws", column, 5 + OD_DRAW_LEVELS);
  for (int c = 0; c < t->columns; c++) {
    od_draw_statistics found;
    if (!od_draw_statistics_of(t, c, &found)) r->is_short_of_memory = true;
    json_t *levels = json_array();
    od_result_add_row(over, t->unit[c], fmax(fabs(found.quantile[0]), fabs(found.quantile[OD_DRAW_LEVELS - 1])));
    od_result_cell_text(over, t->name[c]);
    od_result_cell(over, (double)found.count);
    od_result_cell(over, found.mean);
    od_result_cell(over, found.deviation);
    for (int k = 0; k < OD_DRAW_LEVELS; k++) {
      od_result_cell(over, found.quantile[k]);
      json_array_append_new(levels, json_pack("{s:o, s:o}", "level", od_json_number(od_draw_levels[k]), "value",
                                              od_json_number(found.quantile[k])));
    }
    od_result_row_set(over, "quantiles", levels);
  }
}

// Adds a finding for each of the first failures, with the point before the message: "boom.mass = 100 kg, ram.bore = 50 mm:".
static void add_failures(const od_sweep *s, od_result *r) {
  int failed = 0;
  for (int k = 0; k < s->plan.points; k++) {
    char point[600] = "";
    if (s->status[k] == OD_OK || s->status[k] == OD_INTERRUPTED || ++failed > SHOWN_FAILURES) continue;
    size_t used = 0;
    for (int i = 0; i < s->plan.axes && used < sizeof point; i++)
      used += (size_t)snprintf(point + used, sizeof point - used, "%s%s = %s%s", i ? ", " : "", s->plan.axis[i].path,
                               od_display_quantity(s->value[k * s->plan.axes + i], s->plan.axis[i].si).text,
                               i + 1 == s->plan.axes ? ":" : "");
    od_result_finding(r, OD_DOUBTFUL, point, "%s", failure_text(s, k));
  }
  if (failed > SHOWN_FAILURES)
    od_result_finding(r, OD_DOUBTFUL, "More failed points:", "%d point%s", failed - SHOWN_FAILURES,
                      failed > SHOWN_FAILURES + 1 ? "s" : "");
}

od_result od_sweep_result(const od_sweep *s, const od_table *table) {
  od_result r = od_result_new("Sweep", s->title);
  if (table) {
    add_data(s, table, &r);
    if (s->plan.is_drawn)
      add_statistics(s, table, &r);
    else
      add_points(s, table, &r);
  }
  add_failures(s, &r);
  return r;
}
