// Constants and arithmetic in numbers: values, units, --set, variants, templates; and constants as free parameters.
// Oracles: values by hand; for derivatives, differences of sixth order through whole steps of machines loaded with other
// constants.
#include "support/test.h"

#include <math.h>

#include "machine/machine.h"
#include "oleodyn/sim.h"
#include "support/machine_file.h"

static const double pi = 3.14159265358979323846;

static const char machine[] =
    "constants:\n"
    "  area: pi/4 * bore^2\n"  // before its definition
    "  bore: 5 * e + 3 mm\n"
    "  e: 10 mm\n"
    "  ea: 2 mm\n"
    "  n: 3\n"
    "  m0: 2 kg\n"
    "  weight: m0 * 9.81 m/s^2\n"
    "  c: 20 N s/m\n"
    "bodies:\n"
    "  b: {mass: n * m0}\n"
    "  arm: {mass: 1 kg, centre: [e - ea, sqrt(area), -e], inertia: m0 * e^2}\n"
    "joints:\n"
    "  s: {type: prismatic, between: [ground, b], axis: [1, 0, 0], stiffness: weight / e, damping: c}\n"
    "  r: {type: revolute, between: [b, arm], stiffness: \"2 N * e / 1 rad\"}\n"
    "inputs: {u: 3 * weight}\n"
    "forces:\n"
    "  f: {at: b, value: weight, direction: [1, 0]}\n"
    "  g: {at: b, value: 2 * n * u, direction: [1, 0]}\n"
    "initial: {s.position: 0.3 m, s.rate: 1 m/s, r.angle: about pi/6, r.rate: 2 rad/s}\n"
    "run: {time: 2 s, step: 1 ms / 2}\n"
    "variants: {large: {constants: {e: 20 mm}}, held: {inputs: {u: 58.86 N}}}\n";

static void test_values(void **state) {
  od_machine *m = machine_with(*state, machine, NULL);
  check(m, "constants.bore", 0.053, "m", "5 * e + 3 mm");
  check(m, "constants.area", pi / 4 * 0.053 * 0.053, "m2", "pi/4 * bore^2");
  check(m, "constants.n", 3, "1", "3");
  check(m, "b.mass", 6, "kg", "n * m0");
  check(m, "arm.centre[0]", 0.008, "m", "e - ea");
  check(m, "arm.centre[1]", sqrt(pi / 4) * 0.053, "m", "sqrt(area)");
  check(m, "arm.centre[2]", -0.01, "m", "-e");
  check(m, "s.stiffness", 1962, "N/m", "weight / e");
  check(m, "r.stiffness", 0.02, "N m/rad", "2 N * e / 1 rad");
  check(m, "inputs.u", 58.86, "N", "3 * weight");
  assert_string_equal(od_machine_input_unit(m, 0), "N");
  check(m, "f.value", 19.62, "N", "weight");
  assert_true(number(m, "g.value").value == 6);
  check(m, "initial.r.angle", pi / 6, "rad", "about pi/6");
  check(m, "run.step", 5e-4, "s", "1 ms / 2");
  od_machine_free(m);
}

static void test_set_and_variants(void **state) {
  od_machine *m = machine_from(*state, machine, "constants.e=20 mm", "b.mass=m0 / 4");
  assert_true(fabs(number(m, "constants.bore").value - 0.103) < 1e-15);
  assert_true(number(m, "b.mass").value == 0.5);
  od_machine_free(m);
  m = machine_with(*state, machine, &(od_load_options){.variant = "large"});
  assert_true(fabs(number(m, "constants.bore").value - 0.103) < 1e-15);
  od_machine_free(m);
}

