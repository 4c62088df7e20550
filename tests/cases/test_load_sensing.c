// The load-sensing system. Oracles: while both sections move steadily, the flows over the metering edges, the compensators' and the pump's
// characteristics by hand, with the machine's numbers repeated here; speeds that do not depend on the load; the energy balance; CVODES.
#include <math.h>

#include "support/test.h"
#include "support/machines.h"

enum { P, LS, M1, A1, L1, M2, A2, L2, V1, V2, PUMP, O1, O2, BALANCE, INPUT, OUTPUTS };
static const char *const names[OUTPUTS] = {"P.pressure",
                                           "LS.pressure",
                                           "one.M.pressure",
                                           "one.A.pressure",
                                           "one.L.pressure",
                                           "two.M.pressure",
                                           "two.A.pressure",
                                           "two.L.pressure",
                                           "boom_guide.rate",
                                           "arm_guide.rate",
                                           "pump.flow",
                                           "one.compensator.opening",
                                           "two.compensator.opening",
                                           "energy.balance",
                                           "energy.input"};
static const double pi = 3.14159265358979323846, bar = 1e5;

static od_table *simulate(const char *rule, double time, const char *set) {
  od_machine *machine = od_test_machine("cases/load-sensing/machine.yaml", set, NULL);
  int output[OUTPUTS];
  for (int i = 0; i < OUTPUTS; i++) output[i] = od_test_output(machine, names[i]);
  const od_run_options o = {.time = time,
                            .step = 1e-3,
                            .integrator = rule,
                            .tolerance = 1e-8,
                            .outputs = output,
                            .output_count = OUTPUTS,
                            .unjudged = true};
  od_table *t = NULL;
  od_error err = {0};
  if (od_run(machine, &o, &t, NULL, &err) != OD_OK) fail_msg("%s", err.text);
  od_machine_free(machine);
  return t;
}
static const double *row_at(const od_table *t, double time) {
  return t->data + lround(time * 1e3) * t->columns + 1;
}
static void compare(const char *what, double value, double expected, double part) {
  print_message("%s: %.5g, by hand %.5g\n", what, value, expected);
  near_relative(value, expected, part);
}

// Outside the smoothed corners the opening of a spool is linear: 1 - limit(y), limit(y) = y - 0.025.
static double spring(double drop, double set, double range) {
  return 1 - ((drop - set) / range - 0.025);
}
static double edge(double area, double discharge, double drop) {
  return area * discharge * sqrt(2 * drop / 860);
}

static void steady(void **state) {
  const double *y = row_at(*state, 2.95), bore[2] = {0.08, 0.063}, open[2] = {0.6 - 0.08, 0.5 - 0.08};
  double all = 0;
  for (int i = 0; i < 2; i++) {
    const double *p = y + M1 + 3 * i;  // before the edge, after it, sensed
    double flow = edge(25e-6 * open[i], 0.65, p[0] - p[1]), area = pi / 4 * bore[i] * bore[i];
    // The section also feeds its vent: 0.2 mm2 from its sensing line to the tank, and with it the line of the highest
    // pressure.
    double vent = edge(0.2e-6, 0.7, p[2] - bar) * (y[L1 + 3 * i] > y[L2 - 3 * i] ? 2 : 1);
    compare("m/s", y[V1 + i], (flow - vent) / area, 0.01);
    compare("compensator's opening", y[O1 + i], spring(p[0] - p[2], 7 * bar, 4 * bar), 0.01);
    compare("flow through the compensator", edge(40e-6 * y[O1 + i], 0.7, y[P] - p[0]), flow, 0.01);
    all += flow;
  }
  compare("the higher of the sensed pressures", y[LS], fmax(y[L1], y[L2]), 0.01);
  compare("the pump's flow", y[PUMP], all, 0.01);
  compare("the pump's swash", (y[PUMP] + 2e-12 * y[P]) / 1.5e-3, spring(y[P] - y[LS], 20 * bar, 8 * bar), 0.02);
}

// Half the load moves with the same speed except for the droop of the compensator; if compensators never close, the lighter load takes all flow.
static void load_independent(void **state) {
  const double *y = row_at(*state, 2.95);
  od_table *t = simulate("tr-bdf2", 3, "boom.mass=1500 kg");
  compare("m/s with half the load", row_at(t, 2.95)[V1], y[V1], 0.04);
  compare("m/s of the other", row_at(t, 2.95)[V2], y[V2], 0.02);
  od_table_free(t);
  t = simulate("tr-bdf2", 3, "two.compensator.set=200 bar");
  print_message("m/s without the compensator of the lighter load: %.3g and %.3g\n", row_at(t, 2.95)[V1],
                row_at(t, 2.95)[V2]);
  assert_true(row_at(t, 2.95)[V2] > 1.5 * y[V2]);
  od_table_free(t);
}

static void energy(void **state) {
  const od_table *t = *state;
  const double *last = row_at(t, 8);
  print_message("%.1f kJ given, balance off by %.2g J\n", last[INPUT] / 1e3, last[BALANCE]);
  for (long i = 0; i < t->rows; i++) assert_true(fabs(t->data[i * t->columns + 1 + BALANCE]) < 2e-3 * last[INPUT]);
}

static void steps(void **state) {
  const od_table *t = *state;
  od_table *exact = simulate("cvodes", 8, NULL);
  for (int k = 0; k <= V2; k++) {
    double most = 0, largest = 0;
    for (long i = 0; i < t->rows; i++) {
      double value = exact->data[i * t->columns + 1 + k];
      most = fmax(most, fabs(t->data[i * t->columns + 1 + k] - value));
      largest = fmax(largest, fabs(value));
    }
    print_message("%s: tr-bdf2 in steps of 1 ms is off by %.2g of %.3g\n", names[k], most, largest);
    assert_true(most < 0.02 * largest);
  }
  od_table_free(exact);
}

int main(void) {
  od_table *run = simulate("tr-bdf2", 8, NULL);
  void *state = run;
  const struct CMUnitTest tests[] = {cmocka_unit_test_prestate(steady, state),
                                     cmocka_unit_test_prestate(load_independent, state),
                                     cmocka_unit_test_prestate(energy, state), cmocka_unit_test_prestate(steps, state)};
  int code = cmocka_run_group_tests(tests, NULL, NULL);
  od_table_free(run);
  return code;
}
