// Every Jacobian against the complex step, over random machines: planar and spatial, with and without loops, circuits
// and blocks.
//
// The complex step runs the kernels in complex numbers: independent of the hand-written tangents, exact to round-off.
// Rates and transitions are solved in complex arithmetic with the real Newton matrix until the imaginary part, too,
// has converged. Parameter columns are compared with complex steps through the whole step of every integrator, whose rules are written
// here again, in complex numbers and as in the literature.
#include <complex.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"
#include "hydraulics/circuit.h"
#include "math/dense.h"
#include "mechanics/mechanics.h"
#include "oleodyn/sim.h"
#include "plant/model_plant.h"
#include "integrate/sim_block.h"
#include "support/random_machine.h"

enum { MACHINES = 60, MOST_PARAMETERS = 12, MOST_OUTPUTS = 4096, MOST_STATES = 160 };
static const double tiny = 1e-30, bound = 1e-9;

// A machine at a random point, with all data of the comparison.
typedef struct bench {
  od_model *m;
  od_plant *plant;
  od_sim *sim;
  int nz, nx, nk, nu, ny, np, parameter[MOST_PARAMETERS];
  double complex *w;  // work memory of the complex kernels
  int columns_before_parameters;
  const char *where;
  unsigned long long seed;
  double worst, rounding;  // above the limit, for steps of stiff machines
} bench;
static int not_converged, too_violent, corners;  // steps of the present group of machines

static double largest(const double *a, int count) {
  double size = 0;
  for (int i = 0; i < count; i++) size = fmax(size, fabs(a[i]));
  return size;
}

// Relative to the largest entry; if all entries vanish, to a hundredth of the usual size (at least 1e-2).
static void compare(bench *b, const char *what, const double *got, const double *want, int rows, int columns,
                    double usual) {
  double scale = largest(want, rows * columns) + 1e-2 * fmax(usual, 1), worst = 0;
  for (int i = 0; i < rows * columns; i++) worst = fmax(worst, fabs(got[i] - want[i]));
  double error = worst / scale;
  b->worst = fmax(b->worst, error - b->rounding);
  if (!(error < bound + b->rounding)) {
    print_error("%s machine %llu, %s: relative error %.3g\n", b->where, b->seed, what, error);
    for (int i = 0; i < rows * columns && i < 40; i++) print_error("  [%d] got %.12g want %.12g\n", i, got[i], want[i]);
  }
  assert_true(error < bound + b->rounding);
}

// The same with each row and column in its own unit: rows by their largest entry, after columns by the size of the
// changed quantity (a pressure of 1e6 Pa is equivalent to an angle of 1 rad).
static double unit_of(const bench *b, int column) {
  if (column < 2 * b->nz) return 1;
  if (column < b->nx) return b->plant->scale[column - b->nz];
  int parameter = column - b->columns_before_parameters;
  return parameter >= 0 ? fabs(b->m->theta[b->parameter[parameter]]) + 1e-12 : 1;
}
static void compare_scaled(bench *b, const char *what, const double *got, const double *want, int rows, int columns) {
  b->columns_before_parameters = columns - b->np;
  double *a = malloc((size_t)columns * sizeof *a), *c = malloc((size_t)columns * sizeof *c),
         *largest_of = calloc(3, sizeof *largest_of);
  // The usual size of rows of one kind: rates, accelerations, circuit rates.
  for (int pass = 0; pass < 2; pass++)
    for (int i = 0; i < rows; i++) {
      int kind = i < b->nz ? 0 : i < 2 * b->nz ? 1 : 2;
      double unit = i < 2 * b->nz ? 1 : b->plant->scale[i - b->nz];
      for (int j = 0; j < columns; j++)
        a[j] = got[i * columns + j] * unit_of(b, j) / unit, c[j] = want[i * columns + j] * unit_of(b, j) / unit;
      if (pass == 0)
        largest_of[kind] = fmax(largest_of[kind], largest(c, columns));
      else
        compare(b, what, a, c, 1, columns, largest_of[kind]);
    }
  free(a), free(c), free(largest_of);
}

