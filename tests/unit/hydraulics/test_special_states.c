// Derivatives at points where the circuit changes its law: in the end stops, at closed ports, with the spool beyond its
// stroke, at equal pressures, in cavitation, in the corners of relief and check valves, in thin air. Random circuits
// (tests/unit/plant) rarely reach these points.
//
// The oracle is the complex step: the kernels in complex numbers do not use the hand-written derivatives and are exact
// to round-off. The test compares Jacobians with respect to states, rates, inputs and all numbers of the machine: of
// the residual, of the explicit form (od_sim_derivatives) and of the transition (od_sim_step_with_jacobians).
#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"
#include "math/dense.h"
#include "mechanics/mechanics.h"
#include "plant/model_plant.h"
#include "integrate/sim_block.h"
#include "support/machines.h"

enum { MOST_STATES = 12, MOST_INPUTS = 4, MOST_NUMBERS = 256, COLUMNS = 2 * MOST_STATES + MOST_INPUTS + MOST_NUMBERS };
static const double tiny = 1e-30, bound = 1e-9;

typedef struct subject {
  od_machine *machine;
  const od_model *m;
  od_plant *plant;
  od_sim *sim;
  int nz, nx, nk, nu, np;
  double complex *w;
  const char *what;
  double worst;
} subject;

// A machine of the repository with all its numbers as parameters.
static subject open_subject(const char *file, const char *variant) {
  subject s = {0};
  char path[512];
  snprintf(path, sizeof path, "%s/%s", OD_SOURCE_DIR, file);
  od_messages *messages = od_messages_new();
  // In space, where the axes of joints are parameters, too.
  const od_load_options options = {.variant = variant, .spatial = true};
  if (od_machine_load(path, &options, &s.machine, messages) != OD_OK) od_messages_print(messages, stderr, false);
  od_messages_free(messages);
  assert_non_null(s.machine);
  od_plant *first = NULL;
  assert_int_equal(od_machine_plant(s.machine, NULL, 0, NULL, 0, &first, NULL), OD_OK);
  s.m = od_model_plant_model(first);
  od_plant_free(first);
  int parameter[MOST_NUMBERS];
  assert_true(s.m->numbers <= MOST_NUMBERS);
  for (int i = 0; i < s.m->numbers; i++) parameter[i] = i;
  assert_int_equal(od_model_plant(s.m, NULL, 0, parameter, s.m->numbers, &s.plant, NULL), OD_OK);
  s.sim = od_sim_new(s.plant);
  s.nz = s.plant->nz, s.nx = od_plant_nx(s.plant), s.nk = od_plant_nk(s.plant), s.nu = s.plant->nu, s.np = s.plant->np;
  assert_true(s.nx <= MOST_STATES && s.nu <= MOST_INPUTS);
  s.w = calloc((size_t)s.m->layout.scalars, sizeof *s.w);
  double u[MOST_INPUTS] = {0};
  if (s.nu) od_machine_inputs(s.machine, 0, u);
  assert_int_equal(od_sim_start(s.sim, 0, u), OD_OK);
  return s;
}

static void close_subject(subject *s, const char *name) {
  print_message("%s: worst relative error %.2g\n", name, s->worst);
  free(s->w);
  od_sim_free(s->sim);
  od_plant_free(s->plant);
  od_machine_free(s->machine);
}

// Numbers of the machine, one of them moved along the imaginary axis (or none: -1); coordinates as in the simulation.
static void load_numbers(subject *s, od_sim *sim, int moved) {
  const od_layout *l = &s->m->layout;
  const double *w = od_model_plant_scalars(s->plant, od_sim_work(sim));
  memset(s->w, 0, (size_t)l->scalars * sizeof *s->w);
  for (int i = 0; i < s->m->numbers; i++) s->w[l->theta + i] = w[l->theta + i] + (i == moved ? tiny * I : 0);
  for (int i = 0; i < s->m->coordinates; i++) s->w[l->z + i] = w[l->z + i];
  od_mechanics_with_derivatives(s->m)->prepare(s->m, s->w);
}

static void residual(subject *s, od_sim *sim, const double complex *x, const double complex *k, const double complex *u,
                     double complex *g) {
  const int *in = od_model_plant_integers(s->plant, od_sim_work(sim));
  assert_int_equal(od_model_residual_complex(s->m, in, s->w, x, k, u, g), OD_OK);
}

