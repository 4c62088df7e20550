// Loads an experiment file section by section, with the document reader.
//
// The machines are loaded first, because sensors, initial errors and parameters refer to names of the machines.
// Messages about the machine file follow the messages about this file.
#include <math.h>
#include <string.h>

#include "base/allocate.h"
#include "document/document.h"
#include "document/file_kind.h"
#include "document/ranges.h"
#include "document/suggest.h"
#include "experiment/experiment_loader.h"
#include "experiment/experiment_sections.h"
#include "machine/machine.h"
#include "machine/method_names.h"
#include "memory/owned.h"

static const od_key keys[] = {
    {"experiment", OD_TEXT, NULL, "title of the experiment", .otherwise = "title of the machine"},
    {"include", OD_TEXTS, NULL, "files over which this file is merged; paths relative to this file"},
    {"machine", OD_TEXT, NULL, "machine file; path relative to this file", .fallback = OD_REQUIRED},
    {"time", OD_NUMBER, "s", "duration of the simulation", OD_POSITIVE, 0, OD_RANGE_TIME,
     "`time` of the machine's `run`"},
    {"step", OD_NUMBER, "s", "time between samples, and step of the observer", OD_POSITIVE, 0, OD_RANGE_STEP,
     "`step` of the machine's `run`, else 1 ms"},
    {"integrator", OD_CHOICE, NULL, "integrator of the observer and of the true machine", .choice = od_integrator_name},
    {"seed", OD_WHOLE, "1", "seed of all noise", OD_NOT_NEGATIVE, 1, {0, 9007199254740992.0}},
    {"truth", OD_SECTION, NULL, "machine that is simulated in place of the real machine", .inside = &od_truth_section},
    {"model", OD_SECTION, NULL, "machine of the observer", .inside = &od_model_section},
    {"sensors", OD_SECTION_MAP, NULL, "measured outputs", .inside = &od_sensor_section, .fallback = OD_REQUIRED},
    {"sensor_noise", OD_SECTION, NULL, "covariance of noise that is correlated between sensors",
     .inside = &od_matrix_section},
    {"initial", OD_SECTION, NULL, "uncertainty of the start: outputs and their standard deviations, or a covariance"},
    {"parameters", OD_SECTION_MAP, NULL, "numbers of the model to be estimated", .inside = &od_parameter_section},
    {"noise", OD_SECTION, NULL, "process noise", .inside = &od_noise_section},
    {"filter", OD_SECTION, NULL, "name of a filter, or a map with the type and the options of the filter",
     .inside = &od_filter_section},
    {"data", OD_SECTION, NULL, "log of a real machine, instead of a simulated machine", .inside = &od_log_section},
    {"compare", OD_SECTION_MAP, NULL, "comparison of outputs with columns of the log that no sensor uses",
     .inside = &od_reference_section},
    {"variants", OD_SECTION_MAP, NULL, "partial files that are merged over this file",
     .inside = &od_experiment_section},
    {"metrics", OD_SECTION_MAP, NULL, "metrics computed from the errors of outputs", .inside = &od_metric_section},
    {"fit", OD_SECTION, NULL, "settings of a fit", .inside = &od_fit_section},
    {"sets", OD_SECTION_MAP, NULL, "data sets of a fit", .inside = &od_fit_set_section},
    {"prepare", OD_SECTION, NULL, "preparation of logs before a fit", .inside = &od_prepare_section},
    {"combinations", OD_SECTION_MAP, NULL, "functions of parameters", .inside = &od_combination_section},
    {"constraints", OD_SECTION, NULL, "list of relations between parameters of a fit"},
};
const od_section_class od_experiment_section = {"experiment", "an experiment or a fit", OD_KEYS(keys)};

// --- Names --------------------------------------------------------------------------------------------------------

