// Filters in the shift, and what is left of a model when its noise is not looked at.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "discrete/discrete_model.h"

void od_discrete_filter(const double *n, int n_degree, const double *d, int d_degree, const double *x, double *y,
                        long rows) {
  enum { MOST = 2 * OD_DISCRETE_MOST + 2 };
  double state[2 * MOST] = {0};
  int order = n_degree > d_degree ? n_degree : d_degree;
  // Transposed direct form: state[i] is what the past adds to the output i samples from now.
  for (long k = 0; k < rows; k++) {
    double in = x[k], out = n[0] * in + state[0];
    for (int i = 0; i < order; i++)
      state[i] = state[i + 1] + (i < n_degree ? n[i + 1] * in : 0) - (i < d_degree ? d[i + 1] * out : 0);
    y[k] = out;
  }
}

// Schur and Cohn: reflection coefficients, all of them smaller than one.
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

od_z_transfer *od_z_transfer_new(int order, int outputs) {
  od_z_transfer *z = calloc(1, sizeof *z);
  if (!z) return NULL;
  z->order = order;
  z->outputs = outputs;
  z->numerator = calloc((size_t)outputs, sizeof *z->numerator);
  if (z->numerator) return z;
  free(z);
  return NULL;
}

void od_z_transfer_free(od_z_transfer *z) {
  if (!z) return;
  free(z->numerator);
  free(z);
}

od_status od_discrete_transfer(const od_discrete *m, od_z_transfer **out, od_error *err) {
  // Of A and F one is 1 in every kind.
  od_polynomial below = m->degree[OD_POLY_A] > 0 ? OD_POLY_A : OD_POLY_F;
  int order = m->degree[below] > m->degree[OD_POLY_B] ? m->degree[below] : m->degree[OD_POLY_B];
  od_z_transfer *z = *out = od_z_transfer_new(order, 1);
  if (!z) return od_fail(err, OD_NO_MEMORY, "memory ran out");
  for (int i = 0; i <= order; i++) {
    z->denominator[order - i] = i <= m->degree[below] ? m->coefficient[below][i] : 0;
    z->numerator[0][order - i] = i <= m->degree[OD_POLY_B] ? m->coefficient[OD_POLY_B][i] : 0;
  }
  return OD_OK;
}

void od_z_transfer_simulate(const od_z_transfer *z, int output, const double *u, long rows, double *y) {
  double n[2 * OD_DISCRETE_MOST + 2], d[2 * OD_DISCRETE_MOST + 2];
  for (int i = 0; i <= z->order; i++) {
    n[i] = z->numerator[output][z->order - i] / z->denominator[z->order];
    d[i] = z->denominator[z->order - i] / z->denominator[z->order];
  }
  od_discrete_filter(n, z->order, d, z->order, u, y, rows);
}

od_status od_z_transfer_judge(const od_z_transfer *z, const od_discrete_data *data, int output, long from,
                              od_z_quality *out, od_error *err) {
  double mean = 0, left = 0, all = 0, count = (double)(data->rows - from);
  double *y = calloc((size_t)data->rows + 1, sizeof *y);
  if (!y) return od_fail(err, OD_NO_MEMORY, "memory ran out");
  od_z_transfer_simulate(z, output, data->u, data->rows, y);
  for (long k = from; k < data->rows; k++) mean += data->y[k * data->outputs + output] / count;
  for (long k = from; k < data->rows; k++) {
    double value = data->y[k * data->outputs + output];
    left += (value - y[k]) * (value - y[k]);
    all += (value - mean) * (value - mean);
  }
  *out = (od_z_quality){100 * (1 - sqrt(left / all)), sqrt(left / count)};
  free(y);
  return OD_OK;
}