static bool open_bench(bench *b, unsigned long long seed, bool planar, bool loops, bool circuit, bool blocks) {
  *b = (bench){.where = planar ? (loops ? "planar looped" : "planar") : (loops ? "spatial looped" : "spatial"),
               .seed = seed};
  b->m = od_random_machine(seed, planar, loops, circuit, blocks);
  if (!b->m) return false;
  od_dice dice = {seed + 99};
  int outputs[MOST_OUTPUTS], count = b->m->outputs;
  assert_true(count <= MOST_OUTPUTS);
  for (int i = 0; i < count; i++) outputs[i] = i;
  // Any number except an axis of a planar machine, which is not a parameter.
  for (int i = 0; i < MOST_PARAMETERS;) {
    b->parameter[i] = od_dice_pick(&dice, b->m->numbers);
    if (!b->m->planar || strcmp(od_number_path(b->m, b->parameter[i]), "axis") != 0) i++;
  }
  assert_int_equal(od_model_plant(b->m, outputs, count, b->parameter, MOST_PARAMETERS, &b->plant, NULL), OD_OK);
  b->sim = od_sim_new(b->plant);
  assert_non_null(b->sim);
  b->nz = b->plant->nz;
  b->nx = od_plant_nx(b->plant), b->nk = od_plant_nk(b->plant), b->nu = b->plant->nu, b->ny = count,
  b->np = MOST_PARAMETERS;
  b->w = calloc((size_t)b->m->layout.scalars, sizeof *b->w);
  double u[2] = {od_dice_uniform(&dice, -2, 2), od_dice_uniform(&dice, -2, 2)}, x[MOST_STATES];
  assert_int_equal(od_sim_start(b->sim, 0, u), OD_OK);
  // Away from rest.
  memcpy(x, od_sim_state(b->sim), (size_t)b->nx * sizeof *x);
  for (int i = 0; i < 2 * b->nz; i++)
    x[i] += i < b->nz ? od_dice_uniform(&dice, -0.02, 0.02) : od_dice_uniform(&dice, -2, 2);
  od_status status = od_sim_set(b->sim, 0, x, u);
  if (status != OD_OK) {  // the random state is outside the range of the loops
    od_sim_free(b->sim);
    od_plant_free(b->plant);
    od_model_free(b->m);
    free(b->w);
    return false;
  }
  return true;
}

static void close_bench(bench *b) {
  od_sim_free(b->sim);
  od_plant_free(b->plant);
  od_model_free(b->m);
  free(b->w);
}

// Loads theta (one number moved along the imaginary axis if moved >= 0), the coordinates and the charts.
static void load_complex(bench *b, int moved) {
  const od_layout *l = &b->m->layout;
  const double *w = od_model_plant_scalars(b->plant, od_sim_work(b->sim));
  memset(b->w, 0, (size_t)l->scalars * sizeof *b->w);
  for (int i = 0; i < b->m->numbers; i++) b->w[l->theta + i] = w[l->theta + i];
  if (moved >= 0) b->w[l->theta + moved] += tiny * I;
  for (int i = 0; i < 9 * b->m->charts; i++) b->w[l->chart + i] = w[l->chart + i];
  for (int i = 0; i < b->m->coordinates; i++) b->w[l->z + i] = w[l->z + i];
  od_mechanics_with_derivatives(b->m)->prepare(b->m, b->w);
}

static void complex_residual(bench *b, const double complex *x, const double complex *k, const double complex *u,
                             double complex *g) {
  const int *in = od_model_plant_integers(b->plant, od_sim_work(b->sim));
  od_status status = od_model_residual_complex(b->m, in, b->w, x, k, u, g);
  assert_int_equal(status, OD_OK);
  od_mechanics_with_derivatives(b->m)->closure_forces(b->m, in, b->w);  // for joint loads
}

// Whether the last correction of rates k, real and imaginary, was only round-off.
static bool has_converged(const bench *b, const double *re, const double *im, const double complex *k) {
  bool done = true;
  for (int i = 0; i < b->nk; i++) {
    double scale = b->plant->scale[i];
    done = done && fabs(re[i]) <= 1e-13 * (cabs(k[i]) + scale) &&
           fabs(im[i]) <= 1e-13 * (fabs(cimag(k[i])) + tiny * scale);
  }
  return done;
}

