// The job bode: frequency responses from inputs to outputs, and of loops.
#include <string.h>

#include "jobs/job.h"
#include "linear/responses.h"
#include "jobs/linear_options.h"
#include "linear/linear_pictures.h"
#include "machine/machine_result.h"
#include "report/picture_figures.h"

enum { POINTS = 400 };

typedef struct arguments {
  od_linear_arguments linear;
  od_frequency_arguments frequencies;
  od_words loops;
} arguments;

// Chooses the paths and frequencies from the arguments. Returns OD_GO_ON, or the outcome after reporting an error.
static int choose(od_job *job, const arguments *a, od_responses *r) {
  od_error err = {0};
  bool all_loops = a->loops.count == 1 && !strcmp(a->loops.text[0], "all");
  od_status status = od_responses_list(r, a->loops.count > 0, all_loops, &err);
  if (status != OD_OK) return od_job_end_early(job, status, &err);
  return od_frequencies_choose(job, &a->frequencies, r->model, POINTS, &r->arena, &r->frequency, &r->count);
}

static int show(od_job *job, void *user, const od_machine *machine, const od_linear_model *model) {
  const arguments *a = user;
  OD_SCOPED(od_responses_free) od_responses r = {.machine = machine, .model = model};
  od_error err = {0};
  OD_TRY(choose(job, a, &r));
  od_status status = od_responses_find(&r, &err);
  if (status != OD_OK) return od_job_end_early(job, status, &err);
  OD_SCOPED(od_result_free) od_result result = od_responses_result(&r);
  OD_SCOPED(od_picture_free) od_picture picture = {.title = od_machine_caption(machine)};
  od_picture_add_responses(&picture, &r);
  od_result_add_picture(&result, "Charts", &picture);
  const bool in_terminal = od_job_draws_in_terminal(job);
  const od_file_contents contents = {.table = &r.table,
                                     .result = &result,
                                     .picture = &picture,
                                     .write[OD_FILE_PLOT] = in_terminal ? NULL : od_responses_write_plot,
                                     .user = &r};
  return od_job_finish(job, &contents, NULL);
}

// --- Sweeps ----------------------------------------------------------------------------------------------------------

// The data of a sweep. All points use the frequencies of the first point.
typedef struct bode_sweep {
  const arguments *a;
  od_responses first;
} bode_sweep;

static int begin_sweep(od_job *job, void *user, const od_machine *machine, const od_linear_model *model) {
  bode_sweep *b = user;
  b->first = (od_responses){.machine = machine, .model = model};
  return choose(job, b->a, &b->first);
}

static od_status measure(const void *user, const od_linear_model *model, bool (*goes_on)(void *, double), void *going,
                         od_sweep_row *row, od_error *err) {
  return od_responses_sweep_row(&((const bode_sweep *)user)->first, model, goes_on, going, row, err);
}

// Checks the options and uses the signals of --loop as outputs: a loop gain is computed at the output at which an input
// enters. Returns OD_GO_ON, or the outcome after reporting an error.
static int check(od_job *job, void *user) {
  arguments *a = user;
  if (a->loops.count && a->linear.outputs.count) {
    od_job_error(job,
                 "--loop and --output exclude each other: the output of a loop is the signal at which an input enters; "
                 "give only one of these options");
    return OD_JOB_BAD_INPUT;
  }
  if (a->loops.count) a->linear.outputs = a->loops;
  return OD_GO_ON;
}

static const char details[] =
    "Gains are in dB, from values in SI units; phases have no jumps of 360 degrees between frequencies. For margins, the\n"
    "response is regarded as an open loop with negative feedback; a response with a unit has no margins. With --loop the\n"
    "margins are the margins of a loop of the machine. The input of --input must be added at the signal of --loop, for\n"
    "example a reference at the error. The response G of this signal to this input gives the loop gain L = (1 - G) / G.\n\n"
    "Examples\n"
    "  oleodyn bode crane.yaml --input valve_command --output boom.angle --plot crane.svg\n"
    "  oleodyn bode servo.yaml --input reference --loop error --csv loop.csv\n";

int od_kind_bode(od_job *job) {
  arguments a = {0};
  od_linear_arguments *l = &a.linear;
  const od_option options[] = {
      {"input", OD_OPTION_LIST, "NAME,...", "inputs: names or patterns (repeatable); default: all inputs", &l->inputs},
      {"output", OD_OPTION_LIST, "NAME,...",
       "outputs: names or patterns (repeatable); default: the outputs in the run section of\nthe file", &l->outputs},
      {"loop", OD_OPTION_LIST, "NAME,...",
       "show the loop gains at these signals, at which inputs enter, instead of responses;\nall: every such signal (repeatable)",
       &a.loops},
      OD_FREQUENCY_OPTIONS(&a.frequencies),
      OD_LINEAR_OPTIONS(l),
  };
  const od_usage usage = {"MACHINE", details, OD_OPTIONS(options),
                          .shared = {.table = "magnitudes and phases",
                                     .file[OD_FILE_JSON] = "magnitudes, phases and margins",
                                     .file[OD_FILE_PLOT] = "magnitudes and phases",
                                     .file[OD_FILE_REPORT] = "Bode and Nyquist plots with margins",
                                     .si = true,
                                     .quiet = true}};
  bode_sweep b = {.a = &a};
  od_linear_sweep sweep = {.arguments = l, .begin = begin_sweep, .measure = measure, .user = &b};
  const od_linear_job command = {&usage, &sweep, check, show, &a};
  int code = od_linear_job_run(job, &command);
  od_responses_free(&b.first);
  return code;
}
