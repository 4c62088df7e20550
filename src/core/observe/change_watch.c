#include "observe/change_watch.h"

#include <math.h>
#include <string.h>

#include "base/wide.h"
#include "math/dense.h"

// The magnitude of a standard normal number exceeds this limit with a probability of 4e-8. docs/theory.md gives the
// resulting rate of false alarms.
static const double deviation_limit = 5.5;
// If |z| exceeds this limit, the watch reports a change even if several parameters may be its cause (see cause_margin).
static const double patience_limit = 9;
// Twice the logarithm of the ratio of two likelihoods, above which the less likely cause is excluded (100 to 1).
static const double cause_margin = 9.2;
// Decrease of twice the log likelihood at the ends of the 95 % interval of a time (chi-squared with one degree of freedom).
static const double interval_drop = 3.84;
// A parameter is watched from times at which its variance was below this fraction of the variance of a change.
static const double watched_fraction = 0.25;

static size_t columns_of(int watched) {
  return (size_t)OD_WATCH_SLOTS * (size_t)watched;
}

// Assigns the arrays of the watch in `memory`; NULL: only counts. Returns the number of doubles.
static size_t lay_out(od_change_watch *w, double *memory) {
  size_t nx = (size_t)w->nx, n = nx + (size_t)w->np, ny = (size_t)w->ny, m = (size_t)w->watched,
         M = columns_of(w->watched);
  const struct {
    double **at;
    size_t count;
  } arrays[] = {{&w->b, n * M},
                {&w->moved, nx * M + n + m * (2 * m + n + 1)},
                {&w->c, M},
                {&w->d, M * m},
                {&w->seen, M},
                {&w->time, OD_WATCH_SLOTS},
                {&w->age, OD_WATCH_SLOTS},
                {&w->estimate, M},
                {&w->variance, M},
                {&w->possible, m},
                {&w->suspect, m},
                {&w->before, m},
                {&w->before_variance, m},
                {&w->row, ny * n},
                {&w->gain, ny * n},
                {&w->value, ny},
                {&w->s, ny}};
  size_t end = 0;
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
    if (memory) *arrays[i].at = memory + end;
    end += arrays[i].count;
  }
  return end;
}

size_t od_change_watch_size(int nx, int np, int ny, int watched) {
  od_change_watch w = {.nx = nx, .np = np, .ny = ny, .watched = watched};
  return lay_out(&w, NULL);
}

void od_change_watch_init(od_change_watch *w, int nx, int np, int ny, int watched, const int *parameter,
                          const double *change, double *memory) {
  *w = (od_change_watch){.nx = nx, .np = np, .ny = ny, .watched = watched, .parameter = parameter, .change = change};
  size_t size = lay_out(w, memory);
  for (size_t i = 0; i < size; i++) memory[i] = 0;
}

void od_change_watch_restart(od_change_watch *w) {
  w->slots = 0;
}

// --- Signatures -----------------------------------------------------------------------------------------------------

// Computes to <- to + factor * from.
OD_WIDE static void add_row(size_t count, double factor, const double *restrict from, double *restrict to) {
  for (size_t k = 0; k < count; k++) to[k] += factor * from[k];
}

// Signatures in use are the first columns.
static size_t columns_in_use(const od_change_watch *w) {
  return (size_t)w->slots * (size_t)w->watched;
}

void od_change_watch_predict(od_change_watch *w, const double *A, const double *B) {
  size_t M = columns_of(w->watched), count = columns_in_use(w);
  if (count == 0) return;
  for (int i = 0; i < w->nx; i++) {
    double *to = w->moved + (size_t)i * M;
    memset(to, 0, count * sizeof *to);
    for (int j = 0; j < w->nx; j++)
      if (A[i * w->nx + j] != 0) add_row(count, A[i * w->nx + j], w->b + (size_t)j * M, to);
    for (int j = 0; j < w->np; j++)
      if (B[i * w->np + j] != 0) add_row(count, B[i * w->np + j], w->b + (size_t)(w->nx + j) * M, to);
  }
  for (int i = 0; i < w->nx; i++) memcpy(w->b + (size_t)i * M, w->moved + (size_t)i * M, count * sizeof *w->b);
}

void od_change_watch_begin_pass(od_change_watch *w) {
  w->rows = w->gains = 0;
}

void od_change_watch_sensor(od_change_watch *w, const double *h, double value, double s) {
  size_t n = (size_t)(w->nx + w->np);
  memcpy(w->row + (size_t)w->rows * n, h, n * sizeof *h);
  w->value[w->rows] = value, w->s[w->rows++] = s;
}

