// Events within one step, on a plant x' = 1 whose guards are given functions of x, and the error of the beginning of sliding. Oracles: the points
// at which tangents meet and lines cross levels, roots of parabolas, and the step of a constant rate, each worked out by hand.
#include <stdlib.h>
#include <string.h>

#include "support/test.h"

#include "integrate/sim_block.h"
#include "machine/machine.h"
#include "oleodyn/sim.h"
#include "support/machines.h"

enum { MOST_GUARDS = 2 };
static const double length = 2;  // of the step

// A guard over the step, s = t / length: the cubic with these values and rates by s at s = 0 and s = 1.
typedef struct guard {
  double low, low_rate, high, high_rate;
} guard;
static guard guards[MOST_GUARDS];

static double guard_value(const guard *g, double s) {
  double a = g->low_rate, b = 3 * (g->high - g->low) - 2 * g->low_rate - g->high_rate,
         c = 2 * (g->low - g->high) + g->low_rate + g->high_rate;
  return g->low + s * (a + s * (b + s * c));
}

// ---- the plant; its work memory is the last x

static od_status plant_start(const od_plant *plant, void *work, double *x) {
  (void)plant;
  *(double *)work = x[0] = 0;
  return OD_OK;
}
static od_status plant_residual(const od_plant *plant, void *work, double t, const double *x, const double *k,
                                const double *u, double *g) {
  (void)plant, (void)t, (void)u;
  *(double *)work = x[0];
  g[0] = k[0] - 1;
  return OD_OK;
}
static od_status plant_step_matrix(const od_plant *plant, void *work, double alpha, double beta, double *matrix) {
  (void)plant, (void)work, (void)alpha, (void)beta;
  matrix[0] = 1;
  return OD_OK;
}
static od_status plant_guards(const od_plant *plant, void *work, double *value) {
  for (int i = 0; i < od_plant_guards(plant); i++) value[i] = guard_value(&guards[i], *(double *)work / length);
  return OD_OK;
}

static const od_plant_ops ops = {
    .start = plant_start, .residual = plant_residual, .step_matrix = plant_step_matrix, .guards = plant_guards};

// Takes the step with a search for events. Returns the length by od_sim_knot_step(), or by od_sim_find_switch() if there are margins.
static double searched_step(const od_plant *plant) {
  od_sim *sim = od_sim_plain_new(plant);
  assert_non_null(sim);
  assert_int_equal(od_sim_start(sim, 0, NULL), OD_OK);
  const od_event_search search = {.before = malloc(od_sim_bytes(sim)),
                                  .after = malloc(od_sim_bytes(sim)),
                                  .memory = malloc((od_event_doubles(plant) + 1) * sizeof(double))};
  assert_true(search.before && search.after && search.memory);
  double taken = NAN;
  assert_int_equal(od_sim_begin_events(sim, &search, false), OD_OK);
  assert_int_equal(od_sim_step(sim, length, NULL), OD_OK);
  assert_int_equal(od_sim_end_events(sim, &search, length), OD_OK);
  if (plant->margins) {
    assert_int_equal(od_sim_find_switch(sim, &search, length, &taken), OD_OK);
    near(od_sim_state(sim)[0], taken, 1e-12);
  } else {
    taken = od_sim_knot_step(sim, &search, length);
  }
  free(search.before), free(search.after), free(search.memory);
  od_sim_free(sim);
  return taken;
}

