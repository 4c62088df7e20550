// Driven laws in batches of steps. The Stribeck curve does not depend on the states, and the film does not depend on the bristles.
// Therefore a batch is computed in passes: the curve at all nodes, the film from node to node, levels and decays of all steps, the
// bristles from node to node. Compilers vectorize the passes that compute no states. All steps of a batch have one direction.
#ifndef OD_FRICTION_DRIVE_BATCH_H
#define OD_FRICTION_DRIVE_BATCH_H

#include <float.h>
#include <string.h>

#include "base/wide_exp.h"
#include "friction/drive.h"

#include "base/scalar_x.h"
#include "elements/laws_x.h"
#include "friction/lugre_family_x.h"
#include "friction/driven_direction_x.h"

enum { OD_DRIVE_STEPS = 96, OD_DRIVE_NODES = OD_DRIVE_STEPS + 1 };

// Limits of exponents. Larger exponents do not change results, but give denormal numbers, which are slow.
#define OD_DRIVE_LEAST_DECAY 150
#define OD_DRIVE_LEAST_CURVE 300

// Data of a batch in the symbols of drive.h and lugre_family.h. At node j: power = (|v|/vs)^n, S, target = hss, lag = h
// - hss, level = g. For the step from j to j + 1: decay E and mean decay (1 - E)/a of the film. Index [0]: the film
// grows; [1]: the film shrinks or is at rest. Also the exponent a of the bristles, their decay and mean decay, and
// their gain: bristle[j + 1] = decay bristle[j] + gain.
typedef struct drive_batch {
  int first, steps;  // the batch has the nodes first to first + steps of the grid
  int direction;     // 1 for negative speeds, else 0
  bool rests;
  double power[OD_DRIVE_NODES], S[OD_DRIVE_NODES], target[OD_DRIVE_NODES], lag[OD_DRIVE_NODES], level[OD_DRIVE_NODES];
  double paced[2],
      paced_dt;  // rates and duration for which film_decay and film_mean were computed; duration 0: uneven steps
  double film_decay[2][OD_DRIVE_NODES], film_mean[2][OD_DRIVE_NODES];
  double a[OD_DRIVE_NODES], decay[OD_DRIVE_NODES], mean[OD_DRIVE_NODES], gain[OD_DRIVE_NODES];
  double bristle[OD_DRIVE_NODES];
} drive_batch;

// Returns the direction of the step from node i: 1 for negative speeds, else 0.
static inline int drive_direction(const od_friction_grid *grid, int i) {
  return grid->v[i] + grid->v[i + 1] < 0;
}
static inline bool drive_rests(const od_friction_grid *grid, int i) {
  return grid->v[i] == 0 && grid->v[i + 1] == 0;
}

// Starts a batch at node `first`. All steps of the batch have the same direction, and either all steps are at rest or
// no step is at rest. The Stribeck curve at node `first` is copied from the last node of the previous batch.
static inline void drive_batch_begin(drive_batch *b, const od_friction_grid *grid, int first) {
  if (first > 0) b->power[0] = b->power[b->steps], b->S[0] = b->S[b->steps], b->target[0] = b->target[b->steps];
  b->first = first, b->steps = 0, b->direction = grid->v[first] < 0, b->rests = false;
  if (first + 1 >= grid->nodes) return;
  b->direction = drive_direction(grid, first), b->rests = drive_rests(grid, first);
  int most = grid->run[first];
  b->steps = most < OD_DRIVE_STEPS ? most : OD_DRIVE_STEPS;
}

// Returns exp(-a), with a limited to `most`.
OD_INTO_WIDE double decay_of(double a, double most) {
  return od_wide_exp2((a > most ? most : a) * -OD_PER_LOG_2);
}
// Returns (1 - E)/a for E = exp(-a).
OD_INTO_WIDE double mean_decay(double a, double E) {
  double near_one = 1 - a * (0.5 - a * (1.0 / 6)), far = (1 - E) / a;
  return a > 1e-5 ? far : near_one;
}

// Computes power, target and S at the nodes `from` to `to` of a batch. Two separate loops keep the two exponentials
// independent of each other.
OD_INTO_WIDE void batch_curve(const od_friction_law *law, const driven_direction_r *s, const od_friction_grid *grid,
                              int from, int to, drive_batch *b) {
  const double *log_speed = grid->log_speed + b->first, *film_power = grid->film_power + b->first;
  const double n = s->f.n * OD_PER_LOG_2;
  for (int j = from; j <= to; j++) {
    double x = n * (log_speed[j] - s->log_vs), share = s->film_gain * film_power[j];
    x = x < -1000 ? -1000 : x;
    x = x > 1000 ? 1000 : x;
    b->power[j] = od_wide_exp2(x);
    b->target[j] = s->complete_film * (share > 1 ? 1 : share);
  }
  if (law->shape == OD_STRIBECK_EXPONENTIAL)
    for (int j = from; j <= to; j++) b->S[j] = decay_of(b->power[j], OD_DRIVE_LEAST_CURVE);
  else
    for (int j = from; j <= to; j++) b->S[j] = 1 / (1 + b->power[j]);
}