void od_change_watch_gain(od_change_watch *w, const double *gain) {
  size_t n = (size_t)(w->nx + w->np);
  memcpy(w->gain + (size_t)w->gains++ * n, gain, n * sizeof *gain);
}

void od_change_watch_corrected(od_change_watch *w) {
  int n = w->nx + w->np, m = w->watched;
  size_t M = columns_of(m), count = columns_in_use(w);
  for (int k = 0; k < w->rows && count > 0; k++) {
    const double *h = w->row + k * n, *gain = w->gain + k * n;
    memset(w->seen, 0, count * sizeof *w->seen);
    for (int j = 0; j < n; j++)
      if (h[j] != 0) add_row(count, h[j], w->b + (size_t)j * M, w->seen);
    add_row(count, w->value[k] / w->s[k], w->seen, w->c);
    for (size_t column = 0; column < count; column++)
      add_row((size_t)m, w->seen[column] / w->s[k], w->seen + column / (size_t)m * (size_t)m,
              w->d + column * (size_t)m);
    for (int j = 0; j < n; j++)
      if (gain[j] != 0) add_row(count, -gain[j], w->seen, w->b + (size_t)j * M);
  }
  w->rows = w->gains = 0;
}

// --- Starting times -------------------------------------------------------------------------------------------------

// Returns the place in `order` of the slot to be reused. Without this slot the ages of the other slots are closest to a geometric series.
// The oldest and the youngest slot stay.
static int find_dispensable(const od_change_watch *w) {
  int best = 1;
  double least = INFINITY;
  for (int k = 1; k + 1 < w->slots; k++) {
    double ratio = w->age[w->order[k - 1]] / w->age[w->order[k + 1]];
    if (ratio < least) least = ratio, best = k;
  }
  return best;
}

// Starts the signatures of all watched parameters at the time t of the current sample, in a free slot or in the slot of
// find_dispensable().
static void begin_slot(od_change_watch *w, double t, const double *p, const double *p_variance) {
  int n = w->nx + w->np, m = w->watched, slot = w->slots;
  size_t M = columns_of(m);
  if (w->slots < OD_WATCH_SLOTS) {
    w->order[w->slots++] = slot;
  } else {
    int place = find_dispensable(w);
    slot = w->order[place];
    memmove(w->order + place, w->order + place + 1, (size_t)(OD_WATCH_SLOTS - 1 - place) * sizeof *w->order);
    w->order[OD_WATCH_SLOTS - 1] = slot;
  }
  w->time[slot] = t, w->age[slot] = 0;
  memset(w->c + slot * m, 0, (size_t)m * sizeof *w->c);
  memset(w->d + slot * m * m, 0, (size_t)(m * m) * sizeof *w->d);
  for (int i = 0; i < m; i++) {
    for (int j = 0; j < n; j++) w->b[(size_t)j * M + (size_t)(slot * m + i)] = j == w->nx + w->parameter[i];
    w->estimate[slot * m + i] = p[w->parameter[i]];
    w->variance[slot * m + i] = p_variance[w->parameter[i]];
  }
}

// --- Detection ------------------------------------------------------------------------------------------------------

static bool is_known(const od_change_watch *w, int slot, int i) {
  return w->variance[slot * w->watched + i] < watched_fraction * w->change[i] * w->change[i];
}

// Returns twice the logarithm of the likelihood ratio of a change of parameter i at the start of a slot; -INFINITY: the estimate of the
// parameter was too uncertain at this time, or no sensor has depended on the parameter since.
static double gain_of(const od_change_watch *w, int slot, int i) {
  int m = w->watched;
  double c = w->c[slot * m + i], d = w->d[(slot * m + i) * m + i], q = w->change[i] * w->change[i];
  if (!is_known(w, slot, i) || !(d > 0)) return -INFINITY;
  return c * c / (d + 1 / q) - log1p(d * q);
}

static double deviation_of(const od_change_watch *w, int slot, int i) {
  int m = w->watched;
  double d = w->d[(slot * m + i) * m + i];
  return is_known(w, slot, i) && d > 0 ? fabs(w->c[slot * m + i]) / sqrt(d) : 0;
}

// The most likely change of a parameter, over all starting times.
typedef struct likely {
  double gain, deviation;  // largest result of gain_of(), and largest |z|
} likely;

static likely most_likely(const od_change_watch *w, int i) {
  likely best = {-INFINITY, 0};
  for (int slot = 0; slot < w->slots; slot++) {
    best.gain = fmax(best.gain, gain_of(w, slot, i));
    best.deviation = fmax(best.deviation, deviation_of(w, slot, i));
  }
  return best;
}

