// oleodyn friction-fit: fits a friction law to points of steady motion or to a run.
#include <stdio.h>
#include <string.h>

#include "commands/command.h"
#include "options/open_machine.h"
#include "options/options.h"
#include "terminal/print_verdict.h"
#include "terminal/progress.h"
#include "terminal/show_result.h"
#include "options/result_files.h"
#include "terminal/terminal.h"
#include "io/contour_plot.h"
#include "io/display.h"
#include "io/plot.h"
#include "report/friction_result.h"

typedef struct arguments {
  const char *truth, *variant, *log, *seed;
  od_files files;
  od_words set;
  const char *costs_of;
  bool costs, si, quiet;
} arguments;

static int load(const char *path, const arguments *a, od_friction_plan **plan) {
  const od_friction_options options = {
      .set = a->set.text, .set_count = a->set.count, .truth = a->truth, .variant = a->variant, .log = a->log};
  od_messages *messages = od_messages_new();
  return od_cli_loaded(messages, messages ? od_friction_plan_load(path, &options, plan, messages) : OD_NO_MEMORY);
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

static int write_results(const arguments *a, const od_friction_fitted *f) {
  FILE *notes = od_files_notes(&a->files, a->quiet);
  od_table *table = od_friction_fitted_table(f);
  if (!table) {
    od_cli_error("memory ran out");
    return OD_EXIT_FAILED;
  }
  od_result result = od_friction_result(f);
  od_show_result(&result, notes == stdout ? notes : NULL);
  const findings found = {f, table};
  const od_file_contents contents = {
      .table = table, .result = &result, .write[OD_FILE_PLOT] = write_plot, .user = &found};
  bool ok = od_files_write(&a->files, &contents, notes);
  od_result_free(&result);
  od_table_free(table);
  return ok ? od_cli_verdict_exit(&f->verdict) : OD_EXIT_FAILED;
}

static int map_and_write(const arguments *a, const od_friction_plan *plan, uint64_t seed) {
  od_error err = {0};
  od_pressure_map *map = NULL;
  od_progress progress = od_progress_start(a->quiet);
  const od_friction_run_options options = {.progress = od_progress_tick, .user = &progress};
  od_status status = od_pressure_map_fit(plan, seed, &options, &map, &err);
  od_progress_end(&progress);
  od_table *table = map ? od_pressure_map_table(map) : NULL;
  int code = table ? od_files_spare(&a->files) : od_exit_code(status != OD_OK ? status : OD_NO_MEMORY);
  if (code < 0) {
    FILE *notes = od_files_notes(&a->files, a->quiet);
    od_result result = od_pressure_map_result(map);
    od_show_result(&result, notes == stdout ? notes : NULL);
    const od_file_contents contents = {.table = table, .result = &result};
    code = od_files_write(&a->files, &contents, notes) ? od_cli_verdict_exit(&map->verdict) : OD_EXIT_FAILED;
    od_result_free(&result);
  }
  if (status == OD_INTERRUPTED)
    fprintf(stderr, "oleodyn: interrupted\n");
  else if (status != OD_OK)
    od_cli_error("%s", err.text);
  od_table_free(table);
  od_pressure_map_free(map);
  return code;
}

static od_status write_costs_plot(const void *user, const char *path, od_error *err) {
  const findings *found = user;
  return od_plot_write(found->table, NULL, "Sums of squared residuals", "one parameter at a time", path, err);
}

static int write_costs(const arguments *a, const od_friction_plan *plan, const od_friction_data *data) {
  od_error err = {0};
  od_table *table = NULL;
  od_status status = od_friction_costs(plan, data, &table, &err);
  if (status != OD_OK) {
    od_cli_error("%s", err.text);
    return od_exit_code(status);
  }
  const findings found = {.table = table};
  FILE *notes = od_files_notes(&a->files, a->quiet);
  if (notes == stdout)
    fprintf(notes, "%s: sums of squared residuals at %ld factors of each of %d parameters\n", plan->title, table->rows,
            plan->parameters);
  const od_file_contents contents = {.table = table, .write[OD_FILE_PLOT] = write_costs_plot, .user = &found};
  bool ok = od_files_write(&a->files, &contents, notes);
  od_table_free(table);
  return ok ? OD_EXIT_OK : OD_EXIT_FAILED;
}

static od_status write_field_plot(const void *user, const char *path, od_error *err) {
  const od_table *t = ((const findings *)user)->table;
  double x[OD_COST_STEPS], y[OD_COST_STEPS], z[OD_COST_STEPS * OD_COST_STEPS];
  char name[2][80];
  for (int i = 0; i < 2; i++) snprintf(name[i], sizeof name[i], "log10 of the factor of %.50s", t->name[i]);
  for (int k = 0; k < OD_COST_STEPS * OD_COST_STEPS; k++) {
    x[k % OD_COST_STEPS] = t->data[3 * k], y[k / OD_COST_STEPS] = t->data[3 * k + 1];
    z[k] = t->data[3 * k + 2];
  }
  const od_contour c = {.columns = OD_COST_STEPS,
                        .rows = OD_COST_STEPS,
                        .x = x,
                        .y = y,
                        .z = z,
                        .x_name = name[0],
                        .y_name = name[1],
                        .z_name = "log10 of the sum",
                        .x_unit = "1",
                        .y_unit = "1",
                        .z_unit = "1"};
  return od_contour_write(&c, "Sums of squared residuals", "two parameters together", path, err);
}

// Finds the two searched parameters of a text such as "sigma_0,tau_hn". False after a message.
static bool find_pair(const char *text, const od_friction_plan *plan, int parameter[2]) {
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
    od_cli_error(
        "--costs-of: found '%s', expected two of the parameters that the file searches, such as sigma_0,tau_hn", text);
    return false;
  }
  return true;
}

