#include "identify/identifiability.h"

#include <lapacke.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/allocate.h"
#include "identify/null_space.h"
#include "least_squares/distance.h"
#include "least_squares/row_qr.h"

// Smallest singular value that is not zero, relative to the largest singular value, and smallest remainder of an
// independent column. Columns have length 1.
static const double rank_tolerance = 1e-9;
static const double seen_tolerance = 1e-6;  // largest fraction of a gradient along null directions that is neglected

// ---- Factors of the Jacobian

// Computes the lower triangle L with J' = L Q, n x n, stored by columns. J by rows is J' by columns, the order of LAPACK. Fails
// with OD_NOT_FINITE or OD_NO_MEMORY.
static od_status triangle(const od_sensitivities *s, double *L) {
  int n = s->columns, m = s->rows, least = m < n ? m : n;
  OD_SCRATCH(scratch);
  double *a = OD_TAKE_MATRIX(&scratch, double, m, n), *tau = OD_TAKE(&scratch, double, least);
  if (od_arena_status(&scratch) != OD_OK) return OD_NO_MEMORY;
  memcpy(a, s->J, (size_t)m * (size_t)n * sizeof *a);
  if (LAPACKE_dgelqf(LAPACK_COL_MAJOR, n, m, a, n, tau) != 0) return OD_NOT_FINITE;
  for (int j = 0; j < n; j++)
    for (int i = 0; i < n; i++) L[j * n + i] = j < least && i >= j ? a[(size_t)j * (size_t)n + (size_t)i] : 0;
  return OD_OK;
}

// Accounts for constraints, which fix the directions of their gradients. Removes these directions from a (n x n, by columns).
// Appends the directions as additional columns, scaled so that their singular values come first. Returns the number of appended
// columns. rows: memory for tied x n numbers.
static int tie_directions(const od_sensitivities *s, const double *factor, double *a, double *rows) {
  int n = s->columns;
  double size = 0, *Q = a + n * n;
  for (int t = 0; t < s->tied; t++)
    for (int i = 0; i < n; i++) rows[t * n + i] = factor[i] * s->tie[t * n + i];
  int tied = od_orthonormal_rows(s->tied, n, rows, Q);
  for (int i = 0; i < n * n; i++) size = hypot(size, a[i]);
  for (int t = 0; t < tied; t++) {
    double *q = Q + t * n;
    for (int j = 0; j < n; j++) {
      double along = 0;
      for (int i = 0; i < n; i++) along += a[j * n + i] * q[i];
      for (int i = 0; i < n; i++) a[j * n + i] -= along * q[i];
    }
  }
  for (int i = 0; i < tied * n; i++) Q[i] *= size > 0 ? 10 * size : 1;
  return tied;
}

// Computes the singular values and, as rows of V, the directions of J diag(factor): the left vectors of diag(factor) L.
// Directions fixed by constraints come first, with infinite singular values; *tied is their number. Fails with OD_NOT_FINITE or
// OD_NO_MEMORY.
static od_status directions(const od_sensitivities *s, const double *L, const double *factor, double *singular,
                            double *V, int *tied) {
  int n = s->columns, most = n + s->tied;
  OD_SCRATCH(scratch);
  double *a = OD_TAKE_MATRIX(&scratch, double, n, most), *rows = OD_TAKE_MATRIX(&scratch, double, n, s->tied);
  double *other = OD_TAKE_MATRIX(&scratch, double, most, most);
  if (od_arena_status(&scratch) != OD_OK) return OD_NO_MEMORY;
  for (int j = 0; j < n; j++)
    for (int i = 0; i < n; i++) a[j * n + i] = factor[i] * L[j * n + i];
  *tied = s->tied > 0 ? tie_directions(s, factor, a, rows) : 0;
  int columns = n + *tied;
  if (LAPACKE_dgesdd(LAPACK_COL_MAJOR, 'A', n, columns, a, n, singular, V, n, other, columns) != 0)
    return OD_NOT_FINITE;
  for (int i = 0; i < *tied; i++) singular[i] = INFINITY;
  return OD_OK;
}

// ---- Identifiable and null directions

