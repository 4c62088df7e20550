// The jump of the state at a sample, and its derivatives with respect to states and parameters, over random machines with blocks.
// Oracle: complex steps through the same jump. For failed samples: a simulation without a failure.
#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"
#include "mechanics/mechanics.h"
#include "oleodyn/observer.h"
#include "plant/model_plant.h"
#include "integrate/sim_block.h"
#include "signals/blocks.h"
#include "support/machine_file.h"
#include "support/machines.h"
#include "support/random_machine.h"

enum { MACHINES = 60, PARAMETERS = 12, MOST = 96 };
static const double tiny = 1e-30;

// x after the sample, with entry j of x (or, from nx on, of the parameters) moved along the imaginary axis.
static void complex_jump(od_sim *before, const od_plant *plant, const int *parameter, int j, double complex *x) {
  const od_model *m = od_model_plant_model(plant);
  const od_layout *l = &m->layout;
  const double *real = od_model_plant_scalars(plant, od_sim_work(before));
  const int *in = od_model_plant_integers(plant, od_sim_work(before));
  int nx = od_plant_nx(plant), nk = od_plant_nk(plant);
  double complex *w = calloc((size_t)l->scalars + 1, sizeof *w), k[MOST], u[4], g[MOST], next[OD_MOST_BLOCK_STATES];
  for (int i = 0; i < m->numbers; i++) w[l->theta + i] = real[l->theta + i];
  if (j >= nx) w[l->theta + parameter[j - nx]] += tiny * I;
  for (int i = 0; i < OD_CHART_SIZE * m->charts; i++) w[l->chart + i] = real[l->chart + i];
  for (int i = 0; i < m->coordinates; i++) w[l->z + i] = real[l->z + i];
  od_mechanics_with_derivatives(m)->prepare(m, w);
  for (int i = 0; i < nx; i++) x[i] = od_sim_state(before)[i] + (i == j ? tiny * I : 0);
  for (int i = 0; i < nk; i++) k[i] = od_sim_rates(before)[i];
  for (int i = 0; i < plant->nu; i++) u[i] = od_sim_inputs(before)[i];
  assert_int_equal(od_model_residual_complex(m, in, w, x, k, u, g), OD_OK);
  for (int i = 0; i < m->samplers; i++) {
    const od_block *b = &m->block[m->sampler[i]];
    double complex in_u[OD_BLOCK_LINE];
    od_block_inputs_complex(m, w, b, in_u);
    od_block_sample_complex(m, b, w + l->theta + b->number, w + l->c + b->state, in_u, next);
    for (int s = 0; s < b->states; s++) x[2 * plant->nz + b->state + s] = w[l->c + b->state + s] = next[s];
    od_blocks_evaluate_complex(m, w);
  }
  free(w);
}

