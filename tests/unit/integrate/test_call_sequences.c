// Random sequences of calls of a simulation: steps with and without derivatives, shifts, jumps of inputs, new states and parameters, derivatives of
// rates and outputs, copies, restarts. Two oracles. First, rates, outputs and all derivatives depend on the point alone: after each call they equal
// those of another simulation that is set to the same point, so no stale value is used. Second, each value is computed once: the numbers of calls of
// the plant's functions are reference values of this version. They are exact, because a simulation is deterministic; a change of a rule
// changes them on purpose, and the test prints the new ones.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"

#include "oleodyn/oleodyn.h"
#include "support/machines.h"
#include "support/random_machine.h"

enum { MOST = 40, SEQUENCE = 60 };

// Numbers of calls.
typedef struct calls {
  long residual, step_matrix, by_state, by_rates, by_inputs, by_parameters, outputs, output_by_state, output_by_inputs,
      output_by_parameters, powers, settled, restored, guards, held, failures;
} calls;
enum { FIELDS = sizeof(calls) / sizeof(long) };
static const char *const names[FIELDS] = {
    "residual",      "step_matrix", "by_state",        "by_rates",         "by_inputs",
    "by_parameters", "outputs",     "output_by_state", "output_by_inputs", "output_by_parameters",
    "powers",        "settled",     "restored",        "guards",           "held",
    "failures"};

typedef struct counted {
  od_plant plant;
  od_plant_ops ops;
  const od_plant_ops *inner;
  calls *calls;
} counted;

static counted *of(const od_plant *plant) {
  return (counted *)(void *)(uintptr_t)plant;  // its first member
}
static od_status residual(const od_plant *plant, void *work, double t, const double *x, const double *k,
                          const double *u, double *g) {
  of(plant)->calls->residual++;
  return of(plant)->inner->residual(plant, work, t, x, k, u, g);
}
static od_status step_matrix(const od_plant *plant, void *work, double alpha, double beta, double *matrix) {
  of(plant)->calls->step_matrix++;
  return of(plant)->inner->step_matrix(plant, work, alpha, beta, matrix);
}
static od_status jacobians(const od_plant *plant, void *work, double *gx, double *gk, double *gu) {
  of(plant)->calls->by_state += gx != NULL;
  of(plant)->calls->by_rates += gk != NULL;
  of(plant)->calls->by_inputs += gu != NULL;
  return of(plant)->inner->jacobians(plant, work, gx, gk, gu);
}
static od_status parameter_jacobian(const od_plant *plant, void *work, double *gp) {
  of(plant)->calls->by_parameters++;
  return of(plant)->inner->parameter_jacobian(plant, work, gp);
}
static od_status outputs(const od_plant *plant, void *work, const double *energy, double *y) {
  of(plant)->calls->outputs++;
  return of(plant)->inner->outputs(plant, work, energy, y);
}
static od_status output_jacobians(const od_plant *plant, void *work, const double *energy, const unsigned char *wanted,
                                  const double *kx, const double *ku, const double *kp, double *hx, double *hu,
                                  double *hp) {
  of(plant)->calls->output_by_state += hx != NULL;
  of(plant)->calls->output_by_inputs += hu != NULL;
  of(plant)->calls->output_by_parameters += hp != NULL;
  return of(plant)->inner->output_jacobians(plant, work, energy, wanted, kx, ku, kp, hx, hu, hp);
}
static od_status powers(const od_plant *plant, void *work, double *power) {
  of(plant)->calls->powers++;
  return of(plant)->inner->powers(plant, work, power);
}
static void settle(const od_plant *plant, void *work, bool back) {
  of(plant)->calls->settled += !back;
  of(plant)->calls->restored += back;
  of(plant)->inner->settle(plant, work, back);
}
static od_status guards(const od_plant *plant, void *work, double *guard) {
  of(plant)->calls->guards++;
  return of(plant)->inner->guards(plant, work, guard);
}
static void hold(const od_plant *plant, void *work, const double *held) {
  of(plant)->calls->held++;
  of(plant)->inner->hold(plant, work, held);
}

