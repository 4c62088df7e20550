// oleodyn bode: frequency responses from inputs to outputs, and of loops.
#include <stdio.h>
#include <string.h>

#include "commands/command.h"
#include "options/frequency_options.h"
#include "options/linear_options.h"
#include "terminal/show_result.h"
#include "terminal/terminal.h"
#include "linear/responses.h"

enum { POINTS = 400 };

typedef struct arguments {
  od_linear_arguments linear;
  od_frequency_arguments frequencies;
  od_words loops;
  bool loops_are_outputs;  // linear.outputs is the list `loops`
} arguments;

static bool wants_all(const od_words *loops) {
  return loops->count == 1 && !strcmp(loops->text[0], "all");
}

// Chooses the paths and frequencies from the arguments. Returns -1 to go on, or the exit code after a message.
static int choose(const arguments *a, od_responses *r) {
  od_error err = {0};
  od_status status = od_responses_list(r, a->loops.count > 0, wants_all(&a->loops), &err);
  if (status == OD_OK)
    return od_frequencies_choose(&a->frequencies, r->model, POINTS, &r->arena, &r->frequency, &r->count);
  od_cli_error("%s", err.text);
  return od_exit_code(status);
}

static int show(const arguments *a, od_responses *r) {
  const od_linear_arguments *l = &a->linear;
  od_error err = {0};
  int code = choose(a, r);
  if (code >= 0) return code;
  od_status status = od_responses_find(r, &err);
  if (status != OD_OK) {
    od_cli_error("%s", err.text);
    return od_exit_code(status);
  }
  FILE *notes = od_files_notes(&l->files, l->quiet);
  od_result result = od_responses_result(r);
  od_show_result(&result, notes == stdout ? notes : NULL);
  const od_file_contents contents = {
      .table = r->table, .result = &result, .write[OD_FILE_PLOT] = od_responses_write_plot, .user = r};
  bool ok = od_files_write(&l->files, &contents, notes);
  od_result_free(&result);
  return ok ? OD_EXIT_OK : OD_EXIT_FAILED;
}

// --- Sweeps ----------------------------------------------------------------------------------------------------------

// The frequencies of the first point are used at all points.
typedef struct bode_sweep {
  const arguments *a;
  od_responses first;
} bode_sweep;

static int begin_sweep(void *user, const od_machine *machine, const od_linear_model *model) {
  bode_sweep *b = user;
  b->first = (od_responses){.machine = machine, .model = model};
  return choose(b->a, &b->first);
}

static od_status measure(const void *user, const od_linear_model *model, bool (*goes_on)(void *, double), void *going,
                         od_sweep_row *row, od_error *err) {
  return od_responses_sweep_row(&((const bode_sweep *)user)->first, model, goes_on, going, row, err);
}

// The loop gain is computed at outputs of the model to which inputs add.
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
  od_responses r = {.machine = machine, .model = model};
  int code = show(user, &r);
  od_responses_free(&r);
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
  od_responses_free(&b.first);
  if (!a.loops_are_outputs) od_words_free(&a.loops);
  return code;
}