// A guard that first approaches zero and then leaves it, on one side at both ends: where its tangents meet at s beyond zero, it may have dipped
// below zero before and behind that point. The shorter step ends in the middle between both halves, at (s / 2 + (s + 1) / 2) / 2.
static void dips(void **state) {
  (void)state;
  static const struct {
    guard g;
    double step;  // in parts of the length
  } cases[] = {
      {{0.5, -3, 0.5, 1}, 0.375},    // 0.5 - 3 s = 0.5 + (s - 1) at 0.25, where it is -0.25
      {{-0.5, 3, -0.5, -1}, 0.375},  // from below
      {{0.5, -4, 1, 2}, 0.375},      // 0.5 - 4 s = 1 + 2 (s - 1) at 0.25, where it is -0.5
      {{1, -2, 0.5, 4}, 0.625},      // 1 - 2 s = 0.5 + 4 (s - 1) at 0.75, where it is -0.5
      {{1, -3, 1, 1}, 1},            // the tangents meet at 0.25 and 0.25 above zero
      {{-1, 3, -1, -1}, 1},          // the same from below
      {{0.5, -3, 0.5, -1}, 1},       // it only approaches
      {{0.5, 3, 0.5, 1}, 1},         // it only leaves
      {{0.5, -3, 8, 1}, 1},          // the tangents meet before the step
      {{8, -1, 0.5, 0.01}, 1},       // the tangents meet behind it
      {{-0.25, 1, 0.75, 1}, 1},      // one crossing
      {{0, -3, 0.5, 1}, 1},          // it begins at zero
      {{0.5, -3, 0, 1}, 1},          // it ends at zero
  };
  const od_plant plant = {.nc = 1, .work_size = sizeof(double), .ops = &ops, .zeros = 1};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    guards[0] = cases[i].g;
    double step = searched_step(&plant) / length;
    if (fabs(step - cases[i].step) > 1e-3) fail_msg("case %zu: %g of the step, expected %g", i, step, cases[i].step);
  }
}

// Two straight guards: a step that passes both zeros ends in the middle between them, unless they are passed at one time.
static void two_crossings(void **state) {
  (void)state;
  const od_plant plant = {.nc = 1, .work_size = sizeof(double), .ops = &ops, .zeros = 2};
  guards[0] = (guard){-0.25, 1, 0.75, 1}, guards[1] = (guard){0.5, -1, -0.5, -1};
  near(searched_step(&plant), 0.375 * length, 1e-9);
  guards[0] = (guard){0.8, -1, -0.2, -1};  // the later one first
  near(searched_step(&plant), 0.65 * length, 1e-9);
  guards[0] = (guard){-0.5, 1, 0.5, 1};
  near(searched_step(&plant), length, 1e-12);
  guards[0] = (guard){0.5, 1, 1.5, 1};
  near(searched_step(&plant), length, 1e-12);
}

// A scale crosses knot k where its value is k.
static void knots(void **state) {
  (void)state;
  const int count = 4;
  const od_plant plant = {.nc = 1, .work_size = sizeof(double), .ops = &ops, .scales = 1, .scale_knots = &count};
  guards[0] = (guard){0.2, 1.4, 1.6, 1.4};  // knot 1 alone
  near(searched_step(&plant), length, 1e-12);
  guards[0] = (guard){0.5, 2, 2.5, 2};  // knot 1 at 0.25, knot 2 at 0.75
  near(searched_step(&plant), 0.5 * length, 1e-9);
  guards[0] = (guard){2.5, -2, 0.5, -2};
  near(searched_step(&plant), 0.5 * length, 1e-9);
  guards[0] = (guard){1.5, -3, 1.5, 1};  // a dip below knot 1, as in dips()
  near(searched_step(&plant), 0.375 * length, 1e-3);
  guards[0] = (guard){1.5, 3, 1.5, -1};  // beyond knot 2
  near(searched_step(&plant), 0.375 * length, 1e-3);
  guards[0] = (guard){1.6, -1, 1.6, 1};  // between the knots: the tangents meet at 1.1
  near(searched_step(&plant), length, 1e-12);
  guards[0] = (guard){2.5, 2, 4.5, 2};  // knot 3 is the last one
  near(searched_step(&plant), length, 1e-12);
  guards[0] = (guard){-1.5, 2, 0.5, 2};  // knot 0 is the first one
  near(searched_step(&plant), length, 1e-12);
}

// The first s at which a margin is zero: by bisection from the positive side at 0 to a point `below` where it is negative.
static double first_zero(const guard *g, double below) {
  double low = 0, high = below;
  for (int i = 0; i < 60; i++) *(guard_value(g, (low + high) / 2) > 0 ? &low : &high) = (low + high) / 2;
  return high;
}

