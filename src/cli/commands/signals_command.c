// oleodyn signals: computes the inputs of a machine over time, without a simulation.
#include "commands/command.h"
#include "machine/input_series.h"
#include "memory/owned.h"
#include "options/open_machine.h"
#include "options/option_values.h"
#include "options/options.h"
#include "options/result_files.h"
#include "terminal/progress.h"
#include "terminal/terminal.h"

enum { MOST_ROWS = 10000000 };

typedef struct arguments {
  const char *time, *step;
  od_files files;
  od_load_arguments load;
  bool si, quiet;
} arguments;

// Chooses time and step from the command line, else from the defaults. Returns OD_GO_ON, or the exit code after a message.
static int choose_times(const arguments *a, od_input_series *f) {
  od_input_series_usual_times(f->machine, &f->time, &f->step);
  if (!od_option_quantity("time", a->time, "s", &f->time) || !od_option_quantity("step", a->step, "s", &f->step))
    return OD_EXIT_BAD_INPUT;
  od_error err = {0};
  if (od_machine_input_count(f->machine) == 0)
    od_cli_error("%s has no inputs; expected a machine file with a section 'inputs'", od_machine_file(f->machine));
  else if (!(f->time > 0))
    od_cli_error("%s has no run time and no input that ends; give --time", od_machine_file(f->machine));
  else if (f->time / f->step > MOST_ROWS)
    od_cli_error("found %.3g rows, expected at most %d million; give a longer --step", f->time / f->step,
                 MOST_ROWS / 1000000);
  else if (od_machine_check_pace(f->machine, f->time, &err) != OD_OK)
    od_cli_error("%s", err.text);
  else
    return OD_GO_ON;
  return OD_EXIT_BAD_INPUT;
}

static int show(const arguments *a, od_input_series *f) {
  od_error err = {0};
  od_progress progress = od_progress_start(a->quiet);
  od_status status = od_input_series_find(f, od_progress_tick, &progress);
  od_progress_end(&progress);
  if (status != OD_OK) return od_exit_early(status, &err);
  OD_SCOPED(od_result_free) od_result result = od_input_series_result(f);
  const od_file_contents contents = {
      .table = f->table, .result = &result, .write[OD_FILE_PLOT] = od_input_series_write_plot, .user = f};
  return od_files_finish(&a->files, a->quiet, &contents, NULL);
}

static const char details[] =
    "Evaluates the inputs of a machine without a simulation. The rows contain values and exact slopes. Breaks are the times\nat which values, slopes or second derivatives jump. Reversals are the times at which values change their sign."
    "\n\n"
    "Examples\n"
    "  oleodyn signals trajectory.yaml --variant complete --plot v.svg\n"
    "  oleodyn signals trajectory.yaml --step '0.1 ms' --csv v.csv --json times.json\n";

int od_command_signals(int argc, char **argv) {
  arguments a = {0};
  const od_option options[] = {
      {"time", OD_OPTION_TEXT, "T", "end time; default: the run time of the file, else the end of the longest input",
       &a.time},
      {"step", OD_OPTION_TEXT, "H", "time between rows; default: the step of the file, else 1 ms", &a.step},
      OD_LOAD_OPTIONS(&a.load),
  };
  const od_usage usage = {"MACHINE", details, OD_OPTIONS(options),
                          .shared = {.files = &a.files,
                                     .file[OD_FILE_CSV] = "values and slopes",
                                     .file[OD_FILE_MAT] = "values and slopes",
                                     .file[OD_FILE_JSON] = "extremes, breaks and reversals",
                                     .file[OD_FILE_PLOT] = "values and slopes",
                                     .si = &a.si,
                                     .quiet = &a.quiet}};
  od_words files = {0};
  OD_OWNED(od_machine_free) od_machine *machine = NULL;
  OD_SCOPED(od_input_series_free) od_input_series f = {0};
  OD_TRY(od_options_parse_counted(&usage, argc, argv, 1, 1, &files));
  OD_TRY(od_cli_load(files.text[0], &a.load, &machine));
  f.machine = machine;
  OD_TRY(choose_times(&a, &f));
  OD_TRY(od_files_prepare(&a.files));
  return show(&a, &f);
}
