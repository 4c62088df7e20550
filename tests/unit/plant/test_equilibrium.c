// The search for a static balance (plant/equilibrium.h) on plants written by hand. Oracles: balances in closed form, and numbers of
// evaluations. The search is deterministic, so these numbers follow from its published rules: Newton's method in 20 rounds that ends when
// the relative correction is below 1e-13; a path whose step is halved after a failure and doubled after a success; overdamped steps that
// grow by 2, shrink by 3 after a long move and by 4 after a reversal, with Newton's method after every eighth step. The test follows these
// rules for one unknown and compares every evaluated point. A change of a rule changes these numbers on purpose.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"

#include "math/dense.h"
#include "plant/equilibrium.h"

enum { MOST = 4, POINTS = 20000 };

// g = M k + F(x). slopes: dF/dx (nk x nx), which the caller sets to zero.
typedef void (*force_law)(const double *x, double *F, double *slopes);

typedef struct hand {
  od_plant plant;
  od_plant_ops ops;
  double mass[MOST * MOST], x0[2 * MOST];
  force_law law;
  double refused;           // a first state above this value cannot be evaluated
  int singular_factors;     // number of calls of step_factors() that fail
  int repartitions_wanted;  // number of calls of wants_repartition() that return true

  int residuals, jacobians, stored, restored, factors, starts, repartitions;  // numbers of calls
  double point[POINTS];                                                       // first states of all evaluations
  double x[2 * MOST];                                                         // last point
  double factored[MOST * MOST];
  int pivot[MOST];
} hand;

static hand *of(const od_plant *plant) {
  return (hand *)(void *)(uintptr_t)plant->model;
}

static od_status start(const od_plant *plant, void *work, double *x) {
  (void)work;
  of(plant)->starts++;
  memcpy(x, of(plant)->x0, sizeof(double) * (size_t)od_plant_nx(plant));
  return OD_OK;
}
static od_status residual(const od_plant *plant, void *work, double t, const double *x, const double *k,
                          const double *u, double *g) {
  (void)work, (void)t, (void)u;
  hand *h = of(plant);
  int nk = od_plant_nk(plant), nx = od_plant_nx(plant);
  double F[MOST], slopes[MOST * 2 * MOST] = {0};
  assert_true(h->residuals < POINTS);
  h->point[h->residuals++] = x[0];
  if (x[0] > h->refused) return OD_NOT_FINITE;
  memcpy(h->x, x, sizeof(double) * (size_t)nx);
  h->law(x, F, slopes);
  for (int i = 0; i < nk; i++) {
    g[i] = F[i];
    for (int j = 0; j < nk; j++) g[i] += h->mass[i * nk + j] * k[j];
  }
  return OD_OK;
}
static od_status jacobians(const od_plant *plant, void *work, double *gx, double *gk, double *gu) {
  (void)work, (void)gu;
  hand *h = of(plant);
  int nk = od_plant_nk(plant), nx = od_plant_nx(plant);
  double F[MOST];
  h->jacobians++;
  memset(gx, 0, sizeof(double) * (size_t)(nk * nx));
  h->law(h->x, F, gx);
  memcpy(gk, h->mass, sizeof(double) * (size_t)(nk * nk));
  return OD_OK;
}
static void settle(const od_plant *plant, void *work, bool back) {
  (void)work;
  of(plant)->stored += !back;
  of(plant)->restored += back;
}
static bool wants_repartition(const od_plant *plant, void *work) {
  (void)work;
  return of(plant)->repartitions_wanted-- > 0;
}
static od_status repartition(const od_plant *plant, void *work, double *x, double *map, double *map_p) {
  (void)work, (void)x;
  assert_true(!map && !map_p);
  of(plant)->repartitions++;
  return OD_OK;
}
// M + beta dF/dc, for plants without positions
static od_status step_factors(const od_plant *plant, void *work, double alpha, double beta) {
  hand *h = of(plant);
  int n = plant->nc;
  double gk[MOST * MOST];
  assert_true(alpha == beta * beta);
  h->factors++;
  if (h->singular_factors-- > 0) return OD_SINGULAR;
  jacobians(plant, work, h->factored, gk, NULL);
  h->jacobians--;
  for (int i = 0; i < n * n; i++) h->factored[i] = gk[i] + beta * h->factored[i];
  return od_lu_factor(n, h->factored, h->pivot);
}
static void step_solve(const od_plant *plant, void *work, double *right, int columns) {
  (void)work;
  od_lu_solve(plant->nc, of(plant)->factored, of(plant)->pivot, right, columns);
}