// Returns the index of the model's output with the name of a key; -1 after a message.
int od_find_output(od_experiment_loader *xl, int key) {
  od_loader *ld = &xl->ld;
  const od_machine *model = xl->e->model;
  const char *name = od_text_of(ld, key);
  int output = od_machine_output_find(model, name);
  if (output >= 0) return output;
  od_nearest nearest = od_nearest_to(name);
  for (int i = 0; i < od_machine_output_count(model); i++) od_nearest_try(&nearest, od_machine_output_name(model, i));
  od_complain_unknown(ld, key, "output", "outputs", &nearest);
  return -1;
}

// Adds a watched output and returns its index; -1 after a message if a machine lacks the output. The true machine may lack an
// output that has no sensor. Such an output has no true value.
static int watch(od_experiment_loader *xl, int key, bool sensor) {
  od_loader *ld = &xl->ld;
  od_experiment *e = xl->e;
  const char *name = od_text_of(ld, key);
  int output = od_find_output(xl, key);
  if (output < 0) return -1;
  int true_output = e->truth ? od_machine_output_find(e->truth, name) : -1;
  if (e->truth && true_output < 0 && sensor) {
    od_complain(ld, key, "the true machine has no output '%s'; choose an output that both machines have",
                od_excerpt(ld, name));
    return -1;
  }
  e->watched[e->watches] = (od_watched){.name = name,
                                        .unit = od_machine_output_unit(e->model, output),
                                        .truth_output = true_output,
                                        .model_output = output};
  xl->watched_key[e->watches] = key;
  return e->watches++;
}

int od_watch(od_experiment_loader *xl, int key) {
  for (int i = 0; i < xl->e->watches; i++)
    if (strcmp(xl->e->watched[i].name, od_text_of(&xl->ld, key)) == 0) return i;
  return watch(xl, key, false);
}

int od_watch_sensor(od_experiment_loader *xl, int key) {
  return watch(xl, key, true);
}

bool od_is_repeated(od_loader *ld, int map, int key) {
  for (int other = ld->tree.node[map].first; other != key; other = od_next(ld, other)) {
    if (strcmp(od_text_of(ld, other), od_text_of(ld, key)) != 0) continue;
    od_complain(ld, key, "'%s' is given twice; remove one entry", od_excerpt(ld, od_text_of(ld, key)));
    return true;
  }
  return false;
}

static int entries(const od_loader *ld, int node) {
  return node >= 0 && ld->tree.node[node].kind == OD_TREE_MAP ? ld->tree.node[node].count : 0;
}

// --- Initial errors -----------------------------------------------------------------------------------------------

// Reads the section 'initial': a full covariance, or outputs with a separate standard deviation each.
static void read_initial(od_experiment_loader *xl, int node) {
  od_loader *ld = &xl->ld;
  od_output_covariance *t = &xl->e->initial;
  if (od_is_matrix(ld, node)) {
    if (!od_read_watched_covariance(xl, node, "initial", t)) return;
    for (int i = 0; i < t->count; i++) xl->e->watched[t->output[i]].sigma = sqrt(t->covariance[i * (t->count + 1)]);
    return;
  }
  for (int key = od_first(ld, node, "outputs and their standard deviations"); key >= 0; key = od_next(ld, key)) {
    int watched = od_is_repeated(ld, node, key) ? -1 : od_watch(xl, key);
    if (watched < 0) continue;
    xl->watched_key[watched] = key;
    const char *name = od_text_of(ld, key), *unit = xl->e->watched[watched].unit;
    const od_key *sigma = od_key_of(&od_sensor_section, "sigma");
    const od_field field = {name, unit, OD_POSITIVE, NAN, od_key_limits(sigma, unit)};
    int number = od_read_number(ld, od_value(ld, key), od_format(ld, "initial.%s", name), &field, od_place_of(ld, key),
                                OD_IN_LOADER);
    xl->e->watched[watched].sigma = od_number_value(ld, number);
  }
  od_covariance_of_sigmas(xl, node, t);
}

