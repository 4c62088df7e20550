// The job equilibrium: finds the point at which a machine is at rest, or in steady motion, with outputs at given values.
#include "jobs/job.h"
#include "linear/linear_result.h"
#include "linear/linear_sweep.h"
#include "jobs/linear_options.h"
#include "linear/linear_pictures.h"
#include "machine/machine_result.h"
#include "report/picture_figures.h"

static od_status measure(const void *user, const od_linear_model *model, bool (*goes_on)(void *, double), void *going,
                         od_sweep_row *row, od_error *err) {
  (void)user, (void)goes_on, (void)going;
  return od_point_sweep_row(model, row, err);
}

static int check(od_job *job, void *user) {
  const od_linear_arguments *a = user;
  if (a->sweep.paths.count && job->files.path[OD_FILE_STATE]) {
    od_job_error(
        job,
        "--save-state is not possible with --sweep, because every point has its own state; give only one of these options");
    return OD_JOB_BAD_INPUT;
  }
  for (int i = 0; i < OD_FILE_KINDS; i++) {
    if (a->sweep.paths.count || !od_file_formats[i].write_table || !job->files.path[i]) continue;
    od_job_error(job, "--%s requires --sweep; use --json for one point", od_file_formats[i].option);
    return OD_JOB_BAD_INPUT;
  }
  return OD_GO_ON;
}

// The arguments of write_state().
typedef struct point_to_save {
  const od_machine *machine;
  const od_point_state *state;
  double time;
} point_to_save;

static od_status write_state(const void *user, const char *path, od_error *err) {
  const point_to_save *s = user;
  return od_state_write(s->machine, &s->state->names, s->state->value, s->time, path, err);
}

static int show(od_job *job, void *user, const od_machine *machine, const od_linear_model *model) {
  const od_linear_arguments *a = user;
  OD_SCOPED(od_result_free) od_result result = od_equilibrium_result(machine, model);
  const point_to_save save = {machine, a->state, model->time};
  OD_SCOPED(od_picture_free) od_picture picture = {.title = od_machine_caption(machine), .subtitle = "equilibrium"};
  od_picture_add_point(&picture, model);
  od_result_add_picture(&result, "Charts", &picture);
  const od_file_contents contents = {
      .result = &result, .picture = &picture, .write[OD_FILE_STATE] = write_state, .user = &save};
  return od_job_finish(job, &contents, NULL);
}

static const char details[] =
    "Finds states, and values of the inputs of --adjust, at which the outputs of --hold have their values, forces balance and\n"
    "pressures are constant. Speeds are zero, unless a held output is a speed: then the machine is in steady motion. If the\n"
    "equations cannot be solved, for example with a closed valve, a run with constant inputs brings the machine to rest first.\n"
    "Values that the equations do not determine stay closest to their initial values and are marked. If no equilibrium\n"
    "exists, the message gives the limit (a stroke, a spool, a pressure) and the closest possible value.\n\n"
    "Examples\n"
    "  oleodyn equilibrium crane.yaml --hold boom.angle='30 deg' --adjust lift_drive\n"
    "  oleodyn equilibrium axis.yaml --hold rail.rate='50 mm/s' --adjust command --json -\n"
    "  oleodyn equilibrium axis.yaml --save-state rest.yaml\n";

int od_kind_equilibrium(od_job *job) {
  od_point_state state = {0};
  od_linear_arguments a = {.balance = true, .state = &state};
  const od_option options[] = {
      {"output", OD_OPTION_LIST, "NAME,...",
       "outputs to show: names, patterns such as 'crank.*', or all (repeatable);\ndefault: the outputs in the run "
       "section of the file",
       &a.outputs},
      OD_LINEAR_OPTIONS(&a),
  };
  const od_usage usage = {"MACHINE", details, OD_OPTIONS(options),
                          .shared = {.table = "all points of --sweep",
                                     .file[OD_FILE_JSON] = "everything",
                                     .file[OD_FILE_PLOT] = "the values, or results over --sweep",
                                     .file[OD_FILE_REPORT] = "the values",
                                     .file[OD_FILE_STATE] = "the state without the inputs of --adjust",
                                     .si = true,
                                     .quiet = true}};
  od_linear_sweep sweep = {.arguments = &a, .measure = measure};
  const od_linear_job command = {&usage, &sweep, check, show, &a};
  int code = od_linear_job_run(job, &command);
  od_point_state_free(&state);
  return code;
}