// Returns the index of the watched parameter that has most likely changed. Returns -1 if no parameter has both |z| above
// deviation_limit and a positive gain. Also returns -1 if several parameters may be the cause (their gains differ by less than
// cause_margin) and |z| is below patience_limit. Marks all possible causes in w->possible, if at least one parameter may be the cause.
static int find_change(od_change_watch *w) {
  int best = -1, causes = 0;
  likely cause = {0, 0};
  for (int i = 0; i < w->watched; i++) {
    likely now = most_likely(w, i);
    if (now.deviation > deviation_limit && now.gain > cause.gain) cause = now, best = i;
  }
  if (best < 0) return -1;
  for (int i = 0; i < w->watched; i++) {
    bool possible = i == best || most_likely(w, i).gain > cause.gain - cause_margin;
    w->possible[i] = possible;
    causes += possible;
  }
  return causes == 1 || cause.deviation > patience_limit ? best : -1;
}

// Computes the 95 % interval of the time at which watched parameter i has changed (out->earliest, out->latest). Returns
// the slot of the most likely time.
static int find_time(const od_change_watch *w, double t, int i, od_parameter_change *out) {
  double most = most_likely(w, i).gain;
  int first = -1, last = -1, best = 0;
  for (int k = 0; k < w->slots; k++) {
    double gain = gain_of(w, w->order[k], i);
    if (gain >= most) best = w->order[k];
    if (!(gain > most - interval_drop)) continue;
    if (first < 0) first = k;
    last = k;
  }
  // A change between the starting times of two slots has nearly the likelihood of both slots.
  out->earliest = w->time[w->order[first > 0 ? first - 1 : first]];
  out->latest = last + 1 < w->slots ? w->time[w->order[last + 1]] : t;
  return best;
}

// Scratch memory of a correction: D = d + 1/q and its Cholesky factor L (watched x watched each), W = L^-1 b' (watched
// x n), u = L^-1 c (watched).
typedef struct scratch {
  double *D, *L, *W, *u;
} scratch;

static scratch scratch_of(const od_change_watch *w) {
  int m = w->watched, n = w->nx + w->np;
  double *D = w->moved + (size_t)w->nx * columns_of(m) + n;
  return (scratch){D, D + m * m, D + 2 * m * m, D + 2 * m * m + m * n};
}

// Computes u = L^-1 c and W = L^-1 b' for changes of all possible causes at the start of a slot, with L L' = d + 1/q. Returns twice
// the logarithm of the likelihood ratio; -INFINITY: at this time, the estimate of a possible cause was too uncertain, or L does not
// exist. *count: number of causes.
static double solve(const od_change_watch *w, int slot, scratch x, int *count) {
  int n = w->nx + w->np, m = w->watched, row = 0;
  size_t M = columns_of(m);
  double gain = 0;
  *count = 0;
  for (int i = 0; i < m; i++) *count += w->possible[i] > 0;
  for (int i = 0; i < m; i++) {
    if (!(w->possible[i] > 0)) continue;
    if (!is_known(w, slot, i)) return -INFINITY;
    int column = 0;
    for (int j = 0; j < m; j++)
      if (w->possible[j] > 0) x.D[row * *count + column++] = w->d[(slot * m + i) * m + j];
    x.D[row * *count + row] += 1 / (w->change[i] * w->change[i]);
    for (int j = 0; j < n; j++) x.W[row * n + j] = w->b[(size_t)j * M + (size_t)(slot * m + i)];
    x.u[row++] = w->c[slot * m + i];
    gain -= 2 * log(w->change[i]);
  }
  if (od_cholesky(*count, x.D, x.L) != *count) return -INFINITY;
  for (int i = 0; i < *count; i++) {
    const double *L = x.L + i * *count;
    for (int k = 0; k < i; k++) {
      for (int j = 0; j < n; j++) x.W[i * n + j] -= L[k] * x.W[k * n + j];
      x.u[i] -= L[k] * x.u[k];
    }
    for (int j = 0; j < n; j++) x.W[i * n + j] /= L[i];
    x.u[i] /= L[i];
    gain += x.u[i] * x.u[i] - 2 * log(L[i]);
  }
  return gain;
}

// Adds a multiple of the change of the estimate to `sum` (n). part: the factor; x: the solution that solve() has computed.
static void add_change(int n, int count, scratch x, double part, double *sum) {
  for (int k = 0; k < count; k++)
    for (int j = 0; j < n; j++) sum[j] += part * x.W[k * n + j] * x.u[k];
}

