// The hydraulic circuit of a valid machine file: numbers, curves, friction, balance; and variants. Oracle: values by
// hand.
#include "support/test.h"

#include <math.h>

#include "support/machine_file.h"
#include "oleodyn/sim.h"

static const char crane[] =
    "machine: Crane\n"
    "gravity: [0, -9.81]\n"
    "ground: {points: {foot: [0, -1 m], post: [0, 1 m]}}\n"
    "bodies: {boom: {beam: {mass: 50 kg, length: 1 m}}}\n"
    "joints:\n"
    "  hinge: {type: revolute, between: [ground, boom.start],\n"
    "          friction: {law: coulomb, Fc: 5 N m, vs: 0.01 rad/s, viscous: 1 N m s/rad}}\n"
    "oil: {density: 0.869 g/cm^3, law: linear, kp: 1600 MPa, k0: 0.5}\n"
    "inputs:\n"
    "  u: {unit: V, sine: {amplitude: 10 V, frequency: 1 Hz}}\n"
    "  handle: {constant: 50 %}\n"
    "  speed: {unit: rad/s, constant: 1000 rpm}\n"
    "volumes: {P: {volume: 3.42 L}, A: {volume: 1 L}, B: {volume: 500 cm^3}}\n"
    "tanks: {T: {pressure: 1 bar}}\n"
    "sources: {S: {pressure: 200 bar}, S2: {pressure: 100 bar handle}}\n"
    "pumps: {pump: {to: P, from: T, flow: 10 cm^3/rev speed}, other: {to: P, flow: 6 L/min}}\n"
    "orifices:\n"
    "  bleed: {between: [P, T], area: 15 mm^2, discharge: 0.5}\n"
    "  throttle: {between: [S2, T], area: 15 mm^2, discharge: 0.6, opening: 2 handle}\n"
    "reliefs: {relief: {between: [P, T], set: 210 bar, slope: 1 (L/min)/bar}}\n"
    "checks: {check: {between: [A, B], area: 10 mm^2, discharge: 0.6, crack: 0.5 bar, full: 2 bar}}\n"
    "leaks: {seep: {between: [A, T], slope: 1e-13 m^3/(s Pa)}}\n"
    "valves:\n"
    "  valve:\n"
    "    command: u\n"
    "    time_constant: 20 ms\n"
    "    stroke: 10 V\n"
    "    area: 1.96 mm^2\n"
    "    discharge: 0.5\n"
    "    law: coefficient\n"
    "    full: 95\n"
    "    ports:\n"
    "      a: {between: [P, A], side: positive, curve: {degree: 2, points: [0, 40, 60, 95]}}\n"
    "      b: {between: [B, T], side: positive, curve: {degree: 2, points: [0, 55, 95], at: [0, 3 V, 10 V]},\n"
    "          overlap: 200 mV}\n"
    "      c: {between: [P, B], side: negative, curve: linear}\n"
    "      d: {between: [A, T], side: negative, curve: {table: [[0 V, 0], [5 V, 40], [10 V, 95]]}}\n"
    "  plain: {command: handle, stroke: 1, area: 1 mm^2, discharge: 0.6,\n"
    "          ports: {a: {between: [S, A], side: positive, curve: linear}}}\n"
    "cylinders:\n"
    "  lift: {between: [ground.foot, boom.end], chambers: [A, B], areas: [20 cm^2, 18 cm^2], closed: 1 m, stroke: 1 m,\n"
    "         dead: [0.1 L, 0 L], stops: {stiffness: 2e8 N/m},\n"
    "         friction: {law: brown-mcphee, Fc: 210 N, Fs: 830 N, vs: 0.0125 m/s, viscous: 330 N s/m}}\n"
    "  hold: {between: [ground.post, boom.end], chambers: [A, T], bore: 30 mm, rod: 20 mm, closed: 1 m, stroke: 1 m}\n"
    "initial: {hinge.angle: 0, P.pressure: 7.6 MPa, A.pressure: 10 bar, B.pressure: balance, valve.spool: 1 V,\n"
    "          plain.spool: 0}\n"
    "variants:\n"
    "  worn: {valves: {valve: {ports: {a: {curve: {points: [0, 30, 95]}}, c: {overlap: 1 V}}}}}\n"
    "  thin:\n"
    "    oil: {density: 800 kg/m^3}\n"
    "    inputs: {handle: 0.25}\n"
    "    initial: {A.pressure: 20 bar}\n"
    "    run: {time: 2 s}\n"
    "  free: {joints: {hinge: {friction: ~}}, leaks: ~}\n"
    "  2nd:\n";

