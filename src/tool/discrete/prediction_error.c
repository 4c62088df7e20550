// ARX, ARMAX, output-error and Box-Jenkins models: minimization of squared one-step prediction errors.
//
//   w = 1/F (sum_j B_j u_j + offset + pulses),   v = A y - w,   e = 1/C (D v + pulses)
//
// B u, A y and D v depend on earlier rows: w begins at row `first_w`, and e at row `first`. The earlier rows are thus
// in the log. 1/F and 1/C begin at rest. The first rows have pulses of unknown size, one pulse for each coefficient of
// F and C. The pulses represent any initial state. Derivatives:
//
//   de/da_k = D/C y(t-k),  de/db_k = -D/(C F) u(t-k),  de/df_k = D/(C F) w(t-k),  de/dc_k = -1/C e(t-k),  de/dd_k = 1/C v(t-k)
//
// Start values: A and B by linear least squares; F by Steiglitz and McBride (least squares with input and output
// filtered by the previous 1/F); C and D after Hannan and Rissanen (least squares with the errors of a long
// autoregression in place of e).
#include <lapacke.h>
#include <math.h>
#include <string.h>

#include "discrete/discrete_model.h"
#include "oleodyn/least_squares.h"

const char *const od_discrete_kinds[] = {"arx", "armax", "oe", "bj", NULL};

enum {
  FILTERED_STARTS = 10,
  LONG_ORDER = 40,  // largest order of the long autoregression; a short log has a smaller order
  MOST_COLUMNS = (OD_DISCRETE_INPUTS + 6) * (OD_DISCRETE_MOST + 1) + OD_DISCRETE_INPUTS * LONG_ORDER,
  WHITENESS_LAGS = 20,
};

typedef struct search {
  const od_discrete_data *data;
  od_discrete *m;
  int inputs;
  long rows, first_w, first;
  double *w, *v, *e, *column;  // one value per row; w, v and e belong to the last point of residuals()
} search;

int od_discrete_inputs(const od_discrete_data *data) {
  return data->inputs > 0 ? data->inputs : 1;
}

// --- Linear steps -------------------------------------------------------------------------------------------------

// A column of a regression: sign * signal, shifted; signal NULL: constant.
typedef struct regressor {
  const double *signal;
  int stride, shift;
  double sign;
} regressor;

static double value_at(const regressor *r, long k) {
  return r->signal ? r->sign * r->signal[(k - r->shift) * r->stride] : 1;
}

// Fits `left` by columns and a constant by least squares, from row `first` to the last row. Both sides are filtered by 1/f
// from rest if f is not NULL. Returns false if there are fewer rows than unknowns, if an allocation fails, or if the
// problem cannot be solved.
static bool regress(const double *left, long rows, long first, const regressor *r, int count, const double *f,
                    int f_degree, double *x) {
  static const double one = 1;
  static const regressor constant = {0};
  long used = rows - first;
  if (used < count + 1) return false;
  OD_SCRATCH(scratch);
  double *a = OD_TAKE_MATRIX(&scratch, double, used, count + 1), *b = OD_TAKE(&scratch, double, used);
  lapack_int rank = 0, *pivot = OD_TAKE(&scratch, lapack_int, count + 1);
  if (od_arena_status(&scratch) != OD_OK) return false;
  for (int j = 0; j <= count; j++) {
    double *to = a + (long)j * used, sum = 0;
    for (long k = 0; k < used; k++) to[k] = value_at(j < count ? &r[j] : &constant, first + k);
    if (f) od_discrete_filter(&one, 0, f, f_degree, to, to, used);
    // Columns are scaled to length 1, so that the rank does not depend on units.
    for (long k = 0; k < used; k++) sum += to[k] * to[k];
    for (long k = 0; sum > 0 && k < used; k++) to[k] /= sqrt(sum);
    if (j < count) x[j] = sum > 0 ? 1 / sqrt(sum) : 0;
  }
  memcpy(b, left + first, (size_t)used * sizeof *b);
  if (f) od_discrete_filter(&one, 0, f, f_degree, b, b, used);
  if (LAPACKE_dgelsy(LAPACK_COL_MAJOR, (lapack_int)used, count + 1, 1, a, (lapack_int)used, b, (lapack_int)used, pivot,
                     1e-13, &rank) != 0)
    return false;
  for (int j = 0; j < count; j++) x[j] *= b[j];
  return true;
}

