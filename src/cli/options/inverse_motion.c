#include "options/inverse_motion.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "terminal/exit_codes.h"
#include "options/option_values.h"
#include "terminal/terminal.h"
#include "document/suggest.h"
#include "document/units.h"
#include "io/table.h"
#include "machine/machine.h"
#include "plant/inverse.h"

enum { MOST_ROWS = 10000000, MOST_LOOSE = 100 };
static const double default_step = 1e-3;

void od_motion_plan_free(od_motion_plan *p) {
  for (int i = 0; p->motion && i < p->count; i++) od_trajectory_free(&p->motion[i]);
  free(p->motion);
  free(p->moved);
  *p = (od_motion_plan){0};
}

// --- Quantities ---------------------------------------------------------------------------------------------------

static bool is_moved(const od_motion_plan *p, int output) {
  for (int i = 0; i < p->count; i++)
    if (p->moved[i] == output) return true;
  return false;
}

// "A.angle, A.x or boom.length": some that can be prescribed.
static void complain_about_count(const od_machine *machine, const od_motion_plan *p) {
  const od_model *m = od_machine_model(machine);
  char some[300] = "";
  int shown = 0;
  // Coordinates and lengths before points, which there are many of.
  for (int points = 0; points < 2; points++)
    for (int i = 0; i < m->outputs && shown < 4; i++) {
      const od_output *o = &m->output[i];
      if (!od_inverse_can_move(o) || is_moved(p, i) || (o->kind == OD_OUT_POINT) != points) continue;
      size_t used = strlen(some);
      snprintf(some + used, sizeof some - used, "%s%.60s", shown++ ? ", " : "", o->name);
    }
  od_cli_error(
      "%d quantit%s prescribed or free, but the machine has %d degree%s of freedom, and as many must be; give --move, --free or "
      "--log%s%s",
      p->count, p->count == 1 ? "y is" : "ies are", m->freedom, m->freedom == 1 ? "" : "s",
      *some ? ", for instance of " : "", some);
}

static int find_quantity(const od_machine *machine, const char *name) {
  const od_model *m = od_machine_model(machine);
  int output = od_machine_output_find(machine, name);
  if (output >= 0 && od_inverse_can_move(&m->output[output])) return output;
  od_nearest nearest = od_nearest_to(name);
  for (int i = 0; i < m->outputs; i++)
    if (od_inverse_can_move(&m->output[i])) od_nearest_try(&nearest, m->output[i].name);
  od_cli_error("--move: '%s' is %s%s", name,
               output >= 0 ? "no position; joint coordinates, lengths, points and angles of bodies can be prescribed"
                           : "no output of the machine",
               nearest.best ? od_nearest_suggestion(&nearest).text : "; 'oleodyn info' lists the outputs");
  return -1;
}

// --- Inputs and constants -----------------------------------------------------------------------------------------

// "boom.angle=wanted" or "boom.angle=30 deg".
static bool from_text(const od_machine *machine, const char *text, od_motion_plan *p) {
  const char *equals = strchr(text, '=');
  char name[300];
  snprintf(name, sizeof name, "%.*s", (int)(equals - text), text);
  int output = find_quantity(machine, name);
  if (output < 0) return false;
  if (is_moved(p, output)) {
    od_cli_error("--move: '%s' is prescribed twice", name);
    return false;
  }
  const char *unit = od_machine_output_unit(machine, output), *value = equals + 1;
  od_trajectory *to = &p->motion[p->count];
  for (int i = 0; i < od_machine_input_count(machine); i++) {
    if (strcmp(od_machine_input_name(machine, i), value) != 0) continue;
    if (strcmp(od_machine_input_unit(machine, i), unit) != 0) {
      od_cli_error("--move: %s is in %s, the input '%s' in %s", name, unit, value, od_machine_input_unit(machine, i));
      return false;
    }
    od_status status = od_trajectory_of_input(machine, i, p->begin, p->end, to);
    if (status != OD_OK) od_cli_error("--move: %s: %s", name, od_status_text(status));
    p->moved[p->count++] = output;
    return status == OD_OK;
  }
  if (!strchr("0123456789.+-", *value) || !*value) {
    od_nearest nearest = od_nearest_to(value);
    for (int i = 0; i < od_machine_input_count(machine); i++)
      od_nearest_try(&nearest, od_machine_input_name(machine, i));
    od_cli_error("--move: %s: there is no input '%s'%s", name, value,
                 nearest.best ? od_nearest_suggestion(&nearest).text : ", and it is no number");
    return false;
  }
  double constant;
  if (!od_option_any_quantity("move", value, unit, &constant)) return false;
  if (!isfinite(constant)) {
    od_cli_error("--move: %s: '%s' is not finite", name, value);
    return false;
  }
  od_status status = od_trajectory_of_constant(constant, p->begin, p->end, to);
  if (status != OD_OK) od_cli_error("--move: %s: %s", name, od_status_text(status));
  p->moved[p->count++] = output;
  return status == OD_OK;
}

