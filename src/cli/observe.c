// oleodyn observe: runs an experiment, the true machine and the observer side by side, and writes what was found.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/observed.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "cli/terminal.h"
#include "experiment/observe.h"
#include "io/atomic_file.h"
#include "io/json.h"
#include "io/plot.h"

typedef struct arguments {
  const char *truth, *seed, *csv, *mat, *json, *plot;
  od_words set;
  bool quiet;
} arguments;

static bool is_standard_output(const char *path) {
  return path && !strcmp(path, "-");
}

// Whether the files can be written, asked before the work.
static int check_files(const arguments *a) {
  if (is_standard_output(a->csv) && is_standard_output(a->json)) {
    od_cli_error("--csv - and --json - cannot both have standard output");
    return OD_EXIT_BAD_INPUT;
  }
  const char *const binary[] = {a->mat, a->plot}, *const names[] = {"mat", "plot"};
  for (int i = 0; i < 2; i++) {
    if (!is_standard_output(binary[i])) continue;
    od_cli_error("--%s cannot go to standard output; give a file name", names[i]);
    return OD_EXIT_BAD_INPUT;
  }
  const char *const paths[] = {a->csv, a->mat, a->json, a->plot};
  for (int i = 0; i < 4; i++) {
    od_error err = {0};
    if (!paths[i] || is_standard_output(paths[i]) || od_atomic_probe(paths[i], &err) == OD_OK) continue;
    od_cli_error("%s", err.text);
    return OD_EXIT_FAILED;
  }
  return -1;
}

static int load(const char *path, const arguments *a, od_experiment **e) {
  od_messages *messages = od_messages_new();
  if (!messages) {
    od_cli_error("memory ran out");
    return OD_EXIT_FAILED;
  }
  const od_experiment_options options = {.set = a->set.text, .set_count = a->set.count, .truth = a->truth};
  od_status status = od_experiment_load(path, &options, e, messages);
  od_messages_print(messages, stderr, od_terminal_colour(stderr));
  od_messages_free(messages);
  if (status == OD_OK) return -1;
  return status == OD_NO_MEMORY ? OD_EXIT_FAILED : OD_EXIT_BAD_INPUT;
}

static int choose_seed(const arguments *a, od_experiment *e) {
  if (!a->seed) return -1;
  char *end;
  size_t digits = strspn(a->seed, "0123456789");
  unsigned long long seed = strtoull(a->seed, &end, 10);
  if (digits == 0 || digits > 18 || a->seed[digits]) {
    od_cli_error("--seed: '%s' is no whole number of at most 18 digits", a->seed);
    return OD_EXIT_BAD_INPUT;
  }
  e->seed = seed;
  return -1;
}

// The table's columns that say something at a glance: estimates, and errors of outputs.
static od_table *chosen_columns(const od_table *t) {
  int count = 0, *chosen = calloc((size_t)t->columns, sizeof *chosen);
  if (!chosen) return NULL;
  for (int c = 0; c < t->columns; c++)
    if (c == 0 || !strncmp(t->name[c], "estimate.", 9) || !strncmp(t->name[c], "error.", 6)) chosen[count++] = c;
  od_table *out = od_table_new(count);
  double *row = calloc((size_t)count, sizeof *row);
  bool ok = out && row;
  for (int c = 0; ok && c < count; c++) ok = od_table_label(out, c, t->name[chosen[c]], t->unit[chosen[c]]) == OD_OK;
  for (long i = 0; ok && i < t->rows; i++) {
    for (int c = 0; c < count; c++) row[c] = t->data[i * t->columns + chosen[c]];
    ok = od_table_append(out, row) == OD_OK;
  }
  free(row);
  free(chosen);
  if (ok) return out;
  od_table_free(out);
  return NULL;
}

static od_status write_plot(const od_findings *f, const char *path, od_error *err) {
  od_table *table = chosen_columns(f->observed->table);
  if (!table) return od_fail(err, OD_NO_MEMORY, "memory ran out");
  char subtitle[300];
  snprintf(subtitle, sizeof subtitle, "%.200s: seed %llu", f->experiment->path,
           (unsigned long long)f->experiment->seed);
  od_status status = od_plot_write(table, f->experiment->title, subtitle, path, err);
  od_table_free(table);
  return status;
}

static od_status write_json(const od_findings *f, const char *path, od_error *err) {
  json_t *object = od_findings_json(f);
  od_status status = od_json_write(object, path, err);
  json_decref(object);
  return status;
}

