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
  if (!frequency) return od_fail(err, OD_NO_MEMORY, "memory ran out");
  for (int i = 0; i < points; i++) frequency[i] = points == 1 ? low : low * pow(high / low, (double)i / (points - 1));
  od_status status = od_frf_of_model(model, frequency, points, &r->frf, err);
  if (status == OD_OK) status = od_poles_find(model, &scratch, &poles, err);
  if (status != OD_OK) return status;
  od_linear_remarks(model, &r->warnings);
  if (od_poles_unstable(&poles))
    od_verdict_add(&r->warnings, OD_DOUBTFUL, "point.unstable",
                   "Unstable:", "the machine is unstable here: it has no steady response to a sine");
  return od_verdict_is_complete(&r->warnings) ? OD_OK : od_fail(err, OD_NO_MEMORY, "memory ran out");
}

od_status od_response_of_machine(const od_machine *machine, int input, const int *outputs, int count, double low,
                                 double high, int points, od_response *r, od_error *err) {
  const od_point_options where = {.outputs = outputs, .output_count = count};
  OD_OWNED(od_linear_model_free) od_linear_model *model = NULL;
  od_status status = od_linear_model_find(machine, &where, &input, 1, NULL, &model, err);
  if (status == OD_OK) status = respond(model, low, high, points, r, err);
  if (status != OD_OK) return status;
  r->output = calloc((size_t)count + 1, sizeof *r->output);
  r->outputs = r->output ? count : 0;
  bool ok = r->output && od_signal_label_set(&r->input, od_machine_input_name(machine, input),
                                             od_machine_input_unit(machine, input));
  for (int i = 0; ok && i < count; i++)
    ok = od_signal_label_set(&r->output[i], od_machine_output_name(machine, outputs[i]),
                             od_machine_output_unit(machine, outputs[i]));
  r->is_exact = true;
  snprintf(r->how, sizeof r->how, "exact, linearized at the initial state; %d frequencies", points);
  return ok ? OD_OK : od_fail(err, OD_NO_MEMORY, "memory ran out");
}

// --- Table --------------------------------------------------------------------------------------------------------------

od_table *od_response_table(const od_response *r) {
  static const char *const kinds[] = {"amplitude", "phase", "real", "imaginary", "sigma", "coherence"};
  enum { KINDS = sizeof kinds / sizeof *kinds };
  OD_SCRATCH(scratch);
  const od_frf *f = r->frf;
  int columns = 1 + KINDS * f->outputs;
  OD_OWNED(od_table_free) od_table *table = od_table_new(columns);
  double *row = OD_TAKE(&scratch, double, columns), *phase = OD_TAKE(&scratch, double, (long)f->points * f->outputs);
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
