// Friction laws inside machines: a mass on a spring with bristles as stiff as 1e8 N/m.
// Oracles: CVODES on the same equations (tolerance 1e-10); a closed form for standstill under a constant load; the number of
// residuals of an iteration; for a run in two parts, the run in one part.
#define _DEFAULT_SOURCE  // M_PI
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"
#include "integrate/integrators.h"
#include "support/machines.h"
#include "support/published_cylinders.h"

enum { TEXT = 2000 };

// A mass on a spring, pulled by a force over time, with the friction of cylinder #5.
static void write_machine(char text[TEXT], double sigma_0, double mass, double stiffness, const char *pull) {
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
           sigma_0, c->sigma_1, c->tau_hp, c->tau_hn, c->tau_h0, pull);
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
  write_machine(text, 1e8, 300, 2e5, "sine: {amplitude: 5 kN, frequency: 1 Hz}");
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

// Held by the bristles: the motion is only their deflection, y = load, over 1000 s in steps of 10 ms.
static void no_drift(void **state) {
  (void)state;
  static const char *const names[] = {"slide.position", "slide.friction"};
  char text[TEXT];
  double y[2], hundred[2], load = 0.9 * published_cylinders[4].side[0].Fs;
  write_machine(text, 1e8, 100, 0, "ramps: {at: [[0 s, 0 N], [20 s, 1417.5 N]]}");
  od_machine *m = od_test_machine_text(text);
  od_test_run_to(m, "tr-bdf2", 100, 1e-2, names, 2, hundred);
  od_test_run_to(m, "tr-bdf2", 1000, 1e-2, names, 2, y);
  print_message("after 100 s %.9g m, after 1000 s %.9g m, friction %.9g N\n", hundred[0], y[0], y[1]);
  assert_true(fabs(y[1] - load) <= 1e-6 * load);
  // The deflection of the bristles is at most y/(sigma_0 (1 - y/Fs)); more would be drift.
  assert_true(y[0] > 0 && y[0] < 10 * load / 1e8);
  assert_true(fabs(y[0] - hundred[0]) <= 1e-9);
  od_machine_free(m);
}

// A run that starts with the states of another run continues in the same way.
static void initial_states(void **state) {
  (void)state;
  static const char *const names[] = {"slide.position", "slide.rate", "slide.friction_bristle", "slide.friction_film"};
  char text[TEXT], more[TEXT + 400];
  double there[4], whole[4], second[4];
  write_machine(text, 1e8, 300, 2e5, "steps: {at: [[0 s, 4 kN]]}");
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

// Iterations of the steps of a run through reversals.
typedef struct effort {
  long steps, worst, sum, reversals;
  bool no_end;  // of the iterations of a step, the last one
} effort;
static effort effort_of(const char *integrator, double sigma_0, double mass, double step) {
  char text[TEXT];
  effort e = {0};
  write_machine(text, sigma_0, mass, 2e5, "sine: {amplitude: 5 kN, frequency: 1 Hz}");
  od_test_run run = od_test_begin(od_test_machine_text(text), "slide.rate", NULL);
  od_sim_set_integrator(run.sim, od_integrator_find(integrator));
  double u = 0, y = 0, before = 0;
  assert_int_equal(od_sim_start(run.sim, 0, &u), OD_OK);
  for (long n = 1, count = lround(2 / step); n <= count; n++) {
    long had = od_sim_count(run.sim).residuals;
    u = 5000 * sin(2 * M_PI * (double)n * step);
    e.no_end = od_sim_step(run.sim, step, &u) != OD_OK;
    if (e.no_end) break;
    e.steps++;
    long now = od_sim_count(run.sim).residuals - had;
    e.worst = now > e.worst ? now : e.worst, e.sum += now;
    assert_int_equal(od_sim_outputs(run.sim, &y), OD_OK);
    e.reversals += before * y < 0, before = y;
  }
  od_test_end(&run);
  return e;
}

// Iterations of a step: each of the two stages of TR-BDF2, the one of the trapezoidal rule. At most six for any stiffness of the
// bristles, up to 0.1 ms with the trapezoidal rule and 0.25 ms with TR-BDF2. In longer steps a light mass passes over a reversal
// within a step, which needs more iterations; at 1 ms the trapezoidal rule may not converge, which it reports.
static void few_iterations(void **state) {
  (void)state;
  static const double stiffness[] = {1e6, 1e7, 1e8}, masses[] = {30, 300};
  static const double steps[] = {5e-5, 1e-4, 2.5e-4, 5e-4, 1e-3};
  static const struct {
    const char *name;
    int stages, most[5];  // for each step; 0: no limit, and it may not converge
  } rules[] = {{"trapezoid", 1, {6, 6, 7, 10, 0}}, {"tr-bdf2", 2, {6, 6, 6, 7, 17}}};
  for (int r = 0; r < 2; r++)
    for (int i = 0; i < 3; i++)
      for (int m = 0; m < 2; m++)
        for (int k = 0; k < 5; k++) {
          effort e = effort_of(rules[r].name, stiffness[i], masses[m], steps[k]);
          double per_stage = 1.0 / rules[r].stages;
          print_message(
              "%s, %g N/m, %g kg, %g ms: at most %.1f iterations a stage, %.2f in the mean, %ld reversals%s\n",
              rules[r].name, stiffness[i], masses[m], 1e3 * steps[k], (double)e.worst * per_stage,
              (double)e.sum / (double)e.steps * per_stage, e.reversals, e.no_end ? ", then a step without an end" : "");
          assert_true(e.reversals >= 3);
          if (rules[r].most[k] > 0) assert_true(!e.no_end && e.worst <= rules[r].most[k] * rules[r].stages);
        }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(stick_slip), cmocka_unit_test(no_drift),
                                     cmocka_unit_test(initial_states), cmocka_unit_test(few_iterations)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
