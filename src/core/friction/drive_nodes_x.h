// Driven laws node by node (equations: drive.h), in the scalar of the build, with parameters that may vary from node to node. This
// code shares only the parameters of a direction with drive_batch.h. Thus a test can compare two independent implementations.
#include "friction/drive.h"

#include "base/scalar_x.h"
#include "elements/laws_x.h"
#include "friction/lugre_family_x.h"
#include "friction/driven_direction_x.h"

// The size of complex steps for derivatives.
#define OD_TINY_STEP 1e-30

// Values at a node: the value S of the Stribeck curve, and film = hss.
typedef struct X(node) {
  od_x S, film;
} X(node);

// A run. `side` keeps the parameters that were computed last, for two pairs of node and direction.
typedef struct X(nodes) {
  const od_friction_law *law;
  const od_x *q;
  bool two_sided;
  const od_friction_grid *grid;
  const od_friction_start *start;
  const double *along;  // the imaginary part of the signal at every sample, in units of OD_TINY_STEP; NULL: zero
  X(driven_direction) side[2];
  int known[2];    // for each entry of `side`: 2 * node + direction
  int between[2];  // nodes of the two successive samples between which the signal was interpolated last
} X(nodes);

// The states at a node: bristle y, film h and its rate h'.
typedef struct X(place) {
  od_x bristle, film, film_rate;
  X(node) node;
} X(place);

// Returns (1 - exp(-a))/a, given E = exp(-a).
static od_x X(mean_of_decay)(od_x a, od_x E) {
  return RE(a) > 1e-5 ? (1 - E) / a : 1 - a / 2 + a * a / 6;
}

static od_x X(signal_of_sample)(const X(nodes) * n, int sample) {
  od_x signal = n->start->signals ? n->start->signals[sample] : n->start->signal;
#ifdef OD_COMPLEX
  if (n->along) signal += OD_COMPLEX_OF(0.0, OD_TINY_STEP * n->along[sample]);
#endif
  return signal;
}

// Returns whether the signal varies over time.
static bool X(signal_varies)(const X(nodes) * n) {
  return n->start->signals || n->along;
}

// Returns the signal at node i. The signal is linear in time between samples, like the speed. The first and the last node are
// samples.
static od_x X(signal_at)(X(nodes) * n, int i) {
  const double *t = n->grid->t;
  const int *sample = n->grid->sample;
  if (!X(signal_varies)(n)) return n->start->signal;
  if (sample[i] >= 0) return X(signal_of_sample)(n, sample[i]);
  int *between = n->between;
  if (i < between[0] || i > between[1]) {
    for (between[0] = i; sample[between[0]] < 0;) between[0]--;
    for (between[1] = i; sample[between[1]] < 0;) between[1]++;
  }
  od_x before = X(signal_of_sample)(n, sample[between[0]]), behind = X(signal_of_sample)(n, sample[between[1]]);
  return before + (behind - before) * ((t[i] - t[between[0]]) / (t[between[1]] - t[between[0]]));
}

// Returns the parameters of a direction at node i. The result is valid until the function is called for the other
// direction or, if the signal varies, for another node at an even distance.
static const X(driven_direction) * X(side_at)(X(nodes) * n, int i, bool negative) {
  bool varies = X(signal_varies)(n);
  if (!varies) i = 0;
  int slot = varies ? i % 2 : negative, wanted = 2 * i + negative;
  if (n->known[slot] != wanted)
    X(driven_direction_of)(n->law, n->q, n->two_sided, negative, X(signal_at)(n, i), &n->side[slot]);
  n->known[slot] = wanted;
  return &n->side[slot];
}

static X(node) X(node_at)(X(nodes) * n, int i) {
  const od_friction_grid *grid = n->grid;
  if (grid->v[i] == 0) return (X(node)){1, 0};
  const X(driven_direction) *s = X(side_at)(n, i, grid->v[i] < 0);
  od_x power = od_x_exp(s->f.n * (grid->log_speed[i] - s->log_vs)), share = s->film_gain * grid->film_power[i];
  return (X(node)){.S = n->law->shape == OD_STRIBECK_EXPONENTIAL ? od_x_exp(-power) : 1 / (1 + power),
                   .film = s->complete_film * (RE(share) < 1 ? share : 1)};
}

static od_x X(level_at)(const X(driven_direction) * s, od_x S, od_x film) {
  film = RE(film) >= 1 ? 1 : RE(film) < 0 ? 0 : film;
  od_x g = s->f.Fc + ((1 - film) * s->f.Fs - s->f.Fc) * S;
  return RE(g) <= RE(s->least_level) ? s->least_level : g;
}

