// Nodes of a driven law side by side. Nothing of the curve depends on the states, and the film does not depend on the bristles, so that
// a batch goes through in passes: the curve at all nodes, the film from node to node, levels and decays of all steps, the bristles
// from node to node. The passes without states are loops that compilers turn into vectors. All steps of a batch have one direction.
#ifndef OD_FRICTION_DRIVE_BATCH_H
#define OD_FRICTION_DRIVE_BATCH_H

#include <float.h>
#include <string.h>

#include "base/wide_exp.h"
#include "friction/drive.h"

#include "base/scalar_x.h"
#include "elements/laws_x.h"
#include "friction/family_x.h"
#include "friction/drive_side_x.h"

enum { OD_DRIVE_STEPS = 64, OD_DRIVE_NODES = OD_DRIVE_STEPS + 1 };

// Exponents beyond these change nothing but would leave numbers that processors are slow with.
#define OD_DRIVE_LEAST_DECAY 150
#define OD_DRIVE_LEAST_CURVE 300

// At node j: power = (|v|/vs)^n, S, the film that the speed asks for (target), how far the film is from it (lag), the level.
// Of the step from j to j + 1: its duration, decay and mean decay of the film when it grows [0] and when it shrinks or rests [1];
// the bristles' exponent a, their decay and mean decay; bristle[j + 1] = decay bristle[j] + gain.
typedef struct drive_batch {
  int first, steps, direction;  // nodes first to first + steps of the grid; 1 for negative speeds
  bool rests;
  double power[OD_DRIVE_NODES], S[OD_DRIVE_NODES], target[OD_DRIVE_NODES], lag[OD_DRIVE_NODES], level[OD_DRIVE_NODES];
  double paced[2], paced_dt;  // the rates and the duration that all entries of film_decay and film_mean belong to, or 0
  double dt[OD_DRIVE_NODES], film_decay[2][OD_DRIVE_NODES], film_mean[2][OD_DRIVE_NODES];
  double a[OD_DRIVE_NODES], decay[OD_DRIVE_NODES], mean[OD_DRIVE_NODES], gain[OD_DRIVE_NODES];
  double bristle[OD_DRIVE_NODES];
} drive_batch;

static inline int drive_direction(const od_friction_grid *grid, int i) {
  return grid->v[i] + grid->v[i + 1] < 0;
}
static inline bool drive_rests(const od_friction_grid *grid, int i) {
  return grid->v[i] == 0 && grid->v[i + 1] == 0;
}

// The steps from node `first` on that one batch can take: of one direction, and all of them at rest or none.
static inline void drive_batch_begin(drive_batch *b, const od_friction_grid *grid, int first) {
  b->first = first, b->steps = 0, b->direction = grid->v[first] < 0, b->rests = false;
  if (first + 1 >= grid->nodes) return;
  b->direction = drive_direction(grid, first), b->rests = drive_rests(grid, first);
  int most = grid->run[first];
  b->steps = most < OD_DRIVE_STEPS ? most : OD_DRIVE_STEPS;
}

OD_INTO_WIDE double decay_of(double a, double most) {
  return od_wide_exp(a > most ? -most : -a);
}
OD_INTO_WIDE double mean_decay(double a, double E) {
  double near_one = 1 - a / 2 + a * a / 6, far = (1 - E) / a;
  return a > 1e-5 ? far : near_one;
}

// Two loops, so that exponentials do not wait for each other.
OD_INTO_WIDE void batch_curve(const od_friction_law *law, const drive_side_r *s, const od_friction_grid *grid,
                              drive_batch *b) {
  const double *log_speed = grid->log_speed + b->first, *film_power = grid->film_power + b->first;
  for (int j = 0; j <= b->steps; j++) {
    double x = s->f.n * (log_speed[j] - s->log_vs), share = s->film_gain * film_power[j];
    x = x < -700 ? -700 : x;
    x = x > 700 ? 700 : x;
    b->power[j] = od_wide_exp(x);
    b->target[j] = s->most_film * (share > 1 ? 1 : share);
  }
  if (law->shape == OD_STRIBECK_EXPONENTIAL)
    for (int j = 0; j <= b->steps; j++) b->S[j] = decay_of(b->power[j], OD_DRIVE_LEAST_CURVE);
  else
    for (int j = 0; j <= b->steps; j++) b->S[j] = 1 / (1 + b->power[j]);
}

