#include "linear/linear_sweep.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "linear/poles.h"

od_status od_point_sweep_row(const od_linear_model *m, od_sweep_row *row, od_error *err) {
  const od_linear_signal *const list[] = {m->input, m->state, m->constant, m->output};
  const int count[] = {m->inputs, m->states, m->constants, m->outputs};
  bool ok = true;
  for (int k = 0; k < 4; k++)
    for (int i = 0; i < count[k] && ok; i++) {
      bool again = false;  // whether the row already has the name: an output may be a state
      for (int j = 0; j < row->count; j++) again = again || !strcmp(row->item[j].name, list[k][i].name);
      if (!again) ok = od_sweep_add(row, list[k][i].name, list[k][i].unit, list[k][i].value);
    }
  return ok ? OD_OK : od_fail(err, OD_NO_MEMORY, "out of memory");
}

// --- Poles --------------------------------------------------------------------------------------------------------------

enum { PER_POLE = 4 };

od_status od_pole_sweep_row(const od_linear_model *model, od_sweep_row *row, od_error *err) {
  OD_SCRATCH(scratch);
  od_poles poles;
  od_status status = od_poles_find(model, &scratch, &poles, err);
  if (status != OD_OK) return status;
  double frequency = NAN, damping = NAN;
  for (int i = 0; i < poles.count; i++) {
    double here = od_pole_damping(poles.pole[i]);
    if (!(poles.pole[i].imaginary > 0) || here >= damping) continue;
    damping = here, frequency = od_pole_frequency(poles.pole[i]);
  }
  bool ok = od_sweep_add(row, "least_damped.frequency", "Hz", frequency) &&
            od_sweep_add(row, "least_damped.damping", "1", damping);
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
  return ok ? OD_OK : od_fail(err, OD_NO_MEMORY, "out of memory");
}

// --- Order of poles -----------------------------------------------------------------------------------------------------

// Returns the distance between two poles, relative to the larger magnitude. Adds 2 if the poles are on different sides of the real axis,
// because the poles of a pair must not be exchanged.
static double distance(od_pole a, od_pole b) {
  double size = fmax(hypot(a.real, a.imaginary), hypot(b.real, b.imaginary));
  double apart = hypot(a.real - b.real, a.imaginary - b.imaginary);
  return (size > 0 ? apart / size : 0) + (a.imaginary * b.imaginary < 0 ? 2 : 0);
}

// Extrapolates a pole linearly from two points. The step is limited to half of the pole's magnitude, because long
// extrapolations are inaccurate.
static od_pole expect(od_pole earlier, od_pole before) {
  double real = before.real - earlier.real, imaginary = before.imaginary - earlier.imaginary;
  double length = hypot(real, imaginary), most = hypot(before.real, before.imaginary) / 2;
  double part = length > most ? most / length : 1;
  return (od_pole){before.real + part * real, before.imaginary + part * imaginary};
}

// The assignment problem by shortest augmenting paths (the Hungarian method). Rows and columns are counted from 1; column 0
// stands for the row to be assigned.
typedef struct assignment {
  int n;
  double *cost, *row_price, *column_price, *least;
  int *row_of, *previous;
  bool *used;
} assignment;

static void assign_row(assignment *a, int row) {
  int column = 0;
  a->row_of[0] = row;
  for (int j = 0; j <= a->n; j++) a->least[j] = INFINITY, a->used[j] = false;
  do {
    int from = a->row_of[column], next = 0;
    double delta = INFINITY;
    a->used[column] = true;
    for (int j = 1; j <= a->n; j++) {
      if (a->used[j]) continue;
      double reduced = a->cost[(from - 1) * a->n + j - 1] - a->row_price[from] - a->column_price[j];
      if (reduced < a->least[j]) a->least[j] = reduced, a->previous[j] = column;
      if (a->least[j] < delta) delta = a->least[j], next = j;
    }
    for (int j = 0; j <= a->n; j++)
      if (a->used[j])
        a->row_price[a->row_of[j]] += delta, a->column_price[j] -= delta;
      else
        a->least[j] -= delta;
    column = next;
  } while (a->row_of[column] != 0);
  while (column != 0) {
    int before = a->previous[column];
    a->row_of[column] = a->row_of[before];
    column = before;
  }
}

