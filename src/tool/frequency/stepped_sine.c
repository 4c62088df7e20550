// Evaluates a stepped sine: sine, cosine and offset of each signal in each segment by least squares, from sums over the samples.
//
// The uncertainty depends on the noise at the frequency f of the sine. This noise cannot be separated from the sine.
// Within n periods the neighboring frequencies f (1 +- j/n) are orthogonal to the sine and are not harmonics of f. The
// output at these frequencies is noise, and noise of any color has about the same power at f. The mean square of the
// amplitudes of the sines and cosines at these frequencies is the variance of the amplitudes at f. The number of
// degrees of freedom is the number of terms.
#include <math.h>

#include "base/allocate.h"
#include "frequency/frequency_response.h"

// Largest number of neighboring frequencies on each side; number of sines and cosines at these frequencies.
enum { PAIRS = 3, NEIGHBORS = 4 * PAIRS };

// Sums of one signal in one segment: its products with sine, cosine and 1, with neighboring sines and cosines, and with itself.
typedef struct sums {
  double product[3], neighbor[NEIGHBORS], square;
} sums;

struct od_sine_fit {
  int count, outputs;
  double *frequency, *begin;  // begin has one more entry: the end of the last segment
  double settle, settled;     // per segment: number of omitted periods, and number of remaining periods
  int pairs, away[PAIRS];     // values of j in the neighboring frequencies f (1 +- j/n)
  double *normal;  // 6 per segment: packed normal matrix, the sums of all pairwise products of sine, cosine and 1
  double *mixed;   // NEIGHBORS x 3 per segment: sums of the products of each neighboring sine and cosine with
                   // sine, cosine and 1
  long *samples;   // number of samples per segment
  sums *sum;       // per segment: the sums of the input, then the sums of each output
  int at;          // the segment of the last sample
  od_arena arena;
};

// Finds the nearest neighboring frequencies that are positive and not harmonics: j with the frequencies f (1 +- j/settled).
// Returns the number of entries of `away`.
static int find_neighbors(double settled, int away[PAIRS]) {
  int pairs = 0;
  for (int j = 1; pairs < PAIRS && j < 0.99 * settled; j++)
    if (fabs(j / settled - round(j / settled)) > 0.01) away[pairs++] = j;
  return pairs;
}

bool od_sines_are_white(const od_sines *sines) {
  int away[PAIRS];
  return find_neighbors(sines->periods - sines->settle, away) == 0;
}

od_sine_fit *od_sine_fit_new(const od_sines *sines, int outputs) {
  OD_OWNED(od_sine_fit_free) od_sine_fit *s = od_calloc(1, sizeof *s);
  if (!s) return NULL;
  long count = sines->count;
  s->count = sines->count;
  s->outputs = outputs;
  s->settle = sines->settle;
  s->settled = sines->periods - sines->settle;
  s->pairs = find_neighbors(s->settled, s->away);
  s->mixed = OD_TAKE(&s->arena, double, 3 * NEIGHBORS * count);
  s->frequency = OD_TAKE(&s->arena, double, count);
  s->begin = OD_TAKE(&s->arena, double, count + 1);
  s->normal = OD_TAKE(&s->arena, double, 6 * count);
  s->samples = OD_TAKE(&s->arena, long, count);
  s->sum = OD_TAKE(&s->arena, sums, count * (outputs + 1));
  if (od_arena_status(&s->arena) != OD_OK) return NULL;
  s->begin[0] = sines->start;
  for (int k = 0; k < s->count; k++) {
    s->frequency[k] = sines->frequency[k];
    s->begin[k + 1] = s->begin[k] + sines->periods / s->frequency[k];
  }
  return OD_GIVE(s);
}

void od_sine_fit_free(od_sine_fit *s) {
  if (!s) return;
  od_arena_free(&s->arena);
  od_free(s);
}

