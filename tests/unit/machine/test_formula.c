// Formulas of users: the same machine with classes of elements and blocks written in C, and with formulas of the same laws. Rates,
// outputs and all their derivatives agree to round-off at random states, through steps, and with respect to parameters; an optimized step
// costs at most 3.5 times as much. The oracle is the class in C, which shares no code with formulas. Also mistakes of programs that
// build formulas.
#include "support/test.h"

#include <complex.h>
#include <math.h>
#include <time.h>

#include "base/formula.h"
#include "machine/machine.h"
#include "oleodyn/sim.h"
#include "support/machine_file.h"
#include "support/random_machine.h"

#define COMMON                                                                                                        \
  "oil: {density: 870, law: constant, modulus: 1.4 GPa, smoothing: 1 bar}\n"                                          \
  "inputs: {x: {sine: {amplitude: 0.3, frequency: 3 Hz, offset: 0.5}}, u: {sine: {amplitude: 2, frequency: 2 Hz}}}\n" \
  "ground: {points: {wall: [2 m, 1 m]}}\n"                                                                            \
  "bodies: {arm: {beam: {mass: 5 kg, length: 1 m}}}\n"                                                                \
  "joints: {hinge: {type: revolute, between: [ground, arm.start]%s}}\n"                                               \
  "volumes: {A: {volume: 1 l}, B: {volume: 0.5 l}}\n"                                                                 \
  "tanks: {T: {pressure: 1 bar}}\n"                                                                                   \
  "junctions: {J: }\n"                                                                                                \
  "pumps: {P: {to: A, flow: 10 l/min}}\n"                                                                             \
  "forces: {push: {at: arm.end, value: 10 N * sat, direction: [0, 1]}}\n"                                             \
  "initial: {hinge.angle: 30 deg, A.pressure: 5 bar, B.pressure: 3 bar}\n"                                            \
  "run: {time: 1 s, step: 1 ms}\n"

static const char by_hand[] =
    "orifices:\n"
    "  o: {between: [A, J], area: 10 mm2, discharge: 0.7, opening: x}\n"
    "  n: {between: [J, B], area: 12 mm2, discharge: 0.6}\n"
    "leaks: {l: {between: [B, T], slope: 0.2 l/min/bar}}\n"
    "springs: {s: {between: [ground.wall, arm.end], stiffness: 2 kN/m, damping: 30 N s/m, length: 0.8 m}}\n"
    "blocks: {sat: {type: saturation, input: u, limits: [-1.2, 1.5]}}\n";

static const char by_formula[] =
    "flow_formulas:\n"
    "  o:\n"
    "    between: [A, J]\n"
    "    flow: area * discharge * opening * sqrt(2 / rho) * smooth_root(p_a - p_b, 1 bar)\n"
    "    inputs: {opening: x}\n"
    "    parameters: {area: 10 mm2, discharge: 0.7, rho: 870 kg/m3}\n"
    "  n:\n"
    "    between: [J, B]\n"
    "    flow: 0.6 * area * sqrt(2 / rho) * (p_a - p_b) / ((p_a - p_b)^2 + (1 bar)^2)^0.25\n"
    "    parameters: {area: 12 mm2, rho: 870 kg/m3}\n"
    "  l: {between: [B, T], flow: slope * (p_a - p_b), parameters: {slope: 0.2 l/min/bar}}\n"
    "force_formulas:\n"
    "  s:\n"
    "    between: [ground.wall, arm.end]\n"
    "    force: -(k * (x - free) + c * v)\n"
    "    parameters: {k: 2 kN/m, c: 30 N s/m, free: 0.8 m}\n"
    "  h: {joint: hinge, force: -k * x - c * v, parameters: {k: 40 N m/rad, c: 2 N m s/rad}}\n"
    "blocks:\n"
    "  sat: {type: formula, inputs: {u: u}, formula: \"min(max(u, low), high)\", parameters: {low: -1.2, high: 1.5}}\n";

static const char *const paths[][2] = {
    {"o.area", "o.parameters.area"},         {"o.discharge", "o.parameters.discharge"},
    {"n.area", "n.parameters.area"},         {"l.slope", "l.parameters.slope"},
    {"s.stiffness", "s.parameters.k"},       {"s.damping", "s.parameters.c"},
    {"s.length", "s.parameters.free"},       {"hinge.stiffness", "h.parameters.k"},
    {"sat.limits[0]", "sat.parameters.low"}, {"sat.limits[1]", "sat.parameters.high"}};