// --- Logs ---------------------------------------------------------------------------------------------------------

typedef struct log_data {
  od_table *table;
  int time, columns;
  int *column, *output;
  double *t, *value;  // value[row * columns + column]
  long rows;
  double low_pass;  // Hz; 0: not given
} log_data;

static void free_log(log_data *d) {
  od_table_free(d->table);
  free(d->column);
  free(d->output);
  free(d->t);
  free(d->value);
}

// Columns that are called like quantities that can be prescribed.
static bool find_columns(const od_machine *machine, const char *path, log_data *d) {
  const od_model *m = od_machine_model(machine);
  d->column = calloc((size_t)d->table->columns + 1, sizeof *d->column);
  d->output = calloc((size_t)d->table->columns + 1, sizeof *d->output);
  if (!d->column || !d->output) {
    od_cli_error("memory ran out");
    return false;
  }
  for (int c = 0; c < d->table->columns; c++) {
    int output = c == d->time ? -1 : od_machine_output_find(machine, d->table->name[c]);
    if (output < 0 || !od_inverse_can_move(&m->output[output])) continue;
    d->column[d->columns] = c;
    d->output[d->columns++] = output;
  }
  if (d->columns == 0)
    od_cli_error("%s: no column is called like a joint coordinate, length or point of the machine", path);
  return d->columns > 0;
}

static bool convert_columns(const od_machine *machine, const char *path, log_data *d) {
  od_error err = {0};
  od_units *units = od_units_new(&err);
  size_t rows = (size_t)d->table->rows;
  d->t = malloc((rows + 1) * sizeof *d->t);
  d->value = malloc((rows + 1) * (size_t)d->columns * sizeof *d->value);
  bool ok = units && d->t && d->value;
  if (!ok) od_cli_error("%s", units ? "memory ran out" : err.text);
  d->rows = d->table->rows;
  for (int i = -1; ok && i < d->columns; i++) {
    int c = i < 0 ? d->time : d->column[i];
    const char *unit = d->table->unit[c], *si = i < 0 ? "s" : od_machine_output_unit(machine, d->output[i]);
    const char *flaw = od_table_flaw(d->table, c);
    od_conversion to = {1, 1, 0};
    if (flaw) {
      od_cli_error("%s", flaw);
      ok = false;
    } else if (*unit && od_units_conversion(units, unit, si, &to) != OD_UNIT_FITS) {
      od_cli_error("%s: column '%s' is in %s, expected a unit of %s", path, d->table->name[c], unit, si);
      ok = false;
    }
    for (long k = 0; ok && k < d->rows; k++) {
      double x = od_convert(&to, d->table->data[k * d->table->columns + c]);
      if (!isfinite(x)) {
        od_cli_error("%s: row %ld of '%s' has no value", path, k + 1, d->table->name[c]);
        ok = false;
      }
      *(i < 0 ? &d->t[k] : &d->value[k * d->columns + i]) = x;
    }
  }
  for (long k = 1; ok && k < d->rows; k++)
    if (!(d->t[k] > d->t[k - 1])) {
      od_cli_error("%s: the time of row %ld is not later than that of the row before", path, k + 1);
      ok = false;
    }
  od_units_free(units);
  return ok;
}