// Keeps the order of poles while a number changes: order[i] is the index in `now` of the continuation of pole i of
// `before`. If `earlier` (poles of the point before `before`; NULL: none) is given, poles are extrapolated linearly, so
// that poles may cross. The assignment with the smallest sum of relative distances is used. Returns false if out of
// memory.
static bool follow_poles(int count, const od_pole *earlier, const od_pole *before, const od_pole *now, int *order) {
  OD_SCRATCH(scratch);
  int line = count + 1;
  assignment a = {.n = count,
                  .cost = OD_TAKE_MATRIX(&scratch, double, count, count),
                  .row_price = OD_TAKE(&scratch, double, line),
                  .column_price = OD_TAKE(&scratch, double, line),
                  .least = OD_TAKE(&scratch, double, line),
                  .row_of = OD_TAKE(&scratch, int, line),
                  .previous = OD_TAKE(&scratch, int, line),
                  .used = OD_TAKE(&scratch, bool, line)};
  if (od_arena_status(&scratch) != OD_OK) return false;
  for (int i = 0; i < count; i++) {
    od_pole expected = earlier ? expect(earlier[i], before[i]) : before[i];
    for (int j = 0; j < count; j++) {
      double d = distance(expected, now[j]);
      a.cost[i * count + j] = isfinite(d) ? d : 2;
    }
  }
  for (int row = 1; row <= count; row++) assign_row(&a, row);
  for (int j = 1; j <= count; j++) order[a.row_of[j] - 1] = j - 1;
  return true;
}

// Reads the poles of a row of the table.
static void read_poles(const od_table *t, long row, int axes, int count, od_pole *pole) {
  for (int i = 0; i < count; i++) {
    const double *at = t->data + row * t->columns + axes + OD_POLE_SWEEP_LEADING + PER_POLE * i;
    pole[i] = (od_pole){at[0], at[1]};
  }
}

static bool has_values(const od_table *t, long row, int axes) {
  return t->columns > axes + OD_POLE_SWEEP_LEADING && !isnan(t->data[row * t->columns + axes + OD_POLE_SWEEP_LEADING]);
}

// Returns the row before a row of the grid: one step back along the fastest axis that is not at its first value.
// Returns -1 if that row has no values, or if all axes are at their first values. *stride: distance to that row, in
// rows.
static long row_before(const od_table *t, long row, const int *counts, int axes, long *stride) {
  *stride = 1;
  for (int i = axes - 1; i >= 0; i--) {
    if (row / *stride % counts[i] > 0) return has_values(t, row - *stride, axes) ? row - *stride : -1;
    *stride *= counts[i];
  }
  return -1;
}

bool od_pole_sweep_order(od_table *t, const int *counts, int axes) {
  OD_SCRATCH(scratch);
  int count = (t->columns - axes - OD_POLE_SWEEP_LEADING) / PER_POLE;
  od_pole *earlier = OD_TAKE(&scratch, od_pole, count), *before = OD_TAKE(&scratch, od_pole, count);
  od_pole *now = OD_TAKE(&scratch, od_pole, count);
  int *order = OD_TAKE(&scratch, int, count);
  double *copy = OD_TAKE(&scratch, double, PER_POLE *count);
  if (od_arena_status(&scratch) != OD_OK) return false;
  for (long row = 0; row < t->rows; row++) {
    long stride, previous = has_values(t, row, axes) ? row_before(t, row, counts, axes, &stride) : -1;
    if (previous < 0) continue;
    long further = row_before(t, previous, counts, axes, &(long){0});
    bool line = further >= 0 && previous - further == stride;
    read_poles(t, previous, axes, count, before);
    read_poles(t, row, axes, count, now);
    if (line) read_poles(t, further, axes, count, earlier);
    if (!follow_poles(count, line ? earlier : NULL, before, now, order)) return false;
    double *values = t->data + row * t->columns + axes + OD_POLE_SWEEP_LEADING;
    memcpy(copy, values, (size_t)(PER_POLE * count) * sizeof *copy);
    for (int i = 0; i < count; i++) memcpy(values + PER_POLE * i, copy + PER_POLE * order[i], PER_POLE * sizeof *copy);
  }
  return true;
}
