// A machine: the checked, compiled and assembled content of a machine file.
//
//   od_machine *m;
//   od_messages *msgs = od_messages_new();
//   if (od_machine_load("crane.yaml", NULL, &m, msgs) != OD_OK) od_messages_print(msgs, stderr, false);
#ifndef OLEODYN_MACHINE_H
#define OLEODYN_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "oleodyn/advance.h"
#include "oleodyn/build.h"
#include "oleodyn/foreign.h"
#include "oleodyn/plant.h"
#include "oleodyn/status.h"

OD_BEGIN_C

// Messages about input files. One load reports all errors, each with its place. A file that has only warnings is loaded.
typedef struct od_message {
  const char *file;  // the file, "--set", or NULL
  int line, column;  // from 1; 0: the message has no place in the file
  const char *text;  // one line: the value found, what is allowed, a suggestion
  bool is_warning;   // whether the message is a warning; false: an error
} od_message;
typedef struct od_messages od_messages;
// Creates an empty list of messages, freed with od_messages_free(). Returns NULL if an allocation fails.
OD_API od_messages *od_messages_new(void);
OD_API void od_messages_free(od_messages *m);
// Returns the number of messages.
OD_API int od_messages_count(const od_messages *m);
// Returns the number of errors, including errors beyond the limit of stored messages.
OD_API int od_messages_errors(const od_messages *m);
// Returns message i, from 0. The list owns the message.
OD_API const od_message *od_messages_get(const od_messages *m, int i);
// Prints "file:line:column: error: text" (or "warning: text"), one message per line, optionally in color.
OD_API void od_messages_print(const od_messages *m, FILE *to, bool color);

// A law of the program for machine files: blocks with `type: foreign` and `law: NAME` (oleodyn/foreign.h). The map `inputs` of such a
// block has the keys input_name, the map `parameters` the keys number_name.
typedef struct od_named_law {
  const char *name;
  const od_foreign_law *law;
  const char *const *input_name, *const *number_name;  // one name for each input and number; NULL if there are none
  const char *remark;  // a warning for each block with this law, as the predicate of a sentence; NULL: none
  void *reserved[4];   // zero
} od_named_law;
// Registers a law for machines that are loaded later, by od_machine_load() and by jobs. The struct is copied; the law and the texts
// must outlive these machines. A law with the same name is replaced. Any thread may call this function. Fails with
// OD_BAD_ARGUMENT if a name is missing or the law has a mistake, such as too many inputs, and with OD_NO_MEMORY.
OD_API od_status od_law_register(const od_named_law *law);

typedef struct od_machine od_machine;

// The content of a file that the caller has already read, for example because a pipe can be read only once. The content must be
// UTF-8.
typedef struct od_content {
  const char *text;  // NULL: the file is read
  size_t length;
} od_content;

typedef struct od_load_options {
  const char *const *set;  // "path=value" texts that override numbers of the file
  int set_count;
  bool spatial;  // whether a planar machine is treated as a spatial machine
  // Whether a machine without a valid initial state is also loaded, that is, if initial values are missing or the machine cannot be
  // assembled. The problems of the initial state are then warnings, and od_machine_plant() fails.
  bool may_lack_initial_state;
  const char *variant;  // name of a variant of the file, or NULL
  od_content content;   // content of the file; if its text is not NULL, the path is used only in messages and to find
                        // related files
  void *reserved[4];    // zero
} od_load_options;

// Loads the machine file at `path`; options may be NULL. On success *out is the machine, freed with od_machine_free(). On failure
// *out is NULL and `messages` has the errors; the status is OD_BAD_INPUT, OD_IO or OD_NO_MEMORY.
OD_API od_status od_machine_load(const char *path, const od_load_options *options, od_machine **out,
                                 od_messages *messages);
// Frees a machine; NULL is allowed. Free the plants of the machine first.
OD_API void od_machine_free(od_machine *machine);

// Returns the compiled model, for example for od_image_write(). The model belongs to the machine.
OD_API const od_model *od_machine_model(const od_machine *machine);

// Return the title in the file, and the path of the file.
OD_API const char *od_machine_title(const od_machine *machine);
OD_API const char *od_machine_file(const od_machine *machine);
// Return the chosen variant, or NULL; the number of variants in the file; and the name of variant i.
OD_API const char *od_machine_variant(const od_machine *machine);
OD_API int od_machine_variant_count(const od_machine *machine);
OD_API const char *od_machine_variant_name(const od_machine *machine, int i);

// Returns NULL if the machine has an initial state, else the first problem of its initial state (may_lack_initial_state).
OD_API const char *od_machine_lacks_initial_state(const od_machine *machine);

// A number of the machine: path, SI unit, the text in the file (NULL: a default), the value in SI units, its allowed range and
// its usual range (infinite: no limit). For a balanced initial value, the value is the result of the balance.
typedef struct od_number {
  const char *path, *unit, *given;
  double value;
  double low, high, usual_low, usual_high;
  bool balanced;
  void *reserved[4];  // zero
} od_number;
// Return the count of numbers, number i (from 0), and the index of the number with this path, or -1.
OD_API int od_machine_number_count(const od_machine *machine);
OD_API od_number od_machine_number(const od_machine *machine, int i);
OD_API int od_machine_number_find(const od_machine *machine, const char *path);