static hand *make(int nz, int nc, force_law law, const double *x0) {
  hand *h = calloc(1, sizeof *h);
  assert_non_null(h);
  h->law = law;
  h->refused = INFINITY;
  h->ops = (od_plant_ops){.start = start, .residual = residual, .jacobians = jacobians, .settle = settle};
  h->plant = (od_plant){.nz = nz, .nc = nc, .model = h, .ops = &h->ops};
  for (int i = 0; i < nz + nc; i++) h->mass[i * (nz + nc + 1)] = 1;
  memcpy(h->x0, x0, sizeof(double) * (size_t)(2 * nz + nc));
  return h;
}

static const int in_order[] = {0, 1, 2, 3};
static const double ones[] = {1, 1, 1, 1};

// All positions and first-order states are unknown, and all rows are equations.
static od_equilibrium all_unknown(const hand *h, const int *state, const int *row, const double *scale) {
  int count = h->plant.nz + h->plant.nc;
  return (od_equilibrium){
      .plant = &h->plant, .state = state, .scale = scale, .states = count, .row = row, .rows = count};
}

// ---- the published rules for one unknown x, with F(x) = law(x)

typedef struct trace {
  force_law law;
  double mass, scale, point[POINTS], refused;
  int points;
  bool is_position;
} trace;

static double value(trace *t, double x, double *slope) {
  double full[2] = {x, 0}, slopes[2] = {0}, F;
  assert_true(t->points < POINTS);
  t->point[t->points++] = x;
  *slope = 0;
  if (x > t->refused) return NAN;
  t->law(full, &F, slopes);
  *slope = slopes[0];
  return F;
}

static bool newton(trace *t, double part, double first, double *x) {
  double at = *x, last = INFINITY, slope;
  for (int round = 0; round < 20; round++) {
    double F = value(t, at, &slope) - (1 - part) * first;
    if (isnan(F) || slope == 0) return false;
    double move = F / (slope * t->scale) * t->scale, size = fabs(move) / (t->scale + fabs(at));
    if (t->is_position && !(fabs(move) < 0.3 * t->scale)) return false;
    at -= move;
    if (!isfinite(size) || (round > 3 && size > 2 * last)) return false;
    if (size < 1e-13 || (size < 1e-10 && size >= last / 2)) {
      *x = at;
      return true;
    }
    last = size;
  }
  return false;
}

static bool overdamped(trace *t, double *x) {
  double tau = 1e-4, before = 0, slope;
  for (int round = 1; round <= 1000 && tau > 1e-12; round++) {
    double F = value(t, *x, &slope), move = -F / (slope + t->mass / tau), next = *x + move;
    if (!(fabs(move) <= 0.3 * t->scale) || isnan(value(t, next, &slope))) {
      tau /= 3;
      continue;
    }
    bool back = move / t->scale * before < 0;
    before = move / t->scale;
    *x = next;
    if (round % 8 == 0 && newton(t, 1, 0, x)) return true;
    if (back)
      tau /= 4;
    else if (fabs(move) < 0.05 * t->scale)
      tau *= 2;
  }
  return false;
}

static bool path(trace *t, double *x) {
  double part = 0, step = 1, slope, first = value(t, *x, &slope);
  if (isnan(first)) return false;
  for (int tries = 0; part < 1 && tries < 200 && step > 1e-6; tries++) {
    double next = fmin(part + step, 1);
    if (newton(t, next, first, x))
      part = next, step *= 2;
    else
      step /= 2;
  }
  return part >= 1;
}