// Computes the coefficients of `below` (A or F), B and C in y = (1 - below) y + B u + (C - 1) e. e begins at row `e_first`; NULL: C is
// not computed. f: denominator of the filter; NULL: no filter. Returns false if the regression fails.
static bool start_linear(const search *s, od_polynomial below, const double *f, const double *e, long e_first) {
  od_discrete *m = s->m;
  regressor r[MOST_COLUMNS];
  double x[MOST_COLUMNS];
  int count = 0, n = m->degree[below], nb = m->degree[OD_POLY_B], nc = e ? m->degree[OD_POLY_C] : 0;
  for (int i = 1; i <= n; i++) r[count++] = (regressor){s->data->y, 1, i, -1};
  for (int j = 0; j < s->inputs; j++)
    for (int i = m->delay; i <= nb; i++) r[count++] = (regressor){s->data->u + j, s->inputs, i, 1};
  for (int i = 1; i <= nc; i++) r[count++] = (regressor){e, 1, i, 1};
  long first = n > nb ? n : nb;
  if (e && e_first + nc > first) first = e_first + nc;
  if (!regress(s->data->y, s->rows, first, r, count, f, f ? m->degree[OD_POLY_F] : 0, x)) return false;
  count = 0;
  for (int i = 1; i <= n; i++) m->coefficient[below][i] = x[count++];
  for (int j = 0; j < s->inputs; j++)
    for (int i = m->delay; i <= nb; i++) m->coefficient[OD_POLY_B + j][i] = x[count++];
  for (int i = 1; i <= nc; i++) m->coefficient[OD_POLY_C][i] = x[count++];
  return true;
}

// Computes the errors of a long autoregression of y starting at row `from`, with the inputs if requested. Returns the
// first row with an error; 0: the regression failed.
static long long_errors(const search *s, bool with_inputs, const double *y, long from, double *e) {
  regressor r[MOST_COLUMNS];
  double x[MOST_COLUMNS];
  int count = 0, inputs = with_inputs ? s->inputs : 0;
  long order = (s->rows - from) / (4 * (1 + inputs)), first;
  if (order > LONG_ORDER) order = LONG_ORDER;
  first = from + order;
  for (int i = 1; i <= order; i++) r[count++] = (regressor){y, 1, i, 1};
  for (int j = 0; j < inputs; j++)
    for (int i = 0; i <= order; i++) r[count++] = (regressor){s->data->u + j, s->inputs, i, 1};
  if (order < 1 || !regress(y, s->rows, first, r, count, NULL, 0, x)) return 0;
  memset(e, 0, (size_t)first * sizeof *e);
  double mean = 0;
  for (long k = first; k < s->rows; k++) {
    e[k] = y[k];
    for (int j = 0; j < count; j++) e[k] -= x[j] * value_at(&r[j], k);
    mean += e[k] / (double)(s->rows - first);
  }
  for (long k = first; k < s->rows; k++) e[k] -= mean;
  return first;
}

static void reset(double *coefficient, int degree) {
  for (int i = 1; i <= degree; i++) coefficient[i] = 0;
}

// Computes F and B by Steiglitz and McBride. The iteration stops before F becomes unstable. Returns false if a
// regression fails.
static bool start_output_error(search *s) {
  od_discrete *m = s->m;
  double *f = m->coefficient[OD_POLY_F];
  if (!start_linear(s, OD_POLY_F, NULL, NULL, 0)) return false;
  if (!od_is_stable(f, m->degree[OD_POLY_F])) reset(f, m->degree[OD_POLY_F]);
  for (int i = 0; i < FILTERED_STARTS; i++) {
    const od_discrete last = *m;
    if (!start_linear(s, OD_POLY_F, last.coefficient[OD_POLY_F], NULL, 0)) return false;
    if (od_is_stable(f, m->degree[OD_POLY_F])) continue;
    *m = last;
    break;
  }
  return true;
}

// --- The search ---------------------------------------------------------------------------------------------------

// coefficients() returns the number of coefficients. unknowns() returns the number of all unknowns: coefficients, then
// the offset, the pulses of w and the pulses of e.
static int coefficients(const od_discrete *m) {
  return m->degree[OD_POLY_A] + m->inputs * (m->degree[OD_POLY_B] - m->delay + 1) + m->degree[OD_POLY_C] +
         m->degree[OD_POLY_D] + m->degree[OD_POLY_F];
}
static int unknowns(const od_discrete *m) {
  return coefficients(m) + 1 + m->degree[OD_POLY_F] + m->degree[OD_POLY_C];
}

// Loops over all unknown coefficients, in a fixed order.
#define FOR_EACH_UNKNOWN(m, p, i)          \
  for (int p = 0; p < OD_POLYNOMIALS; p++) \
    for (int i = p >= OD_POLY_B ? (m)->delay : 1; i <= (m)->degree[p]; i++)

