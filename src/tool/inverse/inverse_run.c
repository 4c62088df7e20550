#include "inverse/inverse_run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/display.h"
#include "io/number.h"
#include "machine/machine.h"
#include "memory/owned.h"

enum {
  ROWS_PER_PROGRESS = 256,
  NOISE_ROWS = 64,  // noise is evaluated in at most this number of rows
};

// ---- the table

// Chamber pressures of the last two rows (Pa) and chamber volumes of the last row (m3). These values determine the flow that
// compresses the oil.
typedef struct chamber_history {
  double pressure[2][2], volume[2];
} chamber_history;

typedef struct run {
  const od_machine *machine;
  const od_model *m;
  const od_inverse_options *o;
  od_inverse_result *r;
  od_inverse *inverse;
  double *u, *q, *rate, *second, *effort, *row;
  double *nominal;  // efforts without noise, and sums of squared contributions of noise
  double *peak;     // times of peaks of motions and inputs, increasing
  int peaks, peaks_done;
  double *loose;      // freely moving coordinates, then their rates; work memory; error of each coordinate
  od_oil_need *need;  // pressures and flows of each drive in the last row
  chamber_history *history;
} run;

// Labels the next column if the table exists. Returns the index of the column.
static int add_column(run *s, int *end, const char *element, const char *quantity, const char *unit) {
  char name[400];
  snprintf(name, sizeof name, "%.300s%s%s", element, *quantity ? "." : "", quantity);
  // If a label cannot be stored, the run fails in lay_columns().
  if (s->r->table && od_table_label(s->r->table, *end, name, unit) != OD_OK) s->r->arena.exhausted = true;
  return (*end)++;
}

// Returns the column of an actuator's length. If the length is a prescribed quantity, this column already exists.
static int length_column(run *s, int *end, int d) {
  int actuator = s->m->instance[s->o->drive[d].index].actuator;
  for (int i = 0; i < s->o->moves; i++) {
    const od_output *o = &s->m->output[s->o->moved[i]];
    if (o->kind == OD_OUT_LENGTH && o->index == actuator) return 1 + i;
  }
  return add_column(s, end, od_inverse_drive_name(s->machine, &s->o->drive[d]), "length", "m");
}

// Adds the columns for pressures and flows of an actuator.
static void add_oil_columns(run *s, int *end, int d) {
  static const char *const of_two[] = {"pressure_a", "pressure_b", "flow_a", "flow_b"};
  od_drive_columns *c = &s->r->columns[d];
  const char *name = od_inverse_drive_name(s->machine, &s->o->drive[d]);
  int chambers = od_drive_chambers(s->m, &s->o->drive[d]), ends = chambers ? chambers : 1;
  if (chambers) c->length = length_column(s, end, d);
  for (int i = 0; i < ends; i++)
    c->pressure[i] = add_column(s, end, name,
                                ends == 2  ? of_two[i]
                                : chambers ? "pressure"
                                           : "pressure_difference",
                                "Pa");
  for (int i = 0; i < ends; i++) c->flow[i] = add_column(s, end, name, ends == 2 ? of_two[2 + i] : "flow", "m3/s");
}

// Defines all columns and returns their number. Called twice: to count the columns, and to label them.
static int lay_columns(run *s) {
  const od_inverse_options *o = s->o;
  int end = 0;
  bool any_oil = false;
  add_column(s, &end, "time", "", "s");
  for (int i = 0; i < o->moves; i++)
    add_column(s, &end, od_model_text(s->m, s->m->output[o->moved[i]].name), "",
               od_model_text(s->m, s->m->output[o->moved[i]].unit));
  for (int d = 0; d < o->drives; d++) {
    od_drive_columns *c = &s->r->columns[d];
    const od_drive *drive = &o->drive[d];
    const od_load *load = drive->kind == OD_DRIVE_LOAD ? &s->m->load[drive->index] : NULL;
    const char *name = od_inverse_drive_name(s->machine, drive);
    bool turning = od_drive_turns(s->m, drive);
    *c = (od_drive_columns){.speed = -1, .input = -1, .length = -1, .pressure = {-1, -1}, .flow = {-1, -1}};
    c->effort = add_column(s, &end, name, turning ? "torque_needed" : "force_needed", turning ? "N m" : "N");
    // A force at a point or a torque on a body has no speed along one coordinate.
    if (!load || load->kind == OD_LOAD_JOINT) c->speed = add_column(s, &end, name, "speed", turning ? "rad/s" : "m/s");
    c->power = add_column(s, &end, name, "power_needed", "W");
    if (load && load->input >= 0 && load->input < s->m->inputs)
      c->input = add_column(s, &end, od_model_text(s->m, s->m->input[load->input].name), "",
                            od_model_text(s->m, s->m->input[load->input].unit));
    if (drive->kind != OD_DRIVE_ELEMENT) continue;
    add_oil_columns(s, &end, d);
    any_oil = true;
  }
  s->r->supply_flow = any_oil ? add_column(s, &end, "supply", "flow_needed", "m3/s") : -1;
  s->r->power = add_column(s, &end, "drives", "power_needed", "W");
  for (int i = 0; i < o->output_count; i++)
    add_column(s, &end, od_model_text(s->m, s->m->output[o->outputs[i]].name), "",
               od_model_text(s->m, s->m->output[o->outputs[i]].unit));
  return end;
}

