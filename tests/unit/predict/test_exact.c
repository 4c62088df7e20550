// Exact discretization of linear plants and its sensitivities.
//
// Oracles: closed-form responses of systems of first and second order; CVODES at 1e-12 on hand-written variational
// equations; exponentials in closed form and complex steps; the Runge-Kutta rule in small steps. The two methods (steps
// with matrices, sum of modes) are compared with each other on random systems.
#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"
#include "predict/exponential.h"
#include "predict/predict.h"
#include "oracle/fin_servo.h"
#include "simulate/cvodes.h"
#include "support/allocations.h"
#include "support/random_machine.h"
#include "support/skipping.h"

// ---- a plant whose matrices depend on the parameters in a simple way: M = M0 + sum p_i M_i + (sum p_i^2) M_last

enum { MOST = 12, PARAMETERS = 3 };
typedef struct family {
  int nx, nu, ny;
  double A[PARAMETERS + 2][MOST * MOST], B[PARAMETERS + 2][MOST * 3], C[PARAMETERS + 2][3 * MOST], D[PARAMETERS + 2][9],
      offset[PARAMETERS + 2][MOST], zero[PARAMETERS + 2][3];
} family;

typedef double _Complex cplx;
static cplx weight(int i, const cplx *p) {
  cplx squares = 0;
  for (int k = 0; k < PARAMETERS; k++) squares += p[k] * p[k];
  return i == 0 ? 1 : i <= PARAMETERS ? p[i - 1] : squares;
}
static int family_f(void *user, double t, const double *xx, const double *uu, const double *pp, double *out) {
  (void)t;
  const family *m = user;
  const cplx *x = (const cplx *)xx, *u = (const cplx *)uu, *p = (const cplx *)pp;
  for (int r = 0; r < m->nx; r++) {
    cplx sum = 0;
    for (int i = 0; i < PARAMETERS + 2; i++) {
      cplx part = m->offset[i][r];
      for (int j = 0; j < m->nx; j++) part += m->A[i][r * m->nx + j] * x[j];
      for (int j = 0; j < m->nu; j++) part += m->B[i][r * m->nu + j] * u[j];
      sum += weight(i, p) * part;
    }
    ((cplx *)out)[r] = sum;
  }
  return 0;
}
static int family_h(void *user, double t, const double *xx, const double *uu, const double *pp, double *out) {
  (void)t;
  const family *m = user;
  const cplx *x = (const cplx *)xx, *u = (const cplx *)uu, *p = (const cplx *)pp;
  for (int r = 0; r < m->ny; r++) {
    cplx sum = 0;
    for (int i = 0; i < PARAMETERS + 2; i++) {
      cplx part = m->zero[i][r];
      for (int j = 0; j < m->nx; j++) part += m->C[i][r * m->nx + j] * x[j];
      for (int j = 0; j < m->nu; j++) part += m->D[i][r * m->nu + j] * u[j];
      sum += weight(i, p) * part;
    }
    ((cplx *)out)[r] = sum;
  }
  return 0;
}
static void widen(const double *from, int count, double *to) {
  for (int i = 0; i < count; i++) to[2 * i] = from[i], to[2 * i + 1] = 0;
}
static int real_part(int (*fn)(void *, double, const double *, const double *, const double *, double *), int rows,
                     void *user, const double *x, const double *u, const double *p, double *out) {
  const family *m = user;
  double cx[2 * MOST], cu[8], cp[2 * PARAMETERS], result[2 * MOST];
  widen(x, m->nx, cx), widen(u, m->nu, cu), widen(p, PARAMETERS, cp);
  fn(user, 0, cx, cu, cp, result);
  for (int i = 0; i < rows; i++) out[i] = result[2 * i];
  return 0;
}
static int real_f(void *user, double t, const double *x, const double *u, const double *p, double *out) {
  (void)t;
  return real_part(family_f, ((const family *)user)->nx, user, x, u, p, out);
}
static int real_h(void *user, double t, const double *x, const double *u, const double *p, double *out) {
  (void)t;
  return real_part(family_h, ((const family *)user)->ny, user, x, u, p, out);
}
static const double family_x0[MOST] = {0}, family_p[PARAMETERS] = {0};
static od_plant *family_plant(family *m) {
  od_function fn = {.nx = m->nx,
                    .nu = m->nu,
                    .ny = m->ny,
                    .np = PARAMETERS,
                    .x0 = family_x0,
                    .p = family_p,
                    .user = m,
                    .f = real_f,
                    .h = real_h,
                    .f_complex = family_f,
                    .h_complex = family_h};
  od_plant *plant = NULL;
  assert_int_equal(od_plant_from_function(&fn, &plant, NULL), OD_OK);
  return plant;
}

