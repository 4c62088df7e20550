#include "optimize/optimize.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/display.h"
#include "io/json.h"
#include "io/search_history.h"
#include "io/wording.h"

static void add_numbers(const od_optimize_options *o, const od_ls_result *search, od_result *r) {
  static const od_result_column columns[] = {{"path", "number", OD_CELL_TEXT},   {"unit", "unit", OD_CELL_UNIT},
                                             {"value", "found", OD_CELL_NUMBER}, {"low", "from", OD_CELL_NUMBER},
                                             {"high", "to", OD_CELL_NUMBER},     {NULL, NULL, OD_CELL_REMARK}};
  od_result_table *t = od_result_add_table(r, "numbers", columns, 6);
  for (int i = 0; i < o->numbers; i++) {
    const od_free_number *f = &o->number[i];
    int at = search->at_bound[i];
    od_result_add_row(t, f->unit, fmax(fabs(f->low), fabs(f->high)));
    od_result_cell_text(t, f->path);
    od_result_cell(t, search->x[i]);
    od_result_cell(t, f->low);
    od_result_cell(t, f->high);
    od_result_cell_text(t, at < 0 ? "at its lower bound" : at > 0 ? "at its upper bound" : "");
    od_result_row_set(t, "at", json_string(at < 0 ? "lower" : at > 0 ? "upper" : "between"));
  }
}

static void add_goals(const od_optimize_options *o, const od_machine *machine, od_result *r) {
  static const od_result_column columns[] = {{"goal", "goal", OD_CELL_TEXT},
                                             {NULL, "unit", OD_CELL_UNIT},
                                             {"target", "wanted", OD_CELL_NUMBER},
                                             {"value", "reached", OD_CELL_NUMBER},
                                             {NULL, "outcome", OD_CELL_TEXT}};
  od_result_table *t = od_result_add_table(r, "goals", columns, 5);
  for (int i = 0; i < o->goals; i++) {
    const od_goal *g = &o->goal[i];
    od_result_add_row(t, od_machine_output_unit(machine, g->output), fmax(fabs(g->target), fabs(g->value)));
    od_result_cell_text(t, g->name);
    od_result_cell(t, g->target);
    od_result_cell(t, g->value);
    od_result_cell_text(t, g->met ? "met" : "not met");
    od_result_mark(t, !g->met);
    od_result_row_set(t, "met", json_boolean(g->met));
  }
}

// Describes the outcome of the search in words.
static void verdict_text(const od_optimize_result *r, char *text, size_t size) {
  const char *reason = od_ls_reason_text(r->search->reason);
  int count, undecided = 0;
  const od_judgment *j = od_judge_results(r->judge, &count);
  for (int i = 0; i < count; i++) undecided += j[i].outcome == OD_UNDECIDED;
  if (r->unmet == 0)
    snprintf(text, size, "All goals are met (%s).", reason);
  else if (r->unmet == undecided)
    snprintf(text, size,
             "%s %s undecided; all other goals are met (%s). The search counts undecided requirements as met, "
             "so the search ended; use shorter steps or a tighter tolerance.",
             od_count(undecided, "requirement").text, od_form(undecided, "is", "are"), reason);
  else if (r->minimum)
    snprintf(text, size,
             "%s %s not met. The search ended at a minimum within the bounds (%s): no better numbers are nearby; try "
             "wider bounds, other numbers or --starts.",
             od_count(r->unmet, "goal").text, od_form(r->unmet, "is", "are"), reason);
  else
    snprintf(
        text, size,
        "%s %s not met, and the search did not end at a minimum: %s. Try other initial values (--set) or --starts.",
        od_count(r->unmet, "goal").text, od_form(r->unmet, "is", "are"), reason);
}

