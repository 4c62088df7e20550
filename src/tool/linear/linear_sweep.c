#include "linear/linear_sweep.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "linear/pole_order.h"

od_status od_point_sweep_row(const od_linear_model *m, od_sweep_row *row, od_error *err) {
  const od_linear_signal *const list[] = {m->input, m->state, m->constant, m->output};
  const int count[] = {m->inputs, m->states, m->constants, m->outputs};
  bool ok = true;
  for (int k = 0; k < 4; k++)
    for (int i = 0; i < count[k] && ok; i++) {
      bool again = false;  // an output may be a state
      for (int j = 0; j < row->count; j++) again = again || !strcmp(row->item[j].name, list[k][i].name);
      if (!again) ok = od_sweep_add(row, list[k][i].name, list[k][i].unit, list[k][i].value);
    }
  return ok ? OD_OK : od_fail(err, OD_NO_MEMORY, "memory ran out");
}

// --- Poles --------------------------------------------------------------------------------------------------------------

enum { PER_POLE = 4 };

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

od_status od_pole_sweep_row(const od_linear_model *model, od_sweep_row *row, od_error *err) {
  OD_SCRATCH(scratch);
  od_poles poles;
  od_status status = od_poles_find(model, &scratch, &poles, err);
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
  return ok ? OD_OK : od_fail(err, OD_NO_MEMORY, "memory ran out");
}

// The poles of a row of the table.
static void read_poles(const od_table *t, long row, int axes, int count, od_pole *pole) {
  for (int i = 0; i < count; i++) {
    const double *at = t->data + row * t->columns + axes + OD_POLE_SWEEP_LEADING + PER_POLE * i;
    pole[i] = (od_pole){at[0], at[1]};
  }
}

static bool has_values(const od_table *t, long row, int axes) {
  return t->columns > axes + OD_POLE_SWEEP_LEADING && !isnan(t->data[row * t->columns + axes + OD_POLE_SWEEP_LEADING]);
}

// The previous row in the grid, one step back along the fastest axis that is not at its first value; -1: none with values.
// *stride: distance in rows.
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
    if (!od_poles_follow(count, line ? earlier : NULL, before, now, order)) return false;
    double *values = t->data + row * t->columns + axes + OD_POLE_SWEEP_LEADING;
    memcpy(copy, values, (size_t)(PER_POLE * count) * sizeof *copy);
    for (int i = 0; i < count; i++) memcpy(values + PER_POLE * i, copy + PER_POLE * order[i], PER_POLE * sizeof *copy);
  }
  return true;
}