// Computes decays and mean decays of the film. If rate and duration of all steps equal those of the previous batch, the
// results of the previous batch remain valid.
OD_INTO_WIDE void batch_paces(const driven_direction_r *s, const od_friction_grid *grid, drive_batch *b) {
  const double *t = grid->t + b->first, first = t[1] - t[0];
  const double rate[2] = {s->f.growth_rate, b->rests ? s->f.rest_rate : s->f.shrink_rate};
  bool even = grid->even[b->first] >= b->steps;
  if (even && b->paced[0] == rate[0] && b->paced[1] == rate[1] && fabs(b->paced_dt - first) <= 1e-9 * first) return;
  b->paced_dt = even ? first : 0;
  for (int k = 0; k < 2; k++) {
    double *decay = b->film_decay[k], *mean = b->film_mean[k];
    b->paced[k] = rate[k];
    if (even) {
      double E = decay_of(rate[k] * first, OD_DRIVE_LEAST_DECAY), part = mean_decay(rate[k] * first, E);
      for (int j = 0; j < OD_DRIVE_STEPS; j++) decay[j] = E, mean[j] = part;
      continue;
    }
    for (int j = 0; j < b->steps; j++) {
      double a = rate[k] * (t[j + 1] - t[j]);
      decay[j] = decay_of(a, OD_DRIVE_LEAST_DECAY);
      mean[j] = mean_decay(a, decay[j]);
    }
  }
}

// Composes four steps x -> E x + b: afterward entry i of *E and *b maps the x before the first step to the x after
// step i.
OD_INTO_WIDE void chain_four(od_quad *E, od_quad *b) {
  const od_quad one = {1, 1, 1, 1}, zero = {0, 0, 0, 0};
  *b += *E * OD_QUAD_MOVED_ONE(*b, zero);
  *E *= OD_QUAD_MOVED_ONE(*E, one);
  *b += *E * OD_QUAD_MOVED_TWO(*b, zero);
  *E *= OD_QUAD_MOVED_TWO(*E, one);
}
// Composes four steps with equal E; E2 = E^2.
OD_INTO_WIDE void chain_four_evenly(double E, double E2, od_quad *b) {
  const od_quad zero = {0, 0, 0, 0};
  *b += E * OD_QUAD_MOVED_ONE(*b, zero);
  *b += E2 * OD_QUAD_MOVED_TWO(*b, zero);
}

// Computes x[j + 1] = E[j] x[j] + b[j] in the array `all`, eight entries at a time. Each group of eight entries is
// computed from the entry before the group only.
OD_INTO_WIDE void recur(int from, int to, const double *restrict E, const double *restrict b, double *restrict all) {
  int j = from;
  double x = all[j];
  for (; j + 8 <= to; j += 8) {
    od_quad E0, E1, b0, b1;
    memcpy(&E0, E + j, sizeof E0), memcpy(&b0, b + j, sizeof b0);
    memcpy(&E1, E + j + 4, sizeof E1), memcpy(&b1, b + j + 4, sizeof b1);
    chain_four(&E0, &b0), chain_four(&E1, &b1);
    b1 += E1 * b0[3], E1 *= E0[3];
    b0 += E0 * x, b1 += E1 * x;
    memcpy(all + j + 1, &b0, sizeof b0), memcpy(all + j + 5, &b1, sizeof b1);
    x = b1[3];
  }
  for (; j < to; j++) all[j + 1] = x = E[j] * x + b[j];
}

// Computes x[j + 1] = E x[j] + b[j], eight entries at a time.
OD_INTO_WIDE void recur_evenly(int from, int to, double E, const double *restrict b, double *restrict all) {
  const double E2 = E * E, E4 = E2 * E2;
  const od_quad powers = {E, E2, E2 * E, E4}, further = powers * E4;
  int j = from;
  double x = all[j];
  for (; j + 8 <= to; j += 8) {
    od_quad b0, b1;
    memcpy(&b0, b + j, sizeof b0), memcpy(&b1, b + j + 4, sizeof b1);
    chain_four_evenly(E, E2, &b0), chain_four_evenly(E, E2, &b1);
    b1 += powers * b0[3];
    b0 += powers * x, b1 += further * x;
    memcpy(all + j + 1, &b0, sizeof b0), memcpy(all + j + 5, &b1, sizeof b1);
    x = b1[3];
  }
  for (; j < to; j++) all[j + 1] = x = E * x + b[j];
}

