#include "options/response_source.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "terminal/exit_codes.h"
#include "options/option_values.h"
#include "options/response_log.h"
#include "options/select_outputs.h"
#include "terminal/terminal.h"
#include "document/suggest.h"
#include "io/json.h"
#include "linear/linear_result.h"

void od_response_arguments_free(od_response_arguments *a) {
  od_words_free(&a->outputs);
  od_load_arguments_free(&a->load);
}

void od_response_free(od_response *r) {
  for (int i = 0; i < r->outputs; i++) free(r->output[i].name), free(r->output[i].unit);
  free(r->output);
  free(r->input.name);
  free(r->input.unit);
  od_frf_free(r->frf);
  od_verdict_free(&r->warnings);
  *r = (od_response){0};
}

json_t *od_response_warnings_json(const od_response *r) {
  json_t *list = json_array();
  for (int i = 0; i < r->warnings.count; i++) json_array_append_new(list, od_json_text(r->warnings.remark[i].text));
  if (r->is_exact || r->warnings.count > 0) return list;
  json_decref(list);
  return NULL;
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

// --- A machine ----------------------------------------------------------------------------------------------------

static int find_input(const od_machine *machine, const char *name) {
  int count = od_machine_input_count(machine);
  if (!name && count == 1) return 0;
  if (!name) {
    od_cli_error("%s has %d inputs; say which with --input", od_machine_file(machine), count);
    return -1;
  }
  od_nearest nearest = od_nearest_to(name);
  for (int i = 0; i < count; i++) {
    if (!strcmp(name, od_machine_input_name(machine, i))) return i;
    od_nearest_try(&nearest, od_machine_input_name(machine, i));
  }
  if (nearest.best)
    od_cli_error("--input: %s has no input '%s'; did you mean '%s'?", od_machine_file(machine), name, nearest.best);
  else
    od_cli_error("--input: %s has no input '%s'", od_machine_file(machine), name);
  return -1;
}

// The options of the other kind of file.
static bool has_no_log_options(const od_response_arguments *a) {
  const struct {
    const char *name, *text;
  } options[] = {{"sine", a->sine},     {"periods", a->periods},   {"settle", a->settle},
                 {"start", a->start},   {"period", a->period},     {"length", a->length},
                 {"window", a->window}, {"interval", a->interval}, {"end", a->end}};
  for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
    if (!options[i].text) continue;
    od_cli_error("--%s is for logs; the response of a machine is exact", options[i].name);
    return false;
  }
  return true;
}

static od_status respond(const od_machine *machine, const od_selection *selection, int input, double low, double high,
                         int points, od_response *r, od_error *err) {
  const od_point_options where = {.outputs = selection->index, .output_count = selection->count};
  static const char unstable[] = "the machine is unstable here: it has no steady response to a sine";
  od_operating_point point = {0};
  od_poles poles;
  od_linear_model *model = NULL;
  double *frequency = calloc((size_t)points + 1, sizeof *frequency);
  od_status status = frequency ? OD_OK : od_fail(err, OD_NO_MEMORY, "memory ran out");
  if (status == OD_OK) status = od_operating_point_find(machine, &where, &point, err);
  if (status == OD_OK) status = od_linear_model_make(&point, &input, 1, &model, err);
  for (int i = 0; frequency && i < points; i++)
    frequency[i] = points == 1 ? low : low * pow(high / low, (double)i / (points - 1));
  if (status == OD_OK) status = od_frf_of_model(model, frequency, points, &r->frf, err);
  if (status == OD_OK) status = od_poles_find(model, &poles, err);
  if (status == OD_OK) {
    bool memory = od_linear_remarks(model, &r->warnings);
    if (memory && od_poles_unstable(&poles))
      memory = od_verdict_add(&r->warnings, OD_DOUBTFUL, "point.unstable", "Unstable:", "%s", unstable);
    if (!memory) status = od_fail(err, OD_NO_MEMORY, "memory ran out");
    for (int i = 0; i < r->warnings.count; i++) od_cli_warning("%s", r->warnings.remark[i].text);
    r->is_exact = true;
    od_poles_free(&poles);
  }
  od_linear_model_free(model);
  od_operating_point_free(&point);
  free(frequency);
  return status;
}

// Of the outputs that a file asks for, the input itself says nothing about the machine.
static void leave_out_input(const od_machine *machine, int input, od_selection *selection) {
  int kept = 0;
  for (int i = 0; i < selection->count; i++)
    if (strcmp(od_machine_output_name(machine, selection->index[i]), od_machine_input_name(machine, input)) != 0)
      selection->index[kept++] = selection->index[i];
  if (kept > 0) selection->count = kept;
}

static int open_machine(const char *path, const od_response_arguments *a, od_response *r) {
  od_machine *machine = NULL;
  od_selection selection = {0};
  od_error err = {0};
  double low = 0.1, high = 100;
  int points = 200, input = -1;
  if (!has_no_log_options(a) || !od_option_quantity("low", a->low, "Hz", &low) ||
      !od_option_quantity("high", a->high, "Hz", &high) || !od_option_count("points", a->points, &points))
    return OD_EXIT_BAD_INPUT;
  if (!(low < high)) {
    od_cli_error("found --low %g Hz and --high %g Hz, expected the lower one first", low, high);
    return OD_EXIT_BAD_INPUT;
  }
  int code = od_cli_load(path, &a->load, &machine);
  if (code < 0 && (input = find_input(machine, a->input)) < 0) code = OD_EXIT_BAD_INPUT;
  if (code < 0) code = od_select_outputs(machine, &a->outputs, &selection);
  if (code < 0 && a->outputs.count == 0) leave_out_input(machine, input, &selection);
  if (code < 0) {
    od_status status = respond(machine, &selection, input, low, high, points, r, &err);
    bool memory = status == OD_OK && (r->output = calloc((size_t)selection.count + 1, sizeof *r->output));
    r->outputs = memory ? selection.count : 0;
    memory = memory && od_signal_label_set(&r->input, od_machine_input_name(machine, input),
                                           od_machine_input_unit(machine, input));
    for (int i = 0; memory && i < selection.count; i++)
      memory = od_signal_label_set(&r->output[i], od_machine_output_name(machine, selection.index[i]),
                                   od_machine_output_unit(machine, selection.index[i]));
    if (status == OD_OK && !memory) status = od_fail(&err, OD_NO_MEMORY, "memory ran out");
    if (status != OD_OK) od_cli_error("%s: %s", path, err.text);
    snprintf(r->how, sizeof r->how, "exact, linearised where the machine starts; %d frequencies", points);
    code = status == OD_OK ? -1 : od_exit_code(status);
  }
  od_selection_free(&selection);
  od_machine_free(machine);
  return code;
}

int od_response_open(const char *path, const od_response_arguments *a, od_response *out) {
  *out = (od_response){0};
  return od_name_ends_in(path, "yaml") || od_name_ends_in(path, "yml") ? open_machine(path, a, out)
                                                                       : od_response_open_log(path, a, out);
}

// --- As a table ---------------------------------------------------------------------------------------------------

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