// --- Time and step -----------------------------------------------------------------------------------------------------

// Reads time and step. The defaults are the time and the step of the machine's section 'run'.
static void read_time(od_experiment_loader *xl, const od_section *file) {
  od_loader *ld = &xl->ld;
  od_experiment *e = xl->e;
  int first = od_read_keys(ld, file, OD_IN_LOADER, "time", "step", NULL);
  e->seed = (uint64_t)od_key_whole(ld, file, "seed");
  e->time = od_number_value(ld, first);
  e->step = od_number_value(ld, first + 1);
  if (!e->model) return;
  const od_run_defaults *run = od_machine_run(e->model);
  if (!(e->time > 0)) e->time = run->time;
  if (!(e->step > 0)) e->step = run->step > 0 ? run->step : 1e-3;
  if (!xl->simulated) return;
  if (!(e->time > 0))
    od_complain(ld, ld->tree.root,
                "neither the experiment nor the section 'run' of its machine has a 'time'; give the duration "
                "of the simulation");
  if (e->time / e->step > 1e8)
    od_complain_number(ld, first + 1, "%.3g steps are too many; expected at most 100 million steps", e->time / e->step);
}

// --- Logs ---------------------------------------------------------------------------------------------------------

// A log must contain all sensors and inputs. A constant input may be missing.
bool od_load_channels(const od_experiment *e, od_log_plan *plan, int *channel) {
  const od_machine *m = e->model;
  for (int i = 0; i < e->sensors; i++)
    if ((channel[i] = od_log_want(plan, e->sensor[i].name, e->sensor[i].unit, false, NAN)) < 0) return false;
  for (int i = 0; i < od_machine_input_count(m); i++) {
    const char *name = od_machine_input_name(m, i), *unit = od_machine_input_unit(m, i);
    int *at = &channel[e->sensors + i];
    if ((*at = od_log_want(plan, name, unit, true, od_machine_constant_input(m, i))) < 0) return false;
  }
  return true;
}

void od_load_log(od_experiment_loader *xl, od_log_plan *plan, od_log **log) {
  OD_OWNED(od_messages_free) od_messages *messages = od_messages_new();
  if (!messages || od_log_read(plan, xl->ld.units, log, messages) == OD_NO_MEMORY) xl->ld.no_memory = true;
  for (int i = 0; messages && i < od_messages_count(messages); i++) {
    const od_message *m = od_messages_get(messages, i);
    bool about_log = m->file && strcmp(m->file, plan->file) == 0;
    od_messages_say(about_log ? xl->foreign : xl->ld.messages, m->is_warning, (od_place){m->file, m->line, m->column},
                    "%s", m->text);
  }
  // Warns about largest values outside the usual range of their quantity: pressures of a few hundred Pa are probably in bar.
  for (int c = 0; *log && c < plan->channels; c++) {
    const od_channel *channel = &plan->channel[c];
    const od_channel_facts *facts = &(*log)->facts[c];
    double largest = facts->values > 0 ? fmax(fabs(facts->least), fabs(facts->most)) : 0;
    if (channel->at >= 0)
      od_check_measured(&xl->ld, channel->place.file ? channel->place : plan->place, channel->name, channel->unit,
                        od_measured_limits(channel->name, channel->unit), largest);
  }
}

// Reads the section 'data', and the log that the section names, if any.
static void read_data(od_experiment_loader *xl, int node) {
  od_experiment *e = xl->e;
  const char *setting = od_log_settings_given(&xl->options->log);
  od_log_plan_read(&xl->ld, node, "data", e->model, &e->data);
  if (!od_log_plan_set(&e->data, &xl->options->log, e->model, xl->ld.units, xl->ld.messages)) xl->ld.no_memory = true;
  if (xl->simulated && setting && !xl->options->more)
    od_messages_add(xl->ld.messages, (od_place){.file = setting},
                    "the data are simulated; expected a log, with --data or the section 'data'");
  if (xl->simulated || !e->data.file) return;
  int sensors_and_inputs = e->sensors + od_machine_input_count(e->model);
  e->channel = OD_TAKE(&e->memory, int, sensors_and_inputs + e->references);
  if (!e->channel || !od_load_channels(e, &e->data, e->channel) ||
      !od_load_reference_channels(e, &e->data, e->channel + sensors_and_inputs))
    xl->ld.no_memory = true;
  else if (strcmp(e->data.file, "-") != 0 && !xl->options->follow)
    od_load_log(xl, &e->data, &e->log);
}

