// oleodyn signals: the inputs of a machine over time, without a simulation.
#include <stdio.h>

#include "commands/command.h"
#include "options/open_machine.h"
#include "options/option_values.h"
#include "options/options.h"
#include "terminal/progress.h"
#include "options/result_files.h"
#include "terminal/show_result.h"
#include "terminal/terminal.h"
#include "machine/input_series.h"

enum { MOST_ROWS = 10000000 };

typedef struct arguments {
  const char *time, *step;
  od_files files;
  od_load_arguments load;
  bool si, quiet;
} arguments;

// Chooses time and step from the command line, else the defaults. Returns -1 to go on, or the exit code after a message.
static int choose_times(const arguments *a, od_input_series *f) {
  od_input_series_usual_times(f->machine, &f->time, &f->step);
  if (!od_option_quantity("time", a->time, "s", &f->time) || !od_option_quantity("step", a->step, "s", &f->step))
    return OD_EXIT_BAD_INPUT;
  od_error err = {0};
  if (od_machine_input_count(f->machine) == 0)
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

static int show(const arguments *a, od_input_series *f) {
  od_progress progress = od_progress_start(a->quiet);
  od_status status = od_input_series_find(f, od_progress_tick, &progress);
  od_progress_end(&progress);
  if (status != OD_OK) {
    od_cli_error("%s", status == OD_INTERRUPTED ? "interrupted" : od_status_text(status));
    return od_exit_code(status);
  }
  FILE *notes = od_files_notes(&a->files, a->quiet);
  od_result result = od_input_series_result(f);
  od_show_result(&result, notes == stdout ? notes : NULL);
  const od_file_contents contents = {
      .table = f->table, .result = &result, .write[OD_FILE_PLOT] = od_input_series_write_plot, .user = f};
  bool ok = od_files_write(&a->files, &contents, notes);
  od_result_free(&result);
  return ok ? OD_EXIT_OK : OD_EXIT_FAILED;
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
  od_input_series f = {0};
  int code = od_options_parse_counted(&usage, argc, argv, 1, 1, &files);
  if (code < 0) code = od_cli_load(files.text[0], &a.load, &machine);
  if (code < 0) {
    f.machine = machine;
    code = choose_times(&a, &f);
  }
  if (code < 0) code = od_files_check(&a.files);
  if (code < 0) code = od_files_spare(&a.files);
  if (code < 0) code = show(&a, &f);
  od_input_series_free(&f);
  od_machine_free(machine);
  od_words_free(&files);
  od_load_arguments_free(&a.load);
  return code;
}
