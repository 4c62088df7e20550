// The public interface of a machine: read-only access to the result of the loader.
#include <math.h>
#include <string.h>

#include "document/document.h"
#include "document/constants.h"
#include "fmu/fmu_import.h"
#include "machine/machine_loader.h"
#include "machine/machine.h"
#include "memory/scoped.h"
#include "model/model.h"

void od_machine_free(od_machine *machine) {
  if (machine == NULL) return;
  od_model_free(machine->model);
  for (int i = 0; i < machine->fmus; i++) od_fmu_import_close(machine->fmu[i]);
  od_signals_free(machine->signals);
  od_document_free(machine->document);
}

const char *od_machine_title(const od_machine *machine) {
  return machine->title;
}

const char *od_machine_file(const od_machine *machine) {
  return machine->document->file;
}

const char *od_machine_variant(const od_machine *machine) {
  return machine->document->variant;
}

int od_machine_variant_count(const od_machine *machine) {
  return machine->document->variants;
}

const char *od_machine_variant_name(const od_machine *machine, int i) {
  return i >= 0 && i < machine->document->variants ? machine->document->variant_name[i] : NULL;
}

const od_look *od_machine_look(const od_machine *machine) {
  return &machine->look;
}

// --- Numbers ------------------------------------------------------------------------------------------------------

int od_machine_number_count(const od_machine *machine) {
  return machine->document->numbers.count;
}

od_number od_machine_number(const od_machine *machine, int i) {
  if (i < 0 || i >= machine->document->numbers.count) return (od_number){0};
  return machine->document->numbers.item[i].number;
}

int od_machine_number_find(const od_machine *machine, const char *path) {
  return od_index_find(&machine->document->numbers.index, path);
}

int od_machine_number_theta(const od_machine *machine, int i) {
  return i >= 0 && i < machine->document->numbers.count ? machine->document->numbers.item[i].theta : -1;
}

const od_numbers *od_machine_numbers(const od_machine *machine) {
  return machine != NULL ? &machine->document->numbers : NULL;
}

// --- Inputs -------------------------------------------------------------------------------------------------------

int od_machine_input_count(const od_machine *machine) {
  return machine->inputs;
}

const char *od_machine_input_name(const od_machine *machine, int i) {
  return i >= 0 && i < machine->inputs ? machine->input[i].name : NULL;
}

const char *od_machine_input_unit(const od_machine *machine, int i) {
  return i >= 0 && i < machine->inputs ? machine->input[i].unit : NULL;
}

void od_machine_inputs(const od_machine *machine, double t, double *u) {
  for (int i = 0; i < machine->inputs; i++)
    u[i] = od_signal_value(machine->signals, machine->input[i].signal, t + machine->start);
}

double od_machine_input_derivative(const od_machine *machine, int i, double t, int order) {
  int signal = machine->input[i].signal;
  double at = t + machine->start;
  return order == 0 ? od_signal_value(machine->signals, signal, at)
                    : od_signal_derivative(machine->signals, signal, at, order);
}

double od_machine_input_pace(const od_machine *machine, int i, double t, double end) {
  return od_signal_pace(machine->signals, machine->input[i].signal, t + machine->start, end + machine->start);
}

const double *od_machine_input_samples(const od_machine *machine, int i, int *count) {
  return od_signal_samples(machine->signals, machine->input[i].signal, count);
}

double od_machine_input_next_break(const od_machine *machine, int i, double t) {
  int signal = machine->input[i].signal;
  double next = od_signal_next_break(machine->signals, signal, t + machine->start);
  // Because of round-off, the result may be the break at t itself. Then the following break is used.
  if (!(next - machine->start > t)) next = od_signal_next_break(machine->signals, signal, next);
  return next - machine->start;
}

double od_machine_input_next_reversal(const od_machine *machine, int i, double t, double until) {
  double start = machine->start;
  return od_signal_next_reversal(machine->signals, machine->input[i].signal, t + start, until + start) - start;
}

double od_machine_input_duration(const od_machine *machine, int i) {
  return fmax(0, od_signal_duration(machine->signals, machine->input[i].signal) - machine->start);
}

const od_signals *od_machine_signals(const od_machine *machine) {
  return machine->signals;
}
int od_machine_input_signal(const od_machine *machine, int i) {
  return machine->input[i].signal;
}

double od_machine_constant_input(const od_machine *machine, int i) {
  int signal = machine->input[i].signal;
  return od_signal_duration(machine->signals, signal) > 0 ? (double)NAN : od_signal_value(machine->signals, signal, 0);
}

double od_machine_next_break(const od_machine *machine, double t) {
  double next = INFINITY;
  for (int i = 0; i < machine->inputs; i++)
    next = fmin(next, od_signal_next_break(machine->signals, machine->input[i].signal, t + machine->start));
  return next - machine->start;
}

static void inputs_at(const void *machine, double t, double *u) {
  od_machine_inputs(machine, t, u);
}
static double next_break(const void *machine, double t) {
  return od_machine_next_break(machine, t);
}