static od_machine *variant_of_crane(void **state, const char *variant, const char *set) {
  return machine_with(*state, crane, &(od_load_options){.set = &set, .set_count = set != NULL, .variant = variant});
}

// --- The circuit --------------------------------------------------------------------------------------------------

static void test_oil_and_nodes(void **state) {
  od_machine *m = machine_from(*state, crane, NULL, NULL);
  check(m, "oil.density", 869, "kg/m3", "0.869 g/cm^3");
  check(m, "oil.smoothing", 1e4, "Pa", NULL);
  check(m, "oil.kp", 1.6e9, "Pa", "1600 MPa");
  check(m, "oil.k0", 0.5, "1", "0.5");
  check(m, "P.volume", 3.42e-3, "m3", "3.42 L");
  check(m, "B.volume", 5e-4, "m3", "500 cm^3");
  check(m, "T.pressure", 1e5, "Pa", "1 bar");
  check(m, "S.pressure", 2e7, "Pa", "200 bar");
  check(m, "S2.pressure", 1e7, "Pa", "100 bar");  // times an input
  od_machine_free(m);
}

static void test_flows(void **state) {
  od_machine *m = machine_from(*state, crane, NULL, NULL);
  check(m, "pump.flow", 1e-5 / (2 * 3.14159265358979323846), "m3/s/(rad/s)", "10 cm^3/rev");
  check(m, "other.flow", 1e-4, "m3/s", "6 L/min");
  check(m, "bleed.area", 1.5e-5, "m2", "15 mm^2");
  check(m, "bleed.discharge", 0.5, "1", "0.5");
  check(m, "bleed.opening", 1, "1", NULL);
  check(m, "throttle.opening", 2, "1", "2");
  check(m, "relief.set", 2.1e7, "Pa", "210 bar");
  check(m, "relief.slope", 1e-3 / 60 / 1e5, "m3/s/Pa", "1 (L/min)/bar");
  check(m, "check.crack", 5e4, "Pa", "0.5 bar");
  check(m, "check.full", 2e5, "Pa", "2 bar");
  check(m, "seep.slope", 1e-13, "m3/s/Pa", "1e-13 m^3/(s Pa)");
  od_machine_free(m);
}

// A pressure difference between two nodes, as an output and as the input of a block.
static void test_pressure_differences(void **state) {
  static const char text[] =
      "oil: {density: 870, law: constant, modulus: 1.4 GPa}\n"
      "volumes: {A: {volume: 1 L}, B: {volume: 1 L}}\n"
      "tanks: {T: {pressure: 1 bar}}\n"
      "leaks: {seep: {between: [A, B], slope: 1e-13 m^3/(s Pa)}}\n"
      "pressure_differences: {load: {between: [A, B]}, back: {between: [T, A]}}\n"
      "blocks: {twice: {type: gain, input: load.pressure, gain: 2}}\n"
      "initial: {A.pressure: 7 MPa, B.pressure: 5 MPa}\n";
  od_machine *m = machine_from(*state, text, NULL, NULL);
  const char *const names[] = {"load.pressure", "back.pressure", "twice"};
  const double want[] = {2e6, -6.9e6, 4e6};
  int outputs[3];
  double y[3];
  for (int i = 0; i < 3; i++) {
    assert_true((outputs[i] = od_machine_output_find(m, names[i])) >= 0);
    assert_string_equal(od_machine_output_unit(m, outputs[i]), "Pa");
  }
  od_plant *plant = NULL;
  assert_int_equal(od_machine_plant(m, outputs, 3, NULL, 0, &plant, NULL), OD_OK);
  od_sim *sim = od_sim_new(plant);
  assert_int_equal(od_sim_start(sim, 0, NULL), OD_OK);
  assert_int_equal(od_sim_outputs(sim, y), OD_OK);
  for (int i = 0; i < 3; i++) assert_true(fabs(y[i] - want[i]) < 1e-6);
  od_sim_free(sim);
  od_plant_free(plant);
  od_machine_free(m);
}

