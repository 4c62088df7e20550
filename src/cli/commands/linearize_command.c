// oleodyn linearize: the linear model of a machine at an operating point.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands/command.h"
#include "options/linear_options.h"
#include "output/linear_summary.h"
#include "terminal/terminal.h"
#include "linear/pole_order.h"

static int check(void *user) {
  const od_linear_arguments *a = user;
  if (!a->files.path[OD_FILE_PLOT] || a->sweep.paths.count > 0) return -1;
  od_cli_error("--plot: there is nothing to draw without --sweep; 'oleodyn bode' draws frequency responses");
  return OD_EXIT_BAD_INPUT;
}

static int show(void *user, const od_machine *machine, const od_linear_model *model) {
  const od_linear_arguments *a = user;
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
  const od_file_contents contents = {.write[OD_FILE_CSV] = od_linear_write_csv,
                                     .write[OD_FILE_MAT] = od_linear_write_mat,
                                     .summary = a->files.path[OD_FILE_JSON] ? od_linear_json(&results) : NULL,
                                     .user = &results};
  bool ok = od_files_write(&a->files, &contents, notes);
  od_linear_results_free(&results);
  return ok ? OD_EXIT_OK : OD_EXIT_FAILED;
}

// --- Sweeps ----------------------------------------------------------------------------------------------------------

// A row begins with the least damped pair; then come the poles.
enum { LEADING = 2, PER_POLE = 4 };

static bool add_least_damped(const od_poles *poles, od_sweep_row *row) {
  double frequency = NAN, damping = NAN;
  for (int i = 0; i < poles->count; i++) {
    double here = od_pole_damping(poles->pole[i]);
    if (!(poles->pole[i].imaginary > 0) || here >= damping) continue;
    damping = here, frequency = od_pole_frequency(poles->pole[i]);
  }
  return od_sweep_add(row, "least_damped.frequency", "Hz", frequency) &&
         od_sweep_add(row, "least_damped.damping", "1", damping);
}

static od_status measure(const void *user, const od_linear_model *model, bool (*goes_on)(void *, double), void *going,
                         od_sweep_row *row, od_error *err) {
  (void)goes_on, (void)going;
  (void)user;
  od_poles poles;
  od_status status = od_poles_find(model, &poles, err);
  if (status != OD_OK) return status;
  bool ok = add_least_damped(&poles, row);
  for (int i = 0; i < poles.count && ok; i++) {
    od_pole p = poles.pole[i];
    const struct {
      const char *name, *unit;
      double value;
    } values[PER_POLE] = {{"real", "1/s", p.real},
                          {"imaginary", "1/s", p.imaginary},
                          {"frequency", "Hz", od_pole_frequency(p)},
                          {"damping", "1", od_pole_damping(p)}};
    for (int k = 0; k < PER_POLE && ok; k++) {
      char name[40];
      snprintf(name, sizeof name, "pole%d.%s", i + 1, values[k].name);
      ok = od_sweep_add(row, name, values[k].unit, values[k].value);
    }
  }
  od_poles_free(&poles);
  return ok ? OD_OK : od_fail(err, OD_NO_MEMORY, "memory ran out");
}

// The poles of a row of the table.
static void read_poles(const od_table *t, long row, int axes, int count, od_pole *pole) {
  for (int i = 0; i < count; i++) {
    const double *at = t->data + row * t->columns + axes + LEADING + PER_POLE * i;
    pole[i] = (od_pole){at[0], at[1]};
  }
}

static bool has_values(const od_table *t, long row, int axes) {
  return t->columns > axes + LEADING && !isnan(t->data[row * t->columns + axes + LEADING]);
}

// The row before in the grid, one step back along the axis that changes fastest among those that are not at their first
// value; -1: none with values. *stride: how far back it is.
static long row_before(const od_table *t, long row, const int *counts, int axes, long *stride) {
  *stride = 1;
  for (int i = axes - 1; i >= 0; i--) {
    if (row / *stride % counts[i] > 0) return has_values(t, row - *stride, axes) ? row - *stride : -1;
    *stride *= counts[i];
  }
  return -1;
}

// Each pole keeps its columns from point to point.
static bool order_poles(od_table *t, const int *counts, int axes) {
  int count = (t->columns - axes - LEADING) / PER_POLE;
  size_t room = (size_t)count + 1;
  od_pole *earlier = calloc(room, sizeof *earlier), *before = calloc(room, sizeof *before),
          *now = calloc(room, sizeof *now);
  int *order = calloc(room, sizeof *order);
  double *copy = calloc(PER_POLE * room, sizeof *copy);
  bool ok = earlier && before && now && order && copy;
  for (long row = 0; ok && row < t->rows; row++) {
    long stride, previous = has_values(t, row, axes) ? row_before(t, row, counts, axes, &stride) : -1;
    if (previous < 0) continue;
    long further = row_before(t, previous, counts, axes, &(long){0});
    bool line = further >= 0 && previous - further == stride;
    read_poles(t, previous, axes, count, before);
    read_poles(t, row, axes, count, now);
    if (line) read_poles(t, further, axes, count, earlier);
    ok = od_poles_follow(count, line ? earlier : NULL, before, now, order);
    double *values = t->data + row * t->columns + axes + LEADING;
    memcpy(copy, values, (size_t)(PER_POLE * count) * sizeof *copy);
    for (int i = 0; ok && i < count; i++)
      memcpy(values + PER_POLE * i, copy + PER_POLE * order[i], PER_POLE * sizeof *copy);
  }
  free(earlier);
  free(before);
  free(now);
  free(order);
  free(copy);
  return ok;
}

static const char details[] =
    "The model is dx' = A dx + B du, dy = C dx + D du about the operating point: the initial state with the inputs at\n"
    "time 0, or what a run has come to. It is exact: no differences are taken. Poles come with the states that take part\n"
    "in them, in parts that do not depend on units. States that nothing moves are left out. With --sweep the files have\n"
    "the least damped pair and the poles of every point; each pole keeps its columns from point to point. --plot draws the\n"
    "pair's frequency and damping over the number that is swept last, a curve for each value of another.\n\n"
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
  };
  const od_usage usage = {"linearize",
                          "MACHINE",
                          "the linear model of a machine at an operating point",
                          details,
                          options,
                          (int)(sizeof options / sizeof *options),
                          .shared = {.files = &a.files,
                                     .file[OD_FILE_CSV] = "[A B; C D]",
                                     .file[OD_FILE_MAT] = "the matrices and their names",
                                     .file[OD_FILE_JSON] = "everything",
                                     .file[OD_FILE_PLOT] = "the least damped pair over --sweep",
                                     .si = &a.si,
                                     .quiet = &a.quiet}};
  od_linear_sweep sweep = {.arguments = &a, .measure = measure, .finish = order_poles, .drawn = LEADING};
  const od_linear_command command = {&usage, &a, &sweep, check, show, &a};
  return od_linear_command_run(&command, argc, argv);
}