// A line about a written file, or the complaint that it could not be written.
static bool tell(od_status status, const od_error *err, const char *path, const char *what, FILE *notes) {
  if (status != OD_OK)
    od_cli_error("%s", err->text);
  else if (notes && !is_standard_output(path))
    fprintf(notes, "wrote %s: %s\n", path, what);
  return status == OD_OK;
}

static bool write_files(const arguments *a, const od_findings *f, FILE *notes) {
  char size[80];
  od_error err = {0};
  const od_table *table = f->observed->table;
  snprintf(size, sizeof size, "%ld rows, %d columns", table->rows, table->columns);
  bool ok = true;
  if (a->csv) ok = tell(od_table_write_csv(table, a->csv, &err), &err, a->csv, size, notes) && ok;
  if (a->mat) ok = tell(od_table_write_mat(table, a->mat, &err), &err, a->mat, size, notes) && ok;
  if (a->json) ok = tell(write_json(f, a->json, &err), &err, a->json, "a summary", notes) && ok;
  if (a->plot) ok = tell(write_plot(f, a->plot, &err), &err, a->plot, "a plot", notes) && ok;
  return ok;
}

static int run_and_write(const arguments *a, const od_experiment *e) {
  od_observed *observed = NULL;
  od_error err = {0};
  od_progress progress = od_progress_start(a->quiet);
  const od_observe_options options = {.progress = od_progress_tick, .user = &progress};
  od_status status = od_observe(e, &options, &observed, &err);
  od_progress_end(&progress);
  bool ok = true;
  if (observed) {
    // Notes keep out of the way of results on standard output.
    FILE *notes = a->quiet ? NULL : is_standard_output(a->csv) || is_standard_output(a->json) ? stderr : stdout;
    od_findings findings = {e, observed, status == OD_OK ? NULL : err.text};
    if (notes == stdout) od_findings_print(&findings, notes);
    ok = write_files(a, &findings, notes);
  }
  if (status == OD_INTERRUPTED)
    fprintf(stderr, "oleodyn: %s\n", err.text);
  else if (status != OD_OK)
    od_cli_error("%s", err.text);
  od_observed_free(observed);
  if (status != OD_OK) return od_exit_code(status);
  return ok ? OD_EXIT_OK : OD_EXIT_FAILED;
}

static const char details[] =
    "The experiment file says which machine works, which sensors it has, what the observer believes at the start and\n"
    "what it estimates. Printed are the parameters beside their true values, how often each sensor was used, and\n"
    "whether the innovations are as large as the filter expects. Files appear complete or not at all.\n\n"
    "Examples\n"
    "  oleodyn observe valve.yaml --seed 7 --csv valve.csv\n"
    "  oleodyn observe valve.yaml --truth worn --set truth.oil.kp='1400 MPa' --json -\n"
    "  oleodyn observe valve.yaml --set sensors.P.pressure.dropout='1 %' --plot valve.svg\n";

int od_command_observe(int argc, char **argv) {
  arguments a = {0};
  const od_option options[] = {
      {"truth", OD_OPTION_TEXT, "VARIANT", "variant of the machine file that is the true machine; default: the file's",
       &a.truth},
      {"seed", OD_OPTION_TEXT, "N", "seed of the sensors' noise; default: the file's, else 1", &a.seed},
      {"set", OD_OPTION_LIST, "PATH=VALUE",
       "replace a number of the experiment, or with 'truth.' or 'model.' before its\npath one of that machine "
       "(repeatable)",
       &a.set},
      {"csv", OD_OPTION_TEXT, "FILE", "write every step as CSV; - is standard output", &a.csv},
      {"mat", OD_OPTION_TEXT, "FILE", "write every step as a MATLAB file", &a.mat},
      {"json", OD_OPTION_TEXT, "FILE", "write a summary as JSON; - is standard output", &a.json},
      {"plot", OD_OPTION_TEXT, "FILE.svg", "draw estimates and errors over time", &a.plot},
      {"quiet", OD_OPTION_FLAG, NULL, "print nothing but errors", &a.quiet},
  };
  const od_usage usage = {"observe", "EXPERIMENT", "estimate states and parameters of a machine while it works",
                          details,   options,      (int)(sizeof options / sizeof *options)};
  od_words files = {0};
  od_experiment *e = NULL;
  int code = od_options_parse_counted(&usage, argc, argv, 1, 1, &files);
  if (code < 0) code = load(files.text[0], &a, &e);
  if (code < 0) code = choose_seed(&a, e);
  if (code < 0) code = check_files(&a);
  if (code < 0) code = run_and_write(&a, e);
  od_experiment_free(e);
  od_words_free(&files);
  od_words_free(&a.set);
  return code;
}
