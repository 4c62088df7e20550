// The force of a driven friction law and its derivatives with respect to numbers of the law. The derivatives of the family's
// parameters with respect to a number ("seeds") come from one complex step of the law for each direction. The derivatives of the
// states are linear recursions from node to node. The coefficients of a batch are computed first, then the derivatives, for four
// numbers at a time.
#include <string.h>

#include "friction/drive_batch.h"

#if OD_WITH_COMPLEX

// Derivatives of the parameters of one direction and of constants computed from the parameters: `columns` entries for each.
typedef struct seeds {
  const double *by[OD_FAMILY_COUNT];
  double *log_vs, *complete_film, *log_gain;
} seeds;

enum { PER_SIDE = OD_FAMILY_COUNT + 3, OF_STATE = 2 };

size_t od_friction_slopes_work(int columns) {
  return (size_t)(2 * PER_SIDE + OF_STATE) * (size_t)columns;
}

// Computes the seeds of one direction in the memory at `at` (PER_SIDE x columns); *out receives pointers to the seeds.
static void seed(const od_friction_law *law, const double *q, bool two_sided, double signal, int columns,
                 const int *number, const driven_direction_r *s, bool negative, double *at, seeds *out) {
  static const double step = 1e-30;
  od_complex p[2 * OD_MOST_ELEMENT_FIELDS], family[OD_FAMILY_COUNT];
  int count = od_friction_law_numbers(law, two_sided);
  for (int i = 0; i < count; i++) p[i] = q[i];
  for (int c = 0; c < columns; c++) {
    p[number[c]] += OD_COMPLEX_OF(0.0, step);
    law->family_c(p, two_sided, negative, signal, family);
    p[number[c]] = q[number[c]];
    for (int k = 0; k < OD_FAMILY_COUNT; k++) at[k * columns + c] = od_imaginary(family[k]) / step;
  }
  for (int k = 0; k < OD_FAMILY_COUNT; k++) out->by[k] = at + k * columns;
  out->log_vs = at + OD_FAMILY_COUNT * columns;
  out->complete_film = out->log_vs + columns;
  out->log_gain = out->complete_film + columns;
  const family_r *f = &s->f;
  for (int c = 0; c < columns; c++) {
    out->log_vs[c] = out->by[OD_FAMILY_VS][c] / f->vs;
    out->complete_film[c] =
        f->Fs > f->Fc ? (out->by[OD_FAMILY_FS][c] * f->Fc / f->Fs - out->by[OD_FAMILY_FC][c]) / f->Fs : 0;
    out->log_gain[c] = -(out->log_vs[c] + out->by[OD_FAMILY_LOG_VB_VS][c]) * (2.0 / 3);
  }
}

// Coefficients of the derivatives of a batch. At node j, with d for derivatives:
//   dtarget = whole dcomplete_film + by_gain dlog_gain
//   dlevel  = by_Fs dFs + by_Fc dFc + by_n dn + by_vs dlog_vs + by_film dfilm
//   dforce  = of_bristle dbristle + of_level dlevel + v dviscous + own d_own
// where d_own is dsigma_1, or dv0 for laws without bristles; add_rate_terms() adds further terms of dforce. From j to j + 1:
//   dfilm    = film dfilm + of_target dtarget[j] + of_next dtarget[j + 1] + of_rate drate
//   dbristle = bristle dbristle + of_before dlevel[j] + of_behind dlevel[j + 1] + of_sigma dsigma_0
typedef struct coefficients {
  double whole[OD_DRIVE_NODES], by_gain[OD_DRIVE_NODES], by_Fs[OD_DRIVE_NODES], by_Fc[OD_DRIVE_NODES];
  double by_n[OD_DRIVE_NODES], by_vs[OD_DRIVE_NODES], by_film[OD_DRIVE_NODES];
  double of_bristle[OD_DRIVE_NODES], of_level[OD_DRIVE_NODES], own[OD_DRIVE_NODES];
  double film[OD_DRIVE_NODES], of_target[OD_DRIVE_NODES], of_next[OD_DRIVE_NODES], of_rate[OD_DRIVE_NODES];
  double of_before[OD_DRIVE_NODES], of_behind[OD_DRIVE_NODES], of_sigma[OD_DRIVE_NODES];
} coefficients;