static void test_valve_and_curves(void **state) {
  od_machine *m = machine_from(*state, crane, NULL, NULL);
  check(m, "valve.time_constant", 0.02, "s", "20 ms");
  check(m, "valve.stroke", 10, "V", "10 V");
  check(m, "valve.area", 1.96e-6, "m2", "1.96 mm^2");
  check(m, "valve.discharge", 0.5, "1", "0.5");
  check(m, "valve.full", 95, "1", "95");
  check(m, "valve.dead_band", 0, "V", NULL);
  check(m, "valve.ports.a.overlap", 0, "V", NULL);
  check(m, "valve.ports.a.curve.degree", 2, "1", "2");
  check(m, "valve.ports.a.curve.at[1]", 10.0 / 3, "V", NULL);
  check(m, "valve.ports.a.curve.at[3]", 10, "V", NULL);
  check(m, "valve.ports.a.curve.points[2]", 60, "1", "60");
  check_absent(m, "valve.ports.a.curve.points[4]");
  check(m, "valve.ports.b.overlap", 0.2, "V", "200 mV");
  check(m, "valve.ports.b.curve.at[1]", 3, "V", "3 V");
  // A line: two points that depend on the stroke and the value of a full opening.
  check(m, "valve.ports.c.curve.at[0]", 0, "V", NULL);
  check(m, "valve.ports.c.curve.at[1]", 10, "V", NULL);
  check(m, "valve.ports.c.curve.points[0]", 0, "1", NULL);
  check(m, "valve.ports.c.curve.points[1]", 95, "1", NULL);
  check_absent(m, "valve.ports.c.curve.points[2]");
  check_absent(m, "valve.ports.c.curve.degree");
  // A table.
  check(m, "valve.ports.d.curve.at[1]", 5, "V", "5 V");
  check(m, "valve.ports.d.curve.points[1]", 40, "1", "40");
  check(m, "plain.full", 1, "1", NULL);
  check(m, "plain.time_constant", 0, "s", NULL);
  check(m, "plain.ports.a.curve.at[1]", 1, "1", NULL);
  od_machine_free(m);
}

static void test_cylinders_and_friction(void **state) {
  od_machine *m = machine_from(*state, crane, NULL, NULL);
  check(m, "lift.areas[0]", 2e-3, "m2", "20 cm^2");
  check(m, "lift.areas[1]", 1.8e-3, "m2", "18 cm^2");
  check(m, "lift.closed", 1, "m", "1 m");
  check(m, "lift.dead[0]", 1e-4, "m3", "0.1 L");
  check(m, "lift.leakage", 0, "m3/s/Pa", NULL);
  check(m, "lift.stops.stiffness", 2e8, "N/m", "2e8 N/m");
  check(m, "lift.stops.damping", 1, "s/m", NULL);
  check(m, "lift.friction.Fc", 210, "N", "210 N");
  check(m, "lift.friction.Fs", 830, "N", "830 N");
  check(m, "lift.friction.vs", 0.0125, "m/s", "0.0125 m/s");
  check(m, "lift.friction.viscous", 330, "N s/m", "330 N s/m");
  check(m, "hold.bore", 0.03, "m", "30 mm");
  check(m, "hold.rod", 0.02, "m", "20 mm");
  check(m, "hold.stops.stiffness", 1e8, "N/m", NULL);
  check_absent(m, "hold.areas[0]");
  check_absent(m, "hold.friction.Fc");
  check(m, "hinge.friction.Fc", 5, "N m", "5 N m");
  check(m, "hinge.friction.vs", 0.01, "rad/s", "0.01 rad/s");
  check(m, "hinge.friction.viscous", 1, "N m s/rad", "1 N m s/rad");
  check_absent(m, "hinge.friction.Fs");  // Coulomb's law has none
  od_machine_free(m);
}