// k with g(x, k, u) = 0 in complex numbers, by corrections with the real mass matrix at the plant's last point.
static void complex_rates_in(bench *b, int rounds, const double complex *x, const double complex *u,
                             double complex *k) {
  double matrix[MOST_STATES * MOST_STATES], re[MOST_STATES], im[MOST_STATES];
  int pivot[MOST_STATES];
  assert_int_equal(b->plant->ops->step_matrix(b->plant, od_sim_work(b->sim), 0, 0, matrix), OD_OK);
  assert_int_equal(od_lu_factor(b->nk, matrix, pivot), OD_OK);
  for (int i = 0; i < b->nk; i++) k[i] = od_sim_rates(b->sim)[i];
  for (int round = 0; round < rounds; round++) {
    double complex g[MOST_STATES];
    complex_residual(b, x, k, u, g);
    for (int i = 0; i < b->nk; i++) re[i] = creal(g[i]), im[i] = cimag(g[i]);
    od_lu_solve(b->nk, matrix, pivot, re, 1);
    od_lu_solve(b->nk, matrix, pivot, im, 1);
    for (int i = 0; i < b->nk; i++) k[i] -= re[i] + I * im[i];
    if (has_converged(b, re, im, k)) break;
  }
}
static void complex_rates(bench *b, const double complex *x, const double complex *u, double complex *k) {
  complex_rates_in(b, 4, x, u, k);
}

// The point with one entry moved: 0 .. nx the state, then the inputs, then the parameters.
static void complex_point(bench *b, int entry, double complex *x, double complex *u) {
  for (int i = 0; i < b->nx; i++) x[i] = od_sim_state(b->sim)[i] + (i == entry ? tiny * I : 0);
  for (int i = 0; i < b->nu; i++) u[i] = od_sim_at(b->sim, b->sim->u)[i] + (i == entry - b->nx ? tiny * I : 0);
  load_complex(b, entry >= b->nx + b->nu ? b->parameter[entry - b->nx - b->nu] : -1);
}

// An output's row computed alone equals its row among all outputs. Each machine tests every eighth output, with another
// offset; parameters, which cost most, are tested for some.
static void check_rows(bench *b, const double *hx, const double *hu, const double *hp) {
  unsigned char *wanted = calloc((size_t)b->ny, 1);
  size_t columns = (size_t)(b->nx + b->nu + b->np);
  double *rows = calloc((size_t)b->ny * columns, sizeof *rows);
  double *x = rows, *u = x + b->ny * b->nx, *p = u + b->ny * b->nu;
  for (int i = (int)(b->seed % 8); i < b->ny; i += 8) {
    bool with_parameters = i % 16 == 0;
    wanted[i] = 1;
    assert_int_equal(od_sim_output_rows(b->sim, wanted, x, u, with_parameters ? p : NULL), OD_OK);
    wanted[i] = 0;
    for (int j = 0; j < b->nx; j++) assert_true(x[i * b->nx + j] == hx[i * b->nx + j]);
    for (int j = 0; j < b->nu; j++) assert_true(u[i * b->nu + j] == hu[i * b->nu + j]);
    for (int j = 0; with_parameters && j < b->np; j++)
      assert_true(fabs(p[i * b->np + j] - hp[i * b->np + j]) <= 1e-12 * (1 + largest(hp + i * b->np, b->np)));
  }
  free(wanted);
  free(rows);
}

