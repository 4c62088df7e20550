#include "inverse/inverse_run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/display.h"
#include "machine/machine.h"

enum { ASK = 256, NOISE_ROWS = 64 };  // noise is evaluated in at most NOISE_ROWS rows

// ---- the table

typedef struct run {
  const od_machine *machine;
  const od_model *m;
  const od_inverse_options *o;
  od_inverse_result *r;
  od_plant *plant;
  od_inverse *inverse;
  od_drive_oil *oil;
  double *u, *q, *rate, *second, *effort, *row;
  double *nominal;  // efforts without noise, and squares of the contributions of noise
  double *look;     // times of peaks of a motion, increasing
  int looks, looked;
  double *loose;  // freely moving coordinates, then their rates; then memory for four more such vectors, and their
                  // errors
} run;

static int add_column(run *s, int *end, const char *element, const char *quantity, const char *unit) {
  char name[400];
  snprintf(name, sizeof name, "%.300s%s%s", element, *quantity ? "." : "", quantity);
  int at = (*end)++;
  if (s->r->table && od_table_label(s->r->table, at, name, unit) != OD_OK) return -2;
  return at;
}

// Whether a drive acts along one coordinate or length. A force at a point and a torque on a body do not.
static bool has_speed(const od_model *m, const od_drive *drive) {
  return drive->kind != OD_DRIVE_LOAD || m->load[drive->index].kind == OD_LOAD_JOINT;
}

// The column of a cylinder's length, which may be a prescribed quantity.
static int length_column(run *s, int *end, int d) {
  int actuator = s->m->instance[s->o->drive[d].index].actuator;
  for (int i = 0; i < s->o->moves; i++) {
    const od_output *o = &s->m->output[s->o->moved[i]];
    if (o->kind == OD_OUT_LENGTH && o->index == actuator) return 1 + i;
  }
  return add_column(s, end, od_inverse_drive_name(s->machine, &s->o->drive[d]), "length", "m");
}

// Called twice: to count the columns, and to label them.
static int lay_columns(run *s) {
  const od_inverse_options *o = s->o;
  int end = 0, hydraulic = 0;
  add_column(s, &end, "time", "", "s");
  for (int i = 0; i < o->moves; i++)
    add_column(s, &end, s->m->output[o->moved[i]].name, "", s->m->output[o->moved[i]].unit);
  for (int d = 0; d < o->drives; d++) {
    od_drive_columns *c = &s->r->columns[d];
    const char *name = od_inverse_drive_name(s->machine, &o->drive[d]);
    bool turning = od_drive_turns(s->m, &o->drive[d]);
    *c = (od_drive_columns){
        .speed = -1, .input = -1, .length = -1, .pressure_a = -1, .pressure_b = -1, .flow_a = -1, .flow_b = -1};
    c->effort = add_column(s, &end, name, turning ? "torque_needed" : "force_needed", turning ? "N m" : "N");
    if (has_speed(s->m, &o->drive[d])) c->speed = add_column(s, &end, name, "speed", turning ? "rad/s" : "m/s");
    c->power = add_column(s, &end, name, "power_needed", "W");
    if (o->drive[d].kind == OD_DRIVE_LOAD) {
      int input = s->m->load[o->drive[d].index].input;
      if (input >= 0 && input < s->m->inputs)
        c->input = add_column(s, &end, s->m->input[input].name, "", s->m->input[input].unit);
    }
    if (!s->oil[d].cylinder && !s->oil[d].motor) continue;
    hydraulic++;
    if (s->oil[d].cylinder) c->length = length_column(s, &end, d);
    c->pressure_a = add_column(s, &end, name, s->oil[d].cylinder ? "pressure_a" : "pressure_difference", "Pa");
    if (s->oil[d].cylinder) c->pressure_b = add_column(s, &end, name, "pressure_b", "Pa");
    c->flow_a = add_column(s, &end, name, s->oil[d].cylinder ? "flow_a" : "flow", "m3/s");
    if (s->oil[d].cylinder) c->flow_b = add_column(s, &end, name, "flow_b", "m3/s");
  }
  s->r->supply_flow = hydraulic ? add_column(s, &end, "supply", "flow_needed", "m3/s") : -1;
  s->r->power = add_column(s, &end, "drives", "power_needed", "W");
  for (int i = 0; i < o->output_count; i++)
    add_column(s, &end, s->m->output[o->outputs[i]].name, "", s->m->output[o->outputs[i]].unit);
  return end;
}

