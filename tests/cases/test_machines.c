// The other machines of cases/ against closed forms and hand-written equations (tests/oracle, no code in common with
// the engine).
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/test.h"
#include "machine/machine.h"
#include "model/model.h"
#include "oracle/pendulum.h"
#include "oracle/spatial_loops.h"
#include "support/machines.h"

static const double pi = 3.14159265358979323846;

static void advance(od_test_run *r, double h, int steps, bool rk4) {
  bool changed;
  od_sim_set_integrator(r->sim, od_integrator_find(rk4 ? "rk4" : "trapezoid"));
  for (int i = 0; i < steps; i++) {
    assert_int_equal(od_sim_repartition(r->sim, NULL, &changed), OD_OK);
    assert_int_equal(od_sim_step(r->sim, h, NULL), OD_OK);
  }
}

// Oracle: the Lagrangian equations, integrated to round-off.
static void double_pendulum(void **state) {
  (void)state;
  const oracle_pendulum m = {.mass = {2, 1}, .length = {1, 0.7}, .gravity = 9.81};
  oracle_pendulum_sample *s = malloc(201 * sizeof *s);
  oracle_pendulum_run(&m, (double[]){0, pi / 4}, (double[]){0, 1}, 1e-2, 200, 8, s);
  od_test_run r = od_test_begin(od_test_machine("cases/double-pendulum/machine.yaml", NULL), "upper.angle",
                                "lower.angle", "lower.end.x", "lower.end.y", "energy.stored", NULL);
  double y[5], worst = 0;
  for (int i = 1; i <= 200; i++) {
    advance(&r, 1e-3, 10, true);
    od_sim_outputs(r.sim, y);
    const double want[4] = {s[i].angle[0], s[i].angle[1], s[i].tip[0], s[i].tip[1]};
    for (int k = 0; k < 4; k++) worst = fmax(worst, fabs(y[k] - want[k]));
  }
  print_message("double pendulum: largest difference over 2 s %.2g\n", worst);
  assert_true(worst < 1e-9);
  free(s);
  od_test_end(&r);
}

// The chain of N windows swings like one plain pendulum for any N: all bars stay parallel.
static void chains(void **state) {
  (void)state;
  static const int windows[] = {1, 5, 20, 40};
  for (size_t c = 0; c < sizeof windows / sizeof *windows; c++) {
    int n = windows[c];
    char file[] = "/tmp/oleodyn-chain-XXXXXX", command[1024], name[32];
    int fd = mkstemp(file);
    assert_true(fd >= 0);
    close(fd);
    snprintf(command, sizeof command, "sh '%s/cases/fourbar-chain/generate.sh' %d > %s", OD_SOURCE_DIR, n, file);
    assert_int_equal(system(command), 0);
    snprintf(name, sizeof name, "bar%d.angle", n);
    od_test_run r = od_test_begin(od_test_machine(file, NULL), "A0.angle", name, "energy.balance", NULL);
    unlink(file);
    double angle[101], rate[101], y[3], worst = 0;
    oracle_swing_run(oracle_chain_constant(n, 9.81), -pi / 3, 0, 1e-2, 100, 8, angle, rate);
    for (int i = 1; i <= 100; i++) {
      advance(&r, 1e-3, 10, false);
      od_sim_outputs(r.sim, y);
      worst = fmax(worst, fmax(fabs(y[0] - angle[i]), fabs(y[1] - angle[i])));
    }
    print_message("chain of %d: largest difference over 1 s at 1 ms %.2g rad\n", n, worst);
    assert_true(worst < 1e-5);  // the trapezoidal rule's own error
    od_test_end(&r);
  }
}

// The rocker's angle is a function of the crank's, in closed form.
static void rssr(void **state) {
  (void)state;
  // The rocker turns about (0, 0.8, 0.6); at angle zero it points along x.
  const oracle_rssr m = {.crank = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, 0.3},
                         .rocker = {{1, 0, 0.2}, {1, 0, 0}, {0, 0.6, -0.8}, 0.8},
                         .rod = 1};
  static const char *const files[] = {"cases/rssr/machine.yaml", "cases/rssr/coupler.yaml"};
  for (int f = 0; f < 2; f++) {
    od_test_run r = od_test_begin(od_test_machine(files[f], NULL), "A.angle", "B.angle", "A.rate", "B.rate", NULL);
    double y[4], worst = 0, turned = 0;
    for (int i = 0; i < 400; i++) {
      advance(&r, 2e-3, 5, false);
      od_sim_outputs(r.sim, y);
      double best = INFINITY, rocker;
      for (int branch = -1; branch <= 1; branch += 2)
        if (oracle_rssr_rocker(&m, y[0], branch, &rocker) == 0)
          best = fmin(best, fabs(remainder(y[1] - rocker, 2 * pi)));
      worst = fmax(worst, best);
      worst = fmax(worst, fabs(y[3] - oracle_rssr_ratio(&m, y[0], y[1]) * y[2]) / (1 + fabs(y[3])));
      turned = fmax(turned, fabs(y[0]));
    }
    print_message("%s: closure to %.2g over %.1f rad of the crank\n", files[f], worst, turned);
    assert_true(worst < 1e-11);
    assert_true(turned > 1);
    od_test_end(&r);
  }
}