// dx'/d(x, u, p) and dy/d(x, u, p) at the present point.
static void check_derivatives(bench *b) {
  int all = b->nx + b->nu + b->np;
  double *f = calloc((size_t)(b->nx * all), sizeof *f), *h = calloc((size_t)(b->ny * all), sizeof *h);
  double *fx = calloc((size_t)(b->nx * b->nx), sizeof *f), *fu = calloc((size_t)(b->nx * b->nu + 1), sizeof *f);
  double *fp = calloc((size_t)(b->nx * b->np), sizeof *f), *hx = calloc((size_t)(b->ny * b->nx), sizeof *f);
  double *hu = calloc((size_t)(b->ny * b->nu + 1), sizeof *f), *hp = calloc((size_t)(b->ny * b->np), sizeof *f);
  assert_int_equal(od_sim_derivatives(b->sim, NULL, fx, fu, fp), OD_OK);
  assert_int_equal(od_sim_output_jacobians(b->sim, hx, hu, hp), OD_OK);
  check_rows(b, hx, hu, hp);
  for (int j = 0; j < all; j++) {
    double complex x[MOST_STATES], u[4], k[MOST_STATES];
    complex_point(b, j, x, u);
    complex_rates(b, x, u, k);
    for (int i = 0; i < b->nz; i++) f[i * all + j] = cimag(x[b->nz + i]) / tiny;
    for (int i = 0; i < b->nk; i++) f[(b->nz + i) * all + j] = cimag(k[i]) / tiny;
    for (int i = 0; i < b->ny; i++)
      h[i * all + j] = cimag(od_model_output_value_complex(b->m, b->w, &b->m->output[i])) / tiny;
  }
  double *got = calloc((size_t)((b->nx + b->ny) * all), sizeof *got);
  for (int i = 0; i < b->nx; i++)
    for (int j = 0; j < all; j++)
      got[i * all + j] = j < b->nx           ? fx[i * b->nx + j]
                         : j < b->nx + b->nu ? fu[i * b->nu + j - b->nx]
                                             : fp[i * b->np + j - b->nx - b->nu];
  // Rows and columns have different units: entry by entry, in units that make states, inputs and parameters comparable.
  compare_scaled(b, "rates", got, f, b->nx, all);
  // Outputs have different units: row by row.
  for (int i = 0; i < b->ny; i++) {
    for (int j = 0; j < all; j++)
      got[j] = j < b->nx           ? hx[i * b->nx + j]
               : j < b->nx + b->nu ? hu[i * b->nu + j - b->nx]
                                   : hp[i * b->np + j - b->nx - b->nu];
    // A force that does not depend on anything is still a sum of large ones.
    double usual = fabs(creal(od_model_output_value_complex(b->m, b->w, &b->m->output[i])));
    for (int k = 0; k < b->ny; k++)
      if (b->m->output[k].kind == b->m->output[i].kind) usual = fmax(usual, largest(h + k * all, all));
    compare(b, od_model_text(b->m, b->m->output[i].name), got, h + i * all, 1, all, usual);
  }
  void *blocks[] = {f, h, fx, fu, fp, hx, hu, hp, got};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) free(blocks[i]);
}

// --- Steps in complex numbers

// A step from an old point, x0, u0 and k0, to new inputs; by entry: x (nx), u0, u1 (nu each), p.
typedef struct complex_step {
  const od_sim *old;
  double h;
  double complex x0[MOST_STATES], u0[4], k0[MOST_STATES], u1[4];
  double matrix[MOST_STATES * MOST_STATES];  // of the implicit rules, factored at the real new point
  int pivot[MOST_STATES];
} complex_step;

// The matrix of a stage at the real parts of a point.
static void factor_matrix(bench *b, complex_step *c, double beta, const double complex *x, const double complex *k,
                          const double complex *u) {
  double re_x[MOST_STATES], re_k[MOST_STATES], re_u[4], g[MOST_STATES];
  for (int i = 0; i < b->nx; i++) re_x[i] = creal(x[i]);
  for (int i = 0; i < b->nk; i++) re_k[i] = creal(k[i]);
  for (int i = 0; i < b->nu; i++) re_u[i] = creal(u[i]);
  assert_int_equal(b->plant->ops->residual(b->plant, od_sim_work(b->sim), 0, re_x, re_k, re_u, g), OD_OK);
  assert_int_equal(b->plant->ops->step_matrix(b->plant, od_sim_work(b->sim), beta * beta, beta, c->matrix), OD_OK);
  assert_int_equal(od_lu_factor(b->nk, c->matrix, c->pivot), OD_OK);
}
// At the point that the simulation has found.
static void factor_last(bench *b, complex_step *c, double beta) {
  double complex x[MOST_STATES], k[MOST_STATES];
  for (int i = 0; i < b->nx; i++) x[i] = od_sim_state(b->sim)[i];
  for (int i = 0; i < b->nk; i++) k[i] = od_sim_rates(b->sim)[i];
  factor_matrix(b, c, beta, x, k, c->u1);
}

