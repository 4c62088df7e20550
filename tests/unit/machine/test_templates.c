// Templates and includes. Oracle: the same machine without templates, bit by bit.
#include "support/test.h"

#include <math.h>
#include <sys/stat.h>

#include "machine/machine.h"
#include "oleodyn/sim.h"
#include "support/machine_file.h"

// --- Comparison of two machines -----------------------------------------------------------------------------------

#define FRAME                                                                  \
  "machine: two axes\n"                                                        \
  "oil: {law: constant, density: 870 kg/m^3, modulus: 1.2 GPa}\n"              \
  "bodies: {m1: {mass: 100 kg}, m2: {mass: 200 kg}}\n"                         \
  "joints:\n"                                                                  \
  "  s1: {type: prismatic, between: [ground, m1], axis: [1, 0, 0]}\n"          \
  "  s2: {type: prismatic, between: [ground, m2], axis: [0, 1, 0]}\n"          \
  "inputs: {lever: {unit: V, constant: 3 V}, u2: {unit: V, constant: -2 V}}\n" \
  "sources: {P: {pressure: 100 bar}}\n"                                        \
  "tanks: {T: {pressure: 1 bar}}\n"

static const char templates[] =
    "templates:\n"
    "  section:\n"
    "    parameters: {area: 2 mm^2, command: , P: P, push: 20 cm^2, ring: $push, body: , gain: 1, ports: [a, b]}\n"
    "    volumes: {A: {volume: 1 L}, B: {volume: 1 L}}\n"
    "    blocks:\n"
    "      lever: {type: gain, input: $command, gain: $gain, unit: V}\n"
    "      error: {type: sum, inputs: [lever, ram.length], weights: [1, 0.5 V/m], unit: V}\n"
    "    valves:\n"
    "      valve:\n"
    "        command: error\n"
    "        stroke: 10 V\n"
    "        area: $area\n"
    "        discharge: 0.6\n"
    "        time_constant: 20 ms\n"
    "        ports:\n"
    "          a: {between: [$P, A], side: positive, curve: linear}\n"
    "          b: {between: [B, T], side: positive, curve: linear}\n"
    "          c: {between: [$P, B], side: negative, curve: linear}\n"
    "          d: {between: [A, T], side: negative, curve: linear}\n"
    "    forces: {pull: {at: $body, value: \"2 N/V ${command}\", direction: [1, 1]}}\n"
    "    instances: {seal: {template: seep, of: A}}\n"
    "    cylinders:\n"
    "      ram: {between: [ground, $body], chambers: [A, B], areas: [$push, $ring], closed: 0.1 m, stroke: 2 m}\n"
    "    initial: {A.pressure: 5 MPa, B.pressure: 4 MPa}\n"
    "  seep:\n"
    "    parameters: {of: }\n"
    "    leaks: {gap: {between: [$of, B], slope: 1e-13 m^3/(s Pa)}}\n";

static const char instances[] =
    "instances:\n"
    "  boom: {template: section, command: lever, body: m1}\n"
    "  stick: {template: section, command: u2, body: m2, area: 1 mm^2, ring: 10 cm^2, gain: 0.5}\n"
    "initial: {s1.position: 1 m, s2.position: 1 m}\n";