static od_predictor *predictor_of(const od_plant *plant, const od_logged_inputs *log, od_predictor_options options) {
  od_predictor *predictor = NULL;
  od_error error = {0};
  options.rule = (od_rule){.exact = true};
  if (od_predictor_new(plant, log, &options, &predictor, &error) != OD_OK) fail_msg("%s", error.text);
  return predictor;
}

// ---- the exponential

static void exponential_closed_forms(void **state) {
  (void)state;
  // A rotation, scaled: e^(at) [cos bt, sin bt; -sin bt, cos bt]; derivatives by a and b.
  double worst = 0;
  for (double b = 1e-3; b < 1e3; b *= 7) {
    double a = -0.3, A[4] = {a, b, -b, a}, E[8] = {1, 0, 0, 1, 0, 1, -1, 0}, X[4], L[8], scratch[100];
    int pivot[2];
    assert_true(od_exponential_scratch(2, 2) <= 100);
    assert_int_equal(od_exponential(2, A, 2, E, X, L, scratch, pivot), OD_OK);
    double c = exp(a) * cos(b), s = exp(a) * sin(b), size = fmax(1, b);
    const double want[4] = {c, s, -s, c}, by_b[4] = {-s, c, -c, -s};
    for (int i = 0; i < 4; i++) {
      worst = fmax(worst, fabs(X[i] - want[i]) / size);
      worst = fmax(worst, fabs(L[i] - want[i]) / size);
      worst = fmax(worst, fabs(L[4 + i] - by_b[i]) / size);
    }
  }
  // A Jordan block: e^l [1 1 1/2; 0 1 1; 0 0 1]; its derivative along the lower corner, by a complex step on the
  // characteristic equation's series.
  double J[9] = {-2, 1, 0, 0, -2, 1, 0, 0, -2}, E[9] = {0, 0, 0, 0, 0, 0, 1, 0, 0}, X[9], L[9], scratch[100];
  int pivot[3];
  assert_int_equal(od_exponential(3, J, 1, E, X, L, scratch, pivot), OD_OK);
  const double e = exp(-2), want[9] = {e, e, e / 2, 0, e, e, 0, 0, e};
  for (int i = 0; i < 9; i++) worst = fmax(worst, fabs(X[i] - want[i]));
  // L = integral of e^(J(1-s)) E e^(Js): entry (i, j) is e^-2 int (1-s)^(2-i)/(2-i)! s^j/j! ds = e^-2 / (3-i+j)!.
  static const double factorial[6] = {1, 1, 2, 6, 24, 120};
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) worst = fmax(worst, fabs(L[3 * i + j] - e / factorial[3 - i + j]));
  print_message("exponentials and their derivatives: %.2g\n", worst);
  assert_true(worst < 1e-13);
  J[4] = NAN;
  assert_int_not_equal(od_exponential(3, J, 1, E, X, L, scratch, pivot), OD_OK);
}

// ---- closed forms

// x' = -(2 + p0) x + (3 + p1) u + 0.5, y = x + p2, from x = 0, steps or ramps in u.
static void first_order(void **state) {
  (void)state;
  enum { COUNT = 50 };
  family m = {.nx = 1, .nu = 1, .ny = 1};
  m.A[0][0] = -2, m.A[1][0] = -1, m.B[0][0] = 3, m.B[2][0] = 1, m.offset[0][0] = 0.5, m.C[0][0] = 1, m.zero[3][0] = 1;
  od_plant *plant = family_plant(&m);
  double u[COUNT], y[COUNT], dy[COUNT * PARAMETERS], worst = 0, h = 0.1;
  const double p[3] = {0.25, -0.5, 0.125}, a = 2.25, b = 2.5;
  for (int hold = 0; hold < 2; hold++)
    for (int dense = 0; dense < 2; dense++) {
      for (int k = 0; k < COUNT; k++) u[k] = hold == OD_HOLD_ZERO ? 1 : k * h;
      const od_logged_inputs log = {.count = COUNT, .step = h, .u = u};
      od_predictor *predictor =
          predictor_of(plant, &log, (od_predictor_options){.hold = (od_hold)hold, .dense = dense});
      assert_int_equal(od_predict(predictor, p, NULL, y, dy), OD_OK);
      assert_int_equal(od_predictor_used_modes(predictor), !dense);
      for (int k = 0; k < COUNT; k++) {
        double t = k * h, E = exp(-a * t), one = (1 - E) / a,
               one_a = (t * E - one) / a;  // response to 1, and its derivative with respect to a
        double ramp = (t - one) / a,
               ramp_a = (-one_a - ramp) / a;  // response to t, and its derivative with respect to a
        double s = hold == OD_HOLD_ZERO ? one : ramp, s_a = hold == OD_HOLD_ZERO ? one_a : ramp_a;
        worst = fmax(worst, fabs(y[k] - (b * s + 0.5 * one + p[2])));
        worst = fmax(worst, fabs(dy[3 * k] - (b * s_a + 0.5 * one_a)));
        worst = fmax(worst, fabs(dy[3 * k + 1] - s));
        worst = fmax(worst, fabs(dy[3 * k + 2] - 1));
      }
      od_predictor_free(predictor);
    }
  print_message("first order, step and ramp: %.2g\n", worst);
  assert_true(worst < 1e-14 * COUNT);
  od_plant_free(plant);
}