// Copies the coefficients from the unknowns x to the model. Returns a pointer to the entries after the coefficients.
static const double *spread(od_discrete *m, const double *x) {
  FOR_EACH_UNKNOWN(m, p, i) m->coefficient[p][i] = *x++;
  return x;
}

// Filters `from` by 1/P into `to`, starting at row `first`, from rest. P: the polynomial p of the model.
static void divide(const search *s, od_polynomial p, long first, const double *from, double *to) {
  static const double one = 1;
  od_discrete_filter(&one, 0, s->m->coefficient[p], s->m->degree[p], from + first, to + first, s->rows - first);
}

// Replaces x with P x, starting at row `first`. P: the polynomial p of the model. The rows before `first` must exist.
static void multiply(const search *s, od_polynomial p, long first, double *x) {
  const double *c = s->m->coefficient[p];
  for (long k = s->rows - 1; k >= first && s->m->degree[p] > 0; k--)
    for (int i = 1; i <= s->m->degree[p]; i++) x[k] += c[i] * x[k - i];
}

// Computes w. `rest` contains the offset and the pulses of w.
static void find_w(search *s, const double *rest) {
  const od_discrete *m = s->m;
  for (long k = s->first_w; k < s->rows; k++) {
    long pulse = k - s->first_w;
    double sum = rest[0] + (pulse < m->degree[OD_POLY_F] ? rest[1 + pulse] : 0);
    for (int j = 0; j < s->inputs; j++)
      for (int i = m->delay; i <= m->degree[OD_POLY_B]; i++)
        sum += m->coefficient[OD_POLY_B + j][i] * s->data->u[(k - i) * s->inputs + j];
    s->w[k] = sum;
  }
  divide(s, OD_POLY_F, s->first_w, s->w, s->w);
}

static void find_v(search *s) {
  const od_discrete *m = s->m;
  for (long k = s->first_w; k < s->rows; k++) {
    s->v[k] = s->data->y[k] - s->w[k];
    for (int i = 1; i <= m->degree[OD_POLY_A]; i++) s->v[k] += m->coefficient[OD_POLY_A][i] * s->data->y[k - i];
  }
}

static int residuals(void *user, const double *x, double *r) {
  search *s = user;
  od_discrete *m = s->m;
  const double *rest = spread(m, x), *pulses = rest + 1 + m->degree[OD_POLY_F];
  if (!od_is_stable(m->coefficient[OD_POLY_C], m->degree[OD_POLY_C]) ||
      !od_is_stable(m->coefficient[OD_POLY_F], m->degree[OD_POLY_F]))
    return 1;
  find_w(s, rest);
  find_v(s);
  memcpy(s->e, s->v, (size_t)s->rows * sizeof *s->e);
  multiply(s, OD_POLY_D, s->first, s->e);
  for (int i = 0; i < m->degree[OD_POLY_C]; i++) s->e[s->first + i] += pulses[i];
  divide(s, OD_POLY_C, s->first, s->e, s->e);
  memcpy(r, s->e + s->first, (size_t)(s->rows - s->first) * sizeof *r);
  return 0;
}

// Computes the effect on e of a change of the right-hand side of w (in s->column, starting at first_w).
static void through_w(search *s) {
  divide(s, OD_POLY_F, s->first_w, s->column, s->column);
  for (long k = s->first_w; k < s->rows; k++) s->column[k] = -s->column[k];
  multiply(s, OD_POLY_D, s->first, s->column);
  divide(s, OD_POLY_C, s->first, s->column, s->column);
}

static void coefficient_column(search *s, int p, int i) {
  double *c = s->column;
  switch (p) {
    case OD_POLY_A:
      for (long k = s->first_w; k < s->rows; k++) c[k] = s->data->y[k - i];
      multiply(s, OD_POLY_D, s->first, c);
      break;
    case OD_POLY_C:
      for (long k = s->first; k < s->rows; k++) c[k] = k - i >= s->first ? -s->e[k - i] : 0;
      break;
    case OD_POLY_D:
      for (long k = s->first; k < s->rows; k++) c[k] = s->v[k - i];
      break;
    case OD_POLY_F:
      for (long k = s->first_w; k < s->rows; k++) c[k] = k - i >= s->first_w ? -s->w[k - i] : 0;
      through_w(s);
      return;
    default:
      for (long k = s->first_w; k < s->rows; k++) c[k] = s->data->u[(k - i) * s->inputs + p - OD_POLY_B];
      through_w(s);
      return;
  }
  divide(s, OD_POLY_C, s->first, c, c);
}