// Allocates the memory of the run and the arrays of the result. Returns false if out of memory.
static bool allocate(run *s, od_arena *scratch) {
  int n = s->o->moves, drives = s->o->drives, inputs = s->m->inputs;
  od_inverse_result *r = s->r;
  od_arena *arena = &r->arena;
  r->columns = OD_TAKE(arena, od_drive_columns, drives);
  r->noise = OD_TAKE(arena, double, drives);
  r->ends = OD_TAKE(arena, double, drives);
  r->coarse = OD_TAKE(arena, double, drives);
  r->compression = OD_TAKE(arena, double, drives);
  r->signals = od_below_zero_list(s->m, NULL);
  r->signal = OD_TAKE(arena, od_below_zero, r->signals);
  s->u = OD_TAKE(scratch, double, inputs);
  s->q = OD_TAKE(scratch, double, n);
  s->rate = OD_TAKE(scratch, double, n);
  s->second = OD_TAKE(scratch, double, n);
  s->effort = OD_TAKE(scratch, double, drives);
  s->nominal = OD_TAKE(scratch, double, 2 * drives);
  s->loose = OD_TAKE(scratch, double, 13 * s->o->loose);
  s->peak = OD_TAKE(scratch, double, OD_TRAJECTORY_PEAKS *n + 2 * inputs);
  s->need = OD_TAKE(scratch, od_oil_need, drives);
  s->history = OD_TAKE(scratch, chamber_history, drives);
  if (!od_standstills_find(s->m, r) || od_arena_status(arena) != OD_OK || od_arena_status(scratch) != OD_OK)
    return false;
  od_below_zero_list(s->m, r->signal);
  int columns = lay_columns(s);
  s->row = OD_TAKE(scratch, double, columns);
  r->most = OD_TAKE(arena, double, columns);
  r->least = OD_TAKE(arena, double, columns);
  r->most_at = OD_TAKE(arena, double, columns);
  r->least_at = OD_TAKE(arena, double, columns);
  r->table = od_table_new(columns);
  if (!r->table || !s->row || od_arena_status(arena) != OD_OK) return false;
  lay_columns(s);
  for (int c = 0; c < columns; c++) r->most[c] = -INFINITY, r->least[c] = INFINITY;
  return od_arena_status(arena) == OD_OK;
}

// ---- rows

// Fills s->row and s->need from the last solution, which is the solution at time t.
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
    // Computes the speed of a drive along its own direction.
    od_output speed_of = {.kind = OD_OUT_COORDINATE_RATE, .index = drive->index, .second = -1};
    if (drive->kind == OD_DRIVE_LOAD) speed_of.index = s->m->load[drive->index].coordinate;
    if (drive->kind == OD_DRIVE_ELEMENT)
      speed_of.kind = OD_OUT_SPEED, speed_of.index = s->m->instance[drive->index].actuator;
    double effort = s->effort[d], speed = c->speed >= 0 ? od_inverse_output(s->inverse, &speed_of) : 0;
    row[c->effort] = effort;
    row[c->power] = c->speed >= 0 ? effort * speed : od_inverse_output(s->inverse, &power_of);
    if (c->speed >= 0) row[c->speed] = speed;
    power += row[c->power];
    if (c->input >= 0) row[c->input] = effort / s->m->theta[s->m->load[drive->index].number];
    if (drive->kind != OD_DRIVE_ELEMENT) continue;
    const od_output length = {.kind = OD_OUT_LENGTH, .index = s->m->instance[drive->index].actuator, .second = -1};
    if (c->length >= 0) row[c->length] = od_inverse_output(s->inverse, &length);
    od_oil_need need = od_drive_oil_need(s->m, s->inverse, o, drive->index, effort);
    bool by_chambers = c->length >= 0;
    for (int i = 0; i < 2 && c->pressure[i] >= 0; i++) {
      row[c->pressure[i]] = by_chambers ? need.pressure[i] : need.difference;
      row[c->flow[i]] = need.flow[i];
    }
    flow += need.supply;
    s->need[d] = need;
  }
  if (s->r->supply_flow >= 0) row[s->r->supply_flow] = flow;
  row[s->r->power] = power;
  at = s->r->power + 1;
  for (int i = 0; i < o->output_count; i++) row[at++] = od_inverse_output(s->inverse, &s->m->output[o->outputs[i]]);
  for (int i = 0; i < at; i++) row[i] += 0.0;  // minus zero becomes zero
}