static int write_cost_field(const arguments *a, const od_friction_plan *plan, const od_friction_data *data) {
  od_error err = {0};
  od_table *table = NULL;
  int parameter[2];
  if (!find_pair(a->costs_of, plan, parameter)) return OD_EXIT_BAD_INPUT;
  od_status status = od_friction_cost_field(plan, data, parameter, &table, &err);
  if (status != OD_OK) {
    od_cli_error("%s", err.text);
    return od_exit_code(status);
  }
  const findings found = {.table = table};
  FILE *notes = od_files_notes(&a->files, a->quiet);
  if (notes == stdout)
    fprintf(notes, "%s: sums of squared residuals at %d x %d factors of two parameters\n", plan->title, OD_COST_STEPS,
            OD_COST_STEPS);
  const od_file_contents contents = {.table = table, .write[OD_FILE_PLOT] = write_field_plot, .user = &found};
  bool ok = od_files_write(&a->files, &contents, notes);
  od_table_free(table);
  return ok ? OD_EXIT_OK : OD_EXIT_FAILED;
}

static int run_and_write(const arguments *a, const od_friction_plan *plan, uint64_t seed) {
  od_error err = {0};
  od_friction_data *data = NULL;
  od_friction_fitted *fitted = NULL;
  od_progress progress = od_progress_start(a->quiet);
  od_status status = od_friction_data_make(plan, seed, (od_going_on){od_progress_tick, &progress}, &data, &err);
  int code = status == OD_OK ? od_files_spare(&a->files) : -1;
  if (code >= 0) {
    od_progress_end(&progress);
    od_friction_data_free(data);
    return code;
  }
  const od_friction_run_options options = {.progress = od_progress_tick, .user = &progress, .judge = true};
  if (status == OD_OK) {
    status = od_friction_data_disturb(plan, seed, data, &err);
    if (status == OD_OK) status = od_steady_points_find(plan, data, &err);
  }
  if (status == OD_OK && (a->costs || a->costs_of)) {
    od_progress_end(&progress);
    code = a->costs_of ? write_cost_field(a, plan, data) : write_costs(a, plan, data);
    od_friction_data_free(data);
    return code;
  }
  if (status == OD_OK) status = od_friction_fit(plan, data, &options, &fitted, &err);
  od_progress_end(&progress);
  if (status == OD_INTERRUPTED)
    fprintf(stderr, "oleodyn: %s\n", err.text);
  else if (status != OD_OK)
    od_cli_error("%s", err.text);
  code = fitted ? write_results(a, fitted) : od_exit_code(status);
  od_friction_fitted_free(fitted);
  od_friction_data_free(data);
  return code;
}