od_input_source od_machine_input_source(const od_machine *machine) {
  return (od_input_source){machine, inputs_at, next_break};
}

od_status od_machine_check_pace(const od_machine *machine, double time, od_error *err) {
  const od_model *m = machine->model;
  for (int i = 0; i < m->samplers; i++) {
    const od_block *b = &m->block[m->sampler[i]];
    if (time / b->sample > OD_MOST_STEPS)
      return od_fail(
          err, OD_BAD_INPUT,
          "the block '%s' samples every %.3g s: %.3g samples in %.6g s are too many; at most %.0e are allowed. Use a longer "
          "'sample' or a shorter run",
          od_model_text(m, b->name), b->sample, time / b->sample, time, OD_MOST_STEPS);
  }
  for (int i = 0; i < machine->inputs; i++) {
    double bit = od_signal_bit(machine->signals, machine->input[i].signal);
    if (time / bit > OD_MOST_STEPS)
      return od_fail(
          err, OD_BAD_INPUT,
          "the input '%s' has a bit duration of %.3g s: %.3g bits in %.6g s are too many; at most %.0e are allowed. Use a "
          "longer 'bit' or a shorter run",
          od_machine_input_name(machine, i), bit, time / bit, time, OD_MOST_STEPS);
  }
  return OD_OK;
}

// --- Outputs ------------------------------------------------------------------------------------------------------

int od_machine_output_count(const od_machine *machine) {
  return od_model_output_count(machine->model);
}

const char *od_machine_output_name(const od_machine *machine, int i) {
  return od_model_output_name(machine->model, i);
}

const char *od_machine_output_unit(const od_machine *machine, int i) {
  return od_model_output_unit(machine->model, i);
}

int od_machine_output_find(const od_machine *machine, const char *name) {
  return od_model_output_find(machine->model, name);
}

// --- Run and plant ------------------------------------------------------------------------------------------------

const od_run_defaults *od_machine_run(const od_machine *machine) {
  return &machine->run;
}

const char *od_machine_number_source(const od_machine *machine, int i) {
  int constant = od_number_source(machine->document, i);
  return constant >= 0 ? machine->document->constants.item[constant].path : NULL;
}

// Reports why a number cannot be a parameter.
static od_status refuse_parameter(const od_machine *machine, int i, od_error *err) {
  const char *path = machine->document->numbers.item[i].number.path, *source = od_machine_number_source(machine, i);
  const char *blocks = od_machine_number_blocks(machine, i);
  if (source != NULL)
    return od_fail(err, OD_BAD_ARGUMENT,
                   "'%s' cannot be a parameter, because this number follows '%s'; use '%s' instead", path, source,
                   source);
  if (blocks != NULL)
    return od_fail(
        err, OD_BAD_ARGUMENT,
        "'%s' cannot be a parameter: this number determines '%s', which is not a number of the model; choose another number",
        path, blocks);
  return od_fail(err, OD_BAD_ARGUMENT,
                 "'%s' cannot be a parameter: the model does not depend on this number; choose another number", path);
}

const char *od_machine_lacks_initial_state(const od_machine *machine) {
  return machine->problem;
}

const od_template_instance *od_machine_instance_of(const od_machine *machine, const char *name) {
  const od_template_instance *found = NULL;
  size_t longest = 0;
  for (int i = 0; i < machine->instances; i++) {
    size_t length = strlen(machine->instance[i].name);
    if (length <= longest || strncmp(name, machine->instance[i].name, length) != 0 || name[length] != '.') continue;
    found = &machine->instance[i];
    longest = length;
  }
  return found;
}

od_status od_machine_plant(const od_machine *machine, const int *outputs, int output_count, const int *parameters,
                           int parameter_count, od_plant **out, od_error *err) {
  OD_SCRATCH(scratch);
  const od_numbers *numbers = &machine->document->numbers;
  *out = NULL;
  if (machine->problem != NULL) return od_fail(err, OD_BAD_INPUT, "%s", machine->problem);
  if (parameter_count < 0 || output_count < 0)
    return od_fail(err, OD_BAD_ARGUMENT, "the number of parameters or of outputs is negative; expected zero or more");
  int *theta = OD_TAKE(&scratch, int, parameter_count);
  if (theta == NULL) return od_fail(err, OD_NO_MEMORY, "out of memory");
  bool has_constants = false;
  for (int i = 0; i < parameter_count; i++) {
    int number = parameters[i];
    if (number < 0 || number >= numbers->count)
      return od_fail(err, OD_BAD_ARGUMENT, "there is no number %d; expected an index from 0 to %d", number,
                     numbers->count - 1);
    if (!od_machine_number_is_free(machine, number)) return refuse_parameter(machine, number, err);
    theta[i] = numbers->item[number].theta;
    has_constants = has_constants || theta[i] < 0;
  }
  if (has_constants) return od_constant_plant(machine, outputs, output_count, parameters, parameter_count, out, err);
  return od_model_plant(machine->model, outputs, output_count, theta, parameter_count, out, err);
}

const od_model *od_machine_model(const od_machine *machine) {
  return machine->model;
}