// The moved quantity: a state, a rate, an input or a number of the machine, in this order.
typedef struct point {
  double complex x[MOST_STATES], k[MOST_STATES], u[MOST_INPUTS];
} point;
static point point_of(subject *s, od_sim *sim, int x, int k, int u) {
  point p;
  for (int i = 0; i < s->nx; i++) p.x[i] = od_sim_state(sim)[i] + (i == x ? tiny * I : 0);
  for (int i = 0; i < s->nk; i++) p.k[i] = od_sim_rates(sim)[i] + (i == k ? tiny * I : 0);
  for (int i = 0; i < s->nu; i++) p.u[i] = od_sim_at(sim, sim->u)[i] + (i == u ? tiny * I : 0);
  return p;
}

// Sizes of the moved quantities, which make columns comparable: 1 MPa for pressures, their own size for numbers.
static double size_of_state(const subject *s, int i) {
  return i < 2 * s->nz ? 1 : s->plant->scale[i - s->nz];
}
static double size_of_number(const subject *s, int i) {
  return fabs(s->m->theta[i]) + 1e-12;
}

// One row against another, relative to the largest entry of the row, in units that make columns comparable.
static void compare(subject *s, const char *matrix, int row, const double *got, const double *want, const double *unit,
                    int count) {
  double scale = 1e-300, worst = 0;
  for (int j = 0; j < count; j++) scale = fmax(scale, fabs(want[j] * unit[j]));
  for (int j = 0; j < count; j++) {
    const double off = fabs(got[j] - want[j]) * unit[j] / scale;
    if (!(off < bound))
      print_error("%s, %s, row %d, column %d: %.12g is not %.12g\n", s->what, matrix, row, j, got[j], want[j]);
    if (!(off <= worst)) worst = off;
  }
  assert_true(worst < bound);
  s->worst = fmax(s->worst, worst);
}

// Derivatives of g with respect to states, rates, inputs and numbers at the present point.
static void check_residual(subject *s) {
  static double gx[MOST_STATES * MOST_STATES], gk[MOST_STATES * MOST_STATES], gu[MOST_STATES * MOST_INPUTS];
  static double gp[MOST_STATES * MOST_NUMBERS], want[MOST_STATES][COLUMNS], got[COLUMNS], unit[COLUMNS];
  const od_plant_ops *ops = s->plant->ops;
  int nx = s->nx, nk = s->nk, nu = s->nu, np = s->np, all = nx + nk + nu + np;
  double u[MOST_INPUTS], g[MOST_STATES];
  memcpy(u, od_sim_at(s->sim, s->sim->u), (size_t)nu * sizeof *u);
  assert_int_equal(ops->residual(s->plant, od_sim_work(s->sim), 0, od_sim_state(s->sim), od_sim_rates(s->sim), u, g),
                   OD_OK);
  assert_int_equal(ops->jacobians(s->plant, od_sim_work(s->sim), gx, gk, gu), OD_OK);
  assert_int_equal(ops->parameter_jacobian(s->plant, od_sim_work(s->sim), gp), OD_OK);
  for (int j = 0; j < all; j++) {
    const int number = j - nx - nk - nu;
    point p = point_of(s, s->sim, j, j - nx, j - nx - nk);
    double complex moved[MOST_STATES];
    load_numbers(s, s->sim, number);
    residual(s, s->sim, p.x, p.k, p.u, moved);
    for (int i = 0; i < nk; i++) want[i][j] = cimag(moved[i]) / tiny;
    unit[j] = j < nx        ? size_of_state(s, j)
              : j < nx + nk ? size_of_state(s, j - nx + s->nz)
              : number < 0  ? 1
                            : size_of_number(s, number);
  }
  for (int i = 0; i < nk; i++) {
    memcpy(got, gx + i * nx, (size_t)nx * sizeof *got);
    memcpy(got + nx, gk + i * nk, (size_t)nk * sizeof *got);
    memcpy(got + nx + nk, gu + i * nu, (size_t)nu * sizeof *got);
    memcpy(got + nx + nk + nu, gp + i * np, (size_t)np * sizeof *got);
    compare(s, "residual", i, got, want[i], unit, all);
  }
}

// Rates in complex numbers: corrections with the real matrix dg/dk.
static void solve_rates(subject *s, od_sim *sim, point *p) {
  double matrix[MOST_STATES * MOST_STATES], re[MOST_STATES], im[MOST_STATES], g0[MOST_STATES], u[MOST_INPUTS];
  int pivot[MOST_STATES];
  memcpy(u, od_sim_at(sim, sim->u), (size_t)s->nu * sizeof *u);
  assert_int_equal(s->plant->ops->residual(s->plant, od_sim_work(sim), 0, od_sim_state(sim), od_sim_rates(sim), u, g0),
                   OD_OK);
  assert_int_equal(s->plant->ops->step_matrix(s->plant, od_sim_work(sim), 0, 0, matrix), OD_OK);
  assert_int_equal(od_lu_factor(s->nk, matrix, pivot), OD_OK);
  for (int round = 0; round < 4; round++) {
    double complex g[MOST_STATES];
    residual(s, sim, p->x, p->k, p->u, g);
    for (int i = 0; i < s->nk; i++) re[i] = creal(g[i]), im[i] = cimag(g[i]);
    od_lu_solve(s->nk, matrix, pivot, re, 1);
    od_lu_solve(s->nk, matrix, pivot, im, 1);
    for (int i = 0; i < s->nk; i++) p->k[i] -= re[i] + I * im[i];
  }
}

