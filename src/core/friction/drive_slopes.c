// The force of a driven friction law with its derivatives by numbers of the law. Line by line the derivative of drive_x.h, for
// all numbers side by side: a change along a number is a change of the parameters of the family for either direction, which one
// complex step of the law gives.
#include <string.h>

#include "base/wide.h"
#include "friction/drive_both.h"

// Derivatives of one direction's parameters and of what follows from them, `columns` of each.
typedef struct seeds {
  const double *by[OD_FAMILY_COUNT];
  double *log_vs, *most_film, *log_gain;
} seeds;

// Derivatives of where a run is. S and film are those of a node, h and y the states, g the level behind the last step.
typedef struct slopes_at {
  double *S, *film, *next_S, *next_film, *h, *y, *g, *h_rate;
} slopes_at;

enum { PER_SIDE = OD_FAMILY_COUNT + 3, OF_STATE = 8 };

size_t od_friction_slopes_work(int columns) {
  return (size_t)(2 * PER_SIDE + OF_STATE) * (size_t)columns;
}

static void seed(const od_friction_law *law, const double *q, bool two_sided, double signal, int columns,
                 const int *number, const drive_side_r *s, bool negative, double *at, seeds *out) {
  static const double step = 1e-30;
  double _Complex p[2 * OD_MOST_ELEMENT_FIELDS], family[OD_FAMILY_COUNT];
  int count = od_friction_law_numbers(law, two_sided);
  for (int i = 0; i < count; i++) p[i] = q[i];
  for (int c = 0; c < columns; c++) {
    p[number[c]] += __builtin_complex(0.0, step);
    law->family_c(p, two_sided, negative, signal, family);
    p[number[c]] = q[number[c]];
    for (int k = 0; k < OD_FAMILY_COUNT; k++) at[k * columns + c] = __imag__ family[k] / step;
  }
  for (int k = 0; k < OD_FAMILY_COUNT; k++) out->by[k] = at + k * columns;
  out->log_vs = at + OD_FAMILY_COUNT * columns;
  out->most_film = out->log_vs + columns;
  out->log_gain = out->most_film + columns;
  const family_r *f = &s->f;
  for (int c = 0; c < columns; c++) {
    out->log_vs[c] = out->by[OD_FAMILY_VS][c] / f->vs;
    out->most_film[c] =
        f->Fs > f->Fc ? (out->by[OD_FAMILY_FS][c] * f->Fc / f->Fs - out->by[OD_FAMILY_FC][c]) / f->Fs : 0;
    out->log_gain[c] = -(out->log_vs[c] + out->by[OD_FAMILY_END][c]) * (2.0 / 3);
  }
}

// A node with its derivatives.
OD_INTO_WIDE drive_node_r node_slopes(const od_friction_law *law, const drive_side_r side[2], const seeds seed[2],
                                      const od_friction_grid *grid, int i, int columns, double *restrict dS,
                                      double *restrict dfilm) {
  drive_node_r node = {1, 0};
  if (grid->v[i] == 0) {
    memset(dS, 0, (size_t)columns * sizeof *dS);
    memset(dfilm, 0, (size_t)columns * sizeof *dfilm);
    return node;
  }
  const drive_side_r *s = &side[grid->v[i] < 0];
  const seeds *d = &seed[grid->v[i] < 0];
  double L = grid->log_speed[i] - s->log_vs, power = exp(s->f.n * L), share = s->film_gain * grid->film_power[i];
  bool exponential = law->shape == OD_STRIBECK_EXPONENTIAL;
  node.S = exponential ? exp(-power) : 1 / (1 + power);
  double per_log = -power * (exponential ? node.S : node.S * node.S), n = s->f.n;
  const double *dn = d->by[OD_FAMILY_N], *dlog_vs = d->log_vs, *dmost = d->most_film, *dlog_gain = d->log_gain;
  for (int c = 0; c < columns; c++) dS[c] = per_log * (dn[c] * L - n * dlog_vs[c]);
  bool partly = share < 1;
  node.film = s->most_film * (partly ? share : 1);
  double whole = partly ? share : 1, by_gain = partly ? node.film : 0;
  for (int c = 0; c < columns; c++) dfilm[c] = whole * dmost[c] + by_gain * dlog_gain[c];
  return node;
}

