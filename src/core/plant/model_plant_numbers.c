// Derivatives with respect to numbers of the mechanism: lengths, masses, points, axes, gravity, loads. Such a number directly
// changes a few of the constants that derive_x.h computes from all numbers. The list of these constants is created once per plant.
// Complex steps through derive_x.h give the derivatives of the constants, each time numbers have changed. Tangents start from these
// derivatives (mechanics/tangent_numbers_x.h).
#include "plant/model_plant_work.h"

#include <math.h>
#include <string.h>

// ---- constants that depend on each parameter, found once per plant

// Returns the effect (OD_CHANGES_*) of a number that kernels read directly from theta: lengths of rods, gear ratios and leads
// change positions, loads change forces.
static int kinds_of_number(const od_model *m, int number) {
  for (int i = 0; i < m->closures; i++) {
    const od_closure *c = &m->closure[i];
    if (c->kind == OD_CLOSE_ROD && number == c->length) return OD_CHANGES_PLACES;
    if (c->kind == OD_CLOSE_GEAR && (number == c->length || number == c->length + 1)) return OD_CHANGES_PLACES;
  }
  for (int i = 0; i < m->links; i++)
    if (m->link[i].kind == OD_LINK_SCREW && number == m->link[i].lead) return OD_CHANGES_PLACES;
  return OD_CHANGES_LOADS;
}

static int kinds_of_constant(const od_layout *l, int constant) {
  if (constant >= l->inertia && constant < l->point) return OD_CHANGES_INERTIA;
  return constant >= l->reference && constant < l->direction ? OD_CHANGES_PLACES : OD_CHANGES_LOADS;
}

// Lists the constants that depend on a number, unless index is NULL. These constants become NAN if the number is NAN. Returns their
// count.
static int find_constants(const od_model *m, double *w, int number, int *index, int *kinds) {
  const od_layout *l = &m->layout;
  int count = 0;
  memcpy(w + l->theta, m->theta, (size_t)m->numbers * sizeof *w);
  w[l->theta + number] = NAN;
  od_mechanics(m)->prepare(m, w);
  *kinds = kinds_of_number(m, number);
  if (index) index[count] = l->theta + number;
  count++;
  for (int i = l->gravity; i < l->chart; i++) {
    if (!isnan(w[i])) continue;
    *kinds |= kinds_of_constant(l, i);
    if (index) index[count] = i;
    count++;
  }
  return count;
}

// Lists the parameters that are numbers of the mechanism. Numbers that change positions come first, so that the lanes
// of one pass have the same level where possible.
static void sort_numbers(od_plant_data *d) {
  int count = 0;
  for (int pass = 0; pass < 2; pass++)
    for (int j = 0; j < d->plant.np; j++) {
      bool moves = d->change[j].kinds & OD_CHANGES_PLACES;
      if (d->change[j].is_mechanical && moves == (pass == 0)) d->mechanical[count++] = j;
    }
  d->mechanicals = count;
}

// The first pass counts the constants that all parameters change; the second pass lists these constants. Thus the list
// precedes the temporary memory in the arena.
void od_model_plant_find_changes(od_plant_data *d, od_arena *arena) {
  const od_model *m = d->m;
  d->change = OD_TAKE(arena, od_constant_changes, d->plant.np);
  d->mechanical = OD_TAKE(arena, int, d->plant.np);
  if (od_arena_status(arena) != OD_OK) return;
  bool measured = od_model_measures_numbers(m);
  for (int pass = 0; pass < 2; pass++) {
    if (pass == 1) d->changed = OD_TAKE(arena, int, d->changes);
    od_arena_place mark = od_arena_mark(arena);
    double *w = OD_TAKE(arena, double, m->layout.scalars);
    if (od_arena_status(arena) != OD_OK) return;
    for (int j = 0; j < d->plant.np; j++) {
      od_constant_changes *c = &d->change[j];
      c->is_mechanical = !measured && d->owner[j].owner == OD_OWNER_NONE && d->block[j].block < 0;
      if (!c->is_mechanical) continue;
      c->count = find_constants(m, w, d->parameter[j], pass == 1 ? d->changed + c->first : NULL, &c->kinds);
      if (pass == 0) c->first = d->changes, d->changes += c->count;
    }
    od_arena_return(arena, mark);
  }
  sort_numbers(d);
}