// Computes the coefficients of target and level at node j.
OD_INTO_WIDE void coefficients_of_node(const driven_direction_r *s, const od_friction_grid *grid, const drive_batch *b,
                                       bool exponential, double has_film, int j, coefficients *k) {
  double L = grid->log_speed[b->first + j] - s->log_vs, S = b->S[j], film = b->target[j] + b->lag[j];
  double share = s->film_gain * grid->film_power[b->first + j], counted = film < 0 ? 0 : film > 1 ? 1 : film;
  k->whole[j] = has_film * (share < 1 ? share : 1);
  k->by_gain[j] = share < 1 ? b->target[j] : 0;
  double per_log = -b->power[j] * (exponential ? S : S * S);
  double by_S = ((1 - counted) * s->f.Fs - s->f.Fc) * per_log, n = s->f.n;
  bool least = b->level[j] <= s->least_level, counts = film >= 0 && film < 1;
  k->by_Fs[j] = least ? OD_FRICTION_LEAST_LEVEL : (1 - counted) * S;
  k->by_Fc[j] = least ? OD_FRICTION_LEAST_LEVEL : 1 - S;
  k->by_n[j] = least ? 0 : by_S * L;
  k->by_vs[j] = least ? 0 : -by_S * n;
  k->by_film[j] = least ? 0 : counts ? -s->f.Fs * S : 0;
}

// Returns the derivative of (1 - exp(-a))/a with respect to a.
OD_INTO_WIDE double mean_decay_slope(double a, double E, double mean) {
  double far = (E - mean) / a, near_zero = -0.5 + a * (1.0 / 3);
  return a > 1e-5 ? far : near_zero;
}

// Computes the coefficients of the film for all steps of a batch.
OD_INTO_WIDE void film_coefficients(const driven_direction_r *s, const od_friction_grid *grid, const drive_batch *b,
                                    coefficients *k) {
  const double *t = grid->t + b->first;
  for (int j = 0; j < b->steps; j++) {
    bool shrinks = film_shrinks(b, j, b->lag[j]);
    double E = shrinks ? b->film_decay[1][j] : b->film_decay[0][j];
    double mean = shrinks ? b->film_mean[1][j] : b->film_mean[0][j];
    double rate = b->rests ? s->f.rest_rate : shrinks ? s->f.shrink_rate : s->f.growth_rate, dt = t[j + 1] - t[j];
    k->film[j] = E, k->of_target[j] = mean - E, k->of_next[j] = 1 - mean;
    k->of_rate[j] = -dt * (b->lag[j] * E + (b->target[j + 1] - b->target[j]) * mean_decay_slope(dt * rate, E, mean));
  }
}

// Computes the coefficients of the bristles for all steps of a batch.
OD_INTO_WIDE void bristle_coefficients(const driven_direction_r *s, const od_friction_grid *grid, const drive_batch *b,
                                       coefficients *k) {
  const double *v = grid->v + b->first;
  double per_sigma = 1 / s->f.sigma_0;
  for (int j = 0; j < b->steps; j++) {
    double sum = v[j] + v[j + 1],
           sign = sum < 0   ? -1
                  : sum > 0 ? 1
                            : 0,
           a = b->a[j], E = b->decay[j], mean = b->mean[j];
    double before = b->level[j], level = b->level[j + 1], slope = mean_decay_slope(a, E, mean);
    double by_a = -(b->bristle[j] - sign * before) * E - sign * (level - before) * slope;
    double by_sum = -by_a * a / (before + level);
    k->of_sigma[j] = by_a * a * per_sigma;
    k->of_before[j] = sign * (mean - E) + by_sum;
    k->of_behind[j] = sign * (1 - mean) + by_sum;
  }
}

// Computes the coefficients of the force at all nodes of a batch.
OD_INTO_WIDE void force_coefficients(const od_friction_law *law, const driven_direction_r *s,
                                     const od_friction_grid *grid, const drive_batch *b, coefficients *k) {
  const double *v = grid->v + b->first;
  for (int j = 0; j <= b->steps && !law->has_bristles; j++) {
    double t = tanh(v[j] / s->f.v0);
    k->of_bristle[j] = 0, k->of_level[j] = t;
    k->own[j] = -(1 - t * t) * v[j] / (s->f.v0 * s->f.v0) * b->level[j];
  }
  for (int j = 0; j <= b->steps && law->has_bristles; j++) {
    double speed = fabs(v[j]), part = b->bristle[j] / b->level[j], per_level = s->f.sigma_1 * speed / b->level[j];
    k->of_bristle[j] = 1 - per_level, k->of_level[j] = per_level * part;
    k->own[j] = v[j] - speed * part;
  }
}