// Six revolute joints in a ring usually cannot move; with these axes they can, and every second angle is equal.
static void bricard(void **state) {
  (void)state;
  od_machine *machine = od_test_machine("cases/bricard/machine.yaml", NULL);
  od_model_facts facts = od_model_get_facts(od_machine_model(machine));
  assert_int_equal(facts.closure_rows, 5);
  assert_int_equal(facts.closure_rank, 4);  // one row is redundant
  assert_int_equal(facts.freedom, 1);
  od_test_run r = od_test_begin(machine, "J1.angle", "J2.angle", "J3.angle", "J4.angle", "J5.angle", NULL);
  double y[5], worst = 0, low = INFINITY, high = -INFINITY;
  for (int i = 0; i < 400; i++) {
    advance(&r, 1e-3, 10, false);
    od_sim_outputs(r.sim, y);
    double even = oracle_bricard_angle(y[0]);
    worst = fmax(worst, fmax(fabs(y[2] - y[0]), fabs(y[4] - y[0])));
    worst = fmax(worst, fmax(fabs(y[1] - even), fabs(y[3] - even)));
    low = fmin(low, y[0]), high = fmax(high, y[0]);
  }
  print_message("bricard: closure to %.2g, first angle from %.2f to %.2f rad\n", worst, low, high);
  assert_true(worst < 1e-10);
  assert_true(high - low > 0.1);
  od_test_end(&r);
}

// A planar machine computed in space must move in the same way; in space a planar loop has three redundant rows.
static void planar_machines_in_space(void **state) {
  (void)state;
  static const char *const files[] = {"cases/fourbar-observer/spring.yaml", "cases/crane/machine.yaml",
                                      "cases/slider-crank/slider-first.yaml", "cases/fourbar-chain/chain-5.yaml"};
  static const char *const watched[][3] = {{"crank.end.x", "spring.force", "A.acceleration"},
                                           {"payload.centre.y", "lift.loss", "elbow.rate"},
                                           {"rod.middle.ay", "guide.rate", "main.angle"},
                                           {"coupler2.end.x", "A3.rate", "energy.kinetic"}};
  for (size_t f = 0; f < sizeof files / sizeof *files; f++) {
    char file[512];
    snprintf(file, sizeof file, "%s/%s", OD_SOURCE_DIR, files[f]);
    od_machine *flat = od_test_machine(files[f], NULL), *space = NULL;
    od_messages *messages = od_messages_new();
    assert_int_equal(od_machine_load(file, &(od_load_options){.spatial = true}, &space, messages), OD_OK);
    od_messages_free(messages);
    od_model_facts a = od_model_get_facts(od_machine_model(flat)), b = od_model_get_facts(od_machine_model(space));
    assert_true(a.planar);
    assert_false(b.planar);
    assert_int_equal(a.freedom, b.freedom);
    assert_int_equal(a.closure_rank, b.closure_rank);
    assert_int_equal(b.closure_rows - b.closure_rank, 3 * a.loops);
    od_test_run p = od_test_begin(flat, watched[f][0], watched[f][1], watched[f][2], NULL);
    od_test_run q = od_test_begin(space, watched[f][0], watched[f][1], watched[f][2], NULL);
    double y[3], x[3], u[4] = {0}, worst = 0, size[3] = {0};
    bool changed;
    for (int i = 1; i <= 500; i++) {
      if (p.plant->nu) od_machine_inputs(flat, i * 1e-3, u);
      od_sim_repartition(p.sim, NULL, &changed);
      od_sim_repartition(q.sim, NULL, &changed);
      assert_int_equal(od_sim_step(p.sim, 1e-3, u), OD_OK);
      assert_int_equal(od_sim_step(q.sim, 1e-3, u), OD_OK);
      od_sim_outputs(p.sim, y);
      od_sim_outputs(q.sim, x);
      for (int k = 0; k < 3; k++) {
        size[k] = fmax(size[k], fabs(y[k]));
        worst = fmax(worst, fabs(x[k] - y[k]) / size[k]);
      }
    }
    print_message("%s in space: %d rows, %d independent; largest relative difference %.2g\n", files[f], b.closure_rows,
                  b.closure_rank, worst);
    assert_true(worst < 1e-8);
    od_test_end(&p);
    od_test_end(&q);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(double_pendulum), cmocka_unit_test(chains),
                                     cmocka_unit_test(rssr), cmocka_unit_test(bricard),
                                     cmocka_unit_test(planar_machines_in_space)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