// In a template its own parameters and constants have priority over those of the file.
static void test_in_templates(void **state) {
  static const char text[] =
      "constants: {m: 7 kg, k: 3 kg}\n"
      "templates:\n"
      "  part:\n"
      "    parameters: {m: , size: 1 m}\n"
      "    constants: {half: m / 2, edge: size - 0.1 m}\n"
      "    bodies: {b: {mass: half + k, centre: [edge, $size]}}\n"
      "    joints: {j: {type: prismatic, between: [ground, b], axis: [1, 0, 0]}}\n"
      "    initial: {j.position: 0 m}\n"
      "instances: {one: {template: part, m: 2 kg}, two: {template: part, m: m + 1 kg, size: 2 m}}\n"
      "bodies: {}\n";
  od_machine *m = machine_with(*state, text, NULL);
  check(m, "one.b.mass", 4, "kg", "half + k");
  check(m, "two.b.mass", 7, "kg", "half + k");  // (7 + 1) / 2 + 3: arguments are evaluated outside the template
  check(m, "two.m", 8, "kg", "m + 1 kg");
  check(m, "two.b.centre[0]", 1.9, "m", "edge");
  check(m, "constants.two.half", 4, "kg", "m / 2");
  od_machine_free(m);
  m = machine_from(*state, text, "one.m=6 kg", "constants.two.half=1 kg");
  assert_true(number(m, "one.b.mass").value == 6 && number(m, "two.b.mass").value == 4);
  od_machine_free(m);
}

// A parameter that is an expression is evaluated among the numbers of an element, which must stay contiguous.
static void test_expressions_for_parameters(void **state) {
  static const char text[] =
      "constants: {unit: 50 kg}\n"
      "templates:\n"
      "  part:\n"
      "    parameters: {m: , at: , size: at / 2}\n"
      "    bodies: {b: {mass: m, centre: [at, size], inertia: m * size^2}}\n"
      "    joints: {j: {type: prismatic, between: [ground, b], axis: [1, 0, 0]}}\n"
      "    initial: {j.position: at}\n"
      "instances: {one: {template: part, m: unit, at: 1 m + 1 m}, two: {template: part, m: 2 * 150 kg, at: 4 m}}\n"
      "bodies: {}\n";
  od_machine *m = machine_with(*state, text, NULL);
  check(m, "one.b.mass", 50, "kg", "m");
  check(m, "one.b.centre[0]", 2, "m", "at");
  check(m, "one.b.centre[1]", 1, "m", "size");
  check(m, "two.b.mass", 300, "kg", "m");
  check(m, "two.b.inertia", 1200, "kg m2", "m * size^2");
  check(m, "two.m", 300, "kg", "2 * 150 kg");
  od_machine_free(m);
}

// --- Constants as parameters --------------------------------------------------------------------------------------

enum { STEPS = 3 };

static int all_outputs(const od_machine *m, int *list) {
  static const char *const names[] = {"s.position", "s.acceleration", "r.angle", "r.acceleration", "energy.kinetic"};
  for (int i = 0; i < 5; i++) assert_true((list[i] = od_machine_output_find(m, names[i])) >= 0);
  return 5;
}

static od_plant *plant_of(const od_machine *m, const char *const *paths, int count) {
  int list[8], numbers[8], outputs = all_outputs(m, list);
  od_plant *plant = NULL;
  od_error err = {0};
  for (int i = 0; i < count; i++) assert_true((numbers[i] = od_machine_number_find(m, paths[i])) >= 0);
  od_status status = od_machine_plant(m, list, outputs, numbers, count, &plant, &err);
  if (status != OD_OK) print_message("%s\n", err.text);
  assert_int_equal(status, OD_OK);
  return plant;
}

// States after some steps and outputs there, from the machine's own start, with these parameters.
static void run(const od_plant *plant, const double *p, double *x, double *y) {
  od_sim *sim = od_sim_new(plant);
  const double u = 58.86;
  assert_int_equal(od_sim_start(sim, 0, &u), OD_OK);
  if (p) assert_int_equal(od_sim_set_parameters(sim, p), OD_OK);
  for (int i = 0; i < STEPS; i++) assert_int_equal(od_sim_step(sim, 1e-2, &u), OD_OK);
  memcpy(x, od_sim_state(sim), (size_t)od_plant_nx(plant) * sizeof *x);
  assert_int_equal(od_sim_outputs(sim, y), OD_OK);
  od_sim_free(sim);
}

