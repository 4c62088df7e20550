// The work of runs: attempts, steps, parts of steps, events, evaluations, matrices and changes of coordinates of fixed and adaptive steps, for the
// machines of cases/ and for small machines with stops, friction, relays and sampled controllers. Limits and shortcuts of Newton's method, of the
// step control, of the search for events and of sliding motions change this work before they change results. Oracle: reference values of this
// version. They are exact because runs are deterministic; a change of a rule changes them on purpose, and the test prints the new values. The
// last number of a line is the mean of all outputs at the end, each with its own weight, relative to the mean of their absolute values.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"

#include "oleodyn/oleodyn.h"
#include "support/machines.h"

typedef struct counts {
  long tries, steps, pieces, events, residuals, matrices, repartitions;
} counts;
enum { FIELDS = sizeof(counts) / sizeof(long) };
static const char *const names[FIELDS] = {"tries",     "steps",    "pieces",      "events",
                                          "residuals", "matrices", "repartitions"};

typedef struct run {
  const char *machine;  // the text of a machine, or the path of a file
  const char *integrator;
  double step, time;  // s; step 0: adaptive
  counts want;
  double mean;
} run;

static od_status watch(void *watcher, od_moment moment, od_sim *sim, double h) {
  counts *c = watcher;
  (void)sim, (void)h;
  c->tries += moment == OD_MOMENT_TRY;
  c->steps += moment == OD_MOMENT_STEP;
  c->pieces += moment == OD_MOMENT_PIECE;
  c->events += moment == OD_MOMENT_EVENT;
  return OD_OK;
}

static double mean_of_outputs(od_sim *sim, int count) {
  double *y = malloc(sizeof *y * (size_t)(count + 1)), sum = 0, size = 0;
  assert_non_null(y);
  assert_int_equal(od_sim_outputs(sim, y), OD_OK);
  for (int i = 0; i < count; i++) {
    double part = atan(y[i] / (1 + fabs(y[i]) / 100));  // quantities of any unit contribute
    sum += part * (1.5 + sin(1.0 + 0.7 * i)), size += fabs(part);
  }
  free(y);
  return size > 0 ? sum / size : 0;
}

static bool check(const run *r) {
  bool is_text = strchr(r->machine, '\n') != NULL;
  od_machine *machine = is_text ? od_test_machine_text(r->machine) : od_test_machine(r->machine, NULL);
  int count = od_machine_output_count(machine);
  int *outputs = malloc(sizeof *outputs * (size_t)(count + 1));
  assert_non_null(outputs);
  for (int i = 0; i < count; i++) outputs[i] = i;
  od_plant *plant = NULL;
  assert_int_equal(od_machine_plant(machine, outputs, count, NULL, 0, &plant, NULL), OD_OK);
  od_sim *sim = od_sim_new(plant), *at = NULL;
  double u[32] = {0};
  if (plant->nu) od_machine_inputs(machine, 0, u);
  od_sim_set_integrator(sim, od_integrator_find(r->integrator));
  counts got = {0};
  od_status status = OD_OK;
  double mean = 0, first = 0;
  // A simulation that is started again repeats its run to the bit.
  for (int repeated = 0; repeated < 2 && status == OD_OK; repeated++) {
    counts before = got;
    got = (counts){0};
    assert_int_equal(od_sim_start(sim, 0, u), OD_OK);
    const od_advance_options options = {.step = r->step,
                                        .tolerance = 1e-4,
                                        .longest = 0.05,
                                        .inputs = od_machine_input_source(machine),
                                        .watch = watch,
                                        .watcher = &got};
    od_advance *advance = od_advance_new(sim, &options);
    assert_non_null(advance);
    for (int i = 1; i <= 10 && status == OD_OK; i++) status = od_sim_advance(advance, r->time * i / 10, &at);
    od_sim_counts n = od_sim_count(sim);
    got.residuals = n.residuals, got.matrices = n.matrices, got.repartitions = n.repartitions;
    mean = status == OD_OK ? mean_of_outputs(at, count) : 0;
    if (repeated) assert_true(memcmp(&got, &before, sizeof got) == 0 && mean == first);
    first = mean;
    od_advance_free(advance);
  }
  const long *numbers = &got.tries, *want = &r->want.tries;
  bool same = fabs(mean - r->mean) <= 1e-6 && status == OD_OK;
  for (int i = 0; i < FIELDS; i++) same = same && numbers[i] == want[i];
  char place[40];
  snprintf(place, sizeof place, "%.30s", r->machine);
  place[strcspn(place, "\n")] = 0;
  print_message("%s: %s, %s: %s\n", place, r->integrator, r->step > 0 ? "fixed" : "adaptive", od_status_text(status));
  print_message("      {");
  for (int i = 0; i < FIELDS; i++) print_message("%ld%s", numbers[i], i + 1 < FIELDS ? ", " : "}");
  print_message(", %.9f},\n", mean);
  for (int i = 0; i < FIELDS; i++)
    if (numbers[i] != want[i]) print_message("      %s: %ld instead of %ld\n", names[i], numbers[i], want[i]);
  od_sim_free(sim);
  od_plant_free(plant);
  od_machine_free(machine);
  free(outputs);
  return same;
}