// x'' + 2 z w x' + w^2 x = w^2 u, the unit step: damped oscillation, and the double pole at z = 1. Parameters: the two
// coefficients 2 z w and w^2, and a gain.
static cplx second_order_step(cplx damping, cplx stiffness, double t) {
  cplx half = damping / 2, root = csqrt(half * half - stiffness), s1 = -half + root, s2 = -half - root;
  return stiffness * (1 / (s1 * s2) + cexp(s1 * t) / (s1 * (s1 - s2)) + cexp(s2 * t) / (s2 * (s2 - s1)));
}
static void second_order(void **state) {
  (void)state;
  enum { COUNT = 80 };
  family m = {.nx = 2, .nu = 1, .ny = 1};
  m.A[0][1] = 1, m.A[1][3] = -1, m.A[2][2] = -1, m.B[2][1] = 1, m.C[0][0] = 1;
  od_plant *plant = family_plant(&m);
  double u[COUNT], y[COUNT], dy[COUNT * PARAMETERS], worst = 0, h = 0.05;
  for (int k = 0; k < COUNT; k++) u[k] = 1;
  const od_logged_inputs log = {.count = COUNT, .step = h, .u = u};
  for (int dense = 0; dense < 2; dense++) {
    od_predictor *predictor = predictor_of(plant, &log, (od_predictor_options){.dense = dense});
    const double p[3] = {2 * 0.2 * 5, 25, 0};
    assert_int_equal(od_predict(predictor, p, NULL, y, dy), OD_OK);
    assert_int_equal(od_predictor_used_modes(predictor), !dense);
    for (int k = 0; k < COUNT; k++) {
      worst = fmax(worst, fabs(y[k] - creal(second_order_step(p[0], p[1], k * h))));
      worst = fmax(worst, fabs(dy[3 * k] - (creal(second_order_step(p[0] + 1e-5, p[1], k * h)) -
                                            creal(second_order_step(p[0] - 1e-5, p[1], k * h))) /
                                               2e-5) *
                              1e-4);
    }
    // The double pole: y = 1 - (1 + w t) e^(-w t). By the parameters: with c = 2 w + d, x'' + c x' + w^2 x = w^2,
    // dx/dc solves the same equation driven by -x', so that dx/dc = -w^2 t^3/6 e^(-w t); and dx/d(w^2) by 1 - x.
    const double w = 4, q[3] = {2 * w, w * w, 0};
    assert_int_equal(od_predict(predictor, q, NULL, y, dy), OD_OK);
    assert_false(od_predictor_used_modes(predictor));
    for (int k = 0; k < COUNT; k++) {
      double t = k * h, E = exp(-w * t), by_stiffness = (t * t / 2 + w * t * t * t / 6) * E;
      worst = fmax(worst, fabs(y[k] - (1 - (1 + w * t) * E)));
      worst = fmax(worst, fabs(dy[3 * k] + w * w * t * t * t / 6 * E));
      worst = fmax(worst, fabs(dy[3 * k + 1] - by_stiffness));
    }
    od_predictor_free(predictor);
  }
  print_message("second order, oscillation and double pole: %.2g\n", worst);
  assert_true(worst < 1e-13);
  od_plant_free(plant);
}

// ---- CVODES: an oscillator drives a mass on a spring with a lag; states and hand-written variational equations

