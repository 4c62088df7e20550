#include "output/run_summary.h"

#include <math.h>
#include <string.h>

#include "terminal/terminal.h"
#include "io/display.h"
#include "io/json.h"
#include "io/number.h"

double od_results_time(const od_results *r) {
  const od_table *t = r->table;
  return t->rows > 0 ? t->data[(t->rows - 1) * t->columns] - t->data[0] : 0;
}

void od_results_describe(const od_results *r, char *text, size_t size) {
  od_duration time = od_duration_text(od_results_time(r), 6);
  if (r->step > 0)
    snprintf(text, size, "%s in steps of %s, %s", time.text, od_duration_text(r->step, 6).text, r->integrator);
  else
    snprintf(text, size, "%s in %ld adaptive steps, %s", time.text, r->report->steps, r->integrator);
}

// Two digits without an exponent: 1234 becomes 1200.
static double two_digits(double x) {
  double unit = pow(10, floor(log10(x)) - 1);
  return round(x / unit) * unit;
}

static void print_speed(const od_results *r, FILE *to) {
  double time = od_results_time(r), seconds = r->report->seconds;
  fprintf(to, "%s in %s", od_duration_text(time, 6).text, od_duration_text(two_digits(seconds), 3).text);
  if (time > 0 && seconds > 0) {
    double ratio = time / seconds;
    bool faster = ratio >= 1;
    fprintf(to, ": %.10g times %s than real time", two_digits(faster ? ratio : 1 / ratio),
            faster ? "faster" : "slower");
  }
  fprintf(to, "\n");
}

static od_display shown_in(const od_table *t, int column) {
  od_summary s = od_table_summary(t, column);
  return od_display_unit(t->unit[column], fmax(fabs(s.min), fabs(s.max)));
}

static void print_row(const od_table *t, int column, int name_width, int unit_width, FILE *to) {
  od_summary s = od_table_summary(t, column);
  const double values[] = {s.min, s.max, s.rms, s.final};
  od_display shown = shown_in(t, column);
  fprintf(to, "  ");
  od_print_padded(to, t->name[column], name_width);
  fprintf(to, "  ");
  od_print_padded(to, shown.unit, unit_width);
  for (int i = 0; i < 4; i++) {
    char text[OD_NUMBER_SIZE];
    od_number_round(text, values[i] * shown.factor, 6);
    fprintf(to, " %13s", text);
  }
  fprintf(to, "\n");
}

void od_results_print(const od_results *r, FILE *to) {
  const od_table *t = r->table;
  char text[160], line[400];
  od_results_describe(r, text, sizeof text);
  const char *title = od_machine_title(r->machine);
  snprintf(line, sizeof line, "%.200s: %s", title && title[0] ? title : od_machine_file(r->machine), text);
  od_heading(to, line);
  int name_width = (int)strlen("output"), unit_width = (int)strlen("unit");
  for (int c = 1; c < t->columns; c++) {
    name_width = od_text_widest(name_width, t->name[c]);
    unit_width = od_text_widest(unit_width, shown_in(t, c).unit);
  }
  fprintf(to, "  %-*s  %-*s %13s %13s %13s %13s\n", name_width, "output", unit_width, "unit", "min", "max", "rms",
          "final");
  for (int c = 1; c < t->columns; c++) print_row(t, c, name_width, unit_width, to);
  print_speed(r, to);
}

json_t *od_results_json(const od_results *r) {
  const od_table *t = r->table;
  const od_run_accuracy *a = &r->report->accuracy;
  json_t *outputs = json_array();
  for (int c = 1; c < t->columns; c++) {
    od_summary s = od_table_summary(t, c);
    json_t *output = json_pack("{s:o, s:o}", "name", od_json_text(t->name[c]), "unit", od_json_text(t->unit[c]));
    json_object_set_new(output, "min", od_json_number(s.min));
    json_object_set_new(output, "max", od_json_number(s.max));
    json_object_set_new(output, "rms", od_json_number(s.rms));
    json_object_set_new(output, "final", od_json_number(s.final));
    if (a->error) {
      json_object_set_new(output, "error_percent", od_json_number(100 * a->error[c - 1].part));
      json_object_set_new(output, "error_at", od_json_number(a->error[c - 1].at));
    }
    json_array_append_new(outputs, output);
  }
  json_t *object = json_pack("{s:o, s:o}", "machine", od_json_text(od_machine_title(r->machine)), "file",
                             od_json_text(od_machine_file(r->machine)));
  json_object_set_new(object, "time", od_json_number(od_results_time(r)));
  json_object_set_new(object, "step", r->step > 0 ? od_json_number(r->step) : json_string("auto"));
  json_object_set_new(object, "integrator", json_string(r->integrator));
  json_object_set_new(object, "steps", json_integer(r->report->steps));
  json_object_set_new(object, "repartitions", json_integer(r->report->repartitions));
  json_object_set_new(object, "seconds", od_json_number(r->report->seconds));
  static const char *const source[] = {
      [OD_ERROR_UNKNOWN] = "unknown", [OD_ERROR_MEASURED] = "measured", [OD_ERROR_ESTIMATED] = "estimated"};
  json_object_set_new(object, "error_source", json_string(source[a->source]));
  if (a->source != OD_ERROR_UNKNOWN && !(r->step > 0))
    json_object_set_new(object, "tolerance", od_json_number(a->tolerance));
  json_object_set_new(object, "predictable_until",
                      isfinite(a->predictable) ? od_json_number(a->predictable) : json_null());
  json_object_set_new(object, "complete", json_boolean(!r->message));
  if (r->message) json_object_set_new(object, "message", od_json_text(r->message));
  json_object_set_new(object, "verdict", od_verdict_json(&r->report->verdict));
  json_object_set_new(object, "outputs", outputs);
  if (r->judge) {
    json_object_set_new(object, "requirements", od_judge_json(r->judge));
    json_object_set_new(object, "requirements_outcome", json_string(od_outcome_text(od_judge_outcome(r->judge))));
  }
  return object;
}