static bool allocate(run *s) {
  size_t n = (size_t)s->o->moves + 1, nd = (size_t)s->o->drives + 1, nu = (size_t)s->m->inputs + 1;
  s->r->columns = calloc(nd, sizeof *s->r->columns);
  s->r->noise = calloc(nd, sizeof *s->r->noise);
  s->r->ends = calloc(nd, sizeof *s->r->ends);
  s->r->coarse = calloc(nd, sizeof *s->r->coarse);
  s->oil = calloc(nd, sizeof *s->oil);
  s->u = calloc(nu, sizeof *s->u);
  s->q = calloc(n, sizeof *s->q);
  s->rate = calloc(n, sizeof *s->rate);
  s->second = calloc(n, sizeof *s->second);
  s->effort = calloc(nd, sizeof *s->effort);
  s->nominal = calloc(2 * nd, sizeof *s->nominal);
  s->loose = calloc(16 * n, sizeof *s->loose);
  s->look = calloc(OD_TRAJECTORY_PEAKS * (n + nu), sizeof *s->look);
  if (!s->r->columns || !s->r->noise || !s->r->ends || !s->r->coarse || !s->oil || !s->u || !s->q || !s->rate ||
      !s->second || !s->effort || !s->nominal || !s->loose || !s->look)
    return false;
  for (int d = 0; d < s->o->drives; d++) s->oil[d] = od_drive_oil_of(s->m, &s->o->drive[d]);
  if (!od_standstills_find(s->m, s->r)) return false;
  s->r->signals = od_below_zero_list(s->m, NULL);
  s->r->signal = calloc((size_t)s->r->signals + 1, sizeof *s->r->signal);
  if (!s->r->signal) return false;
  od_below_zero_list(s->m, s->r->signal);
  int columns = lay_columns(s);
  s->row = calloc((size_t)columns, sizeof *s->row);
  s->r->table = od_table_new(columns);
  if (!s->row || !s->r->table) return false;
  lay_columns(s);
  s->r->most = calloc(4 * (size_t)columns, sizeof *s->r->most);
  if (!s->r->most) return false;
  s->r->least = s->r->most + columns, s->r->most_at = s->r->least + columns, s->r->least_at = s->r->most_at + columns;
  for (int c = 0; c < columns; c++) s->r->most[c] = -INFINITY, s->r->least[c] = INFINITY;
  return true;
}

// ---- rows

// The speed of a drive along its own direction.
static double drive_speed(run *s, const od_drive *drive) {
  od_output o = {.kind = OD_OUT_COORDINATE_RATE, .index = drive->index, .second = -1};
  if (drive->kind == OD_DRIVE_LOAD) o.index = s->m->load[drive->index].coordinate;
  if (drive->kind == OD_DRIVE_ELEMENT) o.kind = OD_OUT_SPEED, o.index = s->m->instance[drive->index].actuator;
  return od_inverse_output(s->inverse, &o);
}

static void fill_row(run *s, double t) {
  const od_inverse_options *o = s->o;
  double *row = s->row, flow = 0, power = 0;
  int at = 0;
  row[at++] = t;
  for (int i = 0; i < o->moves; i++) row[at++] = s->q[i];
  for (int d = 0; d < o->drives; d++) {
    const od_drive_columns *c = &s->r->columns[d];
    const od_drive *drive = &o->drive[d];
    const od_output power_of = {.kind = OD_OUT_LOAD_POWER, .index = drive->index, .second = -1};
    double effort = s->effort[d], speed = c->speed >= 0 ? drive_speed(s, drive) : 0;
    row[c->effort] = effort;
    row[c->power] = c->speed >= 0 ? effort * speed : od_inverse_output(s->inverse, &power_of);
    if (c->speed >= 0) row[c->speed] = speed;
    power += row[c->power];
    if (c->input >= 0) row[c->input] = effort / s->m->theta[s->m->load[drive->index].number];
    if (c->pressure_a < 0) continue;
    const od_output length = {.kind = OD_OUT_LENGTH, .index = s->m->instance[drive->index].actuator, .second = -1};
    if (c->length >= 0) row[c->length] = od_inverse_output(s->inverse, &length);
    od_oil_need need = od_drive_oil_need(&s->oil[d], o, od_inverse_signal(s->inverse, drive->index), effort, speed);
    row[c->pressure_a] = need.pressure_a;
    row[c->flow_a] = need.flow_a;
    if (c->pressure_b >= 0) row[c->pressure_b] = need.pressure_b, row[c->flow_b] = need.flow_b;
    flow += need.supply;
  }
  if (s->r->supply_flow >= 0) row[s->r->supply_flow] = flow;
  row[s->r->power] = power;
  at = s->r->power + 1;
  for (int i = 0; i < o->output_count; i++) row[at++] = od_inverse_output(s->inverse, &s->m->output[o->outputs[i]]);
  for (int i = 0; i < at; i++) row[i] += 0.0;  // replaces minus zero by zero
}

