#include "report/run_result.h"

#include <math.h>
#include <string.h>

#include "io/json.h"
#include "machine/machine_result.h"
#include "report/machine_facts.h"
#include "report/page_values.h"
#include "requirements/judge.h"

// Returns the duration that the table covers, s.
static double covered_time(const od_run_findings *run) {
  const od_table *t = run->table;
  return t->rows > 0 ? t->data[(t->rows - 1) * t->columns] - t->data[0] : 0;
}

void od_run_describe(const od_run_findings *run, char *text, size_t size) {
  od_duration time = od_duration_text(covered_time(run), 6);
  if (run->step > 0)
    snprintf(text, size, "%s in steps of %s, %s", time.text, od_duration_text(run->step, 6).text, run->integrator);
  else
    snprintf(text, size, "%s in %ld adaptive steps, %s", time.text, run->report->steps, run->integrator);
}

// --- Data -------------------------------------------------------------------------------------------------------------

static void add_data(const od_run_findings *run, od_result *r) {
  static const char *const source[] = {
      [OD_ERROR_UNKNOWN] = "unknown", [OD_ERROR_MEASURED] = "measured", [OD_ERROR_ESTIMATED] = "estimated"};
  const od_run_accuracy *a = &run->report->accuracy;
  od_result_number(r, "time", covered_time(run));
  od_result_set(r, "step", run->step > 0 ? od_json_number(run->step) : json_string("auto"));
  od_result_text(r, "integrator", run->integrator);
  od_result_whole(r, "steps", run->report->steps);
  od_result_whole(r, "repartitions", run->report->repartitions);
  od_result_number(r, "seconds", run->report->seconds);
  od_result_text(r, "error_source", source[a->source]);
  if (a->source != OD_ERROR_UNKNOWN && !(run->step > 0)) od_result_number(r, "tolerance", a->tolerance);
  od_result_number(r, "predictable_until", a->predictable);
  od_result_flag(r, "complete", !run->message);
  if (run->message) od_result_text(r, "message", run->message);
}

// --- View and data ----------------------------------------------------------------------------------------------------

static void add_outputs(const od_run_findings *run, od_result *r) {
  static const od_result_column columns[] = {{"name", "output", OD_CELL_TEXT},       {"unit", "unit", OD_CELL_UNIT},
                                             {"min", "min", OD_CELL_NUMBER},         {"max", "max", OD_CELL_NUMBER},
                                             {"rms", "rms", OD_CELL_NUMBER},         {"final", "final", OD_CELL_NUMBER},
                                             {"error_percent", NULL, OD_CELL_PLAIN}, {"error_at", NULL, OD_CELL_PLAIN}};
  const od_run_accuracy *a = &run->report->accuracy;
  const od_table *t = run->table;
  od_result_table *outputs = od_result_add_table(r, "outputs", columns, a->error ? 8 : 6);
  for (int c = 1; c < t->columns; c++) {
    od_summary s = od_table_summary(t, c);
    const double value[] = {s.min, s.max, s.rms, s.final};
    od_result_add_row(outputs, t->unit[c], fmax(fabs(s.min), fabs(s.max)));
    od_result_cell_text(outputs, t->name[c]);
    for (int i = 0; i < 4; i++) od_result_cell(outputs, value[i]);
    if (!a->error) continue;
    od_result_cell(outputs, 100 * a->error[c - 1].part);
    od_result_cell(outputs, a->error[c - 1].at);
  }
}

static void add_speed(const od_run_findings *run, od_result *r) {
  double time = covered_time(run), seconds = run->report->seconds, ratio = time / seconds;
  char speed[80] = "";
  if (time > 0 && seconds > 0)
    snprintf(speed, sizeof speed, ": %.10g times %s than real time", od_two_digits(ratio >= 1 ? ratio : 1 / ratio),
             ratio >= 1 ? "faster" : "slower");
  od_result_line(r, "%s in %s%s", od_duration_text(time, 6).text, od_duration_text(od_two_digits(seconds), 3).text,
                 speed);
}

static void add_requirements(const od_run_findings *run, od_result *r) {
  int count = 0, passed = 0;
  const od_judgment *j = run->judge ? od_judge_results(run->judge, &count) : NULL;
  if (!run->judge) return;
  od_outcome worst = od_judge_outcome(run->judge);
  od_result_text(r, "requirements_outcome", od_outcome_text(worst));
  for (int i = 0; i < count; i++) passed += j[i].outcome == OD_PASS;
  if (count > 0) {
    od_result_section(r, "Requirements");
    od_result_audience(r, OD_FOR_PAGE);
    od_result_notice(r, od_outcome_trust(worst), "Requirements:", "%s. %d of %d pass.", od_outcome_text(worst), passed,
                     count);
    od_result_audience(r, OD_FOR_ALL);
  }
  od_add_judgments(r, run->judge);
  if (!od_run_has_bounds(run)) return;
  od_result_audience(r, OD_FOR_PAGE);
  od_result_heading(r, "Bounds over time");
  od_result_figures(r, od_run_draw_bounds, run);
  od_result_audience(r, OD_FOR_ALL);
}

// Adds the largest error to the verdict in the heading of a page, if the verdict is sound and the error is known.
static void add_accuracy_text(const od_run_findings *run, od_result *r) {
  const od_run_accuracy *a = &run->report->accuracy;
  char text[80];
  if (run->report->verdict.trust != OD_SOUND || !a->error || a->worst < 0) return;
  double percent = 100 * a->error[a->worst].part;
  snprintf(text, sizeof text, "errors below %.10g\u00a0%% of each output's range",
           percent < 0.01 ? 0.01 : od_two_digits_up(percent));
  od_result_accuracy_text(r, text);
}

od_result od_run_result(const od_run_findings *run) {
  char how[160];
  od_result r = od_machine_result("Simulation report", run->machine);
  od_run_describe(run, how, sizeof how);
  od_result_subtitle(&r, od_duration_text(covered_time(run), 6).text);
  add_accuracy_text(run, &r);
  add_data(run, &r);
  od_result_audience(&r, OD_FOR_TERMINAL);
  od_result_heading(&r, "%.200s: %s", r.title, how);
  od_result_audience(&r, OD_FOR_PAGE);
  od_result_figures(&r, od_run_draw_views, run);
  od_result_section(&r, "The run");
  od_add_machine_fact(&r, run->machine);
  od_result_fact(&r, "Run", "%s", how);
  od_add_replaced_fact(&r, "Replaced", od_machine_numbers(run->machine));
  if (run->message) od_result_fact(&r, "Ended", "%s", run->message);
  od_result_audience(&r, OD_FOR_ALL);
  add_outputs(run, &r);
  add_speed(run, &r);
  add_requirements(run, &r);
  if (run->found) od_add_findings(&r, run->found, &run->report->verdict);
  od_result_verdict(&r, &run->report->verdict);
  od_result_charts(&r, od_run_draw_outputs, run);
  return r;
}
