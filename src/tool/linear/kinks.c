#include "linear/kinks.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "integrate/sim_block.h"
#include "machine/machine.h"
#include "memory/scoped.h"
#include "plant/model_plant.h"

static const double largest_distance = 1e-7;  // largest distance from the point, in typical sizes

// A larger difference of slopes is a kink. The difference is relative to the largest slope in the row, in typical sizes.
static const double kink_threshold = 1e-3;

od_slopes od_slopes_new(od_arena *arena, const od_plant *plant) {
  long nx = od_plant_nx(plant), nu = plant->nu, ny = plant->ny;
  return (od_slopes){.nx = (int)nx,
                     .nu = (int)nu,
                     .ny = (int)ny,
                     .f = OD_TAKE(arena, double, nx),
                     .fx = OD_TAKE(arena, double, nx *nx),
                     .fu = OD_TAKE(arena, double, nx *nu),
                     .y = OD_TAKE(arena, double, ny),
                     .hx = OD_TAKE(arena, double, ny *nx),
                     .hu = OD_TAKE(arena, double, ny *nu)};
}

bool od_slopes_is_constant(const od_slopes *s, int state) {
  for (int i = 0; i < s->nx; i++)
    if (s->fx[state * s->nx + i] != 0) return false;
  for (int i = 0; i < s->nu; i++)
    if (s->fu[state * s->nu + i] != 0) return false;
  return s->f[state] == 0;
}

od_status od_slopes_find(od_slopes *s, od_sim *sim) {
  od_status status = od_sim_derivatives(sim, s->f, s->fx, s->fu, NULL);
  if (status == OD_OK) status = od_sim_outputs(sim, s->y);
  if (status == OD_OK) status = od_sim_output_jacobians(sim, s->hx, s->hu, NULL);
  return status;
}

// --- Parts: elements and blocks, each with its own derivatives ------------------------------------------------------

// Returns the number of derivatives of a part: outs x ins for an element; outputs and rates x states and inputs for a block. The
// derivatives of all parts are contiguous.
static int part_size(const od_model *m, int i) {
  if (i < m->instances) {
    const od_element_class *c = od_instance_class(m, &m->instance[i]);
    return c->ins * c->outs;
  }
  const od_block *b = &m->block[i - m->instances];
  return (b->outputs + b->states) * (b->states + b->inputs);
}

static int parts_of(const od_model *m) {
  return m->instances + m->blocks;
}

// Copies the derivatives of all parts from w, the work memory of the plant. These derivatives belong to the last evaluated point.
static void copy_parts(const od_model *m, const double *w, double *to) {
  for (int i = 0; i < parts_of(m); to += part_size(m, i++)) {
    int from = i < m->instances ? m->instance[i].slope : m->layout.block_slope + m->block[i - m->instances].slope;
    if (part_size(m, i)) memcpy(to, w + from, (size_t)part_size(m, i) * sizeof *to);
  }
}

void od_part_text(const od_machine *machine, int which, char *text, size_t size) {
  const od_model *m = od_machine_model(machine);
  text[0] = '\0';
  if (which < 0) return;
  if (which >= parts_of(m)) {
    snprintf(text, size, "the output '%.80s'", od_machine_output_name(machine, which - parts_of(m)));
    return;
  }
  if (which >= m->instances) {
    snprintf(text, size, "the block '%.80s'", od_model_text(m, m->block[which - m->instances].name));
    return;
  }
  const od_instance *e = &m->instance[which];
  const od_element_description *c = od_instance_description(m, e);
  const char *host = e->host >= 0    ? od_model_text(m, m->instance[e->host].name)
                     : e->joint >= 0 ? od_model_text(m, m->joint[e->joint].name)
                                     : "";
  if (!*od_model_text(m, e->name) || (c->inside && host[0]))
    snprintf(text, size, "the %.40s of '%.80s'", c->inside ? c->inside : c->noun, host);
  else
    snprintf(text, size, "the %.40s '%.80s'", c->noun, od_model_text(m, e->name));
}