// Compares the search for one unknown with the rules: result, state, and all evaluated points.
static bool follows_rules(hand *h, double scale, double *found) {
  trace *t = calloc(1, sizeof *t);
  assert_non_null(t);
  *t =
      (trace){.law = h->law, .mass = h->mass[0], .scale = scale, .refused = h->refused, .is_position = h->plant.nz > 0};
  double x[2] = {h->x0[0], 0}, want = x[0];
  bool expected = newton(t, 1, 0, &want);
  int after_newton = t->points;
  if (!expected) want = x[0], expected = h->plant.nz > 0 && overdamped(t, &want);
  if (!expected) want = x[0], expected = path(t, &want);
  int zero = 0;
  od_equilibrium e = {.plant = &h->plant, .state = &zero, .scale = &scale, .states = 1, .row = &zero, .rows = 1};
  od_status status = od_equilibrium_find(&e, x);
  print_message("%d evaluations (%d of the first Newton's method), %s, %.17g\n", t->points, after_newton,
                expected ? "found" : "not found", want);
  assert_int_equal(status, expected ? OD_OK : OD_NOT_CONVERGED);
  assert_int_equal(h->residuals, t->points);
  for (int i = 0; i < t->points; i++) near_scaled(h->point[i], t->point[i], 1e-9, 1e-3 * scale);
  near_scaled(x[0], want, 1e-12, scale);
  *found = x[0];
  free(t);
  return expected;
}

// ---- laws

static void cubic(const double *x, double *F, double *slopes) {
  F[0] = x[0] * x[0] * x[0] - 2;
  slopes[0] = 3 * x[0] * x[0];
}
static void flat_cube(const double *x, double *F, double *slopes) {
  F[0] = x[0] * x[0] * x[0];
  slopes[0] = 3 * x[0] * x[0];
}
static void arc(const double *x, double *F, double *slopes) {
  F[0] = atan(x[0] - 1);
  slopes[0] = 1 / (1 + (x[0] - 1) * (x[0] - 1));
}
static void no_root(const double *x, double *F, double *slopes) {
  F[0] = x[0] * x[0] + 1;
  slopes[0] = 2 * x[0];
}
static void pendulum(const double *x, double *F, double *slopes) {
  F[0] = 5 * sin(x[0]);
  slopes[0] = 5 * cos(x[0]);
}
// A pendulum that falls onto a stiff stop at 0.4.
static void stopped(const double *x, double *F, double *slopes) {
  pendulum(x, F, slopes);
  F[0] += x[0] < 0.4 ? 1e5 * (x[0] - 0.4) : 0;
  slopes[0] += x[0] < 0.4 ? 1e5 : 0;
}
static void slope_down(const double *x, double *F, double *slopes) {
  (void)x;
  F[0] = 1;
  slopes[0] = 0.1 * exp(-x[0] * x[0]);
}