// Durations, and whether they are all the same but for rounding.
OD_INTO_WIDE bool batch_durations(const od_friction_grid *grid, drive_batch *b) {
  const double *t = grid->t + b->first;
  double first = t[1] - t[0];
  int uneven = 0;
  for (int j = 0; j < b->steps; j++) {
    b->dt[j] = t[j + 1] - t[j];
    uneven |= fabs(b->dt[j] - first) > 1e-9 * first;
  }
  return !uneven;
}

// Even steps find the paces of the batch before, if it had the same.
OD_INTO_WIDE void batch_paces(const drive_side_r *s, bool even, drive_batch *b) {
  const double rate[2] = {s->f.grow, b->rests ? s->f.rest : s->f.shrink}, first = b->dt[0];
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
      double a = rate[k] * b->dt[j];
      decay[j] = decay_of(a, OD_DRIVE_LEAST_DECAY);
      mean[j] = mean_decay(a, decay[j]);
    }
  }
}

// x[j + 1] = E[j] x[j] + b[j], four at a time: all of them follow from the first, so that they need not wait for each other.
OD_INTO_WIDE void recur(int from, int to, const double *restrict E, const double *restrict b, double *restrict all) {
  int j = from;
  double x = all[j];
  for (; j + 4 <= to; j += 4) {
    double p1 = E[j + 1] * E[j], p2 = E[j + 2] * p1, p3 = E[j + 3] * p2;
    double c1 = E[j + 1] * b[j] + b[j + 1], c2 = E[j + 2] * c1 + b[j + 2], c3 = E[j + 3] * c2 + b[j + 3];
    all[j + 1] = E[j] * x + b[j];
    all[j + 2] = p1 * x + c1;
    all[j + 3] = p2 * x + c2;
    all[j + 4] = x = p3 * x + c3;
  }
  for (; j < to; j++) all[j + 1] = x = E[j] * x + b[j];
}

// Whether the film shrinks, or rests, from node j on: 1; it grows where it is below the mean of both targets.
OD_INTO_WIDE int film_shrinks(const drive_batch *b, int j, double lag) {
  return b->rests || 2 * lag > b->target[j + 1] - b->target[j];
}

// It goes on as it began until it turns out that it should not have.
OD_INTO_WIDE void batch_film(drive_batch *b) {
  double push[OD_DRIVE_NODES];
  int j = 0;
  while (j < b->steps) {
    int k = film_shrinks(b, j, b->lag[j]), others = 0;
    for (int i = j; i < b->steps; i++) push[i] = (b->target[i] - b->target[i + 1]) * b->film_mean[k][i];
    recur(j, b->steps, b->film_decay[k], push, b->lag);
    for (int i = j; i < b->steps; i++) others |= film_shrinks(b, i, b->lag[i]) != k;
    if (!others) return;
    while (j < b->steps && film_shrinks(b, j, b->lag[j]) == k) j++;
  }
}

OD_INTO_WIDE double level_of(const drive_side_r *s, double S, double film) {
  film = film < 0 ? 0 : film;
  film = film > 1 ? 1 : film;
  double g = s->f.Fc + ((1 - film) * s->f.Fs - s->f.Fc) * S;
  return g <= s->least_level ? s->least_level : g;
}

OD_INTO_WIDE void batch_bristles(const drive_side_r *s, const od_friction_grid *grid, drive_batch *b) {
  const double *v = grid->v + b->first, sigma_0 = s->f.sigma_0;
  for (int j = 0; j < b->steps; j++)
    b->a[j] = sigma_0 * (fabs(v[j] + v[j + 1]) * b->dt[j]) / (b->level[j] + b->level[j + 1]);
  for (int j = 0; j < b->steps; j++) b->decay[j] = decay_of(b->a[j], OD_DRIVE_LEAST_DECAY);
  for (int j = 0; j < b->steps; j++) {
    double sum = v[j] + v[j + 1], sign = sum < 0 ? -1 : sum > 0 ? 1 : 0, before = b->level[j], level = b->level[j + 1];
    b->mean[j] = mean_decay(b->a[j], b->decay[j]);
    b->gain[j] = sign * (level - before * b->decay[j] - (level - before) * b->mean[j]);
  }
  recur(0, b->steps, b->decay, b->gain, b->bristle);
}

