// Events within one step, on a plant with the states t or the integral of u, whose guards are given functions of these states, and the error of
// the beginning of sliding. Oracles: the points at which tangents meet and lines cross levels, roots of polynomials by bisection, and the step of
// a constant rate, each worked out by hand.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"

#include "integrate/sim_block.h"
#include "machine/machine.h"
#include "oleodyn/sim.h"
#include "support/machines.h"

enum { MOST_GUARDS = 5, BEHIND = 20 };
static const double lengths[] = {2, 0.01, 50};  // of the step
static double length, shift;                    // shift: the guards begin later by this part of the length

// A guard over the step, s = t / length: the cubic with these values and rates by s at s = 0 and s = 1.
typedef struct guard {
  double low, low_rate, high, high_rate;
} guard;
static guard guards[MOST_GUARDS];

static double guard_value(const guard *g, double s) {
  // Other rates before and after the step, which have no effect.
  if (s < 0 && shift == 0) return g->low + 100 * g->low_rate * s;
  if (s > 1 && shift == 0) return g->high + 100 * g->high_rate * (s - 1);
  double a = g->low_rate, b = 3 * (g->high - g->low) - 2 * g->low_rate - g->high_rate,
         c = 2 * (g->low - g->high) + g->low_rate + g->high_rate;
  return g->low + s * (a + s * (b + s * c));
}

// ---- the plant: x = [a, z, a', z', c] with a' = -3, z' = 1, c' = 1 or c' = u. Guards 0 to 3 depend on c, on z (which is
// also the time), on u (c without inputs) and on the time itself. The work memory has these values.

enum { NZ = 2, NC = 1, NX = 2 * NZ + NC, C = 2 * NZ };

static od_status plant_start(const od_plant *plant, void *work, double *x) {
  static const double start[NX] = {0, 0, -3, 1, 0};
  (void)plant;
  memcpy(x, start, sizeof start);
  memset(work, 0, 4 * sizeof(double));
  return OD_OK;
}
static long evaluations, countdown;  // countdown: evaluations until one fails; 0: none fails
static od_status plant_residual(const od_plant *plant, void *work, double t, const double *x, const double *k,
                                const double *u, double *g) {
  evaluations++;
  if (countdown > 0 && --countdown == 0) return OD_NOT_FINITE;
  ((double *)work)[0] = x[C], ((double *)work)[1] = x[1], ((double *)work)[2] = plant->nu ? u[0] : x[C],
           ((double *)work)[3] = t;
  g[0] = k[0], g[1] = k[1];
  g[2] = k[2] - (plant->nu ? u[0] : 1);
  return OD_OK;
}
static od_status plant_step_matrix(const od_plant *plant, void *work, double alpha, double beta, double *matrix) {
  (void)plant, (void)work, (void)alpha, (void)beta;
  for (int i = 0; i < 9; i++) matrix[i] = i % 4 == 0;
  return OD_OK;
}
static od_status plant_guards(const od_plant *plant, void *work, double *value) {
  for (int i = 0; i < od_plant_guards(plant); i++)
    value[i] = guard_value(&guards[i], ((double *)work)[i % 4] / length - shift);
  return OD_OK;
}

// The plant has no modes: a switch changes nothing.
static od_status plant_sample(const od_plant *plant, void *work, double t, double *x, double *map,
                              double *by_parameters) {
  (void)plant, (void)work, (void)t, (void)x, (void)map, (void)by_parameters;
  return OD_OK;
}

static int restored;  // number of restored points
static void plant_settle(const od_plant *plant, void *work, bool back) {
  (void)plant, (void)work;
  restored += back;
}

static const od_plant_ops ops = {.settle = plant_settle,
                                 .sample = plant_sample,
                                 .start = plant_start,
                                 .residual = plant_residual,
                                 .step_matrix = plant_step_matrix,
                                 .guards = plant_guards};