enum { FREE = 4, BOTH = FREE * 3 };
static const double drive_rate = 3;
static int driven(void *user, double t, const double *x, const double *u, const double *p, double *dx) {
  (void)user, (void)t, (void)u;
  dx[0] = x[1], dx[1] = -drive_rate * drive_rate * x[0];
  dx[2] = x[3], dx[3] = -p[0] * x[2] - p[1] * x[3] + x[0];
  return 0;
}
static int driven_jacobians(void *user, double t, const double *x, const double *u, const double *p, double *fx,
                            double *fu, double *fp) {
  (void)user, (void)t, (void)u, (void)fu;
  const double A[16] = {0, 1, 0, 0, -drive_rate * drive_rate, 0, 0, 0, 0, 0, 0, 1, 1, 0, -p[0], -p[1]};
  const double P[8] = {0, 0, 0, 0, 0, 0, -x[2], -x[3]};
  if (fx) memcpy(fx, A, sizeof A);
  if (fp) memcpy(fp, P, sizeof P);
  return 0;
}
// The same with dx/dp0 and dx/dp1 as further states.
static int variational(void *user, double t, const double *x, const double *u, const double *p, double *dx) {
  driven(user, t, x, u, p, dx);
  for (int c = 1; c <= 2; c++) {
    driven(user, t, x + FREE * c, u, p, dx + FREE * c);
    dx[FREE * c + 3] -= x[1 + c];
  }
  return 0;
}
static int variational_jacobians(void *user, double t, const double *x, const double *u, const double *p, double *fx,
                                 double *fu, double *fp) {
  (void)fu, (void)fp;
  double A[16];
  driven_jacobians(user, t, x, u, p, A, NULL, NULL);
  memset(fx, 0, BOTH * BOTH * sizeof *fx);
  for (int c = 0; c <= 2; c++) {
    for (int i = 0; i < FREE; i++) memcpy(fx + (FREE * c + i) * BOTH + FREE * c, A + FREE * i, FREE * sizeof *A);
    if (c) fx[(FREE * c + 3) * BOTH + 1 + c] -= 1;
  }
  return 0;
}
static void against_cvodes(void **state) {
  (void)state;
  enum { COUNT = 101 };
  const double x0[BOTH] = {1, 0.5, 0.2, -0.3}, p[2] = {20, 0.7}, h = 0.05;
  od_function small = {.nx = FREE, .np = 2, .x0 = x0, .p = p, .f = driven, .f_jacobians = driven_jacobians};
  od_function large = {.nx = BOTH, .np = 2, .x0 = x0, .p = p, .f = variational, .f_jacobians = variational_jacobians};
  od_plant *plant = NULL, *both = NULL;
  assert_int_equal(od_plant_from_function(&small, &plant, NULL), OD_OK);
  assert_int_equal(od_plant_from_function(&large, &both, NULL), OD_OK);
  const od_logged_inputs log = {.count = COUNT, .step = h};
  double y[COUNT * FREE], dy[COUNT * FREE * 2], worst = 0;
  for (int dense = 0; dense < 2; dense++) {
    od_predictor *predictor = predictor_of(plant, &log, (od_predictor_options){.dense = dense});
    assert_int_equal(od_predict(predictor, NULL, NULL, y, dy), OD_OK);
    assert_int_equal(od_predictor_used_modes(predictor), !dense);
    od_sim *sim = od_sim_new(both);
    assert_int_equal(od_sim_start(sim, 0, NULL), OD_OK);
    od_cvodes *cvodes = od_cvodes_new(sim, both, NULL, 1e-12);
    for (int k = 0; k < COUNT; k++) {
      if (k) assert_int_equal(od_cvodes_advance(cvodes, k * h, NULL), OD_OK);
      const double *x = od_sim_state(sim);
      for (int i = 0; i < FREE; i++) {
        worst = fmax(worst, fabs(y[FREE * k + i] - x[i]));
        for (int c = 0; c < 2; c++) worst = fmax(worst, fabs(dy[(FREE * k + i) * 2 + c] - x[FREE * (c + 1) + i]));
      }
    }
    od_cvodes_free(cvodes);
    od_sim_free(sim);
    od_predictor_free(predictor);
  }
  print_message("against CVODES at 1e-12: %.2g\n", worst);
  assert_true(worst < 5e-9);  // sum of its local errors
  od_plant_free(plant);
  od_plant_free(both);
}

// ---- modes against matrices