// The same without templates, with '_' instead of the dots.
static const char by_hand[] = FRAME
    "volumes: {boom_A: {volume: 1 L}, boom_B: {volume: 1 L}, stick_A: {volume: 1 L}, stick_B: {volume: 1 L}}\n"
    "blocks:\n"
    "  boom_lever: {type: gain, input: lever, gain: 1, unit: V}\n"
    "  boom_error: {type: sum, inputs: [boom_lever, boom_ram.length], weights: [1, 0.5 V/m], unit: V}\n"
    "  stick_lever: {type: gain, input: u2, gain: 0.5, unit: V}\n"
    "  stick_error: {type: sum, inputs: [stick_lever, stick_ram.length], weights: [1, 0.5 V/m], unit: V}\n"
    "valves:\n"
    "  boom_valve:\n"
    "    command: boom_error\n"
    "    stroke: 10 V\n"
    "    area: 2 mm^2\n"
    "    discharge: 0.6\n"
    "    time_constant: 20 ms\n"
    "    ports:\n"
    "      a: {between: [P, boom_A], side: positive, curve: linear}\n"
    "      b: {between: [boom_B, T], side: positive, curve: linear}\n"
    "      c: {between: [P, boom_B], side: negative, curve: linear}\n"
    "      d: {between: [boom_A, T], side: negative, curve: linear}\n"
    "  stick_valve:\n"
    "    command: stick_error\n"
    "    stroke: 10 V\n"
    "    area: 1 mm^2\n"
    "    discharge: 0.6\n"
    "    time_constant: 20 ms\n"
    "    ports:\n"
    "      a: {between: [P, stick_A], side: positive, curve: linear}\n"
    "      b: {between: [stick_B, T], side: positive, curve: linear}\n"
    "      c: {between: [P, stick_B], side: negative, curve: linear}\n"
    "      d: {between: [stick_A, T], side: negative, curve: linear}\n"
    "forces:\n"
    "  boom_pull: {at: m1, value: 2 N/V lever, direction: [1, 1]}\n"
    "  stick_pull: {at: m2, value: 2 N/V u2, direction: [1, 1]}\n"
    "leaks:\n"
    "  boom_seal_gap: {between: [boom_A, boom_B], slope: 1e-13 m^3/(s Pa)}\n"
    "  stick_seal_gap: {between: [stick_A, stick_B], slope: 1e-13 m^3/(s Pa)}\n"
    "cylinders:\n"
    "  boom_ram: {between: [ground, m1], chambers: [boom_A, boom_B], areas: [20 cm^2, 20 cm^2], closed: 0.1 m, stroke: 2 m}\n"
    "  stick_ram: {between: [ground, m2], chambers: [stick_A, stick_B], areas: [20 cm^2, 10 cm^2], closed: 0.1 m, stroke: 2 m}\n"
    "initial:\n"
    "  s1.position: 1 m\n"
    "  s2.position: 1 m\n"
    "  boom_A.pressure: 5 MPa\n"
    "  boom_B.pressure: 4 MPa\n"
    "  stick_A.pressure: 5 MPa\n"
    "  stick_B.pressure: 4 MPa\n";

static const char *by_template(void) {
  static char text[8192];
  snprintf(text, sizeof text, "%s%s%s", FRAME, templates, instances);
  return text;
}

// "boom.seal.gap.flow" for "boom_seal_gap.flow".
static void with_dots(const char *name, char *to, size_t size) {
  snprintf(to, size, "%s", name);
  char *instance = strncmp(to, "boom_", 5) == 0 || strncmp(to, "initial.boom_", 13) == 0     ? strstr(to, "boom_") + 4
                   : strncmp(to, "stick_", 6) == 0 || strncmp(to, "initial.stick_", 14) == 0 ? strstr(to, "stick_") + 5
                                                                                             : NULL;
  if (instance == NULL) return;
  *instance = '.';
  if (strncmp(instance, ".seal_", 6) == 0) instance[5] = '.';
}

// Values of all outputs after some steps.
static double *outputs_after(od_machine *m, int steps) {
  int count = od_machine_output_count(m);
  int *all = malloc((size_t)count * sizeof *all);
  double *y = calloc((size_t)count, sizeof *y);
  for (int i = 0; i < count; i++) all[i] = i;
  od_plant *plant = NULL;
  od_error err = {0};
  assert_int_equal(od_machine_plant(m, all, count, NULL, 0, &plant, &err), OD_OK);
  od_sim *sim = od_sim_new(plant);
  assert_non_null(sim);
  double u[8] = {0};
  od_machine_inputs(m, 0, u);
  assert_int_equal(od_sim_start(sim, 0, u), OD_OK);
  for (int i = 0; i < steps; i++) assert_int_equal(od_sim_step(sim, 1e-3, u), OD_OK);
  assert_int_equal(od_sim_outputs(sim, y), OD_OK);
  od_sim_free(sim);
  od_plant_free(plant);
  free(all);
  return y;
}

// Every number and every output of the machine by hand exists under its name with dots, with the same bits.
static void check_same(od_machine *made, od_machine *hand) {
  char name[256];
  // Parameters of instances that are quantities are numbers, too: area, push, ring and gain of both.
  assert_int_equal(od_machine_number_count(made), od_machine_number_count(hand) + 8);
  for (int i = 0; i < od_machine_number_count(hand); i++) {
    od_number x = od_machine_number(hand, i);
    with_dots(x.path, name, sizeof name);
    int found = od_machine_number_find(made, name);
    if (found < 0) print_message("%s is missing\n", name);
    assert_true(found >= 0);
    assert_true(od_machine_number(made, found).value == x.value);
  }
  assert_int_equal(od_machine_output_count(made), od_machine_output_count(hand));
  double *y_made = outputs_after(made, 50), *y_hand = outputs_after(hand, 50);
  for (int i = 0; i < od_machine_output_count(hand); i++) {
    with_dots(od_machine_output_name(hand, i), name, sizeof name);
    int found = od_machine_output_find(made, name);
    if (found < 0) print_message("%s is missing\n", name);
    assert_true(found >= 0);
    assert_memory_equal(&y_made[found], &y_hand[i], sizeof *y_hand);
  }
  free(y_made);
  free(y_hand);
  od_machine_free(made);
  od_machine_free(hand);
}