// A plant with other values of constants equals the plant of a machine loaded with these values, to round-off.
static void test_free_constants(void **state) {
  static const char *const free_ones[] = {"constants.e", "constants.m0", "s.free"};
  const od_load_options held = {.variant = "held"};
  od_machine *m = machine_with(*state, machine, &held);
  od_plant *plant = plant_of(m, free_ones, 3);
  double x[16], y[8], other_x[16], other_y[8], p[3] = {0.013, 2.5, 0};
  run(plant, p, x, y);
  const char *const set[] = {"constants.e=13 mm", "constants.m0=2.5 kg"};
  od_machine *other = machine_with(*state, machine, &(od_load_options){.variant = "held", .set = set, .set_count = 2});
  od_plant *its = plant_of(other, NULL, 0);
  run(its, NULL, other_x, other_y);
  for (int i = 0; i < od_plant_nx(plant); i++) assert_true(fabs(x[i] - other_x[i]) <= 1e-13 * (1 + fabs(x[i])));
  for (int i = 0; i < 5; i++) assert_true(fabs(y[i] - other_y[i]) <= 1e-11 * (1 + fabs(y[i])));
  od_plant_free(plant);
  od_plant_free(its);
  od_machine_free(m);
  od_machine_free(other);
}

// One step from a state in motion: the new state, and the outputs there.
static void step_with(const od_plant *plant, const double *p, double *x, double *y) {
  od_sim *sim = od_sim_new(plant);
  const double u = 58.86;
  assert_int_equal(od_sim_start(sim, 0, &u), OD_OK);
  assert_int_equal(od_sim_set_parameters(sim, p), OD_OK);
  assert_int_equal(od_sim_step(sim, 1e-2, &u), OD_OK);
  memcpy(x, od_sim_state(sim), (size_t)od_plant_nx(plant) * sizeof *x);
  if (y) assert_int_equal(od_sim_outputs(sim, y), OD_OK);
  od_sim_free(sim);
}

static void outputs_with(const od_plant *plant, const double *x, const double *p, double *y) {
  od_sim *sim = od_sim_new(plant);
  const double u = 58.86;
  assert_int_equal(od_sim_start(sim, 0, &u), OD_OK);
  assert_int_equal(od_sim_set_with_parameters(sim, 0, x, &u, p), OD_OK);
  assert_int_equal(od_sim_outputs(sim, y), OD_OK);
  od_sim_free(sim);
}

static void check_column(const char *what, const double *exact, int stride, const double stencil[6][8], double h,
                         int rows) {
  static const double weight[6] = {-1, 9, -45, 45, -9, 1};
  for (int i = 0; i < rows; i++) {
    double sum = 0;
    for (int k = 0; k < 6; k++) sum += weight[k] * stencil[k][i];
    double difference = sum / (60 * h), found = exact[i * stride];
    if (!(fabs(found - difference) <= 1e-8 * (1 + fabs(difference))))
      fail_msg("%s, row %d: %.12g, by differences %.12g", what, i, found, difference);
  }
}

static void test_derivatives(void **state) {
  static const char *const free_ones[] = {"constants.e", "constants.m0", "s.free", "constants.c"};
  static const double where[6] = {-3, -2, -1, 1, 2, 3};
  enum { NP = 4 };
  od_machine *m = machine_with(*state, machine, &(od_load_options){.variant = "held"});
  od_plant *plant = plant_of(m, free_ones, NP);
  int nx = od_plant_nx(plant), ny = plant->ny;
  assert_true(nx == 4 && ny == 5 && plant->np == NP && plant->outputs_of_rates);
  const double p[NP] = {0.011, 2.2, 0.01, 25}, u = 58.86;
  double Gp[4 * NP], hp[5 * NP], x[8], y[8], states[6][8], values[6][8], got[NP];
  od_sim *sim = od_sim_new(plant);
  assert_int_equal(od_sim_start(sim, 0, &u), OD_OK);
  od_sim_parameters(sim, got);
  assert_true(got[0] == 0.01 && got[1] == 2 && got[2] == 0 && got[3] == 20);
  assert_int_equal(od_sim_set_parameters(sim, p), OD_OK);
  assert_int_equal(od_sim_step_with_jacobians(sim, 1e-2, &u, NULL, NULL, NULL, Gp), OD_OK);
  memcpy(x, od_sim_state(sim), (size_t)nx * sizeof *x);
  assert_int_equal(od_sim_output_jacobians(sim, NULL, NULL, hp), OD_OK);
  assert_int_equal(od_sim_outputs(sim, y), OD_OK);
  for (int j = 0; j < NP; j++) {
    double h = 1e-3 * p[j];
    for (int k = 0; k < 6; k++) {
      double q[NP];
      memcpy(q, p, sizeof q);
      q[j] += where[k] * h;
      step_with(plant, q, states[k], NULL);
      outputs_with(plant, x, q, values[k]);
    }
    check_column("the new state", Gp + j, NP, (const double(*)[8])states, h, nx);
    check_column("outputs", hp + j, NP, (const double(*)[8])values, h, ny);
  }
  od_sim_free(sim);
  od_plant_free(plant);
  od_machine_free(m);
}

