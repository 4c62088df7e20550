// Loads of joints and rods. Oracles: Newton's and Euler's equations of every body, written by hand with the joint forces, the
// forces of cylinders and springs and the accelerations from the machine's outputs; differences for the derivatives; closed
// forms of a hanging rod and of a beam on a guide.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"
#include "machine/machine.h"
#include "model/outputs.h"
#include "oleodyn/sim.h"
#include "simulate/run.h"
#include "support/free_body.h"
#include "support/machine_file.h"

enum { MOST_OUTPUTS = WATCHED_OUTPUTS };

static od_machine *load_case(const char *name, bool spatial) {
  const od_load_options options = {.spatial = spatial};
  char path[512];
  od_machine *machine = NULL;
  od_messages *messages = od_messages_new();
  snprintf(path, sizeof path, "%s/cases/%s/machine.yaml", OD_SOURCE_DIR, name);
  assert_int_equal(od_machine_load(path, &options, &machine, messages), OD_OK);
  od_messages_free(messages);
  return machine;
}

// --- Newton and Euler by hand, in a plane ------------------------------------------------------------------------------

static void test_four_bar(void **state) {
  (void)state;
  static const free_body bodies[] = {
      {"crank",
       "crank.middle",
       100,
       100 * 4.0 / 12,
       {{"crank_pivot", "crank.start", 1}, {"elbow", "crank.end", -1}},
       {{"cylinder", "crank.middle", NULL, 1, -1, 0}},
       NULL,
       0},
      {"coupler",
       "coupler.middle",
       400,
       400 * 64.0 / 12,
       {{"elbow", "coupler.start", 1}, {"closing", "coupler.end", -1}},
       {{0}},
       NULL,
       0},
      {"rocker",
       "rocker.middle",
       250,
       250 * 25.0 / 12,
       {{"rocker_pivot", "rocker.start", 1}, {"closing", "rocker.end", 1}},
       {{0}},
       NULL,
       0},
  };
  watched_machine b;
  watched_begin(&b, load_case("fourbar-valve", false));
  for (int k = 0; k < 6; k++) {
    watched_run_to(&b, 0.4 * k, 1e-3);
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) free_body_check(&b, &bodies[i]);
    watched_check_power(&b);
  }
  watched_end(&b);
}

// Cylinders of radius r and length l: m (3 r^2 + l^2) / 12 about an axis across. The elbow has a damper. The drives, which act
// on two bodies each, start after one second. In space the same forces.
static void test_crane(void **state) {
  (void)state;
  static const free_body bodies[] = {
      {"boom",
       "boom.middle",
       200,
       200 * (3 * 0.15 * 0.15 + 16) / 12,
       {{"heel", "boom.start", 1}, {"elbow", "boom.end", -1}},
       {{"lift", "boom.lug", NULL, -1, 0.4, 0.3}, {"tilt", "boom.tie", "jib.horn", -1, 0, 0}},
       "elbow.spring_force",
       1},
      {"jib",
       "jib.middle",
       100,
       100 * (3 * 0.1 * 0.1 + 9) / 12,
       {{"elbow", "jib.start", 1}, {"hook", "jib.end", -1}},
       {{"tilt", "jib.horn", "boom.tie", -1, 0, 0}},
       "elbow.spring_force",
       -1},
      {"payload", "payload.centre", 250, 0, {{"hook", "payload.centre", 1}}, {{0}}, "hook.torque_z", 1},
  };
  watched_machine b, in_space;
  watched_begin(&b, load_case("crane", false));
  watched_begin(&in_space, load_case("crane", true));
  for (int k = 0; k < 5; k++) {
    watched_run_to(&b, 0.2 * k, 2e-3);
    watched_run_to(&in_space, 0.2 * k, 2e-3);
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) free_body_check(&b, &bodies[i]);
    watched_check_power(&b);
    near_scaled(shown(&in_space, "heel", "force_x"), shown(&b, "heel", "force_x"), 1e-7, 1);
    near_scaled(shown(&in_space, "elbow", "force_y"), shown(&b, "elbow", "force_y"), 1e-7, 1);
    assert_true(fabs(shown(&in_space, "heel", "force_z")) < 1e-9);
    assert_true(fabs(shown(&in_space, "heel", "torque_z")) < 1e-9);
  }
  watched_end(&b);
  watched_end(&in_space);
}