// Returns false if there is no such random machine, or if it has no samples.
static bool check_machine(unsigned long long seed, bool circuit, double *worst) {
  od_model *m = od_random_machine(seed, seed % 2, seed % 3 == 0, circuit, true);
  if (!m || m->samplers == 0) {
    od_model_free(m);
    return false;
  }
  od_dice dice = {seed};
  int parameter[PARAMETERS];
  for (int i = 0; i < PARAMETERS;) {
    // Every second one a number of a block.
    const od_block *b = &m->block[od_dice_pick(&dice, m->blocks)];
    parameter[i] = i % 2 && b->numbers ? b->number + od_dice_pick(&dice, b->numbers) : od_dice_pick(&dice, m->numbers);
    if (!m->planar || strcmp(od_number_path(m, parameter[i]), "axis") != 0) i++;
  }
  od_plant *plant = NULL;
  assert_int_equal(od_model_plant(m, NULL, 0, parameter, PARAMETERS, &plant, NULL), OD_OK);
  od_sim *sim = od_sim_new(plant), *before = malloc(od_sim_size(plant));
  int nx = od_plant_nx(plant);
  bool changed;
  double u[2] = {0.7, -0.4}, x[MOST], map[MOST * MOST], by_parameters[MOST * PARAMETERS];
  assert_true(nx <= MOST);
  assert_int_equal(od_sim_start(sim, 0, u), OD_OK);
  assert_true(fabs(od_sim_next_sample(sim) - 2e-3) < 1e-15);
  memcpy(x, od_sim_state(sim), (size_t)nx * sizeof *x);
  for (int i = 0; i < 2 * plant->nz; i++) x[i] += od_dice_uniform(&dice, -0.02, 0.02);
  bool ready = od_sim_set(sim, 1.5e-3, x, u) == OD_OK;
  // Elements and blocks with modes would switch at some points, which is tested elsewhere.
  double margin = 1;
  if (ready && od_model_switchers(m)) ready = od_sim_margin(sim, &margin) == OD_OK && margin > 0;
  if (ready) {
    assert_int_equal(od_sim_sample(sim, map, by_parameters, &changed), OD_OK);
    assert_false(changed);  // not due yet
    assert_int_equal(od_sim_set(sim, 2e-3, x, u), OD_OK);
    memcpy(before, sim, od_sim_size(plant));
    assert_int_equal(od_sim_sample(sim, map, by_parameters, &changed), OD_OK);
    assert_true(changed);
    assert_true(fabs(od_sim_next_sample(sim) - 4e-3) < 1e-15);
  }
  for (int j = 0; ready && j < nx + PARAMETERS; j++) {
    double complex want[MOST];
    complex_jump(before, plant, parameter, j, want);
    for (int i = 0; i < nx; i++) {
      double got = j < nx ? map[i * nx + j] : by_parameters[i * PARAMETERS + j - nx], exact = cimag(want[i]) / tiny;
      double unit = j < nx ? 1 : fabs(m->theta[parameter[j - nx]]) + 1e-12;
      // In units in which a pressure of 1 MPa counts as much as an angle of 1 rad.
      if (j >= 2 * plant->nz && j < nx) unit = plant->scale[j - plant->nz];
      double error = fabs(got - exact) * unit / (1 + fabs(exact) * unit);
      *worst = fmax(*worst, error);
      if (!(error < 1e-9)) print_error("machine %llu, row %d, column %d: %.12g, not %.12g\n", seed, i, j, got, exact);
      assert_true(error < 1e-9);
      assert_true(fabs(od_sim_state(sim)[i] - creal(want[i])) <= 1e-12 * (1 + fabs(creal(want[i]))));
    }
  }
  od_sim_free(sim);
  free(before);
  od_plant_free(plant);
  od_model_free(m);
  return ready;
}

static void jumps(void **state) {
  (void)state;
  double worst = 0;
  int checked = 0;
  for (unsigned long long seed = 1; checked < MACHINES; seed++) {
    assert_true(seed < 20 * MACHINES);
    checked += check_machine(seed, seed % 4 == 0, &worst);
  }
  print_message("%d machines: worst error %.2g\n", checked, worst);
}

// P <- [A B; 0 1] P [A B; 0 1]'.
static void carry(double *P, const double *A, const double *B, int nx, int np) {
  int n = nx + np;
  static double F[MOST * MOST], left[MOST * MOST];
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) F[i * n + j] = i >= nx ? i == j : j < nx ? A[i * nx + j] : B[i * np + j - nx];
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      left[i * n + j] = 0;
      for (int k = 0; k < n; k++) left[i * n + j] += F[i * n + k] * P[k * n + j];
    }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      P[i * n + j] = 0;
      for (int k = 0; k < n; k++) P[i * n + j] += left[i * n + k] * F[j * n + k];
    }
}

