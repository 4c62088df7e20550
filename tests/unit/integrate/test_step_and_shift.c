// Steps with a small shift of the state afterward, which share an evaluation. Oracle: the step, and then od_sim_set(), which evaluates
// everything again; the difference must be of second order in the shift.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "support/test.h"
#include "oleodyn/sim.h"
#include "support/machines.h"

enum { NX = 3, NP = 1, STEPS = 20 };

// A pendulum on a joint with nonlinear friction, driven by a lag.
static const char text[] =
    "gravity: [0, -9.81]\n"
    "bodies: {rod: {mass: 2 kg, inertia: 0.1 kg m^2, centre: [0.4, 0], points: {P: [0, 0], Q: [0.8, 0]}}}\n"
    "ground: {points: {O: [0, 0]}}\n"
    "joints: {J: {type: revolute, between: [ground.O, rod.P], damping: 0.3 N m s}}\n"
    "inputs: {u: {unit: N, sine: {amplitude: 5 N, frequency: 0.5 Hz}}}\n"
    "blocks: {lag: {type: first-order, input: u, gain: 1, time_constant: 0.05 s}}\n"
    "forces: {push: {at: rod.Q, direction: [1, 0], frame: body, value: lag}}\n"
    "initial: {J.angle: 0.7 rad, J.rate: 1 rad/s}\n";

typedef struct errors {
  double state, rates, outputs, slopes,
      product;  // slopes: sum over all steps; product: of the transition over all of them
} errors;

static double largest(const double *a, const double *b, int n) {
  double most = 0;
  for (int i = 0; i < n; i++) most = fmax(most, fabs(a[i] - b[i]));
  return most;
}

static void multiply(const double *F, double *product) {
  double old[NX * NX];
  memcpy(old, product, sizeof old);
  for (int i = 0; i < NX; i++)
    for (int j = 0; j < NX; j++) {
      product[i * NX + j] = 0;
      for (int k = 0; k < NX; k++) product[i * NX + j] += F[i * NX + k] * old[k * NX + j];
    }
}

static errors compare(const od_plant *plant, const char *integrator, double size) {
  const double h = 0.01;
  double product[2][NX * NX] = {{1, 0, 0, 0, 1, 0, 0, 0, 1}, {1, 0, 0, 0, 1, 0, 0, 0, 1}}, part = NAN;
  errors e = {0};
  od_sim *sim[2] = {od_sim_new(plant), od_sim_new(plant)};
  for (int i = 0; i < 2; i++) {
    od_sim_set_integrator(sim[i], od_integrator_find(integrator));
    assert_int_equal(od_sim_start(sim[i], 0, (double[]){0}), OD_OK);
  }
  for (int step = 1; step <= STEPS; step++) {
    double u = 3 * sin(step), dx[NX], x[NX], F[2][NX * NX], G[2][NX * NP], y[2], hx[NX];
    for (int i = 0; i < NX; i++) dx[i] = (step % 2 ? size : -size) * (1 + i);
    assert_int_equal(od_sim_step_and_shift(sim[0], h, &u, dx, F[0], G[0], &part), OD_OK);
    assert_int_equal(od_sim_step_with_jacobians(sim[1], h, &u, F[1], NULL, NULL, G[1]), OD_OK);
    for (int i = 0; i < NX; i++) x[i] = od_sim_state(sim[1])[i] + dx[i];
    assert_int_equal(od_sim_set(sim[1], od_sim_time(sim[1]), x, &u), OD_OK);
    assert_true(od_sim_time(sim[0]) == od_sim_time(sim[1]));
    assert_int_equal(od_sim_outputs(sim[0], &y[0]), OD_OK);
    assert_int_equal(od_sim_output_jacobians(sim[0], hx, NULL, NULL), OD_OK);
    assert_int_equal(od_sim_outputs(sim[1], &y[1]), OD_OK);
    for (int i = 0; i < NX; i++) y[0] += part * hx[i] * dx[i];
    e.outputs = fmax(e.outputs, fabs(y[0] - y[1]));
    od_sim_end_shift(sim[0]);
    if (step % 5 == 0) {  // outputs of the state itself
      assert_int_equal(od_sim_outputs(sim[0], &y[0]), OD_OK);
      e.outputs = fmax(e.outputs, fabs(y[0] - y[1]));
    }
    e.state = fmax(e.state, largest(od_sim_state(sim[0]), od_sim_state(sim[1]), NX));
    e.rates = fmax(e.rates, largest(od_sim_rates(sim[0]), od_sim_rates(sim[1]), NX - 1));
    e.slopes += fmax(largest(F[0], F[1], NX * NX), largest(G[0], G[1], NX * NP));
    for (int i = 0; i < 2; i++) multiply(F[i], product[i]);
  }
  e.product = largest(product[0], product[1], NX * NX);
  assert_true(part == (strcmp(integrator, "trapezoid") == 0 ? 0.5 : 0));
  for (int i = 0; i < 2; i++) od_sim_free(sim[i]);
  return e;
}

static void second_order(const char *what, double error, double smaller) {
  print_message("%s: %.2g, with a tenth of the move %.2g\n", what, error, smaller);
  assert_true(error < 1e-4 && smaller > 0 && smaller < error / 50);
}

static void what_is_lost_is_of_second_order(void **state) {
  (void)state;
  od_machine *machine = od_test_machine_text(text);
  int output = od_test_output(machine, "rod.Q.y"), number = od_machine_number_find(machine, "rod.mass");
  od_plant *plant = NULL;
  assert_int_equal(od_machine_plant(machine, &output, 1, &number, 1, &plant, NULL), OD_OK);
  assert_int_equal(od_plant_nx(plant), NX);
  const errors a = compare(plant, "trapezoid", 1e-3), b = compare(plant, "trapezoid", 1e-4);
  second_order("states", a.state, b.state);
  second_order("rates", a.rates, b.rates);
  second_order("outputs", a.outputs, b.outputs);
  // Each step's transition has an error of first order; over several steps it cancels.
  print_message("slopes: %.2g, %.2g; their product %.2g, %.2g\n", a.slopes, b.slopes, a.product, b.product);
  assert_true(b.slopes < a.slopes / 9 && a.product < a.slopes / 4);
  // Other integrators take the step and then set the state.
  for (int i = 0; od_integrator_at(i); i++) {
    if (strcmp(od_integrator_at(i)->name, "trapezoid") == 0) continue;
    const errors none = compare(plant, od_integrator_at(i)->name, 1e-3);
    assert_true(none.state == 0 && none.rates == 0 && none.outputs < 1e-14 && none.slopes == 0);
  }
  od_plant_free(plant);
  od_machine_free(machine);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_lost_is_of_second_order)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