// --- Closed forms ----------------------------------------------------------------------------------------------------

// A slide of 20 kg with a force of 100 N, 0.4 m above its guide: the guide carries the weight and the moment, but no force along its
// axis. It joins slide and ground in this order, so the output is the load on the ground.
static const char slide[] =
    "gravity: [0, -9.81]\n"
    "bodies: {slide: {point: {mass: 20 kg}, points: {lug: [0, 0.4 m]}}}\n"
    "joints: {guide: {type: prismatic, between: [slide, ground], axis: [1, 0, 0]}}\n"
    "forces: {pull: {at: slide.lug, direction: [1, 0], value: 100 N}}\n"
    "initial: {guide.position: 0}\n"
    "run: {time: 1 s, step: 1 ms, outputs: [guide.force]}\n";

static void test_guide(void **state) {
  watched_machine b;
  watched_begin(&b, machine_from(*state, slide, NULL, NULL));
  watched_run_to(&b, 0, 1e-3);
  near_scaled(shown(&b, "guide", "force_x"), 0, 1e-12, 1);
  near_scaled(shown(&b, "guide", "force_y"), -20 * 9.81, 1e-12, 1);
  near_scaled(shown(&b, "guide", "torque_z"), -40, 1e-12, 1);
  near_scaled(shown(&b, "guide", "torque"), 40, 1e-12, 1);
  watched_end(&b);
}

// The rocker of the linkage turns about B, driven by the rod and by its weight: Euler's equation about the axis gives the rod's
// force, Newton's equation the load of joint B.
static void test_rod(void **state) {
  (void)state;
  const double axis[3] = {0, 0.8, 0.6}, mass = 3, inertia = 3 * 0.8 * 0.8 / 3;
  const char *const xyz[] = {"x", "y", "z"}, *const accelerations[] = {"ax", "ay", "az"};
  const char *const forces[] = {"force_x", "force_y", "force_z"};
  watched_machine b;
  watched_begin(&b, load_case("rssr", false));
  for (int k = 1; k < 6; k++) {
    watched_run_to(&b, 0.3 * k, 1e-3);
    double tip[3], centre[3], pull[3], weight[3] = {0, 0, -9.81 * mass}, lever = 0, moment = 0;
    for (int i = 0; i < 3; i++) {
      tip[i] = shown(&b, "rocker.end", xyz[i]) - shown(&b, "rocker.start", xyz[i]);
      centre[i] = shown(&b, "rocker.middle", xyz[i]) - shown(&b, "rocker.start", xyz[i]);
      pull[i] = shown(&b, "crank.end", xyz[i]) - shown(&b, "rocker.end", xyz[i]);  // the rod is 1 m long
    }
    for (int i = 0; i < 3; i++) {
      int j = (i + 1) % 3, l = (i + 2) % 3;
      lever += axis[i] * (tip[j] * pull[l] - tip[l] * pull[j]);
      moment += axis[i] * (centre[j] * weight[l] - centre[l] * weight[j]);
    }
    double tension = shown(&b, "rod", "force");
    near_scaled(lever * tension, inertia * shown(&b, "B", "acceleration") - moment, 1e-9, 1);
    for (int i = 0; i < 3; i++)
      near_scaled(shown(&b, "B", forces[i]),
                  mass * shown(&b, "rocker.middle", accelerations[i]) - weight[i] - tension * pull[i], 1e-9, 1);
  }
  watched_end(&b);
}

// --- Derivatives against differences -----------------------------------------------------------------------------------

static od_plant *reaction_plant(const od_machine *machine, const char *parameter, int *count) {
  int list[MOST_OUTPUTS], number = -1;
  *count = 0;
  for (int i = 0; i < od_machine_output_count(machine); i++) {
    const char *name = od_machine_output_name(machine, i);
    if (strstr(name, ".force") || strstr(name, ".torque")) list[(*count)++] = i;
  }
  for (int i = 0; i < od_machine_number_count(machine); i++)
    if (!strcmp(od_machine_number(machine, i).path, parameter)) number = i;
  assert_true(number >= 0);
  od_plant *plant = NULL;
  assert_int_equal(od_machine_plant(machine, list, *count, &number, 1, &plant, NULL), OD_OK);
  return plant;
}