static void test_one_unknown(void **state) {
  (void)state;
  const double pi = acos(-1);
  const struct {
    force_law law;
    int nz;
    double x0, scale, refused, found;  // NAN: no balance
  } cases[] = {{cubic, 0, 1.5, 1, INFINITY, cbrt(2)}, {cubic, 0, 1.5, 1e3, INFINITY, cbrt(2)},
               {cubic, 0, 40, 1, INFINITY, cbrt(2)},  {cubic, 0, -3, 1, INFINITY, cbrt(2)},
               {cubic, 0, 0.2, 1, 5, cbrt(2)},        {cubic, 1, 1.3, 1, INFINITY, cbrt(2)},
               {cubic, 1, 3, 1, INFINITY, cbrt(2)},   {flat_cube, 0, 1, 1, INFINITY, NAN},
               {arc, 0, 2.2, 1, INFINITY, 1},         {arc, 0, 4, 1, INFINITY, 1},
               {arc, 0, -30, 1, INFINITY, 1},         {arc, 0, 6, 1, 6.5, 1},
               {no_root, 0, 2, 1, INFINITY, NAN},     {no_root, 1, 2, 1, INFINITY, NAN},
               {slope_down, 1, 0, 1, INFINITY, NAN},  {slope_down, 0, 0, 1, INFINITY, NAN},
               {pendulum, 1, 0.1, 1, INFINITY, 0},    {pendulum, 1, 1.3, 1, INFINITY, 0},
               {pendulum, 1, -1.3, 1, INFINITY, 0},   {pendulum, 1, 2.8, 1, INFINITY, 0},
               {pendulum, 1, 2.8, 0.1, INFINITY, 0},  {pendulum, 1, 3.0, 1, INFINITY, pi},
               {pendulum, 1, 3.3, 1, 3.5, pi},        {stopped, 1, 1.5, 1, INFINITY, 0.4},
               {stopped, 1, 2.9, 0.5, INFINITY, 0.4}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    double x0[2] = {cases[i].x0, 0}, found;
    hand *h = make(cases[i].nz, 1 - cases[i].nz, cases[i].law, x0);
    h->refused = cases[i].refused;
    h->mass[0] = 2;
    bool is_found = follows_rules(h, cases[i].scale, &found);
    assert_int_equal(is_found, !isnan(cases[i].found));
    if (is_found) near(found, cases[i].found, 1e-3);
    if (!is_found) assert_true(h->starts == 1);
    free(h);
  }
}

// ---- several unknowns

// Two coupled joints and a pressure that acts on the first one: positions x[0], x[1]; rates x[2], x[3]; pressure x[4].
static void arm(const double *x, double *F, double *slopes) {
  F[0] = 3 * sin(x[0]) + x[1] - 2 * x[4];
  F[1] = 2 * x[1] + x[0] * x[0];
  F[2] = x[4] - 7;
  slopes[0] = 3 * cos(x[0]), slopes[1] = 1, slopes[4] = -2;
  slopes[5] = 2 * x[0], slopes[6] = 2;
  slopes[14] = 1;
}
// The first position is 0.25.
static void held_position(void *user, void *work, double *r, double *rz) {
  (void)work;
  *r = ((hand *)user)->x[0] - 0.25;
  if (rz) rz[0] = 1, rz[1] = 0;
}

static void test_condition(void **state) {
  (void)state;
  const double x0[5] = {0.3, 0.1, 0, 0, 0.2}, scale[3] = {1, 2, 0.5};
  const int unknown[3] = {0, 1, 4}, rows[2] = {0, 1};
  hand *h = make(2, 1, arm, x0);
  od_equilibrium e = {.plant = &h->plant,
                      .state = unknown,
                      .scale = scale,
                      .states = 3,
                      .row = rows,
                      .rows = 2,
                      .conditions = 1,
                      .condition = held_position,
                      .user = h};
  double x[5], r[3], by[9], step[3];
  memcpy(x, x0, sizeof x);
  // The equations and their derivatives at the start, and Newton's step by Cramer's rule on the 2 x 2 remainder.
  assert_int_equal(od_equilibrium_evaluate(&e, x, r, by), OD_OK);
  const double want[9] = {3 * cos(0.3), 1, -2, 0.6, 2, 0, 1, 0, 0};
  for (int i = 0; i < 9; i++) near(by[i], want[i], 1e-15);
  near(r[0], 3 * sin(0.3) + 0.1 - 0.4, 1e-15);
  near(r[1], 0.2 + 0.09, 1e-15);
  near(r[2], 0.05, 1e-15);
  assert_int_equal(od_equilibrium_step(&e, x, step), OD_OK);
  double second = -(r[1] + want[3] * -0.05) / 2, pressure = (r[0] + want[0] * -0.05 + second) / 2;
  near(step[0], -0.05, 1e-15);
  near(step[1], second, 1e-15);
  near(step[2], pressure, 1e-15);
  assert_int_equal(od_equilibrium_find(&e, x), OD_OK);
  near(x[0], 0.25, 1e-15);
  near(x[1], -0.25 * 0.25 / 2, 1e-15);
  near(x[4], (3 * sin(0.25) + x[1]) / 2, 1e-15);
  near(x[2], 0, 0);
  // The equations without derivatives.
  assert_int_equal(od_equilibrium_evaluate(&e, x, r, NULL), OD_OK);
  for (int i = 0; i < 3; i++) near(r[i], 0, 1e-14);
  // Without the pressure as an unknown the equation of the held position has only zeros in the remaining columns: no step.
  const int same[3] = {0, 1, 1};
  e.state = same;
  assert_int_equal(od_equilibrium_step(&e, x, step), OD_SINGULAR);
  for (int i = 0; i < 3; i++) near(step[i], 0, 0);
  free(h);
}

