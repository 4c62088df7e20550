// The job rga: computes relative gains over frequency, and the suggested pairing of inputs and outputs.

#include "jobs/job.h"
#include "io/wording.h"
#include "linear/relative_gains.h"
#include "jobs/linear_options.h"
#include "linear/linear_pictures.h"
#include "machine/machine_result.h"
#include "report/picture_figures.h"

enum { POINTS = 60 };

typedef struct arguments {
  od_linear_arguments linear;
  od_frequency_arguments frequencies;
} arguments;

static bool is_square(od_job *job, const od_linear_model *model) {
  if (model->inputs == model->outputs && model->inputs > 0) return true;
  od_job_error(job,
               "relative gains require as many inputs as outputs, but found %s and %s; choose with --input and "
               "--output",
               od_count(model->inputs, "input").text, od_count(model->outputs, "output").text);
  return false;
}

static int show(od_job *job, void *user, const od_machine *machine, const od_linear_model *model) {
  const arguments *a = user;
  OD_SCOPED(od_gain_arrays_free) od_gain_arrays r = {.machine = machine, .model = model, .n = model->inputs};
  od_error err = {0};
  if (!is_square(job, model)) return OD_JOB_BAD_INPUT;
  double *frequency = NULL;
  OD_TRY(od_frequencies_choose(job, &a->frequencies, model, POINTS, &r.arena, &frequency, &r.count));
  r.frequency = frequency;
  od_status status = od_gain_arrays_find(&r, &err);
  if (status != OD_OK) return od_job_end_early(job, status, &err);
  OD_SCOPED(od_result_free) od_result result = od_gain_arrays_result(&r);
  OD_SCOPED(od_picture_free) od_picture picture = {.title = od_machine_caption(machine), .subtitle = "relative gains"};
  od_picture_add_gains(&picture, &r);
  od_result_add_picture(&result, "Charts", &picture);
  const od_file_contents contents = {.table = &r.table, .result = &result, .picture = &picture};
  return od_job_finish(job, &contents, NULL);
}

// --- Sweeps ----------------------------------------------------------------------------------------------------------

typedef struct rga_sweep {
  const arguments *a;
  od_arena arena;
  double *frequency;
  int count;
} rga_sweep;

static int begin_sweep(od_job *job, void *user, const od_machine *machine, const od_linear_model *model) {
  (void)machine;
  rga_sweep *g = user;
  if (!is_square(job, model)) return OD_JOB_BAD_INPUT;
  return od_frequencies_choose(job, &g->a->frequencies, model, POINTS, &g->arena, &g->frequency, &g->count);
}

static od_status measure(const void *user, const od_linear_model *model, bool (*goes_on)(void *, double), void *going,
                         od_sweep_row *row, od_error *err) {
  (void)goes_on, (void)going;
  const rga_sweep *g = user;
  return od_gain_arrays_sweep_row(model, g->frequency[0], g->frequency[g->count - 1], row, err);
}

static const char details[] =
    "The relative gain of an input and an output is the quotient of two gains from the input to the output: the gain with\n"
    "all other inputs constant, divided by the gain with all other outputs held by the other inputs. Near 1: the input and\n"
    "the output form an independent loop. Negative: the sign of the gain changes when the other loops are closed. The\n"
    "suggested pairing has the relative gains closest to 1. Relative gains have no units.\n\n"
    "Example\n"
    "  oleodyn rga crane.yaml --input lift_drive,tilt_drive --output heel.angle,elbow.angle\n";

int od_kind_rga(od_job *job) {
  arguments a = {0};
  od_linear_arguments *l = &a.linear;
  const od_option options[] = {
      {"input", OD_OPTION_LIST, "NAME,...", "inputs: names or patterns (repeatable); default: all inputs", &l->inputs},
      {"output", OD_OPTION_LIST, "NAME,...",
       "as many outputs as inputs: names or patterns (repeatable); default: the outputs in\nthe run section of the file",
       &l->outputs},
      OD_FREQUENCY_OPTIONS(&a.frequencies),
      OD_LINEAR_OPTIONS(l),
  };
  const od_usage usage = {"MACHINE", details, OD_OPTIONS(options),
                          .shared = {.table = "the real parts of the relative gains",
                                     .file[OD_FILE_JSON] = "relative gains and pairings",
                                     .file[OD_FILE_PLOT] = "the relative gains over frequency",
                                     .file[OD_FILE_REPORT] = "relative gains and pairings",
                                     .si = true,
                                     .quiet = true}};
  rga_sweep g = {.a = &a};
  od_linear_sweep sweep = {.arguments = l, .begin = begin_sweep, .measure = measure, .user = &g};
  const od_linear_job command = {&usage, &sweep, NULL, show, &a};
  int code = od_linear_job_run(job, &command);
  od_arena_free(&g.arena);
  return code;
}