// --- The search ----------------------------------------------------------------------------------------------------

// A search. The search moves the simulation to both sides of the point and back to the point.
typedef struct search {
  const od_operating_point *p;
  const od_model *model;
  od_sim *sim;
  void *saved;  // copy of the simulation at the point
  size_t size;
  int nx, nu;
  double time;
  double *x;                                   // states and inputs at the point
  double *typical;                             // typical sizes of states and inputs
  double *direction;                           // nx + nu: direction from the point, in typical sizes
  double *moved;                               // states and inputs near the point
  int parts;                                   // number of derivatives of all parts
  double *part_above, *part_below, *part_far;  // derivatives on both sides; difference at the larger distance
  double *far;  // per rate and output: difference of the slopes in this row at the larger distance; zero: no difference
  od_slopes above, below;
} search;

// Prepares a search. Its memory belongs to the arena. Fails with OD_NO_MEMORY.
static od_status begin(search *s, const od_operating_point *p, od_arena *arena) {
  const od_plant *plant = p->plant;
  int nx = od_plant_nx(plant), nu = plant->nu, all = nx + nu, parts = 0;
  const od_model *m = od_machine_model(p->machine);
  for (int i = 0; i < parts_of(m); i++) parts += part_size(m, i);
  *s = (search){.p = p,
                .model = m,
                .sim = p->sim,
                .size = od_sim_size(plant),
                .nx = nx,
                .nu = nu,
                .time = od_sim_time(p->sim),
                .parts = parts,
                .saved = od_arena_take(arena, od_sim_size(plant)),
                .x = OD_TAKE(arena, double, all),
                .typical = OD_TAKE(arena, double, all),
                .direction = OD_TAKE(arena, double, all),
                .moved = OD_TAKE(arena, double, all),
                .part_above = OD_TAKE(arena, double, parts),
                .part_below = OD_TAKE(arena, double, parts),
                .part_far = OD_TAKE(arena, double, parts),
                .far = OD_TAKE(arena, double, nx + plant->ny),
                .above = od_slopes_new(arena, plant),
                .below = od_slopes_new(arena, plant)};
  if (od_arena_status(arena) != OD_OK) return OD_NO_MEMORY;
  memcpy(s->saved, p->sim, s->size);
  memcpy(s->x, od_sim_state(p->sim), (size_t)nx * sizeof *s->x);
  if (nu) memcpy(s->x + nx, od_sim_inputs(p->sim), (size_t)nu * sizeof *s->x);
  for (int i = 0; i < all; i++) s->typical[i] = fmax(i < nx ? od_typical_state(plant, i) : 1, fabs(s->x[i]));
  return OD_OK;
}

static void choose_axis(search *s, int axis) {
  for (int i = 0; i < s->nx + s->nu; i++) s->direction[i] = i == axis;
}

// Evaluates all derivatives, including the derivatives of the parts, at a distance along the direction. Then restores
// the point. Returns false if the evaluation failed.
static bool evaluate(search *s, double distance, od_slopes *slopes, double *parts) {
  for (int i = 0; i < s->nx + s->nu; i++) s->moved[i] = s->x[i] + distance * s->typical[i] * s->direction[i];
  od_status status = od_sim_set(s->sim, s->time, s->moved, s->moved + s->nx);
  if (status == OD_OK) status = od_slopes_find(slopes, s->sim);
  if (status == OD_OK) copy_parts(s->model, od_model_plant_scalars(s->p->plant, od_sim_work(s->sim)), parts);
  memcpy(s->sim, s->saved, s->size);
  return status == OD_OK;
}

// The largest difference between the slopes of a row on the two sides, and the largest slope of the row; both in typical sizes.
typedef struct difference {
  double most, largest;
} difference;

