// The extended Kalman filter of second order (with Gaussian moments): steps and sensors are parabolas over the uncertainty of
// the estimate. With rows s of the square root of P, slopes F and second derivatives F'',
//
//   mean = f + 1/2 sum over j of F''[s_j, s_j]
//   covariance = sum over j of (F s_j)(F s_j)' + 1/2 sum over j, k of F''[s_j, s_k] F''[s_j, s_k]' + Q
//
// and the same for the sensors. Second derivatives are central differences of exact Jacobians along the rows,
// F''[s_j, .] = (F(x + e s_j) - F(x - e s_j)) / (2 e), which gives the mixed ones, too. A row along which the machine cannot be
// moved has none.
#include <math.h>

#include "observe/filters.h"
#include "observe/row_filter.h"

enum { REACH, OPTIONS };
static const od_filter_option options[] = {
    {"reach", "of the differences, in standard deviations", 0.01, 1e-6, 3, NULL, {0}},
};

static int most_rows(int n) {
  return n + n * (n + 1) / 2;
}
static od_rows rows_of(const od_observer *o) {
  return od_rows_of(o, most_rows(o->nx + o->np));
}

static size_t memory(const od_plant *plant, const od_observer_options *o) {
  (void)o;
  return od_rows_size(plant, most_rows(od_plant_nx(plant) + plant->np));
}

// A step, or the outputs where the copy stands (h zero).
typedef struct trial {
  double h;
  const double *u;
} trial;

// The Jacobians of a trial at x + factor s: first those by the states (rows x nx), then those by the parameters (rows x np).
static od_status jacobians(od_observer *o, const od_rows *r, const trial *t, double factor, const double *s, int rows,
                           double *J) {
  od_sim *probe = od_rows_probe(o);
  double *by_p = o->np ? J + rows * o->nx : NULL;
  od_status status = od_rows_try(o, r, factor, s);
  if (status != OD_OK) return status;
  if (t->h > 0) return od_sim_step_with_jacobians(probe, t->h, t->u, J, NULL, NULL, by_p);
  memset(J, 0, (size_t)(rows * (o->nx + o->np)) * sizeof *J);
  return od_sim_output_rows(probe, (const unsigned char *)o + o->present, J, NULL, by_p);
}

// (J s) (rows), with J as above.
static void apply(const od_observer *o, int rows, const double *by_x, const double *by_p, const double *s,
                  double *out) {
  for (int i = 0; i < rows; i++)
    out[i] = od_dot(o->nx, by_x + i * o->nx, s) + (o->np ? od_dot(o->np, by_p + i * o->np, s + o->nx) : 0);
}

// Rows of the curvatures, at `place` of each; `shift` (count) receives half the sum of F''[s, s].
static void fill_curvatures(od_observer *o, od_rows *r, const trial *t, int count, int place, double *shift) {
  int n = o->nx + o->np, width = n + o->ny;
  double e = o->choice[REACH];
  memset(shift, 0, (size_t)count * sizeof *shift);
  for (int j = 0; j < n; j++) {
    const double *s = r->root + j * n;
    double size = 0;
    for (int i = 0; i < n; i++) size = fmax(size, fabs(s[i]));
    if (size == 0 || jacobians(o, r, t, e, s, count, r->up) != OD_OK ||
        jacobians(o, r, t, -e, s, count, r->down) != OD_OK)
      continue;
    for (int i = 0; i < count * n; i++) r->up[i] = (r->up[i] - r->down[i]) / (2 * e);
    for (int k = j; k < n; k++) {
      double *row = od_rows_next(r, width) + place;
      apply(o, count, r->up, r->up + count * o->nx, r->root + k * n, row);
      for (int i = 0; i < count && k == j; i++) {
        shift[i] += row[i] / 2;
        row[i] *= sqrt(0.5);
      }
    }
  }
}

static od_status predict(od_observer *o, double h, const double *u, const double *Q, const double *q) {
  od_rows r = rows_of(o);
  const od_linear *l = od_observer_linear(o);
  int n = o->nx + o->np, width = n + o->ny;
  double *A = od_observer_at(o, l->A), *B = o->np ? od_observer_at(o, o->map_p) : NULL,
         *shift = od_observer_at(o, l->delta);
  od_covariance b = od_observer_belief(o);
  const trial step = {h, u};
  if (!od_covariance_rows(&b, r.root)) return OD_NOT_FINITE;
  od_rows_here(o, &r);
  fill_curvatures(o, &r, &step, o->nx, 0, shift);
  od_status status = od_sim_step_with_jacobians(od_observer_sim(o), h, u, A, NULL, NULL, B);
  if (status != OD_OK) return status;
  for (int j = 0; j < n; j++) {
    double *row = od_rows_next(&r, width);
    const double *s = r.root + j * n;
    memcpy(row, s, (size_t)n * sizeof *row);
    apply(o, o->nx, A, B, s, row);
  }
  od_observer_add_step_bias(o, A, B);
  return od_rows_predicted(o, &r, shift, Q, q);
}

static od_status fill_sensors(od_observer *o, od_rows *r) {
  const od_linear *l = od_observer_linear(o);
  int n = o->nx + o->np, width = n + o->ny;
  const trial here = {0};
  od_covariance b = od_observer_belief(o);
  if (!od_covariance_rows(&b, r->root)) return OD_NOT_FINITE;
  fill_curvatures(o, r, &here, o->ny, n, r->expected);
  for (int i = 0; i < o->ny; i++) r->expected[i] += od_observer_at(o, l->y)[i];
  for (int j = 0; j < n; j++) {
    double *row = od_rows_next(r, width);
    memcpy(row, r->root + j * n, (size_t)n * sizeof *row);
    apply(o, o->ny, od_observer_at(o, l->hx), od_observer_at(o, l->hp), row, row + n);
  }
  return OD_OK;
}

static od_status correct(od_observer *o, const double *y) {
  od_rows r = rows_of(o);
  return od_rows_correct(o, &r, y, fill_sensors);
}

const od_filter od_filter_second_order_ekf = {
    .name = "second-order-ekf",
    .description = "extended Kalman filter of second order, with curvatures of steps and sensors",
    .option = options,
    .options = OPTIONS,
    .memory = memory,
    .predict = predict,
    .correct = correct,
    .output_sigma = od_linear_output_sigma,
};