// A path of two coupled pendulums whose coordinates change on the way.
static void two_pendulums(const double *x, double *F, double *slopes) {
  F[0] = 5 * sin(x[0]) + (x[0] - x[1]), F[1] = 3 * sin(x[1]) + (x[1] - x[0]);
  slopes[0] = 5 * cos(x[0]) + 1, slopes[1] = -1, slopes[4] = -1, slopes[5] = 3 * cos(x[1]) + 1;
}

static void test_two_positions(void **state) {
  (void)state;
  const struct {
    int wanted;
    bool fixed;
    int repartitions;
  } cases[] = {{0, false, 0}, {1, false, 1}, {3, false, 3}, {3, true, 0}};
  for (int i = 0; i < 4; i++) {
    const double x0[4] = {1.4, 1.2};
    hand *h = make(2, 0, two_pendulums, x0);
    h->ops.wants_repartition = wants_repartition;
    h->ops.repartition = repartition;
    h->repartitions_wanted = cases[i].wanted;
    h->mass[1] = h->mass[2] = 0.3;
    od_equilibrium e = all_unknown(h, in_order, in_order, ones);
    e.fixed_coordinates = cases[i].fixed;
    double x[4] = {1.4, 1.2};
    assert_int_equal(od_equilibrium_find(&e, x), OD_OK);
    near(x[0], 0, 1e-12);
    near(x[1], 0, 1e-12);
    assert_int_equal(h->repartitions, cases[i].repartitions);
    assert_int_equal(h->starts, 0);
    print_message("%d evaluations, %d derivatives, stored %d times, restored %d times\n", h->residuals, h->jacobians,
                  h->stored, h->restored);
    // 32 overdamped steps and five runs of Newton's method each store or restore the point once. The first run and the runs after steps 8, 16
    // and 24 fail.
    assert_int_equal(h->stored, 33);
    assert_int_equal(h->restored, 4);
    assert_int_equal(h->residuals, 71);
    assert_int_equal(h->jacobians, 39);
    free(h);
  }
}

// ---- circuits with sparse factors

// A chain of three volumes with its own numbering of rows: c' = -F. The first balance is 1, 2, 3.
static void circuit(const double *x, double *F, double *slopes) {
  double a = x[0] - 1, b = x[1] - 2, c = x[2] - 3;
  F[0] = 2 * a + a * a * a - 0.5 * b, F[1] = 2 * b - 0.3 * a - 0.4 * c, F[2] = c + 0.5 * c * c - 0.2 * b;
  slopes[0] = 2 + 3 * a * a, slopes[1] = -0.5, slopes[3] = -0.3, slopes[4] = 2, slopes[5] = -0.4, slopes[7] = -0.2,
  slopes[8] = 1 + c;
}

