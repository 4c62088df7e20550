#include "frequency/named_response.h"

#include <math.h>
#include <string.h>

#include "base/allocate.h"
#include "frequency/bode_plot.h"
#include "io/display.h"
#include "io/json.h"
#include "linear/linear_result.h"

void od_response_free(od_response *r) {
  for (int i = 0; i < r->outputs; i++) od_free(r->output[i].name), od_free(r->output[i].unit);
  od_free(r->output);
  od_free(r->input.name);
  od_free(r->input.unit);
  od_frf_free(r->frf);
  od_verdict_free(&r->warnings);
  *r = (od_response){0};
}

void od_response_unit(const od_response *r, int output, char *text, size_t size) {
  const char *of = r->output[output].unit, *by = r->input.unit;
  if (!strcmp(of, by))
    snprintf(text, size, "1");
  else if (!strcmp(by, "1"))
    snprintf(text, size, "%s", of);
  else
    snprintf(text, size, strpbrk(by, " /") ? "%s/(%s)" : "%s/%s", of, by);
}

bool od_response_labels_make(const od_response *r, od_arena *arena, od_response_labels *l) {
  *l = (od_response_labels){OD_TAKE(arena, const char *, r->outputs), OD_TAKE(arena, const char *, r->outputs),
                            OD_TAKE(arena, const char *, r->outputs)};
  if (od_arena_status(arena) != OD_OK) return false;
  for (int k = 0; k < r->outputs; k++) {
    char unit[160];
    od_response_unit(r, k, unit, sizeof unit);
    l->name[k] = r->output[k].name;
    l->si[k] = r->output[k].unit;
    l->ratio[k] = od_arena_text(arena, unit);
  }
  return od_arena_status(arena) == OD_OK;
}

// --- A machine ----------------------------------------------------------------------------------------------------------

// Computes the response of the model, with warnings about its operating point.
static od_status respond(const od_linear_model *model, double low, double high, int points, od_response *r,
                         od_error *err) {
  OD_SCRATCH(scratch);
  od_poles poles;
  double *frequency = OD_TAKE(&scratch, double, points);
  if (!frequency) return od_fail(err, OD_NO_MEMORY, "out of memory");
  for (int i = 0; i < points; i++) frequency[i] = points == 1 ? low : low * pow(high / low, (double)i / (points - 1));
  od_status status = od_frf_of_model(model, frequency, points, &r->frf, err);
  if (status == OD_OK) status = od_poles_find(model, &scratch, &poles, err);
  if (status != OD_OK) return status;
  od_linear_remarks(model, &r->warnings);
  if (od_poles_unstable(&poles))
    od_verdict_add(
        &r->warnings, OD_DOUBTFUL, "point.unstable", "Unstable:",
        "at this operating point the machine is unstable and has no steady response to a sine; stabilize the machine or choose another operating point");
  return od_verdict_is_complete(&r->warnings) ? OD_OK : od_fail(err, OD_NO_MEMORY, "out of memory");
}

od_status od_response_of_machine(const od_machine *machine, int input, const int *outputs, int count, double low,
                                 double high, int points, od_response *r, od_error *err) {
  const od_point_options where = {.outputs = outputs, .output_count = count};
  OD_OWNED(od_linear_model_free) od_linear_model *model = NULL;
  od_status status = od_linear_model_find(machine, &where, &input, 1, NULL, &model, err);
  if (status == OD_OK) status = respond(model, low, high, points, r, err);
  if (status != OD_OK) return status;
  r->output = od_calloc((size_t)count + 1, sizeof *r->output);
  r->outputs = r->output ? count : 0;
  bool ok = r->output && od_signal_label_set(&r->input, od_machine_input_name(machine, input),
                                             od_machine_input_unit(machine, input));
  for (int i = 0; ok && i < count; i++)
    ok = od_signal_label_set(&r->output[i], od_machine_output_name(machine, outputs[i]),
                             od_machine_output_unit(machine, outputs[i]));
  r->is_exact = true;
  snprintf(r->how, sizeof r->how, "exact, linearized at the initial state; %d frequencies", points);
  return ok ? OD_OK : od_fail(err, OD_NO_MEMORY, "out of memory");
}

// --- Table --------------------------------------------------------------------------------------------------------------

od_table *od_response_table(const od_response *r) {
  static const char *const kinds[] = {"amplitude", "phase", "real", "imaginary", "sigma", "coherence"};
  enum { KINDS = sizeof kinds / sizeof *kinds };
  OD_SCRATCH(scratch);
  const od_frf *f = r->frf;
  int columns = 1 + KINDS * f->outputs;
  OD_OWNED(od_table_free) od_table *table = od_table_new(columns);
  double *row = OD_TAKE(&scratch, double, columns), *phase = OD_TAKE_MATRIX(&scratch, double, f->points, f->outputs);
  if (!table || od_arena_status(&scratch) != OD_OK || od_table_label(table, 0, "frequency", "Hz") != OD_OK) return NULL;
  for (int k = 0; k < f->outputs; k++) {
    char unit[160], name[300];
    od_response_unit(r, k, unit, sizeof unit);
    od_frf_phases(f, k, phase + k * f->points);
    for (int i = 0; i < KINDS; i++) {
      snprintf(name, sizeof name, "%.200s.%s", r->output[k].name, kinds[i]);
      const char *unit_of_kind = i == 1 ? "rad" : i == 5 ? "1" : unit;
      if (od_table_label(table, 1 + k * KINDS + i, name, unit_of_kind) != OD_OK) return NULL;
    }
  }
  for (int i = 0; i < f->points; i++) {
    row[0] = f->frequency[i];
    for (int k = 0; k < f->outputs; k++) {
      int at = k * f->points + i;
      const double values[KINDS] = {cabs(f->value[at]),  phase[at],    creal(f->value[at]),
                                    cimag(f->value[at]), f->sigma[at], f->coherence[at]};
      memcpy(row + 1 + k * KINDS, values, sizeof values);
    }
    if (od_table_append(table, row) != OD_OK) return NULL;
  }
  return OD_GIVE(table);
}