static od_event_search search_of(const od_plant *plant, const od_sim *sim) {
  const od_event_search search = {.before = malloc(od_sim_bytes(sim)),
                                  .after = malloc(od_sim_bytes(sim)),
                                  .memory = malloc((od_event_doubles(plant) + BEHIND) * sizeof(double))};
  assert_true(search.before && search.after && search.memory);
  for (int i = 0; i < BEHIND; i++) search.memory[od_event_doubles(plant) + (size_t)i] = 12345;
  return search;
}
// Frees the memory, of which doubles behind the promised size must be unchanged.
static void search_free(const od_plant *plant, od_event_search search) {
  for (int i = 0; i < BEHIND; i++) assert_true(search.memory[od_event_doubles(plant) + (size_t)i] == 12345);
  free(search.before), free(search.after), free(search.memory);
}

// Takes the step with a search for events. Returns the length by od_sim_knot_step(), or by od_sim_find_switch() if there are margins.
static double searched_step(const od_plant *plant) {
  od_sim *sim = od_sim_plain_new(plant);
  assert_non_null(sim);
  assert_int_equal(od_sim_start(sim, 0, NULL), OD_OK);
  const od_event_search search = search_of(plant, sim);
  double taken = NAN;
  assert_int_equal(od_sim_begin_events(sim, &search, false), OD_OK);
  assert_int_equal(od_sim_step(sim, length, NULL), OD_OK);
  assert_int_equal(od_sim_end_events(sim, &search, length), OD_OK);
  if (plant->margins) {
    evaluations = 0;
    assert_int_equal(od_sim_find_switch(sim, &search, length, &taken), OD_OK);
    near(od_sim_state(sim)[C], taken, 1e-12 * length);
  } else {
    taken = od_sim_knot_step(sim, &search, length);
  }
  search_free(plant, search);
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
  const od_plant plant = {.nz = NZ, .nc = NC, .work_size = 4 * sizeof(double), .ops = &ops, .zeros = 1};
  for (size_t i = 0; i < 3 * sizeof cases / sizeof *cases; i++) {
    length = lengths[i % 3];
    guards[0] = cases[i / 3].g;
    double step = searched_step(&plant) / length;
    if (fabs(step - cases[i / 3].step) > 1e-3)
      fail_msg("case %zu: %g of the step, expected %g", i / 3, step, cases[i / 3].step);
  }
}

// The same dip of a guard that depends on the inputs or on the time.
static void time_and_inputs(void *user, double t, double *u) {
  (void)user;
  u[0] = t;
}
static void dips_of_inputs(void **state) {
  (void)state;
  const od_plant plant = {.nz = NZ, .nc = NC, .nu = 1, .work_size = 4 * sizeof(double), .ops = &ops, .zeros = 4};
  for (int i = 0; i < 6; i++) {
    const guard none = {1, 0, 1, 0}, dip = {0.5, -3, 0.5, 1};
    double u = 0, inside[8];
    length = lengths[i / 2];
    guards[0] = guards[1] = none, guards[2] = i % 2 ? none : dip, guards[3] = i % 2 ? dip : none;
    od_sim *sim = od_sim_plain_new(&plant);
    assert_int_equal(od_sim_start(sim, 0, &u), OD_OK);
    od_event_search search = search_of(&plant, sim);
    search.inputs = time_and_inputs;
    assert_int_equal(od_sim_begin_events(sim, &search, false), OD_OK);
    u = length;
    for (int k = 0; k < sim->integrator->inside_count; k++) inside[k] = length * sim->integrator->inside[k];
    assert_int_equal(od_sim_step_within(sim, length, inside, &u), OD_OK);
    assert_int_equal(od_sim_end_events(sim, &search, length), OD_OK);
    near(od_sim_knot_step(sim, &search, length), 0.375 * length, 1e-3 * length);
    search_free(&plant, search);
    od_sim_free(sim);
  }
}

// The first s at which a margin is zero: by bisection from the positive side at 0 to a point `below` where it is negative.
static double first_zero(const guard *g, double below) {
  double low = 0, high = below;
  for (int i = 0; i < 60; i++) *(guard_value(g, (low + high) / 2) > 0 ? &low : &high) = (low + high) / 2;
  return high;
}