// The outputs with one entry moved: of the state, the inputs or the parameter.
static void look(od_sim *sim, const double *x, const double *u, double p, double *y) {
  assert_int_equal(od_sim_set_with_parameters(sim, 1, x, u, &p), OD_OK);
  assert_int_equal(od_sim_outputs(sim, y), OD_OK);
}

static void check_slopes(od_machine *machine, const char *parameter) {
  enum { MOST = 64 };
  int count;
  double x[MOST], u[8] = {0}, p, above[MOST], below[MOST];
  od_plant *plant = reaction_plant(machine, parameter, &count);
  od_sim *sim = od_sim_new(plant);
  int nx = od_plant_nx(plant), nu = plant->nu;
  assert_true(nx <= MOST && nu <= 8 && count <= MOST && count > 3);
  double *h = calloc((size_t)(count * (nx + nu + 1)), sizeof *h), *hu = h + count * nx, *hp = hu + count * nu;
  od_machine_inputs(machine, 0, u);
  assert_int_equal(od_sim_start(sim, 0, u), OD_OK);
  for (int k = 1; k <= 200; k++) {
    od_machine_inputs(machine, 0.005 * k, u);
    assert_int_equal(od_sim_step(sim, 0.005, u), OD_OK);
  }
  memcpy(x, od_sim_state(sim), (size_t)nx * sizeof *x);
  od_sim_parameters(sim, &p);
  look(sim, x, u, p, above);
  assert_int_equal(od_sim_output_jacobians(sim, h, hu, hp), OD_OK);
  for (int j = 0; j < nx + nu + 1; j++) {
    double *moved = j < nx ? &x[j] : j < nx + nu ? &u[j - nx] : &p, kept = *moved, step = 1e-6 * fmax(1, fabs(kept));
    *moved = kept + step, look(sim, x, u, p, above);
    *moved = kept - step, look(sim, x, u, p, below);
    *moved = kept;
    for (int i = 0; i < count; i++) {
      double slope = (above[i] - below[i]) / (2 * step);
      double exact = j < nx ? h[i * nx + j] : j < nx + nu ? hu[i * nu + j - nx] : hp[i];
      double typical = fabs(above[i]) / fmax(1, fabs(kept));
      if (!(fabs(exact - slope) <= 2e-5 * fabs(exact) + 1e-5 * typical + 1e-6))
        fail_msg("output %d, column %d: %.9g instead of %.9g", i, j, exact, slope);
    }
  }
  free(h);
  od_sim_free(sim);
  od_plant_free(plant);
  od_machine_free(machine);
}

static void test_slopes(void **state) {
  (void)state;
  check_slopes(load_case("fourbar-valve", false), "coupler.beam.mass");
  check_slopes(load_case("rssr", false), "rod.length");
  check_slopes(load_case("crane", true), "payload.point.mass");
}

// --- Loops with redundant equations
// --------------------------------------------------------------------------------------

// Bricard's linkage has one; the four-bar in its plane has none, in space it has three.
static void test_shared(void **state) {
  (void)state;
  const struct {
    const char *name, *output;
    bool spatial, shared;
  } rows[] = {{"bricard", "J2.force", false, true},
              {"fourbar-valve", "closing.force", false, false},
              {"fourbar-valve", "elbow.force_x", true, true},
              {"fourbar-valve", "cylinder.force", true, false},
              {"crane", "elbow.force", true, false}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    od_machine *machine = load_case(rows[i].name, rows[i].spatial);
    int output = od_machine_output_find(machine, rows[i].output);
    assert_true(od_model_output_is_shared(od_machine_model(machine), output) == rows[i].shared);
    const od_run_options options = {.time = 0.05, .step = 1e-3, .outputs = &output, .output_count = 1};
    od_run_report report = {0};
    od_table *table = NULL;
    assert_int_equal(od_run(machine, &options, &table, &report, NULL), OD_OK);
    assert_true(od_verdict_has(&report.verdict, "load.shared") == rows[i].shared);
    od_run_report_free(&report);
    od_table_free(table);
    od_machine_free(machine);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_four_bar),
      cmocka_unit_test(test_crane),
      cmocka_unit_test_setup_teardown(test_guide, machine_file_start, machine_file_end),
      cmocka_unit_test(test_rod),
      cmocka_unit_test(test_slopes),
      cmocka_unit_test(test_shared),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
