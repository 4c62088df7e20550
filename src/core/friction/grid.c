// The grid that a driven friction law is computed on.
#include <math.h>
#include <stdint.h>

#include "friction/drive.h"

// Between any two samples the speed may change its sign once.
static size_t most_nodes(int samples) {
  return 2 * (size_t)samples;
}

size_t od_friction_grid_size(int samples) {
  return samples < 1 ? 0 : most_nodes(samples) * (4 * sizeof(double) + sizeof(int));
}

typedef struct nodes {
  double *t, *v, *log_speed, *film_power;
  int *sample, count;
} nodes;

static void add_node(nodes *n, double t, double v, int sample) {
  int i = n->count++;
  double log_speed = v != 0 ? log(fabs(v)) : 0;
  n->t[i] = t, n->v[i] = v, n->sample[i] = sample;
  n->log_speed[i] = log_speed;
  n->film_power[i] = v != 0 ? exp(log_speed * (2.0 / 3)) : 0;
}

od_status od_friction_grid_make(od_friction_grid *grid, void *memory, int samples, const double *t, const double *v) {
  if (samples < 1 || (uintptr_t)memory % sizeof(double) != 0) return OD_BAD_ARGUMENT;
  size_t most = most_nodes(samples);
  double *at = memory;
  nodes n = {at, at + most, at + 2 * most, at + 3 * most, (int *)(at + 4 * most), 0};
  for (int i = 0; i < samples; i++) {
    if (!isfinite(t[i]) || !isfinite(v[i]) || (i > 0 && !(t[i] > t[i - 1]))) return OD_BAD_ARGUMENT;
    if (i > 0 && v[i - 1] * v[i] < 0) {
      double turn = t[i - 1] + (t[i] - t[i - 1]) * (v[i - 1] / (v[i - 1] - v[i]));
      if (turn > t[i - 1] && turn < t[i]) add_node(&n, turn, 0, -1);
    }
    add_node(&n, t[i], v[i], i);
  }
  *grid = (od_friction_grid){n.count, samples, n.t, n.v, n.log_speed, n.film_power, n.sample};
  return OD_OK;
}