OD_INTO_WIDE void level_slopes(const drive_side_r *s, const seeds *d, double S, double film, double level, int columns,
                               const double *restrict dS, const double *restrict dh, double *restrict dg) {
  const double *dFs = d->by[OD_FAMILY_FS], *dFc = d->by[OD_FAMILY_FC];
  bool counts = film < 1 && film >= 0;
  double counted = counts ? film : film < 0 ? 0 : 1;
  double by_S = (1 - counted) * s->f.Fs - s->f.Fc, by_film = counts ? -s->f.Fs * S : 0, by_Fs = (1 - counted) * S;
  if (level > s->least_level)
    for (int c = 0; c < columns; c++) dg[c] = dFc[c] * (1 - S) + by_Fs * dFs[c] + by_film * dh[c] + by_S * dS[c];
  else
    for (int c = 0; c < columns; c++) dg[c] = OD_FRICTION_LEAST_LEVEL * (dFs[c] + dFc[c]);
}

// d/da of (1 - exp(-a))/a.
OD_INTO_WIDE double mean_decay_slope(double a, double E, double mean) {
  return a > 1e-5 ? (E - mean) / a : -0.5 + a / 3;
}

// The film's step; x is as before it, h and rate as after it. Node derivatives: `film` before, `next_film` behind the step.
OD_INTO_WIDE void film_slopes(const seeds *d, const pace_r *p, int which, const drive_state_r *x, double next, double h,
                              int columns, slopes_at *at) {
  static const int rate_of[] = {OD_FAMILY_GROW, OD_FAMILY_SHRINK, OD_FAMILY_REST};
  const double *restrict drate = d->by[rate_of[which]], *restrict df = at->film, *restrict dnext = at->next_film;
  double *restrict dh = at->h, *restrict dh_rate = at->h_rate, E = p->E, phi = p->phi, rate = p->rate;
  double by_rate =
      -p->dt * ((x->film - x->node.film) * E + (next - x->node.film) * mean_decay_slope(p->dt * rate, E, phi));
  for (int c = 0; c < columns; c++)
    dh[c] = dnext[c] + (dh[c] - df[c]) * E - (dnext[c] - df[c]) * phi + by_rate * drate[c];
  for (int c = 0; c < columns; c++) dh_rate[c] = (dnext[c] - dh[c]) * rate + (next - h) * drate[c];
}

typedef struct bristle_step {
  double a, E, sign, before, level, y;  // y as before the step
} bristle_step;

OD_INTO_WIDE void bristle_slopes(const drive_side_r *s, const seeds *d, const bristle_step *b, int columns,
                                 const double *restrict dbefore, const double *restrict dg, double *restrict dy) {
  const double *restrict dsigma = d->by[OD_FAMILY_SIGMA_0];
  double mean = mean_decay_r(b->a, b->E), slope = mean_decay_slope(b->a, b->E, mean);
  double by_a = -(b->y - b->sign * b->before) * b->E - b->sign * (b->level - b->before) * slope;
  double by_sigma = by_a * b->a / s->f.sigma_0, by_sum = -by_a * b->a / (b->before + b->level);
  double by_before = b->sign * (mean - b->E) + by_sum, by_level = b->sign * (1 - mean) + by_sum;
  for (int c = 0; c < columns; c++)
    dy[c] = b->E * dy[c] + by_before * dbefore[c] + by_level * dg[c] + by_sigma * dsigma[c];
}