// ---- small machines

// A mass on a rail; a sine pushes the mass.
#define RAIL(amplitude, frequency)                                                \
  "bodies: {cart: {point: {mass: 2 kg}}}\n"                                       \
  "joints: {rail: {type: prismatic, between: [ground, cart], axis: [1, 0, 0]}}\n" \
  "inputs: {u: {unit: N, sine: {amplitude: " amplitude ", frequency: " frequency  \
  "}}}\n"                                                                         \
  "forces: {push: {at: cart, direction: [1, 0, 0], value: u}}\n"                  \
  "initial: {rail.position: 0 m}\n"
// Elastic end stops.
static const char stops[] = RAIL(
    "30 N",
    "2 Hz") "stops: {low: {joint: rail, low: -20 mm, stiffness: 40 N/mm, damping: 0.5 s/m}, high: {joint: rail, high: 30 mm, stiffness: 1 kN/mm}}\n";
// Dry friction: the cart sticks and slides.
static const char friction[] =
    RAIL("30 N", "2 Hz") "force_formulas: {dry: {joint: rail, parameters: {F: 10 N}, force: 'F * sign(-v)'}}\n";
// Two carts with dry friction on the rail and between the carts.
static const char two_frictions[] =
    "bodies: {a: {point: {mass: 1 kg}}, b: {point: {mass: 3 kg}}}\n"
    "joints: {A: {type: prismatic, between: [ground, a], axis: [1, 0, 0]}, B: {type: prismatic, between: [a, b], axis: [1, 0, 0]}}\n"
    "force_formulas:\n  f: {joint: A, parameters: {F: 4 N}, force: 'F * sign(-v)'}\n"
    "  g: {joint: B, parameters: {F: 7 N, k: 300 N/m}, force: 'F * sign(-v) - k * x'}\n"
    "inputs: {u: {unit: N, sine: {amplitude: 25 N, frequency: 3 Hz}}}\n"
    "forces: {push: {at: b, direction: [1, 0, 0], value: u}}\n"
    "initial: {A.position: 0 m, B.position: 5 mm}\n";
// A relay with hysteresis drives the cart, a sampled controller follows.
static const char relay[] =
    "blocks:\n"
    "  rate: {type: relay, input: x, unit: m/s, thresholds: [-0.5 m, 0.5 m], values: [1 m/s, -1 m/s]}\n"
    "  x: {type: integrator, input: rate, unit: m}\n"
    "  held: {type: gain, input: x, gain: 2, sample: 30 ms}\n"
    "  slow: {type: first-order, input: held, time_constant: 0.1 s}\n"
    "  late: {type: delay, input: slow, time: 50 ms, sample: 10 ms}\n"
    "inputs: {none: {constant: 0}}\n";

