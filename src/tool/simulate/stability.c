#include "simulate/stability.h"

#include <complex.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

// Returns the longest stable step for an eigenvalue, s. A rule is stable up to some |z| along the direction of the eigenvalue. The
// search covers |z| from 0.5 to 4.
static double longest_step(double (*amplification)(double re, double im), double _Complex eigenvalue) {
  double size = cabs(eigenvalue), low = 0.5, high = 4;
  for (int i = 0; i < 40; i++) {
    double middle = (low + high) / 2;
    double _Complex z = middle * eigenvalue / size;
    if (amplification(creal(z), cimag(z)) > 1 + 1e-9)
      high = middle;
    else
      low = middle;
  }
  return low / size;
}

// Number of iterations to find the direction. The same number of iterations measures its growth. The number is even, because
// oscillating parts grow in alternate iterations.
enum { ITERATIONS = 32 };
static const double trial_distance = 1e-6;  // distance of the trial point, relative to the sizes of the states

struct od_rate_stability {
  int nx;
  const od_plant *plant;
  double (*amplification)(double re, double im);
  od_sim *probe;  // copy of the simulation for trial points
  size_t bytes;
  double *x, *f, *size, *v, *moved;
  double *guard, *guard_moved;
};

od_rate_stability *od_rate_stability_new(const od_sim *sim, const od_plant *plant,
                                         double (*amplification)(double re, double im), od_arena *arena) {
  int nx = od_plant_nx(plant), guards = od_plant_guards(plant);
  od_rate_stability *s = OD_TAKE(arena, od_rate_stability, 1);
  if (!s) return NULL;
  *s = (od_rate_stability){.nx = nx,
                           .plant = plant,
                           .amplification = amplification,
                           .bytes = od_sim_bytes(sim),
                           .probe = od_arena_take(arena, od_sim_bytes(sim)),
                           .x = OD_TAKE(arena, double, nx),
                           .f = OD_TAKE(arena, double, nx),
                           .size = OD_TAKE(arena, double, nx),
                           .v = OD_TAKE(arena, double, nx),
                           .moved = OD_TAKE(arena, double, nx),
                           .guard = OD_TAKE(arena, double, guards),
                           .guard_moved = OD_TAKE(arena, double, guards)};
  return od_arena_status(arena) == OD_OK ? s : NULL;
}

// Scales the direction to length one, relative to the sizes of the states. Returns the previous length.
static double normalize(od_rate_stability *s) {
  double sum = 0;
  for (int i = 0; i < s->nx; i++) sum += s->v[i] * s->v[i];
  for (int i = 0; i < s->nx && sum > 0; i++) s->v[i] /= sqrt(sum);
  return sqrt(sum);
}

// Returns whether a law jumps between the point and the trial point. If so, the difference of rates is not a derivative.
static bool passes_jump(od_rate_stability *s) {
  if (!s->plant->jumps || od_sim_guards(s->probe, s->guard_moved) != OD_OK) return false;
  for (int j = 0; j < s->plant->jumps; j++)
    if (s->guard[s->plant->jump_guard[j]] * s->guard_moved[s->plant->jump_guard[j]] <= 0) return true;
  return false;
}

// Computes v <- J v, both relative to the sizes of the states. False: the rates at the trial point cannot be computed, or a
// law jumps between the current point and the trial point.
static bool multiply(od_rate_stability *s) {
  double largest = 0;
  for (int i = 0; i < s->nx; i++) largest = fmax(largest, fabs(s->v[i]));
  double by = trial_distance / largest;
  for (int i = 0; i < s->nx; i++) s->moved[i] = s->x[i] + by * s->size[i] * s->v[i];
  if (od_sim_set(s->probe, od_sim_time(s->probe), s->moved, od_sim_inputs(s->probe)) != OD_OK) return false;
  if (passes_jump(s) || od_sim_derivatives(s->probe, s->moved, NULL, NULL, NULL) != OD_OK) return false;
  for (int i = 0; i < s->nx; i++) s->v[i] = (s->moved[i] - s->f[i]) / (by * s->size[i]);
  return true;
}

double od_rate_stability_longest_step(od_rate_stability *s, const od_sim *sim) {
  int nz = s->plant->nz;
  double growth = 0;
  memcpy(s->probe, sim, s->bytes);
  memcpy(s->x, od_sim_state(sim), (size_t)s->nx * sizeof *s->x);
  if (od_sim_guards(s->probe, s->guard) != OD_OK) return INFINITY;
  if (od_sim_derivatives(s->probe, s->f, NULL, NULL, NULL) != OD_OK) return INFINITY;
  for (int i = 0; i < s->nx; i++) {
    double scale = i >= 2 * nz && s->plant->scale ? s->plant->scale[i - nz] : 1;
    s->size[i] = fmax(fabs(s->x[i]), scale);
    s->v[i] = cos(1.7 * i) + 1.1 * (i % 2 ? -1 : 1);  // has a component along each eigenvector
  }
  normalize(s);
  for (int k = 0; k < 2 * ITERATIONS; k++) {
    if (!multiply(s)) return INFINITY;
    double longer = normalize(s);
    if (!(longer > 0) || !isfinite(longer)) return INFINITY;
    if (k >= ITERATIONS) growth += log(longer) / ITERATIONS;
  }
  // The eigenvalue may be real or imaginary. Explicit rules have similar limits for real and imaginary eigenvalues.
  double rate = exp(growth);
  return fmin(longest_step(s->amplification, -rate), longest_step(s->amplification, rate * I));
}