static const char details[] =
    "The file says which friction law is fitted to which data: points of steady motion, or a run, logged or simulated by\n"
    "a true law with errors of measurement. Methods: 'steady' fits points; 'complete' fits all parameters to one run;\n"
    "'sequential' takes steady points, then the time constant of the film, then the stiffness of the bristles; 'dynamic'\n"
    "takes steady points, then the other parameters together. Printed are the estimates with their standard deviations,\n"
    "which parameters the data do not tell, and which part of a run tells which parameter.\n"
    "Exit codes: 0; 1 the fit failed; 2 the input is wrong; 3 the result is wrong beyond doubt.\n\n"
    "Examples\n"
    "  oleodyn friction-fit cylinders.friction.yaml --variant complete --truth '#1'\n"
    "  oleodyn friction-fit bench.yaml --log run7.csv --json - \n";

// Checks that the options do not contradict each other. Returns -1, or the exit code after a message.
static int check_wish(const arguments *a, const od_friction_plan *plan) {
  const char *wrong = NULL;
  bool costs = a->costs || a->costs_of;
  if (plan->map.given && a->files.path[OD_FILE_PLOT])
    wrong = "--plot: a map of pressures has no plot; --csv writes its estimates";
  if (plan->map.given && a->files.path[OD_FILE_REPORT])
    wrong = "--report: a map of pressures has none; --csv writes its estimates";
  if (costs && a->files.path[OD_FILE_REPORT])
    wrong = "--costs gives a table; --csv, --mat or --plot write it, not --report";
  if (plan->map.given && costs) wrong = "--costs: a map of pressures has many; choose a variant without 'map'";
  if (costs && a->files.path[OD_FILE_JSON])
    wrong = "--costs gives a table; --csv, --mat or --plot write it, not --json";
  if (!wrong) return -1;
  od_cli_error("%s", wrong);
  return OD_EXIT_BAD_INPUT;
}

int od_command_friction_fit(int argc, char **argv) {
  arguments a = {0};
  const od_option options[] = {
      {"log", OD_OPTION_TEXT, "FILE", "fit to this run (CSV or MATLAB file) instead of what the file says", &a.log},
      {"truth", OD_OPTION_TEXT, "NAME", "entry of 'laws' that data are simulated with", &a.truth},
      {"variant", OD_OPTION_TEXT, "NAME", "variant of the file", &a.variant},
      {"seed", OD_OPTION_TEXT, "N", "seed of simulated errors; default: the file's, else 1", &a.seed},
      {"set", OD_OPTION_LIST, "PATH=VALUE", "replace a number of the file (repeatable)", &a.set},
      {"costs", OD_OPTION_FLAG, NULL,
       "search nothing: sums of squared residuals over one parameter at a time, for --csv, --mat and --plot", &a.costs},
      {"costs-of", OD_OPTION_TEXT, "KEY,KEY", "the same over two parameters together, as logarithms", &a.costs_of},
  };
  const od_usage usage = {"friction-fit",
                          "FILE",
                          "fit a friction law to points of steady motion or to one run, and say what the data can tell",
                          details,
                          options,
                          (int)(sizeof options / sizeof *options),
                          .shared = {.files = &a.files,
                                     .file[OD_FILE_CSV] = "measured and fitted forces",
                                     .file[OD_FILE_MAT] = "measured and fitted forces",
                                     .file[OD_FILE_JSON] = "the findings",
                                     .file[OD_FILE_PLOT] = "measured and fitted forces",
                                     .file[OD_FILE_REPORT] = "findings, tables and charts",
                                     .si = &a.si,
                                     .quiet = &a.quiet}};
  od_words files = {0};
  od_friction_plan *plan = NULL;
  int code = od_options_parse_counted(&usage, argc, argv, 1, 1, &files);
  if (code < 0) code = load(files.text[0], &a, &plan);
  unsigned long long seed = plan ? plan->seed : 1;
  if (code < 0 && a.seed) code = od_option_whole("seed", a.seed, &seed);
  if (code < 0) code = od_files_check(&a.files);
  if (code < 0) code = check_wish(&a, plan);
  if (code < 0) code = plan->map.given ? map_and_write(&a, plan, seed) : run_and_write(&a, plan, seed);
  od_friction_plan_free(plan);
  od_words_free(&files);
  od_words_free(&a.set);
  return code;
}