// --- Tests --------------------------------------------------------------------------------------------------------

static void test_same_as_by_hand(void **state) {
  od_machine *made = machine_with(*state, by_template(), NULL);
  check_same(made, machine_with(*state, by_hand, NULL));
}

static void test_set(void **state) {
  const char *const set[] = {"boom.area=5 mm^2", "stick.valve.area=6 mm^2", "boom.push=30 cm^2",
                             "initial.boom.A.pressure=1 MPa"};
  od_machine *m = machine_with(*state, by_template(), &(od_load_options){.set = set, .set_count = 4});
  assert_true(fabs(number(m, "boom.valve.area").value - 5e-6) < 1e-18);
  assert_true(fabs(number(m, "stick.valve.area").value - 6e-6) < 1e-18);
  assert_true(fabs(number(m, "boom.ram.areas[0]").value - 3e-3) < 1e-15);
  assert_true(fabs(number(m, "boom.ram.areas[1]").value - 3e-3) < 1e-15);  // its default is that of another parameter
  assert_true(fabs(number(m, "stick.ram.areas[0]").value - 2e-3) < 1e-15);
  assert_true(number(m, "initial.boom.A.pressure").value == 1e6);
  od_machine_free(m);
}

// The file's own entries override those of instances, variants override both; a variant may also change arguments.
static void test_laid_over(void **state) {
  char text[16384];
  snprintf(text, sizeof text, "%s%s%s%s", FRAME, templates,
           "instances:\n"
           "  boom: {template: section, command: lever, body: m1}\n"
           "  stick: {template: section, command: u2, body: m2, area: 1 mm^2}\n"
           "initial: {s1.position: 1 m, s2.position: 1 m, boom.A.pressure: 2 MPa}\n",
           "valves: {boom.valve: {discharge: 0.7}}\n"
           "variants:\n"
           "  worn: {leaks: {boom.seal.gap: {slope: 1e-11}, stick.seal.gap: ~}, instances: {stick: {area: 3 mm^2}}}\n");
  od_machine *m = machine_with(*state, text, NULL);
  assert_true(number(m, "boom.valve.discharge").value == 0.7 && number(m, "stick.valve.discharge").value == 0.6);
  assert_true(fabs(number(m, "boom.valve.area").value - 2e-6) < 1e-18);
  assert_true(number(m, "initial.boom.A.pressure").value == 2e6 && number(m, "initial.stick.A.pressure").value == 5e6);
  assert_true(number(m, "stick.seal.gap.slope").value == 1e-13);
  od_machine_free(m);
  m = machine_with(*state, text, &(od_load_options){.variant = "worn"});
  assert_true(number(m, "boom.valve.discharge").value == 0.7);
  assert_true(number(m, "boom.seal.gap.slope").value == 1e-11);
  assert_true(od_machine_number_find(m, "stick.seal.gap.slope") < 0);
  assert_true(fabs(number(m, "stick.valve.area").value - 3e-6) < 1e-18);
  od_machine_free(m);
}

static void write_beside(const machine_file *file, const char *name, const char *text) {
  char path[200];
  snprintf(path, sizeof path, "%s/%s", file->folder, name);
  FILE *to = fopen(path, "w");
  assert_non_null(to);
  fputs(text, to);
  assert_int_equal(fclose(to), 0);
}

static void remove_beside(const machine_file *file, const char *name) {
  char path[200];
  snprintf(path, sizeof path, "%s/%s", file->folder, name);
  assert_int_equal(remove(path), 0);
}

