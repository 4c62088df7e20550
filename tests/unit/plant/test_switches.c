// Elements with modes.
// - The derivatives of a switch with respect to states and parameters: against differences of performed switches, over random
//   machines. They share the equations, but not the complex steps of the derivatives.
// - The time of a switch in a step: against closed forms.
// - Guards of tables: against their knots by hand.
// - The energy stored in an element and lost in a switch: against the energy balance of the machine.
// - A run with many switches: against CVODES, which finds them by its own root search and takes its own steps; and the order of
//   the error, which is one if switches happen at the end of steps, and two if they are located.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"
#include "plant/model_plant.h"
#include "support/machines.h"
#include "support/random_machine.h"
#include "support/table_error.h"

enum { MACHINES = 60, PARAMETERS = 10, MOST = 96 };

// ---- the map

// Performs the due switches at state x with parameters p.
static bool switch_from(od_sim *sim, const od_sim *before, size_t size, const double *x, const double *p) {
  bool changed;
  memcpy(sim, before, size);
  if (od_sim_set_with_parameters(sim, od_sim_time(before), x, od_sim_inputs(before), p) != OD_OK) return false;
  return od_sim_sample(sim, NULL, NULL, &changed) == OD_OK;
}

// One column of differences: entry j of x, or, from nx on, of the parameters.
typedef struct column {
  double of_state[MOST];
} column;
static bool differences(od_sim *sim, const od_sim *before, size_t size, int nx, const double *p, int j, column *c) {
  double side[2][MOST], x[MOST], q[PARAMETERS], h = 0;
  for (int s = 0; s < 2; s++) {
    memcpy(x, od_sim_state(before), (size_t)nx * sizeof *x);
    memcpy(q, p, sizeof q);
    double *moved = j < nx ? &x[j] : &q[j - nx];
    h = 1e-5 * fabs(*moved) + 1e-7;
    *moved += s ? h : -h;
    if (!switch_from(sim, before, size, x, q)) return false;
    memcpy(side[s], od_sim_state(sim), (size_t)nx * sizeof **side);
  }
  for (int i = 0; i < nx; i++) c->of_state[i] = (side[1][i] - side[0][i]) / (2 * h);
  return true;
}

static bool is_near(double a, double b, double size) {
  return fabs(a - b) <= 1e-5 * (fabs(a) + fabs(b)) + 1e-6 * size;
}

static int block_jumps;