// Of margins that may dip below zero, the first four are evaluated in between.
static void most_dips(void **state) {
  (void)state;
  for (int count = 1; count <= 5; count++) {
    const od_plant plant = {.nz = NZ, .nc = NC, .work_size = 4 * sizeof(double), .ops = &ops, .margins = count};
    length = 2;
    // 0.36 - 0.92 s (1 - s) has the least value 0.13, but its tangents meet at -0.1.
    for (int i = 0; i + 1 < count; i++) guards[i] = (guard){0.36, -0.92, 0.36, 0.92};
    guards[count - 1] = (guard){0.18 - 1e-5, -1.11, 1.47 - 1e-5, 4.69};  // (s - 0.3)^2 (s + 2) - 1e-5
    double want = count <= 4 ? first_zero(&guards[count - 1], 0.3) : 1;
    near(searched_step(&plant), want * length, 2e-7 * length);
  }
}

// Two straight guards: a step that passes both zeros ends in the middle between them, unless they are passed at one time.
static void two_crossings(void **state) {
  (void)state;
  length = 2;
  const od_plant plant = {.nz = NZ, .nc = NC, .work_size = 4 * sizeof(double), .ops = &ops, .zeros = 2};
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
  length = 2;
  const int count = 4;
  const od_plant plant = {
      .nz = NZ, .nc = NC, .work_size = 4 * sizeof(double), .ops = &ops, .scales = 1, .scale_knots = &count};
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
  const od_plant plant = {.nz = NZ, .nc = NC, .work_size = 4 * sizeof(double), .ops = &ops, .margins = 1};
  for (size_t i = 0; i < 3 * sizeof cases / sizeof *cases; i++) {
    length = lengths[i % 3];
    guards[0] = cases[i / 3].g;
    double zero = cases[i / 3].below > 0 ? first_zero(&guards[0], cases[i / 3].below) : 1;
    double behind = searched_step(&plant) / length - zero;
    if (!(behind >= -1e-12 && behind < 3e-7)) fail_msg("case %zu: %g behind the switch", i / 3, behind);
  }
}

// Margins with a root of order three, (a - s)^3: secants alone approach it slowly. In rounded numbers the root is accurate to about 1e-5.
static void flat_switches(void **state) {
  (void)state;
  const od_plant plant = {.nz = NZ, .nc = NC, .work_size = 4 * sizeof(double), .ops = &ops, .margins = 1};
  for (int i = 1; i < 300; i++) {
    const double a = i < 100 ? 0.01 * i : i < 200 ? 1e-4 * (i - 99) : 1 - 1e-4 * (i - 199), b = 1 - a;
    length = lengths[i % 3];
    guards[0] = (guard){a * a * a, -3 * a * a, -b * b * b, -3 * b * b};
    near(searched_step(&plant) / length, a, 2e-5);
    assert_true(evaluations < 300);
  }
}

// ---- random guards

static unsigned long seed = 1;
static double draw(double from, double to) {
  seed = seed * 6364136223846793005ul + 1442695040888963407ul;
  return from + (to - from) * (double)(seed >> 11) / 9007199254740992.0;
}

// Margins that fall monotonically: the step ends just behind the first of their zeros. A margin that is not positive at the beginning has no effect.
static void the_first_switch(void **state) {
  (void)state;
  int switches_found = 0;
  long needed = 0;
  for (int n = 0; n < 300; n++) {
    int count = 1 + n % MOST_GUARDS;
    const od_plant plant = {.nz = NZ, .nc = NC, .work_size = 4 * sizeof(double), .ops = &ops, .margins = count};
    double first = 1;
    length = lengths[n % 3];
    for (int i = 0; i < count; i++) {
      double low = i == 1 ? 0 : draw(-0.2, 1),
             change = draw(-2, -0.2);  // rates up to three times the mean rate: monotone
      guards[i] = (guard){low, draw(0.01, 2.5) * change, low + change, draw(0.01, 2.5) * change};
      if (low > 0 && low + change < 0) first = fmin(first, first_zero(&guards[i], 1));
    }
    double behind = searched_step(&plant) / length - first;
    if (!(behind >= -1e-12 && behind < 1.1e-7)) fail_msg("case %d: %g behind the switch at %g", n, behind, first);
    if (first == 1) continue;
    switches_found++;
    needed += evaluations;
  }
  print_message("%.1f evaluations per switch\n", (double)needed / switches_found);
  assert_true(switches_found > 200 && needed < 21l * switches_found);
}

