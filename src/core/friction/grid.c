// The grid of nodes for a driven friction law.
#include <math.h>
#include <stdint.h>

#include "friction/drive.h"

// Returns the largest number of nodes. The speed changes its sign at most once between two samples.
static size_t most_nodes(int samples) {
  return 2 * (size_t)samples;
}

size_t od_friction_grid_size(int samples) {
  return samples < 1 ? 0 : most_nodes(samples) * (6 * sizeof(double) + 3 * sizeof(int));
}

typedef struct nodes {
  double *t, *v, *log_speed, *film_power, *distance, *per_distance;
  int *sample, *run, *even, count;
} nodes;

static void add_node(nodes *n, double t, double v, int sample) {
  int i = n->count++;
  double log_speed = v != 0 ? log(fabs(v)) : -1e5;
  n->t[i] = t, n->v[i] = v, n->sample[i] = sample;
  n->log_speed[i] = log_speed;
  n->film_power[i] = v != 0 ? exp(log_speed * (2.0 / 3)) : 0;
}

// Returns the kind of the step from node i: 0 forward, 1 backward, 2 at rest.
static int kind_of_step(const nodes *n, int i) {
  return n->v[i] == 0 && n->v[i + 1] == 0 ? 2 : n->v[i] + n->v[i + 1] < 0;
}
static void count_runs(nodes *n) {
  n->run[n->count - 1] = 0;
  for (int i = n->count - 2; i >= 0; i--)
    n->run[i] = 1 + (i + 2 < n->count && kind_of_step(n, i) == kind_of_step(n, i + 1) ? n->run[i + 1] : 0);
}

// Computes the distances between nodes and the counts of consecutive steps with equal durations.
static void measure_steps(nodes *n) {
  int last = n->count - 1;
  for (int i = 0; i < last; i++) {
    double d = fabs(n->v[i] + n->v[i + 1]) * (n->t[i + 1] - n->t[i]);
    n->distance[i] = d, n->per_distance[i] = d > 0 ? 1 / d : 0;
  }
  n->distance[last] = n->per_distance[last] = 0, n->even[last] = 0;
  for (int from = 0, to; from < last; from = to) {
    double dt = n->t[from + 1] - n->t[from];
    for (to = from + 1; to < last && fabs(n->t[to + 1] - n->t[to] - dt) <= 1e-9 * dt; to++) continue;
    for (int i = from; i < to; i++) n->even[i] = to - i;
  }
}

od_status od_friction_grid_make(od_friction_grid *grid, void *memory, int samples, const double *t, const double *v) {
  if (samples < 1 || (uintptr_t)memory % sizeof(double) != 0) return OD_BAD_ARGUMENT;
  size_t most = most_nodes(samples);
  double *at = memory;
  int *counts = (int *)(at + 6 * most);
  nodes n = {at,
             at + most,
             at + 2 * most,
             at + 3 * most,
             at + 4 * most,
             at + 5 * most,
             counts,
             counts + most,
             counts + 2 * most,
             0};
  for (int i = 0; i < samples; i++) {
    if (!isfinite(t[i]) || !isfinite(v[i]) || (i > 0 && !(t[i] > t[i - 1]))) return OD_BAD_ARGUMENT;
    if (i > 0 && v[i - 1] * v[i] < 0) {
      double turn = t[i - 1] + (t[i] - t[i - 1]) * (v[i - 1] / (v[i - 1] - v[i]));
      if (turn > t[i - 1] && turn < t[i]) add_node(&n, turn, 0, -1);
    }
    add_node(&n, t[i], v[i], i);
  }
  count_runs(&n);
  measure_steps(&n);
  *grid = (od_friction_grid){n.count,    samples,        n.t,      n.v,   n.log_speed, n.film_power,
                             n.distance, n.per_distance, n.sample, n.run, n.even};
  return OD_OK;
}