// The frame includes the templates from another folder, which two files name; paths are relative to the file that contains
// them.
static void test_includes(void **state) {
  const machine_file *file = *state;
  char path[200];
  snprintf(path, sizeof path, "%s/parts", file->folder);
  assert_int_equal(mkdir(path, 0700), 0);
  write_beside(file, "parts/templates.yaml", templates);
  write_beside(file, "parts/frame.yaml", "include: templates.yaml\nrun: {time: 7 s, step: 2 ms}\n" FRAME);
  write_beside(file, "parts/signal.csv", "time,u\n0,1\n1,3\n");
  write_beside(file, "parts/signal.yaml",
               "include: templates.yaml\ninputs: {spare: {unit: V, file: {path: signal.csv, column: u}}}\n");
  char text[4096];
  snprintf(text, sizeof text, "include: [parts/frame.yaml, parts/signal.yaml]\nrun: {time: 9 s}\n%s", instances);
  od_machine *m = machine_with(file, text, NULL);
  assert_true(od_machine_run(m)->time == 9 && od_machine_run(m)->step == 2e-3);
  assert_string_equal(od_machine_title(m), "two axes");
  assert_int_equal(od_machine_input_count(m), 3);
  double u[3];
  od_machine_inputs(m, 0.5, u);
  assert_true(u[2] == 2);
  od_machine_free(m);
  snprintf(text, sizeof text, "include: parts/frame.yaml\nrun: ~\n%s", instances);
  check_same(machine_with(file, text, NULL), machine_with(file, by_hand, NULL));
  static const char *const made[] = {"parts/templates.yaml", "parts/frame.yaml", "parts/signal.csv",
                                     "parts/signal.yaml", "parts"};
  for (size_t i = 0; i < sizeof made / sizeof *made; i++) remove_beside(file, made[i]);
}

// A literal '$' is written twice; a name passed as an argument refers to the outside even if the template has the same name.
static void test_scopes(void **state) {
  od_machine *m = machine_with(*state,
                               "templates:\n"
                               "  t:\n"
                               "    parameters: {drive: , by: 2 N}\n"
                               "    bodies: {b: {mass: 1 kg}}\n"
                               "    joints: {j: {type: prismatic, between: [ground, b], axis: [1, 0, 0]}}\n"
                               "    inputs: {u: {unit: N, constant: 5 N}}\n"
                               "    forces:\n"
                               "      own: {at: b, value: 2 u, direction: [1, 0]}\n"
                               "      given: {at: b, value: \"2 $drive\", direction: [1, 0]}\n"
                               "      whole: {at: b, value: $drive, direction: [1, 0]}\n"
                               "    initial: {j.position: 0 m}\n"
                               "inputs: {u: {unit: N, constant: 7 N}}\n"
                               "instances: {a: {template: t, drive: u}}\n"
                               "bodies: {}\n",
                               NULL);
  double *y = outputs_after(m, 1);
  assert_true(y[od_machine_output_find(m, "a.own.force")] == 10);
  assert_true(y[od_machine_output_find(m, "a.given.force")] == 14);
  assert_true(y[od_machine_output_find(m, "a.whole.force")] == 7);
  free(y);
  od_machine_free(m);
}

// Junctions, which have only names, of two instances: the pressure between two equal orifices is the mean of both ends.
static void test_junctions(void **state) {
  static const char text[] =
      "oil: {density: 870, law: constant, modulus: 1.4 GPa}\n"
      "volumes: {P: {volume: 1 L}}\n"
      "tanks: {T: {pressure: 1 bar}}\n"
      "templates:\n"
      "  branch:\n"
      "    junctions: {J: }\n"
      "    orifices:\n"
      "      in: {between: [P, J], area: 4 mm^2, discharge: 0.6}\n"
      "      out: {between: [J, T], area: 4 mm^2, discharge: 0.6}\n"
      "instances: {left: {template: branch}, right: {template: branch}}\n"
      "initial: {P.pressure: 100 bar}\n";
  od_machine *m = machine_from(*state, text, NULL, NULL);
  const int outputs[] = {od_machine_output_find(m, "left.J.pressure"), od_machine_output_find(m, "right.J.pressure")};
  assert_true(outputs[0] >= 0 && outputs[1] >= 0 && outputs[0] != outputs[1]);
  od_plant *plant = NULL;
  assert_int_equal(od_machine_plant(m, outputs, 2, NULL, 0, &plant, NULL), OD_OK);
  od_sim *sim = od_sim_new(plant);
  double y[2];
  assert_int_equal(od_sim_start(sim, 0, NULL), OD_OK);
  assert_int_equal(od_sim_outputs(sim, y), OD_OK);
  for (int i = 0; i < 2; i++) assert_true(fabs(y[i] - 50.5e5) < 1);
  od_sim_free(sim);
  od_plant_free(plant);
  od_machine_free(m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_same_as_by_hand, machine_file_start, machine_file_end),
      cmocka_unit_test_setup_teardown(test_junctions, machine_file_start, machine_file_end),
      cmocka_unit_test_setup_teardown(test_set, machine_file_start, machine_file_end),
      cmocka_unit_test_setup_teardown(test_laid_over, machine_file_start, machine_file_end),
      cmocka_unit_test_setup_teardown(test_includes, machine_file_start, machine_file_end),
      cmocka_unit_test_setup_teardown(test_scopes, machine_file_start, machine_file_end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
