#include "linear/kinks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double aside = 1e-7;  // the larger of two distances beside the point, in typical sizes
static const double differ =
    1e-3;  // slopes that differ by more than this part of the largest in their row, in typical sizes

static double *room(int rows, int columns) {
  return calloc((size_t)rows * (size_t)columns + 1, sizeof(double));
}

bool od_slopes_begin(od_slopes *s, const od_plant *plant) {
  int nx = od_plant_nx(plant), nu = plant->nu, ny = plant->ny;
  *s = (od_slopes){.nx = nx,
                   .nu = nu,
                   .ny = ny,
                   .f = room(nx, 1),
                   .fx = room(nx, nx),
                   .fu = room(nx, nu),
                   .y = room(ny, 1),
                   .hx = room(ny, nx),
                   .hu = room(ny, nu)};
  return s->f && s->fx && s->fu && s->y && s->hx && s->hu;
}

void od_slopes_end(od_slopes *s) {
  double *memory[] = {s->f, s->fx, s->fu, s->y, s->hx, s->hu};
  for (size_t i = 0; i < sizeof memory / sizeof *memory; i++) free(memory[i]);
}

od_status od_slopes_find(od_slopes *s, od_sim *sim) {
  od_status status = od_sim_derivatives(sim, s->f, s->fx, s->fu, NULL);
  if (status == OD_OK) status = od_sim_outputs(sim, s->y);
  if (status == OD_OK) status = od_sim_output_jacobians(sim, s->hx, s->hu, NULL);
  return status;
}

// The search: the simulation is moved beside the point and back again.
typedef struct search {
  od_sim *sim;
  void *saved;  // the simulation at the point
  size_t size;
  int nx, nu;
  double time;
  double *x, *u;    // at the point
  double *typical;  // sizes of states and inputs
  double *way;      // nx + nu: where to go from the point, in typical sizes
  double *x_aside, *u_aside;
  double *far;  // of each rate and output: how much its slopes differ at the larger distance; zero: not
  od_slopes above, below;
} search;

static bool begin(search *s, const od_operating_point *p) {
  const od_plant *plant = p->plant;
  int nx = od_plant_nx(plant), nu = plant->nu, all = nx + nu;
  *s = (search){.sim = p->sim,
                .size = od_sim_size(plant),
                .nx = nx,
                .nu = nu,
                .time = od_sim_time(p->sim),
                .x = room(all, 1),
                .typical = room(all, 1),
                .way = room(all, 1),
                .x_aside = room(all, 1),
                .far = room(nx + plant->ny, 1)};
  s->saved = malloc(s->size);
  bool memory = od_slopes_begin(&s->above, plant);
  memory = od_slopes_begin(&s->below, plant) && memory;
  if (!memory || !s->x || !s->typical || !s->way || !s->x_aside || !s->far || !s->saved) return false;
  s->u = s->x + nx;
  s->u_aside = s->x_aside + nx;
  memcpy(s->saved, p->sim, s->size);
  memcpy(s->x, od_sim_state(p->sim), (size_t)nx * sizeof *s->x);
  if (nu) memcpy(s->u, od_sim_inputs(p->sim), (size_t)nu * sizeof *s->u);
  for (int i = 0; i < all; i++) {
    s->typical[i] = fmax(i < nx ? od_typical_state(plant, i) : 1, fabs(s->x[i]));
  }
  return true;
}

static void end(search *s) {
  void *memory[] = {s->saved, s->x, s->typical, s->way, s->x_aside, s->far};
  for (size_t i = 0; i < sizeof memory / sizeof *memory; i++) free(memory[i]);
  od_slopes_end(&s->above);
  od_slopes_end(&s->below);
}

static bool look(search *s, double distance, od_slopes *slopes) {
  for (int i = 0; i < s->nx + s->nu; i++) s->x_aside[i] = s->x[i] + distance * s->typical[i] * s->way[i];
  od_status status = od_sim_set(s->sim, s->time, s->x_aside, s->u_aside);
  if (status == OD_OK) status = od_slopes_find(slopes, s->sim);
  memcpy(s->sim, s->saved, s->size);
  return status == OD_OK;
}