// --- The file -----------------------------------------------------------------------------------------------------

// Assigns a row to each watched output and returns the number of rows. The measurement of a calibrated sensor differs from its
// output, so the output gets an additional row.
static int give_rows(od_experiment *e) {
  int rows = e->watches;
  for (int i = 0; i < e->watches; i++) {
    bool calibrated = false;
    for (int p = 0; p < e->parameters; p++) calibrated = calibrated || e->parameter[p].sensor == i;
    e->watched[i].row = calibrated ? rows++ : i;
  }
  return rows;
}

// Reads the sections of an experiment file. Machines, noise and filter precede the sensors, because sensors and parameters refer to them.
static void read_file(od_experiment_loader *xl, const od_section *file) {
  od_loader *ld = &xl->ld;
  const char *title = od_read_text(ld, od_section_get(ld, file, "experiment"), "experiment", "a title");
  int data = od_section_get(ld, file, "data");
  xl->simulated =
      xl->options->log.data.count == 0 && od_map_find(ld, data, "file") < 0 && od_map_find(ld, data, "files") < 0;
  od_load_machines(xl, file);
  read_time(xl, file);
  od_load_noise(xl, od_section_get(ld, file, "noise"));
  od_load_truth_noise(xl, od_map_find(ld, od_section_get(ld, file, "truth"), "noise"));
  od_load_truth_changes(xl, od_map_find(ld, od_section_get(ld, file, "truth"), "change"));
  od_load_filter(xl, od_section_get(ld, file, "filter"));
  od_load_integrator(xl, file);
  od_check_filter(xl, od_section_get(ld, file, "filter"));
  int sensors = od_section_need(ld, file, "sensors"), initial = od_section_get(ld, file, "initial");
  int parameters = od_section_get(ld, file, "parameters");
  xl->e->title = title ? title : xl->e->model ? od_machine_title(xl->e->model) : "";
  if (sensors >= 0 && ld->tree.node[sensors].count == 0 && ld->tree.node[sensors].kind != OD_TREE_TEXT)
    od_complain(ld, sensors, "an experiment needs at least one sensor; add a sensor under 'sensors'");
  if ((xl->simulated && !xl->e->truth) || !xl->e->model) return;
  int outputs = entries(ld, initial) + od_matrix_count(ld, initial) + od_matrix_count(ld, xl->process) +
                od_matrix_count(ld, xl->truth_process) + od_metric_outputs(ld, od_section_get(ld, file, "metrics")) +
                od_reference_outputs(ld, od_section_get(ld, file, "compare"));
  int watches = entries(ld, sensors) + outputs;
  xl->e->sensor = OD_TAKE(&xl->e->memory, od_sensor, watches);
  xl->e->watched = OD_TAKE(&xl->e->memory, od_watched, watches);
  xl->e->parameter = OD_TAKE(&xl->e->memory, od_estimated, entries(ld, parameters));
  xl->watched_key = OD_TAKE(&xl->memory, int, watches);
  if (od_is_out_of_memory(xl)) return;
  od_load_sensor_noise(xl, od_section_get(ld, file, "sensor_noise"));
  od_load_sensors(xl, sensors);
  od_fill_sensor_covariance(xl);
  read_initial(xl, initial);
  od_load_process(xl);
  od_load_parameters(xl, parameters);
  od_load_metrics(xl, od_section_get(ld, file, "metrics"));
  // A fit has no estimates over time that could be compared with reference columns.
  if (!xl->options->more) od_load_references(xl, od_section_get(ld, file, "compare"));
  xl->e->outputs = give_rows(xl->e);
  read_data(xl, data);
  if (xl->options->more) xl->options->more(xl->options->user, xl, file);
}