// An observer of a machine with a digital controller propagates its covariance over steps and samples.
static void check_observed(const od_integrator *integrator) {
  od_machine *machine = od_test_machine("tests/cases/machines/sampled.yaml", NULL);
  int output = od_test_output(machine, "ram.length");
  const int parameter[2] = {od_machine_number_find(machine, "control.kp"),
                            od_machine_number_find(machine, "oil.modulus")};
  od_plant *plant = NULL;
  assert_int_equal(od_machine_plant(machine, &output, 1, parameter, 2, &plant, NULL), OD_OK);
  int nx = od_plant_nx(plant), n = nx + 2, samples = 0;
  bool changed;
  const double sigma = 1, size[2] = {0.5, 1e7};
  od_observer *observer =
      od_observer_new(plant, &(od_observer_options){.sensor_sigma = &sigma, .integrator = integrator});
  od_sim *sim = od_sim_new(plant);
  od_sim_set_integrator(sim, integrator);
  static double P[MOST * MOST], A[MOST * MOST], B[MOST * 2];
  assert_true(n <= MOST);
  memset(P, 0, sizeof P);
  for (int i = 0; i < n; i++) {
    double s = i >= nx ? size[i - nx] : i < 2 * plant->nz ? 1e-3 : 1e-3 * plant->scale[i - plant->nz];
    P[i * (n + 1)] = s * s;
  }
  double u;
  od_machine_inputs(machine, 0, &u);
  assert_int_equal(od_observer_start(observer, 0, NULL, NULL, P, &u), OD_OK);
  assert_int_equal(od_sim_start(sim, 0, &u), OD_OK);
  for (int step = 0; step < 6; step++) {
    // The controller's target jumps right at a sample, after the step to it.
    if (step == 4) u += 0.01;
    assert_int_equal(od_sim_set_inputs(od_observer_sim(observer), &u), OD_OK);
    assert_int_equal(od_sim_set_inputs(sim, &u), OD_OK);
    assert_int_equal(od_observer_predict(observer, 1e-3, &u, NULL, NULL), OD_OK);
    assert_int_equal(od_sim_sample(sim, A, B, &changed), OD_OK);
    if (changed) carry(P, A, B, nx, 2);
    samples += changed;
    assert_int_equal(od_sim_step_with_jacobians(sim, 1e-3, &u, A, NULL, NULL, B), OD_OK);
    carry(P, A, B, nx, 2);
  }
  assert_int_equal(samples, 2);  // in addition to the one at the start
  for (int i = 0; i < nx; i++) assert_true(od_observer_state(observer)[i] == od_sim_state(sim)[i]);
  const double *got = od_observer_covariance(observer);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      assert_true(fabs(got[i * n + j] - P[i * n + j]) <= 1e-9 * sqrt(P[i * (n + 1)] * P[j * (n + 1)]) + 1e-300);
  od_observer_free(observer);
  od_sim_free(sim);
  od_plant_free(plant);
  od_machine_free(machine);
}

static void observed(void **state) {
  (void)state;
  for (int i = 0; od_integrator_at(i); i++) check_observed(od_integrator_at(i));
}

// A valve without a lag follows its controller immediately, and so do the pressures' rates: after a sample they equal
// those of a simulation that is set to the same state.
static void rates_follow(void **state) {
  (void)state;
  od_machine *machine = od_test_machine("tests/cases/machines/sampled_valve.yaml", NULL);
  od_plant *plant = NULL;
  assert_int_equal(od_machine_plant(machine, NULL, 0, NULL, 0, &plant, NULL), OD_OK);
  od_sim *sim = od_sim_new(plant), *other = malloc(od_sim_size(plant));
  int nx = od_plant_nx(plant), nk = od_plant_nk(plant);
  bool changed;
  double x[MOST], u = 0.65, largest = 0;
  assert_int_equal(od_sim_start(sim, 0, &u), OD_OK);
  for (int sample = 0; sample < 2; sample++) {  // the first is at the start
    memcpy(other, sim, od_sim_size(plant));
    memcpy(x, od_sim_state(sim), (size_t)nx * sizeof *x);
    x[0] += 1e-3;
    assert_int_equal(od_sim_set(other, od_sim_time(sim), x, &u), OD_OK);
    assert_int_equal(od_sim_set(other, od_sim_time(sim), od_sim_state(sim), &u), OD_OK);
    for (int i = 0; i < nk; i++) {
      double want = od_sim_rates(other)[i];
      assert_true(fabs(od_sim_rates(sim)[i] - want) <= 1e-9 * (plant->scale[i] + fabs(want)));
      largest = fmax(largest, fabs(want) / plant->scale[i]);
    }
    assert_true(largest > 1);  // the valve is open
    u = 0.9;
    assert_int_equal(od_sim_set(sim, 2e-3, NULL, &u), OD_OK);
    assert_int_equal(od_sim_sample(sim, NULL, NULL, &changed), OD_OK);
    assert_int_equal(changed, sample == 0);
  }
  od_sim_free(sim);
  free(other);
  od_plant_free(plant);
  od_machine_free(machine);
}

// ---- samples that fail

// The delay runs before the gain whose sample fails: the root of a negative number.
static const char digital[] =
    "machine: Digital\n"
    "inputs: {a: {unit: '1', constant: 1}, b: {unit: '1', constant: 0}}\n"
    "blocks:\n"
    "  past: {type: delay, input: b, time: 30 ms, sample: 10 ms}\n"
    "  root: {type: formula, inputs: {a: a}, formula: sqrt(a)}\n"
    "  held: {type: gain, input: root, gain: 1, sample: 10 ms}\n"
    "  lag: {type: first-order, input: held, time_constant: 20 ms}\n"
    "  sum: {type: sum, inputs: [lag, past], weights: [1, 1]}\n";