// Random stable systems; `gap`: relative distance of two poles that nearly coincide, zero: none do.
static void random_family(od_dice *dice, family *m, double gap) {
  *m = (family){.nx = 2 + od_dice_pick(dice, 8), .nu = 1 + od_dice_pick(dice, 2), .ny = 1 + od_dice_pick(dice, 2)};
  int nx = m->nx;
  double block[MOST * MOST] = {0}, T[MOST * MOST], inverse[MOST * MOST];
  for (int i = 0; i < nx; i++) {
    double size = exp(od_dice_uniform(dice, 0, 4));
    block[i * nx + i] = -size;
    if (i > 0 && i % 3 == 1) {  // a pair of complex poles
      double turn = size * od_dice_uniform(dice, 0.2, 5);
      block[i * nx + i] = block[(i - 1) * nx + i - 1];
      block[(i - 1) * nx + i] = turn, block[i * nx + i - 1] = -turn;
    }
  }
  if (gap > 0) {
    block[(nx - 1) * nx + nx - 1] = block[0] * (1 + gap);
    for (int i = 0; i < nx - 1; i++) block[(nx - 1) * nx + i] = 0, block[i * nx + nx - 1] = 0;
    if (nx > 2) block[nx + 1] = -3, block[1] = 0, block[nx] = 0;
    block[nx - 1] = 1;  // a Jordan block when the gap closes
  }
  // Mixed and badly scaled: A = T block T^-1, T = (1 + small) times sizes.
  for (int i = 0; i < nx * nx; i++) T[i] = (i % (nx + 1) == 0) + od_dice_uniform(dice, -0.2, 0.2);
  double work[MOST * 2 * MOST];
  for (int i = 0; i < nx; i++)
    for (int j = 0; j < 2 * nx; j++) work[i * 2 * nx + j] = j < nx ? T[i * nx + j] : j - nx == i;
  for (int k = 0; k < nx; k++)
    for (int i = 0; i < nx; i++) {
      if (i == k) continue;
      double factor = work[i * 2 * nx + k] / work[k * 2 * nx + k];
      for (int j = 0; j < 2 * nx; j++) work[i * 2 * nx + j] -= factor * work[k * 2 * nx + j];
    }
  for (int i = 0; i < nx; i++)
    for (int j = 0; j < nx; j++) inverse[i * nx + j] = work[i * 2 * nx + nx + j] / work[i * 2 * nx + i];
  double size[MOST];
  for (int i = 0; i < nx; i++) size[i] = exp(od_dice_uniform(dice, -6, 6));
  for (int i = 0; i < nx; i++)
    for (int j = 0; j < nx; j++) {
      double sum = 0;
      for (int k = 0; k < nx; k++)
        for (int q = 0; q < nx; q++) sum += T[i * nx + k] * block[k * nx + q] * inverse[q * nx + j];
      m->A[0][i * nx + j] = sum * size[i] / size[j];
    }
  for (int s = 0; s < PARAMETERS + 2; s++) {
    double much = s ? 0.1 : 1;
    for (int i = 0; s && i < nx * nx; i++)
      m->A[s][i] = od_dice_pick(dice, 3) ? 0 : od_dice_uniform(dice, -1, 1) * size[i / nx] / size[i % nx];
    for (int i = 0; i < nx * m->nu; i++) m->B[s][i] = much * od_dice_uniform(dice, -1, 1) * size[i / m->nu];
    for (int i = 0; i < m->ny * nx; i++) m->C[s][i] = much * od_dice_uniform(dice, -1, 1) / size[i % nx];
    for (int i = 0; i < m->ny * m->nu; i++) m->D[s][i] = od_dice_pick(dice, 3) ? 0 : od_dice_uniform(dice, -1, 1);
    for (int i = 0; i < nx; i++) m->offset[s][i] = od_dice_pick(dice, 4) ? 0 : od_dice_uniform(dice, -1, 1) * size[i];
    for (int i = 0; i < m->ny; i++) m->zero[s][i] = od_dice_pick(dice, 2) ? 0 : od_dice_uniform(dice, -1, 1);
  }
}

// Largest difference between two sets of columns, relative to each column's largest entry in `b`.
static double column_difference(int rows, int columns, const double *a, const double *b) {
  double worst = 0;
  for (int c = 0; c < columns; c++) {
    double error = 0, size = 0;
    for (int i = 0; i < rows; i++) {
      error = fmax(error, fabs(a[i * columns + c] - b[i * columns + c]));
      size = fmax(size, fabs(b[i * columns + c]));
      assert_true(isfinite(a[i * columns + c]));
    }
    if (size > 0) worst = fmax(worst, error / size);
  }
  return worst;
}