// g(x, k, u) = 0 for x = from + beta k, where of the positions z = from_z + beta w: rates k and state x. beta: of the matrix.
// The rates of the last stage are those of the step: derivatives are compared at the point where its iteration stopped, not at the
// exact solution nearby, where those of a stiff circuit may differ by more than the limit. Other stages are found by Newton's method.
// k starts near them.
static void complex_stage(bench *b, complex_step *c, double beta, const double complex *from, const double complex *u,
                          bool last, double complex *k, double complex *x) {
  int n = b->nk, nz = b->nz;
  double re[MOST_STATES], im[MOST_STATES];
  for (int round = 0; round < 200; round++) {
    double complex g[MOST_STATES];
    for (int i = 0; i < n; i++) x[nz + i] = from[nz + i] + beta * k[i];
    for (int i = 0; i < nz; i++) x[i] = from[i] + beta * x[nz + i];
    if (!last) factor_matrix(b, c, beta, x, k, u);
    complex_residual(b, x, k, u, g);
    for (int i = 0; i < n; i++) re[i] = last ? 0 : creal(g[i]), im[i] = cimag(g[i]);
    od_lu_solve(n, c->matrix, c->pivot, re, 1);
    od_lu_solve(n, c->matrix, c->pivot, im, 1);
    for (int i = 0; i < n; i++) k[i] -= re[i] + I * im[i];
    if (has_converged(b, re, im, k)) break;
  }
}

// f = [w; k]
static double complex rate(const bench *b, const double complex *x, const double complex *k, int i) {
  return i < b->nz ? x[b->nz + i] : k[i - b->nz];
}

static void rates_of(const od_sim *sim, int count, double complex *k) {
  for (int i = 0; i < count; i++) k[i] = od_sim_rates(sim)[i];
}
// Real rates after a shorter step of the trapezoidal rule, the first stage of other rules.
static void rates_after_trapezoid(bench *b, const complex_step *c, double h, const double complex *u,
                                  double complex *k) {
  od_sim *shorter = malloc(c->old->size);
  double re_u[4];
  memcpy(shorter, c->old, c->old->size);
  for (int i = 0; i < b->nu; i++) re_u[i] = creal(u[i]);
  od_sim_set_integrator(shorter, od_integrator_find("trapezoid"));
  assert_int_equal(od_sim_step(shorter, h, re_u), OD_OK);
  rates_of(shorter, b->nk, k);
  free(shorter);
}

static void trapezoid(bench *b, complex_step *c, double complex *x1) {
  double complex from[MOST_STATES], k1[MOST_STATES];
  factor_last(b, c, c->h / 2);
  for (int i = 0; i < b->nx; i++) from[i] = c->x0[i] + c->h / 2 * rate(b, c->x0, c->k0, i);
  rates_of(b->sim, b->nk, k1);
  complex_stage(b, c, c->h / 2, from, c->u1, true, k1, x1);
}

// Trapezoid to gamma h, then BDF2: x1 = (x2 - (1 - gamma)^2 x0) / (gamma (2 - gamma)) + (1 - gamma) / (2 - gamma) h f1.
static void tr_bdf2(bench *b, complex_step *c, double complex *x1) {
  double gamma = 2 - sqrt(2), share = gamma * (2 - gamma), left = (1 - gamma) * (1 - gamma), h = c->h;
  double complex from[MOST_STATES], k[MOST_STATES], x2[MOST_STATES], u2[4];
  for (int i = 0; i < b->nu; i++) u2[i] = (1 - gamma) * c->u0[i] + gamma * c->u1[i];
  for (int i = 0; i < b->nx; i++) from[i] = c->x0[i] + gamma * h / 2 * rate(b, c->x0, c->k0, i);
  rates_after_trapezoid(b, c, gamma * h, u2, k);
  complex_stage(b, c, gamma * h / 2, from, u2, false, k, x2);
  for (int i = 0; i < b->nx; i++) from[i] = (x2[i] - left * c->x0[i]) / share;
  factor_last(b, c, gamma * h / 2);
  rates_of(b->sim, b->nk, k);
  complex_stage(b, c, (1 - gamma) / (2 - gamma) * h, from, c->u1, true, k, x1);
}