enum { PARAMETERS = sizeof paths / sizeof *paths, OUTPUTS = 8, MOST = 16 };
static const char *const outputs[OUTPUTS] = {"o.flow", "l.flow", "sat",         "J.pressure", "hinge.acceleration",
                                             "o.loss", "n.loss", "l.dissipated"};

static od_machine *load(const machine_file *file, bool formula) {
  char text[8000];
  snprintf(text, sizeof text, COMMON "%s", formula ? "" : ", stiffness: 40 N m/rad, damping: 2 N m s/rad",
           formula ? by_formula : by_hand);
  return machine_with(file, text, NULL);
}

static od_plant *plant_of(const od_machine *m, int column) {
  int list[OUTPUTS], numbers[PARAMETERS];
  od_plant *plant = NULL;
  for (int i = 0; i < OUTPUTS; i++)
    if ((list[i] = od_machine_output_find(m, outputs[i])) < 0) fail_msg("no output %s", outputs[i]);
  for (int i = 0; i < PARAMETERS; i++)
    if ((numbers[i] = od_machine_number_find(m, paths[i][column])) < 0) fail_msg("no number %s", paths[i][column]);
  assert_int_equal(od_machine_plant(m, list, OUTPUTS, numbers, PARAMETERS, &plant, NULL), OD_OK);
  return plant;
}

static void compare(const char *what, const double *a, const double *b, int rows, int columns) {
  for (int i = 0; i < rows; i++) {
    double size = 0;
    for (int j = 0; j < columns; j++) size = fmax(size, fabs(a[i * columns + j]));
    for (int j = 0; j < columns; j++) {
      double x = a[i * columns + j], y = b[i * columns + j];
      if (!(fabs(x - y) <= 1e-12 * (fabs(x) + size * 1e-3) + 1e-300))
        fail_msg("%s: row %d, column %d: by hand %.17g, by the formula %.17g", what, i, j, x, y);
    }
  }
}

typedef struct derivatives {
  double f[MOST], fx[MOST * MOST], fu[MOST * MOST], fp[MOST * MOST];
  double y[MOST], hx[MOST * MOST], hu[MOST * MOST], hp[MOST * MOST];
} derivatives;

static void derive(od_sim *s, derivatives *d) {
  assert_int_equal(od_sim_derivatives(s, d->f, d->fx, d->fu, d->fp), OD_OK);
  assert_int_equal(od_sim_outputs(s, d->y), OD_OK);
  assert_int_equal(od_sim_output_jacobians(s, d->hx, d->hu, d->hp), OD_OK);
}

static void test_same_law(void **state) {
  od_machine *m[2] = {load(*state, false), load(*state, true)};
  od_plant *plant[2] = {plant_of(m[0], 0), plant_of(m[1], 1)};
  od_sim *s[2] = {od_sim_new(plant[0]), od_sim_new(plant[1])};
  static derivatives d[2];
  od_dice dice = {7};
  int nx = od_plant_nx(plant[0]), nu = plant[0]->nu;
  assert_int_equal(nx, od_plant_nx(plant[1]));
  for (int i = 0; i < 2; i++) assert_int_equal(od_sim_start(s[i], 0, (double[2]){0}), OD_OK);
  for (int k = 0; k < 50; k++) {
    double x[MOST] = {od_dice_uniform(&dice, -1, 1), od_dice_uniform(&dice, -2, 2), od_dice_uniform(&dice, 0, 1e7),
                      od_dice_uniform(&dice, 0, 1e7)};
    double u[2] = {od_dice_uniform(&dice, 0.1, 1), od_dice_uniform(&dice, -2, 2)};
    if (k % 5 == 0) x[3] = x[2];  // no pressure difference
    for (int i = 0; i < 2; i++) {
      assert_int_equal(od_sim_set(s[i], 0, x, u), OD_OK);
      derive(s[i], &d[i]);
    }
    compare("rates", d[0].f, d[1].f, nx, 1);
    compare("rates by states", d[0].fx, d[1].fx, nx, nx);
    compare("rates by inputs", d[0].fu, d[1].fu, nx, nu);
    compare("rates by numbers", d[0].fp, d[1].fp, nx, PARAMETERS);
    compare("outputs", d[0].y, d[1].y, OUTPUTS, 1);
    compare("outputs by states", d[0].hx, d[1].hx, OUTPUTS, nx);
    compare("outputs by inputs", d[0].hu, d[1].hu, OUTPUTS, nu);
    compare("outputs by numbers", d[0].hp, d[1].hp, OUTPUTS, PARAMETERS);
  }
  for (int i = 0; i < 2; i++) od_sim_free(s[i]), od_plant_free(plant[i]), od_machine_free(m[i]);
}