// Reports why the machine cannot reach the prescribed position.
static od_status explain(run *s, double t, od_status status, od_error *err) {
  const od_inverse_options *o = s->o;
  if (status == OD_SINGULAR && od_inverse_stuck(s->inverse) == OD_STUCK_DRIVES)
    return od_fail(
        err, status,
        "at t = %.6g s the drives cannot hold the machine in its motion: in this position one of them, or several "
        "together, have no leverage (a dead centre)",
        t);
  if (status == OD_SINGULAR)
    return od_fail(
        err, status,
        "at t = %.6g s the prescribed quantities do not decide the machine's motion: a dead centre, the end of their "
        "reach, or one follows from the others",
        t);
  if (status != OD_NOT_CONVERGED) return od_fail(err, status, "at t = %.6g s: %s", t, od_status_text(status));
  // The quantity with the largest error at the position where the solver stopped.
  int worst = 0;
  double most = -1;
  for (int i = 0; i < o->moves; i++) {
    double off = fabs(s->q[i] - od_inverse_output(s->inverse, &s->m->output[o->moved[i]]));
    if (off > most) most = off, worst = i;
  }
  const od_output *w = &s->m->output[o->moved[worst]];
  return od_fail(
      err, status,
      "at t = %.6g s the motion cannot be reached: the loops do not close with %s at %s; the machine came to %s", t,
      w->name, od_display_quantity(s->q[worst], w->unit).text,
      od_display_quantity(od_inverse_output(s->inverse, w), w->unit).text);
}

// Efforts and accelerations at a time, with freely moving coordinates at x (their values, then their rates).
static od_status solve_at(run *s, double t, const double *x) {
  const od_inverse_options *o = s->o;
  int driven = o->moves - o->loose;
  double at[3];
  for (int i = 0; i < o->moves; i++) {
    if (i < driven) {
      od_trajectory_at(&o->motion[i], t, at);
      s->q[i] = at[0], s->rate[i] = at[1], s->second[i] = at[2];
    } else {
      s->q[i] = x[i - driven], s->rate[i] = x[o->loose + i - driven];
    }
  }
  if (s->m->inputs) od_machine_inputs(s->machine, t, s->u);
  return od_inverse_solve(s->inverse, s->u, s->q, s->rate, s->second, s->effort);
}

// One step of the classical Runge-Kutta rule for the freely moving coordinates.
static od_status step_loose(run *s, double t, double h, double *x) {
  static const double where[] = {0, 0.5, 0.5, 1}, weight[] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};
  int n = s->o->loose, driven = s->o->moves - n;
  double *start = s->loose + 4 * n, *stage = start + 2 * n, *sum = stage + 2 * n;
  memcpy(start, x, 2 * (size_t)n * sizeof *x);
  memcpy(stage, x, 2 * (size_t)n * sizeof *x);
  memset(sum, 0, 2 * (size_t)n * sizeof *sum);
  for (int k = 0; k < 4; k++) {
    od_status status = solve_at(s, t + where[k] * h, stage);
    if (status != OD_OK) return status;
    for (int i = 0; i < n; i++) {
      double speed = stage[n + i], second = s->second[driven + i];
      sum[i] += weight[k] * h * speed, sum[n + i] += weight[k] * h * second;
      if (k < 3) {
        stage[i] = start[i] + where[k + 1] * h * speed;
        stage[n + i] = start[n + i] + where[k + 1] * h * second;
      }
    }
  }
  for (int i = 0; i < 2 * n; i++) x[i] = start[i] + sum[i];
  return OD_OK;
}

