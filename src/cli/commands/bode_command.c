// oleodyn bode: frequency responses from inputs to outputs, and of loops.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands/command.h"
#include "options/frequency_options.h"
#include "options/linear_options.h"
#include "terminal/terminal.h"
#include "io/display.h"
#include "io/json.h"
#include "io/number.h"
#include "linear/response_plot.h"
#include "linear/poles.h"
#include "linear/response.h"

enum { POINTS = 400 };

typedef struct arguments {
  od_linear_arguments linear;
  od_frequency_arguments frequencies;
  od_words loops;
  bool loops_are_outputs;  // the same words, then
} arguments;

typedef struct results {
  const od_machine *machine;
  const od_linear_model *model;
  int paths, count;
  od_path *path;
  char **name;
  od_margins *margins;
  double *frequency;
  od_table *table;
  int unstable;
} results;

static void free_results(results *r) {
  for (int i = 0; r->name && i < r->paths; i++) free(r->name[i]);
  free(r->name);
  free(r->path);
  free(r->margins);
  free(r->frequency);
  od_table_free(r->table);
}

static char *path_name(const od_linear_model *m, const od_path *p) {
  const char *from = m->input[p->input].name, *to = m->output[p->output].name;
  size_t size = strlen(from) + strlen(to) + 32;
  char *text = malloc(size);
  if (text)
    snprintf(text, size, p->loop ? "loop at %s, opened where %s adds" : "%s to %s", p->loop ? to : from,
             p->loop ? from : to);
  return text;
}

// Every input to every output; of loops, every input that comes in at the signal. all: signals without such an input are
// passed over.
static int list_paths(results *r, bool loop, bool all) {
  const od_linear_model *m = r->model;
  size_t most = (size_t)m->inputs * (size_t)m->outputs + 1;
  r->path = calloc(most, sizeof *r->path);
  r->name = calloc(most, sizeof *r->name);
  r->margins = calloc(most, sizeof *r->margins);
  if (!r->path || !r->name || !r->margins) return OD_EXIT_FAILED;
  int code = -1;
  for (int i = 0; i < m->outputs; i++) {
    int before = r->paths;
    for (int j = 0; j < m->inputs; j++) {
      const od_path path = {j, i, loop};
      if (loop && !od_loop_enters(r->machine, r->model, &path)) continue;
      r->path[r->paths] = path;
      r->name[r->paths] = path_name(m, &path);
      if (!r->name[r->paths++]) return OD_EXIT_FAILED;
    }
    if (!loop || all || r->paths > before) continue;
    od_cli_error(
        "--loop: no input adds to '%s' at once and to nothing else; a loop is looked at where an input comes in, such as at "
        "the difference of a reference and what is measured",
        m->output[i].name);
    code = OD_EXIT_BAD_INPUT;
  }
  if (code < 0 && r->paths == 0) {
    od_cli_error(loop ? "%s has no signal to which an input adds at once: there is no loop to look at"
                      : "%s has no inputs: there is nothing to respond to",
                 od_machine_file(r->machine));
    code = OD_EXIT_BAD_INPUT;
  }
  return code;
}

static bool wants_all(const od_words *loops) {
  return loops->count == 1 && !strcmp(loops->text[0], "all");
}

// A gain with a unit is no loop's: it has no margins.
static bool has_unit(const od_linear_model *m, const od_path *p) {
  return !p->loop && strcmp(m->output[p->output].unit, m->input[p->input].unit) != 0;
}

// The model is that of the response: over a sweep the one of the results, of the first point, is gone.
static od_margins find_margins(const results *r, const od_linear_model *model, od_linear_response *response, int k) {
  od_margins m = od_margins_find(response, &r->path[k], r->frequency, r->count);
  if (has_unit(model, &r->path[k])) m.gain = m.gain_at = m.phase = m.phase_at = NAN;
  return m;
}