// The frequency of --smooth; above half of the log's rate there is nothing to remove.
static bool read_smoothing(const od_motion_arguments *a, log_data *d) {
  if (!a->smooth) return true;
  if (!od_option_quantity("smooth", a->smooth, "Hz", &d->low_pass)) return false;
  double most = (double)(d->rows - 1) / (d->t[d->rows - 1] - d->t[0]) / 2;
  if (d->low_pass < most) return true;
  od_cli_error("--smooth: %s is not below half of the log's rate, %.6g Hz", a->smooth, most);
  return false;
}

static int read_log(const od_machine *machine, const od_motion_arguments *a, log_data *d) {
  od_error err = {0};
  od_status status = od_table_read(a->log, NULL, &d->table, &err);
  if (status != OD_OK) {
    od_cli_error("%s", err.text);
    return od_exit_code(status == OD_IO ? OD_BAD_INPUT : status);
  }
  d->time = od_table_find_time(d->table);
  bool ok = d->time >= 0 && d->table->rows >= 3;
  if (!ok) od_cli_error("%s: expected a column of times and at least three rows", a->log);
  ok = ok && find_columns(machine, a->log, d) && convert_columns(machine, a->log, d) && read_smoothing(a, d);
  return ok ? -1 : OD_EXIT_BAD_INPUT;
}

// Quantities that --move names without a value follow the log; each must be there.
static bool find_named(const od_machine *machine, const od_motion_arguments *a, const log_data *d, int *named) {
  bool ok = true;
  *named = 0;
  for (int i = 0; i < a->moves.count; i++) {
    const char *name = a->moves.text[i];
    if (strchr(name, '=')) continue;
    (*named)++;
    bool there = false;
    for (int k = 0; k < d->columns; k++) there = there || !strcmp(od_machine_output_name(machine, d->output[k]), name);
    if (there) continue;
    if (a->log)
      od_cli_error("--move: %s has no column '%s'", a->log, name);
    else
      od_cli_error("--move: '%s' says not how; write QUANTITY=INPUT or QUANTITY=VALUE, or give --log", name);
    ok = false;
  }
  return ok;
}

static bool is_named(const od_motion_arguments *a, const char *name) {
  for (int i = 0; i < a->moves.count; i++)
    if (strcmp(a->moves.text[i], name) == 0) return true;
  return false;
}

// Columns of the log: those that are named, else all that no --move has replaced.
static bool from_log(const od_machine *machine, const od_motion_arguments *a, const log_data *d, int named,
                     od_motion_plan *p) {
  double *samples = malloc((size_t)d->rows * sizeof *samples);
  bool ok = samples != NULL;
  for (int i = 0; ok && i < d->columns; i++) {
    if (is_moved(p, d->output[i])) continue;
    if (named && !is_named(a, od_machine_output_name(machine, d->output[i]))) continue;
    for (long k = 0; k < d->rows; k++) samples[k] = d->value[k * d->columns + i];
    ok = od_trajectory_of_samples(d->t, samples, d->rows, d->low_pass, &p->motion[p->count]) == OD_OK;
    p->moved[p->count++] = d->output[i];
  }
  free(samples);
  if (!ok) od_cli_error("memory ran out");
  return ok;
}

// --- What moves on its own ----------------------------------------------------------------------------------------

static bool add_loose(const od_machine *machine, const char *name, od_motion_plan *p) {
  const od_model *m = od_machine_model(machine);
  int output = od_machine_output_find(machine, name);
  if (output >= 0 && m->output[output].kind == OD_OUT_COORDINATE && !is_moved(p, output)) {
    p->moved[p->count++] = output;
    p->loose++;
    return true;
  }
  od_nearest nearest = od_nearest_to(name);
  for (int i = 0; i < m->outputs; i++)
    if (m->output[i].kind == OD_OUT_COORDINATE) od_nearest_try(&nearest, m->output[i].name);
  if (output >= 0 && is_moved(p, output))
    od_cli_error("--free: '%s' is prescribed, too", name);
  else
    od_cli_error("--free: '%s' is no coordinate of a joint%s", name, od_nearest_suggestion(&nearest).text);
  return false;
}

