// The job friction-fit: fits a friction law to points of steady motion or to a run.
#include <stdio.h>
#include <string.h>

#include "jobs/job.h"
#include "jobs/log_options.h"
#include "io/contour_plot.h"
#include "io/plot.h"
#include "memory/scoped.h"
#include "jobs/open_machine.h"
#include "jobs/setting_values.h"
#include "report/friction_result.h"
#include "report/picture_figures.h"

typedef struct arguments {
  const char *truth, *variant, *seed;
  od_words set, run;
  od_log_arguments log;
  const char *costs_of;
  bool costs;
} arguments;

static int load(od_job *job, const char *path, const arguments *a, od_friction_plan **plan) {
  const od_friction_options options = {.set = a->set.text,
                                       .set_count = a->set.count,
                                       .truth = a->truth,
                                       .variant = a->variant,
                                       .log = a->run.text,
                                       .logs = a->run.count,
                                       .settings = od_log_settings_of(&a->log)};
  od_messages *messages = od_messages_new();
  od_status status = messages ? od_friction_plan_load(path, &options, plan, messages) : OD_NO_MEMORY;
  return od_job_loaded(job, messages, status);
}

typedef struct findings {
  const od_friction_fitted *f;
  const od_table *table;
} findings;

static od_status write_plot(const void *user, const char *path, od_error *err) {
  const findings *found = user;
  const od_friction_plan *plan = found->f->plan;
  const int of_run[] = {0, 1, 2, 2, 3}, of_points[] = {0, 1, 1, 2};
  return od_plot_write(found->table, plan->method == OD_FRICTION_STEADY ? of_points : of_run, plan->title,
                       found->f->law.law->name, path, err);
}

static int write_results(od_job *job, const od_friction_fitted *f) {
  OD_OWNED(od_table_free) od_table *table = od_friction_fitted_table(f);
  OD_SCOPED(od_result_free) od_result result = od_friction_result(f);
  const findings found = {f, table};
  const od_file_contents contents = {
      .table = &table, .result = &result, .write[OD_FILE_PLOT] = write_plot, .user = &found};
  return od_job_finish(job, &contents, &f->verdict);
}

static int map_and_write(od_job *job, const od_friction_plan *plan, uint64_t seed) {
  OD_OWNED(od_pressure_map_free) od_pressure_map *map = NULL;
  od_error err = {0};
  od_job_begin_stage(job, OD_STAGE_COMPUTE);
  const od_friction_run_options options = {.progress = od_job_progress, .user = job};
  od_status status = od_pressure_map_fit(plan, seed, &options, &map, &err);
  od_job_begin_stage(job, OD_STAGE_FINISH);
  int code = map ? od_job_check_inputs(job) : od_outcome_of(status);
  if (code == OD_GO_ON) {
    OD_OWNED(od_table_free) od_table *table = od_pressure_map_table(map);
    OD_SCOPED(od_result_free) od_result result = od_pressure_map_result(map);
    OD_SCOPED(od_picture_free) od_picture picture = {.title = plan->title, .subtitle = "parameters over the pressures"};
    od_picture_add_pressure_map(&picture, map);
    od_result_add_picture(&result, "Charts", &picture);
    const od_file_contents contents = {.table = &table, .result = &result, .picture = &picture};
    code = od_job_finish(job, &contents, &map->verdict);
  }
  od_job_end_early(job, status, &err);
  return code;
}

// Fits all runs of a series, and writes mean and spread of the estimates. Returns the outcome.
static int fit_series(od_job *job, const od_friction_plan *plan, uint64_t seed) {
  OD_OWNED(od_friction_series_free) od_friction_series *series = NULL;
  od_error err = {0};
  od_job_begin_stage(job, OD_STAGE_COMPUTE);
  const od_friction_run_options options = {.progress = od_job_progress, .user = job};
  od_status status = od_friction_series_fit(plan, seed, &options, &series, &err);
  od_job_begin_stage(job, OD_STAGE_FINISH);
  int code = series ? od_job_check_inputs(job) : od_outcome_of(status);
  if (code == OD_GO_ON) {
    OD_OWNED(od_table_free) od_table *table = od_friction_series_table(series);
    OD_SCOPED(od_result_free) od_result result = od_friction_series_result(series);
    OD_SCOPED(od_picture_free) od_picture picture = {.title = plan->title, .subtitle = "parameters of all runs"};
    od_picture_add_friction_series(&picture, series);
    od_result_add_picture(&result, "Charts", &picture);
    const od_file_contents contents = {.table = &table, .result = &result, .picture = &picture};
    code = od_job_finish(job, &contents, &series->verdict);
  }
  od_job_end_early(job, status, &err);
  return code;
}

static od_status write_costs_plot(const void *user, const char *path, od_error *err) {
  const findings *found = user;
  return od_plot_write(found->table, NULL, "Sums of squared residuals", "one parameter at a time", path, err);
}

