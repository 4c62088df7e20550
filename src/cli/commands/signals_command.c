// oleodyn signals: the inputs of a machine over time, without running it.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands/command.h"
#include "options/open_machine.h"
#include "options/option_values.h"
#include "options/options.h"
#include "terminal/progress.h"
#include "options/result_files.h"
#include "terminal/terminal.h"
#include "io/display.h"
#include "io/json.h"
#include "io/number.h"
#include "io/plot.h"
#include "machine/machine.h"

enum { MOST_TIMES = 100000, MOST_ROWS = 10000000, ASK = 4096 };
static const double default_step = 1e-3;

typedef struct arguments {
  const char *time, *step;
  od_files files;
  od_load_arguments load;
  bool si, quiet;
} arguments;

// Times of one kind; there may be more than are kept.
typedef struct time_list {
  double *at;
  int count;
  bool more;
} time_list;

typedef struct findings {
  const od_machine *machine;
  double time, step;
  int inputs;
  time_list *breaks, *reversals;  // of each input
  od_table *table;                // time, then value and slope of each input
} findings;

static void free_findings(findings *f) {
  for (int i = 0; i < f->inputs; i++) {
    if (f->breaks) free(f->breaks[i].at);
    if (f->reversals) free(f->reversals[i].at);
  }
  free(f->breaks);
  free(f->reversals);
  od_table_free(f->table);
}

// --- What is found ------------------------------------------------------------------------------------------------

static bool add_time(time_list *list, double t) {
  if (list->count % 64 == 0) {
    double *grown = realloc(list->at, (size_t)(list->count + 64) * sizeof *grown);
    if (!grown) return false;
    list->at = grown;
  }
  list->at[list->count++] = t;
  return true;
}

static bool find_times(findings *f, int input) {
  time_list *b = &f->breaks[input], *r = &f->reversals[input];
  bool ok = true;
  // A break at the very beginning counts.
  for (double t = od_machine_input_next_break(f->machine, input, -1e-9); ok && t <= f->time;
       t = od_machine_input_next_break(f->machine, input, t)) {
    b->more = b->count == MOST_TIMES;
    if (b->more) break;
    ok = add_time(b, t);
  }
  for (double t = 0; ok && (t = od_machine_input_next_reversal(f->machine, input, t, f->time)) <= f->time;) {
    r->more = r->count == MOST_TIMES;
    if (r->more) break;
    ok = add_time(r, t);
  }
  return ok;
}

static od_status make_table(findings *f) {
  f->table = od_table_new(1 + 2 * f->inputs);
  od_status status = f->table ? od_table_label(f->table, 0, "time", "s") : OD_NO_MEMORY;
  for (int i = 0; i < f->inputs && status == OD_OK; i++) {
    char name[400], rate[120];
    const char *unit = od_machine_input_unit(f->machine, i);
    snprintf(name, sizeof name, "%.380s.slope", od_machine_input_name(f->machine, i));
    od_rate_unit(unit, 1, rate, sizeof rate);
    status = od_table_label(f->table, 1 + 2 * i, od_machine_input_name(f->machine, i), unit);
    if (status == OD_OK) status = od_table_label(f->table, 2 + 2 * i, name, rate);
  }
  return status;
}

static od_status fill_table(findings *f, od_progress *progress) {
  double *row = calloc((size_t)(1 + 2 * f->inputs), sizeof *row), *u = calloc((size_t)f->inputs + 1, sizeof *u);
  od_status status = row && u ? make_table(f) : OD_NO_MEMORY;
  long rows = (long)floor(f->time / f->step * (1 + 1e-12)) + 1;
  for (long k = 0; k < rows && status == OD_OK; k++) {
    double t = (double)k * f->step;
    if (k % ASK == 0 && !od_progress_tick(progress, (double)k / (double)rows)) status = OD_INTERRUPTED;
    od_machine_inputs(f->machine, t, u);
    row[0] = t;
    for (int i = 0; i < f->inputs; i++) {
      row[1 + 2 * i] = u[i];
      row[2 + 2 * i] = od_machine_input_derivative(f->machine, i, t, 1);
    }
    if (status == OD_OK) status = od_table_append(f->table, row);
  }
  free(row);
  free(u);
  return status;
}

