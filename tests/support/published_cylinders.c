#include "support/published_cylinders.h"

#define _DEFAULT_SOURCE  // M_PI
#include <math.h>

const published_cylinder published_cylinders[PUBLISHED_CYLINDERS + 1] = {
    {{{710, 65, 0.02, 0.06, 0.5, 150}, {550, 80, 0.02, 0.05, 0.5, 280}}, 0.25, 1, 40, 2e7, 0.1},
    {{{1100, 360, 0.03, 0.13, 0.8, 80}, {1112, 440, 0.08, 0.13, 0.5, 100}}, 0.12, 0.3, 40, 1.5e7, 0.1},
    {{{1450, 240, 0.08, 0.15, 0.8, 20}, {1400, 320, 0.08, 0.15, 0.8, 25}}, 0.05, 0.2, 40, 1.5e7, 0.1},
    {{{160, 50, 0.02, 0.05, 0.7, 150}, {140, 35, 0.02, 0.04, 0.8, 180}}, 0.05, 0.3, 40, 1e7, 0.1},
    {{{1575, 239, 0.0213, 0.03, 0.783, 66.2}, {1283, 61.7, 0.00477, 0.03, 0.612, 264}}, 0.033, 2, 10, 1e8, 1e4},
    {{{1140, 100, 8.3e-3, 0.03, 0.84, 196}, {744, 74, 6.3e-3, 0.03, 0.78, 253}}, 0.13, 1.1, 8.1, 1e8, 0.1},
    {{{1560, 200, 1.65e-2, 0.03, 0.93, 97}, {780, 48, 1.19e-2, 0.03, 1.53, 585}}, 0.28, 1.8, 17, 1e8, 0.1},
    {{{2100, 252, 1.31e-2, 0.25, 1.1, 1}, {1130, 1, 1.15e-2, 0.25, 1.36, 793}}, 0.32, 2.4, 43, 1e8, 0.1},
    {{{2000, 200, 0.01, 0.1, 1.2, 300}, {2500, 600, 0.01, 0.05, 1.2, 500}}, 0.3, 0.3, 30, 1e7, 5000},
};

// No factor, because it would act on Fs and Fc.
static int add_factor(double *q) {
  const double none[6] = {1, 1, 1, 0, 0, 0};
  for (int i = 0; i < 6; i++) q[i] = none[i];
  return 6;
}

static int add_side(const published_side *s, int with_film_end, double *q) {
  q[0] = s->Fs, q[1] = s->Fc, q[2] = s->vs, q[3] = s->n, q[4] = s->viscous;
  if (with_film_end) q[5] = s->vb;
  return with_film_end ? 6 : 5;
}

int published_modified_lugre(const published_cylinder *c, double *q) {
  int n = add_side(&c->side[0], 1, q);
  const double common[5] = {c->sigma_0, c->sigma_1, c->tau_hp, c->tau_hn, c->tau_h0};
  for (int i = 0; i < 5; i++) q[n++] = common[i];
  n += add_factor(q + n);
  return n + add_side(&c->side[1], 1, q + n);
}

int published_reduced(const published_cylinder *c, double *q) {
  int n = add_side(&c->side[0], 0, q);
  const double common[3] = {c->sigma_0, c->tau_hn, c->tau_h0};
  for (int i = 0; i < 3; i++) q[n++] = common[i];
  n += add_factor(q + n);
  return n + add_side(&c->side[1], 0, q + n);
}

const double trajectory_breaks[TRAJECTORY_BREAKS] = {0,   1.5, 3,    3.75,  5.75, 6.5,    8.5, 9,
                                                     9.5, 10,  10.5, 10.75, 11,   11.001, 13};

static double half_cosine(double t, double from, double to, double a, double b) {
  return a + (b - a) * (1 - cos(M_PI * (t - from) / (to - from))) / 2;
}

double trajectory_speed(double t) {
  if (t == 0 || t == 1.5 || t == 3 || t == 5.75 || (t >= 8.5 && t <= 10.5 && fmod(t, 0.5) == 0)) return 0;
  if (t < 3) return 0.25 * sin(2 * M_PI * t / 3);
  if (t < 3.75) return half_cosine(t, 3, 3.75, 0, 0.05);
  if (t < 5.75) return 0.05 * (5.75 - t) / 2;
  if (t < 6.5) return half_cosine(t, 5.75, 6.5, 0, -0.05);
  if (t < 8.5) return -0.05 * (8.5 - t) / 2;
  if (t < 10.5) return 0.05 * sin(2 * M_PI * (t - 8.5));
  if (t < 10.75) return half_cosine(t, 10.5, 10.75, 0, 0.05);
  if (t < 11) return 0.05;
  return 0.001 + 0.049 * exp(-200 * (t - 11));
}
