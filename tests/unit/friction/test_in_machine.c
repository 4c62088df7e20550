// Friction laws inside machines: a mass on a spring with bristles as stiff as 1e8 N/m.
// Oracles: CVODES on the same equations (tolerance 1e-10); a closed form for rest under a constant load; the count of residuals
// that an iteration takes; a run in one part for one in two.
#define _DEFAULT_SOURCE  // M_PI
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "integrate/integrators.h"
#include "support/machines.h"
#include "support/published_cylinders.h"

enum { TEXT = 2000 };

// A mass on a spring, pulled by a force over time, with the friction of cylinder #5.
static void write_machine(char text[TEXT], double mass, double stiffness, const char *pull) {
  const published_cylinder *c = &published_cylinders[4];
  const published_side *p = &c->side[0], *n = &c->side[1];
  snprintf(text, TEXT,
           "bodies: {block: {point: {mass: %g}}}\n"
           "joints:\n"
           "  slide:\n"
           "    type: prismatic\n"
           "    between: [ground, block]\n"
           "    axis: [1, 0, 0]\n"
           "    stiffness: %g\n"
           "    friction: {law: modified-lugre, Fs: %g, Fc: %g, vs: %g, n: %g, viscous: %g, vb: %g, Fs_negative: %g,\n"
           "      Fc_negative: %g, vs_negative: %g, n_negative: %g, viscous_negative: %g, vb_negative: %g,\n"
           "      sigma_0: %g, sigma_1: %g, tau_hp: %g, tau_hn: %g, tau_h0: %g}\n"
           "inputs: {pull: {unit: N, %s}}\n"
           "forces: {rope: {at: block, value: pull, direction: [1, 0]}}\n"
           "initial: {slide.position: 0}\n",
           mass, stiffness, p->Fs, p->Fc, p->vs, p->n, p->viscous, p->vb, n->Fs, n->Fc, n->vs, n->n, n->viscous, n->vb,
           c->sigma_0, c->sigma_1, c->tau_hp, c->tau_hn, c->tau_h0, pull);
}

// The friction over a run, one row per step.
static od_table *friction_of(const od_machine *m, const char *integrator, double time, double step) {
  int output = od_test_output(m, "slide.friction");
  od_run_options options = {.time = time,
                            .step = step,
                            .integrator = integrator,
                            .tolerance = strcmp(integrator, "cvodes") ? 0 : 1e-10,
                            .outputs = &output,
                            .output_count = 1,
                            .unjudged = true};
  od_run_report report = {0};
  od_table *table = NULL;
  assert_int_equal(od_run(m, &options, &table, &report, NULL), OD_OK);
  od_run_report_free(&report);
  return table;
}

static void stick_slip(void **state) {
  (void)state;
  char text[TEXT];
  write_machine(text, 300, 2e5, "sine: {amplitude: 5 kN, frequency: 1 Hz}");
  od_machine *m = od_test_machine_text(text);
  od_table *exact = friction_of(m, "cvodes", 2, 1e-4), *run = friction_of(m, "tr-bdf2", 2, 1e-4);
  double worst = 0, largest = 0;
  long count = exact->rows, turns = 0;
  assert_int_equal(run->rows, count);
  for (long i = 0; i < count; i++) {
    double a = run->data[2 * i + 1], b = exact->data[2 * i + 1];
    worst = fmax(worst, fabs(a - b)), largest = fmax(largest, fabs(b));
    turns += i > 0 && exact->data[2 * i - 1] * b < 0;
  }
  print_message("stick-slip: %.3g N off of %.4g N, %ld changes of its sign\n", worst, largest, turns);
  assert_true(worst <= 1e-3 * largest);
  assert_true(turns > 3);
  od_table_free(exact), od_table_free(run);
  od_machine_free(m);
}

