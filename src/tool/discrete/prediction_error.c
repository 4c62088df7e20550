// ARX, ARMAX, output-error and Box-Jenkins models: the squared errors of one-step predictions are least.
//
//   e = D/C (A y - w),  w = B/F u
//   de/da_k = D/C y(t-k),  de/db_k = -D/(C F) u(t-k),  de/df_k = D/(C F) w(t-k),  de/dc_k = -1/C e(t-k),  de/dd_k = 1/C (A y - w)(t-k)
//
// Starts: A and B by linear least squares; F by Steiglitz and McBride (least squares with input and output filtered by the 1/F found
// before); C and D after Hannan and Rissanen (least squares with the errors of a long autoregression in the place of e).
#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "discrete/discrete_model.h"
#include "oleodyn/least_squares.h"

const char *const od_discrete_kinds[] = {"arx", "armax", "oe", "bj", NULL};

enum { FILTERED_STARTS = 10, LONG_ORDER = 40 };

typedef struct search {
  const od_discrete_data *data;
  od_discrete *m;
  long rows;
  double *w, *v, *e;               // of the last point
  double *fu, *fw, *fv, *fe, *fy;  // filtered for the derivatives
} search;

// --- Linear steps -------------------------------------------------------------------------------------------------

// Least squares of `left` on shifted columns: column j is sign[j] * signal[j] shifted by shift[j]. Rows begin at `first`.
typedef struct regressor {
  const double *signal;
  int shift;
  double sign;
} regressor;

static bool regress(const double *left, long rows, long first, const regressor *r, int count, double *x) {
  long used = rows - first;
  if (used < count || count == 0) return count == 0;
  double *a = calloc((size_t)used * (size_t)count, sizeof *a), *b = calloc((size_t)used, sizeof *b);
  bool ok = a && b;
  for (int j = 0; ok && j < count; j++)
    for (long k = 0; k < used; k++) a[(long)j * used + k] = r[j].sign * r[j].signal[first + k - r[j].shift];
  if (ok) {
    lapack_int rank = 0;
    lapack_int *pivot = calloc((size_t)count, sizeof *pivot);
    memcpy(b, left + first, (size_t)used * sizeof *b);
    ok = pivot && LAPACKE_dgelsy(LAPACK_COL_MAJOR, (lapack_int)used, count, 1, a, (lapack_int)used, b, (lapack_int)used,
                                 pivot, 1e-13, &rank) == 0;
    free(pivot);
  }
  for (int j = 0; ok && j < count; j++) x[j] = b[j];
  free(a);
  free(b);
  return ok;
}

// `below` (A or F) and B of y = -below y + B u + C e; e NULL: none.
static bool start_linear(od_discrete *m, od_polynomial below, const double *u, const double *y, const double *e,
                         long rows) {
  regressor r[6 * OD_DISCRETE_MOST] = {0};
  double x[6 * OD_DISCRETE_MOST];
  int count = 0, n = m->degree[below], nb = m->degree[OD_POLY_B], nc = e ? m->degree[OD_POLY_C] : 0;
  for (int i = 1; i <= n; i++) r[count++] = (regressor){y, i, -1};
  for (int i = m->delay; i <= nb; i++) r[count++] = (regressor){u, i, 1};
  for (int i = 1; i <= nc; i++) r[count++] = (regressor){e, i, 1};
  long first = (n > nb ? n : nb) + (e ? LONG_ORDER + nc : 0);
  if (!regress(y, rows, first, r, count, x)) return false;
  count = 0;
  for (int i = 1; i <= n; i++) m->coefficient[below][i] = x[count++];
  for (int i = m->delay; i <= nb; i++) m->coefficient[OD_POLY_B][i] = x[count++];
  for (int i = 1; i <= nc; i++) m->coefficient[OD_POLY_C][i] = x[count++];
  return true;
}

// The errors of a long autoregression of y, and of u if there is one.
static bool long_errors(const double *u, const double *y, long rows, double *e) {
  regressor r[2 * LONG_ORDER];
  double x[2 * LONG_ORDER];
  int count = 0;
  for (int i = 1; i <= LONG_ORDER; i++) r[count++] = (regressor){y, i, 1};
  for (int i = 1; u && i <= LONG_ORDER; i++) r[count++] = (regressor){u, i, 1};
  if (!regress(y, rows, LONG_ORDER, r, count, x)) return false;
  memset(e, 0, LONG_ORDER * sizeof *e);
  for (long k = LONG_ORDER; k < rows; k++) {
    e[k] = y[k];
    for (int j = 0; j < count; j++) e[k] -= x[j] * r[j].signal[k - r[j].shift];
  }
  return true;
}

static void reset(double *coefficient, int degree) {
  for (int i = 1; i <= degree; i++) coefficient[i] = 0;
}