// Margins: the step ends just behind the first zero, also if the margin is positive again at the end of the step. The margin may be below zero for
// 0.4 % of the step alone, near its least value; there neither the middle of the step nor the point at which the tangents meet is below zero.
static void switches(void **state) {
  (void)state;
  static const struct {
    guard g;
    double below;  // 0: there is no zero
  } cases[] = {
      {{0.21, -1, 0.21, 1}, 0.5},                              // (s - 0.3) (s - 0.7)
      {{0.18, -0.9, 0.28, 1.1}, 0.45},                         // (s - 0.3) (s - 0.6)
      {{0.3, -1, -0.7, -1}, 1},                                // 0.3 - s
      {{0.18 - 1e-5, -1.11, 1.47 - 1e-5, 4.69}, 0.3},          // (s - 0.3)^2 (s + 2) - 1e-5
      {{1.47 - 1e-5, -4.69, 0.18 - 1e-5, 1.11}, 0.7},          // (s - 0.7)^2 (3 - s) - 1e-5
      {{0.125 - 1e-5, -0.25, 0.375 - 1e-5, 1.75}, 0.5},        // (s - 0.5)^2 (s + 0.5) - 1e-5
      {{0.0018 - 1e-7, -0.0111, 0.0147 - 1e-7, 0.0469}, 0.3},  // a hundredth of the first of them
      {{1.08 - 1e-5, -2.16, 1.12 - 1e-5, 6.24}, 0.6},          // 4 s^3 - 1.8 s^2 - 2.16 s + 1.08 - 1e-5
      {{3.724 / 3 - 1e-5, -4.2, 0.324 / 3 - 1e-5, 0.6}, 0.7},  // -4 s^3 / 3 + 4.4 s^2 - 4.2 s + 3.724 / 3 - 1e-5
      {{0.26, -1, 0.26, 1}, 0},                                // (s - 0.5)^2 + 0.01
      {{0.3, 1, 1.3, 1}, 0},                                   // it grows
  };
  const od_plant plant = {.nc = 1, .work_size = sizeof(double), .ops = &ops, .margins = 1};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    guards[0] = cases[i].g;
    double zero = cases[i].below > 0 ? first_zero(&guards[0], cases[i].below) : 1;
    double behind = searched_step(&plant) / length - zero;
    if (!(behind >= -1e-12 && behind < 3e-7)) fail_msg("case %zu: %g behind the switch", i, behind);
  }
}

// A mass with v' = -sign(v) starts with v = 0.3 h and comes to rest within a step h. The step slides with the constant rate -0.3 instead of -1, so
// the change is 0.7. The beginning of sliding adds h / 2 of the change to the local error of the speed, and h^2 / 4 to that of the position.
static void error_of_entry(void **state) {
  (void)state;
  static const char *const integrators[] = {"trapezoid", "tr-bdf2", "rk4"};
  static const double h = 0.1;
  od_machine *m = od_test_machine_text(
      "bodies: {m: {point: {mass: 10 kg}}}\n"
      "joints: {rail: {type: prismatic, between: [ground, m], axis: [1, 0, 0]}}\n"
      "force_formulas: {friction: {joint: rail, parameters: {Fc: 10 N}, force: 'Fc * sign(-v)'}}\n"
      "initial: {rail.position: 0 m, rail.rate: 0.03 m/s}\n");
  od_plant *plant = NULL;
  od_error err;
  assert_int_equal(od_machine_plant(m, NULL, 0, NULL, 0, &plant, &err), OD_OK);
  for (int i = 0; i < 3; i++) {
    od_sim *sim = od_sim_new(plant);
    double own[2], own_after[2], before[2], after[2];
    od_sim_set_integrator(sim, od_integrator_find(integrators[i]));
    assert_int_equal(od_sim_start(sim, 0, NULL), OD_OK);
    assert_int_equal(od_sim_step(sim, h, NULL), OD_OK);
    near(od_sim_state(sim)[1], 0, 1e-9);
    sim->integrator->local_error(sim, own, own_after);
    od_sim_local_error(sim, before, after);
    near(before[0] - own[0], 0.7 * h * h / 4, 1e-8);
    near(before[1] - own[1], 0.7 * h / 2, 1e-7);
    assert_int_equal(od_sim_step(sim, h, NULL), OD_OK);  // it slides on: nothing is added
    sim->integrator->local_error(sim, own, own_after);
    od_sim_local_error(sim, before, after);
    near(before[1] - own[1], 0, 1e-15);
    od_sim_free(sim);
  }
  od_plant_free(plant);
  od_machine_free(m);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(dips), cmocka_unit_test(two_crossings), cmocka_unit_test(knots),
                                     cmocka_unit_test(switches), cmocka_unit_test(error_of_entry)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
