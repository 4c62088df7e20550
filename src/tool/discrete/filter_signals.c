// Filters in the shift operator, and noise-free simulations of models.
#include <lapacke.h>
#include <math.h>
#include <string.h>

#include "base/allocate.h"
#include "discrete/discrete_model.h"

void od_discrete_filter(const double *n, int n_degree, const double *d, int d_degree, const double *x, double *y,
                        long rows) {
  enum { MOST = 2 * OD_DISCRETE_MOST + 2 };
  double state[2 * MOST] = {0};
  int order = n_degree > d_degree ? n_degree : d_degree;
  // Transposed direct form: state[i] is the contribution of the past to the output i samples from now.
  for (long k = 0; k < rows; k++) {
    double in = x[k], out = n[0] * in + state[0];
    for (int i = 0; i < order; i++)
      state[i] = state[i + 1] + (i < n_degree ? n[i + 1] * in : 0) - (i < d_degree ? d[i + 1] * out : 0);
    y[k] = out;
  }
}

// Uses the Schur-Cohn test: the magnitudes of all reflection coefficients must be smaller than one.
bool od_is_stable(const double *c, int degree) {
  double a[2 * OD_DISCRETE_MOST + 2], b[2 * OD_DISCRETE_MOST + 2];
  memcpy(a, c, ((size_t)degree + 1) * sizeof *a);
  for (int n = degree; n > 0; n--) {
    double k = a[n] / a[0];
    if (!(fabs(k) < 1)) return false;
    for (int i = 0; i < n; i++) b[i] = a[i] - k * a[n - i];
    memcpy(a, b, (size_t)n * sizeof *a);
  }
  return true;
}

od_z_transfer *od_z_transfer_new(int order, int outputs, int inputs) {
  size_t numerators = (size_t)outputs * (size_t)inputs;
  od_z_transfer *z = od_calloc(1, sizeof *z + numerators * sizeof *z->numerator);
  if (!z) return NULL;
  z->order = order;
  z->outputs = outputs;
  z->inputs = inputs;
  return z;
}

void od_z_transfer_free(od_z_transfer *z) {
  od_free(z);
}

// Computes the eigenvalues of the companion matrix.
bool od_z_transfer_find_radius(od_z_transfer *z) {
  enum { MOST = OD_DISCRETE_TERMS };
  double M[MOST * MOST] = {0}, real[MOST], imaginary[MOST];
  int n = z->order;
  for (int i = 0; i < n; i++) {
    M[i] = -z->denominator[n - 1 - i] / z->denominator[n];
    if (i > 0) M[i * n + i - 1] = 1;
  }
  z->radius = 0;
  if (n > 0 && LAPACKE_dgeev(LAPACK_ROW_MAJOR, 'N', 'N', n, M, n, real, imaginary, NULL, n, NULL, n) != 0) return false;
  for (int i = 0; i < n; i++) z->radius = fmax(z->radius, hypot(real[i], imaginary[i]));
  return true;
}

od_status od_discrete_transfer(const od_discrete *m, od_z_transfer **out, od_error *err) {
  // In each kind of model, A or F is 1.
  od_polynomial below = m->degree[OD_POLY_A] > 0 ? OD_POLY_A : OD_POLY_F;
  int order = m->degree[below] > m->degree[OD_POLY_B] ? m->degree[below] : m->degree[OD_POLY_B];
  *out = NULL;
  OD_OWNED(od_z_transfer_free) od_z_transfer *z = od_z_transfer_new(order, 1, m->inputs);
  if (!z) return od_fail(err, OD_NO_MEMORY, "out of memory");
  for (int i = 0; i <= order; i++) {
    z->denominator[order - i] = i <= m->degree[below] ? m->coefficient[below][i] : 0;
    for (int j = 0; j < m->inputs; j++)
      z->numerator[j][order - i] = i <= m->degree[OD_POLY_B] ? m->coefficient[OD_POLY_B + j][i] : 0;
  }
  if (!od_z_transfer_find_radius(z))
    return od_fail(err, OD_NOT_CONVERGED, "the poles of the model cannot be computed; try another order");
  *out = OD_GIVE(z);
  return OD_OK;
}

// --- Simulations --------------------------------------------------------------------------------------------------