static void put_column(const search *s, int n, int at, double *J) {
  for (long k = s->first; k < s->rows; k++) J[(k - s->first) * n + at] = s->column[k];
}

// Computes the Jacobian at the point of the last residuals; x is not used. Always returns 0 (success).
static int jacobian(void *user, const double *x, double *J) {
  search *s = user;
  const od_discrete *m = s->m;
  int n = unknowns(m), at = 0;
  (void)x;
  FOR_EACH_UNKNOWN(m, p, i) {
    coefficient_column(s, p, i);
    put_column(s, n, at++, J);
  }
  for (int pulse = -1; pulse < m->degree[OD_POLY_F]; pulse++) {
    for (long k = s->first_w; k < s->rows; k++) s->column[k] = pulse < 0 || k == s->first_w + pulse;
    through_w(s);
    put_column(s, n, at++, J);
  }
  for (int pulse = 0; pulse < m->degree[OD_POLY_C]; pulse++) {
    for (long k = s->first; k < s->rows; k++) s->column[k] = k == s->first + pulse;
    divide(s, OD_POLY_C, s->first, s->column, s->column);
    put_column(s, n, at++, J);
  }
  return 0;
}

// Computes the sum of Box and Pierce. For white errors, the sum has a chi-squared distribution. Its degrees of freedom are
// the number of lags minus the number of coefficients of the noise.
static void judge_whiteness(od_discrete *m, const double *e, long rows) {
  double mean = 0, variance = 0;
  m->lags = rows > 4 * WHITENESS_LAGS ? WHITENESS_LAGS : (int)(rows / 4);
  m->whiteness = 0;
  for (long k = 0; k < rows; k++) mean += e[k] / (double)rows;
  for (long k = 0; k < rows; k++) variance += (e[k] - mean) * (e[k] - mean);
  for (int lag = 1; lag <= m->lags && variance > 0; lag++) {
    double sum = 0;
    for (long k = lag; k < rows; k++) sum += (e[k] - mean) * (e[k - lag] - mean);
    m->whiteness += (double)rows * (sum / variance) * (sum / variance);
  }
}

static od_status minimize(search *s, od_error *err) {
  od_discrete *m = s->m;
  int n = unknowns(m), at = 0;
  double x[MOST_COLUMNS] = {0};
  od_ls_result *result = NULL;
  FOR_EACH_UNKNOWN(m, p, i) x[at++] = m->coefficient[p][i];
  const od_ls_problem problem = {
      .m = (int)(s->rows - s->first), .n = n, .user = s, .residuals = residuals, .jacobian = jacobian, .start = x};
  const od_ls_options options = {.method = OD_LS_LEVENBERG_MARQUARDT, .max_evaluations = 200, .cost_tolerance = 1e-13};
  od_status status = od_least_squares(&problem, &options, &result, err);
  if (!result) return status;
  spread(m, result->x);
  at = 0;
  FOR_EACH_UNKNOWN(m, p, i) m->sigma[p][i] = result->sigma[at++];
  m->noise = sqrt(result->variance);
  m->iterations = result->iterations;
  m->rows = s->rows - s->first;
  m->is_minimum = status == OD_OK;
  judge_whiteness(m, result->residuals, m->rows);
  od_ls_result_free(result);
  return status == OD_NOT_CONVERGED ? OD_OK : status;
}

// --- Starts that need the search's signals ------------------------------------------------------------------------

// Computes C and D of v = C/D e by least squares of v on its own past and the past of e. Returns false if a regression fails.
static bool start_noise(search *s) {
  od_discrete *m = s->m;
  regressor r[2 * OD_DISCRETE_MOST];
  double x[2 * OD_DISCRETE_MOST];
  static const double rest[OD_DISCRETE_MOST + 1] = {0};
  int nc = m->degree[OD_POLY_C], nd = m->degree[OD_POLY_D], count = 0;
  find_w(s, rest);
  find_v(s);
  long e_first = long_errors(s, false, s->v, s->first_w, s->e);
  for (int i = 1; i <= nd; i++) r[count++] = (regressor){s->v, 1, i, -1};
  for (int i = 1; i <= nc; i++) r[count++] = (regressor){s->e, 1, i, 1};
  if (e_first == 0 || !regress(s->v, s->rows, e_first + (nc > nd ? nc : nd), r, count, NULL, 0, x)) return false;
  for (int i = 1; i <= nd; i++) m->coefficient[OD_POLY_D][i] = x[i - 1];
  for (int i = 1; i <= nc; i++) m->coefficient[OD_POLY_C][i] = x[nd + i - 1];
  return true;
}