static const run runs[] = {
    {stops, "tr-bdf2", 0, 1, {394, 314, 0, 0, 2436, 277, 0}, 1.264066419},
    {stops, "trapezoid", 2e-3, 1, {500, 500, 500, 0, 2180, 64, 0}, 1.261279857},
    {stops, "rk4", 2e-3, 0.2, {100, 100, 100, 0, 1202, 0, 0}, 1.359523654},
    {stops, "tr-bdf2", 5e-3, 1, {200, 200, 200, 0, 1344, 70, 0}, 0.844226285},
    {friction, "tr-bdf2", 0, 1, {175, 149, 0, 0, 1870, 246, 0}, 1.355345461},
    {friction, "trapezoid", 2e-3, 1, {500, 500, 500, 0, 2649, 106, 0}, 1.355414804},
    {friction, "rk4", 2e-3, 0.2, {100, 100, 100, 0, 1662, 0, 0}, 1.503401491},
    {friction, "tr-bdf2", 5e-3, 1, {200, 200, 200, 0, 1507, 52, 0}, 1.357669968},
    {two_frictions, "tr-bdf2", 0, 1, {442, 381, 0, 0, 8355, 948, 0}, 0.310847058},
    {two_frictions, "trapezoid", 2e-3, 1, {500, 500, 500, 0, 7286, 838, 0}, 0.310387526},
    {two_frictions, "rk4", 2e-3, 0.2, {100, 100, 100, 0, 3340, 0, 0}, -0.756075111},
    {two_frictions, "tr-bdf2", 5e-3, 1, {200, 200, 200, 0, 4386, 433, 0}, 0.310148637},
    {relay, "tr-bdf2", 0, 1, {236, 236, 100, 100, 1832, 206, 0}, 0.727105459},
    {relay, "trapezoid", 2e-3, 1, {500, 500, 500, 100, 2184, 1, 0}, 0.727159744},
    {relay, "rk4", 2e-3, 0.2, {100, 100, 100, 20, 1240, 0, 0}, 1.591206228},
    {relay, "tr-bdf2", 5e-3, 1, {200, 200, 200, 100, 1387, 1, 0}, 0.727139745},
    {"cases/hydraulic-actuator/machine.yaml", "tr-bdf2", 0, 0.2, {9, 9, 0, 0, 47, 6, 0}, 1.669126297},
    {"cases/hydraulic-actuator/machine.yaml", "trapezoid", 1e-4, 0.005, {50, 50, 50, 0, 152, 1, 0}, 1.669126297},
    {"cases/friction-compensation/machine.yaml", "tr-bdf2", 0, 0.2, {83, 76, 0, 0, 442, 75, 0}, 1.302628037},
    {"cases/friction-compensation/machine.yaml", "trapezoid", 1e-4, 0.005, {50, 50, 50, 0, 184, 2, 0}, 0.319783782},
    {"cases/slider-crank/machine.yaml", "tr-bdf2", 0, 0.2, {46, 40, 0, 0, 283, 70, 0}, 0.337761375},
    {"cases/slider-crank/machine.yaml", "trapezoid", 1e-4, 0.005, {50, 50, 50, 0, 102, 3, 0}, -0.111638928},
    {"cases/stewart-platform/machine.yaml", "tr-bdf2", 0, 0.2, {149, 146, 0, 0, 792, 140, 0}, 0.815644108},
    {"cases/stewart-platform/machine.yaml", "trapezoid", 1e-4, 0.005, {50, 50, 50, 0, 127, 2, 0}, 0.843237447},
    {"cases/andrews-squeezer/machine.yaml", "tr-bdf2", 0, 0.02, {93, 81, 0, 0, 543, 117, 0}, -0.042639764},
    {"cases/andrews-squeezer/machine.yaml", "trapezoid", 1e-4, 0.005, {50, 50, 50, 0, 124, 4, 0}, -0.139197483},
    {"cases/charging/machine.yaml", "tr-bdf2", 0, 0.2, {363, 314, 0, 0, 2834, 408, 0}, 1.094268577},
    {"cases/charging/machine.yaml", "trapezoid", 1e-4, 0.005, {50, 50, 50, 0, 270, 19, 0}, 1.090264032},
    {"cases/fourbar-chain/chain-5.yaml", "tr-bdf2", 0, 0.2, {15, 15, 0, 0, 74, 15, 0}, -0.536015952},
    {"cases/fourbar-chain/chain-5.yaml", "trapezoid", 1e-4, 0.005, {50, 50, 50, 0, 52, 1, 0}, -0.338661744},
    {"cases/fin-servo/machine.yaml", "tr-bdf2", 0, 0.2, {145, 133, 0, 0, 665, 128, 0}, 1.158380160},
    {"cases/fin-servo/machine.yaml", "trapezoid", 1e-4, 0.005, {50, 50, 50, 0, 100, 1, 0}, 0.804095893},
    {"cases/double-pendulum/machine.yaml", "tr-bdf2", 0, 0.2, {21, 21, 0, 0, 142, 32, 0}, -0.797013852},
    {"cases/double-pendulum/machine.yaml", "trapezoid", 1e-4, 0.005, {50, 50, 50, 0, 100, 1, 0}, -0.465807165},
    {"cases/hydrostatic-transmission/machine.yaml", "tr-bdf2", 0, 0.2, {67, 63, 0, 0, 390, 66, 0}, 0.761878558},
    {"cases/hydrostatic-transmission/machine.yaml", "trapezoid", 1e-4, 0.005, {50, 50, 50, 0, 162, 12, 0}, 0.783743664},
    {"cases/slewing-crane/machine.yaml", "tr-bdf2", 0, 0.2, {58, 56, 0, 0, 290, 53, 0}, 1.298086512},
    {"cases/slewing-crane/machine.yaml", "trapezoid", 1e-4, 0.005, {50, 50, 50, 0, 101, 1, 0}, 1.302680618},
    {"cases/bricard/machine.yaml", "tr-bdf2", 0, 0.2, {16, 16, 0, 0, 89, 16, 0}, 0.410336523},
    {"cases/bricard/machine.yaml", "trapezoid", 1e-4, 0.005, {50, 50, 50, 0, 52, 1, 0}, 0.424455984},
    {"cases/crane/machine.yaml", "tr-bdf2", 0, 0.2, {30, 30, 0, 0, 152, 28, 0}, 0.664819020},
    {"cases/crane/machine.yaml", "trapezoid", 1e-4, 0.005, {50, 50, 50, 0, 100, 1, 0}, 0.822926074},
    {"cases/press/machine.yaml", "tr-bdf2", 0, 0.2, {65, 59, 0, 0, 466, 56, 0}, 1.162061563},
    {"cases/press/machine.yaml", "trapezoid", 1e-4, 0.005, {50, 50, 50, 0, 268, 21, 0}, 1.186477626},
    {"cases/rssr/machine.yaml", "tr-bdf2", 0, 0.2, {25, 23, 0, 0, 154, 37, 0}, 0.684172485},
    {"cases/rssr/machine.yaml", "trapezoid", 1e-4, 0.005, {50, 50, 50, 0, 100, 1, 0}, 0.471850498},
    {"cases/fourbar-observer/spring.yaml", "tr-bdf2", 0, 0.2, {32, 32, 0, 0, 191, 32, 0}, -0.106062768},
    {"cases/fourbar-observer/spring.yaml", "trapezoid", 1e-4, 0.005, {50, 50, 50, 0, 100, 1, 0}, 0.391713846},
    {"cases/position-servo/machine.yaml", "tr-bdf2", 0, 0.2, {561, 448, 0, 0, 3131, 533, 0}, 0.468090605},
    {"cases/position-servo/machine.yaml", "trapezoid", 1e-4, 0.005, {50, 50, 50, 0, 198, 29, 0}, 1.473329207},
    {"cases/test-bench/machine.yaml", "tr-bdf2", 0, 0.2, {201, 198, 0, 0, 1201, 198, 0}, 1.205457982},
    {"cases/test-bench/machine.yaml", "trapezoid", 1e-4, 0.005, {50, 50, 50, 0, 142, 3, 0}, 1.092915762},
    {"cases/load-sensing/machine.yaml", "tr-bdf2", 0, 0.2, {151, 137, 0, 0, 690, 122, 0}, 1.109641067},
    {"cases/load-sensing/machine.yaml", "trapezoid", 1e-4, 0.005, {50, 50, 50, 0, 102, 2, 0}, 1.207144179},
    {"cases/fourbar-swing/machine.yaml", "tr-bdf2", 0, 0.2, {14, 14, 0, 0, 76, 14, 0}, 0.943196424},
    {"cases/fourbar-swing/machine.yaml", "trapezoid", 1e-4, 0.005, {50, 50, 50, 0, 52, 1, 0}, 1.019610202},
    {"cases/forestry-crane/machine.yaml", "tr-bdf2", 0, 0.2, {114, 110, 0, 0, 589, 106, 0}, 1.055612141},
    {"cases/forestry-crane/machine.yaml", "trapezoid", 1e-4, 0.005, {50, 50, 50, 0, 101, 1, 0}, 0.974910905},
    {"cases/fourbar-valve/machine.yaml", "tr-bdf2", 0, 0.2, {54, 54, 0, 0, 270, 54, 0}, 1.329844440},
    {"cases/fourbar-valve/machine.yaml", "trapezoid", 1e-4, 0.005, {50, 50, 50, 0, 100, 1, 0}, 1.399264666},
    {"cases/excavator/machine.yaml", "tr-bdf2", 0, 0.2, {72, 70, 0, 0, 354, 69, 0}, 0.884241697},
    {"cases/excavator/machine.yaml", "trapezoid", 1e-4, 0.005, {50, 50, 50, 0, 101, 1, 0}, 0.872561112},
};

static void test_counts(void **state) {
  (void)state;
  int wrong = 0;
  for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) wrong += !check(&runs[i]);
  assert_int_equal(wrong, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_counts)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
