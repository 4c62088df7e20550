#include "least_squares/distance.h"

#include <math.h>
#include <string.h>

static const double dependent = 1e-10;  // largest remainder of a dependent row, relative to the length of the row
static const double rounding = 1e-13;   // largest relative violation that is due to rounding

static double dot(int k, const double *a, const double *b) {
  double sum = 0;
  for (int i = 0; i < k; i++) sum += a[i] * b[i];
  return sum;
}

// Removes the span of orthonormal rows from v, in two passes. The coefficients of both passes are added to `along` (may be
// NULL). Returns the length of the remainder.
static double take_out(int k, int count, const double *Q, double *v, double *along) {
  for (int pass = 0; pass < 2; pass++)
    for (int i = 0; i < count; i++) {
      double part = dot(k, Q + i * k, v);
      for (int j = 0; j < k; j++) v[j] -= part * Q[i * k + j];
      if (along) along[i] += part;
    }
  return sqrt(dot(k, v, v));
}

int od_orthonormal_rows(int count, int k, const double *rows, double *Q) {
  int found = 0;
  for (int i = 0; i < count && found < k; i++) {
    double *v = Q + found * k, length = sqrt(dot(k, rows + i * k, rows + i * k));
    memcpy(v, rows + i * k, (size_t)k * sizeof *v);
    double left = take_out(k, found, Q, v, NULL);
    if (!(left > dependent * length)) continue;
    for (int j = 0; j < k; j++) v[j] /= left;
    found++;
  }
  return found;
}

size_t od_distance_size(int k) {
  return (size_t)(2 * k * k + 4 * k + 1);
}

// The active rows as T Q: orthonormal rows Q and a triangle T, in the order of their activation.
typedef struct active_set {
  int count;
  double *Q, *T;  // k x k each; row i = sum over j <= i of T[i k + j] Q_j
  double *z, *r, *along;
} active_set;

static void factor(const od_distance *d, active_set *s) {
  int k = d->k;
  for (int i = 0; i < s->count; i++) {
    double *v = s->Q + i * k, *t = s->T + i * k;
    memcpy(v, d->A + d->order[i] * k, (size_t)k * sizeof *v);
    memset(t, 0, (size_t)k * sizeof *t);
    t[i] = take_out(k, i, s->Q, v, t);
    for (int j = 0; j < k; j++) v[j] /= t[i];
  }
}

// Splits a row into z, the part that is orthogonal to the active rows, and a combination of the active rows with the
// coefficients r. Returns false if z is zero (linearly dependent row).
static bool split(const od_distance *d, active_set *s, const double *row) {
  int k = d->k;
  memcpy(s->z, row, (size_t)k * sizeof *s->z);
  memset(s->along, 0, (size_t)k * sizeof *s->along);
  double left = take_out(k, s->count, s->Q, s->z, s->along);
  for (int i = s->count - 1; i >= 0; i--) {
    double sum = s->along[i];
    for (int j = i + 1; j < s->count; j++) sum -= s->T[j * k + i] * s->r[j];
    s->r[i] = sum / s->T[i * k + i];
  }
  return left > dependent * sqrt(dot(k, row, row));
}

static void drop(od_distance *d, active_set *s, int place) {
  d->active[d->order[place]] = false;
  d->multiplier[d->order[place]] = 0;
  for (int i = place; i + 1 < s->count; i++) d->order[i] = d->order[i + 1];
  s->count--;
  factor(d, s);
}

static double slack_of(const od_distance *d, int row) {
  return dot(d->k, d->A + row * d->k, d->w) - d->b[row];
}

// Returns the largest violation of a row that counts as rounding.
static double tolerance_of(const od_distance *d, int row) {
  double length = sqrt(dot(d->k, d->A + row * d->k, d->A + row * d->k));
  return rounding * (length * (1 + sqrt(dot(d->k, d->w, d->w))) + fabs(d->b[row]));
}

// Activates a violated row: moves w until the row is satisfied, and deactivates inequalities whose multipliers reach
// zero. A row that contradicts other rows is marked as impossible. An equality may be violated on either side.
static void take_in(od_distance *d, active_set *s, int row) {
  int k = d->k;
  double sign = slack_of(d, row) > 0 ? -1 : 1, gained = 0;
  for (int rounds = 0; rounds <= 2 * k; rounds++) {
    bool free = s->count < k && split(d, s, d->A + row * k);
    if (s->count == k) split(d, s, d->A + row * k);
    double most = INFINITY, full = free ? -slack_of(d, row) * sign / dot(k, s->z, s->z) : (double)INFINITY;
    int blocking = -1;
    for (int i = 0; i < s->count; i++) {
      int other = d->order[i];
      double fall = sign * s->r[i];
      if (other < d->equalities || !(fall > 0)) continue;
      double until = d->multiplier[other] / fall;
      if (until < most) most = until, blocking = i;
    }
    double step = fmin(most, full);
    if (!isfinite(step)) {
      d->impossible[row] = fabs(slack_of(d, row)) > 1e3 * tolerance_of(d, row);
      d->multiplier[row] = 0;
      return;
    }
    for (int i = 0; free && i < k; i++) d->w[i] += sign * step * s->z[i];
    for (int i = 0; i < s->count; i++) d->multiplier[d->order[i]] -= sign * step * s->r[i];
    gained += sign * step;
    d->multiplier[row] = gained;
    if (full <= most) {
      d->active[row] = true;
      d->order[s->count++] = row;
      factor(d, s);
      return;
    }
    drop(d, s, blocking);
  }
}

void od_distance_solve(od_distance *d) {
  int k = d->k;
  double *at = d->memory;
  active_set s = {
      .Q = at, .T = at + k * k, .z = at + 2 * k * k, .r = at + 2 * k * k + k, .along = at + 2 * k * k + 2 * k};
  memset(d->multiplier, 0, (size_t)d->rows * sizeof *d->multiplier);
  memset(d->active, 0, (size_t)d->rows * sizeof *d->active);
  memset(d->impossible, 0, (size_t)d->rows * sizeof *d->impossible);
  for (int i = 0; i < d->equalities; i++) take_in(d, &s, i);
  for (int rounds = 0; rounds < 10 * (d->rows + d->k); rounds++) {
    int worst = -1;
    double most = 0;
    for (int i = d->equalities; i < d->rows; i++) {
      if (d->active[i] || d->impossible[i]) continue;
      double length = sqrt(dot(d->k, d->A + i * d->k, d->A + i * d->k)), slack = slack_of(d, i);
      if (slack >= -tolerance_of(d, i)) continue;
      double off = length > 0 ? -slack / length : (double)INFINITY;
      if (off > most) most = off, worst = i;
    }
    if (worst < 0) return;
    take_in(d, &s, worst);
  }
}
