#include "experiment/reference_columns.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/allocate.h"
#include "math/chi_squared.h"
#include "math/normal.h"
#include "memory/scoped.h"

enum { MOST_KEPT = 2048 };

// Mean absolute value of the second difference of white noise with standard deviation 1: sqrt(6) * sqrt(2 / pi).
static const double mean_second_difference = 1.9544100476116797;

typedef struct sums {
  int64_t count, within;  // number of measured values; number of values within the band
  int64_t seconds;        // number of second differences
  int64_t kept, every;    // number of kept samples; every `every`-th measured value is kept
  double sum, squares, variance, second;
  double last[2];  // the last two differences
  double difference[MOST_KEPT], sigma[MOST_KEPT];
} sums;

struct od_reference_record {
  const od_experiment *e;
  sums *of;
};

od_reference_record *od_reference_record_new(const od_experiment *e) {
  OD_OWNED(od_reference_record_free) od_reference_record *r = od_calloc(1, sizeof *r);
  if (!r) return NULL;
  r->e = e;
  r->of = od_calloc((size_t)e->references + 1, sizeof *r->of);
  if (!r->of) return NULL;
  for (int i = 0; i < e->references; i++) r->of[i].every = 1;
  return OD_GIVE(r);
}

void od_reference_record_free(od_reference_record *r) {
  if (!r) return;
  od_free(r->of);
  od_free(r);
}

void od_reference_record_transfer(od_reference_record *r, od_pieces *t) {
  for (int i = 0; i < r->e->references; i++) {
    const sums *saved = od_pieces_bytes(t, &r->of[i], sizeof *saved);
    if (!saved) continue;
    od_pieces_expect(t,
                     od_saved_is_count(saved->count) && od_saved_is_count(saved->within) &&
                         od_saved_is_count(saved->seconds) && saved->kept >= 0 && saved->kept <= MOST_KEPT &&
                         od_saved_is_count(saved->every) && saved->every > 0,
                     "a count of a reference column is out of range");
  }
}

// Stores a difference. If the memory is full, every second stored difference is removed.
static void keep(sums *s, double difference, double sigma) {
  if (s->count % s->every != 0) return;
  if (s->kept == MOST_KEPT) {
    for (int i = 0; i < MOST_KEPT / 2; i++) {
      s->difference[i] = s->difference[2 * i];
      s->sigma[i] = s->sigma[2 * i];
    }
    s->kept /= 2;
    s->every *= 2;
    if (s->count % s->every != 0) return;
  }
  s->difference[s->kept] = difference;
  s->sigma[s->kept++] = sigma;
}

void od_reference_record_take(od_reference_record *r, const double *measured, const double *estimate,
                              const double *sigma) {
  for (int i = 0; i < r->e->references; i++) {
    const od_reference *c = &r->e->reference[i];
    int row = r->e->watched[c->watched].row;
    double d = measured[i] - estimate[row], spread = sqrt(sigma[row] * sigma[row] + c->sigma * c->sigma);
    sums *s = &r->of[i];
    if (!isfinite(d) || !isfinite(spread)) continue;
    keep(s, d, sigma[row]);
    if (s->count >= 2) {
      s->second += fabs(d - 2 * s->last[0] + s->last[1]);
      s->seconds++;
    }
    s->last[1] = s->last[0];
    s->last[0] = d;
    s->sum += d;
    s->squares += d * d;
    s->variance += sigma[row] * sigma[row];
    s->within += fabs(d) <= OD_NORMAL95 * spread;
    s->count++;
  }
}

// Returns the effective number of independent values of a sequence. The correlations are computed about zero, not about
// the mean.
static double effective_number(const double *z, int64_t m, double square) {
  double sum = 1;
  for (int64_t lag = 1; lag < m; lag++) {
    double product = 0;
    for (int64_t i = 0; i + lag < m; i++) product += z[i] * z[i + lag];
    // The estimated correlation is product / (m - lag) / square. Its square counts for 2 (m - lag) pairs.
    double correlation = product / ((double)(m - lag) * square);
    sum += 2 * (1 - (double)lag / (double)m) * fmin(correlation * correlation, 1);
  }
  return fmax((double)m / sum, 1);
}

bool od_reference_record_result(const od_reference_record *r, int reference, od_reference_result *out) {
  OD_SCRATCH(scratch);
  const sums *s = &r->of[reference];
  double given = r->e->reference[reference].sigma, n = (double)s->count;
  *out = (od_reference_result){.count = (long)s->count, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN};
  double *z = OD_TAKE(&scratch, double, s->kept + 1);
  if (!z) return false;
  out->noise = given > 0        ? given
               : s->seconds > 0 ? s->second / (double)s->seconds / mean_second_difference
                                : (double)NAN;
  if (s->count < 3) return true;
  double noise = out->noise * out->noise;
  out->rms = sqrt(s->squares / n);
  out->bias = s->sum / n;
  out->band = OD_NORMAL95 * sqrt(s->variance / n + noise);
  int64_t inside = 0;
  double squares = 0;
  for (int64_t i = 0; i < s->kept; i++) {
    double spread = sqrt(s->sigma[i] * s->sigma[i] + noise);
    z[i] = spread > 0 ? s->difference[i] / spread : 0;
    inside += fabs(z[i]) <= OD_NORMAL95;
    squares += z[i] * z[i];
  }
  out->share = given > 0 ? (double)s->within / n : (double)inside / (double)s->kept;
  out->square = squares / (double)s->kept;
  out->freedom = out->square > 0 ? effective_number(z, s->kept, out->square) : 1;
  double above = od_chi_squared_tail(out->square * out->freedom, out->freedom);
  out->chance = out->square > 1 ? above : 1 - above;
  return true;
}