static counted count_calls(const od_plant *plant, calls *c) {
  counted w = {.plant = *plant, .ops = *plant->ops, .inner = plant->ops, .calls = c};
  w.ops.residual = residual;
  w.ops.step_matrix = step_matrix;
  w.ops.jacobians = jacobians;
  w.ops.parameter_jacobian = parameter_jacobian;
  w.ops.outputs = outputs;
  w.ops.output_jacobians = output_jacobians;
  if (w.ops.powers) w.ops.powers = powers;
  if (w.ops.settle) w.ops.settle = settle;
  if (w.ops.guards) w.ops.guards = guards;
  if (w.ops.hold) w.ops.hold = hold;
  return w;
}

// ---- values at a point

typedef struct values {
  double y[MOST], f[MOST], fx[MOST * MOST], fu[MOST * MOST], fp[MOST * MOST], hx[MOST * MOST], hu[MOST * MOST],
      hp[MOST * MOST];
} values;

static od_status find_values(od_sim *sim, const od_plant *plant, values *v) {
  bool has_u = plant->nu > 0, has_p = plant->np > 0;
  memset(v, 0, sizeof *v);
  od_status status = od_sim_outputs(sim, v->y);
  if (status == OD_OK) status = od_sim_derivatives(sim, v->f, v->fx, has_u ? v->fu : NULL, has_p ? v->fp : NULL);
  if (status == OD_OK) status = od_sim_output_jacobians(sim, v->hx, has_u ? v->hu : NULL, has_p ? v->hp : NULL);
  return status;
}

static void compare(const char *what, int call, const double *a, const double *b, int count) {
  double size = 0;
  for (int i = 0; i < count; i++) size = fmax(size, fabs(b[i]));
  for (int i = 0; i < count; i++)
    if (!(fabs(a[i] - b[i]) <= 1e-5 * (size + 1e-6)))
      fail_msg("%s %d after call %d: %.12g, expected %.12g (largest %g)", what, i, call, a[i], b[i], size);
}

typedef struct sequence {
  const char *machine;  // path of a file, or a text
  const char *integrator;
  double step;
  bool has_memory;  // modes or held jumps: the point does not determine the values
  calls want;
} sequence;

// Performs one call. Returns its status.
static od_status call(od_sim *sim, const od_plant *plant, od_dice *dice, double h, double *u, values *v, void *copy) {
  double x[MOST], p[MOST], dx[MOST], part;
  int nx = od_plant_nx(plant), kind = od_dice_pick(dice, 16);
  for (int i = 0; i < plant->nu; i++) u[i] = od_sim_inputs(sim)[i] + od_dice_uniform(dice, -0.01, 0.01);
  bool first = od_dice_pick(dice, 2), second = od_dice_pick(dice, 2), third = od_dice_pick(dice, 2);
  bool has_u = plant->nu > 0, has_p = plant->np > 0, changed;
  od_status status;
  switch (kind) {
    case 0: return od_sim_set_inputs(sim, u);
    case 1:
      for (int i = 0; i < nx; i++) x[i] = od_sim_state(sim)[i] * (1 + od_dice_uniform(dice, -1e-4, 1e-4));
      return od_sim_set(sim, od_sim_time(sim), x, u);
    case 2:
      od_sim_parameters(sim, p);
      for (int i = 0; i < plant->np; i++) p[i] *= 1 + od_dice_uniform(dice, -0.01, 0.01);
      return od_sim_set_parameters(sim, p);
    case 3:
    case 4:
      return od_sim_step_with_jacobians(sim, h, u, first ? v->fx : NULL, second && has_u ? v->fu : NULL,
                                        third && has_u ? v->hu : NULL, has_p && first != second ? v->fp : NULL);
    case 5:
      for (int i = 0; i < nx; i++) dx[i] = 1e-7 * od_sim_state(sim)[i];
      status = od_sim_step_and_shift(sim, h, u, dx, v->fx, has_p ? v->fp : NULL, &part);
      if (status == OD_OK && first) status = od_sim_outputs(sim, v->y);
      if (status == OD_OK && second) status = od_sim_output_jacobians(sim, v->hx, NULL, has_p ? v->hp : NULL);
      od_sim_end_shift(sim);
      return status;
    case 6:
      return od_sim_derivatives(sim, v->f, first ? v->fx : NULL, second && has_u ? v->fu : NULL,
                                third && has_p ? v->fp : NULL);
    case 7:
      return od_sim_output_jacobians(sim, first ? v->hx : NULL, second && has_u ? v->hu : NULL,
                                     third && has_p ? v->hp : NULL);
    case 8: return od_sim_outputs(sim, v->y);
    case 9:
      memcpy(copy, sim, od_sim_bytes(sim));
      status = od_sim_step(sim, h / 2, u);
      memcpy(sim, copy, od_sim_bytes(sim));
      return status;
    case 10:
      status = od_sim_step(sim, h, u);
      if (status == OD_OK) od_sim_local_error(sim, v->f, v->y);
      return status;
    case 11: return od_sim_repartition(sim, NULL, &changed);
    case 12: return od_sim_step(sim, first ? h : h / 3, u);
    case 13: return od_sim_step(sim, h, u) != OD_OK ? OD_NOT_CONVERGED : od_sim_sample(sim, NULL, NULL, &changed);
    default: return od_sim_step(sim, h, u);
  }
}

