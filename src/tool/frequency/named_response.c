#include "frequency/named_response.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "linear/linear_result.h"

void od_response_free(od_response *r) {
  for (int i = 0; i < r->outputs; i++) free(r->output[i].name), free(r->output[i].unit);
  free(r->output);
  free(r->input.name);
  free(r->input.unit);
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

bool od_response_labels_make(const od_response *r, od_response_labels *l) {
  size_t n = (size_t)r->outputs + 1;
  *l = (od_response_labels){calloc(n, sizeof *l->name), calloc(n, sizeof *l->si), calloc(n, sizeof *l->ratio),
                            calloc(n, sizeof *l->text)};
  if (!l->name || !l->si || !l->ratio || !l->text) return false;
  for (int k = 0; k < r->outputs; k++) {
    od_response_unit(r, k, l->text[k], sizeof *l->text);
    l->name[k] = r->output[k].name;
    l->si[k] = r->output[k].unit;
    l->ratio[k] = l->text[k];
  }
  return true;
}

void od_response_labels_free(od_response_labels *l) {
  free(l->name), free(l->si), free(l->ratio), free(l->text);
}

// --- A machine ----------------------------------------------------------------------------------------------------------

static od_status respond(const od_linear_model *model, double low, double high, int points, od_response *r,
                         od_error *err) {
  od_poles poles;
  double *frequency = calloc((size_t)points + 1, sizeof *frequency);
  if (!frequency) return od_fail(err, OD_NO_MEMORY, "memory ran out");
  for (int i = 0; i < points; i++) frequency[i] = points == 1 ? low : low * pow(high / low, (double)i / (points - 1));
  od_status status = od_frf_of_model(model, frequency, points, &r->frf, err);
  free(frequency);
  if (status == OD_OK) status = od_poles_find(model, &poles, err);
  if (status != OD_OK) return status;
  bool ok = od_linear_remarks(model, &r->warnings);
  if (ok && od_poles_unstable(&poles))
    ok = od_verdict_add(&r->warnings, OD_DOUBTFUL, "point.unstable",
                        "Unstable:", "the machine is unstable here: it has no steady response to a sine");
  od_poles_free(&poles);
  return ok ? OD_OK : od_fail(err, OD_NO_MEMORY, "memory ran out");
}

od_status od_response_of_machine(const od_machine *machine, int input, const int *outputs, int count, double low,
                                 double high, int points, od_response *r, od_error *err) {
  const od_point_options where = {.outputs = outputs, .output_count = count};
  od_linear_model *model = NULL;
  od_status status = od_linear_model_find(machine, &where, &input, 1, NULL, &model, err);
  if (status == OD_OK) status = respond(model, low, high, points, r, err);
  od_linear_model_free(model);
  if (status != OD_OK) return status;
  r->output = calloc((size_t)count + 1, sizeof *r->output);
  r->outputs = r->output ? count : 0;
  bool ok = r->output && od_signal_label_set(&r->input, od_machine_input_name(machine, input),
                                             od_machine_input_unit(machine, input));
  for (int i = 0; ok && i < count; i++)
    ok = od_signal_label_set(&r->output[i], od_machine_output_name(machine, outputs[i]),
                             od_machine_output_unit(machine, outputs[i]));
  r->is_exact = true;
  snprintf(r->how, sizeof r->how, "exact, linearised where the machine starts; %d frequencies", points);
  return ok ? OD_OK : od_fail(err, OD_NO_MEMORY, "memory ran out");
}

// --- Table --------------------------------------------------------------------------------------------------------------

od_table *od_response_table(const od_response *r) {
  static const char *const kinds[] = {"amplitude", "phase", "real", "imaginary", "sigma", "coherence"};
  enum { KINDS = sizeof kinds / sizeof *kinds };
  const od_frf *f = r->frf;
  int columns = 1 + KINDS * f->outputs;
  od_table *table = od_table_new(columns);
  double *row = calloc((size_t)columns, sizeof *row),
         *phase = calloc((size_t)f->points * (size_t)f->outputs + 1, sizeof *phase);
  bool ok = table && row && phase && od_table_label(table, 0, "frequency", "Hz") == OD_OK;
  for (int k = 0; ok && k < f->outputs; k++) {
    char unit[160], name[300];
    od_response_unit(r, k, unit, sizeof unit);
    od_frf_phases(f, k, phase + k * f->points);
    for (int i = 0; ok && i < KINDS; i++) {
      snprintf(name, sizeof name, "%.200s.%s", r->output[k].name, kinds[i]);
      ok = od_table_label(table, 1 + k * KINDS + i, name, i == 1 ? "rad" : i == 5 ? "1" : unit) == OD_OK;
    }
  }
  for (int i = 0; ok && i < f->points; i++) {
    row[0] = f->frequency[i];
    for (int k = 0; k < f->outputs; k++) {
      int at = k * f->points + i;
      const double values[KINDS] = {cabs(f->value[at]),  phase[at],    creal(f->value[at]),
                                    cimag(f->value[at]), f->sigma[at], f->coherence[at]};
      memcpy(row + 1 + k * KINDS, values, sizeof values);
    }
    ok = od_table_append(table, row) == OD_OK;
  }
  free(row);
  free(phase);
  if (ok) return table;
  od_table_free(table);
  return NULL;
}