// Computes the mean delta (n) and the covariance P (n x n) of the change of the estimate, over all starting times. The weight of a time is
// the likelihood of a change in the interval between neighboring times. Returns false if solve() fails for each time.
static bool correct(od_change_watch *w, double t, double *delta, double *P) {
  int n = w->nx + w->np, count;
  scratch x = scratch_of(w);
  double most = -INFINITY, all = 0, *weight = w->seen, *moved = x.D - n;
  for (int k = 0; k < w->slots; k++) {
    weight[k] = solve(w, w->order[k], x, &count);
    most = fmax(most, weight[k]);
  }
  if (!(most > -INFINITY)) return false;
  for (int k = 0; k < w->slots; k++) {
    double from = w->time[w->order[k > 0 ? k - 1 : 0]], to = k + 1 < w->slots ? w->time[w->order[k + 1]] : t;
    weight[k] = exp(0.5 * (weight[k] - most)) * (to - from);
    all += weight[k];
  }
  memset(delta, 0, (size_t)n * sizeof *delta);
  memset(P, 0, (size_t)(n * n) * sizeof *P);
  for (int k = 0; k < w->slots; k++) {
    if (!((weight[k] /= all) > 0)) continue;
    solve(w, w->order[k], x, &count);
    add_change(n, count, x, weight[k], delta);
  }
  for (int k = 0; k < w->slots; k++) {
    if (!(weight[k] > 0)) continue;
    solve(w, w->order[k], x, &count);
    for (int j = 0; j < n; j++) moved[j] = -delta[j];
    add_change(n, count, x, 1, moved);
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) {
        double sum = moved[i] * moved[j];
        for (int l = 0; l < count; l++) sum += x.W[l * n + i] * x.W[l * n + j];
        P[i * n + j] += weight[k] * sum;
      }
  }
  return true;
}

bool od_change_watch_end(od_change_watch *w, double t, const double *p, const double *p_variance, bool is_valid,
                         double *delta, double *P, od_parameter_change *out) {
  int m = w->watched;
  if (!is_valid) {
    od_change_watch_restart(w);
    return false;
  }
  for (int slot = 0; slot < w->slots; slot++) w->age[slot]++;
  int best = find_change(w);
  if (best < 0 || !correct(w, t, delta, P)) {
    begin_slot(w, t, p, p_variance);
    return false;
  }
  memcpy(w->suspect, w->possible, (size_t)m * sizeof *w->suspect);
  *out = (od_parameter_change){.parameter = w->parameter[best], .time = t};
  int slot = find_time(w, t, best, out);
  for (int i = 0; i < m; i++) {
    w->before[i] = w->estimate[slot * m + i];
    w->before_variance[i] = w->variance[slot * m + i];
  }
  out->before = w->before[best], out->sigma = sqrt(w->before_variance[best]);
  int at = w->nx + out->parameter;
  out->after = p[out->parameter] + delta[at];
  out->after_sigma = sqrt(p_variance[out->parameter] + P[at * (w->nx + w->np + 1)]);
  od_change_watch_restart(w);
  return true;
}

void od_change_watch_name(const od_change_watch *w, const double *p, const double *p_variance,
                          od_parameter_change *out) {
  double largest = -1;
  for (int i = 0; i < w->watched; i++) {
    int at = w->parameter[i];
    double deviations = fabs(p[at] - w->before[i]) / sqrt(p_variance[at] + w->before_variance[i]);
    if (!(w->suspect[i] > 0) || !(deviations > largest)) continue;
    largest = deviations;
    out->parameter = at;
    out->before = w->before[i], out->sigma = sqrt(w->before_variance[i]);
    out->after = p[at], out->after_sigma = sqrt(p_variance[at]);
  }
}

void od_change_watch_transfer(od_change_watch *w, od_pieces *t) {
  od_pieces_bytes(t, w->b, od_change_watch_size(w->nx, w->np, w->ny, w->watched) * sizeof *w->b);
  const int *slots = od_pieces_bytes(t, &w->slots, sizeof w->slots);
  const int *order = od_pieces_bytes(t, w->order, sizeof w->order);
  if (slots)
    od_pieces_expect(t, *slots >= 0 && *slots <= OD_WATCH_SLOTS, "the number of starting times is out of range");
  for (int i = 0; order && i < OD_WATCH_SLOTS; i++)
    od_pieces_expect(t, order[i] >= 0 && order[i] < OD_WATCH_SLOTS, "the index of a starting time is out of range");
}
