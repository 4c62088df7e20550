// The press with an accumulator. Oracles: the polytropic law of the gas, the balance of forces on the ram while it presses, the
// conservation of oil above the piston and of energy, each by quadrature of the recorded rows with the machine's numbers repeated here; CVODES.
#include <math.h>

#include "support/test.h"
#include "support/machines.h"

enum { POSITION, RATE, FORCE, S, A, C, OIL, GAS, INTO_A, BACK_FROM_A, PUMP, P, BALANCE, INPUT, OUTPUTS };
static const char *const names[OUTPUTS] = {"guide.position", "guide.rate",    "workpiece.force", "S.pressure",
                                           "A.pressure",     "C.pressure",    "bladder.oil",     "bladder.gas_pressure",
                                           "valve.pa.flow",  "valve.at.flow", "pump.flow",       "P.pressure",
                                           "energy.balance", "energy.input"};
static const double pi = 3.14159265358979323846, area = 0.1 * 0.1 * 3.14159265358979323846 / 4;

static od_table *simulate(const char *rule, double step, int every, const char *set) {
  od_machine *machine = od_test_machine("cases/press/machine.yaml", set, NULL);
  int output[OUTPUTS];
  for (int i = 0; i < OUTPUTS; i++) output[i] = od_test_output(machine, names[i]);
  const od_run_options o = {.time = 6,
                            .step = step,
                            .every = every,
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
  long i = lround(time * (double)(t->rows - 1) / 6);
  return t->data + i * t->columns + 1;
}

static void gas(void **state) {
  const od_table *t = *state;
  for (long i = 0; i < t->rows; i++) {
    const double *y = t->data + i * t->columns + 1, law = 150e5 * pow(20e-3 / (20e-3 - y[OIL]), 1.3);
    assert_true(fabs(y[GAS] / law - 1) < 1e-12);
  }
  // During the stroke the accumulator supplies at least the volume above the piston minus the pump's volume.
  const double *before = row_at(t, 1), *pressing = row_at(t, 2.6);
  assert_true(before[OIL] - pressing[OIL] > area * (pressing[POSITION] - before[POSITION]) - 1.6 * 0.5e-3);
}

// The ram stands while pressing: pressures, weight and friction balance the workpiece, a spring from 350 mm on.
static void forces(void **state) {
  const double *y = row_at(*state, 2.6), ring = area - pi / 4 * 0.07 * 0.07;
  double pushes = y[A] * area - y[C] * ring + 800 * 9.81, friction = 1500 * tanh(y[RATE] / 5e-3) + 2000 * y[RATE];
  print_message("pressing: %.1f kN, at rest to %.2g m/s; deeper than 350 mm by %.3f mm\n", -y[FORCE] / 1e3, y[RATE],
                (y[POSITION] - 0.35) * 1e3);
  assert_true(fabs(y[RATE]) < 1e-3 && fabs(y[FORCE]) > 100e3);
  // The force of a play is positive in tension.
  assert_true(fabs(fabs(y[FORCE]) - 60e6 * (y[POSITION] - 0.35) * (1 + 0.5 * y[RATE])) < 1e-6 * fabs(y[FORCE]));
  assert_true(fabs(pushes - friction - fabs(y[FORCE])) < 1e-3 * fabs(y[FORCE]));
}

// Above the piston: inflow minus outflow minus leakage equals the piston's displaced flow plus the compression of the oil, V
// dp/B.
static void oil(void **state) {
  (void)state;
  od_table *t = simulate("tr-bdf2", 2e-4, 1, "oil.air=0");
  double in = 0, compressed = 0, moved = 0, h = 2e-4;
  for (long i = 1; i < t->rows; i++) {
    const double *a = t->data + (i - 1) * t->columns + 1, *b = a + t->columns;
    in += h / 2 * (a[INTO_A] - a[BACK_FROM_A] - 1e-13 * (a[A] - a[C]));
    in += h / 2 * (b[INTO_A] - b[BACK_FROM_A] - 1e-13 * (b[A] - b[C]));
    compressed += (0.5e-3 + area * (a[POSITION] + b[POSITION]) / 2) * (b[A] - a[A]) / 1.5e9;
    moved = area * (b[POSITION] - t->data[1 + POSITION]);
    assert_true(fabs(in - moved - compressed) < 2e-4 * area * 0.33);
  }
  print_message("oil above the piston: %.4f mL more than the piston and its compression take\n",
                (in - moved - compressed) * 1e6);
  od_table_free(t);
}

// The pump's work by quadrature equals the machine's energy input, and the energy balance closes.
static void energy(void **state) {
  const od_table *t = *state;
  double work = 0, h = 6.0 / (double)(t->rows - 1);
  const double *last = row_at(t, 6);
  for (long i = 1; i < t->rows; i++) {
    const double *a = t->data + (i - 1) * t->columns + 1, *b = a + t->columns;
    work += h / 2 * (a[PUMP] * (a[P] - 1e5) + b[PUMP] * (b[P] - 1e5));
    assert_true(fabs(b[BALANCE]) < 1e-3 * work + 1);
  }
  assert_true(fabs(last[INPUT] - work) < 0.01 * work);
  print_message("the pump gave %.1f kJ, less what the tank took %.1f kJ; the balance is off by %.2g J\n", work / 1e3,
                last[INPUT] / 1e3, last[BALANCE]);
}

static void steps(void **state) {
  const od_table *t = *state;
  od_table *exact = simulate("cvodes", 5e-4, 1, NULL);
  static const double allowed[] = {1e-5, 3e-3, 500, 1e4, 5e4, 5e4, 1e-7};
  assert_true(exact->rows == t->rows);
  for (int k = 0; k <= OIL; k++) {
    double most = 0;
    for (long i = 0; i < t->rows; i++)
      most = fmax(most, fabs(t->data[i * t->columns + 1 + k] - exact->data[i * t->columns + 1 + k]));
    print_message("%s: tr-bdf2 in steps of 0.5 ms is off by %.2g\n", names[k], most);
    assert_true(most < allowed[k]);
  }
  od_table_free(exact);
}

int main(void) {
  od_table *run = simulate("tr-bdf2", 5e-4, 1, NULL);
  void *state = run;
  const struct CMUnitTest tests[] = {cmocka_unit_test_prestate(gas, state), cmocka_unit_test_prestate(forces, state),
                                     cmocka_unit_test_prestate(oil, state), cmocka_unit_test_prestate(energy, state),
                                     cmocka_unit_test_prestate(steps, state)};
  int code = cmocka_run_group_tests(tests, NULL, NULL);
  od_table_free(run);
  return code;
}