static od_status fill_table(results *r, od_linear_response *response, od_error *err) {
  int columns = 1 + 2 * r->paths;
  double *row = malloc((size_t)columns * sizeof *row), *all = malloc((size_t)columns * (size_t)r->count * sizeof *all);
  r->table = od_table_new(columns);
  od_status status = row && all && r->table ? od_table_label(r->table, 0, "frequency", "Hz") : OD_NO_MEMORY;
  for (int k = 0; k < r->paths && status == OD_OK; k++) {
    char text[600];
    const od_linear_model *m = r->model;
    const char *from = m->input[r->path[k].input].name, *to = m->output[r->path[k].output].name;
    const char *joint = r->path[k].loop ? ".loop." : ".to.";
    double *magnitude = all + 2 * k * r->count;
    snprintf(text, sizeof text, "%.250s%s%.250s.magnitude", from, joint, to);
    status = od_table_label(r->table, 1 + 2 * k, text, "dB");
    snprintf(text, sizeof text, "%.250s%s%.250s.phase", from, joint, to);
    if (status == OD_OK) status = od_table_label(r->table, 2 + 2 * k, text, "deg");
    od_path_table(response, &r->path[k], r->frequency, r->count, magnitude, magnitude + r->count);
    r->margins[k] = find_margins(r, r->model, response, k);
  }
  for (int i = 0; i < r->count && status == OD_OK; i++) {
    row[0] = r->frequency[i];
    for (int c = 0; c < 2 * r->paths; c++) row[1 + c] = all[c * r->count + i];
    status = od_table_append(r->table, row);
  }
  free(row);
  free(all);
  return status == OD_OK ? OD_OK : od_fail(err, status, "%s", od_status_text(status));
}

static od_status find(results *r, od_error *err) {
  od_poles poles;
  od_linear_response *response = od_linear_response_new(r->model);
  od_status status = response ? OD_OK : od_fail(err, OD_NO_MEMORY, "memory ran out");
  if (status == OD_OK) status = fill_table(r, response, err);
  if (status == OD_OK) status = od_poles_find(r->model, &poles, err);
  if (status == OD_OK) {
    r->unstable = od_poles_unstable(&poles);
    od_poles_free(&poles);
  }
  od_linear_response_free(response);
  return status;
}

// --- What is shown --------------------------------------------------------------------------------------------------

// "of N per m": the SI units of a gain that has any.
static void gain_unit(const results *r, int k, char *text, size_t size) {
  const char *to = r->model->output[r->path[k].output].unit, *from = r->model->input[r->path[k].input].unit;
  text[0] = '\0';
  if (has_unit(r->model, &r->path[k])) snprintf(text, size, " of %s per %s", to, from);
}

static void print_margins(const results *r, int k, FILE *to) {
  const od_margins *m = &r->margins[k];
  char unit[200];
  gain_unit(r, k, unit, sizeof unit);
  fprintf(to, "  %s\n", r->name[k]);
  if (!(m->peak > 0)) {
    fprintf(to, "    %-14s none: the output does not follow the input here\n", "gain");
    return;
  }
  fprintf(to, "    %-14s %.6g dB%s at %.6g Hz; the largest is %.6g dB at %.6g Hz\n", "gain", r->table->data[1 + 2 * k],
          unit, r->frequency[0], 20 * log10(m->peak), m->peak_at);
  if (!isnan(m->bandwidth)) fprintf(to, "    %-14s %.6g Hz (3 dB below the first)\n", "bandwidth", m->bandwidth);
  if (has_unit(r->model, &r->path[k])) return;
  if (isnan(m->gain))
    fprintf(to, "    %-14s any: the phase does not cross -180 deg\n", "gain margin");
  else
    fprintf(to, "    %-14s %.6g dB at %.6g Hz\n", "gain margin", 20 * log10(m->gain), m->gain_at);
  if (isnan(m->phase))
    fprintf(to, "    %-14s any: the gain does not cross 1\n", "phase margin");
  else
    fprintf(to, "    %-14s %.6g deg at %.6g Hz\n", "phase margin", m->phase, m->phase_at);
}

static void print(const results *r, FILE *to) {
  char place[80], line[400];
  const char *title = od_machine_title(r->machine);
  od_linear_place(r->model, place, sizeof place);
  snprintf(line, sizeof line, "%.200s: frequency responses at %s",
           title && title[0] ? title : od_machine_file(r->machine), place);
  od_heading(to, line);
  for (int k = 0; k < r->paths; k++) print_margins(r, k, to);
  fprintf(to, "The machine as it is%s is %s.\n",
          r->model->samples ? ", with the loops through sampled blocks open," : "",
          r->unstable ? "unstable here: margins say little" : "stable here");
}