// --- Result -------------------------------------------------------------------------------------------------------------

static json_t *reading_json(od_reading v) {
  return json_pack("{s:o, s:o, s:o}", "value", od_json_number(v.value), "low", od_json_number(v.low), "high",
                   od_json_number(v.high));
}

static json_t *points_json(const od_frf *f, int output, const double *phase) {
  json_t *list = json_array();
  for (int i = 0; i < f->points; i++) {
    int at = output * f->points + i;
    json_t *item = json_pack("{s:o, s:o}", "frequency", od_json_number(f->frequency[i]), "amplitude",
                             reading_json(od_frf_amplitude(f, output, i)));
    json_object_set_new(item, "phase", od_json_number(phase[i]));
    json_object_set_new(item, "sigma", od_json_number(f->sigma[at]));
    json_object_set_new(item, "coherence", od_json_number(f->coherence[at]));
    json_array_append_new(list, item);
  }
  return list;
}

// Writes a value with half the width of its interval: "3.48 +- 0.02 m/V".
static void reading_text(od_reading v, const char *unit, char *text, size_t size) {
  char value[OD_NUMBER_SIZE], half[OD_NUMBER_SIZE] = "";
  double spread = (v.high - v.low) / 2;
  od_display_value(value, v.value, spread);
  if (spread > 0) od_display_uncertainty(half, spread);
  snprintf(text, size, "%s%s%s%s%s", value, *half ? " +- " : "", half, *unit ? " " : "", unit);
}

static void add_output(od_result *to, const od_response *r, int k, const char *unit, const od_features *found) {
  const od_frf *f = r->frf;
  char text[300];
  const char *shown = strcmp(unit, "1") != 0 ? unit : "";
  od_result_heading(to, "%s", r->output[k].name);
  reading_text(od_frf_amplitude(f, k, 0), shown, text, sizeof text);
  od_result_finding(to, OD_SOUND, "first point:", "%s", text);
  reading_text(found->bandwidth, "Hz (3 dB below the first point)", text, sizeof text);
  if (isnan(found->bandwidth.value)) snprintf(text, sizeof text, "beyond %g Hz", f->frequency[f->points - 1]);
  od_result_finding(to, OD_SOUND, "bandwidth:", "%s", text);
  for (int i = 0; i < found->peaks; i++) {
    reading_text(found->peak[i].amplitude, shown, text, sizeof text);
    od_result_finding(to, OD_SOUND, "resonance:", "%s at %.5g Hz", text, found->peak[i].frequency);
  }
}

void od_add_response_warnings(od_result *to, const od_response *r) {
  if (r->is_exact || r->warnings.count > 0) od_result_warnings(to, &r->warnings);
}

od_result od_response_result(const od_response *r, const char *path) {
  const od_frf *f = r->frf;
  od_result to = od_result_new("Frequency response", path);
  json_t *outputs = json_array();
  OD_SCRATCH(scratch);
  double *phase = OD_TAKE(&scratch, double, f->points);
  if (!phase) to.is_short_of_memory = true;
  od_result_text(&to, "file", path);
  od_result_text(&to, "input", r->input.name);
  od_result_text(&to, "method", r->how);
  od_result_heading(&to, "%s", path);
  od_result_line(&to, "%s; input %s; %g to %g Hz", r->how, r->input.name, f->frequency[0], f->frequency[f->points - 1]);
  for (int k = 0; phase && k < f->outputs; k++) {
    od_features found = od_frf_features(f, k);
    char unit[160];
    json_t *peaks = json_array();
    od_response_unit(r, k, unit, sizeof unit);
    od_frf_phases(f, k, phase);
    for (int i = 0; i < found.peaks; i++)
      json_array_append_new(peaks, json_pack("{s:o, s:o}", "frequency", od_json_number(found.peak[i].frequency),
                                             "amplitude", reading_json(found.peak[i].amplitude)));
    json_array_append_new(outputs, json_pack("{s:o, s:o, s:o, s:o, s:o}", "output", od_json_text(r->output[k].name),
                                             "unit", od_json_text(unit), "bandwidth", reading_json(found.bandwidth),
                                             "resonances", peaks, "points", points_json(f, k, phase)));
    add_output(&to, r, k, unit, &found);
  }
  od_result_set(&to, "outputs", outputs);
  od_add_response_warnings(&to, r);
  return to;
}

od_status od_response_write_plot(const od_response *r, const char *title, const char *path, od_error *err) {
  OD_SCRATCH(scratch);
  od_response_labels l;
  if (!od_response_labels_make(r, &scratch, &l)) return od_fail(err, OD_NO_MEMORY, "out of memory");
  const od_bode bode = {r->frf, NULL, l.name, l.ratio, title, r->how};
  return od_bode_write(&bode, path, err);
}