static od_status find(findings *f, bool quiet) {
  f->breaks = calloc((size_t)f->inputs + 1, sizeof *f->breaks);
  f->reversals = calloc((size_t)f->inputs + 1, sizeof *f->reversals);
  bool ok = f->breaks && f->reversals;
  for (int i = 0; ok && i < f->inputs; i++) ok = find_times(f, i);
  if (!ok) return OD_NO_MEMORY;
  od_progress progress = od_progress_start(quiet);
  od_status status = fill_table(f, &progress);
  od_progress_end(&progress);
  return status;
}

// --- What is shown ------------------------------------------------------------------------------------------------

static void count_text(const time_list *list, char text[40]) {
  snprintf(text, 40, "%s%d", list->more ? "more than " : "", list->count);
}

static void print(const findings *f, FILE *to) {
  char line[400];
  const char *title = od_machine_title(f->machine);
  snprintf(line, sizeof line, "%.200s: inputs over %s", title && title[0] ? title : od_machine_file(f->machine),
           od_duration_text(f->time, 6).text);
  od_heading(to, line);
  int width = od_text_width("input");
  for (int i = 0; i < f->inputs; i++) width = od_text_widest(width, od_machine_input_name(f->machine, i));
  fprintf(to, "  %-*s  %-6s %12s %12s %14s %14s %12s\n", width, "input", "unit", "min", "max", "breaks", "reversals",
          "ends at");
  for (int i = 0; i < f->inputs; i++) {
    od_summary s = od_table_summary(f->table, 1 + 2 * i);
    od_display shown = od_display_unit(f->table->unit[1 + 2 * i], fmax(fabs(s.min), fabs(s.max)));
    char low[OD_NUMBER_SIZE], high[OD_NUMBER_SIZE], breaks[40], reversals[40];
    double end = od_machine_input_duration(f->machine, i);
    od_number_round(low, s.min * shown.factor, 6);
    od_number_round(high, s.max * shown.factor, 6);
    count_text(&f->breaks[i], breaks);
    count_text(&f->reversals[i], reversals);
    fprintf(to, "  ");
    od_print_padded(to, f->table->name[1 + 2 * i], width);
    fprintf(to, "  ");
    od_print_padded(to, shown.unit, 6);
    fprintf(to, " %12s %12s %14s %14s %12s\n", low, high, breaks, reversals,
            isinf(end) ? "never" : od_duration_text(end, 6).text);
  }
}

static json_t *times_json(const time_list *list) {
  json_t *array = json_array();
  for (int i = 0; i < list->count; i++) json_array_append_new(array, od_json_number(list->at[i]));
  return array;
}

static json_t *findings_json(const findings *f) {
  json_t *object = json_pack("{s:o, s:o}", "machine", od_json_text(od_machine_title(f->machine)), "file",
                             od_json_text(od_machine_file(f->machine)));
  json_t *inputs = json_array();
  json_object_set_new(object, "time", od_json_number(f->time));
  for (int i = 0; i < f->inputs; i++) {
    od_summary s = od_table_summary(f->table, 1 + 2 * i);
    json_t *item = json_pack("{s:o, s:o}", "name", od_json_text(od_machine_input_name(f->machine, i)), "unit",
                             od_json_text(od_machine_input_unit(f->machine, i)));
    json_object_set_new(item, "min", od_json_number(s.min));
    json_object_set_new(item, "max", od_json_number(s.max));
    json_object_set_new(item, "ends_at", od_json_number(od_machine_input_duration(f->machine, i)));
    json_object_set_new(item, "breaks", times_json(&f->breaks[i]));
    json_object_set_new(item, "reversals", times_json(&f->reversals[i]));
    json_object_set_new(item, "complete", json_boolean(!f->breaks[i].more && !f->reversals[i].more));
    json_array_append_new(inputs, item);
  }
  json_object_set_new(object, "inputs", inputs);
  return object;
}

static od_status write_plot(const void *user, const char *path, od_error *err) {
  const findings *f = user;
  const char *title = od_machine_title(f->machine);
  return od_plot_write(f->table, NULL, title && title[0] ? title : od_machine_file(f->machine),
                       od_machine_file(f->machine), path, err);
}