// Integrates from row to row in two steps. The difference from a single step estimates the error.
static od_status advance_loose(run *s, double t, double h) {
  int n = s->o->loose;
  double *x = s->loose, *whole = x + 2 * n, *error = x + 12 * n;
  if (n == 0) return OD_OK;
  memcpy(whole, x, 2 * (size_t)n * sizeof *x);
  od_status status = step_loose(s, t, h, whole);
  if (status == OD_OK) status = step_loose(s, t, h / 2, x);
  if (status == OD_OK) status = step_loose(s, t + h / 2, h / 2, x);
  for (int i = 0; i < n; i++) error[i] += fabs(whole[i] - x[i]) / 15;
  return status;
}

static void start_loose(run *s) {
  int n = s->o->loose, driven = s->o->moves - n;
  for (int i = 0; i < n; i++) {
    int coordinate = s->m->output[s->o->moved[driven + i]].index;
    s->loose[i] = s->m->z0[coordinate];
    s->loose[n + i] = s->m->zd0[coordinate];
  }
}

// The sum of all errors, relative to the range of the coordinate.
static void find_loose_error(run *s) {
  int n = s->o->loose, first = 1 + s->o->moves - n;
  for (int i = 0; i < n; i++) {
    od_summary range = od_table_summary(s->r->table, first + i);
    double width = range.max - range.min, error = s->loose[12 * n + i];
    if (error > 0) s->r->loose_error = fmax(s->r->loose_error, error / fmax(width, error));
  }
}

// The change of the efforts by errors of second derivatives, one for each motion. Efforts are linear in second derivatives, so
// one solution per motion is sufficient. Keeps the maximum over all calls for each drive.
static od_status find_spread(run *s, double (*error)(const od_trajectory *), double *spread) {
  const od_inverse_options *o = s->o;
  double *nominal = s->nominal, *square = nominal + o->drives;
  od_status status = OD_OK;
  memcpy(nominal, s->effort, (size_t)o->drives * sizeof *nominal);
  memset(square, 0, (size_t)o->drives * sizeof *square);
  for (int i = 0; status == OD_OK && i < o->moves - o->loose; i++) {
    double off = error(&o->motion[i]), second = s->second[i];
    if (!(off > 0)) continue;
    s->second[i] += off;
    status = od_inverse_solve(s->inverse, s->u, s->q, s->rate, s->second, s->effort);
    s->second[i] = second;
    for (int d = 0; d < o->drives; d++) square[d] += pow(s->effort[d] - nominal[d], 2);
  }
  for (int d = 0; status == OD_OK && d < o->drives; d++) spread[d] = fmax(spread[d], sqrt(square[d]));
  memcpy(s->effort, nominal, (size_t)o->drives * sizeof *nominal);
  return status;
}

static double noise_of(const od_trajectory *r) {
  return r->smoothing.noise;
}
static double end_error_of(const od_trajectory *r) {
  return r->smoothing.end_error;
}
static double coarse_of(const od_trajectory *r) {
  return r->coarse;
}