// Returns the number of elements that switched; -1 if there is no such random machine.
static int check_machine(unsigned long long seed) {
  od_model *m = od_random_machine(seed, seed % 2, seed % 3 == 0, true, seed % 4 == 0);
  if (!m) return -1;
  assert_true(m->switchers > 0);
  od_dice dice = {seed};
  int parameter[PARAMETERS], jumps = 0;
  for (int i = 0; i < PARAMETERS;) {
    const od_instance *e = &m->instance[m->switcher[od_dice_pick(&dice, m->switchers)]];
    parameter[i] = i % 2 ? e->number + od_dice_pick(&dice, e->numbers) : od_dice_pick(&dice, m->numbers);
    if (!m->planar || strcmp(od_number_path(m, parameter[i]), "axis") != 0) i++;
  }
  od_plant *plant = NULL;
  assert_int_equal(od_model_plant(m, NULL, 0, parameter, PARAMETERS, &plant, NULL), OD_OK);
  size_t size = od_sim_size(plant);
  od_sim *sim = od_sim_new(plant), *before = malloc(size);
  int nx = od_plant_nx(plant), np = PARAMETERS;
  double x[MOST], p[PARAMETERS], map[MOST * MOST], by_parameters[MOST * PARAMETERS], margin;
  const double u[2] = {0.7, -0.4};
  assert_true(nx <= MOST);
  assert_int_equal(od_sim_start(sim, 0, u), OD_OK);
  memcpy(x, od_sim_state(sim), (size_t)nx * sizeof *x);
  // Pressures so far away that a switch is due.
  for (int i = 0; i < m->nodes; i++)
    if (m->node[i].state >= 0) x[2 * plant->nz + m->node[i].state] = od_dice_uniform(&dice, 1e5, 1e8);
  // And states of blocks, whose signals reach the thresholds of others.
  for (int i = 0; i < m->blocks; i++)
    for (int k = 0; k < m->block[i].states; k++) {
      bool mode = strcmp(od_block_state_name(&m->spec[i], k) ? od_block_state_name(&m->spec[i], k) : "", "mode") == 0;
      x[2 * plant->nz + m->block[i].state + k] = mode ? od_dice_pick(&dice, 2) : od_dice_uniform(&dice, -2, 2);
    }
  od_sim_parameters(sim, p);
  bool ready = od_sim_set(sim, 1.5e-3, x, u) == OD_OK && od_sim_margin(sim, &margin) == OD_OK && margin <= 0;
  if (ready) {
    bool changed;
    memcpy(before, sim, size);
    assert_int_equal(od_sim_sample(sim, map, by_parameters, &changed), OD_OK);
    assert_true(changed);
    for (int i = 0; i < nx; i++) jumps += od_sim_state(sim)[i] != x[i];
    for (int i = 2 * plant->nz + m->circuit_states; i < nx; i++) block_jumps += od_sim_state(sim)[i] != x[i];
    assert_true(jumps > 0);
    assert_int_equal(od_sim_margin(sim, &margin), OD_OK);
    // No switch is due afterward.
    assert_true(margin > 0);
    for (int j = 0; j < nx + np; j++) {
      column c;
      if (!differences(sim, before, size, nx, p, j, &c)) continue;
      for (int i = 0; i < nx; i++) {
        double exact = j < nx ? map[i * nx + j] : by_parameters[i * np + j - nx];
        if (!is_near(exact, c.of_state[i], 1))
          fail_msg("seed %llu: state %d by %d: %.9g, differences %.9g", seed, i, j, exact, c.of_state[i]);
      }
    }
  }
  od_sim_free(sim);
  free(before);
  od_plant_free(plant);
  od_model_free(m);
  return jumps;
}

static void maps_are_exact(void **state) {
  (void)state;
  int machines = 0, switches = 0;
  for (unsigned long long seed = 1; machines < MACHINES && seed < 400; seed++) {
    int jumps = check_machine(seed);
    machines += jumps > 0;
    switches += jumps > 0 ? jumps : 0;
  }
  print_message("%d machines, %d states jumped, %d of blocks\n", machines, switches, block_jumps);
  assert_int_equal(machines, MACHINES);
  assert_true(block_jumps > 5);
}

// ---- times of switches

// A pump into a closed volume: the pressure rises by B Q / V = 1.2e9 * 1e-5 / 1e-3 = 12 MPa/s, from 1 MPa to 4.0033 MPa in
// 0.250275 s. After that the valve opens by 1 - exp(-(t - t0)/T).
static const char pump[] =
    "machine: pump and unloading valve\noil: {density: 870, law: constant, modulus: 1.2 GPa}\n"
    "volumes: {P: {volume: 1 L}, Q: {volume: 1 L}}\ntanks: {T: {pressure: 1 bar}}\n"
    "pumps: {pump: {to: P, from: T, flow: 1e-5 m^3/s}}\n"
    "unloading_valves: {v: {between: [Q, T], pilot: P, open: 4.0033 MPa, close: 1 MPa, area: 1 mm^2, time_constant: 50 ms}}\n"
    "initial: {P.pressure: 1 MPa, Q.pressure: 1 bar}\nrun: {time: 0.4 s, step: 20 ms, outputs: [v.opening, v.mode]}\n";