static void add_to(sums *sum, const double basis[3], const double *neighbor, int count, double value) {
  for (int i = 0; i < 3; i++) sum->product[i] += basis[i] * value;
  for (int i = 0; i < count; i++) sum->neighbor[i] += neighbor[i] * value;
  sum->square += value * value;
}

// Computes sine and cosine of the neighboring frequencies, pair by pair. angle: phase of the fitted sine. The phases of
// a pair are angle (1 + j/n) and angle (1 - j/n), where j is an entry of `away` and n is `settled`.
static void make_neighbors(const od_sine_fit *s, double angle, const double basis[3], double *neighbor) {
  double _Complex own = basis[1] + basis[0] * _Complex_I, turn = cexp(angle / s->settled * _Complex_I), turned = 1;
  for (int p = 0, j = 0; p < s->pairs; p++) {
    for (; j < s->away[p]; j++) turned *= turn;
    double _Complex above = own * turned, below = own * conj(turned);
    neighbor[4 * p] = cimag(above), neighbor[4 * p + 1] = creal(above);
    neighbor[4 * p + 2] = cimag(below), neighbor[4 * p + 3] = creal(below);
  }
}

void od_sine_fit_add(od_sine_fit *s, double time, double input, const double *output) {
  // Times may have round-off: the beginning of a segment may be slightly too early.
  double tolerance = 1e-9 * (fabs(time) + 1 / s->frequency[s->count - 1]);
  while (s->at < s->count && time >= s->begin[s->at + 1] - tolerance) s->at++;
  if (s->at >= s->count) return;
  double since = time - s->begin[s->at];
  if (since < s->settle / s->frequency[s->at] - tolerance) return;
  if (isnan(input)) return;
  for (int i = 0; i < s->outputs; i++)
    if (isnan(output[i])) return;
  double angle = 2 * acos(-1) * s->frequency[s->at] * since;
  const double basis[3] = {sin(angle), cos(angle), 1};
  double neighbor[NEIGHBORS], *n = s->normal + 6 * s->at, *mixed = s->mixed + 3 * NEIGHBORS * s->at;
  int count = 4 * s->pairs;
  make_neighbors(s, angle, basis, neighbor);
  for (int i = 0; i < count; i++)
    for (int j = 0; j < 3; j++) mixed[3 * i + j] += neighbor[i] * basis[j];
  for (int i = 0, k = 0; i < 3; i++)
    for (int j = 0; j <= i; j++) n[k++] += basis[i] * basis[j];
  sums *sum = s->sum + s->at * (s->outputs + 1);
  add_to(&sum[0], basis, neighbor, count, input);
  for (int i = 0; i < s->outputs; i++) add_to(&sum[i + 1], basis, neighbor, count, output[i]);
  s->samples[s->at]++;
}

// Computes the Cholesky factor of the packed normal matrix. Returns false if the matrix is singular, as with fewer than three
// different samples.
static bool factor(const double n[6], double l[6]) {
  double size = n[5];
  l[0] = sqrt(n[0]);
  l[1] = n[1] / l[0];
  double d1 = n[2] - l[1] * l[1];
  l[2] = sqrt(fmax(d1, 0));
  l[3] = n[3] / l[0];
  l[4] = (n[4] - l[3] * l[1]) / l[2];
  double d2 = n[5] - l[3] * l[3] - l[4] * l[4];
  l[5] = sqrt(fmax(d2, 0));
  return n[0] > 1e-9 * size && d1 > 1e-9 * size && d2 > 1e-9 * size;
}

static void solve(const double l[6], const double b[3], double x[3]) {
  double z0 = b[0] / l[0], z1 = (b[1] - l[1] * z0) / l[2], z2 = (b[2] - l[3] * z0 - l[4] * z1) / l[5];
  x[2] = z2 / l[5];
  x[1] = (z1 - l[4] * x[2]) / l[2];
  x[0] = (z0 - l[1] * x[1] - l[3] * x[2]) / l[0];
}

