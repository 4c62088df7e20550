// Driven laws in complex numbers, node by node as drive.h says, for whoever needs the step of a run by a parameter. Nothing of it is
// shared with the batches of drive_batch.h but the parameters of a direction.
#include "friction/drive.h"

#define OD_COMPLEX
#include "base/scalar_x.h"
#include "elements/laws_x.h"
#include "friction/family_x.h"
#include "friction/drive_side_x.h"

typedef struct node {
  od_x S, film;
} node;

// Where a run is: at a node, with its states and the rate of the film.
typedef struct state {
  od_x bristle, film, film_rate;
  node node;
} state;

// (1 - exp(-a))/a, given the exponential.
static od_x mean_decay(od_x a, od_x E) {
  return RE(a) > 1e-5 ? (1 - E) / a : 1 - a / 2 + a * a / 6;
}

static node node_at(const od_friction_law *law, const X(drive_side) side[2], const od_friction_grid *grid, int i) {
  if (grid->v[i] == 0) return (node){1, 0};
  const X(drive_side) *s = &side[grid->v[i] < 0];
  od_x power = od_x_exp(s->f.n * (grid->log_speed[i] - s->log_vs)), share = s->film_gain * grid->film_power[i];
  return (node){.S = law->shape == OD_STRIBECK_EXPONENTIAL ? od_x_exp(-power) : 1 / (1 + power),
                .film = s->most_film * (RE(share) < 1 ? share : 1)};
}

static od_x level_at(const X(drive_side) * s, od_x S, od_x film) {
  film = RE(film) >= 1 ? 1 : RE(film) < 0 ? 0 : film;
  od_x g = s->f.Fc + ((1 - film) * s->f.Fs - s->f.Fc) * S;
  return RE(g) <= RE(s->least_level) ? s->least_level : g;
}

static void step_film(const od_friction_law *law, const X(drive_side) * s, const od_friction_grid *grid, int i,
                      node next, state *x) {
  if (!law->has_film) {
    x->film = law->has_bristles ? 0 : next.film;
    return;
  }
  double dt = grid->t[i + 1] - grid->t[i];
  od_x now = x->node.film;
  bool rests = grid->v[i] == 0 && grid->v[i + 1] == 0, grows = 2 * RE(x->film) <= RE(now) + RE(next.film);
  od_x rate = rests ? s->f.rest : grows ? s->f.grow : s->f.shrink, E = od_x_exp(-dt * rate);
  x->film = next.film + (x->film - now) * E - (next.film - now) * mean_decay(dt * rate, E);
  x->film_rate = (next.film - x->film) * rate;
}

// The step from node i to the next; returns the level there.
static od_x step(const od_friction_law *law, const X(drive_side) * s, const od_friction_grid *grid, int i, node next,
                 state *x) {
  od_x film = x->film;
  step_film(law, s, grid, i, next, x);
  od_x level = level_at(s, next.S, x->film);
  double sum = grid->v[i] + grid->v[i + 1], distance = fabs(sum) / 2 * (grid->t[i + 1] - grid->t[i]);
  if (law->has_bristles && distance > 0) {
    double sign = (sum > 0) - (sum < 0);
    od_x before = level_at(s, x->node.S, film), a = 2 * s->f.sigma_0 * distance / (before + level);
    od_x E = od_x_exp(-a);
    x->bristle = sign * level + (x->bristle - sign * before) * E - sign * (level - before) * mean_decay(a, E);
  }
  x->node = next;
  return level;
}

// The force at a node that a step of direction s ended at.
static od_x force_at(const od_friction_law *law, const X(drive_side) * s, double v, double acceleration, od_x level,
                     const state *x) {
  if (!law->has_bristles) return od_x_tanh(v / s->f.v0) * level + s->f.viscous * v;
  od_x slip = v - fabs(v) * x->bristle / level;
  return x->bristle + s->f.sigma_1 * slip + s->f.viscous * v + s->f.inertia * acceleration +
         s->f.film_force * ((v > 0) - (v < 0)) * x->film_rate;
}

od_status od_friction_drive_complex(const od_friction_law *law, const double _Complex *q, bool two_sided,
                                    const od_friction_grid *grid, const od_friction_start *start,
                                    double _Complex *force) {
  if (!law->has_family) {
    for (int i = 0; i < grid->nodes; i++)
      if (grid->sample[i] >= 0) force[grid->sample[i]] = law->steady_c(q, two_sided, grid->v[i]);
    return OD_OK;
  }
  X(drive_side) side[2];
  X(drive_sides)(law, q, two_sided, start->signal, side);
  state x = {.bristle = start->bristle, .film = start->film, .node = node_at(law, side, grid, 0)};
  if (!law->has_film) x.film = law->has_bristles ? 0 : x.node.film;
  const X(drive_side) *s = &side[grid->v[0] < 0];
  od_x level = level_at(s, x.node.S, x.film);
  for (int i = 0; i < grid->nodes; i++) {
    double acceleration = 0;
    if (i > 0) {
      s = &side[grid->v[i - 1] + grid->v[i] < 0];
      level = step(law, s, grid, i - 1, node_at(law, side, grid, i), &x);
      acceleration = (grid->v[i] - grid->v[i - 1]) / (grid->t[i] - grid->t[i - 1]);
    }
    int k = grid->sample[i];
    if (k >= 0) force[k] = force_at(law, s, grid->v[i], acceleration, level, &x);
    if (k >= 0 && !isfinite(RE(force[k]))) return OD_NOT_FINITE;
  }
  return OD_OK;
}