// The slope of a row that differs most on the two sides: by how much, and the largest slope of the row, in typical sizes.
typedef struct difference {
  double most, largest;
} difference;

// only: by this state or input; -1: by any.
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

// Whether there is a kink on the way: the slopes differ by as much nearer to the point. Of a curve without one, such as a parabola at
// its vertex, they come closer to each other, and round-off differs from place to place.
static bool crosses_kink(search *s, int only) {
  const double nearer[] = {1, 1.0 / 3, 1.0 / 8};
  int rows = s->nx + s->above.ny, left = rows;
  for (int k = 0; k < 3 && left > 0; k++) {
    if (!look(s, nearer[k] * aside, &s->above) || !look(s, -nearer[k] * aside, &s->below)) return false;
    left = 0;
    for (int i = 0; i < rows; i++) {
      difference d = row_difference(s, i, only);
      bool kink = k == 0 ? fabs(d.most) > differ * d.largest
                         : s->far[i] != 0 && fabs(d.most - s->far[i]) < differ * fabs(s->far[i]);
      s->far[i] = kink ? d.most : 0;
      left += kink;
    }
  }
  return left > 0;
}

// Whether some row has slopes beside the point that differ from those at it by more than half of its largest one. At kinks those at
// the point are means, which are nowhere beside it. The rate that was moved counts with how far it was.
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

od_status od_kinks_find_narrow(const od_operating_point *p, const od_slopes *slopes, const bool *kinked, bool *narrow) {
  search s;
  bool memory = begin(&s, p);
  int nz = p->plant->nz;
  for (int j = nz; memory && j < 2 * nz; j++) {
    for (int i = 0; i < s.nx + s.nu; i++) s.way[i] = i == j;
    double distance = OD_NARROW_SPEED / s.typical[j];
    for (int side = -1; side <= 1 && !narrow[j]; side += 2)
      narrow[j] = look(&s, side * distance, &s.above) && has_other_slopes(&s, slopes, &s.above, kinked, j);
  }
  end(&s);
  return memory ? OD_OK : OD_NO_MEMORY;
}

static void take_mean(double *to, const double *a, const double *b, int rows, int columns, int column) {
  for (int i = 0; i < rows; i++) to[i * columns + column] = (a[i * columns + column] + b[i * columns + column]) / 2;
}

static void take_means(const search *s, int j, od_slopes *to) {
  const od_slopes *a = &s->above, *b = &s->below;
  if (j < s->nx) {
    take_mean(to->fx, a->fx, b->fx, s->nx, s->nx, j);
    take_mean(to->hx, a->hx, b->hx, a->ny, s->nx, j);
  } else {
    take_mean(to->fu, a->fu, b->fu, s->nx, s->nu, j - s->nx);
    take_mean(to->hu, a->hu, b->hu, a->ny, s->nu, j - s->nx);
  }
}

// First along one line in a general direction, which crosses every kink at the point: most points have none. Sides on which
// nothing can be evaluated tell nothing.
od_status od_kinks_find(const od_operating_point *p, od_slopes *slopes, bool *kinked) {
  search s;
  bool memory = begin(&s, p);
  int all = memory ? s.nx + s.nu : 0;
  for (int i = 0; i < all; i++) s.way[i] = 0.4 + 0.6 * fmod(0.618034 * (i + 1), 1);
  bool any = memory && crosses_kink(&s, -1);
  for (int j = 0; any && j < all; j++) {
    for (int i = 0; i < all; i++) s.way[i] = i == j;
    if (!crosses_kink(&s, j)) continue;
    kinked[j] = true;
    take_means(&s, j, slopes);
  }
  end(&s);
  return memory ? OD_OK : OD_NO_MEMORY;
}