// The explicit form: derivatives of x' with respect to x, u and numbers.
static void check_derivatives(subject *s) {
  static double fx[MOST_STATES * MOST_STATES], fu[MOST_STATES * MOST_INPUTS], fp[MOST_STATES * MOST_NUMBERS];
  static double want[MOST_STATES][COLUMNS], got[COLUMNS], unit[COLUMNS];
  int nx = s->nx, nu = s->nu, np = s->np, all = nx + nu + np;
  assert_int_equal(od_sim_derivatives(s->sim, NULL, fx, fu, fp), OD_OK);
  for (int j = 0; j < all; j++) {
    const int number = j - nx - nu;
    point p = point_of(s, s->sim, j, -1, j - nx);
    load_numbers(s, s->sim, number);
    solve_rates(s, s->sim, &p);
    for (int i = 0; i < nx; i++) want[i][j] = cimag(i < s->nz ? p.x[s->nz + i] : p.k[i - s->nz]) / tiny;
    unit[j] = j < nx ? size_of_state(s, j) : number < 0 ? 1 : size_of_number(s, number);
  }
  for (int i = 0; i < nx; i++) {
    memcpy(got, fx + i * nx, (size_t)nx * sizeof *got);
    memcpy(got + nx, fu + i * nu, (size_t)nu * sizeof *got);
    memcpy(got + nx + nu, fp + i * np, (size_t)np * sizeof *got);
    compare(s, "derivatives", i, got, want[i], unit, all);
  }
}

// One trapezoidal step from the present point, completely in complex numbers.
static void check_transition(subject *s, double h) {
  static double F[MOST_STATES * MOST_STATES], G0[MOST_STATES * MOST_INPUTS], G1[MOST_STATES * MOST_INPUTS];
  static double Gp[MOST_STATES * MOST_NUMBERS], want[MOST_STATES][COLUMNS], got[COLUMNS], unit[COLUMNS];
  int nz = s->nz, nx = s->nx, nk = s->nk, nu = s->nu, np = s->np, all = nx + 2 * nu + np;
  double u1[MOST_INPUTS], g0[MOST_STATES], matrix[MOST_STATES * MOST_STATES], re[MOST_STATES], im[MOST_STATES];
  int pivot[MOST_STATES];
  for (int i = 0; i < nu; i++) u1[i] = od_sim_at(s->sim, s->sim->u)[i];
  od_sim *old = malloc(s->sim->size);
  memcpy(old, s->sim, s->sim->size);
  assert_int_equal(od_sim_step_with_jacobians(s->sim, h, u1, F, G0, G1, Gp), OD_OK);
  for (int j = 0; j < all; j++) {
    const int number = j - nx - 2 * nu;
    point p = point_of(s, old, j, -1, j - nx);
    load_numbers(s, old, number);
    solve_rates(s, old, &p);
    // From the real solution on, with the real matrix of the step.
    assert_int_equal(
        s->plant->ops->residual(s->plant, od_sim_work(s->sim), 0, od_sim_state(s->sim), od_sim_rates(s->sim), u1, g0),
        OD_OK);
    assert_int_equal(s->plant->ops->step_matrix(s->plant, od_sim_work(s->sim), h * h / 4, h / 2, matrix), OD_OK);
    assert_int_equal(od_lu_factor(nk, matrix, pivot), OD_OK);
    load_numbers(s, s->sim, number);
    double complex x1[MOST_STATES], k1[MOST_STATES], u[MOST_INPUTS], g[MOST_STATES];
    for (int i = 0; i < nk; i++) k1[i] = od_sim_rates(s->sim)[i];
    for (int i = 0; i < nu; i++) u[i] = u1[i] + (j - nx - nu == i ? tiny * I : 0);
    for (int round = 0; round < 12; round++) {
      for (int i = 0; i < nz; i++) x1[i] = p.x[i] + h * p.x[nz + i] + h * h / 4 * (p.k[i] + k1[i]);
      for (int i = 0; i < nk; i++) x1[nz + i] = p.x[nz + i] + h / 2 * (p.k[i] + k1[i]);
      residual(s, s->sim, x1, k1, u, g);
      for (int i = 0; i < nk; i++) re[i] = creal(g[i]), im[i] = cimag(g[i]);
      od_lu_solve(nk, matrix, pivot, re, 1);
      od_lu_solve(nk, matrix, pivot, im, 1);
      for (int i = 0; i < nk; i++) k1[i] -= re[i] + I * im[i];
    }
    for (int i = 0; i < nx; i++) want[i][j] = cimag(x1[i]) / tiny;
    unit[j] = j < nx ? size_of_state(s, j) : number < 0 ? 1 : size_of_number(s, number);
  }
  for (int i = 0; i < nx; i++) {
    memcpy(got, F + i * nx, (size_t)nx * sizeof *got);
    memcpy(got + nx, G0 + i * nu, (size_t)nu * sizeof *got);
    memcpy(got + nx + nu, G1 + i * nu, (size_t)nu * sizeof *got);
    memcpy(got + nx + 2 * nu, Gp + i * np, (size_t)np * sizeof *got);
    compare(s, "transition", i, got, want[i], unit, all);
  }
  free(old);
}