// Every number of the circuit is a parameter of the model with its value; the degree of a curve is not a parameter.
static void test_parameters(void **state) {
  static const char *const paths[] = {
      "oil.density",        "oil.k0",
      "P.volume",           "S2.pressure",
      "pump.flow",          "bleed.area",
      "throttle.opening",   "relief.slope",
      "check.full",         "seep.slope",
      "valve.dead_band",    "valve.ports.a.curve.at[1]",
      "lift.stops.damping", "hold.rod",
      "lift.friction.vs",   "valve.ports.d.curve.points[2]",
      "hinge.friction.Fc",  "valve.ports.c.overlap",
  };
  enum { PATHS = sizeof paths / sizeof paths[0] };
  od_machine *m = machine_from(*state, crane, NULL, NULL);
  int numbers[PATHS];
  for (int i = 0; i < PATHS; i++) numbers[i] = od_machine_number_find(m, paths[i]);
  od_plant *plant = NULL;
  od_error error = {0};
  assert_int_equal(od_machine_plant(m, NULL, 0, numbers, PATHS, &plant, &error), OD_OK);
  assert_int_equal(plant->np, PATHS);
  od_plant_free(plant);
  int degree = od_machine_number_find(m, "valve.ports.a.curve.degree");
  assert_int_equal(od_machine_plant(m, NULL, 0, &degree, 1, &plant, &error), OD_BAD_ARGUMENT);
  od_machine_free(m);
}

static void test_set(void **state) {
  od_machine *m = machine_from(*state, crane, "valve.stroke=8 V", "valve.ports.c.curve.points[1]=90");
  check(m, "valve.ports.c.curve.at[1]", 8, "V", NULL);
  check(m, "valve.ports.a.curve.at[3]", 8, "V", NULL);
  check(m, "valve.ports.d.curve.at[2]", 10, "V", "10 V");
  check(m, "valve.ports.c.curve.points[1]", 90, "1", "90");
  od_machine_free(m);
  m = machine_from(*state, crane, "valve.ports.a.curve.degree=3", "pump.flow=5 cm^3/rev");
  check(m, "valve.ports.a.curve.degree", 3, "1", "3");
  od_machine_free(m);
  m = machine_from(*state, crane, "valve.time_constant=0", NULL);  // then its initial value has no effect
  check(m, "initial.valve.spool", 1, "V", "1 V");
  od_machine_free(m);
}

// The number is the result: the initial pressure of the machine, at rest.
static void check_balanced(const od_machine *m, const char *path, const char *given) {
  od_number n = number(m, path);
  assert_string_equal(n.given, given);
  assert_true(n.balanced);
  const int outputs[] = {od_machine_output_find(m, path + strlen("initial.")),
                         od_machine_output_find(m, "hinge.acceleration")};
  double u[8] = {0}, y[2];
  od_plant *plant = NULL;
  assert_int_equal(od_machine_plant(m, outputs, 2, NULL, 0, &plant, NULL), OD_OK);
  assert_true(od_machine_input_count(m) <= 8);
  od_machine_inputs(m, 0, u);
  od_sim *sim = od_sim_new(plant);
  assert_int_equal(od_sim_start(sim, 0, u), OD_OK);
  assert_int_equal(od_sim_outputs(sim, y), OD_OK);
  assert_true(fabs(y[0] - n.value) <= 1e-9 * n.value);
  assert_true(fabs(y[1]) < 1e-6);
  od_sim_free(sim);
  od_plant_free(plant);
}

static void test_balance(void **state) {
  od_machine *m = machine_from(*state, crane, NULL, NULL);
  check(m, "initial.P.pressure", 7.6e6, "Pa", "7.6 MPa");
  check_balanced(m, "initial.B.pressure", "balance");
  check(m, "initial.valve.spool", 1, "V", "1 V");
  od_machine_free(m);
  m = machine_from(*state, crane, "initial.B.pressure=balance from 30 bar", NULL);
  check_balanced(m, "initial.B.pressure", "balance from 30 bar");
  od_machine_free(m);
  m = machine_from(*state, crane, "initial.B.pressure=30 bar", NULL);  // no longer balanced
  check(m, "initial.B.pressure", 3e6, "Pa", "30 bar");
  assert_false(number(m, "initial.B.pressure").balanced);
  od_machine_free(m);
  m = machine_from(*state, crane, "initial.B.pressure=3 bar", "initial.A.pressure=balance");
  check_balanced(m, "initial.A.pressure", "balance");
  od_machine_free(m);
}

// --- Variants -----------------------------------------------------------------------------------------------------

static void test_variant_names(void **state) {
  static const char *const names[] = {"worn", "thin", "free", "2nd"};
  od_machine *m = machine_from(*state, crane, NULL, NULL);
  assert_null(od_machine_variant(m));
  assert_int_equal(od_machine_variant_count(m), 4);
  for (int i = 0; i < 4; i++) assert_string_equal(od_machine_variant_name(m, i), names[i]);
  assert_null(od_machine_variant_name(m, 4));
  assert_null(od_machine_variant_name(m, -1));
  od_machine_free(m);
  m = variant_of_crane(state, "2nd", NULL);
  assert_string_equal(od_machine_variant(m), "2nd");
  assert_string_equal(od_machine_title(m), "Crane");
  check(m, "oil.density", 869, "kg/m3", "0.869 g/cm^3");
  od_machine_free(m);
}