static bool read_loose(const od_machine *machine, const od_motion_arguments *a, od_motion_plan *p) {
  bool ok = true;
  for (int i = 0; i < a->loose.count; i++) {
    char *copy = strdup(a->loose.text[i]), *rest = NULL;
    for (char *name = copy ? strtok_r(copy, ", ", &rest) : NULL; name; name = strtok_r(NULL, ", ", &rest)) {
      if (p->loose == MOST_LOOSE) {
        od_cli_error("--free: at most %d", MOST_LOOSE);
        ok = false;
        break;
      }
      ok = add_loose(machine, name, p) && ok;
    }
    free(copy);
  }
  return ok;
}

// --- All together -------------------------------------------------------------------------------------------------

// The log's times, else the command line's, else the run of the file.
static int choose_times(const od_machine *machine, const od_motion_arguments *a, const log_data *d, od_motion_plan *p) {
  const od_run_defaults *run = od_machine_run(machine);
  double length = d->rows ? d->t[d->rows - 1] - d->t[0] : run->time;
  p->begin = d->rows ? d->t[0] : 0;
  p->step = d->rows         ? length / (double)(d->rows - 1)
            : run->step > 0 ? run->step
            : run->rows > 0 ? run->rows
                            : default_step;
  if (!od_option_quantity("time", a->time, "s", &length) || !od_option_quantity("step", a->step, "s", &p->step))
    return OD_EXIT_BAD_INPUT;
  p->end = p->begin + length;
  if (!(length > 0))
    od_cli_error("for how long? %s does not say; give --time", od_machine_file(machine));
  else if (d->rows && p->end > d->t[d->rows - 1] * (1 + 1e-12))
    od_cli_error("--time: the log ends at %.6g s", d->t[d->rows - 1]);
  else if (length / p->step > MOST_ROWS)
    od_cli_error("%.3g rows are too many, at most %d; give a longer --step", length / p->step, MOST_ROWS);
  else
    return -1;
  return OD_EXIT_BAD_INPUT;
}

int od_motion_plan_make(const od_machine *machine, const od_motion_arguments *a, od_motion_plan *p) {
  log_data d = {0};
  *p = (od_motion_plan){0};
  int code = a->log ? read_log(machine, a, &d) : -1;
  if (code < 0 && a->smooth && !a->log) {
    od_cli_error("--smooth is for --log");
    code = OD_EXIT_BAD_INPUT;
  }
  if (code < 0) code = choose_times(machine, a, &d, p);
  if (code < 0 && a->log)
    p->doubt = od_time_doubt_of(d.table->name[d.time], d.table->unit[d.time], a->log,
                                (d.t[d.rows - 1] - d.t[0]) / (double)(d.rows - 1), NULL);
  if (code < 0) {
    size_t most = (size_t)(a->moves.count + d.columns) + MOST_LOOSE + 1;
    p->moved = calloc(most, sizeof *p->moved);
    p->motion = calloc(most, sizeof *p->motion);
    if (!p->moved || !p->motion) code = OD_EXIT_FAILED;
  }
  int named = 0;
  bool ok = code >= 0 || find_named(machine, a, &d, &named);
  for (int i = 0; code < 0 && i < a->moves.count; i++)
    if (strchr(a->moves.text[i], '=')) ok = from_text(machine, a->moves.text[i], p) && ok;
  if (code < 0 && ok && a->log) ok = from_log(machine, a, &d, named, p);
  if (code < 0) ok = read_loose(machine, a, p) && ok;
  if (code < 0 && !ok) code = OD_EXIT_BAD_INPUT;
  if (code < 0 && p->count != od_machine_model(machine)->freedom) {
    complain_about_count(machine, p);
    code = OD_EXIT_BAD_INPUT;
  }
  free_log(&d);
  return code;
}