// Returns the size of the memory for changes, in doubles: the values of all changes, memory for changes in lanes, and memory for
// the changes of one number. The last memory is zero between calls.
size_t od_model_plant_change_doubles(const od_plant_data *d) {
  if (d->mechanicals == 0) return 0;
  return (size_t)d->changes + (OD_LANES + 1) * (size_t)d->m->layout.chart;
}

// ---- tangents along numbers

// Writes the changes of a number to the entries of their constants, which are `stride` apart, or (clear) sets the entries to
// zero.
static void spread_changes(const od_plant_data *d, const od_work_parts *p, int j, double *to, int stride, bool clear) {
  const od_constant_changes *c = &d->change[j];
  for (int i = c->first; i < c->first + c->count; i++) to[d->changed[i] * stride] = clear ? 0 : p->change[i];
}

static int level_of(int kinds) {
  return kinds & OD_CHANGES_PLACES ? OD_LEVEL_POSITION : OD_LEVEL_ACCELERATION;
}

// Computes the derivatives of the constants, unless they are up to date.
static void find_values(const od_plant_data *d, const od_work_parts *p) {
  if (!p->head->changes_known) od_model_plant_constant_slopes(d, p);
  p->head->changes_known = 1;
}

od_number_change od_model_plant_begin_number(const od_plant_data *d, const od_work_parts *p, int j, int *level) {
  double *single = p->change + d->changes + OD_LANES * d->m->layout.chart;
  find_values(d, p);
  spread_changes(d, p, j, single, 1, false);
  *level = level_of(d->change[j].kinds);
  return (od_number_change){single, d->change[j].kinds};
}

void od_model_plant_end_number(const od_plant_data *d, const od_work_parts *p, int j) {
  spread_changes(d, p, j, p->change + d->changes + OD_LANES * d->m->layout.chart, 1, true);
}

static void number_column(const od_plant_data *d, const od_work_parts *p, int j, double *gp) {
  int level;
  od_number_change change = od_model_plant_begin_number(d, p, j, &level);
  od_directions v = clear_directions(&d->plant, p);
  od_model_plant_motion_column(d, p, &v, &change, level, v.out);
  put_column(gp, od_plant_nk(&d->plant), d->plant.np, j, v.out);
  od_model_plant_end_number(d, p, j);
}

// Computes the columns of `count` parameters, whose indices are in j, in lanes.
static void number_lanes(const od_plant_data *d, const od_work_parts *p, const int *j, int count, double *gp) {
  double *lanes = p->change + d->changes;
  od_number_change change = {lanes, 0};
  for (int i = 0; i < count; i++) {
    spread_changes(d, p, j[i], lanes + i, OD_LANES, false);
    change.kinds |= d->change[j[i]].kinds;
  }
  od_lane_directions v = od_model_plant_clear_lanes(&d->plant, p);
  od_model_plant_run_lanes(d, p, &v, &change, level_of(change.kinds));
  for (int i = 0; i < count; i++) {
    od_model_plant_lane_column(d, p, &v, i, OD_LEVEL_POSITION, gp + j[i], d->plant.np);
    spread_changes(d, p, j[i], lanes + i, OD_LANES, true);
  }
}

void od_model_plant_number_columns(const od_plant_data *d, const od_work_parts *p, double *gp) {
  find_values(d, p);
  for (int k = 0; k < d->mechanicals; k += OD_LANES) {
    int count = d->mechanicals - k < OD_LANES ? d->mechanicals - k : OD_LANES;
    // Tangents of blocks support one number at a time.
    if (OD_LANES_PAY && count > 1 && od_model_blocks(d->m) == 0)
      number_lanes(d, p, d->mechanical + k, count, gp);
    else
      for (int i = 0; i < count; i++) number_column(d, p, d->mechanical[k + i], gp);
  }
}