// Compares the slopes of a row on the two sides. only: index of the state or input whose slopes are compared; -1: all slopes.
static difference row_difference(const search *s, int row, int only) {
  const od_slopes *a = &s->above, *b = &s->below;
  bool rate = row < s->nx;
  int at = rate ? row : row - s->nx;
  const double *ax = (rate ? a->fx : a->hx) + at * s->nx, *au = (rate ? a->fu : a->hu) + at * s->nu;
  const double *bx = (rate ? b->fx : b->hx) + at * s->nx, *bu = (rate ? b->fu : b->hu) + at * s->nu;
  difference d = {0, 0};
  for (int j = 0; j < s->nx + s->nu; j++) {
    double above = j < s->nx ? ax[j] : au[j - s->nx], below = j < s->nx ? bx[j] : bu[j - s->nx];
    double by = (above - below) * s->typical[j];
    d.largest = fmax(d.largest, fmax(fabs(above), fabs(below)) * s->typical[j]);
    if ((only < 0 || only == j) && fabs(by) > fabs(d.most)) d.most = by;
  }
  return d;
}

// Compares the derivatives of parts on the two sides. A difference that decreases nearer to the point is not a kink.
static void compare_parts(search *s, bool is_first) {
  for (int i = 0; i < s->parts; i++) {
    double d = s->part_above[i] - s->part_below[i], size = fmax(fabs(s->part_above[i]), fabs(s->part_below[i]));
    bool kink = is_first ? fabs(d) > kink_threshold * size
                         : s->part_far[i] != 0 && fabs(d - s->part_far[i]) < kink_threshold * fabs(s->part_far[i]);
    s->part_far[i] = kink ? d : 0;
  }
}

// Returns the cause of the kink, as an index for od_part_text(); -1: not known. The cause is a part with a kink, or else an output,
// such as the magnitude of a force that is zero.
static int kinked_part(const search *s) {
  int output = -1;
  for (int i = s->nx; i < s->nx + s->above.ny && output < 0; i++)
    if (s->far[i] != 0) output = s->p->output[i - s->nx];
  for (int i = 0, at = 0; i < parts_of(s->model); i++)
    for (int k = part_size(s->model, i); k > 0; k--)
      if (s->part_far[at++] != 0) return i;
  return output < 0 ? -1 : parts_of(s->model) + output;
}

// Returns the part whose derivatives change most along the direction, by more than half of the larger value; -1: none. Without such
// a part, the slopes change because the whole mechanism moves. Such a change does not limit the model to small changes of rates.
static int changed_part(const search *s, const double *here, const double *there) {
  double most = 0.5;
  int found = -1;
  for (int i = 0, at = 0; i < parts_of(s->model); i++)
    for (int k = part_size(s->model, i); k > 0; k--, at++) {
      double size = fmax(fabs(here[at]), fabs(there[at])), change = fabs(here[at] - there[at]);
      if (size > 0 && change > most * size) most = change / size, found = i;
    }
  return found;
}

// Returns whether there is a kink on the line: the slopes on the two sides differ, and nearer to the point by about the same
// amount. For a smooth curve, such as a parabola at its vertex, the difference decreases. A difference caused by round-off varies
// with the distance. Also returns false if the plant cannot be evaluated at a point of the line.
static bool crosses_kink(search *s, int only) {
  const double nearer[] = {1, 1.0 / 3, 1.0 / 8};
  int rows = s->nx + s->above.ny, kinks = rows;
  for (int k = 0; k < 3 && kinks > 0; k++) {
    if (!evaluate(s, nearer[k] * largest_distance, &s->above, s->part_above) ||
        !evaluate(s, -nearer[k] * largest_distance, &s->below, s->part_below))
      return false;
    compare_parts(s, k == 0);
    kinks = 0;
    for (int i = 0; i < rows; i++) {
      difference d = row_difference(s, i, only);
      bool kink = k == 0 ? fabs(d.most) > kink_threshold * d.largest
                         : s->far[i] != 0 && fabs(d.most - s->far[i]) < kink_threshold * fabs(s->far[i]);
      s->far[i] = kink ? d.most : 0;
      kinks += kink;
    }
  }
  return kinks > 0;
}