// Finds the initial state and the offset: pulses in the first rows, and a constant, on the right-hand side of D y = N u. Both are
// fitted to the known rows by least squares. Responses of an unstable model grow. For such a model only the first rows are used:
// two rows per unknown, and the rows in which the responses grow by a factor of a million. Returns false if there are fewer rows
// than unknowns, or the fit fails.
static bool find_start(const od_z_transfer *z, const double *d, const od_discrete_data *data, int output, long known,
                       const double *simulated, double *pulse) {
  static const double one = 1;
  OD_SCRATCH(scratch);
  int columns = z->order + 1;
  if (z->radius > 1) known = (long)fmin((double)known, 2 * columns + log(1e6) / log(z->radius));
  double *a = OD_TAKE_MATRIX(&scratch, double, known, columns), *b = OD_TAKE(&scratch, double, known);
  double size[OD_DISCRETE_TERMS + 1] = {0};
  lapack_int rank = 0, *pivot = OD_TAKE(&scratch, lapack_int, columns);
  if (od_arena_status(&scratch) != OD_OK || known < columns) return false;
  for (int c = 0; c < columns; c++) {
    double *to = a + c * known, sum = 0;
    for (long k = 0; k < known; k++) to[k] = c == z->order || k == c;
    od_discrete_filter(&one, 0, d, z->order, to, to, known);
    for (long k = 0; k < known; k++) sum += to[k] * to[k];
    size[c] = sqrt(sum);
    if (!isfinite(sum) || !(sum > 0)) return false;
    for (long k = 0; k < known; k++) to[k] /= size[c];
  }
  for (long k = 0; k < known; k++) {
    b[k] = data->y[k * data->outputs + output] - simulated[k];
    if (!isfinite(b[k])) return false;
  }
  if (LAPACKE_dgelsy(LAPACK_COL_MAJOR, (lapack_int)known, columns, 1, a, (lapack_int)known, b, (lapack_int)known, pivot,
                     1e-12, &rank) != 0)
    return false;
  for (int c = 0; c < columns; c++) pulse[c] = b[c] / size[c];
  return true;
}

od_status od_z_transfer_simulate(const od_z_transfer *z, const od_discrete_data *data, int output, long known,
                                 double *y, od_error *err) {
  OD_SCRATCH(scratch);
  double n[OD_DISCRETE_TERMS], d[OD_DISCRETE_TERMS], pulse[OD_DISCRETE_TERMS + 1];
  static const double one = 1;
  int inputs = od_discrete_inputs(data);
  double *right = OD_TAKE(&scratch, double, data->rows), *part = OD_TAKE(&scratch, double, data->rows);
  if (!right || !part) return od_fail(err, OD_NO_MEMORY, "out of memory");
  for (int i = 0; i <= z->order; i++) d[i] = z->denominator[z->order - i] / z->denominator[z->order];
  for (int j = 0; j < inputs; j++) {
    for (int i = 0; i <= z->order; i++)
      n[i] = z->numerator[output * inputs + j][z->order - i] / z->denominator[z->order];
    for (long k = 0; k < data->rows; k++) part[k] = data->u[k * inputs + j];
    od_discrete_filter(n, z->order, &one, 0, part, part, data->rows);
    for (long k = 0; k < data->rows; k++) right[k] += part[k];
  }
  od_discrete_filter(&one, 0, d, z->order, right, y, data->rows);
  if (!find_start(z, d, data, output, known, y, pulse)) return OD_OK;
  for (long k = 0; k < data->rows; k++) right[k] += pulse[z->order] + (k < z->order ? pulse[k] : 0);
  od_discrete_filter(&one, 0, d, z->order, right, y, data->rows);
  return OD_OK;
}

od_status od_z_transfer_judge(const od_z_transfer *z, const od_discrete_data *data, int output, long known, long from,
                              od_z_quality *out, od_error *err) {
  double mean = 0, left = 0, all = 0, count = (double)(data->rows - from), low = INFINITY, high = -INFINITY;
  OD_SCRATCH(scratch);
  double *y = OD_TAKE(&scratch, double, data->rows);
  if (!y) return od_fail(err, OD_NO_MEMORY, "out of memory");
  od_status status = od_z_transfer_simulate(z, data, output, known, y, err);
  for (long k = from; k < data->rows; k++) mean += data->y[k * data->outputs + output] / count;
  for (long k = from; k < data->rows; k++) {
    double value = data->y[k * data->outputs + output];
    left += (value - y[k]) * (value - y[k]);
    all += (value - mean) * (value - mean);
    low = fmin(low, value), high = fmax(high, value);
  }
  bool is_finite = isfinite(left);
  *out = (od_z_quality){!(high > low) ? (double)NAN
                        : is_finite   ? 100 * (1 - sqrt(left / all))
                                      : -INFINITY,
                        is_finite ? sqrt(left / count) : INFINITY};
  return status;
}