// Return the number of inputs, and the name and SI unit of input i.
OD_API int od_machine_input_count(const od_machine *machine);
OD_API const char *od_machine_input_name(const od_machine *machine, int i);
OD_API const char *od_machine_input_unit(const od_machine *machine, int i);
// Computes the values u (nu) of all inputs at time t.
OD_API void od_machine_inputs(const od_machine *machine, double t, double *u);
// Returns the time of the first jump after t in any input, its rate or its second derivative (INFINITY: none).
OD_API double od_machine_next_break(const od_machine *machine, double t);
// Returns a source of the inputs of the machine for an advance (oleodyn/advance.h). The machine must outlive the
// source.
OD_API od_input_source od_machine_input_source(const od_machine *machine);
// Checks that no block has more than OD_MOST_STEPS samples, and no input more than OD_MOST_STEPS jumps, in a run of
// `time` seconds. A step ends at each sample and jump. Otherwise returns OD_BAD_INPUT, and err (may be NULL) names the
// block or input.
#define OD_MOST_STEPS 1e9
OD_API od_status od_machine_check_pace(const od_machine *machine, double time, od_error *err);

// Outputs: the quantities that can be observed, by name ("crank.end.x", "spring.length", "energy.kinetic"). The functions return
// the number of outputs; the name and the SI unit of output i; and the index of the output with this name, or -1.
OD_API int od_machine_output_count(const od_machine *machine);
OD_API const char *od_machine_output_name(const od_machine *machine, int i);
OD_API const char *od_machine_output_unit(const od_machine *machine, int i);
OD_API int od_machine_output_find(const od_machine *machine, const char *name);

// The section "run" of the file; zero or NULL for keys that are not given.
typedef struct od_run_defaults {
  double time, step;       // s
  bool adaptive;           // whether the step length follows an error estimate ('step: auto')
  double rows;             // time between rows of the results in s, with adaptive steps
  const char *integrator;  // a name of oleodyn/integrator.h, or "cvodes"
  double tolerance;        // relative tolerance of cvodes and of adaptive steps
  const int *outputs;      // indices
  int output_count;
  const int *panels;  // the plot panel of each output; 0: a separate panel
} od_run_defaults;
OD_API const od_run_defaults *od_machine_run(const od_machine *machine);
// Writes the indices of the outputs that `oleodyn simulate` records without options: the outputs of the section "run", else all
// joint coordinates, else all outputs. `outputs` has room for od_machine_output_count() indices. Returns the number of indices.
OD_API int od_machine_default_outputs(const od_machine *machine, int *outputs);

// Settings of a run that override the section "run". Zero or NULL: the value of the file, else the default.
typedef struct od_run_wishes {
  double time;             // duration, s
  double step;             // fixed step, s
  bool adaptive;           // whether the step length follows an error estimate; `step` overrides this field
  double rows;             // time between rows with adaptive steps, s; default: 1 ms
  const char *integrator;  // a name of oleodyn/integrator.h
  double tolerance;        // tolerance of adaptive steps; default: 1e-5
  void *reserved[4];       // zero
} od_run_wishes;
// A run over time: the steps and rows of `oleodyn simulate`. If neither od_run_wishes nor the file has a step, steps are adaptive;
// with a chosen integrator that does not support adaptive steps, steps have the fixed length 1 ms.
typedef struct od_run_plan {
  double time;                      // duration, s
  double interval;                  // time between rows, s; with fixed steps, the step
  long rows;                        // number of rows after the row at time 0
  const od_integrator *integrator;  // for od_sim_set_integrator()
  od_advance_options advance;       // for od_advance_new(), with the inputs of the machine
  void *reserved[4];                // zero
} od_run_plan;
// Plans a run; wishes may be NULL. The machine must outlive the plan. Fails with OD_BAD_INPUT if there is no duration,
// if a number is out of range, if the run has too many steps, samples or jumps (od_machine_check_pace()), if the integrator is
// unknown, or if the integrator does not support adaptive steps; err (may be NULL) has the reason.
// The integrator "cvodes" is available only in the program. If no tolerance is given, `oleodyn simulate` also compares
// runs with different tolerances, and its result may be the run with a tolerance below 1e-5.
OD_API od_status od_machine_plan_run(const od_machine *machine, const od_run_wishes *wishes, od_run_plan *out,
                                     od_error *err);
// Starts a simulation of a plant of the machine at time 0 with the inputs of the plan. Also sets the integrator of the plan. Then
// call od_advance_new(). Fails as od_sim_start() does, and with OD_NO_MEMORY if sim is NULL or an allocation fails.
OD_API od_status od_run_plan_start(const od_run_plan *plan, od_sim *sim);
// Returns the time of a row (0 to plan->rows), s. This time is valid for od_sim_advance(), also with fixed steps.
OD_API double od_run_plan_time(const od_run_plan *plan, long row);

// Creates a plant with the chosen outputs (indices) and free parameters (indices of numbers). The machine must outlive the plant.
// Free the plant with od_plant_free(). Powers are integrated if an output needs them. Fails with OD_BAD_ARGUMENT,
// with OD_BAD_INPUT if the machine has no valid initial state, and with OD_NO_MEMORY; err (may be NULL) has the reason.
OD_API od_status od_machine_plant(const od_machine *machine, const int *outputs, int output_count,
                                  const int *parameters, int parameter_count, od_plant **out, od_error *err);

OD_END_C

#endif