// Propagates the film from node i to the next node, with the mean of the rates at both ends of the step.
static void X(step_film)(X(nodes) * n, int i, bool negative, X(node) next, X(place) * x) {
  const od_friction_grid *grid = n->grid;
  if (!n->law->has_film) {
    x->film = n->law->has_bristles ? 0 : next.film;
    return;
  }
  double dt = grid->t[i + 1] - grid->t[i];
  od_x now = x->node.film;
  bool rests = grid->v[i] == 0 && grid->v[i + 1] == 0, grows = 2 * RE(x->film) <= RE(now) + RE(next.film);
  const X(family) *f = &X(side_at)(n, i, negative)->f;
  od_x before = rests ? f->rest_rate : grows ? f->growth_rate : f->shrink_rate;
  f = &X(side_at)(n, i + 1, negative)->f;
  od_x behind = rests   ? f->rest_rate
                : grows ? f->growth_rate
                        : f->shrink_rate,
       rate = (before + behind) / 2, E = od_x_exp(-dt * rate);
  x->film = next.film + (x->film - now) * E - (next.film - now) * X(mean_of_decay)(dt * rate, E);
  x->film_rate = (next.film - x->film) * behind;
}

// Propagates film and bristles from node i to the next node. Returns the level g at the next node.
static od_x X(step)(X(nodes) * n, int i, X(place) * x) {
  const od_friction_grid *grid = n->grid;
  double sum = grid->v[i] + grid->v[i + 1], distance = fabs(sum) / 2 * (grid->t[i + 1] - grid->t[i]);
  bool negative = sum < 0;
  X(node) next = X(node_at)(n, i + 1);
  od_x before = X(level_at)(X(side_at)(n, i, negative), x->node.S, x->film);
  X(step_film)(n, i, negative, next, x);
  const X(driven_direction) *s = X(side_at)(n, i + 1, negative);
  od_x level = X(level_at)(s, next.S, x->film);
  if (n->law->has_bristles && distance > 0) {
    double sign = (sum > 0) - (sum < 0);
    od_x a = 2 * s->f.sigma_0 * distance / (before + level), E = od_x_exp(-a);
    x->bristle = sign * level + (x->bristle - sign * before) * E - sign * (level - before) * X(mean_of_decay)(a, E);
  }
  x->node = next;
  return level;
}

// Returns the force in N at a node, with the parameters s of the step that ends at this node.
static od_x X(force_at)(const od_friction_law *law, const X(driven_direction) * s, double v, double acceleration,
                        od_x level, const X(place) * x) {
  if (!law->has_bristles) return od_x_tanh(v / s->f.v0) * level + s->f.viscous * v;
  od_x slip = v - fabs(v) * x->bristle / level;
  return x->bristle + s->f.sigma_1 * slip + s->f.viscous * v + s->f.inertia * acceleration +
         s->f.film_force * ((v > 0) - (v < 0)) * x->film_rate;
}

// Returns the force in N at node i of a law outside the LuGre family: a function of the speed and of the law's factor.
static od_x X(plain_force)(X(nodes) * n, int i) {
  od_x q[2 * OD_MOST_ELEMENT_FIELDS];
  for (int k = 0; k < od_friction_law_numbers(n->law, n->two_sided); k++) q[k] = n->q[k];
  q[od_friction_law_follows(n->law)] *= X(signal_at)(n, i);
  return n->law->X(steady)(q, n->two_sided, n->grid->v[i]);
}

// Computes the states at all nodes in turn, and calls put() at every sample. Returns OD_NOT_FINITE if a force is not
// finite.
static od_status X(go_through)(X(nodes) * n, void (*put)(void *to, int sample, od_x force, od_x bristle, od_x film),
                               void *to) {
  const od_friction_law *law = n->law;
  const od_friction_grid *grid = n->grid;
  n->known[0] = n->known[1] = n->between[0] = n->between[1] = -1;
  X(place) x = {.bristle = n->start->bristle, .film = n->start->film};
  od_x level = 0;
  for (int i = 0; i < grid->nodes; i++) {
    double v = grid->v[i], acceleration = 0;
    int k = grid->sample[i];
    od_x force = 0;
    if (!law->has_family) {
      if (k >= 0) force = X(plain_force)(n, i);
      x.bristle = x.film = 0;
    } else {
      bool negative = v < 0;
      if (i > 0) {
        negative = grid->v[i - 1] + v < 0;
        level = X(step)(n, i - 1, &x);
        acceleration = (v - grid->v[i - 1]) / (grid->t[i] - grid->t[i - 1]);
      } else {
        x.node = X(node_at)(n, 0);
        if (!law->has_film) x.film = law->has_bristles ? 0 : x.node.film;
        level = X(level_at)(X(side_at)(n, 0, negative), x.node.S, x.film);
      }
      force = X(force_at)(law, X(side_at)(n, i, negative), v, acceleration, level, &x);
    }
    if (!isfinite(RE(force))) return OD_NOT_FINITE;
    if (k >= 0) put(to, k, force, x.bristle, x.film);
  }
  return OD_OK;
}