// --- The command --------------------------------------------------------------------------------------------------

// The command line, else the file's run, else until the last input has said what it has to say.
static int choose_times(const arguments *a, findings *f) {
  const od_run_defaults *run = od_machine_run(f->machine);
  f->time = run->time;
  for (int i = 0; !(f->time > 0) && i < f->inputs; i++) {
    double end = od_machine_input_duration(f->machine, i);
    if (isfinite(end)) f->time = fmax(f->time, end);
  }
  f->step = run->step > 0 ? run->step : run->rows > 0 ? run->rows : default_step;
  if (!od_option_quantity("time", a->time, "s", &f->time) || !od_option_quantity("step", a->step, "s", &f->step))
    return OD_EXIT_BAD_INPUT;
  od_error err = {0};
  if (f->inputs == 0)
    od_cli_error("%s has no inputs", od_machine_file(f->machine));
  else if (!(f->time > 0))
    od_cli_error("for how long? %s does not say; give --time", od_machine_file(f->machine));
  else if (f->time / f->step > MOST_ROWS)
    od_cli_error("%.3g rows are too many, at most %d; give a longer --step", f->time / f->step, MOST_ROWS);
  else if (od_machine_check_pace(f->machine, f->time, &err) != OD_OK)
    od_cli_error("%s", err.text);
  else
    return -1;
  return OD_EXIT_BAD_INPUT;
}

static int show(const arguments *a, findings *f) {
  od_status status = find(f, a->quiet);
  if (status != OD_OK) {
    od_cli_error("%s", status == OD_INTERRUPTED ? "interrupted" : od_status_text(status));
    return od_exit_code(status);
  }
  FILE *notes = od_files_notes(&a->files, a->quiet);
  if (notes == stdout) print(f, notes);
  const od_file_contents contents = {.table = f->table,
                                     .summary = a->files.path[OD_FILE_JSON] ? findings_json(f) : NULL,
                                     .write[OD_FILE_PLOT] = write_plot,
                                     .user = f};
  return od_files_write(&a->files, &contents, notes) ? OD_EXIT_OK : OD_EXIT_FAILED;
}

static const char details[] =
    "Evaluates the machine's inputs without running it: their values and exact slopes in rows, the times at which they, their\n"
    "slopes or second derivatives jump (breaks), and the times at which they change their sign (reversals).\n\n"
    "Examples\n"
    "  oleodyn signals trajectory.yaml --variant complete --plot v.svg\n"
    "  oleodyn signals trajectory.yaml --step '0.1 ms' --csv v.csv --json times.json\n";

int od_command_signals(int argc, char **argv) {
  arguments a = {0};
  const od_option options[] = {
      {"time", OD_OPTION_TEXT, "T", "until when; default: the file's run, else the longest input that ends", &a.time},
      {"step", OD_OPTION_TEXT, "H", "time from row to row; default: the step of the file's run, else 1 ms", &a.step},
      OD_LOAD_OPTIONS(&a.load),
  };
  const od_usage usage = {"signals",
                          "MACHINE",
                          "show a machine's inputs over time, without running it",
                          details,
                          options,
                          (int)(sizeof options / sizeof *options),
                          .shared = {.files = &a.files,
                                     .file[OD_FILE_CSV] = "values and slopes",
                                     .file[OD_FILE_MAT] = "values and slopes",
                                     .file[OD_FILE_JSON] = "extremes, breaks and reversals",
                                     .file[OD_FILE_PLOT] = "values and slopes",
                                     .si = &a.si,
                                     .quiet = &a.quiet}};
  od_words files = {0};
  od_machine *machine = NULL;
  findings f = {0};
  int code = od_options_parse_counted(&usage, argc, argv, 1, 1, &files);
  if (code < 0) code = od_cli_load(files.text[0], &a.load, &machine);
  if (code < 0) {
    f.machine = machine;
    f.inputs = od_machine_input_count(machine);
    code = choose_times(&a, &f);
  }
  if (code < 0) code = od_files_check(&a.files);
  if (code < 0) code = od_files_spare(&a.files);
  if (code < 0) code = show(&a, &f);
  free_findings(&f);
  od_machine_free(machine);
  od_words_free(&files);
  od_load_arguments_free(&a.load);
  return code;
}