// All comparisons at one state.
static void check(subject *s, const char *what, const double *x, const double *u, double h) {
  s->what = what;
  const od_status status = od_sim_set(s->sim, 0, x, u);
  if (status != OD_OK) print_error("%s: %s\n", what, od_status_text(status));
  assert_int_equal(status, OD_OK);
  check_residual(s);
  check_derivatives(s);
  check_transition(s, h);
}

// ---- the states

// Position (the guide's; length is 1 m more), speed, p_A, p_B. Free between -0.1 and 0.1 m; damping 20 s/m, so that the
// outer stop has no contact with a piston that leaves faster than 0.05 m/s.
static void stops(void **state) {
  (void)state;
  subject s = open_subject("tests/cases/machines/stop.yaml", NULL);
  static const struct {
    const char *what;
    double x[4];
  } at[] = {
      {"free", {0.03, 0.1, 50e5, 40e5}},
      {"into the outer stop", {0.1004, 0.02, 50e5, 40e5}},
      {"back out of the outer stop", {0.1004, -0.02, 50e5, 40e5}},
      {"faster than the outer stop can follow", {0.1004, -0.2, 50e5, 40e5}},
      {"at rest in the outer stop", {0.1004, 0, 50e5, 40e5}},
      {"into the inner stop", {-0.1004, -0.02, 50e5, 40e5}},
      {"back out of the inner stop", {-0.1004, 0.02, 50e5, 40e5}},
      {"faster than the inner stop can follow", {-0.1004, 0.2, 50e5, 40e5}},
      {"piston side torn", {0.03, 0.1, -2e5, 40e5}},
      {"rod side torn, in the outer stop", {0.1004, 0.02, 50e5, -3e5}},
      {"both sides torn", {0.03, 0.1, -2e5, -3e5}},
      {"at the pressure of the sources", {0.03, 0.1, 20e5, 20e5}},
      {"within the smoothing of the orifices", {0.03, -0.1, 20.03e5, 19.98e5}},
  };
  static const double u[2] = {20e5, 20e5};
  for (size_t i = 0; i < sizeof at / sizeof *at; i++) check(&s, at[i].what, at[i].x, u, 1e-4);
  close_subject(&s, "stops and cavitation");
}

// A piston so deep in its stop that the chamber would be empty: the chamber keeps a thousandth of its largest volume.
// Oracle: p' = K/V (Q - A v) by hand; Q does not depend on the speed and cancels in a difference.
static void least_volume(void **state) {
  (void)state;
  subject s = open_subject("tests/cases/machines/stop.yaml", NULL);
  // 0.2 L and 20 cm^2: the chamber is empty 0.1 m below the closed length.
  const double largest = 0.2e-3 + 20e-4 * 0.2, area = 20e-4, K = 1.5e9, v = 0.02, u[2] = {20e5, 20e5};
  double rate[2];
  for (int moves = 0; moves < 2; moves++) {
    const double x[4] = {-0.1 - 0.15, moves * v, 10e5, 40e5};
    assert_int_equal(od_sim_set(s.sim, 0, x, u), OD_OK);
    rate[moves] = od_sim_rates(s.sim)[1];
  }
  const double modulus = K + 5 * 10e5, want = -modulus / (1e-3 * largest) * area * v;
  print_message("p' by the piston's speed: %.9g, by hand %.9g\n", rate[1] - rate[0], want);
  assert_true(fabs((rate[1] - rate[0]) / want - 1) < 1e-9);
  close_subject(&s, "least volume");
}

