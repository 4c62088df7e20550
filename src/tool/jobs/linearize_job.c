// The job linearize: computes the linear model of a machine at an operating point.
#include "jobs/job.h"
#include "linear/linear_result.h"
#include "linear/linear_sweep.h"
#include "jobs/linear_options.h"
#include "linear/linear_pictures.h"
#include "machine/machine_result.h"
#include "report/picture_figures.h"

static int show(od_job *job, void *user, const od_machine *machine, const od_linear_model *model) {
  (void)user;
  OD_SCOPED(od_linear_results_free) od_linear_results results = {0};
  od_error err = {0};
  od_status status = od_linear_results_find(machine, model, &results, &err);
  if (status != OD_OK) return od_job_end_early(job, status, &err);
  OD_SCOPED(od_result_free) od_result result = od_linear_result(&results);
  OD_SCOPED(od_picture_free) od_picture picture = {.title = od_machine_caption(machine), .subtitle = "poles and zeros"};
  od_picture_add_poles(&picture, &results);
  od_result_add_picture(&result, "Charts", &picture);
  const od_file_contents contents = {.result = &result,
                                     .picture = &picture,
                                     .write[OD_FILE_CSV] = od_linear_write_csv,
                                     .write[OD_FILE_MAT] = od_linear_write_mat,
                                     .user = &results};
  return od_job_finish(job, &contents, NULL);
}

static od_status measure(const void *user, const od_linear_model *model, bool (*goes_on)(void *, double), void *going,
                         od_sweep_row *row, od_error *err) {
  (void)user, (void)goes_on, (void)going;
  return od_pole_sweep_row(model, row, err);
}

static const char details[] =
    "The model is dx' = A dx + B du, dy = C dx + D du about the operating point: the initial state with the inputs at time 0,\n"
    "or the state of a run. Derivatives are exact. Poles are listed with the participation of the states, which does not\n"
    "depend on units. States that do not change are left out. With --sweep the files contain the least damped pair of poles\n"
    "and all poles of every point; each pole keeps its columns from point to point. --plot draws the map of poles and zeros.\n"
    "With --sweep the plot shows frequency and damping of the least damped pair over the number that is swept last, with\n"
    "one curve for each value of the other number.\n\n"
    "Examples\n"
    "  oleodyn linearize crane.yaml --output boom.angle --mat crane.mat\n"
    "  oleodyn linearize crane.yaml --at '2 s' --input valve_command --json -\n";

int od_kind_linearize(od_job *job) {
  od_linear_arguments a = {0};
  const od_option options[] = {
      {"input", OD_OPTION_LIST, "NAME,...", "inputs of the model: names or patterns (repeatable); default: all inputs",
       &a.inputs},
      {"output", OD_OPTION_LIST, "NAME,...",
       "outputs of the model: names, patterns such as 'crank.*', or all (repeatable);\ndefault: the outputs in the run "
       "section of the file",
       &a.outputs},
      OD_LINEAR_OPTIONS(&a),
  };
  const od_usage usage = {
      "MACHINE", details, OD_OPTIONS(options),
      .shared = {.file[OD_FILE_CSV] = "[A B; C D]",
                 .file[OD_FILE_MAT] = "the matrices and their names",
                 .file[OD_FILE_JSON] = "everything",
                 .file[OD_FILE_PLOT] = "poles and zeros, or the least damped pair of poles over --sweep",
                 .file[OD_FILE_REPORT] = "the model, its poles and zeros",
                 .si = true,
                 .quiet = true}};
  od_linear_sweep sweep = {
      .arguments = &a, .measure = measure, .finish = od_pole_sweep_order, .drawn = OD_POLE_SWEEP_LEADING};
  const od_linear_job command = {&usage, &sweep, NULL, show, &a};
  return od_linear_job_run(job, &command);
}