static void check_refused(const od_machine *m, const char *path, const char *says) {
  int number_index = od_machine_number_find(m, path);
  od_plant *plant = NULL;
  od_error err = {0};
  assert_true(number_index >= 0);
  assert_int_equal(od_machine_plant(m, NULL, 0, &number_index, 1, &plant, &err), OD_BAD_ARGUMENT);
  assert_string_equal(err.text, says);
}

static void test_refused(void **state) {
  od_machine *m = machine_with(*state, machine, NULL);
  check_refused(m, "b.mass",
                "'b.mass' cannot be a parameter, because this number follows 'constants.n'; use 'constants.n' instead");
  check_refused(
      m, "constants.bore",
      "'constants.bore' cannot be a parameter, because this number follows 'constants.e'; use 'constants.e' instead");
  check_refused(
      m, "constants.m0",
      "'constants.m0' cannot be a parameter: this number determines 'inputs.u', which is not a number of the model; choose another number");
  check_refused(m, "run.step",
                "'run.step' cannot be a parameter: the model does not depend on this number; choose another number");
  od_machine_free(m);
}

// Frequencies in Hz are converted to rad/s (factor 2 pi) everywhere, also if they depend on a constant.
static void test_frequencies(void **state) {
  static const char text[] =
      "constants: {f: 30 Hz, w: 100 rad/s}\n"
      "inputs: {u: {sine: {amplitude: 1, frequency: 60 rpm}}, v: {sine: {amplitude: 1, frequency: 12 rad/s}}}\n"
      "blocks:\n"
      "  a: {type: second-order, input: u, damping: 0.3, frequency: 30 Hz}\n"
      "  b: {type: second-order, input: u, damping: 0.3, frequency: f / 2}\n"
      "  c: {type: second-order, input: u, damping: 0.3, frequency: w}\n"
      "  d: {type: notch, input: u, damping: [0.1, 0.5], frequency: 0.01 kHz}\n";
  od_machine *m = machine_with(*state, text, NULL);
  assert_true(fabs(number(m, "inputs.u.sine.frequency").value - 1) < 1e-15);
  assert_true(fabs(number(m, "inputs.v.sine.frequency").value - 6 / pi) < 1e-15);
  assert_true(fabs(number(m, "a.frequency").value - 60 * pi) < 1e-12);
  assert_true(fabs(number(m, "b.frequency").value - 30 * pi) < 1e-12);
  assert_true(fabs(number(m, "c.frequency").value - 100) < 1e-12);
  assert_true(fabs(number(m, "d.frequency").value - 20 * pi) < 1e-12);
  od_machine_free(m);
  m = machine_from(*state, text, "constants.f=20 rad/s", "a.frequency=2 * 7 Hz");
  assert_true(fabs(number(m, "a.frequency").value - 28 * pi) < 1e-12);
  assert_true(fabs(number(m, "b.frequency").value - 10) < 1e-12);
  od_machine_free(m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_values, machine_file_start, machine_file_end),
      cmocka_unit_test_setup_teardown(test_set_and_variants, machine_file_start, machine_file_end),
      cmocka_unit_test_setup_teardown(test_in_templates, machine_file_start, machine_file_end),
      cmocka_unit_test_setup_teardown(test_expressions_for_parameters, machine_file_start, machine_file_end),
      cmocka_unit_test_setup_teardown(test_free_constants, machine_file_start, machine_file_end),
      cmocka_unit_test_setup_teardown(test_derivatives, machine_file_start, machine_file_end),
      cmocka_unit_test_setup_teardown(test_frequencies, machine_file_start, machine_file_end),
      cmocka_unit_test_setup_teardown(test_refused, machine_file_start, machine_file_end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