static void rk4(bench *b, complex_step *c, double complex *x1) {
  double complex k[4][MOST_STATES], x[4][MOST_STATES], u[4];
  for (int stage = 0; stage < 4; stage++) {
    double a = stage == 0 ? 0 : stage == 3 ? 1 : 0.5;
    for (int i = 0; i < b->nu; i++) u[i] = (1 - a) * c->u0[i] + a * c->u1[i];
    for (int i = 0; i < b->nx; i++)
      x[stage][i] = c->x0[i] + (stage ? a * c->h * rate(b, x[stage - 1], k[stage - 1], i) : 0);
    complex_rates_in(b, 40, x[stage], u, k[stage]);
  }
  for (int i = 0; i < b->nx; i++)
    x1[i] = c->x0[i] + c->h / 6 *
                           (rate(b, x[0], k[0], i) + 2 * rate(b, x[1], k[1], i) + 2 * rate(b, x[2], k[2], i) +
                            rate(b, x[3], k[3], i));
}

static const struct {
  const char *name;
  void (*step)(bench *b, complex_step *c, double complex *x1);
} rules[] = {{"trapezoid", trapezoid}, {"tr-bdf2", tr_bdf2}, {"rk4", rk4}};

// The state after a step of an integrator with one entry moved along the imaginary axis. b->sim has taken the step.
static void take_complex_step(bench *b, const od_sim *old, double h, int entry, const double *u1, double complex *x1) {
  int nx = b->nx, nu = b->nu, rule = 0;
  complex_step c = {.old = old, .h = h};
  // Old point.
  od_sim *now = b->sim;
  b->sim = (od_sim *)old;
  complex_point(b, entry < nx + nu ? entry : entry < nx + 2 * nu ? -1 : entry - nu, c.x0, c.u0);
  complex_rates(b, c.x0, c.u0, c.k0);
  b->sim = now;
  // New point, from the real solution on.
  double g[MOST_STATES];
  load_complex(b, entry >= nx + 2 * nu ? b->parameter[entry - nx - 2 * nu] : -1);
  for (int i = 0; i < nu; i++) c.u1[i] = u1[i] + (entry == nx + nu + i ? tiny * I : 0);
  assert_int_equal(
      b->plant->ops->residual(b->plant, od_sim_work(b->sim), 0, od_sim_state(b->sim), od_sim_rates(b->sim), u1, g),
      OD_OK);
  while (strcmp(rules[rule].name, od_sim_integrator(b->sim)->name) != 0) rule++;
  rules[rule].step(b, &c, x1);
}

// A step's derivatives contain those of the rates before it, terms as large as h df/dx, which may cancel almost completely: for light
// bodies on bristles of friction they are 1e7. This is their round-off relative to the usual size of states; the rules must not
// amplify it.
static double rounding_of_step(bench *b, double h) {
  double *fx = calloc((size_t)(b->nx * b->nx), sizeof *fx), most = 0;
  assert_int_equal(od_sim_derivatives(b->sim, NULL, fx, NULL, NULL), OD_OK);
  for (int i = 0; i < b->nx; i++) {
    double sum = 0, unit = i < 2 * b->nz ? 1 : b->plant->scale[i - b->nz];
    for (int j = 0; j < b->nx; j++) sum += fabs(fx[i * b->nx + j]) * unit_of(b, j) / unit;
    most = fmax(most, sum);
  }
  free(fx);
  return 2e-16 * h * most;
}

// One-sided difference: the change of a state after the step with one before it.
static double side_slope(bench *b, const od_sim *old, double h, const double *u1, int row, int column, double move) {
  double end[2], x[96], u[4];
  for (int moved = 0; moved < 2; moved++) {
    memcpy(b->sim, old, old->size);
    memcpy(x, od_sim_state(b->sim), (size_t)b->nx * sizeof *x);
    memcpy(u, od_sim_at(b->sim, b->sim->u), (size_t)b->nu * sizeof *u);
    if (moved) x[column] += move;
    if (od_sim_set(b->sim, 0, x, u) != OD_OK || od_sim_step(b->sim, h, u1) != OD_OK) return NAN;
    end[moved] = od_sim_state(b->sim)[row];
  }
  return (end[1] - end[0]) / move;
}