// Held by the bristles: no more than they give way, y = load, over 1000 s in steps of 10 ms.
static void no_drift(void **state) {
  (void)state;
  static const char *const names[] = {"slide.position", "slide.friction"};
  char text[TEXT];
  double y[2], hundred[2], load = 0.9 * published_cylinders[4].side[0].Fs;
  write_machine(text, 100, 0, "ramps: {at: [[0 s, 0 N], [20 s, 1417.5 N]]}");
  od_machine *m = od_test_machine_text(text);
  od_test_run_to(m, "tr-bdf2", 100, 1e-2, names, 2, hundred);
  od_test_run_to(m, "tr-bdf2", 1000, 1e-2, names, 2, y);
  print_message("after 100 s %.9g m, after 1000 s %.9g m, friction %.9g N\n", hundred[0], y[0], y[1]);
  assert_true(fabs(y[1] - load) <= 1e-6 * load);
  // Bent bristles give way by y/(sigma_0 (1 - y/Fs)) at most; the rest would be drift.
  assert_true(y[0] > 0 && y[0] < 10 * load / 1e8);
  assert_true(fabs(y[0] - hundred[0]) <= 1e-9);
  od_machine_free(m);
}

// A run that begins with the states of another one goes on as that one does.
static void initial_states(void **state) {
  (void)state;
  static const char *const names[] = {"slide.position", "slide.rate", "slide.friction_bristle", "slide.friction_film"};
  char text[TEXT], more[TEXT + 400];
  double there[4], whole[4], second[4];
  write_machine(text, 300, 2e5, "steps: {at: [[0 s, 4 kN]]}");
  od_machine *m = od_test_machine_text(text);
  od_test_run_to(m, "tr-bdf2", 0.05, 1e-4, names, 4, there);
  od_test_run_to(m, "tr-bdf2", 0.1, 1e-4, names, 4, whole);
  od_machine_free(m);
  assert_true(fabs(there[2]) > 100 && there[3] > 0.01);
  char *initial = strstr(text, "initial:");
  *initial = '\0';
  snprintf(more, sizeof more, "%sinitial: {%s: %.17g, %s: %.17g, %s: %.17g, %s: %.17g}\n", text, names[0], there[0],
           names[1], there[1], names[2], there[2], names[3], there[3]);
  m = od_test_machine_text(more);
  od_test_run_to(m, "tr-bdf2", 0.05, 1e-4, names, 4, second);
  od_machine_free(m);
  for (int i = 0; i < 4; i++) {
    print_message("%s: %.12g, in two parts %.12g\n", names[i], whole[i], second[i]);
    assert_true(fabs(second[i] - whole[i]) <= 1e-7 * fabs(whole[i]));
  }
}

// Iterations of a step: each of the two stages of TR-BDF2, the one of the trapezoidal rule.
static void few_iterations(void **state) {
  (void)state;
  static const double masses[] = {30, 100, 300}, steps[] = {1e-4, 2e-4, 5e-4};
  static const struct {
    const char *name;
    int stages;
  } rules[] = {{"trapezoid", 1}, {"tr-bdf2", 2}};
  for (int r = 0; r < 2; r++)
    for (int i = 0; i < 3; i++)
      for (int k = 0; k < 3; k++) {
        char text[TEXT];
        write_machine(text, masses[i], 2e5, "sine: {amplitude: 5 kN, frequency: 1 Hz}");
        od_test_run run = od_test_begin(od_test_machine_text(text), "slide.rate", NULL);
        od_sim_set_integrator(run.sim, od_integrator_find(rules[r].name));
        double u = 0, y = 0, before = 0;
        long worst = 0, sum = 0, reversals = 0, count = lround(2 / steps[k]);
        assert_int_equal(od_sim_start(run.sim, 0, &u), OD_OK);
        for (long n = 1; n <= count; n++) {
          long had = od_sim_count(run.sim).residuals;
          u = 5000 * sin(2 * M_PI * (double)n * steps[k]);
          assert_int_equal(od_sim_step(run.sim, steps[k], &u), OD_OK);
          long now = od_sim_count(run.sim).residuals - had;
          worst = now > worst ? now : worst, sum += now;
          assert_int_equal(od_sim_outputs(run.sim, &y), OD_OK);
          reversals += before * y < 0, before = y;
        }
        print_message("%s, %g kg, %g ms: at most %.1f iterations a stage, %.2f in the mean, %ld reversals\n",
                      rules[r].name, masses[i], 1e3 * steps[k], (double)worst / rules[r].stages,
                      (double)sum / (double)count / rules[r].stages, reversals);
        assert_true(reversals >= 3);
        if (steps[k] < 1.5e-4) assert_true(worst <= 6 * rules[r].stages);
        assert_true(worst <= 10 * rules[r].stages);
        od_test_end(&run);
      }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(stick_slip), cmocka_unit_test(no_drift),
                                     cmocka_unit_test(initial_states), cmocka_unit_test(few_iterations)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