static int by_time(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

// Lists the times of peaks of motions, and of maxima and minima of inputs, some of which act on the machine.
static void list_looks(run *s) {
  for (int i = 0; i < s->o->moves - s->o->loose; i++)
    for (int k = 0; k < OD_TRAJECTORY_PEAKS; k++) s->look[s->looks++] = s->o->motion[i].peak[k];
  for (int i = 0; i < s->m->inputs; i++, s->looks += 2)
    od_input_peaks(s->machine, i, s->o->begin, s->o->end, s->look + s->looks);
  qsort(s->look, (size_t)s->looks, sizeof *s->look, by_time);
}

// Evaluates peaks of motions and inputs between a row and the next one. Positions that cannot be reached are left to the rows.
static void look_between(run *s, double t, double until) {
  const od_inverse_options *o = s->o;
  double *x = s->loose + 2 * o->loose;
  for (; s->looked < s->looks && s->look[s->looked] < until; s->looked++) {
    double at = s->look[s->looked];
    if (!(at > t) || at > o->end) continue;
    memcpy(x, s->loose, 2 * (size_t)o->loose * sizeof *x);
    if (o->loose && step_loose(s, t, at - t, x) != OD_OK) continue;
    if (solve_at(s, at, x) != OD_OK) continue;
    fill_row(s, at);
    for (int c = 1; c < s->r->table->columns; c++) {
      if (s->row[c] > s->r->most[c]) s->r->most[c] = s->row[c], s->r->most_at[c] = at;
      if (s->row[c] < s->r->least[c]) s->r->least[c] = s->row[c], s->r->least_at[c] = at;
    }
  }
}

static od_status fill_table(run *s, od_error *err) {
  const od_inverse_options *o = s->o;
  long rows = (long)floor((o->end - o->begin) / o->step * (1 + 1e-12)) + 1;
  od_status status = od_inverse_start(s->inverse);
  if (status != OD_OK) return od_fail(err, status, "cannot start: %s", od_status_text(status));
  start_loose(s);
  list_looks(s);
  for (long k = 0; k < rows; k++) {
    double t = o->begin + (double)k * o->step;
    if (k % ASK == 0 && o->progress && !o->progress(o->user, (double)k / (double)rows))
      return od_fail(err, OD_INTERRUPTED, "interrupted");
    status = solve_at(s, t, s->loose);
    if (status != OD_OK) return explain(s, t, status, err);
    fill_row(s, t);
    od_standstills_watch(s->m, s->inverse, t, s->r);
    for (int i = 0; i < s->r->signals; i++)
      od_below_zero_watch(&s->r->signal[i], t, od_inverse_signal(s->inverse, s->r->signal[i].instance));
    if (od_table_append(s->r->table, s->row) != OD_OK) return od_fail(err, OD_NO_MEMORY, "memory ran out");
    if (k % (1 + rows / NOISE_ROWS) == 0) status = find_spread(s, noise_of, s->r->noise);
    if (status == OD_OK && k % (1 + rows / NOISE_ROWS) == 0) status = find_spread(s, coarse_of, s->r->coarse);
    if (status == OD_OK && (k == 0 || k == rows - 1)) status = find_spread(s, end_error_of, s->r->ends);
    look_between(s, t, k + 1 < rows ? t + o->step : INFINITY);
    if (status == OD_OK && k + 1 < rows) status = advance_loose(s, t, o->step);
    if (status != OD_OK) return explain(s, t, status, err);
  }
  find_loose_error(s);
  return OD_OK;
}

// Cylinders and motors that are not drives have no force.
static int *find_idle(const run *s, int *count) {
  int *idle = calloc((size_t)s->m->instances + 1, sizeof *idle);
  *count = 0;
  for (int i = 0; idle && i < s->m->instances; i++) {
    bool driven = !od_drive_can_be(s->m, i);
    for (int d = 0; d < s->o->drives; d++)
      driven = driven || (s->o->drive[d].kind == OD_DRIVE_ELEMENT && s->o->drive[d].index == i);
    if (!driven) idle[(*count)++] = i;
  }
  return idle;
}

od_status od_inverse_run(const od_machine *machine, const od_inverse_options *options, od_inverse_result *out,
                         od_error *err) {
  run s = {.machine = machine, .m = od_machine_model(machine), .o = options, .r = out};
  *out = (od_inverse_result){.supply_flow = -1};
  int idles = 0, *idle = find_idle(&s, &idles);
  od_status status = idle && allocate(&s) ? OD_OK : od_fail(err, OD_NO_MEMORY, "memory ran out");
  if (status == OD_OK) status = od_machine_plant(machine, NULL, 0, NULL, 0, &s.plant, err);
  if (status == OD_OK) {
    status = od_inverse_new(s.plant, options->moved, options->moves, options->loose, options->drive, options->drives,
                            idle, idles, &s.inverse);
    if (status != OD_OK) od_fail(err, status, "%s", od_status_text(status));
  }
  if (status == OD_OK) status = fill_table(&s, err);
  if (out->table && out->table->rows > 0 && !od_inverse_judge(machine, options, out) && status == OD_OK)
    status = od_fail(err, OD_NO_MEMORY, "memory ran out");
  od_inverse_free(s.inverse);
  od_plant_free(s.plant);
  void *const all[] = {s.oil, s.u, s.q, s.rate, s.second, s.effort, s.nominal, s.row, s.loose, s.look, idle};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
  return status;
}

void od_inverse_result_free(od_inverse_result *r) {
  od_table_free(r->table);
  free(r->columns);
  free(r->noise);
  free(r->ends);
  free(r->coarse);
  free(r->most);
  free(r->still);
  free(r->signal);
  od_verdict_free(&r->verdict);
  *r = (od_inverse_result){0};
}