// A step to the next sample, and the sample; `twice`: the first attempt fails and changes nothing.
static void step_and_sample(od_sim *sim, const od_plant *plant, double b, bool twice) {
  double u[2] = {twice ? -1 : 4, b}, good[2] = {4, b}, y[4], y_after[4];
  int nx = od_plant_nx(plant), nk = od_plant_nk(plant);
  bool changed = true;
  assert_int_equal(od_sim_step(sim, 10e-3, u), OD_OK);
  if (twice) {
    double x[MOST], k[MOST], next = od_sim_next_sample(sim);
    memcpy(x, od_sim_state(sim), (size_t)nx * sizeof *x);
    memcpy(k, od_sim_rates(sim), (size_t)nk * sizeof *k);
    assert_int_equal(od_sim_outputs(sim, y), OD_OK);
    for (int i = 0; i < 3; i++) {
      assert_int_equal(od_sim_sample(sim, NULL, NULL, &changed), OD_NOT_FINITE);
      assert_false(changed);
      assert_memory_equal(x, od_sim_state(sim), (size_t)nx * sizeof *x);
      assert_memory_equal(k, od_sim_rates(sim), (size_t)nk * sizeof *k);
      assert_true(od_sim_next_sample(sim) == next);
      assert_int_equal(od_sim_outputs(sim, y_after), OD_OK);
      assert_memory_equal(y, y_after, (size_t)plant->ny * sizeof *y);
    }
    assert_int_equal(od_sim_set_inputs(sim, good), OD_OK);
  }
  assert_int_equal(od_sim_sample(sim, NULL, NULL, &changed), OD_OK);
  assert_true(changed);
}

// A failed sample changes neither the state nor the memory of blocks: afterward the motion equals that of a simulation without
// a failure, and the delay returns its input of three samples ago.
static void failed_samples_change_nothing(void **state) {
  od_machine *machine = machine_with(*state, digital, NULL);
  int output = od_machine_output_find(machine, "past");
  od_plant *plant = NULL;
  assert_int_equal(od_machine_plant(machine, &output, 1, NULL, 0, &plant, NULL), OD_OK);
  od_sim *failing = od_sim_new(plant), *twin = od_sim_new(plant);
  double u[2] = {4, 0}, y;
  assert_int_equal(od_sim_start(failing, 0, u), OD_OK);
  assert_int_equal(od_sim_start(twin, 0, u), OD_OK);
  for (int i = 0; i < 8; i++) {
    step_and_sample(failing, plant, 5 + i, i % 3 == 1);
    step_and_sample(twin, plant, 5 + i, false);
    assert_memory_equal(od_sim_state(failing), od_sim_state(twin), (size_t)od_plant_nx(plant) * sizeof y);
    assert_int_equal(od_sim_outputs(failing, &y), OD_OK);
    assert_true(y == (i < 3 ? 0 : 5 + i - 3));
  }
  // A failed start leaves the simulation not started.
  double bad[2] = {-1, 0};
  bool changed;
  assert_int_equal(od_sim_start(failing, 0, bad), OD_NOT_FINITE);
  assert_int_equal(od_sim_step(failing, 1e-3, u), OD_BAD_ARGUMENT);
  assert_int_equal(od_sim_sample(failing, NULL, NULL, &changed), OD_BAD_ARGUMENT);
  assert_int_equal(od_sim_outputs(failing, &y), OD_BAD_ARGUMENT);
  assert_int_equal(od_sim_start(failing, 0, u), OD_OK);
  od_sim_free(failing);
  od_sim_free(twin);
  od_plant_free(plant);
  od_machine_free(machine);
}