// F and B by Steiglitz and McBride; the iteration stops before F becomes unstable.
static bool start_output_error(search *s) {
  static const double one = 1;
  od_discrete *m = s->m;
  if (!start_linear(m, OD_POLY_F, s->data->u, s->data->y, NULL, s->rows)) return false;
  if (!od_is_stable(m->coefficient[OD_POLY_F], m->degree[OD_POLY_F]))
    reset(m->coefficient[OD_POLY_F], m->degree[OD_POLY_F]);
  for (int i = 0; i < FILTERED_STARTS; i++) {
    const double *f = m->coefficient[OD_POLY_F];
    od_discrete_filter(&one, 0, f, m->degree[OD_POLY_F], s->data->u, s->fu, s->rows);
    od_discrete_filter(&one, 0, f, m->degree[OD_POLY_F], s->data->y, s->fy, s->rows);
    const od_discrete last = *m;
    if (!start_linear(m, OD_POLY_F, s->fu, s->fy, NULL, s->rows)) return false;
    if (od_is_stable(m->coefficient[OD_POLY_F], m->degree[OD_POLY_F])) continue;
    *m = last;
    break;
  }
  return true;
}

// C and D of v = C/D e by least squares of v on its own past and that of e.
static bool start_noise(search *s) {
  od_discrete *m = s->m;
  regressor r[2 * OD_DISCRETE_MOST];
  double x[2 * OD_DISCRETE_MOST];
  int nc = m->degree[OD_POLY_C], nd = m->degree[OD_POLY_D], count = 0;
  od_discrete_filter(m->coefficient[OD_POLY_B], m->degree[OD_POLY_B], m->coefficient[OD_POLY_F], m->degree[OD_POLY_F],
                     s->data->u, s->w, s->rows);
  for (long k = 0; k < s->rows; k++) s->v[k] = s->data->y[k] - s->w[k];
  if (!long_errors(NULL, s->v, s->rows, s->e)) return false;
  for (int i = 1; i <= nd; i++) r[count++] = (regressor){s->v, i, -1};
  for (int i = 1; i <= nc; i++) r[count++] = (regressor){s->e, i, 1};
  if (!regress(s->v, s->rows, LONG_ORDER + nc + nd, r, count, x)) return false;
  for (int i = 1; i <= nd; i++) m->coefficient[OD_POLY_D][i] = x[i - 1];
  for (int i = 1; i <= nc; i++) m->coefficient[OD_POLY_C][i] = x[nd + i - 1];
  return true;
}

static bool start(search *s, od_discrete_kind kind) {
  od_discrete *m = s->m;
  bool ok = true;
  if (kind == OD_DISCRETE_ARX || kind == OD_DISCRETE_ARMAX) {
    bool errors = kind == OD_DISCRETE_ARMAX;
    if (errors) ok = long_errors(s->data->u, s->data->y, s->rows, s->e);
    ok = ok && start_linear(m, OD_POLY_A, s->data->u, s->data->y, errors ? s->e : NULL, s->rows);
  } else {
    ok = start_output_error(s);
    if (kind == OD_DISCRETE_BJ) ok = ok && start_noise(s);
  }
  if (!od_is_stable(m->coefficient[OD_POLY_C], m->degree[OD_POLY_C]))
    reset(m->coefficient[OD_POLY_C], m->degree[OD_POLY_C]);
  return ok;
}

// --- The search ---------------------------------------------------------------------------------------------------

static int unknowns(const od_discrete *m) {
  return m->degree[OD_POLY_A] + m->degree[OD_POLY_B] - m->delay + 1 + m->degree[OD_POLY_C] + m->degree[OD_POLY_D] +
         m->degree[OD_POLY_F];
}

// Calls for each unknown coefficient, in one order.
#define FOR_EACH_UNKNOWN(m, p, i)          \
  for (int p = 0; p < OD_POLYNOMIALS; p++) \
    for (int i = p == OD_POLY_B ? (m)->delay : 1; i <= (m)->degree[p]; i++)

static void spread(od_discrete *m, const double *x) {
  FOR_EACH_UNKNOWN(m, p, i) m->coefficient[p][i] = *x++;
}

static int residuals(void *user, const double *x, double *r) {
  search *s = user;
  od_discrete *m = s->m;
  double(*c)[2 * OD_DISCRETE_MOST + 2] = m->coefficient;
  spread(m, x);
  if (!od_is_stable(c[OD_POLY_C], m->degree[OD_POLY_C]) || !od_is_stable(c[OD_POLY_F], m->degree[OD_POLY_F])) return 1;
  od_discrete_filter(c[OD_POLY_B], m->degree[OD_POLY_B], c[OD_POLY_F], m->degree[OD_POLY_F], s->data->u, s->w, s->rows);
  static const double one = 1;
  od_discrete_filter(c[OD_POLY_A], m->degree[OD_POLY_A], &one, 0, s->data->y, s->v, s->rows);
  for (long k = 0; k < s->rows; k++) s->v[k] -= s->w[k];
  od_discrete_filter(c[OD_POLY_D], m->degree[OD_POLY_D], c[OD_POLY_C], m->degree[OD_POLY_C], s->v, s->e, s->rows);
  memcpy(r, s->e, (size_t)s->rows * sizeof *r);
  return 0;
}