bool od_is_out_of_memory(const od_experiment_loader *xl) {
  return od_lacks_memory(&xl->ld) || od_arena_status(&xl->memory) != OD_OK || od_arena_status(&xl->e->memory) != OD_OK;
}

// Reads and checks the file. Numbers of --set that do not exist are reported only if the file has no errors. After an error some
// numbers are not read.
static od_status check_file(void *loader) {
  od_experiment_loader *xl = loader;
  od_loader *ld = &xl->ld;
  if (od_is_other_kind(ld, xl->options->more ? OD_FILE_FIT : OD_FILE_EXPERIMENT)) return OD_BAD_INPUT;
  od_section file = od_document_root(ld, "an experiment", "'machine' and 'sensors'", &od_experiment_section);
  if (file.map < 0) return OD_BAD_INPUT;
  file.map = od_load_variants(ld, &od_experiment_section, file.map, xl->options->variant);
  xl->e->variant = ld->document->variant;
  read_file(xl, &file);
  bool sound = !od_has_errors(ld) && od_messages_errors(xl->foreign) == 0;
  if (sound) od_numbers_report_unused(&ld->document->numbers, ld->messages);
  if (sound && !od_has_errors(ld) && !od_is_out_of_memory(xl) && !xl->options->more) {
    od_load_signal_sizes(xl);
    for (int i = 0; i < xl->e->sensors; i++) xl->e->sensor[i].frozen = od_equal_values(xl, &xl->e->sensor[i]);
    od_load_start(xl);
  }
  // A fit file has fewer required keys than an experiment.
  if (od_has_errors(ld) && !xl->options->more && od_file_kind_of(&ld->tree) == OD_FILE_FIT)
    od_complain(ld, ld->tree.root, "this is a fit file, for 'oleodyn fit'; an observer needs more keys");
  if (od_is_out_of_memory(xl)) return OD_NO_MEMORY;
  return !od_has_errors(ld) && od_messages_errors(xl->foreign) == 0 ? OD_OK : OD_BAD_INPUT;
}

od_status od_experiment_load(const char *path, const od_experiment_options *options, od_experiment **out,
                             od_messages *messages) {
  static const od_experiment_options none = {0};
  *out = NULL;
  if (!options) options = &none;
  int first = od_messages_count(messages);
  od_experiment_loader xl = {.e = od_calloc(1, sizeof *xl.e),
                             .options = options,
                             .foreign = od_messages_new(),
                             .process = -1,
                             .truth_process = -1};
  od_status status = OD_NO_MEMORY;
  if (xl.e && xl.foreign) {
    xl.ld = od_document_start(path, options->content, messages);
    xl.e->file = xl.ld.document;
    xl.e->uncorrected = options->uncorrected;
  }
  // The reader of this file uses the texts of --set for numbers of the experiment. The loaders of the machines use the
  // other texts.
  const char **own = OD_TAKE(&xl.memory, const char *, options->set_count);
  int count = 0;
  for (int i = 0; own && i < options->set_count; i++)
    if (!od_set_for(options->set[i], "truth") && !od_set_for(options->set[i], "model")) own[count++] = options->set[i];
  if (own && xl.ld.document) {
    xl.e->path = xl.e->file->file;
    status = od_document_load(&xl.ld, own, count, check_file, &xl);
  }
  od_arena_free(&xl.memory);
  od_document_end(messages, first, xl.foreign, status, path);
  if (status == OD_OK)
    *out = xl.e;
  else
    od_experiment_free(xl.e);
  return status;
}