// A step that begins or ends on the corner of a law (friction blocks at rest or without a film, tables at a point, limits) has two
// derivatives, and the complex step may be on the other side than the real one. This is verified: real steps from both sides must give
// different slopes, and the tested slope must equal one of them.
static bool meets_corner(bench *b, const od_sim *old, double h, const double *u1, const double *got, const double *want,
                         int columns) {
  for (int j = 0; j < b->nx; j++) {
    double most = 0, unit = unit_of(b, j);
    int row = 0;
    for (int i = 0; i < b->nx; i++) {
      double error = fabs(got[i * columns + j] - want[i * columns + j]) * unit;
      error /= i < 2 * b->nz ? 1 : b->plant->scale[i - b->nz];
      if (error > most) most = error, row = i;
    }
    if (most < 1e-6) continue;
    double slope = got[row * columns + j], left = side_slope(b, old, h, u1, row, j, -1e-8 * unit),
           right = side_slope(b, old, h, u1, row, j, 1e-8 * unit), size = fabs(left) + fabs(right);
    if (fabs(right - left) > 0.02 * size && fmin(fabs(slope - left), fabs(slope - right)) < 0.005 * size) return true;
  }
  return false;
}

static void check_transition(bench *b, const od_integrator *integrator) {
  int nx = b->nx, nu = b->nu, np = b->np, all = nx + 2 * nu + np;
  const double u1[2] = {0.7, -1.1};
  double h = b->plant->nc || integrator->amplification ? 1e-3 : 1e-2;
  od_sim *old = malloc(b->sim->size), *start = malloc(b->sim->size);
  memcpy(start, b->sim, b->sim->size);
  od_sim_set_integrator(b->sim, integrator);
  memcpy(old, b->sim, b->sim->size);
  double F[96 * 96], Gu0[96 * 4], Gu1[96 * 4], Gp[96 * MOST_PARAMETERS],
      *want = calloc((size_t)(nx * all), sizeof *want), *got = calloc((size_t)(nx * all), sizeof *got);
  od_status status = od_sim_step_with_jacobians(b->sim, h, u1, F, Gu0, Gu1, Gp);
  // A machine that is too stiff for an explicit rule may leave its valid range. For a machine far from equilibrium a step may be
  // too long: this is rare, and a tenth of the step is almost never too long.
  if (status != OD_OK && !integrator->amplification) {
    assert_int_equal(status, OD_NOT_CONVERGED);
    assert_true(++not_converged <= MACHINES / 5);
    memcpy(b->sim, old, old->size);
    h /= 10;
    status = od_sim_step_with_jacobians(b->sim, h, u1, F, Gu0, Gu1, Gp);
    assert_true(status == OD_OK || status == OD_NOT_CONVERGED);
  }
  // Motions that diverge are not compared: bodies of some grams with friction of kilonewtons.
  for (int i = 0; i < b->nk && status == OD_OK; i++)
    if (fmax(fabs(od_sim_rates(b->sim)[i]), fabs(od_sim_rates(old)[i])) * h >
        (i < b->nz ? 1e4 : 1e6 * b->plant->scale[i]))
      status = OD_DIVERGED;
  // One step in twenty, of two implicit rules.
  if (status != OD_OK && !integrator->amplification) assert_true(++too_violent <= 2 * MACHINES / 20);
  for (int j = 0; j < all && status == OD_OK; j++) {
    double complex x1[MOST_STATES];
    take_complex_step(b, old, h, j, u1, x1);
    for (int i = 0; i < nx; i++) {
      want[i * all + j] = cimag(x1[i]) / tiny;
      got[i * all + j] = j < nx            ? F[i * nx + j]
                         : j < nx + nu     ? Gu0[i * nu + j - nx]
                         : j < nx + 2 * nu ? Gu1[i * nu + j - nx - nu]
                                           : Gp[i * np + j - nx - 2 * nu];
    }
  }
  const long residuals = od_sim_count(b->sim).residuals - od_sim_count(old).residuals,
             stages = integrator->inside_count + 1;
  // The same step without derivatives, and of it the state itself.
  if (status == OD_OK) {
    double x[MOST_STATES], scale[MOST_STATES];
    memcpy(x, od_sim_state(b->sim), (size_t)nx * sizeof *x);
    memcpy(b->sim, old, old->size);
    assert_int_equal(od_sim_step(b->sim, h, u1), OD_OK);
    for (int i = 0; i < nx; i++) {
      scale[i] = i < 2 * b->nz ? 1 : b->plant->scale[i - b->nz];
      assert_true(fabs(od_sim_state(b->sim)[i] - x[i]) <= 1e-9 * (fabs(x[i]) + scale[i]));
    }
    b->columns_before_parameters = nx + 2 * nu;
    double behind = rounding_of_step(b, h);
    memcpy(b->sim, old, old->size);
    b->rounding = fmax(behind, rounding_of_step(b, h));
    // If Newton's iteration needs more than its fifteen residuals, the problem is so nonlinear that the solution is accurate only
    // to 1e-7 of its rates, which affects derivatives.
    if (residuals > 15 * stages && !integrator->amplification) b->rounding += 1e-8;
    if (meets_corner(b, old, h, u1, got, want, all))
      assert_true(++corners <= MACHINES / 20);
    else
      compare_scaled(b, integrator->name, got, want, nx, all);
    b->rounding = 0;
  }
  memcpy(b->sim, start, start->size);
  free(old);
  free(start);
  free(want);
  free(got);
}