static int jacobian(void *user, const double *x, double *J) {
  search *s = user;
  od_discrete *m = s->m;
  double(*c)[2 * OD_DISCRETE_MOST + 2] = m->coefficient;
  static const double one = 1;
  const double *cc = c[OD_POLY_C], *dd = c[OD_POLY_D];
  int nc = m->degree[OD_POLY_C], nd = m->degree[OD_POLY_D], n = unknowns(m), column = 0;
  (void)x;  // the point is that of the last residuals
  od_discrete_filter(dd, nd, cc, nc, s->data->y, s->fy, s->rows);
  od_discrete_filter(&one, 0, c[OD_POLY_F], m->degree[OD_POLY_F], s->data->u, s->fu, s->rows);
  od_discrete_filter(dd, nd, cc, nc, s->fu, s->fu, s->rows);
  od_discrete_filter(&one, 0, c[OD_POLY_F], m->degree[OD_POLY_F], s->w, s->fw, s->rows);
  od_discrete_filter(dd, nd, cc, nc, s->fw, s->fw, s->rows);
  od_discrete_filter(&one, 0, cc, nc, s->e, s->fe, s->rows);
  od_discrete_filter(&one, 0, cc, nc, s->v, s->fv, s->rows);
  const double *const signal[OD_POLYNOMIALS] = {s->fy, s->fu, s->fe, s->fv, s->fw};
  static const double sign[OD_POLYNOMIALS] = {1, -1, -1, 1, 1};
  FOR_EACH_UNKNOWN(m, p, i) {
    for (long k = 0; k < s->rows; k++) J[k * n + column] = k >= i ? sign[p] * signal[p][k - i] : 0;
    column++;
  }
  return 0;
}

static od_status minimise(search *s, od_error *err) {
  od_discrete *m = s->m;
  int n = unknowns(m), at = 0;
  double x[6 * OD_DISCRETE_MOST + 2];
  od_ls_result *result = NULL;
  FOR_EACH_UNKNOWN(m, p, i) x[at++] = m->coefficient[p][i];
  const od_ls_problem problem = {
      .m = (int)s->rows, .n = n, .user = s, .residuals = residuals, .jacobian = jacobian, .start = x};
  const od_ls_options options = {.method = OD_LS_LEVENBERG_MARQUARDT, .max_evaluations = 200, .cost_tolerance = 1e-13};
  od_status status = od_least_squares(&problem, &options, &result, err);
  if (!result) return status;
  spread(m, result->x);
  at = 0;
  FOR_EACH_UNKNOWN(m, p, i) m->sigma[p][i] = result->sigma[at++];
  m->noise = sqrt(result->variance);
  m->iterations = result->iterations;
  od_ls_result_free(result);
  return status == OD_NOT_CONVERGED ? OD_OK : status;
}

static void set_degrees(const od_discrete_options *o, od_discrete *m) {
  int noise = o->noise_order > 0 ? o->noise_order : o->order;
  bool by_a = o->kind == OD_DISCRETE_ARX || o->kind == OD_DISCRETE_ARMAX;
  *m = (od_discrete){.delay = o->delay};
  m->degree[by_a ? OD_POLY_A : OD_POLY_F] = o->order;
  m->degree[OD_POLY_B] = o->delay + o->order - 1;
  if (o->kind == OD_DISCRETE_ARMAX || o->kind == OD_DISCRETE_BJ) m->degree[OD_POLY_C] = noise;
  if (o->kind == OD_DISCRETE_BJ) m->degree[OD_POLY_D] = noise;
  for (int p = 0; p < OD_POLYNOMIALS; p++) m->coefficient[p][0] = p != OD_POLY_B;
}

od_status od_discrete_fit(const od_discrete_data *data, const od_discrete_options *o, od_discrete *model,
                          od_error *err) {
  if (o->order < 1 || o->order > OD_DISCRETE_MOST || o->noise_order > OD_DISCRETE_MOST)
    return od_fail(err, OD_BAD_INPUT, "found order %d and noise order %d, expected 1 to %d", o->order, o->noise_order,
                   OD_DISCRETE_MOST);
  if (o->delay < 1 || o->delay > OD_DISCRETE_MOST)
    return od_fail(err, OD_BAD_INPUT, "found a delay of %d samples, expected 1 to %d", o->delay, OD_DISCRETE_MOST);
  set_degrees(o, model);
  long least = 3 * (LONG_ORDER + 2L * unknowns(model));
  if (data->rows < least || data->rows > 100000000)
    return od_fail(err, OD_BAD_INPUT, "found %ld samples, expected at least %ld for these orders", data->rows, least);
  size_t rows = (size_t)data->rows;
  double *memory = calloc(8 * rows + 8, sizeof *memory);
  if (!memory) return od_fail(err, OD_NO_MEMORY, "memory ran out");
  search s = {data,
              model,
              data->rows,
              memory,
              memory + rows,
              memory + 2 * rows,
              memory + 3 * rows,
              memory + 4 * rows,
              memory + 5 * rows,
              memory + 6 * rows,
              memory + 7 * rows};
  od_status status = start(&s, o->kind) ? OD_OK : od_fail(err, OD_NOT_CONVERGED, "the linear least squares failed");
  if (status == OD_OK) status = minimise(&s, err);
  free(memory);
  return status;
}