static json_t *bode_json(const results *r) {
  json_t *object = od_linear_head_json(r->machine, r->model), *list = json_array(), *frequencies = json_array();
  json_object_set_new(object, "stable", json_boolean(r->unstable == 0));
  for (int i = 0; i < r->count; i++) json_array_append_new(frequencies, od_json_number(r->frequency[i]));
  for (int k = 0; k < r->paths; k++) {
    const od_margins *m = &r->margins[k];
    const od_path *p = &r->path[k];
    json_t *item = json_pack("{s:o, s:o, s:b}", "input", od_json_text(r->model->input[p->input].name), "output",
                             od_json_text(r->model->output[p->output].name), "loop", p->loop);
    const struct {
      const char *name;
      double value;
    } values[] = {{"gain_margin", m->gain},         {"gain_margin_at", m->gain_at}, {"phase_margin", m->phase},
                  {"phase_margin_at", m->phase_at}, {"bandwidth", m->bandwidth},    {"peak", m->peak},
                  {"peak_at", m->peak_at}};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
      json_object_set_new(item, values[i].name, od_json_number(values[i].value));
    json_t *magnitude = json_array(), *phase = json_array();
    for (int i = 0; i < r->count; i++) {
      const double *row = r->table->data + (long)i * r->table->columns;
      json_array_append_new(magnitude, od_json_number(row[1 + 2 * k]));
      json_array_append_new(phase, od_json_number(row[2 + 2 * k]));
    }
    json_object_set_new(item, "magnitude", magnitude);
    json_object_set_new(item, "phase", phase);
    json_array_append_new(list, item);
  }
  json_object_set_new(object, "frequencies", frequencies);
  json_object_set_new(object, "responses", list);
  return object;
}

static od_status write_plot(const void *user, const char *path, od_error *err) {
  const results *r = user;
  char place[80], subtitle[400];
  const char *title = od_machine_title(r->machine);
  od_linear_place(r->model, place, sizeof place);
  snprintf(subtitle, sizeof subtitle, "%.250s at %s", od_machine_file(r->machine), place);
  const char *const note = "dB, of SI units";
  const od_bode_plot plot = {.table = r->table,
                             .name = (const char *const *)r->name,
                             .groups = 1,
                             .note = &note,
                             .title = title && title[0] ? title : od_machine_file(r->machine),
                             .subtitle = subtitle};
  return od_bode_plot_write(&plot, path, err);
}

static int show(const arguments *a, results *r) {
  const od_linear_arguments *l = &a->linear;
  od_error err = {0};
  int code = list_paths(r, a->loops.count > 0, wants_all(&a->loops));
  if (code < 0) code = od_frequencies_choose(&a->frequencies, r->model, POINTS, &r->frequency, &r->count);
  if (code >= 0) return code;
  od_status status = find(r, &err);
  if (status != OD_OK) {
    od_cli_error("%s", err.text);
    return od_exit_code(status);
  }
  FILE *notes = od_files_notes(&l->files, l->quiet);
  if (notes == stdout) print(r, notes);
  od_linear_warn(r->model);
  const od_file_contents contents = {.table = r->table,
                                     .summary = l->files.path[OD_FILE_JSON] ? bode_json(r) : NULL,
                                     .write[OD_FILE_PLOT] = write_plot,
                                     .user = r};
  return od_files_write(&l->files, &contents, notes) ? OD_EXIT_OK : OD_EXIT_FAILED;
}

// --- Sweeps ----------------------------------------------------------------------------------------------------------

// The frequencies are those of the first point, so that all points are looked at alike.
typedef struct bode_sweep {
  const arguments *a;
  results first;
} bode_sweep;

static int begin_sweep(void *user, const od_machine *machine, const od_linear_model *model) {
  bode_sweep *b = user;
  b->first = (results){.machine = machine, .model = model};
  int code = list_paths(&b->first, b->a->loops.count > 0, wants_all(&b->a->loops));
  if (code < 0) code = od_frequencies_choose(&b->a->frequencies, model, POINTS, &b->first.frequency, &b->first.count);
  return code;
}