// Rows that are delivered in blocks, one in several: each is compared with its row of a whole prediction.
typedef struct thinned {
  const double *y, *dy;
  int ny, columns, next;
  double *some_y, *some_dy, *whole_y, *whole_dy;  // delivered rows, and their reference
} thinned;
static void take_thinned(void *user, const od_predicted *rows) {
  thinned *t = user;
  int per_row = t->ny * t->columns;
  assert_int_equal(rows->first, t->next * rows->every);
  for (int k = 0; k < rows->count; k++, t->next++) {
    size_t row = (size_t)(rows->first + k * rows->every);
    memcpy(t->some_y + t->next * t->ny, rows->y + k * t->ny, (size_t)t->ny * sizeof(double));
    memcpy(t->whole_y + t->next * t->ny, t->y + row * (size_t)t->ny, (size_t)t->ny * sizeof(double));
    memcpy(t->some_dy + t->next * per_row, rows->dy + k * per_row, (size_t)per_row * sizeof(double));
    memcpy(t->whole_dy + t->next * per_row, t->dy + row * (size_t)per_row, (size_t)per_row * sizeof(double));
  }
}
static double thinned_difference(od_predictor *predictor, const double *x0, int rows, int every, int ny, int columns,
                                 const double *y, const double *dy) {
  enum { MOST_ROWS = 400 };
  static double memory[4][MOST_ROWS * 3 * (PARAMETERS + 2)];
  thinned t = {y, dy, ny, columns, 0, memory[0], memory[1], memory[2], memory[3]};
  const od_predict_wish wish = {.sensitivities = true, .every = every, .take = take_thinned, .user = &t};
  assert_int_equal(od_predict_rows(predictor, NULL, x0, &wish), OD_OK);
  assert_int_equal(t.next, (rows - 1) / every + 1);
  return fmax(column_difference(t.next * ny, 1, t.some_y, t.whole_y),
              column_difference(t.next * ny, columns, t.some_dy, t.whole_dy));
}

// Predicts with both methods and compares. Returns the difference; *modes receives whether modes were used.
static double both_ways(family *m, od_dice *dice, int *modes) {
  enum { COUNT = 700 };
  od_plant *plant = family_plant(m);
  static double u[COUNT * 3], y[2][COUNT * 3], dy[2][COUNT * 3 * (PARAMETERS + 2)];
  for (int i = 0; i < COUNT * m->nu; i++) u[i] = sin(0.01 * i) + od_dice_uniform(dice, -0.3, 0.3);
  const od_logged_inputs log = {.count = COUNT, .start = 1, .step = exp(od_dice_uniform(dice, -6, -3)), .u = u};
  const int free_states[2] = {0, m->nx - 1};
  double x0[MOST], worst = 0;
  int start = od_dice_pick(dice, 3), columns = PARAMETERS + (start == 1 ? 2 : 0), rows = COUNT * m->ny;
  for (int i = 0; i < m->nx; i++) x0[i] = start == 1 ? od_dice_uniform(dice, -1, 1) : 0;
  od_predictor_options options = {.hold = (od_hold)od_dice_pick(dice, 2), .steady = start == 2};
  if (start == 1) options.free_states = free_states, options.free_count = 2;
  for (int dense = 0; dense < 2; dense++) {
    options.dense = dense;
    od_predictor *predictor = predictor_of(plant, &log, options);
    assert_int_equal(od_predict(predictor, NULL, x0, y[dense], dy[dense]), OD_OK);
    if (!dense) *modes = od_predictor_used_modes(predictor);
    // Without sensitivities the same outputs, within round-off.
    static double alone[COUNT * 3];
    assert_int_equal(od_predict(predictor, NULL, x0, alone, NULL), OD_OK);
    worst = fmax(worst, column_difference(rows, 1, alone, y[dense]));
    int every = 2 + od_dice_pick(dice, OD_PREDICT_MOST_EVERY - 1);
    worst = fmax(worst, thinned_difference(predictor, x0, COUNT, every, m->ny, columns, y[dense], dy[dense]));
    od_predictor_free(predictor);
  }
  worst = fmax(worst, column_difference(rows, 1, y[0], y[1]));
  worst = fmax(worst, column_difference(rows, columns, dy[0], dy[1]));
  od_plant_free(plant);
  return worst;
}