// Computes all coefficients of a batch. If the law has no film or no bristles, the corresponding coefficients are constants.
OD_INTO_WIDE void batch_coefficients(const od_friction_law *law, const driven_direction_r *s,
                                     const od_friction_grid *grid, const drive_batch *b, coefficients *k) {
  double has_film = law->has_film || !law->has_bristles;
  if (law->shape == OD_STRIBECK_EXPONENTIAL)
    for (int j = 0; j <= b->steps; j++) coefficients_of_node(s, grid, b, true, has_film, j, k);
  else
    for (int j = 0; j <= b->steps; j++) coefficients_of_node(s, grid, b, false, has_film, j, k);
  if (law->has_film)
    film_coefficients(s, grid, b, k);
  else
    for (int j = 0; j < b->steps; j++) k->film[j] = k->of_target[j] = k->of_rate[j] = 0, k->of_next[j] = 1;
  if (law->has_bristles)
    bristle_coefficients(s, grid, b, k);
  else
    for (int j = 0; j < b->steps; j++) k->of_sigma[j] = k->of_before[j] = k->of_behind[j] = 0;
  force_coefficients(law, s, grid, b, k);
}

// Loads `count` (at most four) numbers into *four; the remaining entries of *four are zero.
OD_INTO_WIDE void take_four(const double *at, int count, od_quad *four) {
  *four = (od_quad){0, 0, 0, 0};
  memcpy(four, at, (size_t)count * sizeof *at);
}

// Seeds of one direction for four columns.
typedef struct four_seeds {
  od_quad complete_film, log_gain, Fs, Fc, n, log_vs, sigma_0, viscous, own, inertia, film_force, rate[2];
} four_seeds;

// Loads the seeds of the columns starting at `at`.
OD_INTO_WIDE void take_seeds(const od_friction_law *law, const seeds *d, bool rests, int at, int count, four_seeds *q) {
  take_four(d->complete_film + at, count, &q->complete_film);
  take_four(d->log_gain + at, count, &q->log_gain);
  take_four(d->log_vs + at, count, &q->log_vs);
  take_four(d->by[OD_FAMILY_FS] + at, count, &q->Fs);
  take_four(d->by[OD_FAMILY_FC] + at, count, &q->Fc);
  take_four(d->by[OD_FAMILY_N] + at, count, &q->n);
  take_four(d->by[OD_FAMILY_SIGMA_0] + at, count, &q->sigma_0);
  take_four(d->by[OD_FAMILY_VISCOUS] + at, count, &q->viscous);
  take_four(d->by[law->has_bristles ? OD_FAMILY_SIGMA_1 : OD_FAMILY_V0] + at, count, &q->own);
  take_four(d->by[OD_FAMILY_INERTIA] + at, count, &q->inertia);
  take_four(d->by[OD_FAMILY_FILM_FORCE] + at, count, &q->film_force);
  take_four(d->by[OD_FAMILY_GROWTH_RATE] + at, count, &q->rate[0]);
  take_four(d->by[rests ? OD_FAMILY_REST_RATE : OD_FAMILY_SHRINK_RATE] + at, count, &q->rate[1]);
}

// Adds the derivatives of terms that few laws have: the term with the acceleration, and the term with the rate of the film, which
// is -rate * lag.
OD_INTO_WIDE void add_rate_terms(const driven_direction_r *s, const od_friction_grid *grid, const drive_batch *b, int j,
                                 const four_seeds *d, const od_quad *dlag, const od_quad *drate, od_quad *row) {
  const double *v = grid->v + b->first + j, *t = grid->t + b->first + j;
  double side = (v[0] > 0) - (v[0] < 0), rate = film_rate_factor(s, b, j);
  *row += (v[0] - v[-1]) / (t[0] - t[-1]) * d->inertia;
  *row += side * (film_rate_at(s, b, j) * d->film_force - s->f.film_force * (rate * *dlag + b->lag[j] * *drate));
}

