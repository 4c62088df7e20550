// oleodyn linearize: the linear model of a machine at an operating point.
#include <stdio.h>

#include "cli/command.h"
#include "cli/linear_options.h"
#include "cli/linear_summary.h"
#include "cli/terminal.h"

static int show(const od_linear_arguments *a, const od_machine *machine, const od_linear_model *model) {
  od_linear_results results;
  od_error err = {0};
  od_status status = od_linear_results_find(machine, model, &results, &err);
  if (status != OD_OK) {
    od_cli_error("%s", err.text);
    return od_exit_code(status);
  }
  FILE *notes = od_files_notes(&a->files, a->quiet);
  if (notes == stdout) od_linear_print(&results, notes);
  od_linear_warn(model);
  const od_file_contents contents = {.csv = od_linear_write_csv,
                                     .mat = od_linear_write_mat,
                                     .summary = a->files.json ? od_linear_json(&results) : NULL,
                                     .user = &results};
  bool ok = od_files_write(&a->files, &contents, notes);
  od_linear_results_free(&results);
  return ok ? OD_EXIT_OK : OD_EXIT_FAILED;
}

static const char details[] =
    "The model is dx' = A dx + B du, dy = C dx + D du about the operating point: the initial state with the inputs at\n"
    "time 0, or what a run has come to. It is exact: no differences are taken. Poles come with the states that take part\n"
    "in them, in parts that do not depend on units. States that nothing moves are left out.\n\n"
    "Examples\n"
    "  oleodyn linearize crane.yaml --output boom.angle --mat crane.mat\n"
    "  oleodyn linearize crane.yaml --at '2 s' --input valve_command --json -\n";

int od_command_linearize(int argc, char **argv) {
  od_linear_arguments a = {0};
  const od_option options[] = {
      {"input", OD_OPTION_LIST, "NAME,...", "inputs of the model: names or patterns (repeatable); default: all",
       &a.inputs},
      {"output", OD_OPTION_LIST, "NAME,...",
       "outputs of the model: names, patterns such as 'crank.*', or all (repeatable);\ndefault: those of the file's run "
       "section",
       &a.outputs},
      OD_LINEAR_OPTIONS(&a),
      {"csv", OD_OPTION_TEXT, "FILE", "write [A B; C D] as CSV; - is standard output", &a.files.csv},
      {"mat", OD_OPTION_TEXT, "FILE", "write the matrices and their names as a MATLAB file", &a.files.mat},
      {"json", OD_OPTION_TEXT, "FILE", "write everything as JSON; - is standard output", &a.files.json},
  };
  const od_usage usage = {"linearize", "MACHINE", "the linear model of a machine at an operating point",
                          details,     options,   (int)(sizeof options / sizeof *options)};
  od_words files = {0};
  od_machine *machine = NULL;
  od_linear_model *model = NULL;
  int code = od_options_parse_counted(&usage, argc, argv, 1, 1, &files);
  if (code < 0) code = od_cli_linearize(files.text[0], &a, &machine, &model);
  if (code < 0) code = show(&a, machine, model);
  od_linear_model_free(model);
  od_machine_free(machine);
  od_words_free(&files);
  od_linear_arguments_free(&a);
  return code;
}