static int by_size(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

// Straight zeros and scales: of all crossings in the order of time, the step ends in the middle between the first two that differ.
static void the_first_two_knots(void **state) {
  (void)state;
  int shorter = 0;
  for (int n = 0; n < 400; n++) {
    int zeros = n % 3, scales = n / 3 % 3, knot_counts[2], count = 0;
    const od_plant plant = {.nz = NZ,
                            .nc = NC,
                            .work_size = 4 * sizeof(double),
                            .ops = &ops,
                            .zeros = zeros,
                            .scales = scales,
                            .scale_knots = knot_counts};
    double at[100];
    length = lengths[n % 3];
    for (int i = 0; i < zeros + scales; i++) {
      bool is_scale = i >= zeros;
      int k = i - zeros, levels = is_scale ? (knot_counts[k] = 2 + (int)draw(0, 4)) : 1;
      double low = is_scale ? draw(-1.5, levels + 0.5) : draw(-1, 1), change = draw(-1.5, 1.5);
      guards[i] = (guard){low, change, low + change, change};
      for (int level = 0; level < levels; level++)
        if ((low >= level) != (low + change >= level)) at[count++] = (level - low) / change;
    }
    qsort(at, (size_t)count, sizeof *at, by_size);
    double want = count > 1 ? (at[0] + at[1]) / 2 : 1;
    near(searched_step(&plant), want * length, 1e-9 * length);
    shorter += want < 1;
  }
  assert_true(shorter > 60);
}

// ---- inputs

// u is a cubic of s = t / length over the step. RK4 integrates x' = u exactly.
static double input_terms[4] = {0.5, 0.25, -0.75, 1.35};
static double input_at(double s) {
  return input_terms[0] + s * (input_terms[1] + s * (input_terms[2] + s * input_terms[3]));
}
static double integral_at(double s) {
  return s * (input_terms[0] + s * (input_terms[1] / 2 + s * (input_terms[2] / 3 + s * input_terms[3] / 4)));
}
static void inputs(void *user, double t, double *u) {
  assert_ptr_equal(user, input_terms);
  u[0] = input_at(t / length);
}

// A margin that is zero at x = 0.4 of the length, or just before the end of the step: trial steps use the inputs of their own times. Without a
// function the inputs are linear, and the trapezoidal rule is exact.
static void trial_steps_have_their_inputs(void **state) {
  (void)state;
  const od_plant plant = {.nz = NZ, .nc = NC, .nu = 1, .work_size = 4 * sizeof(double), .ops = &ops, .margins = 1};
  for (int n = 0; n < 12; n++) {
    bool is_linear = n % 2;
    double level = n < 6 ? 0.4 : (is_linear ? input_at(0) / 2 + input_at(1) / 2 : integral_at(1)) - 1e-9;
    guards[0] = (guard){level, -1, level - 1, -1};
    od_sim *sim = od_sim_plain_new(&plant);
    double inside[8], u = input_at(0), taken;
    const double u1 = input_at(1);
    length = lengths[n / 2 % 3];
    od_sim_set_integrator(sim, od_integrator_find(is_linear ? "trapezoid" : "rk4"));
    assert_int_equal(od_sim_start(sim, 0, &u), OD_OK);
    od_event_search search = search_of(&plant, sim);
    search.inputs = is_linear ? NULL : inputs, search.user = input_terms;
    assert_int_equal(od_sim_begin_events(sim, &search, false), OD_OK);
    for (int i = 0; i < sim->integrator->inside_count; i++) inside[i] = input_at(sim->integrator->inside[i]);
    assert_int_equal(is_linear ? od_sim_step(sim, length, &u1) : od_sim_step_within(sim, length, inside, &u1), OD_OK);
    assert_int_equal(od_sim_end_events(sim, &search, length), OD_OK);
    assert_int_equal(od_sim_find_switch(sim, &search, length, &taken), OD_OK);
    // The root of the integral by bisection; the integral is monotone.
    double low = 0, high = 1;
    for (int i = 0; i < 60; i++) {
      double s = (low + high) / 2, x = is_linear ? s * u + s * s / 2 * (u1 - u) : integral_at(s);
      *(x < level ? &low : &high) = s;
    }
    double s = taken / length;
    assert_true(s >= high - 1e-12 && s < high + 1.1e-7);
    near(od_sim_state(sim)[C], length * (is_linear ? s * u + s * s / 2 * (u1 - u) : integral_at(s)), 1e-12 * length);
    near(od_sim_inputs(sim)[0], is_linear ? u + s * (u1 - u) : input_at(s), 1e-12);
    near(od_sim_time(sim), taken, 0);
    search_free(&plant, search);
    od_sim_free(sim);
  }
}

// ---- failures, and searches that continue

// If an evaluation fails during the search, the simulation is that at the beginning of the step.
static void failed_searches(void **state) {
  (void)state;
  static const guard cases[] = {{0.3, -1, -0.7, -1}, {0.18 - 1e-5, -1.11, 1.47 - 1e-5, 4.69}};
  const od_plant plant = {.nz = NZ, .nc = NC, .work_size = 4 * sizeof(double), .ops = &ops, .margins = 1};
  length = 2;
  for (int i = 0; i < 2; i++) {
    int failures = 0;
    guards[0] = cases[i];
    for (long fail = 1; fail < 200; fail++) {
      od_sim *sim = od_sim_plain_new(&plant);
      double taken = NAN;
      assert_int_equal(od_sim_start(sim, 0, NULL), OD_OK);
      const od_event_search search = search_of(&plant, sim);
      assert_int_equal(od_sim_begin_events(sim, &search, false), OD_OK);
      assert_int_equal(od_sim_step(sim, length, NULL), OD_OK);
      assert_int_equal(od_sim_end_events(sim, &search, length), OD_OK);
      countdown = fail;
      od_status status = od_sim_find_switch(sim, &search, length, &taken);
      bool ended = countdown > 0;
      countdown = 0;
      if (status != OD_OK) {
        failures++;
        assert_true(taken == 0);
        assert_memory_equal(sim, search.before, od_sim_bytes(sim));
      } else {
        near(taken / length, first_zero(&guards[0], 0.31), 1.1e-7);  // the careful iteration evaluates again
      }
      search_free(&plant, search);
      od_sim_free(sim);
      if (ended) break;
    }
    assert_true(failures > 3);
  }
}

// The rate of a guard is a difference to a point beside. If this point cannot be evaluated, the plant restores its last point, the rate counts as
// zero, and no dip is found; a crossing is found as before.
static void unknown_rates(void **state) {
  (void)state;
  static const struct {
    guard g;
    double step[2];  // with and without rates
  } cases[] = {{{0.5, -3, 0.5, 1}, {0.375, 1}}, {{0.25, -1, -0.75, -1}, {1, 1}}};
  const od_plant plant = {.nz = NZ, .nc = NC, .work_size = 4 * sizeof(double), .ops = &ops, .zeros = 1};
  for (int i = 0; i < 8; i++) {
    const int unknown = i % 4;  // 0: none, 1: at the beginning, 2: at the end, 3: at both ends
    length = 2;
    guards[0] = cases[i / 4].g;
    od_sim *sim = od_sim_plain_new(&plant);
    assert_int_equal(od_sim_start(sim, 0, NULL), OD_OK);
    const od_event_search search = search_of(&plant, sim);
    restored = 0;
    countdown = unknown & 1;
    assert_int_equal(od_sim_begin_events(sim, &search, false), OD_OK);
    assert_int_equal(od_sim_step(sim, length, NULL), OD_OK);
    countdown = unknown >> 1;
    assert_int_equal(od_sim_end_events(sim, &search, length), OD_OK);
    assert_int_equal(restored, (unknown & 1) + (unknown >> 1));
    near(od_sim_knot_step(sim, &search, length), cases[i / 4].step[unknown > 0] * length, 1e-3);
    search_free(&plant, search);
    od_sim_free(sim);
  }
}

// A search that continues uses the guards and rates of the last end: no further evaluation, the same result.
static void continued_searches(void **state) {
  (void)state;
  for (int i = 0; i < 8; i++) {
    const bool continues = i % 2;
    const int count = 1 + i / 2 % 2;
    const od_plant plant = {.nz = NZ, .nc = NC, .work_size = 4 * sizeof(double), .ops = &ops, .zeros = count};
    length = i < 4 ? 2 : 1e-9;
    // In the second step a dip as in dips(), or two crossings at 0.25 and 0.5; nothing in the first step.
    shift = 1;
    guards[0] = count == 1 ? (guard){0.5, -3, 0.5, 1} : (guard){-0.25, 1, 0.75, 1},
    guards[1] = (guard){0.5, -1, -0.5, -1};
    od_sim *sim = od_sim_plain_new(&plant);
    assert_int_equal(od_sim_start(sim, 0, NULL), OD_OK);
    const od_event_search search = search_of(&plant, sim);
    assert_int_equal(od_sim_begin_events(sim, &search, false), OD_OK);
    assert_int_equal(od_sim_step(sim, length, NULL), OD_OK);
    assert_int_equal(od_sim_end_events(sim, &search, length), OD_OK);
    near(od_sim_knot_step(sim, &search, length), length, 0);
    evaluations = 0;
    assert_int_equal(od_sim_begin_events(sim, &search, continues), OD_OK);
    assert_int_equal(evaluations > 0, !continues);
    assert_memory_equal(search.before, sim, od_sim_bytes(sim));
    assert_int_equal(od_sim_step(sim, length, NULL), OD_OK);
    assert_int_equal(od_sim_end_events(sim, &search, length), OD_OK);
    near(od_sim_knot_step(sim, &search, length), 0.375 * length, 1e-3 * length);
    search_free(&plant, search);
    od_sim_free(sim);
    shift = 0;
  }
}

// The least margin, without effect of the other guards; none before the start.
static void margins(void **state) {
  (void)state;
  double margin = 0, value[MOST_GUARDS];
  for (int count = 0; count < 4; count++)
    for (int least = 0; least < (count ? count : 1); least++) {
      const od_plant plant = {
          .nz = NZ, .nc = NC, .work_size = 4 * sizeof(double), .ops = &ops, .margins = count, .zeros = 1};
      od_sim *sim = od_sim_plain_new(&plant);
      const od_event_search search = search_of(&plant, sim);
      for (int i = 0; i < count; i++) guards[i] = (guard){i == least ? 2 : 3 + i, 0, i == least ? 2 : 3 + i, 0};
      guards[count] = (guard){1, 0, 1, 0};
      assert_int_equal(od_sim_margin(sim, &margin), OD_BAD_ARGUMENT);
      assert_true(margin == INFINITY);
      assert_int_equal(od_sim_guards(sim, value), OD_BAD_ARGUMENT);
      assert_int_equal(od_sim_begin_events(sim, &search, false), OD_BAD_ARGUMENT);
      assert_int_equal(od_sim_start(sim, 0, NULL), OD_OK);
      assert_int_equal(od_sim_margin(sim, &margin), OD_OK);
      assert_true(margin == (count ? 2 : INFINITY));
      search_free(&plant, search);
      od_sim_free(sim);
    }
}

// A plant without guards.
static void no_guards(void **state) {
  (void)state;
  const od_plant_ops without = {.start = plant_start, .residual = plant_residual, .step_matrix = plant_step_matrix};
  const od_plant plant = {.nz = NZ, .nc = NC, .work_size = 4 * sizeof(double), .ops = &without};
  od_sim *sim = od_sim_plain_new(&plant);
  const od_event_search search = search_of(&plant, sim);
  double taken = 0;
  assert_int_equal(od_sim_start(sim, 0, NULL), OD_OK);
  for (int i = 0; i < 2; i++) {
    assert_int_equal(od_sim_begin_events(sim, &search, i), OD_OK);
    assert_int_equal(od_sim_step(sim, 2, NULL), OD_OK);
    assert_int_equal(od_sim_end_events(sim, &search, 2), OD_OK);
    assert_int_equal(od_sim_guards(sim, &taken), OD_OK);
    assert_true(od_sim_knot_step(sim, &search, 2) == 2);
    assert_int_equal(od_sim_find_switch(sim, &search, 2, &taken), OD_OK);
    assert_true(taken == 2 && od_sim_time(sim) == 2 + 2 * i);
  }
  search_free(&plant, search);
  od_sim_free(sim);
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

// The same mass starts at rest, on the jump, with a force of 3 N that the friction balances: the sliding begins with the step, at a known time, and
// adds nothing to the local error. A force of -3 N on a mass that moves with 0.03 m/s ends the motion 0.3 / 1.3 of the step after its beginning.
static void no_error_without_entry(void **state) {
  (void)state;
  static const char *const integrators[] = {"trapezoid", "tr-bdf2", "rk4"};
  static const double h = 0.1;
  for (int i = 0; i < 12; i++) {
    const double force = i % 2 ? 3 : -3, speed = i / 2 % 2 ? 0.03 : 0;
    char text[800];
    snprintf(text, sizeof text,
             "bodies: {m: {point: {mass: 10 kg}}}\n"
             "joints: {rail: {type: prismatic, between: [ground, m], axis: [1, 0, 0]}}\n"
             "force_formulas: {friction: {joint: rail, parameters: {Fc: 10 N, F: %g N}, force: 'F + Fc * sign(-v)'}}\n"
             "initial: {rail.position: 0 m, rail.rate: %g m/s}\n",
             force, speed);
    od_machine *m = od_test_machine_text(text);
    od_plant *plant = NULL;
    od_error err;
    assert_int_equal(od_machine_plant(m, NULL, 0, NULL, 0, &plant, &err), OD_OK);
    od_sim *sim = od_sim_new(plant);
    double own[2], own_after[2], before[2], after[2];
    od_sim_set_integrator(sim, od_integrator_find(integrators[i / 4]));
    assert_int_equal(od_sim_start(sim, 0, NULL), OD_OK);
    assert_int_equal(od_sim_step(sim, h, NULL), OD_OK);
    near(od_sim_state(sim)[1], 0, 1e-9);
    near(od_sim_rates(sim)[0], 0, 1e-9);
    sim->integrator->local_error(sim, own, own_after);
    od_sim_local_error(sim, before, after);
    const double change = speed > 0 ? -speed / h - (force / 10 - 1) : 0;  // of the rate at the beginning
    near(before[0] - own[0], change * h * h / 4, 1e-8);
    near(before[1] - own[1], change * h / 2, 1e-7);
    od_sim_free(sim);
    od_plant_free(plant);
    od_machine_free(m);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(dips),
                                     cmocka_unit_test(dips_of_inputs),
                                     cmocka_unit_test(most_dips),
                                     cmocka_unit_test(no_guards),
                                     cmocka_unit_test(two_crossings),
                                     cmocka_unit_test(knots),
                                     cmocka_unit_test(switches),
                                     cmocka_unit_test(flat_switches),
                                     cmocka_unit_test(the_first_switch),
                                     cmocka_unit_test(the_first_two_knots),
                                     cmocka_unit_test(trial_steps_have_their_inputs),
                                     cmocka_unit_test(failed_searches),
                                     cmocka_unit_test(unknown_rates),
                                     cmocka_unit_test(continued_searches),
                                     cmocka_unit_test(margins),
                                     cmocka_unit_test(error_of_entry),
                                     cmocka_unit_test(no_error_without_entry)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