OD_INTO_WIDE void force_slopes(const od_friction_law *law, const drive_side_r *s, const seeds *d, double v,
                               double acceleration, double level, const drive_state_r *x, int columns,
                               const slopes_at *at, double *restrict row) {
  const double *restrict dviscous = d->by[OD_FAMILY_VISCOUS], *restrict dg = at->g, *restrict dy = at->y;
  if (!law->has_bristles) {
    double t = tanh(v / s->f.v0), by_v0 = -(1 - t * t) * v / (s->f.v0 * s->f.v0) * level;
    const double *dv0 = d->by[OD_FAMILY_V0];
    for (int c = 0; c < columns; c++) row[c] = t * dg[c] + by_v0 * dv0[c] + v * dviscous[c];
    return;
  }
  double part = x->bristle / level, slip = v - fabs(v) * part, by_y = 1 - s->f.sigma_1 * fabs(v) / level;
  double by_g = s->f.sigma_1 * fabs(v) * part / level, side = (v > 0) - (v < 0);
  for (int c = 0; c < columns; c++) row[c] = by_y * dy[c] + by_g * dg[c] + v * dviscous[c];
  const double *dsigma_1 = d->by[OD_FAMILY_SIGMA_1], *dinertia = d->by[OD_FAMILY_INERTIA];
  const double *dfilm_force = d->by[OD_FAMILY_FILM_FORCE];
  if (s->f.sigma_1 != 0 || s->f.inertia != 0 || s->f.film_force != 0)
    for (int c = 0; c < columns; c++)
      row[c] += slip * dsigma_1[c] + acceleration * dinertia[c] +
                side * (x->film_rate * dfilm_force[c] + s->f.film_force * at->h_rate[c]);
}

// The step from node i to the next with its derivatives; returns the level there.
OD_INTO_WIDE double step_slopes(const od_friction_law *law, const drive_side_r *s, const seeds *d,
                                const od_friction_grid *grid, int i, drive_node_r next, pace_r *pace, int columns,
                                bool turned, drive_state_r *x, slopes_at *at) {
  const drive_state_r old = *x;
  double before = drive_level_r(s, old.node.S, old.film);
  if (turned) level_slopes(s, d, old.node.S, old.film, before, columns, at->S, at->h, at->g);
  double level = drive_step_r(law, s, grid, i, next, pace, x), dbefore[OD_MOST_DRIVE_COLUMNS];
  memcpy(dbefore, at->g, (size_t)columns * sizeof *dbefore);
  if (law->has_film) {
    bool rests = grid->v[i] == 0 && grid->v[i + 1] == 0, grows = 2 * old.film <= old.node.film + next.film;
    int which = rests ? 2 : grows ? 0 : 1;
    film_slopes(d, &pace[which], which, &old, next.film, x->film, columns, at);
  } else if (!law->has_bristles) {
    memcpy(at->h, at->next_film, (size_t)columns * sizeof *at->h);
  }
  level_slopes(s, d, next.S, x->film, level, columns, at->next_S, at->h, at->g);
  double sum = grid->v[i] + grid->v[i + 1], distance = fabs(sum) / 2 * (grid->t[i + 1] - grid->t[i]);
  if (law->has_bristles && distance > 0) {
    bristle_step b = {.a = 2 * s->f.sigma_0 * distance / (before + level),
                      .sign = sum > 0 ? 1 : -1,
                      .before = before,
                      .level = level,
                      .y = old.bristle};
    b.E = exp(-b.a);
    bristle_slopes(s, d, &b, columns, dbefore, at->g, at->y);
  }
  double *S = at->S, *film = at->film;
  at->S = at->next_S, at->film = at->next_film, at->next_S = S, at->next_film = film;
  return level;
}