// Adds a remark if the start value was outside the range.
static void add_start(const od_free_number *f, od_verdict *v) {
  if (f->start >= f->low && f->start <= f->high) return;
  char cell[3][80];
  const double value[3] = {f->start, f->low, f->high};
  for (int k = 0; k < 3; k++) snprintf(cell[k], sizeof *cell, "%.79s", od_display_quantity(value[k], f->unit).text);
  od_verdict_add(v, OD_DOUBTFUL, "search.start",
                 "Initial value out of range:", "'%s' is %s, but its range is from %s to %s; the search began at %s",
                 f->path, cell[0], cell[1], cell[2], cell[f->start < f->low ? 1 : 2]);
}

static void add_warnings(const od_optimize_options *o, const od_optimize_result *found, od_result *r) {
  od_verdict v = {0};
  int count;
  const od_judgment *j = od_judge_results(found->judge, &count);
  for (int i = 0; i < o->numbers; i++) add_start(&o->number[i], &v);
  for (int i = 0; i < count; i++)
    if (j[i].outcome == OD_UNDECIDED)
      od_verdict_add(&v, OD_DOUBTFUL, "search.undecided", "Undecided requirement:",
                     "'%.100s': %.300s. The search counts this requirement as met and may "
                     "have ended early",
                     j[i].requirement->name, j[i].note);
  if (!od_verdict_is_complete(&v)) r->is_short_of_memory = true;
  od_result_warnings(r, &v);
  od_verdict_free(&v);
}

// Adds the options with which other commands use the numbers found.
static void add_settings(const od_optimize_options *o, const od_optimize_result *found, od_result *r) {
  const char *text = "";
  for (int i = 0; i < o->numbers && text; i++)
    text = od_arena_format(&r->arena, "%s --set %s=%.10g", text, o->number[i].path, found->search->x[i]);
  if (!text) r->is_short_of_memory = true;
  od_result_line(r, "%s. Options for other commands:%s", od_count(found->runs, "run").text, text ? text : "");
}

od_result od_optimize_findings(const od_optimize_options *o, const od_optimize_result *found) {
  char text[400];
  od_result r = od_result_new("Search", od_machine_title(found->machine));
  verdict_text(found, text, sizeof text);
  od_result_heading(&r, "%s", r.title);
  add_numbers(o, found->search, &r);
  od_add_judgments(&r, found->judge);
  add_goals(o, found->machine, &r);
  od_result_line(&r, "%s", text);
  add_settings(o, found, &r);
  add_warnings(o, found, &r);
  od_result_verdict(&r, &found->verdict);
  // The field "verdict" is about the search; the verdict on the run has its own field.
  od_result_set(&r, "run_verdict", od_verdict_json(&found->verdict));
  od_result_text(&r, "verdict", text);
  od_result_whole(&r, "unmet", found->unmet);
  od_result_flag(&r, "minimum", found->minimum);
  od_result_text(&r, "reason", od_ls_reason_text(found->search->reason));
  od_result_whole(&r, "runs", found->runs);
  return r;
}

// --- Picture ----------------------------------------------------------------------------------------------------------

void od_picture_add_optimized(od_picture *p, const od_optimize_options *o, const od_optimize_result *found) {
  const od_table *t = found->run;
  od_picture_add_history(p, found->history);
  for (int c = 1; t && t->rows > 1 && c < t->columns; c++) {
    bool is_repeated = false;
    for (int k = 1; k < c; k++) is_repeated = is_repeated || strcmp(t->name[k], t->name[c]) == 0;
    if (is_repeated) continue;
    od_panel *panel = od_picture_add(p, (od_panel){.title = t->name[c],
                                                   .note = "with the numbers found",
                                                   .x_name = "time",
                                                   .x_unit = "s",
                                                   .y_unit = t->unit[c]});
    od_panel_add(p, panel,
                 (od_panel_line){.x = {t->data, t->rows, t->columns, 1}, .y = {t->data + c, t->rows, t->columns, 1}});
    for (int k = 0; k < o->goals; k++)
      if (strcmp(od_machine_output_name(found->machine, o->goal[k].output), t->name[c]) == 0)
        od_panel_level(p, panel, o->goal[k].target, o->goal[k].name);
  }
}