static void check_kind(bool planar, bool loops, bool circuit, bool blocks) {
  int checked = 0;
  double worst = 0;
  not_converged = too_violent = corners = 0;
  for (unsigned long long seed = 1; checked < MACHINES; seed++) {
    bench b;
    if (!open_bench(&b, seed, planar, loops, circuit, blocks)) {
      assert_true(seed < 20 * MACHINES);
      continue;
    }
    check_derivatives(&b);
    // The default on every machine, the others on every third.
    for (int i = 0; od_integrator_at(i); i++)
      if (i == 0 || checked % 3 == 0) check_transition(&b, od_integrator_at(i));
    worst = fmax(worst, b.worst);
    close_bench(&b);
    checked++;
  }
  print_message("%d %s machines%s%s%s: worst relative error %.2g, %d steps through corners\n", checked,
                planar ? "planar" : "spatial", loops ? " with loops" : "", circuit ? " with circuits" : "",
                blocks ? " with blocks" : "", worst, corners);
}

static void planar_trees(void **state) {
  (void)state;
  check_kind(true, false, false, false);
}
static void planar_loops(void **state) {
  (void)state;
  check_kind(true, true, false, false);
}
static void spatial_trees(void **state) {
  (void)state;
  check_kind(false, false, false, false);
}
static void spatial_loops(void **state) {
  (void)state;
  check_kind(false, true, false, false);
}
static void planar_circuits(void **state) {
  (void)state;
  check_kind(true, false, true, false);
}
static void planar_loops_circuits(void **state) {
  (void)state;
  check_kind(true, true, true, false);
}
static void spatial_loops_circuits(void **state) {
  (void)state;
  check_kind(false, true, true, false);
}

static void planar_blocks(void **state) {
  (void)state;
  check_kind(true, false, false, true);
}
static void spatial_loops_circuits_blocks(void **state) {
  (void)state;
  check_kind(false, true, true, true);
}
static void planar_circuits_blocks(void **state) {
  (void)state;
  check_kind(true, false, true, true);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(planar_trees),           cmocka_unit_test(planar_loops),
      cmocka_unit_test(spatial_trees),          cmocka_unit_test(spatial_loops),
      cmocka_unit_test(planar_circuits),        cmocka_unit_test(planar_loops_circuits),
      cmocka_unit_test(spatial_loops_circuits), cmocka_unit_test(planar_blocks),
      cmocka_unit_test(planar_circuits_blocks), cmocka_unit_test(spatial_loops_circuits_blocks)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