// Processor time of many steps.
static double time_steps(const od_plant *plant, const od_machine *m) {
  double u[2];
  od_sim *s = od_sim_new(plant);
  od_machine_inputs(m, 0, u);
  assert_int_equal(od_sim_start(s, 0, u), OD_OK);
  clock_t begin = clock();
  for (int i = 1; i <= 3000; i++) {
    od_machine_inputs(m, i * 1e-3, u);
    assert_int_equal(od_sim_step(s, 1e-3, u), OD_OK);
  }
  od_sim_free(s);
  return (double)(clock() - begin) / CLOCKS_PER_SEC;
}

// In turns, the least of many runs each: other programs on the same core disturb both equally.
static void test_cost(void **state) {
  double cost[2] = {INFINITY, INFINITY};
  od_machine *m[2];
  od_plant *plant[2];
  for (int i = 0; i < 2; i++) m[i] = load(*state, i), plant[i] = plant_of(m[i], i);
  for (int k = 0; k < 40; k++) cost[k % 2] = fmin(cost[k % 2], time_steps(plant[k % 2], m[k % 2]));
  for (int i = 0; i < 2; i++) od_plant_free(plant[i]), od_machine_free(m[i]);
  print_message("a step with formulas costs %.2f times one with classes (%.2f us)\n", cost[1] / cost[0],
                cost[0] / 3000 * 1e6);
#ifdef __OPTIMIZE__
  assert_true(cost[1] < 3.5 * cost[0]);
#endif
}

// Units and names from files.
static void test_files(void **state) {
  static const char text[] =
      "inputs: {x: 2 m, v: 3 m/s}\n"
      "constants: {stiff: 4 N/m}\n"
      "blocks:\n"
      "  lag: {type: first-order, input: x, time_constant: 1 s}\n"
      "  k: {type: formula, inputs: {x: x, v: v}, formula: k * x * v, parameters: {k: stiff}}\n"
      "  root: {type: formula, inputs: {p: k}, formula: \"c * sqrt(p) / 2\", parameters: {c: 5 / sqrt(1 W)}}\n"
      "  plain: {type: formula, unit: m, inputs: {x: x}, formula: \"if(x >= 2, c * sin(pi / 6), 0)\", parameters: {c: 8}}\n"
      "run: {time: 1 s, step: 0.1 s}\n";
  od_machine *m = machine_with(*state, text, NULL);
  const char *const wanted[] = {"k", "root", "plain"};
  const double value[] = {24, 5 * sqrt(24) / 2, 4};
  const char *const unit[] = {"W", "1", "m"};
  check(m, "k.parameters.k", 4, "N/m", "stiff");
  for (int i = 0; i < 3; i++) {
    int output = od_machine_output_find(m, wanted[i]);
    od_plant *plant = NULL;
    double y, u[2];
    assert_true(output >= 0);
    assert_string_equal(od_machine_output_unit(m, output), unit[i]);
    assert_int_equal(od_machine_plant(m, &output, 1, NULL, 0, &plant, NULL), OD_OK);
    od_sim *s = od_sim_new(plant);
    od_machine_inputs(m, 0, u);
    assert_int_equal(od_sim_start(s, 0, u), OD_OK);
    assert_int_equal(od_sim_outputs(s, &y), OD_OK);
    if (!(fabs(y - value[i]) < 1e-14 * fabs(value[i]))) fail_msg("%s is %.17g, not %.17g", wanted[i], y, value[i]);
    od_sim_free(s);
    od_plant_free(plant);
  }
  od_machine_free(m);
  m = machine_from(*state, text, "k.parameters.k=5 N/m", "root.parameters.c=3 / sqrt(4 W)");
  assert_true(number(m, "k.parameters.k").value == 5 && number(m, "root.parameters.c").value == 1.5);
  od_machine_free(m);
}