// The sums of squared residuals over the factors of two parameters.
typedef struct cost_field {
  double x[OD_COST_STEPS], y[OD_COST_STEPS], z[OD_COST_STEPS * OD_COST_STEPS];
  char name[2][80];
} cost_field;

static od_contour field_of(const od_table *t, cost_field *f) {
  for (int i = 0; i < 2; i++) snprintf(f->name[i], sizeof f->name[i], "log10 of the factor of %.50s", t->name[i]);
  for (int k = 0; k < OD_COST_STEPS * OD_COST_STEPS; k++) {
    f->x[k % OD_COST_STEPS] = t->data[3 * k], f->y[k / OD_COST_STEPS] = t->data[3 * k + 1];
    f->z[k] = t->data[3 * k + 2];
  }
  return (od_contour){.columns = OD_COST_STEPS,
                      .rows = OD_COST_STEPS,
                      .x = f->x,
                      .y = f->y,
                      .z = f->z,
                      .x_name = f->name[0],
                      .y_name = f->name[1],
                      .z_name = "log10 of the sum",
                      .x_unit = "1",
                      .y_unit = "1",
                      .z_unit = "1"};
}

static od_status write_field_plot(const void *user, const char *path, od_error *err) {
  cost_field field;
  const od_contour c = field_of(((const findings *)user)->table, &field);
  return od_contour_write(&c, "Sums of squared residuals", "two parameters together", path, err);
}

// Finds two fitted parameters from a text such as "sigma_0,tau_hn". Returns false after reporting an error.
static bool find_pair(od_job *job, const char *text, const od_friction_plan *plan, int parameter[2]) {
  const char *comma = strchr(text, ',');
  for (int k = 0; k < 2; k++) {
    const char *key = k == 0 ? text : comma ? comma + 1 : "";
    size_t length = k == 0 && comma ? (size_t)(comma - text) : strlen(key);
    parameter[k] = -1;
    for (int i = 0; i < plan->parameters; i++) {
      const char *own = od_law_field(plan->start.law, plan->parameter[i])->key;
      if (strlen(own) == length && strncmp(own, key, length) == 0) parameter[k] = plan->parameter[i];
    }
    if (parameter[k] >= 0) continue;
    od_job_error(job, "--costs-of: found '%s', expected two parameters that are fitted, such as sigma_0,tau_hn", text);
    return false;
  }
  return true;
}

// Writes sums of squared residuals over one parameter at a time, or over two parameters together. Returns the outcome.
static int write_costs(od_job *job, const arguments *a, const od_friction_plan *plan, const od_friction_data *data) {
  OD_OWNED(od_table_free) od_table *table = NULL;
  od_error err = {0};
  int parameter[2];
  if (a->costs_of && !find_pair(job, a->costs_of, plan, parameter)) return OD_JOB_BAD_INPUT;
  od_status status = a->costs_of ? od_friction_cost_field(plan, data, parameter, &table, &err)
                                 : od_friction_costs(plan, data, &table, &err);
  if (status != OD_OK) return od_job_end_early(job, status, &err);
  const findings found = {.table = table};
  OD_SCOPED(od_result_free) od_result result = od_result_new("Sums of squared residuals", plan->title);
  if (a->costs_of)
    od_result_line(&result, "%s: sums of squared residuals at %d x %d factors of two parameters", plan->title,
                   OD_COST_STEPS, OD_COST_STEPS);
  else
    od_result_line(&result, "%s: sums of squared residuals at %ld factors of each of %d parameters", plan->title,
                   table->rows, plan->parameters);
  OD_SCOPED(od_picture_free) od_picture picture = {.title = plan->title};
  cost_field field;
  if (a->costs_of) {
    const od_contour c = field_of(table, &field);
    od_picture_add_contour(&picture, &c);
  } else {
    od_picture_add_table(&picture, table, NULL);
  }
  od_result_add_picture(&result, "Charts", &picture);
  const od_file_contents contents = {.table = &table,
                                     .result = &result,
                                     .write[OD_FILE_PLOT] = a->costs_of ? write_field_plot : write_costs_plot,
                                     .user = &found};
  return od_job_finish(job, &contents, NULL);
}

