#include "inverse/inverse_run.h"

#include <math.h>

#include "io/display.h"
#include "io/json.h"
#include "io/plot.h"
#include "machine/machine_result.h"

static void add_data(const od_inverse_findings *f, od_result *r) {
  const od_inverse_options *o = f->options;
  const od_table *t = f->run->table;
  json_t *drives = json_array();
  for (int d = 0; d < o->drives; d++)
    json_array_append_new(
        drives, json_pack("{s:o, s:o}", "name", od_json_text(od_inverse_drive_name(f->machine, &o->drive[d])), "kind",
                          od_json_text(od_inverse_drive_noun(f->machine, &o->drive[d]))));
  od_result_number(r, "begin", o->begin);
  od_result_number(r, "end", t->data[(t->rows - 1) * t->columns]);
  od_result_number(r, "step", o->step);
  od_result_flag(r, "complete", !f->message);
  if (f->message) od_result_text(r, "message", f->message);
  od_result_set(r, "drives", drives);
}

// Returns the row with the largest magnitude of a column.
static long peak_row(const od_table *t, int column) {
  long at = 0;
  for (long k = 1; k < t->rows; k++)
    if (fabs(t->data[k * t->columns + column]) > fabs(t->data[at * t->columns + column])) at = k;
  return at;
}

// Adds the peak of each column with its time, the opposite end of its range, and its root mean square.
static void add_quantities(const od_table *t, od_result *r) {
  static const od_result_column columns[] = {{"name", "quantity", OD_CELL_TEXT},  {"unit", "unit", OD_CELL_UNIT},
                                             {"peak", "peak", OD_CELL_NUMBER},    {"peak_at", "at, s", OD_CELL_PLAIN},
                                             {NULL, "other end", OD_CELL_NUMBER}, {"rms", "rms", OD_CELL_NUMBER},
                                             {"min", NULL, OD_CELL_NUMBER},       {"max", NULL, OD_CELL_NUMBER}};
  od_result_table *to = od_result_add_table(r, "quantities", columns, 8);
  for (int c = 1; c < t->columns; c++) {
    od_summary s = od_table_summary(t, c);
    long at = peak_row(t, c);
    double peak = t->data[at * t->columns + c];
    const double value[] = {peak, t->data[at * t->columns], peak == s.min ? s.max : s.min, s.rms, s.min, s.max};
    od_result_add_row(to, t->unit[c], fmax(fabs(s.min), fabs(s.max)));
    od_result_cell_text(to, t->name[c]);
    for (int i = 0; i < 6; i++) od_result_cell(to, value[i]);
  }
}

// Reports how the rates of sampled motions were computed.
static void add_smoothing(const od_inverse_findings *f, od_result *r) {
  json_t *list = json_object();
  for (int i = 0; i < f->options->moves - f->options->loose; i++) {
    const od_trajectory *motion = &f->options->motion[i];
    const char *name = od_machine_output_name(f->machine, f->options->moved[i]);
    int window = motion->smoothing.window;
    bool is_chosen = motion->smoothing.chosen;
    if (window == 0) continue;
    json_object_set_new(list, name,
                        json_pack("{s:i, s:b, s:o}", "rows", window, "chosen", is_chosen, "noise",
                                  od_json_number(motion->smoothing.noise)));
    od_result_line(r, "Rates of %s: polynomials of degree %d %s %d samples (%s)%s.", name, window > 6 ? 6 : window - 1,
                   window > 7 ? "fitted to" : "through", window,
                   od_duration_text(motion->spacing * (window - 1), 3).text,
                   is_chosen ? "; cross-validation selected the window" : "");
  }
  od_result_set(r, "smoothing", list);
}

static void add_pressure_rule(const od_inverse_findings *f, od_result *r) {
  const od_inverse_options *o = f->options;
  bool is_sum = o->rule == OD_RULE_SUM;
  if (f->run->supply_flow < 0) return;
  od_result_text(r, "pressure_rule", is_sum ? "sum" : "back");
  od_result_number(r, "pressure", o->pressure);
  od_result_line(r,
                 "%s %s; a chamber at a tank has the pressure of the tank. Flows of cylinders and motors include "
                 "leakage; return flow is not reused.",
                 is_sum ? "The sum of the pressures of both chambers is"
                        : "The lowest pressure of a chamber is the back pressure,",
                 od_display_quantity(o->pressure, "Pa").text);
}

od_result od_inverse_findings_result(const od_inverse_findings *f) {
  const od_table *t = f->run->table;
  od_result r = od_machine_result("Inverse dynamics", f->machine);
  add_data(f, &r);
  od_result_heading(&r, "%.200s: efforts for the motion over %s, rows every %s", r.title,
                    od_duration_text(t->data[(t->rows - 1) * t->columns] - t->data[0], 6).text,
                    od_duration_text(f->options->step, 6).text);
  add_quantities(t, &r);
  add_smoothing(f, &r);
  add_pressure_rule(f, &r);
  od_result_verdict(&r, &f->run->verdict);
  return r;
}

od_status od_inverse_findings_write_plot(const void *user, const char *path, od_error *err) {
  const od_inverse_findings *f = user;
  return od_plot_write(f->run->table, NULL, od_machine_caption(f->machine),
                       "efforts, pressures and flows of the prescribed motion", path, err);
}
