// The second-order extended Kalman filter (with Gaussian moments): steps and sensors are quadratic functions over the uncertainty
// of the estimate. With rows s of the square root of P, first derivatives F and second derivatives F'',
//
//   mean = f + 1/2 sum over j of F''[s_j, s_j]
//   covariance = sum over j of (F s_j)(F s_j)' + 1/2 sum over j, k of F''[s_j, s_k] F''[s_j, s_k]' + Q
//
// and the same for the sensors. Second derivatives are differences of exact Jacobians along the rows, F''[s_j, .] = (F(x + e s_j) -
// F(x)) / e. These differences include the mixed second derivatives. The differences need one Jacobian per row. The error of the
// second derivatives is e times the third derivative, plus the round-off of F divided by e. If the machine cannot be moved along a
// row to one side, the other side is used. If the machine cannot be moved to either side, the second derivatives along the row are
// zero.
#include <math.h>

#include "observe/filters.h"
#include "observe/deviation_filter.h"

enum { REACH, OPTIONS };
static const od_filter_option options[] = {
    {"reach", "step of the difference quotients, in standard deviations; default: 1e-4", 1e-4, 1e-7, 3, NULL, {0}},
};

static int most_rows(int n) {
  return n + n * (n + 1) / 2;
}
static od_deviations rows_of(const od_observer *o) {
  return od_deviations_of(o, most_rows(o->nx + o->np));
}

static size_t memory(const od_plant *plant, const od_observer_options *o) {
  (void)o;
  return od_deviations_size(plant, most_rows(od_plant_nx(plant) + plant->np));
}

// The computation of a trial: a step, or (h zero) the outputs at the state of the trial copy.
typedef struct trial {
  double h;
  const double *u;
} trial;

// Computes the Jacobians of a trial at x + factor s: first with respect to the states (rows x nx), then with respect to the
// parameters (rows x np). Rows of sensors without a value stay unchanged. Fails with a status of od_sim_step().
static od_status jacobians(od_observer *o, const od_deviations *r, const trial *t, double factor, const double *s,
                           int rows, double *J) {
  od_sim *probe = od_deviations_probe(o);
  double *by_p = o->np ? J + rows * o->nx : NULL;
  od_status status = od_deviations_try(o, r, factor, s);
  if (status != OD_OK) return status;
  if (t->h > 0) return od_sim_step_with_jacobians(probe, t->h, t->u, J, NULL, NULL, by_p);
  return od_sim_output_rows(probe, (const unsigned char *)o + o->present, J, NULL, by_p);
}

// Computes out (rows) = J s, where J consists of the Jacobians by_x and by_p.
static void apply(const od_observer *o, int rows, const double *by_x, const double *by_p, const double *s,
                  double *out) {
  for (int i = 0; i < rows; i++)
    out[i] = od_dot(o->nx, by_x + i * o->nx, s) + (o->np ? od_dot(o->np, by_p + i * o->np, s + o->nx) : 0);
}

// Adds rows with the second derivatives of `count` results, at entry `place` of each row. by_x and by_p are the
// Jacobians at the estimate. `shift` (count) receives half the sum of F''[s, s]. wanted: for each result, whether it is
// used; NULL: all are used.
static void fill_curvatures(od_observer *o, od_deviations *r, const trial *t, int count, int place, const double *by_x,
                            const double *by_p, const unsigned char *wanted, double *shift) {
  int n = o->nx + o->np, width = n + o->ny;
  memset(shift, 0, (size_t)count * sizeof *shift);
  for (int j = 0; j < n; j++) {
    const double *s = r->root + j * n;
    double size = 0, e = o->choice[REACH];
    for (int i = 0; i < n; i++) size = fmax(size, fabs(s[i]));
    if (size == 0) continue;
    od_status status = jacobians(o, r, t, e, s, count, r->up);
    if (status != OD_OK) status = jacobians(o, r, t, e = -e, s, count, r->up);
    if (status != OD_OK) continue;
    for (int i = 0; i < count * o->nx; i++) r->up[i] = (r->up[i] - by_x[i]) / e;
    for (int i = 0; i < count * o->np; i++) r->up[count * o->nx + i] = (r->up[count * o->nx + i] - by_p[i]) / e;
    for (int k = j; k < n; k++) {
      double *row = od_deviations_next(r, width) + place;
      apply(o, count, r->up, r->up + count * o->nx, r->root + k * n, row);
      for (int i = 0; i < count; i++) {
        if (wanted && !wanted[i]) row[i] = 0;
        if (k > j) continue;
        shift[i] += row[i] / 2;
        row[i] *= sqrt(0.5);
      }
    }
  }
}

// Predicts with second derivatives of the step along the rows of the covariance's square root. Fails with a status of
// od_sim_step().
static od_status predict(od_observer *o, double h, const double *u, const double *Q, const double *q) {
  od_deviations r = rows_of(o);
  const od_linear *l = od_observer_linear(o);
  int n = o->nx + o->np, width = n + o->ny;
  const double *A = od_observer_at(o, l->A), *B = o->np ? od_observer_at(o, o->map_p) : NULL;
  double *shift = od_observer_at(o, l->delta);
  od_covariance b = od_observer_estimate(o);
  const trial step = {h, u};
  od_status status = od_covariance_rows(&b, r.root) ? od_deviations_step(o, &r, h, u) : OD_NOT_FINITE;
  if (status != OD_OK) return status;
  fill_curvatures(o, &r, &step, o->nx, 0, A, B, NULL, shift);
  for (int j = 0; j < n; j++) {
    double *row = od_deviations_next(&r, width);
    const double *s = r.root + j * n;
    memcpy(row, s, (size_t)n * sizeof *row);
    apply(o, o->nx, A, B, s, row);
  }
  return od_deviations_predicted(o, &r, shift, Q, q);
}

// Fills the rows of the sensors and their expected values at the estimate. Fails with OD_NOT_FINITE if the covariance has no square
// root.
static od_status fill_sensors(od_observer *o, od_deviations *r) {
  const od_linear *l = od_observer_linear(o);
  int n = o->nx + o->np, width = n + o->ny;
  const trial here = {0};
  const unsigned char *present = (const unsigned char *)o + o->present;
  const double *hx = od_observer_at(o, l->hx), *hp = od_observer_at(o, l->hp);
  od_covariance b = od_observer_estimate(o);
  if (!od_covariance_rows(&b, r->root)) return OD_NOT_FINITE;
  fill_curvatures(o, r, &here, o->ny, n, hx, hp, present, r->expected);
  for (int i = 0; i < o->ny; i++) r->expected[i] += od_observer_at(o, l->y)[i];
  for (int j = 0; j < n; j++) {
    double *row = od_deviations_next(r, width);
    memcpy(row, r->root + j * n, (size_t)n * sizeof *row);
    apply(o, o->ny, hx, hp, row, row + n);
    for (int i = 0; i < o->ny; i++)
      if (!present[i]) row[n + i] = 0;
  }
  return OD_OK;
}

static od_status correct(od_observer *o, const double *y) {
  od_deviations r = rows_of(o);
  return od_deviations_correct(o, &r, y, fill_sensors);
}

const od_filter od_filter_second_order_ekf = {
    .name = "second-order-ekf",
    .description = "second-order extended Kalman filter with second derivatives of steps and sensors",
    .option = options,
    .options = OPTIONS,
    .memory = memory,
    .predict = predict,
    .correct = correct,
    .output_sigma = od_linear_output_sigma,
};