// A plant with an integrator has no steady start; two uncoupled plants do not affect each other's outputs.
static void special_structures(void **state) {
  (void)state;
  enum { COUNT = 20 };
  double u[2 * COUNT], y[2 * COUNT], dy[2 * COUNT * PARAMETERS];
  for (int i = 0; i < 2 * COUNT; i++) u[i] = 1 + i % 2;
  const od_logged_inputs log = {.count = COUNT, .step = 0.1, .u = u};
  family lone = {.nx = 2, .nu = 1, .ny = 1};
  lone.A[0][1] = 1, lone.A[0][3] = -2, lone.B[0][1] = 1, lone.B[1][1] = 1, lone.C[0][0] = 1;
  od_plant *plant = family_plant(&lone);
  od_predictor *predictor = predictor_of(plant, &log, (od_predictor_options){.steady = true});
  assert_int_equal(od_predict(predictor, NULL, NULL, y, dy), OD_SINGULAR);
  od_predictor_free(predictor);
  od_plant_free(plant);

  family apart = {.nx = 2, .nu = 2, .ny = 2};
  apart.A[0][0] = -1, apart.A[0][3] = -3, apart.A[1][0] = 1, apart.B[0][0] = apart.B[0][3] = 1;
  apart.C[0][0] = apart.C[0][3] = 1;
  plant = family_plant(&apart);
  predictor = predictor_of(plant, &log, (od_predictor_options){0});
  assert_int_equal(od_predict(predictor, NULL, NULL, y, dy), OD_OK);
  assert_true(od_predictor_used_modes(predictor));
  for (int k = 0; k < COUNT; k++) {
    assert_true(dy[(2 * k + 1) * PARAMETERS] == 0);
    assert_true(k == 0 || dy[2 * k * PARAMETERS] > 0);
  }
  od_predictor_free(predictor);
  od_plant_free(plant);
}

static void modes_against_matrices(void **state) {
  (void)state;
  od_dice dice = {12345};
  static family m;
  double worst = 0;
  int used = 0, all = 300, modes;
  for (int i = 0; i < all; i++) {
    random_family(&dice, &m, 0);
    double difference = both_ways(&m, &dice, &modes);
    worst = fmax(worst, difference);
    used += modes;
  }
  print_message("%d random systems, %d by modes: largest difference from matrices %.2g\n", all, used, worst);
  assert_true(worst < 1e-9);
  assert_true(used > all * 3 / 4);
}

// Two poles that approach each other: the result stays correct with both methods, and at the end modes are not used.
static void poles_that_nearly_coincide(void **state) {
  (void)state;
  od_dice dice = {777};
  static family m;
  double worst = 0;
  int modes = 0;
  for (double gap = 0.5; gap > 1e-15; gap /= 10) {
    int used = 0;
    for (int i = 0; i < 20; i++) {
      random_family(&dice, &m, gap);
      double difference = both_ways(&m, &dice, &modes);
      worst = fmax(worst, difference);
      used += modes;
    }
    if (gap < 1e-6) assert_int_equal(used, 0);
    print_message("  gap %.0e: %d of 20 by modes, largest difference so far %.2g\n", gap, used, worst);
  }
  assert_true(worst < 1e-9);
}

// ---- a servo of nine states

typedef struct servo {
  od_plant *plant;
  int count;
  double *u, *y, *dy;
  od_logged_inputs log;
} servo;
static servo servo_begin(void) {
  od_function fn = oracle_fin_servo();
  servo s = {.count = oracle_fin_servo_sweep(NULL)};
  size_t n = (size_t)s.count;
  assert_int_equal(s.count, 31125);
  assert_int_equal(od_plant_from_function(&fn, &s.plant, NULL), OD_OK);
  s.u = malloc(n * sizeof *s.u), s.y = malloc(n * sizeof *s.y), s.dy = malloc(8 * n * sizeof *s.dy);
  oracle_fin_servo_sweep(s.u);
  s.log = (od_logged_inputs){.count = s.count, .step = oracle_fin_servo_step, .u = s.u};
  return s;
}
static void servo_end(servo *s) {
  od_plant_free(s->plant);
  free(s->u), free(s->y), free(s->dy);
}