// Maps are merged down to the last one; a list is replaced as a whole.
static void test_variant_merges(void **state) {
  od_machine *m = variant_of_crane(state, "worn", NULL);
  check(m, "valve.ports.a.curve.degree", 2, "1", "2");
  check(m, "valve.ports.a.curve.points[1]", 30, "1", "30");
  check(m, "valve.ports.a.curve.at[1]", 5, "V", NULL);
  check_absent(m, "valve.ports.a.curve.points[3]");
  check(m, "valve.ports.b.curve.points[1]", 55, "1", "55");
  check(m, "valve.ports.c.overlap", 1, "V", "1 V");
  od_machine_free(m);
}

static void test_variant_of_sections(void **state) {
  od_machine *m = variant_of_crane(state, "thin", "oil.k0=0.6");
  check(m, "oil.density", 800, "kg/m3", "800 kg/m^3");
  check(m, "oil.kp", 1.6e9, "Pa", "1600 MPa");
  check(m, "oil.k0", 0.6, "1", "0.6");  // --set comes last
  check(m, "inputs.handle", 0.25, "1", "0.25");
  check(m, "initial.A.pressure", 2e6, "Pa", "20 bar");
  check(m, "initial.P.pressure", 7.6e6, "Pa", "7.6 MPa");
  assert_true(od_machine_run(m)->time == 2);
  od_machine_free(m);
  m = variant_of_crane(state, "thin", "oil.density=900");
  check(m, "oil.density", 900, "kg/m3", "900");
  od_machine_free(m);
}

static void test_variant_takes_away(void **state) {
  od_machine *m = variant_of_crane(state, "free", NULL);
  check_absent(m, "hinge.friction.Fc");
  check_absent(m, "seep.slope");
  check(m, "lift.friction.Fc", 210, "N", "210 N");
  od_machine_free(m);
}

// Aliases share their content, but a variant changes it in one place only.
static void test_variant_and_aliases(void **state) {
  static const char text[] =
      "bodies: {a: &bar {beam: &size {mass: 1 kg, length: 1 m}}, b: *bar, c: {beam: *size}}\n"
      "joints:\n"
      "  A: {type: revolute, between: [ground, a.start]}\n"
      "  B: {type: revolute, between: [a.end, b.start]}\n"
      "  C: {type: revolute, between: [b.end, c.start]}\n"
      "initial: {A.angle: 0, B.angle: 0, C.angle: 0}\n"
      "variants: {v: {bodies: {b: {beam: {mass: 2 kg}}}}, w: {bodies: {c: *bar, a: {beam: {length: 3 m}}}}}\n";
  od_machine *m = machine_with(*state, text, &(od_load_options){.variant = "v"});
  check(m, "a.beam.mass", 1, "kg", "1 kg");
  check(m, "b.beam.mass", 2, "kg", "2 kg");
  check(m, "b.beam.length", 1, "m", "1 m");
  check(m, "c.beam.mass", 1, "kg", "1 kg");
  od_machine_free(m);
  m = machine_with(*state, text, &(od_load_options){.variant = "w"});
  check(m, "a.beam.length", 3, "m", "3 m");
  check(m, "b.beam.length", 1, "m", "1 m");
  check(m, "c.beam.length", 1, "m", "1 m");
  od_machine_free(m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_oil_and_nodes),
      cmocka_unit_test(test_flows),
      cmocka_unit_test(test_pressure_differences),
      cmocka_unit_test(test_valve_and_curves),
      cmocka_unit_test(test_cylinders_and_friction),
      cmocka_unit_test(test_parameters),
      cmocka_unit_test(test_set),
      cmocka_unit_test(test_balance),
      cmocka_unit_test(test_variant_names),
      cmocka_unit_test(test_variant_merges),
      cmocka_unit_test(test_variant_of_sections),
      cmocka_unit_test(test_variant_takes_away),
      cmocka_unit_test(test_variant_and_aliases),
  };
  return cmocka_run_group_tests(tests, machine_file_start, machine_file_end);
}