// Returns whether slopes near the point differ from the slopes at the point. In some row, the difference must exceed half of the
// row's largest slope. At kinks the slopes at the point are means, which occur on neither side. The size of the changed rate is
// OD_NARROW_SPEED.
static bool has_other_slopes(const search *s, const od_slopes *here, const od_slopes *there, const bool *kinked,
                             int rate) {
  for (int i = 0; i < s->nx; i++) {
    double most = 0, largest = 0;
    for (int j = 0; j < s->nx; j++) {
      double size = j == rate ? OD_NARROW_SPEED : s->typical[j];
      double a = here->fx[i * s->nx + j] * size, b = there->fx[i * s->nx + j] * size;
      if (!kinked[j]) most = fmax(most, fabs(a - b));
      largest = fmax(largest, fmax(fabs(a), fabs(b)));
    }
    if (most > 0.5 * largest) return true;
  }
  return false;
}

od_status od_kinks_find_narrow(const od_operating_point *p, const od_slopes *slopes, const bool *kinked, bool *narrow,
                               int *cause) {
  OD_SCRATCH(scratch);
  search s;
  if (begin(&s, p, &scratch) != OD_OK) return OD_NO_MEMORY;
  int nz = p->plant->nz;
  choose_axis(&s, -1);
  if (!evaluate(&s, 0, &s.below, s.part_below)) return OD_OK;
  for (int j = nz; j < 2 * nz; j++) {
    choose_axis(&s, j);
    double distance = OD_NARROW_SPEED / s.typical[j];
    for (int side = -1; side <= 1 && !narrow[j]; side += 2) {
      if (!evaluate(&s, side * distance, &s.above, s.part_above)) continue;
      int changed = changed_part(&s, s.part_below, s.part_above);
      narrow[j] = changed >= 0 && has_other_slopes(&s, slopes, &s.above, kinked, j);
      if (narrow[j]) cause[j] = changed;
    }
  }
  return OD_OK;
}

// Writes the mean of a column of two matrices to the same column of a third matrix.
static void take_mean(double *to, const double *a, const double *b, int rows, int columns, int column) {
  for (int i = 0; i < rows; i++) to[i * columns + column] = (a[i * columns + column] + b[i * columns + column]) / 2;
}

// Tests one line in a general direction first. This line crosses every kink at the point. If there is no difference on this line,
// the point has no kink, and no other line is tested. A line on which an evaluation fails counts as a line without a kink.
od_status od_kinks_find(const od_operating_point *p, od_slopes *slopes, bool *kinked, int *cause) {
  OD_SCRATCH(scratch);
  search s;
  if (begin(&s, p, &scratch) != OD_OK) return OD_NO_MEMORY;
  const od_slopes *a = &s.above, *b = &s.below;
  int nx = s.nx, nu = s.nu;
  for (int i = 0; i < nx + nu; i++) s.direction[i] = 0.4 + 0.6 * fmod(0.618034 * (i + 1), 1);
  if (!crosses_kink(&s, -1)) return OD_OK;
  for (int j = 0; j < nx + nu; j++) {
    choose_axis(&s, j);
    if (!crosses_kink(&s, j)) continue;
    kinked[j] = true;
    cause[j] = kinked_part(&s);
    if (j < nx) {
      take_mean(slopes->fx, a->fx, b->fx, nx, nx, j);
      take_mean(slopes->hx, a->hx, b->hx, a->ny, nx, j);
    } else {
      take_mean(slopes->fu, a->fu, b->fu, nx, nu, j - nx);
      take_mean(slopes->hu, a->hu, b->hu, a->ny, nu, j - nx);
    }
  }
  return OD_OK;
}
