// Derivatives of all outputs of a circuit with warm oil, with respect to the temperature and to every other state: reports whose laws contain the
// density, the viscosity or the leakage of the oil directly (pipes, long lines, tanks of oil, units), and the heat.
//
// Oracles: differences of sixth order of the outputs; for directions, sums of derivatives; and in closed form the energy in a pipe,
// rho L Q^2 / (2 A), whose relative change with the temperature is that of the density.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"
#include "hydraulics/circuit.h"
#include "integrate/sim_block.h"
#include "plant/model_plant.h"
#include "support/machines.h"

enum { MOST = 64, MOST_OUTPUTS = 400 };

static const char text[] =
    "gravity: [0, 0, 0]\n"
    "oil: {density: 870, law: constant, modulus: 1.4 GPa, smoothing: 1 bar, viscosity: 46 mm^2/s, hot_viscosity: 6.8 mm^2/s, temperature: 300 K, reference: 313.15 K,\n"
    "  expansion: 7e-4, thickening: 2e-8 1/Pa}\n"
    "bodies: {rotor: {mass: 10 kg, inertia: [0.1, 0.1, 0.1]}}\n"
    "joints: {J: {type: revolute, between: [ground, rotor], axis: [0, 0, 1]}}\n"
    "volumes: {A: {volume: 1 L}, B: {volume: 1 L}, C: {volume: 2 L}, R: {volume: 1 L}}\ntanks: {T: {pressure: 1 bar}}\n"
    "pipes: {hose: {between: [A, B], length: 2 m, diameter: 20 mm, friction: 0.03, compliance: 2e-13 m^2/Pa}}\n"
    "long_lines: {line: {between: [B, C], length: 10 m, diameter: 12 mm, sound: 1200 m/s, rest: 100 bar, modes: 3}}\n"
    "displacement_units:\n"
    "  unit: {joint: J, between: [C, R], displacement: 1e-5 m^3/rad, slip: 4e-9, jet: 0.05 mm^2, drag: 1e5, dry: 0.05, breakaway: 2 N m, slow: 0.5 rad/s}\n"
    "oil_tanks: {basin: {at: R, capacity: 100 L, area: 0.25 m^2, air: 1.2 bar, port: 5 cm^2}}\n"
    "throttles: {jet: {between: [A, T], area: 5 mm^2, diameter: 2 mm, reynolds: 500}}\n"
    "pumps: {pump: {from: T, to: A, flow: 30 L/min}}\n"
    "reservoirs: {tank: {volume: 40 L, conductance: 50 W/K, ambient: 290 K}}\n"
    "initial: {J.angle: 0.3 rad, J.rate: 20 rad/s, A.pressure: 120 bar, B.pressure: 110 bar, C.pressure: 90 bar, R.pressure: 3 bar,\n"
    "  hose.flow: 1e-4 m^3/s, line.flow: 2e-4 m^3/s, tank.temperature: 325 K}\nrun: {time: 1 s, step: 1 ms}\n";

static int output_of(const od_machine *machine, const char *name) {
  int i = od_machine_output_find(machine, name);
  if (i < 0) fail_msg("there is no output %s", name);
  return i;
}

// The derivative of every output with respect to state j, by differences. room: of the size of ny.
static void differences(od_sim *sim, const double *x0, int nx, int j, double h, int ny, double *slope) {
  static const double weight[] = {45, -9, 1};
  double x[MOST], y[MOST_OUTPUTS];
  for (int i = 0; i < ny; i++) slope[i] = 0;
  for (int k = 1; k <= 3; k++)
    for (int side = -1; side <= 1; side += 2) {
      memcpy(x, x0, (size_t)nx * sizeof *x);
      x[j] += side * k * h;
      assert_int_equal(od_sim_set(sim, 0, x, NULL), OD_OK);
      assert_int_equal(od_sim_outputs(sim, y), OD_OK);
      for (int i = 0; i < ny; i++) slope[i] += side * weight[k - 1] * y[i] / (60 * h);
    }
  assert_int_equal(od_sim_set(sim, 0, x0, NULL), OD_OK);
}