// Crank angle, its rate, p_p, p_1, p_2, spool.
static void ports(void **state) {
  (void)state;
  static const char *const variants[] = {"3-S1", "6-S1", "6-S2"};
  // Spools: closed, just open, at knots (6 points: spans end at 3, 5 and 7 V), around the stroke's end (exactly there
  // the curve has a corner and no derivative), beyond it, both sides.
  static const double spools[] = {0, 1e-3, -1e-3,     0.7,        -0.7,        3,  -3, 5,
                                  7, 9.99, 9.9999999, 10.0000001, -10.0000001, 12, -12};
  for (size_t v = 0; v < sizeof variants / sizeof *variants; v++) {
    subject s = open_subject("cases/fourbar-valve/machine.yaml", variants[v]);
    const double u[1] = {4};
    for (size_t i = 0; i < sizeof spools / sizeof *spools; i++) {
      char what[64];
      snprintf(what, sizeof what, "%s, spool at %g V", variants[v], spools[i]);
      double x[6] = {1, -0.02, 7e6, 1.5e6, 3e6, spools[i]};
      check(&s, what, x, u, 1e-3);
    }
    for (int side = -1; side <= 1; side += 2) {
      const double equal[6] = {1, -0.02, 3e6, 3e6, 3e6, 4.0 * side},
                   close[6] = {1, 0.02, 3e6, 3.004e6, 2.997e6, 4.0 * side};
      const double torn[6] = {1, -0.02, 7e6, -1e5, 3e6, 4.0 * side}, all[6] = {1, 0.01, -1e4, -1e5, -2e5, 4.0 * side};
      const double still[6] = {1, 0, 7e6, 1.5e6, 3e6, 4.0 * side};
      check(&s, "equal pressures", equal, u, 1e-3);
      check(&s, "pressures within the smoothing", close, u, 1e-3);
      check(&s, "piston side torn", torn, u, 1e-3);
      check(&s, "everything torn", all, u, 1e-5);
      check(&s, "at rest", still, u, 1e-3);
    }
    close_subject(&s, variants[v]);
  }
}

// Position, speed, p_A; input: the source's pressure. Cracks at 0.5 bar, is full at 2 bar.
static void check_valves(void **state) {
  (void)state;
  subject s = open_subject("tests/cases/machines/check.yaml", NULL);
  static const double above[] = {-50e5, -1e5, 0, 0.3e5, 0.5e5, 0.6e5, 1.2e5, 1.999e5, 2e5, 10e5};
  for (size_t i = 0; i < sizeof above / sizeof *above; i++) {
    char what[64];
    snprintf(what, sizeof what, "source %g bar above", 1e-5 * above[i]);
    const double x[3] = {0.01, 0.05, 100e5}, u[1] = {100e5 + above[i]};
    check(&s, what, x, u, 1e-4);
  }
  close_subject(&s, "check valve");
}

// Position, speed, p_P. Set at 100 bar above the tank, corner 0.1 bar wide.
static void relief_valves(void **state) {
  (void)state;
  subject s = open_subject("tests/cases/machines/relief.yaml", NULL);
  static const double p[] = {50e5, 101e5, 101.03e5, 101.099e5, 101.1e5, 101.2e5, 150e5, -1e5};
  for (size_t i = 0; i < sizeof p / sizeof *p; i++) {
    char what[64];
    snprintf(what, sizeof what, "relief at %g bar", 1e-5 * p[i]);
    const double x[3] = {0, 0, p[i]};
    check(&s, what, x, NULL, 1e-5);
  }
  close_subject(&s, "relief valve");
}

// Position, speed, p_A. Air has its own law down to 1000 Pa and none below.
static void air(void **state) {
  (void)state;
  subject s = open_subject("tests/cases/machines/piston.yaml", NULL);
  static const double p[] = {300e5, 10e5, 1e5, 2e4, 1100, 900, 10, -1e4};
  for (size_t i = 0; i < sizeof p / sizeof *p; i++) {
    char what[64];
    snprintf(what, sizeof what, "air at %g Pa", p[i]);
    const double x[3] = {0.01, -0.05, p[i]}, u[1] = {20e3};
    check(&s, what, x, u, 1e-5);
  }
  close_subject(&s, "air in oil");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(least_volume),  cmocka_unit_test(stops),
                                     cmocka_unit_test(ports),         cmocka_unit_test(check_valves),
                                     cmocka_unit_test(relief_valves), cmocka_unit_test(air)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