// Keeps the largest flow that compresses the oil. Computes this flow in the row before `row`, from the central difference of
// pressures.
static void watch_compression(run *s, long row) {
  for (int d = 0; d < s->o->drives; d++) {
    const od_drive_columns *c = &s->r->columns[d];
    chamber_history *h = &s->history[d];
    if (c->length < 0) continue;
    for (int i = 0; i < 2 && c->pressure[i] >= 0; i++) {
      double modulus = od_drive_oil_modulus(s->m, h->pressure[1][i]), pressure = s->row[c->pressure[i]];
      double rate = (pressure - h->pressure[0][i]) / (2 * s->o->step);
      if (row >= 2 && modulus > 0)
        s->r->compression[d] = fmax(s->r->compression[d], fabs(fmax(h->volume[i], 0) / modulus * rate));
      h->pressure[0][i] = h->pressure[1][i];
      h->pressure[1][i] = pressure;
      h->volume[i] = s->need[d].volume[i];
    }
  }
}

// Reports why the inverse problem has no solution at time t. Returns the status.
static od_status explain(run *s, double t, od_status status, od_error *err) {
  const od_inverse_options *o = s->o;
  if (status == OD_SINGULAR && od_inverse_stuck(s->inverse) == OD_STUCK_DRIVES)
    return od_fail(
        err, status,
        "at t = %.6g s the drives cannot hold the machine in its motion: a drive or a combination of drives has no "
        "lever arm (a dead center). Change the motion or choose other drives",
        t);
  if (status == OD_SINGULAR)
    return od_fail(
        err, status,
        "at t = %.6g s the prescribed quantities do not determine the motion of the machine: a dead center, a quantity at the end of its range, or dependent quantities. Change the motion, or prescribe other quantities",
        t);
  if (status != OD_NOT_CONVERGED) return od_fail(err, status, "at t = %.6g s: %s", t, od_status_text(status));
  // Finds the quantity with the largest error at the position where the solver stopped.
  int worst = 0;
  double most = -1;
  for (int i = 0; i < o->moves; i++) {
    double off = fabs(s->q[i] - od_inverse_output(s->inverse, &s->m->output[o->moved[i]]));
    if (off > most) most = off, worst = i;
  }
  const od_output *w = &s->m->output[o->moved[worst]];
  return od_fail(
      err, status,
      "at t = %.6g s the motion cannot be reached: the loops do not close with %s at %s; the closest position that "
      "was found has %s. Change the motion",
      t, od_model_text(s->m, w->name), od_display_quantity(s->q[worst], od_model_text(s->m, w->unit)).text,
      od_display_quantity(od_inverse_output(s->inverse, w), od_model_text(s->m, w->unit)).text);
}

// Computes efforts and accelerations at a time, with freely moving coordinates at x (their values, then their rates). Fails with a status of
// od_inverse_solve().
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

// Advances x, the freely moving coordinates and their rates, by one step h of the classical Runge-Kutta method. Fails with a status of
// od_inverse_solve().
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

// Integrates the freely moving coordinates from row to row in two steps. The difference from the result of a single step estimates the error. Fails
// with a status of od_inverse_solve().
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

// Computes the change of each effort due to errors of second derivatives, one error per motion: the root of the sum of
// squares over all motions. Efforts are linear in second derivatives, so one solution per motion is sufficient. Stores
// the maximum over all calls in spread[d] for each drive d.
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