static void opens_in_time(void **state) {
  (void)state;
  static const char *const names[] = {"v.opening", "v.mode"};
  static const char *const integrators[] = {"trapezoid", "tr-bdf2", "rk4", "cvodes"};
  double expected = 1 - exp(-(0.4 - 0.250275) / 0.05);
  for (size_t i = 0; i < sizeof integrators / sizeof *integrators; i++) {
    od_machine *m = od_test_machine_text(pump);
    double last[2], far = i == 0 ? 5e-3 : i == 1 ? 3e-3 : 1e-4;
    od_test_run_to(m, integrators[i], 0.4, 20e-3, names, 2, last);
    print_message("%s: opening %.6g, closed form %.6g\n", integrators[i], last[0], expected);
    assert_true(last[1] == 1);
    assert_true(fabs(last[0] - expected) < far);
    // Without location it would open at the end of the step, 9.7 ms late.
    assert_true(fabs(last[0] - expected) < 0.3 * (1 - expected) * 9.7e-3 / 0.05);
    od_machine_free(m);
  }
}

// ---- energy lost in a switch

// A slider of 10 kg with 0.05 m/s. The pressure falls by 100 bar/s, so that its brake engages at 0.1005 s, at 5.025 mm; it rises
// again and the brake releases at 0.22 s. With negligible slip this is an undamped oscillation with sqrt(k/m) = 100 1/s in between.
static const char slider[] =
    "machine: slider with a brake\noil: {density: 870, law: constant, modulus: 1.2 GPa}\n"
    "inputs: {p: {unit: Pa, ramps: {at: [[0 s, 30 bar], [0.2 s, 10 bar], [0.25 s, 35 bar]]}}}\n"
    "bodies: {block: {mass: 10 kg, inertia: 1}}\n"
    "joints: {rail: {type: prismatic, between: [ground, block.centre], axis: [1, 0]}}\n"
    "sources: {S: {pressure: p}}\n"
    "brakes: {b: {joint: rail, at: S, holding: 1e6 N, deflection: 10 m, engage: 19.95 bar, release: 20 bar}}\n"
    "initial: {rail.position: 0 m, rail.rate: 0.05 m/s}\n"
    "run: {time: 0.3 s, step: 1 ms, outputs: [rail.position, rail.rate]}\n";

static void brakes_and_loses(void **state) {
  (void)state;
  static const char *const names[] = {"rail.position", "rail.rate", "b.anchor", "b.dissipated", "energy.balance"};
  static const char *const integrators[] = {"trapezoid", "tr-bdf2", "rk4", "cvodes"};
  double phase = 100 * (0.22 - 0.1005), rate = 0.05 * cos(phase), stretch = 0.0005 * sin(phase);
  double position = 0.005025 + stretch + rate * (0.3 - 0.22), lost = 0.5 * 1e5 * stretch * stretch;
  for (size_t i = 0; i < sizeof integrators / sizeof *integrators; i++) {
    od_machine *m = od_test_machine_text(slider);
    double last[5];
    od_test_run_to(m, integrators[i], 0.3, 1e-4, names, 5, last);
    print_message("%s: %.7g m, %.7g m/s, %.5g J lost; closed form %.7g, %.7g, %.5g\n", integrators[i], last[0], last[1],
                  last[3], position, rate, lost);
    assert_true(fabs(last[0] - position) < 1e-6);
    assert_true(fabs(last[1] - rate) < 1e-5);
    assert_true(fabs(last[2] - 0.005025) < 1e-6);
    assert_true(fabs(last[3] - lost) < 1e-3 * lost);
    assert_true(fabs(last[4]) < 1e-4 * lost);
    od_machine_free(m);
  }
}

// ---- a machine with many switches

static od_table *run_charging(const od_machine *m, const char *integrator, double step, int every, bool adaptive) {
  const od_run_defaults *file = od_machine_run(m);
  int outputs[] = {od_test_output(m, "P.pressure"), od_test_output(m, "A.pressure"), od_test_output(m, "unloader.flow"),
                   od_test_output(m, "shaft.angle"), od_test_output(m, "shaft.rate")};
  const od_run_options options = {.time = file->time,
                                  .step = step,
                                  .every = every,
                                  .integrator = integrator,
                                  .adaptive = adaptive,
                                  .outputs = outputs,
                                  .output_count = 5};
  od_table *table = NULL;
  od_error err = {0};
  if (od_run(m, &options, &table, NULL, &err) != OD_OK) fail_msg("%s", err.text);
  return table;
}