static bool start(search *s, od_discrete_kind kind) {
  od_discrete *m = s->m;
  bool ok = true;
  if (kind == OD_DISCRETE_ARX) {
    ok = start_linear(s, OD_POLY_A, NULL, NULL, 0);
  } else if (kind == OD_DISCRETE_ARMAX) {
    long e_first = long_errors(s, true, s->data->y, 0, s->e);
    ok = e_first > 0 && start_linear(s, OD_POLY_A, NULL, s->e, e_first);
  } else {
    ok = start_output_error(s);
    if (kind == OD_DISCRETE_BJ) ok = ok && start_noise(s);
  }
  if (!od_is_stable(m->coefficient[OD_POLY_C], m->degree[OD_POLY_C]))
    reset(m->coefficient[OD_POLY_C], m->degree[OD_POLY_C]);
  return ok;
}

static void set_degrees(const od_discrete_options *o, int inputs, od_discrete *m) {
  int noise = o->noise_order > 0 ? o->noise_order : o->order;
  bool by_a = o->kind == OD_DISCRETE_ARX || o->kind == OD_DISCRETE_ARMAX;
  *m = (od_discrete){.delay = o->delay, .inputs = inputs};
  m->degree[by_a ? OD_POLY_A : OD_POLY_F] = o->order;
  for (int j = 0; j < OD_DISCRETE_INPUTS; j++)
    m->degree[OD_POLY_B + j] = j < inputs ? o->delay + o->order - !o->direct : -1;
  if (o->kind == OD_DISCRETE_ARMAX || o->kind == OD_DISCRETE_BJ) m->degree[OD_POLY_C] = noise;
  if (o->kind == OD_DISCRETE_BJ) m->degree[OD_POLY_D] = noise;
  for (int p = 0; p < OD_POLY_B; p++) m->coefficient[p][0] = 1;
}

static od_status check(const od_discrete_data *data, const od_discrete_options *o, od_error *err) {
  if (o->order < 1 || o->order > OD_DISCRETE_MOST || o->noise_order < 0 || o->noise_order > OD_DISCRETE_MOST)
    return od_fail(err, OD_BAD_INPUT,
                   "found order %d and noise order %d, expected an order from 1 to %d and a noise order from 0 to %d",
                   o->order, o->noise_order, OD_DISCRETE_MOST, OD_DISCRETE_MOST);
  if (o->delay < 0 || o->delay > OD_DISCRETE_MOST)
    return od_fail(err, OD_BAD_INPUT, "found a delay of %d samples, expected 0 to %d", o->delay, OD_DISCRETE_MOST);
  if (od_discrete_inputs(data) > OD_DISCRETE_INPUTS)
    return od_fail(err, OD_BAD_INPUT, "found %d inputs, expected 1 to %d", data->inputs, OD_DISCRETE_INPUTS);
  return OD_OK;
}

od_status od_discrete_fit(const od_discrete_data *data, const od_discrete_options *o, od_discrete *model,
                          od_error *err) {
  od_status status = check(data, o, err);
  if (status != OD_OK) return status;
  set_degrees(o, od_discrete_inputs(data), model);
  int na = model->degree[OD_POLY_A], nb = model->degree[OD_POLY_B];
  search s = {.data = data, .m = model, .inputs = model->inputs, .rows = data->rows, .first_w = na > nb ? na : nb};
  s.first = s.first_w + model->degree[OD_POLY_D];
  long least = s.first + 4L * unknowns(model) + 10;
  if (data->rows < least || data->rows > 100000000)
    return od_fail(err, OD_BAD_INPUT, "found %ld samples, expected %ld to 100 million samples for these orders; use %s",
                   data->rows, least, data->rows < least ? "lower orders or a longer log" : "a shorter log");
  OD_SCRATCH(scratch);
  s.w = OD_TAKE(&scratch, double, data->rows);
  s.v = OD_TAKE(&scratch, double, data->rows);
  s.e = OD_TAKE(&scratch, double, data->rows);
  s.column = OD_TAKE(&scratch, double, data->rows);
  if (od_arena_status(&scratch) != OD_OK) return od_fail(err, OD_NO_MEMORY, "out of memory");
  if (!start(&s, o->kind))
    return od_fail(err, OD_NOT_CONVERGED,
                   "the linear least-squares problem for the start values cannot be solved; try a lower order");
  return minimize(&s, err);
}