double od_identifiability_sigma(const od_identifiability *id, const double *gradient) {
  int n = id->columns;
  double size = 0, hidden = 0, variance = 0;
  for (int k = 0; k < n; k++) {
    double along = 0;
    for (int i = 0; i < n; i++) along += id->basis[k * n + i] * gradient[i] / id->weight[i];
    size += along * along;
    if (k >= n - id->nulls)
      hidden += along * along;
    else
      variance += along * along / (id->strength[k] * id->strength[k]);
  }
  return hidden > seen_tolerance * seen_tolerance * size ? INFINITY : sqrt(variance);
}

// Computes the null space in units of the scales, from the null space of J with columns of length 1.
static od_status find_nulls(od_identifiability *id, const double *value) {
  int n = id->columns, count = id->nulls;
  OD_SCRATCH(scratch);
  double *basis = OD_TAKE_MATRIX(&scratch, double, n, count);
  if (!basis) return OD_NO_MEMORY;
  for (int k = 0; k < count; k++) {
    double size = 0;
    for (int i = 0; i < n; i++) {
      basis[k * n + i] = id->basis[(n - count + k) * n + i] / (id->weight[i] * id->scale[i]);
      size = fmax(size, fabs(basis[k * n + i]));
    }
    for (int i = 0; i < n; i++) basis[k * n + i] /= size;
  }
  return od_null_space_find(n, count, basis, id->scale, value, id->null);
}

static od_status find(od_identifiability *id, const od_sensitivities *s) {
  int n = id->columns;
  OD_SCRATCH(scratch);
  double *L = OD_TAKE_MATRIX(&scratch, double, n, n), *factor = OD_TAKE(&scratch, double, n);
  if (od_arena_status(&scratch) != OD_OK) return OD_NO_MEMORY;
  od_status status = triangle(s, L);
  if (status != OD_OK) return status;
  // Scales columns to length 1; a column of zeros is not changed.
  for (int i = 0; i < n; i++) {
    double sum = 0;
    for (int j = 0; j < n; j++) sum = hypot(sum, L[j * n + i]);
    if (!isfinite(sum)) return OD_NOT_FINITE;
    id->weight[i] = sum > 0 ? sum / s->sigma : 1;
    factor[i] = sum > 0 ? 1 / sum : 0;
  }
  status = directions(s, L, factor, id->strength, id->basis, &id->tied);
  for (int i = 0; i < n; i++) factor[i] = id->scale[i] / s->sigma;
  if (status == OD_OK) status = directions(s, L, factor, id->singular, id->direction, &id->tied);
  if (status != OD_OK) return status;
  double strongest = id->tied < n ? id->strength[id->tied] : 1;
  while (id->nulls < n - id->tied && !(id->strength[n - 1 - id->nulls] > rank_tolerance * strongest)) id->nulls++;
  for (int k = 0; k < n - id->nulls; k++) id->weak += id->singular[k] < 1;
  memset(factor, 0, (size_t)n * sizeof *factor);
  for (int k = 0; k < n; k++) {
    factor[k] = 1;  // gradient of a single parameter
    id->sigma[k] = od_identifiability_sigma(id, factor);
    factor[k] = 0;
  }
  return find_nulls(id, s->value);
}

static od_status allocate(od_identifiability *id, const od_sensitivities *s) {
  int n = id->columns = s->columns;
  double **const of_parameters[] = {&id->singular, &id->sigma, &id->scale, &id->strength, &id->weight};
  for (size_t i = 0; i < sizeof of_parameters / sizeof *of_parameters; i++)
    *of_parameters[i] = OD_TAKE(&id->arena, double, n);
  id->direction = OD_TAKE_MATRIX(&id->arena, double, n, n), id->basis = OD_TAKE_MATRIX(&id->arena, double, n, n);
  id->null = OD_TAKE(&id->arena, od_null, n);
  double *coefficients = OD_TAKE_MATRIX(&id->arena, double, n, n);
  if (od_arena_status(&id->arena) != OD_OK) return OD_NO_MEMORY;
  for (int i = 0; i < n; i++) {
    id->null[i].coefficient = coefficients + n * i;
    id->scale[i] = s->scale ? s->scale[i] : s->value[i] != 0 ? fabs(s->value[i]) : 1;
    if (!(id->scale[i] > 0)) return OD_BAD_ARGUMENT;
  }
  return OD_OK;
}

