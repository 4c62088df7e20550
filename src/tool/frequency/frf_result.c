// The result of a frequency response: bandwidth and resonances of each output.
#include <math.h>
#include <string.h>

#include "frequency/bode_plot.h"
#include "frequency/named_response.h"
#include "io/display.h"
#include "io/json.h"

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

// "3.48 +- 0.02 m/V": a reading with half of its interval.
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
  if (!od_response_labels_make(r, &scratch, &l)) return od_fail(err, OD_NO_MEMORY, "memory ran out");
  const od_bode bode = {r->frf, NULL, l.name, l.ratio, title, r->how};
  return od_bode_write(&bode, path, err);
}