// Returns the standard deviation per sample of the residual of a signal after the fit of sine and offset.
static double residual_deviation(const sums *sum, const double x[3], long samples) {
  double left = sum->square;
  for (int i = 0; i < 3; i++) left -= x[i] * sum->product[i];
  return sqrt(fmax(left, 0) / (double)(samples - 3));
}

// Returns the standard deviation of the amplitudes of sine and cosine, from *freedom amplitudes at neighboring
// frequencies; 0: there is no such amplitude. Frequencies above half the sampling rate are aliased and not used.
static double neighbor_noise(const od_sine_fit *s, int k, const sums *sum, const double x[3], int *freedom) {
  const double *mixed = s->mixed + 3 * NEIGHBORS * k;
  double square = 0, samples = (double)s->samples[k];
  *freedom = 0;
  for (int i = 0; i < 4 * s->pairs; i++) {
    const int away = s->away[i / 4];
    bool is_above = i % 4 < 2;
    if (is_above && s->settled + away > 0.5 * samples) continue;
    double left = sum->neighbor[i];
    for (int j = 0; j < 3; j++) left -= x[j] * mixed[3 * i + j];
    square += pow(2 * left / samples, 2);
    ++*freedom;
  }
  return *freedom > 0 ? sqrt(square / *freedom) : 0;
}

// Computes value and sigma of each output. Returns false if the segment has fewer than four samples, if its samples do not determine sine, cosine and
// offset, or if the input has no component at the frequency.
static bool segment_response(const od_sine_fit *s, int k, double _Complex *value, double *sigma, double *freedom) {
  const sums *sum = s->sum + k * (s->outputs + 1);
  double l[6], x[3];
  if (s->samples[k] < 4 || !factor(s->normal + 6 * k, l)) return false;
  solve(l, sum[0].product, x);
  double _Complex u = x[0] + x[1] * _Complex_I;
  if (!(cabs(u) > 0)) return false;
  for (int i = 0; i < s->outputs; i++) {
    int neighbor;
    solve(l, sum[i + 1].product, x);
    value[i] = (x[0] + x[1] * _Complex_I) / u;
    sigma[i] = neighbor_noise(s, k, &sum[i + 1], x, &neighbor) / cabs(u);
    *freedom = neighbor;
    if (neighbor > 0) continue;
    sigma[i] = residual_deviation(&sum[i + 1], x, s->samples[k]) * sqrt(2 / (double)s->samples[k]) / cabs(u);
    *freedom = (double)(s->samples[k] - 3);
  }
  return true;
}

od_status od_sine_fit_end(const od_sine_fit *s, od_frf **out, od_error *err) {
  OD_SCRATCH(scratch);
  double _Complex *value = OD_TAKE(&scratch, double _Complex, s->outputs);
  double *sigma = OD_TAKE(&scratch, double, s->outputs), freedom = 0;
  int points = 0, at = 0;
  *out = NULL;
  if (od_arena_status(&scratch) != OD_OK) return od_fail(err, OD_NO_MEMORY, "out of memory");
  for (int k = 0; k < s->count; k++) points += segment_response(s, k, value, sigma, &freedom);
  if (points == 0)
    return od_fail(
        err, OD_BAD_INPUT,
        "no segment of the stepped sine has four samples with a changing input; expected a log that contains these "
        "frequencies");
  od_frf *f = od_frf_new(points, s->outputs);
  if (!f) return od_fail(err, OD_NO_MEMORY, "out of memory");
  for (int k = 0; k < s->count; k++) {
    if (!segment_response(s, k, value, sigma, &freedom)) continue;
    f->frequency[at] = s->frequency[k];
    f->freedom[at] = freedom;
    for (int i = 0; i < s->outputs; i++) f->value[i * points + at] = value[i], f->sigma[i * points + at] = sigma[i];
    at++;
  }
  *out = f;
  return OD_OK;
}