od_status od_identifiability_new(const od_sensitivities *s, od_identifiability **out, od_error *err) {
  *out = NULL;
  if (s->rows < 1 || s->columns < 1 || !(s->sigma > 0))
    return od_fail(
        err, OD_BAD_ARGUMENT,
        "found %d rows, %d columns and the sigma %g; identifiability needs at least one row, one column and a "
        "positive sigma",
        s->rows, s->columns, s->sigma);
  od_identifiability *id = od_calloc(1, sizeof *id);
  od_status status = id ? allocate(id, s) : OD_NO_MEMORY;
  if (status == OD_OK) status = find(id, s);
  if (status == OD_OK) {
    *out = id;
    return OD_OK;
  }
  od_identifiability_free(id);
  return od_fail(err, status, "the identifiability cannot be computed: %s", od_status_text(status));
}

void od_identifiability_free(od_identifiability *id) {
  if (!id) return;
  od_arena_free(&id->arena);
  od_free(id);
}

// ---- Unknown initial states
// Identifiability of the parameters with unknown initial states. A change of the parameters is visible in the data only if
// no change of the states has the same effect. The visible part is the columns of the parameters minus their projection onto
// the columns of the states. The states themselves need not be identifiable; dependent columns are found by pivoting. All
// computations use the triangle of the Jacobian, which is small.

// Scale of a parameter without a size, in standard deviations that this parameter has if all other parameters are known.
static const double no_size = 10;
static const double zero = 1e-6;  // fraction of the scale; smaller parameters are treated as zero in descriptions

static double dot(int n, const double *a, const double *b) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}

// Removes the direction of a column from all columns; the column itself becomes zero. A second pass removes round-off.
static void take_out(int n, double *column, int pivot, double length) {
  double *v = column + pivot * n;
  for (int i = 0; i < n; i++) v[i] /= length;
  for (int pass = 0; pass < 2; pass++)
    for (int c = 0; c < n; c++) {
      double *to = column + c * n, part = c == pivot ? 0 : dot(n, v, to);
      for (int i = 0; i < n && part != 0; i++) to[i] -= part * v[i];
    }
  for (int i = 0; i < n; i++) v[i] = 0;
}

static void take_states_out(int n, int states, double *column, const double *length) {
  for (int done = 0; done < states; done++) {
    int best = -1;
    double most = rank_tolerance;
    for (int c = 0; c < states; c++) {
      double left = length[c] > 0 ? sqrt(dot(n, column + c * n, column + c * n)) / length[c] : 0;
      if (left > most) most = left, best = c;
    }
    if (best < 0) return;
    take_out(n, column, best, most * length[best]);
  }
}

od_status od_identifiability_without_states(int m, int n, int np, const double *J, const double *parameters,
                                            const double *size, int tied, const double *tie, od_identifiability **out,
                                            od_error *err) {
  OD_SCRATCH(scratch);
  double *column = OD_TAKE_MATRIX(&scratch, double, n, n), *rows = OD_TAKE_MATRIX(&scratch, double, n, n);
  double *length = OD_TAKE(&scratch, double, n), *scale = OD_TAKE(&scratch, double, n);
  double *value = OD_TAKE(&scratch, double, n);
  *out = NULL;
  int states = n - np, *order = OD_TAKE(&scratch, int, n);
  for (int j = 0; order && j < n; j++) order[j] = j < states ? np + j : j - states;
  if (od_arena_status(&scratch) != OD_OK || !od_row_qr_triangle(m, n, J, n, order, column))
    return od_fail(err, OD_NO_MEMORY, "out of memory");
  for (int c = 0; c < n; c++) length[c] = sqrt(dot(n, column + c * n, column + c * n));
  take_states_out(n, states, column, length);
  for (int c = 0; c < np; c++) {
    double own = length[states + c];
    scale[c] = size[c] > 0 ? size[c] : own > 0 ? no_size / own : 1;
    value[c] = fabs(parameters[c]) > zero * scale[c] ? parameters[c] : 0;
    double *from = column + (states + c) * n;
    // A remainder at the level of round-off is set to zero.
    bool explained = !(sqrt(dot(n, from, from)) > rank_tolerance * length[states + c]);
    for (int i = 0; i < n; i++) rows[i * np + c] = explained ? 0 : from[i];
  }
  const od_sensitivities s = {
      .rows = n, .columns = np, .J = rows, .value = value, .scale = scale, .sigma = 1, .tied = tied, .tie = tie};
  return od_identifiability_new(&s, out, err);
}