static bool check(const sequence *s) {
  bool is_text = strchr(s->machine, '\n') != NULL;
  od_machine *machine = is_text ? od_test_machine_text(s->machine) : od_test_machine(s->machine, NULL);
  int all = od_machine_output_count(machine), chosen[MOST], count = 0, parameter[2], parameters = 0;
  for (int i = 0; i < all && count < 12; i += 1 + all / 12) chosen[count++] = i;
  // Two numbers that the model depends on, from the first and the second half of all numbers.
  od_plant *plant = NULL;
  for (int half = 0; half < 2; half++)
    for (int i = half * od_machine_number_count(machine) / 2; i < od_machine_number_count(machine); i++) {
      parameter[parameters] = i;
      if (od_machine_number(machine, i).value == 0 ||
          od_machine_plant(machine, chosen, count, &i, 1, &plant, NULL) != OD_OK)
        continue;
      od_plant_free(plant);
      parameters++;
      break;
    }
  assert_int_equal(od_machine_plant(machine, chosen, count, parameter, parameters, &plant, NULL), OD_OK);
  calls got = {0}, ignored = {0};
  counted c = count_calls(plant, &got), other = count_calls(plant, &ignored);
  c.plant.ops = &c.ops, other.plant.ops = &other.ops;
  assert_true(od_plant_nx(plant) <= MOST && plant->nu <= 8);
  od_sim *sim = od_sim_new(&c.plant), *fresh = od_sim_new(&other.plant);
  void *copy = malloc(od_sim_bytes(sim));
  values *v = calloc(3, sizeof *v);
  double u[MOST] = {0}, p[MOST];
  if (plant->nu) od_machine_inputs(machine, 0, u);
  od_sim_set_integrator(sim, od_integrator_find(s->integrator));
  od_dice dice = {5};
  for (int round = 0; round < 2; round++) {  // started twice
    assert_int_equal(od_sim_start(sim, 0, u), OD_OK);
    for (int i = 0; i < SEQUENCE; i++) {
      if (call(sim, &c.plant, &dice, s->step, u, v, copy) != OD_OK) got.failures++;
      // A copy is compared, so that the comparison changes neither the simulation nor its counts.
      if (s->has_memory || i % 3) continue;
      calls before = got;
      memcpy(copy, sim, od_sim_bytes(sim));
      od_sim_parameters(sim, p);
      od_sim_set_integrator(fresh, od_integrator_find(s->integrator));
      assert_int_equal(od_sim_start(fresh, 0, od_sim_inputs(sim)), OD_OK);
      od_status status = od_sim_set_with_parameters(fresh, od_sim_time(sim), od_sim_state(sim), od_sim_inputs(sim),
                                                    plant->np ? p : NULL);
      if (status == OD_OK && find_values(sim, plant, &v[1]) == OD_OK && find_values(fresh, plant, &v[2]) == OD_OK) {
        compare("f", i, v[1].f, v[2].f, od_plant_nx(plant));
        compare("fx", i, v[1].fx, v[2].fx, MOST * MOST);
        compare("fu", i, v[1].fu, v[2].fu, MOST * MOST);
        compare("fp", i, v[1].fp, v[2].fp, MOST * MOST);
        compare("hx", i, v[1].hx, v[2].hx, MOST * MOST);
        compare("hu", i, v[1].hu, v[2].hu, MOST * MOST);
        compare("hp", i, v[1].hp, v[2].hp, MOST * MOST);
        compare("rates", i, od_sim_rates(sim), od_sim_rates(fresh), od_plant_nk(plant));
      }
      memcpy(sim, copy, od_sim_bytes(sim));
      got = before;
    }
  }
  const long *number = &got.residual, *want = &s->want.residual;
  bool same = true;
  char place[40];
  snprintf(place, sizeof place, "%.36s", s->machine);
  place[strcspn(place, "\n")] = 0;
  print_message("%s: %s\n      {", place, s->integrator);
  for (int i = 0; i < FIELDS; i++) print_message("%ld%s", number[i], i + 1 < FIELDS ? ", " : "}},\n");
  for (int i = 0; i < FIELDS; i++) {
    if (number[i] != want[i]) print_message("      %s: %ld instead of %ld\n", names[i], number[i], want[i]);
    same = same && number[i] == want[i];
  }
  free(copy), free(v);
  od_sim_free(sim), od_sim_free(fresh);
  od_plant_free(plant);
  od_machine_free(machine);
  return same;
}