// Computes the columns from `at` to at + count - 1 of dforce for a batch, and updates the derivatives of the states (`state`).
OD_INTO_WIDE void four_columns(const od_friction_law *law, const driven_direction_r *s, const seeds *seed,
                               const od_friction_grid *grid, const drive_batch *b, const coefficients *k, int at,
                               int count, int columns, double *state, double *dforce) {
  four_seeds d;
  take_seeds(law, seed, b->rests, at, count, &d);
  od_quad dfilm, dbristle, dtarget = k->whole[0] * d.complete_film + k->by_gain[0] * d.log_gain;
  take_four(state + at, count, &dfilm);
  take_four(state + columns + at, count, &dbristle);
  if (!law->has_film) dfilm = dtarget;
  od_quad dlevel =
      (k->by_Fs[0] * d.Fs + k->by_Fc[0] * d.Fc + k->by_n[0] * d.n + k->by_vs[0] * d.log_vs) + k->by_film[0] * dfilm;
  size_t size = (size_t)count * sizeof *dforce;
  if (b->first == 0) {
    od_quad row = k->of_bristle[0] * dbristle + k->of_level[0] * dlevel + grid->v[0] * d.viscous + k->own[0] * d.own;
    memcpy(dforce + at, &row, size);
  }
  for (int j = 0; j < b->steps; j++) {
    od_quad drate = d.rate[film_shrinks(b, j, b->lag[j])];
    od_quad next = k->whole[j + 1] * d.complete_film + k->by_gain[j + 1] * d.log_gain;
    dfilm = k->film[j] * dfilm + (k->of_target[j] * dtarget + k->of_next[j] * next + k->of_rate[j] * drate);
    od_quad behind =
        (k->by_Fs[j + 1] * d.Fs + k->by_Fc[j + 1] * d.Fc + k->by_n[j + 1] * d.n + k->by_vs[j + 1] * d.log_vs) +
        k->by_film[j + 1] * dfilm;
    dbristle =
        b->decay[j] * dbristle + (k->of_before[j] * dlevel + k->of_behind[j] * behind + k->of_sigma[j] * d.sigma_0);
    dtarget = next, dlevel = behind;
    int sample = grid->sample[b->first + j + 1];
    if (sample < 0) continue;
    od_quad row = (k->of_bristle[j + 1] * dbristle + k->of_level[j + 1] * dlevel) +
                  (grid->v[b->first + j + 1] * d.viscous + k->own[j + 1] * d.own),
            dlag = dfilm - dtarget;
    if (law->has_rate_terms) add_rate_terms(s, grid, b, j + 1, &d, &dlag, &drate, &row);
    memcpy(dforce + (size_t)sample * (size_t)columns + at, &row, size);
  }
  memcpy(state + at, &dfilm, size);
  memcpy(state + columns + at, &dbristle, size);
}

// Computes the driven motion of a law of the LuGre family with constant parameters, and its derivatives. state: memory
// for the derivatives of film and bristle (2 x columns), initially zero. Returns OD_NOT_FINITE if a force is infinite
// or NaN.
OD_WIDE static od_status family_slopes(const od_friction_law *law, const driven_direction_r side[2],
                                       const seeds seed[2], const od_friction_grid *grid,
                                       const od_friction_start *start, int columns, double *state, double *force,
                                       double *dforce) {
  double bristle = start->bristle, film = start->film;
  drive_batch b;
  b.paced[0] = b.paced[1] = b.paced_dt = 0;
  coefficients k;
  int first = 0;
  do {
    drive_batch_begin(&b, grid, first);
    const driven_direction_r *s = &side[b.direction];
    batch_run(law, s, grid, bristle, film, &b);
    if (put_batch(law, s, grid, &b, &(od_friction_motion){.force = force}) != OD_OK) return OD_NOT_FINITE;
    batch_coefficients(law, s, grid, &b, &k);
    int at = 0;
    for (; at + 4 <= columns; at += 4)
      four_columns(law, s, &seed[b.direction], grid, &b, &k, at, 4, columns, state, dforce);
    if (at < columns) four_columns(law, s, &seed[b.direction], grid, &b, &k, at, columns - at, columns, state, dforce);
    bristle = b.bristle[b.steps], film = b.target[b.steps] + b.lag[b.steps];
    first += b.steps;
  } while (first + 1 < grid->nodes);
  return OD_OK;
}

od_status od_friction_drive_slopes(const od_friction_law *law, const double *q, bool two_sided,
                                   const od_friction_grid *grid, const od_friction_start *start, int columns,
                                   const int *number, double *work, double *force, double *dforce) {
  if (columns < 0 || columns > OD_MOST_DRIVE_COLUMNS) return OD_BAD_ARGUMENT;
  for (int c = 0; c < columns; c++)
    if (number[c] < 0 || number[c] >= od_friction_law_numbers(law, two_sided)) return OD_BAD_ARGUMENT;
  if (!law->has_family || start->signals)
    return od_friction_node_slopes(law, q, two_sided, grid, start, columns, number, force, dforce);
  driven_direction_r side[2];
  seeds by[2];
  for (int i = 0; i < 2; i++) driven_direction_of_r(law, q, two_sided, i == 1, start->signal, &side[i]);
  for (int i = 0; i < 2; i++)
    seed(law, q, two_sided, start->signal, columns, number, &side[i], i == 1, work + i * PER_SIDE * columns, &by[i]);
  double *state = work + 2 * PER_SIDE * columns;
  memset(state, 0, (size_t)(OF_STATE * columns) * sizeof *state);
  return family_slopes(law, side, by, grid, start, columns, state, force, dforce);
}
#endif
