#define _DEFAULT_SOURCE  // M_PI
#include "friction_fit/velocity_run.h"

#include <math.h>
#include <stddef.h>

const char *const od_velocity_shapes[] = {"hold", "ramp", "half_cosine", "lag", "sine", "jump", NULL};

// Returns the speed at time t after the beginning of a piece with the initial speed `begin`.
static double piece_value(const od_velocity_piece *p, double begin, double t) {
  double part = p->time > 0 ? fmin(t / p->time, 1) : 1;
  switch (p->shape) {
    case OD_VELOCITY_RAMP: return begin + (p->value - begin) * part;
    case OD_VELOCITY_HALF_COSINE: return begin + (p->value - begin) * (1 - cos(M_PI * part)) / 2;
    case OD_VELOCITY_LAG: return p->value + (begin - p->value) * exp(-t / p->number);
    case OD_VELOCITY_SINE: {
      // Half periods end exactly at the initial speed, without rounding errors.
      double halves = 2 * p->number * t, nearest = round(halves);
      return begin + (fabs(halves - nearest) < 1e-9 ? 0 : p->value * sin(M_PI * halves));
    }
    case OD_VELOCITY_JUMP: return p->value;
    case OD_VELOCITY_HOLD:
    default: return begin;
  }
}

double od_velocity_run_time(const od_velocity_run *run) {
  double sum = 0;
  for (int i = 0; i < run->pieces; i++) sum += run->piece[i].time;
  return sum;
}

int od_velocity_run_samples(const od_velocity_run *run) {
  return (int)floor(od_velocity_run_time(run) / run->step + 1e-6) + 1;
}

void od_velocity_run_sample(const od_velocity_run *run, int count, const double *t, double *v, int *part) {
  double begin = 0, time = 0, margin = 1e-9;
  int k = 0;
  for (int i = 0; i < count; i++) {
    while (k + 1 < run->pieces && t[i] > time + run->piece[k].time * (1 + margin)) {
      begin = piece_value(&run->piece[k], begin, run->piece[k].time);
      time += run->piece[k++].time;
    }
    v[i] = run->pieces > 0 ? piece_value(&run->piece[k], begin, t[i] - time) : 0;
    if (part) part[i] = k;
  }
}