static const char friction[] =
    "bodies: {cart: {point: {mass: 2 kg}}}\n"
    "joints: {rail: {type: prismatic, between: [ground, cart], axis: [1, 0, 0]}}\n"
    "inputs: {u: {unit: N, constant: 3 N}}\n"
    "forces: {push: {at: cart, direction: [1, 0, 0], value: u}}\n"
    "force_formulas: {dry: {joint: rail, parameters: {F: 10 N}, force: 'F * sign(-v)'}}\n"
    "initial: {rail.position: 0 m, rail.rate: 0.05 m/s}\n";

static const sequence sequences[] = {
    {"cases/double-pendulum/machine.yaml",
     "trapezoid",
     2e-3,
     false,
     {232, 41, 40, 33, 5, 35, 6, 7, 0, 6, 0, 84, 6, 0, 0, 0}},
    {"cases/double-pendulum/machine.yaml",
     "tr-bdf2",
     2e-3,
     false,
     {435, 51, 54, 43, 0, 43, 6, 7, 0, 6, 0, 92, 0, 0, 0, 0}},
    {"cases/double-pendulum/machine.yaml", "rk4", 2e-3, false, {692, 344, 75, 0, 0, 56, 6, 7, 0, 6, 0, 92, 0, 0, 0, 0}},
    {"cases/fourbar-valve/machine.yaml",
     "trapezoid",
     2e-4,
     false,
     {227, 34, 55, 43, 35, 45, 10, 10, 4, 12, 90, 90, 8, 0, 0, 0}},
    {"cases/fourbar-valve/machine.yaml",
     "tr-bdf2",
     2e-4,
     false,
     {384, 43, 89, 71, 46, 72, 10, 10, 4, 12, 165, 98, 0, 0, 0, 0}},
    {"cases/crane/machine.yaml", "trapezoid", 1e-3, false, {197, 40, 36, 27, 21, 24, 12, 9, 3, 6, 0, 89, 0, 0, 0, 0}},
    {"cases/crane/machine.yaml", "tr-bdf2", 1e-3, false, {353, 47, 55, 42, 26, 38, 12, 9, 3, 6, 0, 96, 0, 0, 0, 0}},
    {"cases/rssr/machine.yaml", "trapezoid", 1e-3, false, {208, 38, 37, 30, 8, 33, 8, 6, 0, 8, 0, 86, 1, 0, 0, 0}},
    {"cases/hydrostatic-transmission/machine.yaml",
     "tr-bdf2",
     2e-4,
     true,
     {654, 62, 68, 56, 38, 51, 8, 11, 7, 10, 166, 100, 0, 0, 0, 0}},
    {"cases/slider-crank/machine.yaml",
     "trapezoid",
     1e-3,
     false,
     {300, 67, 48, 44, 5, 41, 9, 2, 0, 2, 0, 84, 9, 0, 0, 0}},
    {friction, "trapezoid", 1e-3, true, {2061, 525, 49, 29, 19, 37, 8, 10, 1, 12, 0, 371, 20, 163, 213, 0}},
    {friction, "tr-bdf2", 1e-3, true, {2872, 647, 83, 55, 24, 59, 8, 10, 1, 12, 0, 385, 28, 173, 222, 0}},
    {friction, "rk4", 1e-3, true, {2052, 1022, 119, 0, 36, 84, 8, 10, 1, 12, 0, 398, 0, 186, 222, 0}},
};

static void test_sequences(void **state) {
  (void)state;
  int wrong = 0;
  for (size_t i = 0; i < sizeof sequences / sizeof *sequences; i++) wrong += !check(&sequences[i]);
  assert_int_equal(wrong, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_sequences)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