static void servo_sweep(void **state) {
  (void)state;
  servo s = servo_begin();
  size_t n = (size_t)s.count;
  double *y = malloc(n * sizeof *y), *dy = malloc(8 * n * sizeof *dy);
  od_predictor *modes = predictor_of(s.plant, &s.log, (od_predictor_options){0});
  od_predictor *dense = predictor_of(s.plant, &s.log, (od_predictor_options){.dense = true});
  assert_int_equal(od_predict(modes, NULL, NULL, s.y, s.dy), OD_OK);
  assert_true(od_predictor_used_modes(modes));
  assert_int_equal(od_predict(dense, NULL, NULL, y, dy), OD_OK);
  double off = fmax(column_difference(s.count, 1, s.y, y), column_difference(s.count, 8, s.dy, dy));
  // Runge-Kutta in steps of 0.1 ms, over the first 2000 samples.
  od_logged_inputs part = s.log;
  part.count = 2000;
  od_predictor *rk4 = NULL;
  const od_predictor_options options = {.rule = {od_integrator_find("rk4")}, .substeps = 5};
  assert_int_equal(od_predictor_new(s.plant, &part, &options, &rk4, NULL), OD_OK);
  assert_int_equal(od_predict(rk4, NULL, NULL, y, dy), OD_OK);
  double from_rk4 = fmax(column_difference(2000, 1, s.y, y), column_difference(2000, 8, s.dy, dy));
  print_message("servo sweep: modes against matrices %.2g; against Runge-Kutta %.2g\n", off, from_rk4);
  assert_true(off < 1e-9);
  assert_true(from_rk4 < 1e-6);
  od_predictor_free(modes), od_predictor_free(dense), od_predictor_free(rk4);
  free(y), free(dy);
  servo_end(&s);
}

// The bounds of the published fit include unstable loops: each trial gives a result within the limit or a rejection.
static void unstable_trials_are_rejected(void **state) {
  (void)state;
  static const double low[8] = {188, 0.3, 1e8, 0, 0, 0, 0.5, 1e4},
                      high[8] = {1000, 0.99, 1e9, 9e-12, 9e-13, 200, 50, 1e6};
  servo s = servo_begin();
  od_dice dice = {99};
  int rejected = 0, all = 400, largest_known = 0;
  od_predictor *predictor = predictor_of(s.plant, &s.log, (od_predictor_options){0});
  for (int i = 0; i < all; i++) {
    double p[8];
    for (int k = 0; k < 8; k++) p[k] = od_dice_uniform(&dice, low[k], high[k]);
    od_status status = od_predict(predictor, p, NULL, s.y, NULL);
    assert_true(status == OD_OK || status == OD_DIVERGED);
    rejected += status != OD_OK;
    for (int k = 0; status == OD_OK && k < s.count; k++) largest_known += !(fabs(s.y[k]) <= 1e12);
  }
  print_message("%d of %d trials rejected as unstable\n", rejected, all);
  assert_int_equal(largest_known, 0);
  assert_true(rejected > 0 && rejected < all / 4);
  // An unstable loop, by modes and by matrices, with and without sensitivities.
  double p[8];
  memcpy(p, oracle_fin_servo_identified, sizeof p);
  p[5] = -50000;
  od_predictor *dense = predictor_of(s.plant, &s.log, (od_predictor_options){.dense = true});
  assert_int_equal(od_predict(predictor, p, NULL, s.y, s.dy), OD_DIVERGED);
  assert_int_equal(od_predict(dense, p, NULL, s.y, s.dy), OD_DIVERGED);
  p[5] = NAN;
  assert_int_equal(od_predict(predictor, p, NULL, s.y, NULL), OD_NOT_FINITE);
  p[5] = 100, p[6] = 0;  // no mass
  assert_int_not_equal(od_predict(predictor, p, NULL, s.y, s.dy), OD_OK);
  assert_int_equal(od_predict(predictor, NULL, NULL, s.y, s.dy), OD_OK);
  od_predictor_free(predictor), od_predictor_free(dense);
  servo_end(&s);
}

static void predictions_allocate_nothing(void **state) {
  (void)state;
#if COUNTING
  servo s = servo_begin();
  for (int dense = 0; dense < 2; dense++) {
    od_predictor *predictor = predictor_of(s.plant, &s.log, (od_predictor_options){.dense = dense, .steady = true});
    long before = allocations;
    od_status status = od_predict(predictor, NULL, NULL, s.y, s.dy);
    long counted = allocations - before;
    assert_int_equal(status, OD_OK);
    assert_int_equal(counted, 0);
    od_predictor_free(predictor);
  }
  servo_end(&s);
#else
  skip_test("not possible: the sanitizer has its own allocator");
#endif
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(exponential_closed_forms),
      cmocka_unit_test(first_order),
      cmocka_unit_test(second_order),
      cmocka_unit_test(against_cvodes),
      cmocka_unit_test(special_structures),
      cmocka_unit_test(modes_against_matrices),
      cmocka_unit_test(poles_that_nearly_coincide),
      cmocka_unit_test(servo_sweep),
      cmocka_unit_test(unstable_trials_are_rejected),
      cmocka_unit_test(predictions_allocate_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