// Evaluates peaks of motions and inputs between the row at t and the next row at `until`. Peaks that cannot be reached are skipped.
// Only rows that cannot be reached are errors.
static void look_between(run *s, double t, double until) {
  const od_inverse_options *o = s->o;
  double *x = s->loose + 2 * o->loose;
  for (; s->peaks_done < s->peaks && s->peak[s->peaks_done] < until; s->peaks_done++) {
    double at = s->peak[s->peaks_done];
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
  int loose = o->loose, driven = o->moves - loose;
  long rows = (long)floor((o->end - o->begin) / o->step * (1 + 1e-12)) + 1, noise_stride = 1 + rows / NOISE_ROWS;
  od_status status = od_inverse_start(s->inverse);
  if (status != OD_OK) return od_fail(err, status, "cannot start: %s", od_status_text(status));
  for (int i = 0; i < loose; i++) {
    int coordinate = s->m->output[o->moved[driven + i]].index;
    s->loose[i] = s->m->z0[coordinate];
    s->loose[loose + i] = s->m->zd0[coordinate];
  }
  // Evaluates the peaks of motions, and the maxima and minima of inputs, because inputs may act on the machine.
  for (int i = 0; i < driven; i++)
    for (int k = 0; k < OD_TRAJECTORY_PEAKS; k++) s->peak[s->peaks++] = o->motion[i].peak[k];
  for (int i = 0; i < s->m->inputs; i++, s->peaks += 2)
    od_input_peaks(s->machine, i, o->begin, o->end, s->peak + s->peaks);
  od_numbers_sort(s->peak, s->peaks);
  for (long k = 0; k < rows; k++) {
    double t = o->begin + (double)k * o->step;
    if (k % ROWS_PER_PROGRESS == 0 && o->progress && !o->progress(o->user, (double)k / (double)rows))
      return od_fail(err, OD_INTERRUPTED, "interrupted");
    status = solve_at(s, t, s->loose);
    if (status != OD_OK) return explain(s, t, status, err);
    fill_row(s, t);
    watch_compression(s, k);
    od_standstills_watch(s->m, s->inverse, t, s->r);
    for (int i = 0; i < s->r->signals; i++)
      od_below_zero_watch(&s->r->signal[i], t, od_inverse_signal(s->inverse, s->r->signal[i].instance));
    if (od_table_append(s->r->table, s->row) != OD_OK) return od_fail(err, OD_NO_MEMORY, "out of memory");
    if (k % noise_stride == 0) status = find_spread(s, noise_of, s->r->noise);
    if (status == OD_OK && k % noise_stride == 0) status = find_spread(s, coarse_of, s->r->coarse);
    if (status == OD_OK && (k == 0 || k == rows - 1)) status = find_spread(s, end_error_of, s->r->ends);
    look_between(s, t, k + 1 < rows ? t + o->step : INFINITY);
    if (status == OD_OK && k + 1 < rows) status = advance_loose(s, t, o->step);
    if (status != OD_OK) return explain(s, t, status, err);
  }
  // Computes the errors of freely moving coordinates, relative to their ranges.
  for (int i = 0; i < loose; i++) {
    od_summary range = od_table_summary(s->r->table, 1 + driven + i);
    double width = range.max - range.min, error = s->loose[12 * loose + i];
    if (error > 0) s->r->loose_error = fmax(s->r->loose_error, error / fmax(width, error));
  }
  return OD_OK;
}

// Allocates the memory of the run and computes all rows of the table. Fails with OD_INTERRUPTED or OD_NO_MEMORY, or with a status of
// od_machine_plant(), od_inverse_new() or od_inverse_solve().
static od_status compute(run *s, od_error *err) {
  OD_SCRATCH(scratch);
  OD_OWNED(od_plant_free) od_plant *plant = NULL;
  const od_inverse_options *o = s->o;
  int idles = 0, *idle = OD_TAKE(&scratch, int, s->m->instances);
  if (!idle || !allocate(s, &scratch)) return od_fail(err, OD_NO_MEMORY, "out of memory");
  // Actuators that are not drives exert no force.
  for (int i = 0; i < s->m->instances; i++)
    if (od_drive_can_be(s->m, i) && !od_drive_is_chosen(o, OD_DRIVE_ELEMENT, i)) idle[idles++] = i;
  od_status status = od_machine_plant(s->machine, NULL, 0, NULL, 0, &plant, err);
  if (status != OD_OK) return status;
  status = od_inverse_new(plant, o->moved, o->moves, o->loose, o->drive, o->drives, idle, idles, &s->inverse);
  if (status != OD_OK) return od_fail(err, status, "%s", od_status_text(status));
  status = fill_table(s, err);
  od_inverse_free(s->inverse);
  return status;
}

od_status od_inverse_run(const od_machine *machine, const od_inverse_options *options, od_inverse_result *out,
                         od_error *err) {
  run s = {.machine = machine, .m = od_machine_model(machine), .o = options, .r = out};
  *out = (od_inverse_result){.supply_flow = -1};
  od_status status = compute(&s, err);
  if (!out->table || out->table->rows == 0) return status;
  od_inverse_judge(machine, options, out);
  return status == OD_OK && !od_verdict_is_complete(&out->verdict) ? od_fail(err, OD_NO_MEMORY, "out of memory")
                                                                   : status;
}

void od_inverse_result_free(od_inverse_result *r) {
  od_table_free(r->table);
  od_verdict_free(&r->verdict);
  od_arena_free(&r->arena);
  *r = (od_inverse_result){0};
}