static void agrees_with_cvodes(void **state) {
  (void)state;
  od_machine *m = od_test_machine("cases/charging/machine.yaml", NULL);
  od_table *reference = run_charging(m, "cvodes", 10e-3, 1, false), *table;
  double error[2];
  for (int i = 0; i < 2; i++) {
    table = run_charging(m, "tr-bdf2", 400e-6 / (1 << i), 25 << i, false);
    error[i] = table_error(table, reference);
    od_table_free(table);
  }
  table = run_charging(m, "tr-bdf2", 10e-3, 1, true);
  double adaptive = table_error(table, reference);
  print_message("error as a part of the range: %.3g at 400 us, %.3g at 200 us, %.3g adaptive\n", error[0], error[1],
                adaptive);
  assert_true(error[1] < 1e-3);
  assert_true(error[0] / error[1] > 3);  // second order; 2 if switches happen at the end of steps
  assert_true(adaptive < 3e-3);
  od_table_free(table);
  od_table_free(reference);
  od_machine_free(m);
}

// Guards of tables: the position on the scale of knots, where knot k has the value k, linear between them and beyond both ends.
static void places_on_scales(void **state) {
  (void)state;
  const char *text =
      "bodies: {mass: {point: {mass: 1 kg}}}\ngravity: [0, 0, 0]\n"
      "joints: {rail: {type: prismatic, between: [ground, mass], axis: [1, 0, 0]}}\n"
      "inputs: {u: {unit: 1, constant: 1}, v: {unit: 1, constant: 0.25}}\n"
      "blocks:\n"
      "  one: {type: table, input: u, at: [1, 2, 4, 5], values: [0, 5, 7, 9]}\n"
      "  two: {type: table-2d, row: u, column: v, at_row: [-1, 0, 3], at_column: [0, 1], values: [[1, 2], [3, 4], [5, 6]]}\n"
      "initial: {rail.position: 0 m, rail.rate: 0 m/s}\nrun: {time: 1 s, step: 1 ms}\n";
  // u and v; the positions on the scales of the table, of the rows and of the columns.
  static const double point[][5] = {{0, 0.25, -1, 1, 0.25},       {1, 0.5, 0, 4.0 / 3, 0.5},   {1.5, 1, 0.5, 1.5, 1},
                                    {2, -1, 1, 5.0 / 3, -1},      {3.5, 0, 1.75, 13.0 / 6, 0}, {4.5, 3, 2.5, 2.5, 3},
                                    {7, 0.25, 5, 10.0 / 3, 0.25}, {-2, 0, -3, -1, 0}};
  od_test_run run = od_test_begin(od_test_machine_text(text), "rail.position", NULL);
  assert_int_equal(od_plant_guards(run.plant), 3);
  assert_int_equal(run.plant->scales, 3);
  for (size_t i = 0; i < sizeof point / sizeof *point; i++) {
    double x[2] = {0}, guard[3];
    assert_int_equal(od_sim_set(run.sim, 0, x, point[i]), OD_OK);
    assert_int_equal(od_sim_guards(run.sim, guard), OD_OK);
    for (int k = 0; k < 3; k++) near(guard[k], point[i][2 + k], 1e-12);
  }
  assert_true(run.plant->scale_knots[0] == 4 && run.plant->scale_knots[1] == 3 && run.plant->scale_knots[2] == 2);
  od_test_end(&run);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(maps_are_exact), cmocka_unit_test(opens_in_time),
                                     cmocka_unit_test(brakes_and_loses), cmocka_unit_test(agrees_with_cvodes),
                                     cmocka_unit_test(places_on_scales)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