// Returns 0 if the film grows in the step from node j: the speed is not zero, and the film is below the mean of both targets.
// Otherwise returns 1.
OD_INTO_WIDE int film_shrinks(const drive_batch *b, int j, double lag) {
  return b->rests || 2 * lag > b->target[j + 1] - b->target[j];
}

// Computes the lags of the film. The function assumes that the film grows, or shrinks, in all remaining steps. At the first step
// where this assumption is wrong, the function continues with the other rate.
OD_INTO_WIDE void batch_film(int steps, drive_batch *b) {
  double push[OD_DRIVE_NODES];
  int j = 0;
  while (j < steps) {
    int k = film_shrinks(b, j, b->lag[j]), others = 0;
    for (int i = j; i < steps; i++) push[i] = (b->target[i] - b->target[i + 1]) * b->film_mean[k][i];
    if (b->paced_dt > 0)
      recur_evenly(j, steps, b->film_decay[k][0], push, b->lag);
    else
      recur(j, steps, b->film_decay[k], push, b->lag);
    for (int i = j; i < steps; i++) others |= film_shrinks(b, i, b->lag[i]) != k;
    if (!others) return;
    while (j < steps && film_shrinks(b, j, b->lag[j]) == k) j++;
  }
}

// Returns the level g in N, at least least_level, at the value S of the Stribeck curve and the film thickness `film`
// (dimensionless, limited to 0 to 1).
OD_INTO_WIDE double level_of(const driven_direction_r *s, double S, double film) {
  film = film < 0 ? 0 : film;
  film = film > 1 ? 1 : film;
  double g = s->f.Fc + ((1 - film) * s->f.Fs - s->f.Fc) * S;
  return g <= s->least_level ? s->least_level : g;
}

// Computes the forces of the bristles at all nodes of a batch, N, from the levels.
OD_INTO_WIDE void batch_bristles(const driven_direction_r *s, const od_friction_grid *grid, int steps, drive_batch *b) {
  const double *distance = grid->distance + b->first, *per_distance = grid->per_distance + b->first;
  const double sigma_0 = s->f.sigma_0, per_sigma = 1 / sigma_0, sign = b->direction ? -1 : 1;
  for (int j = 0; j < steps; j++) b->a[j] = sigma_0 * distance[j] / (b->level[j] + b->level[j + 1]);
  for (int j = 0; j < steps; j++) b->decay[j] = decay_of(b->a[j], OD_DRIVE_LEAST_DECAY);
  for (int j = 0; j < steps; j++) {
    double before = b->level[j], level = b->level[j + 1], a = b->a[j], E = b->decay[j];
    double near_one = 1 - a * (0.5 - a * (1.0 / 6)), far = (1 - E) * ((before + level) * (per_distance[j] * per_sigma));
    b->mean[j] = a > 1e-5 ? far : near_one;
    b->gain[j] = sign * (level - before * E - (level - before) * b->mean[j]);
  }
  recur(0, steps, b->decay, b->gain, b->bristle);
}

// Computes all passes of a batch from the states at its first node. The Stribeck curve at the first node must be known:
// from the previous batch, or for the first batch from batch_run(). The curve of the previous batch is also valid after
// a change of direction, because the speed is then zero, and at zero speed the curve does not depend on the direction.
OD_INTO_WIDE void batch_passes(const od_friction_law *law, const driven_direction_r *s, const od_friction_grid *grid,
                               double bristle, double film, int steps, drive_batch *b) {
  batch_curve(law, s, grid, 1, steps, b);
  if (law->has_film) {
    b->lag[0] = film - b->target[0];
    if (steps > 0) batch_paces(s, grid, b);
    batch_film(steps, b);
  } else {
    // Without a film state the film is hss; for laws with bristles alone the film is zero.
    for (int j = 0; j <= steps; j++) b->target[j] = law->has_bristles ? 0 : b->target[j], b->lag[j] = 0;
  }
  b->level[0] = level_of(s, b->S[0], b->target[0] + b->lag[0]);
  for (int j = 1; j <= steps; j++) b->level[j] = level_of(s, b->S[j], b->target[j] + b->lag[j]);
  b->bristle[0] = bristle;
  if (law->has_bristles)
    batch_bristles(s, grid, steps, b);
  else
    for (int j = 1; j <= steps; j++) b->bristle[j] = b->decay[j - 1] = 0;
}
// Computes a batch. A full batch has a constant number of steps, so that the compiler can unroll its loops.
OD_INTO_WIDE void batch_run(const od_friction_law *law, const driven_direction_r *s, const od_friction_grid *grid,
                            double bristle, double film, drive_batch *b) {
  if (b->first == 0) batch_curve(law, s, grid, 0, 0, b);
  if (b->steps == OD_DRIVE_STEPS)
    batch_passes(law, s, grid, bristle, film, OD_DRIVE_STEPS, b);
  else
    batch_passes(law, s, grid, bristle, film, b->steps, b);
}