// Mistakes of programs.
static void test_built(void **state) {
  (void)state;
  const od_operation right[] = {
      {OD_OPERATION_VARIABLE, 0}, {OD_OPERATION_NUMBER, .value = 2}, {OD_OPERATION_MULTIPLY, 0, 1}};
  const od_operation late[] = {{OD_OPERATION_VARIABLE, 0}, {OD_OPERATION_ADD, 0, 2}, {OD_OPERATION_NUMBER}};
  const od_operation odd[] = {{OD_OPERATION_KINDS}}, far[] = {{OD_OPERATION_VARIABLE, 1}},
                     negative[] = {{OD_OPERATION_VARIABLE, -1}};
  const od_operation endless[] = {{OD_OPERATION_NUMBER, .value = INFINITY}};
  static const od_operation most[OD_MOST_OPERATIONS];  // numbers
  assert_null(od_formula_problem(&(od_formula){3, right}, 1));
  assert_null(od_formula_problem(&(od_formula){OD_MOST_OPERATIONS, most}, 1));
  assert_string_equal(od_formula_problem(&(od_formula){0, right}, 1), "has no formula");
  assert_string_equal(od_formula_problem(&(od_formula){OD_MOST_OPERATIONS + 1, right}, 1),
                      "has a formula with more than 400 operations");
  assert_string_equal(od_formula_problem(&(od_formula){3, late}, 1),
                      "has a formula with an operation before its operands");
  assert_string_equal(od_formula_problem(&(od_formula){1, odd}, 1), "has a formula with an unknown operation");
  assert_string_equal(od_formula_problem(&(od_formula){1, far}, 1), "has a formula with an unknown variable");
  assert_string_equal(od_formula_problem(&(od_formula){1, negative}, 1), "has a formula with an unknown variable");
  assert_string_equal(od_formula_problem(&(od_formula){1, endless}, 1),
                      "has a formula with a number that is not finite");
  // A block without one, and one with a wrong one.
  od_build *b = od_build_new();
  od_model *model = NULL;
  od_error err = {0};
  od_block_spec spec = od_block_spec_of("formula");
  spec.inputs = 1;
  int input = od_build_input(b, "u", "1"), block = od_build_block(b, "f", &spec, "1");
  od_build_block_input(b, block, 0, input);
  assert_int_not_equal(od_build_finish(b, &model, &err), OD_OK);
  assert_string_equal(od_build_problem(b, 0).text, "block 'f' has no formula");
  od_build_block_formula(b, block, (od_formula){1, far});
  assert_int_not_equal(od_build_finish(b, &model, &err), OD_OK);
  assert_string_equal(od_build_problem(b, 0).text, "block 'f' has a formula with an unknown variable");
  od_build_block_formula(b, block, (od_formula){3, right});
  od_block_spec lag = od_block_spec_of("first-order");
  od_build_block_numbers(b, od_build_block(b, "lag", &lag, "1"), od_build_number(b, "gain", 1, "1"));
  od_build_number(b, "time", 1, "s");
  if (od_build_finish(b, &model, &err) != OD_OK) fail_msg("%s", err.text);
  od_model_free(model);
  od_build_free(b);
}

// NaN propagates through every condition that depends on it, in real and complex numbers; NaN in a branch that is not taken has no
// effect.
static void test_no_number(void **state) {
  (void)state;
  const od_operation_kind kinds[] = {OD_OPERATION_MIN, OD_OPERATION_MAX};
  for (int k = 0; k < 2; k++)
    for (int swap = 0; swap < 2; swap++) {
      const od_operation list[] = {
          {OD_OPERATION_VARIABLE, 0}, {OD_OPERATION_NUMBER, .value = 2}, {kinds[k], swap, 1 - swap}};
      const od_formula f = {3, list};
      assert_true(isnan(od_formula_value(&f, (double[]){NAN}, 1, NULL, NULL)));
      assert_true(isnan(creal(od_formula_value_complex(&f, (double _Complex[]){NAN}, 1, NULL, NULL))));
      assert_true(od_formula_value(&f, (double[]){1}, 1, NULL, NULL) == (k ? 2 : 1));
      assert_true(od_formula_value(&f, (double[]){3}, 1, NULL, NULL) == (k ? 3 : 2));
    }
  const od_operation choice[] = {{OD_OPERATION_VARIABLE, 0},
                                 {OD_OPERATION_VARIABLE, 1},
                                 {OD_OPERATION_NUMBER, .value = 7},
                                 {OD_OPERATION_IF_NEGATIVE, 0, 1, 2}};
  const od_formula f = {4, choice};
  assert_true(isnan(od_formula_value(&f, (double[]){NAN, 1}, 2, NULL, NULL)));
  assert_true(isnan(od_formula_value(&f, (double[]){-1, NAN}, 2, NULL, NULL)));
  assert_true(od_formula_value(&f, (double[]){1, NAN}, 2, NULL, NULL) == 7);
}

int main(void) {
#define WITH_FILE(test) cmocka_unit_test_setup_teardown(test, machine_file_start, machine_file_end)
  const struct CMUnitTest tests[] = {WITH_FILE(test_same_law), WITH_FILE(test_cost), WITH_FILE(test_files),
                                     cmocka_unit_test(test_built), cmocka_unit_test(test_no_number)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