// Changes along a direction in which the temperature and all other states of the circuit change at the same time are sums over the derivatives.
static void check_directions(const od_plant *plant, od_sim *sim, const double *hx) {
  const od_model *m = od_model_plant_model(plant);
  double *w = (double *)od_model_plant_scalars(plant, od_sim_work(sim)), dc[MOST] = {0};
  int nx = od_plant_nx(plant), first = 2 * plant->nz, nc = nx - first, compared = 0;
  for (int i = 0; i < m->actuators; i++) w[m->layout.dlength + i] = w[m->layout.dspeed + i] = 0;
  for (int round = 0; round < 3; round++) {
    for (int j = 0; j < nc; j++) dc[j] = (round == 2 ? -3 : 2.5) * (j % 3 - 0.7 * round) * plant->scale[plant->nz + j];
    for (int i = 0; i < plant->ny; i++) {
      if (!od_output_is_of_circuit(m->output[i].kind)) continue;
      double sum = 0, size = 0;
      for (int j = 0; j < nc; j++) sum += hx[i * nx + first + j] * dc[j], size += fabs(hx[i * nx + first + j] * dc[j]);
      near(od_circuit_output_tangent(m, w, &m->output[i], dc, NULL), sum, 1e-12 * size + 1e-300);
      compared++;
    }
  }
  assert_true(compared > 100);
}

static void reports_of_warm_oil(void **state) {
  (void)state;
  od_machine *machine = od_test_machine_text(text);
  int ny = od_machine_output_count(machine), output[MOST_OUTPUTS];
  assert_true(ny <= MOST_OUTPUTS);
  for (int i = 0; i < ny; i++) output[i] = i;
  od_plant *plant = NULL;
  assert_int_equal(od_machine_plant(machine, output, ny, NULL, 0, &plant, NULL), OD_OK);
  int nx = od_plant_nx(plant), nz = plant->nz, warm = -1;
  od_sim *sim = od_sim_new(plant);
  assert_true(nx <= MOST);
  assert_int_equal(od_sim_start(sim, 0, NULL), OD_OK);
  double x[MOST], y[MOST_OUTPUTS], by_hand[MOST_OUTPUTS];
  double *hx = malloc((size_t)(ny * nx) * sizeof *hx);
  memcpy(x, od_sim_state(sim), (size_t)nx * sizeof *x);
  for (int j = 2 * nz; j < nx; j++) warm = x[j] == 325 ? j : warm;
  assert_true(warm >= 0);
  for (int j = 2 * nz; j < nx; j++)  // all modes of the line move
    if (x[j] == 0) x[j] = 0.03 * plant->scale[j - nz];
  assert_int_equal(od_sim_set(sim, 0, x, NULL), OD_OK);
  assert_int_equal(od_sim_outputs(sim, y), OD_OK);
  assert_int_equal(od_sim_output_jacobians(sim, hx, NULL, NULL), OD_OK);
  check_directions(plant, sim, hx);
  double worst = 0;
  for (int j = 0; j < nx; j++) {
    double size = j < 2 * nz ? 1 : fabs(x[j]), h = 1e-3 * size;
    differences(sim, x, nx, j, h, ny, by_hand);
    for (int i = 0; i < ny; i++) {
      double error = fabs(hx[i * nx + j] - by_hand[i]) * size, most = 1e-7 * (fabs(by_hand[i]) * size + fabs(y[i]));
      worst = fmax(worst, error / (most + 1e-300) * 1e-7);
      if (!(error <= most + 1e-9))
        fail_msg("%s by state %d: %.12g, differences %.12g", od_machine_output_name(machine, i), j, hx[i * nx + j],
                 by_hand[i]);
    }
  }
  print_message("%d outputs, %d states: worst error %.2g\n", ny, nx, worst);
  // The density acts on each of these reports directly.
  static const char *const direct[] = {"hose.energy", "hose.loss",     "hose.reynolds", "line.energy",
                                       "line.loss",   "line.reynolds", "unit.slip",     "basin.energy"};
  for (size_t k = 0; k < sizeof direct / sizeof *direct; k++) {
    int i = output_of(machine, direct[k]);
    if (!(fabs(hx[i * nx + warm]) > 1e-6 * fabs(y[i]))) fail_msg("%s does not depend on the temperature", direct[k]);
  }
  int stored = output_of(machine, "hose.energy");
  near_relative(hx[stored * nx + warm] / y[stored], -7e-4 / (1 + 7e-4 * (325 - 313.15)), 1e-12);
  free(hx);
  od_sim_free(sim);
  od_plant_free(plant);
  od_machine_free(machine);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(reports_of_warm_oil)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