// All passes, from the states at its first node.
OD_INTO_WIDE void batch_run(const od_friction_law *law, const drive_side_r *s, const od_friction_grid *grid,
                            double bristle, double film, drive_batch *b) {
  batch_curve(law, s, grid, b);
  bool even = b->steps == 0 || batch_durations(grid, b);
  if (law->has_film) {
    b->lag[0] = film - b->target[0];
    if (b->steps > 0) batch_paces(s, even, b);
    batch_film(b);
  } else {
    // Without a state it is what the speed asks for; laws with bristles alone have none.
    for (int j = 0; j <= b->steps; j++) b->target[j] = law->has_bristles ? 0 : b->target[j], b->lag[j] = 0;
  }
  b->level[0] = level_of(s, b->S[0], b->target[0] + b->lag[0]);
  for (int j = 1; j <= b->steps; j++) b->level[j] = level_of(s, b->S[j], b->target[j] + b->lag[j]);
  b->bristle[0] = bristle;
  if (law->has_bristles)
    batch_bristles(s, grid, b);
  else
    for (int j = 1; j <= b->steps; j++) b->bristle[j] = 0;
}

// 1/tau in the step to node j, and h' behind it.
OD_INTO_WIDE double film_rate_factor(const drive_side_r *s, const drive_batch *b, int j) {
  return b->rests ? s->f.rest : film_shrinks(b, j - 1, b->lag[j - 1]) ? s->f.shrink : s->f.grow;
}
OD_INTO_WIDE double film_rate_at(const drive_side_r *s, const drive_batch *b, int j) {
  return -b->lag[j] * film_rate_factor(s, b, j);
}

// The force at nodes `from` to the last one of the batch, each into force[j].
OD_INTO_WIDE void batch_forces(const od_friction_law *law, const drive_side_r *s, const od_friction_grid *grid,
                               const drive_batch *b, int from, double *force) {
  const double *v = grid->v + b->first, *t = grid->t + b->first;
  if (!law->has_bristles) {
    for (int j = from; j <= b->steps; j++) force[j] = tanh(v[j] / s->f.v0) * b->level[j] + s->f.viscous * v[j];
    return;
  }
  for (int j = from; j <= b->steps; j++) force[j] = b->bristle[j] + s->f.viscous * v[j];
  if (s->f.sigma_1 != 0)
    for (int j = from; j <= b->steps; j++) force[j] += s->f.sigma_1 * (v[j] - fabs(v[j]) * b->bristle[j] / b->level[j]);
  if (law->has_rate_terms)
    for (int j = from > 0 ? from : 1; j <= b->steps; j++)
      force[j] += s->f.inertia * ((v[j] - v[j - 1]) / (t[j] - t[j - 1])) +
                  s->f.film_force * ((v[j] > 0) - (v[j] < 0)) * film_rate_at(s, b, j);
}

// The force at the samples among the nodes of a batch; the states as well where they are wanted. Mostly nodes that are no samples stand
// only at the ends, where the direction changes; a grid with steps between samples has others.
OD_INTO_WIDE od_status put_batch(const od_friction_law *law, const drive_side_r *s, const od_friction_grid *grid,
                                 const drive_batch *b, const od_friction_motion *out) {
  int from = b->first == 0 ? 0 : 1, to = b->steps;
  double force[OD_DRIVE_NODES];
  batch_forces(law, s, grid, b, from, force);
  int infinite = 0;
  for (int j = from; j <= to; j++) infinite |= !(fabs(force[j]) <= DBL_MAX);
  if (to >= from && grid->sample[b->first + to] < 0) to--;
  if (to < from) return infinite ? OD_NOT_FINITE : OD_OK;
  int k = grid->sample[b->first + from];
  if (k < 0 || grid->sample[b->first + to] - k != to - from) {
    for (int j = from; j <= to; j++) {
      int sample = grid->sample[b->first + j];
      if (sample < 0) continue;
      if (out->force) out->force[sample] = force[j];
      if (out->bristle) out->bristle[sample] = b->bristle[j];
      if (out->film) out->film[sample] = b->target[j] + b->lag[j];
    }
    return infinite ? OD_NOT_FINITE : OD_OK;
  }
  size_t size = (size_t)(to - from + 1) * sizeof *force;
  if (out->force) memcpy(out->force + k, force + from, size);
  if (out->bristle) memcpy(out->bristle + k, b->bristle + from, size);
  if (out->film)
    for (int j = from; j <= to; j++) out->film[k + j - from] = b->target[j] + b->lag[j];
  return infinite ? OD_NOT_FINITE : OD_OK;
}

#endif
