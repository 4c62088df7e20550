// oleodyn equilibrium: the point where a machine is at rest, or in steady motion, with outputs at given values.
#include <stdio.h>

#include "commands/command.h"
#include "options/linear_options.h"
#include "terminal/show_result.h"
#include "terminal/terminal.h"
#include "linear/linear_result.h"
#include "linear/linear_sweep.h"

static od_status measure(const void *user, const od_linear_model *model, bool (*goes_on)(void *, double), void *going,
                         od_sweep_row *row, od_error *err) {
  (void)user, (void)goes_on, (void)going;
  return od_point_sweep_row(model, row, err);
}

static int check(void *user) {
  const od_linear_arguments *a = user;
  if (a->sweep.paths.count && a->files.path[OD_FILE_STATE]) {
    od_cli_error("--save-state is for one point, not for --sweep");
    return OD_EXIT_BAD_INPUT;
  }
  if (a->sweep.paths.count || !(a->files.path[OD_FILE_CSV] || a->files.path[OD_FILE_MAT])) return -1;
  od_cli_error("--csv and --mat are for --sweep; --json writes one point");
  return OD_EXIT_BAD_INPUT;
}

// The user data of the writer od_file_contents.state.
typedef struct point_to_save {
  const od_machine *machine;
  const od_point_state *state;
  double time;
} point_to_save;

static od_status write_state(const void *user, const char *path, od_error *err) {
  const point_to_save *s = user;
  return od_state_write(s->machine, &s->state->names, s->state->value, s->time, path, err);
}

static int show(void *user, const od_machine *machine, const od_linear_model *model) {
  const od_linear_arguments *a = user;
  FILE *notes = od_files_notes(&a->files, a->quiet);
  od_result result = od_equilibrium_result(machine, model);
  od_show_result(&result, notes == stdout ? notes : NULL);
  const point_to_save save = {machine, a->state, model->time};
  const od_file_contents contents = {.result = &result, .write[OD_FILE_STATE] = write_state, .user = &save};
  bool ok = od_files_write(&a->files, &contents, notes);
  od_result_free(&result);
  return ok ? OD_EXIT_OK : OD_EXIT_FAILED;
}

static const char details[] =
    "Finds states, and values of the inputs that --free names, for which the outputs of --hold have their values while\n"
    "forces balance and pressures do not change. Speeds are zero, unless a held output is one: then the machine moves steadily.\n"
    "Where the machine cannot be solved for that, as with a valve that is shut, it is let settle first, with its inputs at their values.\n"
    "What this does not decide stays nearest to where it was at the start, and is marked. Where there is no such point, the message\n"
    "says which limit stops it (a stroke, a spool, a pressure) and how far one can go.\n\n"
    "Examples\n"
    "  oleodyn equilibrium crane.yaml --hold boom.angle='30 deg' --free lift_drive\n"
    "  oleodyn equilibrium axis.yaml --hold rail.rate='50 mm/s' --free command --json -\n"
    "  oleodyn equilibrium axis.yaml --save-state rest.yaml\n";

int od_command_equilibrium(int argc, char **argv) {
  od_point_state state = {0};
  od_linear_arguments a = {.balance = true, .state = &state};
  const od_option options[] = {
      {"output", OD_OPTION_LIST, "NAME,...",
       "outputs to show: names, patterns such as 'crank.*', or all (repeatable);\ndefault: those of the file's run "
       "section",
       &a.outputs},
      OD_LINEAR_OPTIONS(&a),
  };
  const od_usage usage = {"equilibrium",
                          "MACHINE",
                          "which inputs, positions and pressures hold these outputs",
                          details,
                          options,
                          (int)(sizeof options / sizeof *options),
                          .shared = {.files = &a.files,
                                     .file[OD_FILE_CSV] = "all points of --sweep",
                                     .file[OD_FILE_MAT] = "all points of --sweep",
                                     .file[OD_FILE_JSON] = "everything",
                                     .file[OD_FILE_STATE] = "the state without the inputs of --free",
                                     .si = &a.si,
                                     .quiet = &a.quiet}};
  od_linear_sweep sweep = {.arguments = &a, .measure = measure};
  const od_linear_command command = {&usage, &a, &sweep, check, show, &a};
  return od_linear_command_run(&command, argc, argv);
}