OD_WIDE static od_status family_slopes(const od_friction_law *law, const drive_side_r side[2], const seeds seed[2],
                                       const od_friction_grid *grid, const od_friction_start *start, int columns,
                                       slopes_at at, double *force, double *dforce) {
  pace_r pace[2][3] = {{{0}}};
  drive_state_r x = {.bristle = start->bristle, .film = start->film};
  x.node = node_slopes(law, side, seed, grid, 0, columns, at.S, at.film);
  if (!law->has_film) x.film = law->has_bristles ? 0 : x.node.film;
  if (!law->has_film && !law->has_bristles) memcpy(at.h, at.film, (size_t)columns * sizeof *at.h);
  int which = grid->v[0] < 0;
  double level = drive_level_r(&side[which], x.node.S, x.film);
  level_slopes(&side[which], &seed[which], x.node.S, x.film, level, columns, at.S, at.h, at.g);
  for (int i = 0; i < grid->nodes; i++) {
    double acceleration = 0;
    if (i > 0) {
      int now = grid->v[i - 1] + grid->v[i] < 0;
      drive_node_r next = node_slopes(law, side, seed, grid, i, columns, at.next_S, at.next_film);
      level = step_slopes(law, &side[now], &seed[now], grid, i - 1, next, pace[now], columns, now != which, &x, &at);
      acceleration = (grid->v[i] - grid->v[i - 1]) / (grid->t[i] - grid->t[i - 1]);
      which = now;
    }
    int k = grid->sample[i];
    if (k < 0) continue;
    force[k] = node_force_r(law, &side[which], grid->v[i], acceleration, level, &x);
    force_slopes(law, &side[which], &seed[which], grid->v[i], acceleration, level, &x, columns, &at,
                 dforce + (size_t)k * (size_t)columns);
    if (!isfinite(force[k])) return OD_NOT_FINITE;
  }
  return OD_OK;
}

// A law outside the family: a complex step of its force per sample and number.
static od_status plain_slopes(const od_friction_law *law, const double *q, bool two_sided, const od_friction_grid *grid,
                              int columns, const int *number, double *force, double *dforce) {
  static const double step = 1e-30;
  double _Complex p[2 * OD_MOST_ELEMENT_FIELDS];
  for (int i = 0; i < od_friction_law_numbers(law, two_sided); i++) p[i] = q[i];
  for (int i = 0; i < grid->nodes; i++) {
    int k = grid->sample[i];
    if (k < 0) continue;
    force[k] = law->steady_r(q, two_sided, grid->v[i]);
    if (!isfinite(force[k])) return OD_NOT_FINITE;
    for (int c = 0; c < columns; c++) {
      p[number[c]] += __builtin_complex(0.0, step);
      dforce[(size_t)k * (size_t)columns + (size_t)c] = __imag__ law->steady_c(p, two_sided, grid->v[i]) / step;
      p[number[c]] = q[number[c]];
    }
  }
  return OD_OK;
}

od_status od_friction_drive_slopes(const od_friction_law *law, const double *q, bool two_sided,
                                   const od_friction_grid *grid, const od_friction_start *start, int columns,
                                   const int *number, double *work, double *force, double *dforce) {
  if (columns < 0 || columns > OD_MOST_DRIVE_COLUMNS) return OD_BAD_ARGUMENT;
  for (int c = 0; c < columns; c++)
    if (number[c] < 0 || number[c] >= od_friction_law_numbers(law, two_sided)) return OD_BAD_ARGUMENT;
  if (!law->has_family) return plain_slopes(law, q, two_sided, grid, columns, number, force, dforce);
  drive_side_r side[2];
  seeds by[2];
  drive_sides_r(law, q, two_sided, start->signal, side);
  for (int i = 0; i < 2; i++)
    seed(law, q, two_sided, start->signal, columns, number, &side[i], i == 1, work + i * PER_SIDE * columns, &by[i]);
  double *state = work + 2 * PER_SIDE * columns;
  memset(state, 0, (size_t)(OF_STATE * columns) * sizeof *state);
  slopes_at at = {state,
                  state + columns,
                  state + 2 * columns,
                  state + 3 * columns,
                  state + 4 * columns,
                  state + 5 * columns,
                  state + 6 * columns,
                  state + 7 * columns};
  return family_slopes(law, side, by, grid, start, columns, at, force, dforce);
}