// Two brakes with different deflections and a controller whose sample fails while `c` is negative. A failed sample restores the losses of the
// switches of both: those that happened before, and those of brakes that release at the same instant, which are taken again later.
static const char braked[] =
    "gravity: [0, 0, 0]\n"
    "bodies: {a: {mass: 50 kg, inertia: 4}, b: {mass: 50 kg, inertia: 2}}\n"
    "joints: {A: {type: revolute, between: [ground, a]}, B: {type: revolute, between: [ground, b]}}\n"
    "oil: {density: 870 kg/m^3, law: constant, modulus: 1.4 GPa}\n"
    "inputs: {p: {unit: Pa, constant: 1 bar}, q: {unit: Pa, constant: 1 bar}, c: {unit: '1', constant: 4}}\n"
    "sources: {S: {pressure: p}, T: {pressure: q}}\n"
    "torques: {on_a: {joint: A, value: 300 N m}, on_b: {joint: B, value: -200 N m}}\n"
    "brakes:\n"
    "  first: {joint: A, at: S, holding: 800 N m, deflection: 4 deg, damping: 60 N m s/rad, engage: 20 bar, release: 35 bar}\n"
    "  second: {joint: B, at: T, holding: 400 N m, deflection: 8 deg, damping: 60 N m s/rad, engage: 20 bar, release: 35 bar}\n"
    "blocks:\n"
    "  root: {type: formula, inputs: {c: c}, formula: sqrt(c)}\n"
    "  held: {type: gain, input: root, gain: 1, sample: 10 ms}\n"
    "initial: {A.angle: 0, A.rate: 0, B.angle: 0, B.rate: 0}\n";

enum { LOSSES = 2 };
typedef struct losses {
  double of[LOSSES];
} losses;
static losses losses_at(od_sim *sim) {
  losses y;
  assert_int_equal(od_sim_outputs(sim, y.of), OD_OK);
  return y;
}

static void failed_samples_restore_losses(void **state) {
  od_machine *machine = machine_with(*state, braked, NULL);
  const int output[LOSSES] = {od_test_output(machine, "first.dissipated"),
                              od_test_output(machine, "second.dissipated")};
  od_plant *plant = NULL;
  assert_int_equal(od_machine_plant(machine, output, LOSSES, NULL, 0, &plant, NULL), OD_OK);
  od_sim *failing = od_sim_new(plant), *twin = od_sim_new(plant);
  const double low = 1e5, high = 50e5;
  double u[3] = {low, low, 4};
  assert_int_equal(od_sim_start(failing, 0, u), OD_OK);
  assert_int_equal(od_sim_start(twin, 0, u), OD_OK);
  losses last = losses_at(twin);
  bool changed;
  // The first brake releases at the third sample, the second one at the sixth; each sample first fails twice.
  for (int i = 1; i <= 8; i++) {
    u[0] = i >= 3 ? high : low, u[1] = i >= 6 ? high : low;
    const double bad[3] = {u[0], u[1], -1};
    for (int k = 0; k < 10; k++) {
      double before[3] = {i > 3 ? high : low, i > 6 ? high : low, 4};
      assert_int_equal(od_sim_step(failing, 1e-3, before), OD_OK);
      assert_int_equal(od_sim_step(twin, 1e-3, before), OD_OK);
    }
    losses before = losses_at(twin);
    assert_int_equal(od_sim_set_inputs(failing, bad), OD_OK);
    for (int k = 0; k < 2; k++) {
      assert_int_equal(od_sim_sample(failing, NULL, NULL, &changed), OD_NOT_FINITE);
      losses after = losses_at(failing);
      assert_memory_equal(&before, &after, sizeof after);
    }
    assert_int_equal(od_sim_set_inputs(failing, u), OD_OK);
    assert_int_equal(od_sim_set_inputs(twin, u), OD_OK);
    assert_int_equal(od_sim_sample(failing, NULL, NULL, &changed), OD_OK);
    assert_int_equal(od_sim_sample(twin, NULL, NULL, &changed), OD_OK);
    losses a = losses_at(failing), b = losses_at(twin);
    assert_memory_equal(&a, &b, sizeof a);
    // A release loses what the brake has stored.
    for (int n = 0; n < LOSSES; n++) assert_true(b.of[n] - before.of[n] > 0 ? i == 3 + 3 * n : i != 3 + 3 * n);
    for (int n = 0; n < LOSSES; n++) assert_true(b.of[n] >= last.of[n]);
    last = b;
  }
  assert_true(last.of[0] > 1e-3 && last.of[1] > 1e-3);
  od_sim_free(failing);
  od_sim_free(twin);
  od_plant_free(plant);
  od_machine_free(machine);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(failed_samples_restore_losses, machine_file_start, machine_file_end),
      cmocka_unit_test(jumps), cmocka_unit_test(rates_follow), cmocka_unit_test(observed),
      cmocka_unit_test_setup_teardown(failed_samples_change_nothing, machine_file_start, machine_file_end)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