static int run_and_write(od_job *job, const arguments *a, const od_friction_plan *plan, uint64_t seed) {
  OD_OWNED(od_friction_data_free) od_friction_data *data = NULL;
  OD_OWNED(od_friction_fitted_free) od_friction_fitted *fitted = NULL;
  od_error err = {0};
  od_job_begin_stage(job, OD_STAGE_COMPUTE);
  const od_friction_run_options options = {.progress = od_job_progress, .user = job, .judge = true};
  od_status status = od_friction_data_make(plan, seed, (od_going_on){od_job_progress, job}, &data, &err);
  int code = status == OD_OK ? od_job_check_inputs(job) : OD_GO_ON;
  bool costs = a->costs || a->costs_of;
  if (status == OD_OK && code == OD_GO_ON) status = od_friction_data_disturb(plan, seed, data, &err);
  if (status == OD_OK && code == OD_GO_ON) status = od_steady_points_find(plan, data, &err);
  if (status == OD_OK && code == OD_GO_ON && !costs) status = od_friction_fit(plan, data, &options, &fitted, &err);
  od_job_begin_stage(job, OD_STAGE_FINISH);
  OD_TRY(code);
  if (status == OD_OK && costs) return write_costs(job, a, plan, data);
  code = od_job_end_early(job, status, &err);
  return fitted ? write_results(job, fitted) : code;
}

static const char details[] =
    "FILE gives a friction law and the data: points of steady motion, or a run, logged or simulated by a true law with\n"
    "measurement errors. Methods: 'steady' fits points; 'complete' fits all parameters to one run; 'sequential' fits steady\n"
    "points, then the time constant of the film, then the stiffness of the bristles; 'dynamic' fits steady points, then the\n"
    "other parameters together. The output lists the estimates with their 95 % intervals, and the parameters that the data do\nnot determine. The output also lists the part of the run that determines each parameter."
    "\n"
    "Exit codes: 0 success; 1 the fit failed; 2 the input is wrong; 3 the result is wrong.\n\n"
    "Examples\n"
    "  oleodyn friction-fit cylinders.friction.yaml --variant complete --truth '#1'\n"
    "  oleodyn friction-fit bench.yaml --data run7.csv --json - \n";

// Checks that the options are compatible with the file. Returns OD_GO_ON, or the outcome after reporting an error.
static int check_options(od_job *job, const arguments *a, const od_friction_plan *plan) {
  const char *wrong = NULL;
  bool costs = a->costs || a->costs_of;
  if (plan->map.given && costs)
    wrong = "--costs: a pressure map has one fit for each pair of pressures; choose a variant without 'map'";
  if (plan->repeats > 1 && costs)
    wrong = "--costs: a series has one fit for each run; choose a variant without a series, or one log";
  if (costs && job->files.path[OD_FILE_JSON])
    wrong = "--json: --costs gives a table without a summary; --csv, --mat, --plot and --report write the table";
  if (!wrong) return OD_GO_ON;
  od_job_error(job, "%s", wrong);
  return OD_JOB_BAD_INPUT;
}

int od_kind_friction_fit(od_job *job) {
  arguments a = {0};
  const od_option options[] = {
      {"run", OD_OPTION_LIST, "FILE",
       "log of one run of a series of measurements; replaces the data of FILE (repeatable)", &a.run},
      {"truth", OD_OPTION_TEXT, "NAME",
       "entry of 'laws' with which the data are simulated; default: 'truth' in "
       "FILE",
       &a.truth},
      {"variant", OD_OPTION_TEXT, "NAME", "variant of the file; default: the file without a variant", &a.variant},
      {"seed", OD_OPTION_TEXT, "N", "seed of simulated errors; default: from the file, else 1", &a.seed},
      {"set", OD_OPTION_LIST, "PATH=VALUE", "replace a number of the file (repeatable)", &a.set},
      {"costs", OD_OPTION_FLAG, NULL,
       "do not fit; compute sums of squared residuals over one parameter at a time, for --csv, --mat and --plot",
       &a.costs},
      {"costs-of", OD_OPTION_TEXT, "KEY,KEY",
       "do not fit; compute sums of squared residuals over two parameters together; factors and sums are logarithms",
       &a.costs_of},
      OD_LOG_OPTIONS(&a.log),
  };
  const od_usage usage = {"FILE", details, OD_OPTIONS(options),
                          .shared = {.table = "measured and fitted forces",
                                     .file[OD_FILE_JSON] = "the findings",
                                     .file[OD_FILE_PLOT] = "measured and fitted forces",
                                     .file[OD_FILE_REPORT] = "findings, tables and charts",
                                     .si = true,
                                     .quiet = true}};
  od_words files = {0};
  OD_OWNED(od_friction_plan_free) od_friction_plan *plan = NULL;
  OD_TRY(od_job_begin(job, &usage, 1, 1, &files));
  OD_TRY(load(job, files.text[0], &a, &plan));
  unsigned long long seed = plan->seed;
  if (!od_setting_whole(job, "seed", a.seed, &seed)) return OD_JOB_BAD_INPUT;
  OD_TRY(od_job_check_files(job));
  OD_TRY(check_options(job, &a, plan));
  if (plan->repeats > 1) return fit_series(job, plan, seed);
  return plan->map.given ? map_and_write(job, plan, seed) : run_and_write(job, &a, plan, seed);
}