// Return 1/tau in 1/s in the step that ends at node j, and h' at the end of this step.
OD_INTO_WIDE double film_rate_factor(const driven_direction_r *s, const drive_batch *b, int j) {
  return b->rests ? s->f.rest_rate : film_shrinks(b, j - 1, b->lag[j - 1]) ? s->f.shrink_rate : s->f.growth_rate;
}
OD_INTO_WIDE double film_rate_at(const driven_direction_r *s, const drive_batch *b, int j) {
  return -b->lag[j] * film_rate_factor(s, b, j);
}

// Adds terms that few laws have to `force`: damping of the bristles, acceleration, and the rate of the film.
OD_INTO_WIDE void add_force_terms(const od_friction_law *law, const driven_direction_r *s, const od_friction_grid *grid,
                                  const drive_batch *b, int from, double *force) {
  const double *v = grid->v + b->first, *t = grid->t + b->first;
  if (s->f.sigma_1 != 0)
    for (int j = from; j <= b->steps; j++)
      force[j - from] += s->f.sigma_1 * (v[j] - fabs(v[j]) * b->bristle[j] / b->level[j]);
  if (!law->has_rate_terms) return;
  for (int j = from > 0 ? from : 1; j <= b->steps; j++)
    force[j - from] += s->f.inertia * ((v[j] - v[j - 1]) / (t[j] - t[j - 1])) +
                       s->f.film_force * ((v[j] > 0) - (v[j] < 0)) * film_rate_at(s, b, j);
}

// Computes the force at the nodes from `from` to the last node of the batch. Returns whether all forces are finite.
OD_INTO_WIDE bool batch_forces(const od_friction_law *law, const driven_direction_r *s, const od_friction_grid *grid,
                               const drive_batch *b, int from, double *force) {
  const double *v = grid->v + b->first;
  int count = b->steps - from + 1, infinite = 0;
  if (law->has_bristles) {
    for (int i = 0; i < count; i++) force[i] = b->bristle[from + i] + s->f.viscous * v[from + i];
    if (s->f.sigma_1 != 0 || law->has_rate_terms) add_force_terms(law, s, grid, b, from, force);
  } else {
    for (int j = from; j <= b->steps; j++) force[j - from] = tanh(v[j] / s->f.v0) * b->level[j] + s->f.viscous * v[j];
  }
  for (int i = 0; i < count; i++) infinite |= !(fabs(force[i]) <= DBL_MAX);
  return !infinite;
}

// Writes the force, and the states if wanted, at the samples among the nodes of a batch. If all nodes are samples and no
// states are wanted, forces are computed in place. Returns OD_NOT_FINITE if a force is infinite or NaN.
OD_INTO_WIDE od_status put_batch(const od_friction_law *law, const driven_direction_r *s, const od_friction_grid *grid,
                                 const drive_batch *b, const od_friction_motion *out) {
  int from = b->first == 0 ? 0 : 1, count = b->steps - from + 1;
  const int *sample = grid->sample + b->first + from;
  if (count < 1) return OD_OK;
  if (sample[0] >= 0 && sample[count - 1] - sample[0] == count - 1 && out->force && !out->bristle && !out->film)
    return batch_forces(law, s, grid, b, from, out->force + sample[0]) ? OD_OK : OD_NOT_FINITE;
  double force[OD_DRIVE_NODES];
  if (!batch_forces(law, s, grid, b, from, force)) return OD_NOT_FINITE;
  for (int i = 0; i < count; i++) {
    if (sample[i] < 0) continue;
    if (out->force) out->force[sample[i]] = force[i];
    if (out->bristle) out->bristle[sample[i]] = b->bristle[from + i];
    if (out->film) out->film[sample[i]] = b->target[from + i] + b->lag[from + i];
  }
  return OD_OK;
}

#endif