// ---- Descriptions in words

typedef struct writer {
  char *text;
  size_t size;
  int length;
} writer;

__attribute__((format(printf, 2, 3))) static void put(writer *w, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  size_t used = (size_t)w->length < w->size ? (size_t)w->length : w->size;
  w->length += vsnprintf(w->text ? w->text + used : NULL, w->size - used, format, arguments);
  va_end(arguments);
}

// Returns the separator before the next name in a list: empty, ", " or " and ".
static const char *joint(int done, int all) {
  return done == 0 ? "" : done == all - 1 ? " and " : ", ";
}

// Writes lambda^e, with e as a simple ratio if possible.
static void put_power(writer *w, double e) {
  double size = fabs(e);
  if (e < 0) put(w, "1/");
  put(w, "lambda");
  if (size == 1) return;
  if (size < 1 && fabs(1 / size - round(1 / size)) < 1e-12)
    put(w, "^(1/%.0f)", 1 / size);
  else
    put(w, size == round(size) ? "^%.0f" : "^%.4g", size);
}

// Names parameters with the same exponent together, positive exponents first.
static void put_scaling(writer *w, const od_identifiability *id, const double *exponent, const char *const *names) {
  int n = id->columns, groups = 0;
  put(w, "scaling ");
  for (int sign = 1; sign >= -1; sign -= 2)
    for (int i = 0; i < n; i++) {
      if (exponent[i] * sign <= 0) continue;
      int members = 0, done = 0;
      bool first = true;
      for (int j = 0; j < n; j++) {
        members += exponent[j] == exponent[i];
        if (j < i && exponent[j] == exponent[i]) first = false;
      }
      if (!first) continue;
      if (groups++) put(w, " and ");
      for (int j = i; j < n; j++)
        if (exponent[j] == exponent[i]) put(w, "%s%s", joint(done, members), names[j]), done++;
      put(w, " by "), put_power(w, exponent[i]);
    }
}

// Writes "a by +1 and b by -1.9".
static void put_changes(writer *w, int n, const double *c, const char *unit, const char *const *names) {
  int done = 0, members = 0;
  for (int i = 0; i < n; i++) members += c[i] != 0;
  for (int i = 0; i < n; i++)
    if (c[i] != 0) put(w, "%s%s by %+.4g%s", joint(done++, members), names[i], c[i], unit);
}

int od_identifiability_null_text(const od_identifiability *id, int k, const char *const *names, char *text,
                                 size_t size) {
  writer w = {text, size, 0};
  const od_null *null = &id->null[k];
  int members = 0, last = 0;
  for (int i = 0; i < id->columns; i++)
    if (null->coefficient[i] != 0) members++, last = i;
  if (members == 1) {
    put(&w, "%s has no influence on the data", names[last]);
    return w.length;
  }
  if (null->form == OD_NULL_SCALES) {
    put_scaling(&w, id, null->coefficient, names);
  } else {
    put(&w, "changing ");
    put_changes(&w, id->columns, null->coefficient, null->form == OD_NULL_ADDS ? "" : " %", names);
  }
  put(&w, " leaves the data unchanged");
  return w.length;
}

int od_identifiability_weak_text(const od_identifiability *id, int k, const char *const *names, char *text,
                                 size_t size) {
  writer w = {text, size, 0};
  int n = id->columns, row = n - id->nulls - id->weak + k;
  OD_SCRATCH(scratch);
  double *c = OD_TAKE(&scratch, double, n), largest = 0;
  if (!c) return 0;
  // Changes are in percent of the scales, for one standard deviation along the direction. Changes below a tenth of the
  // largest change are left out.
  for (int i = 0; i < n; i++)
    if (fabs(id->direction[row * n + i]) > fabs(largest)) largest = id->direction[row * n + i];
  for (int i = 0; i < n; i++) {
    double part = id->direction[row * n + i] / largest;
    c[i] = fabs(part) < 0.1 ? 0 : 100 * part * fabs(largest) / id->singular[row];
  }
  put(&w, "the noise hides a change of ");
  put_changes(&w, n, c, " %", names);
  return w.length;
}