static od_status measure(const void *user, const od_linear_model *model, bool (*goes_on)(void *, double), void *going,
                         od_sweep_row *row, od_error *err) {
  const results *first = &((const bode_sweep *)user)->first;
  od_linear_response *response = od_linear_response_new(model);
  bool ok = response != NULL;
  if (ok) od_linear_response_listen(response, goes_on, going);
  for (int k = 0; k < first->paths && ok; k++) {
    od_margins m = find_margins(first, model, response, k);
    const struct {
      const char *name, *unit;
      double value;
    } values[] = {{"gain_margin", "1", m.gain},
                  {"phase_margin", "deg", m.phase},
                  {"bandwidth", "Hz", m.bandwidth},
                  {"peak", "1", m.peak},
                  {"peak_at", "Hz", m.peak_at}};
    for (size_t i = 0; i < sizeof values / sizeof *values && ok; i++) {
      char name[600];
      const od_path *p = &first->path[k];
      snprintf(name, sizeof name, "%.250s%s%.250s.%s", model->input[p->input].name, p->loop ? ".loop." : ".to.",
               model->output[p->output].name, values[i].name);
      ok = od_sweep_add(row, name, values[i].unit, values[i].value);
    }
  }
  od_linear_response_free(response);
  return ok ? OD_OK : od_fail(err, OD_NO_MEMORY, "memory ran out");
}

// Loops are looked at where inputs add to them: at outputs of the model.
static int check(void *user) {
  arguments *a = user;
  if (a->loops.count && a->linear.outputs.count) {
    od_cli_error("--loop and --to exclude each other: a loop is looked at where an input adds to it");
    return OD_EXIT_BAD_INPUT;
  }
  a->loops_are_outputs = a->loops.count > 0;
  if (a->loops_are_outputs) a->linear.outputs = a->loops;
  return -1;
}

static int show_model(void *user, const od_machine *machine, const od_linear_model *model) {
  results r = {.machine = machine, .model = model};
  int code = show(user, &r);
  free_results(&r);
  return code;
}

static const char details[] =
    "Gains are in dB of SI units, phases go on from frequency to frequency without jumps. Margins are those of the\n"
    "response as an open loop with negative feedback; gains with a unit have none. With --loop they are those of a loop that the machine has: where\n"
    "an input adds to a signal within the loop, such as a reference to the error, the response G of that signal tells the\n"
    "loop's gain, L = (1 - G) / G.\n\n"
    "Examples\n"
    "  oleodyn bode crane.yaml --from valve_command --to boom.angle --plot crane.svg\n"
    "  oleodyn bode servo.yaml --from reference --loop error --csv loop.csv\n";

int od_command_bode(int argc, char **argv) {
  arguments a = {0};
  od_linear_arguments *l = &a.linear;
  const od_option options[] = {
      {"from", OD_OPTION_LIST, "INPUT,...", "inputs: names or patterns (repeatable); default: all", &l->inputs},
      {"to", OD_OPTION_LIST, "OUTPUT,...",
       "outputs: names or patterns (repeatable); default: those of the file's run\nsection", &l->outputs},
      {"loop", OD_OPTION_LIST, "SIGNAL,...", "loops instead, at these signals, which inputs add to; or all", &a.loops},
      OD_FREQUENCY_OPTIONS(&a.frequencies),
      OD_LINEAR_OPTIONS(l),
  };
  const od_usage usage = {"bode",
                          "MACHINE",
                          "frequency responses of a machine at an operating point",
                          details,
                          options,
                          (int)(sizeof options / sizeof *options),
                          .shared = {.files = &l->files,
                                     .file[OD_FILE_CSV] = "magnitudes and phases",
                                     .file[OD_FILE_MAT] = "magnitudes and phases",
                                     .file[OD_FILE_JSON] = "magnitudes, phases and margins",
                                     .file[OD_FILE_PLOT] = "magnitudes and phases",
                                     .si = &l->si,
                                     .quiet = &l->quiet}};
  bode_sweep b = {.a = &a};
  od_linear_sweep sweep = {.arguments = l, .begin = begin_sweep, .measure = measure, .user = &b};
  const od_linear_command command = {&usage, l, &sweep, check, show_model, &a};
  int code = od_linear_command_run(&command, argc, argv);
  free_results(&b.first);
  if (!a.loops_are_outputs) od_words_free(&a.loops);
  return code;
}