static void test_whole_circuit(void **state) {
  (void)state;
  static const int reversed[] = {2, 1, 0}, twice[] = {0, 1, 1};
  const struct {
    const int *state, *row;
    int states;      // number of unknowns and equations
    int singular;    // number of failing factors
    int conditions;  // number of conditions
    bool sparse;     // the first search uses the factors
  } cases[] = {
      {in_order, in_order, 3, 0, 0, true},  {reversed, in_order, 3, 0, 0, true}, {in_order, reversed, 3, 0, 0, true},
      {reversed, reversed, 3, 0, 0, true},  {in_order, in_order, 3, 1, 0, true}, {in_order, in_order, 3, 1000, 0, true},
      {in_order, in_order, 2, 0, 0, false}, {twice, in_order, 3, 0, 0, false},   {in_order, twice, 3, 0, 0, false}};
  const double scale[3] = {1, 10, 0.1};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const double x0[3] = {1.6, 2.3, 3.4};
    hand *h = make(0, 3, circuit, x0);
    h->ops.step_factors = step_factors;
    h->ops.step_solve = step_solve;
    h->singular_factors = cases[i].singular;
    od_equilibrium e = all_unknown(h, cases[i].state, cases[i].row, scale);
    e.states = e.rows = cases[i].states;
    double x[3] = {1.6, 2.3, 3.4};
    od_status status = od_equilibrium_find(&e, x);
    print_message("case %zu: status %d, %d evaluations, %d derivatives, %d factors\n", i, status, h->residuals,
                  h->jacobians, h->factors);
    assert_int_equal(h->factors > 0, cases[i].sparse);
    assert_int_equal(h->jacobians > 0, !cases[i].sparse || cases[i].singular > 300);
    if (cases[i].states < 3) {  // the last state is not an unknown
      near(x[2], 3.4, 0);
      near(2 * (x[1] - 2) - 0.3 * (x[0] - 1), 0.4 * 0.4, 1e-13);
      assert_int_equal(status, OD_OK);
    } else if (cases[i].state != twice && cases[i].row != twice) {
      assert_int_equal(status, OD_OK);
      for (int k = 0; k < 3; k++) near(x[k], k + 1, 1e-13);
    } else {
      assert_int_equal(status, OD_NOT_CONVERGED);
    }
    if (i < 4) assert_int_equal(h->residuals, h->factors);
    free(h);
  }
}

// One combination of the states changes no rate. The balances are a line, and the sparse search finds the singular matrix, as does the
// dense search.
static void dead_combination(const double *x, double *F, double *slopes) {
  F[0] = x[0] + x[1] - 3, F[1] = 2 * (x[0] + x[1]) - 7, F[2] = x[2];
  slopes[0] = slopes[1] = 1, slopes[3] = slopes[4] = 2, slopes[8] = 1;
}
// The same with a small rate, above and below the limit of 1e-9 per second.
static double slow_rate;
static void slow_combination(const double *x, double *F, double *slopes) {
  dead_combination(x, F, slopes);
  F[1] += 1 + slow_rate * (x[1] - 2);
  slopes[4] += slow_rate;
}

static void test_singular_circuit(void **state) {
  (void)state;
  const struct {
    double rate;
    force_law law;
    bool found, dense;
  } cases[] = {{0, dead_combination, false, true},
               {1e-4, slow_combination, true, false},
               {3e-9, slow_combination, true, false},
               {3e-10, slow_combination, true, true}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const double x0[3] = {0.5, 2.5, 0.1};
    hand *h = make(0, 3, cases[i].law, x0);
    h->ops.step_factors = step_factors;
    h->ops.step_solve = step_solve;
    slow_rate = cases[i].rate;
    od_equilibrium e = all_unknown(h, in_order, in_order, ones);
    double x[3] = {0.5, 2.5, 0.1};
    od_status status = od_equilibrium_find(&e, x);
    print_message("rate %g: status %d, %d factors, %d derivatives, %g %g\n", slow_rate, status, h->factors,
                  h->jacobians, x[0], x[1]);
    assert_int_equal(status, cases[i].found ? OD_OK : OD_NOT_CONVERGED);
    assert_int_equal(h->jacobians > 0, cases[i].dense);
    free(h);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_one_unknown), cmocka_unit_test(test_condition),
                                     cmocka_unit_test(test_two_positions), cmocka_unit_test(test_whole_circuit),
                                     cmocka_unit_test(test_singular_circuit)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
