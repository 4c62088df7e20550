// od_sim_advance(): jumps of inputs, times within steps, fixed and adaptive steps. Oracles: closed forms of x' = u - x for
// inputs that jump and have kinks, and the runs of `simulate`, whose rows a program over the public API must repeat to the bit.
#include "support/test.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "oleodyn/oleodyn.h"
#include "simulate/run.h"
#include "support/allocations.h"
#include "support/machines.h"

// --- A first-order lag ----------------------------------------------------------------------------------------------

static int lag(void *user, double t, const double *x, const double *u, const double *p, double *dx) {
  (void)user, (void)t, (void)p;
  dx[0] = u[0] - x[0];
  return 0;
}
static int lag_jacobians(void *user, double t, const double *x, const double *u, const double *p, double *fx,
                         double *fu, double *fp) {
  (void)user, (void)t, (void)x, (void)u, (void)p, (void)fp;
  if (fx) fx[0] = -1;
  if (fu) fu[0] = 1;
  return 0;
}

// A pulse of height 1 from 0.0123 s to 0.0456 s.
static const double rise = 0.0123, fall = 0.0456;
static void pulse(const void *user, double t, double *u) {
  (void)user;
  u[0] = t >= rise && t < fall ? 1 : 0;
}
static double pulse_break(const void *user, double t) {
  (void)user;
  return t < rise ? rise : t < fall ? fall : (double)INFINITY;
}
static double exact(double t) {
  return t < rise ? 0 : (1 - exp(-(fmin(t, fall) - rise))) * (t > fall ? exp(-(t - fall)) : 1);
}

static od_sim *start_lag(od_plant **plant, const char *integrator) {
  const double x0 = 0, u0 = 0;
  od_error err;
  const od_function f = {.nx = 1, .nu = 1, .ny = 1, .x0 = &x0, .f = lag, .f_jacobians = lag_jacobians};
  assert_int_equal(od_plant_from_function(&f, plant, &err), OD_OK);
  od_sim *sim = od_sim_new(*plant);
  od_sim_set_integrator(sim, od_integrator_find(integrator));
  assert_int_equal(od_sim_start(sim, 0, &u0), OD_OK);
  return sim;
}

static void test_pulse(void **state) {
  (void)state;
  static const struct {
    const char *integrator;
    double step, tolerance, error;
  } methods[] = {
      {"trapezoid", 1e-3, 0, 1e-7}, {"rk4", 1e-3, 0, 1e-13}, {"tr-bdf2", 0, 1e-6, 1e-7}, {"tr-bdf2", 1e-3, 0, 1e-7}};
  for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
    od_plant *plant;
    od_sim *sim = start_lag(&plant, methods[i].integrator), *at;
    const od_advance_options options = {
        .step = methods[i].step, .tolerance = methods[i].tolerance, .inputs = {NULL, pulse, pulse_break}};
    od_advance *advance = od_advance_new(sim, &options);
    assert_non_null(advance);
    for (int k = 1; k <= 100; k++) {
      // Adaptive steps: also times within steps.
      double t = methods[i].step > 0 ? k * 1e-3 : k * 1e-3 + 0.00037 * (k % 3);
      od_status status = od_sim_advance(advance, t, &at);
      if (status != OD_OK) fail_msg("%s to %.6g s: %s", methods[i].integrator, t, od_status_text(status));
      near(od_sim_time(at), t, 1e-15);
      near(od_sim_state(at)[0], exact(t), methods[i].error);
    }
    od_advance_free(advance);
    od_sim_free(sim);
    od_plant_free(plant);
  }
}

static void test_rejected_times(void **state) {
  (void)state;
  od_plant *plant;
  od_sim *sim = start_lag(&plant, "trapezoid"), *at;
  od_advance *advance = od_advance_new(sim, &(od_advance_options){.step = 1e-3, .inputs = {NULL, pulse, pulse_break}});
  assert_int_equal(od_sim_advance(advance, 0.0105, &at), OD_BAD_ARGUMENT);  // between two steps
  assert_true(od_sim_time(sim) == 0);
  assert_int_equal(od_sim_advance(advance, 0.02, &at), OD_OK);
  assert_int_equal(od_sim_advance(advance, 0.01, &at), OD_BAD_ARGUMENT);  // passed
  od_advance_free(advance);
  // An integrator without an error estimate has no adaptive steps.
  assert_null(od_advance_new(sim, &(od_advance_options){.inputs = {NULL, pulse, pulse_break}}));
  od_sim_free(sim);
  sim = start_lag(&plant, "tr-bdf2");
  advance = od_advance_new(sim, &(od_advance_options){.end = 0.05, .inputs = {NULL, pulse, pulse_break}});
  assert_int_equal(od_sim_advance(advance, 0.06, &at), OD_BAD_ARGUMENT);  // beyond the end
  assert_int_equal(od_sim_advance(advance, 0.05, &at), OD_OK);
  near(od_sim_state(at)[0], exact(0.05), 1e-5);
  od_advance_free(advance);
  od_sim_free(sim);
  od_plant_free(plant);
}

// An advance that is saved after several seconds and restored in another one continues with the same bits.
static void test_saved_late(void **state) {
  (void)state;
  static const struct {
    const char *integrator;
    double step;
  } methods[] = {{"trapezoid", 0.01}, {"tr-bdf2", 0}};
  for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
    const double x0 = 0, u0 = 0;
    od_plant *plant = NULL;
    const od_function f = {
        .nx = 1, .nu = 1, .ny = 1, .x0 = &x0, .f = lag, .f_jacobians = lag_jacobians, .fingerprint = 1};
    assert_int_equal(od_plant_from_function(&f, &plant, NULL), OD_OK);
    od_sim *sim[2], *at;
    od_advance *advance[2];
    for (int k = 0; k < 2; k++) {
      sim[k] = od_sim_new(plant);
      od_sim_set_integrator(sim[k], od_integrator_find(methods[i].integrator));
      assert_int_equal(od_sim_start(sim[k], 0, &u0), OD_OK);
      const od_advance_options options = {
          .step = methods[i].step, .longest = 0.1, .end = 7, .inputs = {NULL, pulse, pulse_break}};
      advance[k] = od_advance_new(sim[k], &options);
      assert_non_null(advance[k]);
    }
    assert_int_equal(od_sim_advance(advance[0], 5, &at), OD_OK);
    size_t size = od_advance_save_size(advance[0]);
    void *saved = aligned_alloc(16, (size + 15) / 16 * 16);
    assert_non_null(saved);
    assert_int_equal(od_advance_save(advance[0], saved), OD_OK);
    od_error err = {0};
    if (od_advance_restore(advance[1], saved, size, &err) != OD_OK) fail_msg("%s", err.text);
    double last[2];
    for (int k = 0; k < 2; k++) {
      assert_int_equal(od_sim_advance(advance[k], 7, &at), OD_OK);
      near(od_sim_time(at), 7, 1e-12);
      last[k] = od_sim_state(at)[0];
    }
    assert_true(last[0] == last[1]);
    for (int k = 0; k < 2; k++) od_advance_free(advance[k]), od_sim_free(sim[k]);
    free(saved);
    od_plant_free(plant);
  }
}

// od_sim_advance_up_to() stops exactly at a time and leaves the jump there pending. The state may change in between.
static void test_up_to(void **state) {
  (void)state;
  for (int adaptive = 0; adaptive < 2; adaptive++) {
    od_plant *plant;
    od_sim *sim = start_lag(&plant, "tr-bdf2"), *at;
    // Fixed steps of which one ends at the rise.
    const od_advance_options options = {
        .step = adaptive ? 0 : rise, .tolerance = 1e-8, .inputs = {NULL, pulse, pulse_break}};
    od_advance *advance = od_advance_new(sim, &options);
    assert_int_equal(od_sim_advance_up_to(advance, rise), OD_OK);
    near(od_sim_time(sim), rise, 1e-15);
    assert_true(od_sim_inputs(sim)[0] == 0);
    const double x = 2;
    assert_int_equal(od_sim_set(sim, od_sim_time(sim), &x, od_sim_inputs(sim)), OD_OK);
    assert_int_equal(od_sim_advance(advance, rise, &at), OD_OK);
    assert_ptr_equal(at, sim);
    assert_true(od_sim_inputs(sim)[0] == 1 && od_sim_state(sim)[0] == 2);
    // x' = 1 - x from 2.
    assert_int_equal(od_sim_advance_up_to(advance, 2 * rise), OD_OK);
    near(od_sim_time(sim), 2 * rise, 1e-15);
    near(od_sim_state(sim)[0], 1 + exp(-rise), 1e-7);
    // A time that the simulation has passed.
    assert_int_equal(od_sim_advance_up_to(advance, rise), OD_BAD_ARGUMENT);
    if (adaptive) {
      assert_int_equal(od_sim_advance(advance, 0.03001, &at), OD_OK);
      assert_true(od_sim_time(sim) > 0.03001 + 1e-6);  // the last step ends later
      assert_int_equal(od_sim_advance_up_to(advance, 0.5 * (0.03001 + od_sim_time(sim))), OD_BAD_ARGUMENT);
    }
    od_advance_free(advance);
    od_sim_free(sim);
    od_plant_free(plant);
  }
}

// Without a source the inputs are those of the simulation, also if the caller changes them. x' = u - x, u = 1 for 0.1 s, then 3.
static void test_inputs_of_the_caller(void **state) {
  (void)state;
  for (int adaptive = 0; adaptive < 2; adaptive++) {
    od_plant *plant;
    od_sim *sim = start_lag(&plant, "tr-bdf2");
    od_advance *advance = od_advance_new(sim, &(od_advance_options){.step = adaptive ? 0 : 1e-3, .tolerance = 1e-8});
    const double u[] = {1, 3};
    double x = 0;
    for (int i = 0; i < 2; i++) {
      assert_int_equal(od_sim_set_inputs(sim, &u[i]), OD_OK);
      assert_int_equal(od_sim_advance_up_to(advance, 0.1 * (i + 1)), OD_OK);
      x = u[i] + (x - u[i]) * exp(-0.1);
      near(od_sim_state(sim)[0], x, 1e-6);
      assert_true(od_sim_inputs(sim)[0] == u[i]);
    }
    od_advance_free(advance);
    od_sim_free(sim);
    od_plant_free(plant);
  }
}

static od_status stop_at_20_ms(void *user, od_moment moment, od_sim *sim, double h) {
  (void)h;
  ++*(int *)user;
  return moment == OD_MOMENT_TRY && od_sim_time(sim) >= 0.02 ? OD_INTERRUPTED : OD_OK;
}

static void test_watch(void **state) {
  (void)state;
  od_plant *plant;
  od_sim *sim = start_lag(&plant, "tr-bdf2");
  int calls = 0;
  od_advance *advance = od_advance_new(
      sim, &(od_advance_options){.inputs = {NULL, pulse, pulse_break}, .watch = stop_at_20_ms, .watcher = &calls});
#if COUNTING
  long before = allocations;
#endif
  assert_int_equal(od_sim_advance(advance, 1, NULL), OD_INTERRUPTED);
#if COUNTING
  assert_true(allocations == before);
#endif
  assert_true(calls > 20);
  assert_int_equal(od_advance_get_failure(advance).problem, OD_ADVANCE_WATCH);
  near(od_sim_time(sim), 0.02, 1.1e-3);
  od_advance_free(advance);
  od_sim_free(sim);
  od_plant_free(plant);
}

// --- Machines -------------------------------------------------------------------------------------------------------

// Runs a machine for a short time by od_run() and by a loop over the public API, and compares all rows.
static void compare_machine(const char *path, bool adaptive) {
  od_machine *machine;
  od_messages *messages = od_messages_new();
  assert_int_equal(od_machine_load(path, NULL, &machine, messages), OD_OK);
  const od_run_defaults *run = od_machine_run(machine);
  enum { ROWS = 60 };
  const double step = 1e-3, time = ROWS * step;
  const char *integrator = adaptive ? "tr-bdf2" : "trapezoid";
  od_run_options options = {.time = time,
                            .step = step,
                            .integrator = integrator,
                            .adaptive = adaptive,
                            .tolerance = 1e-5,
                            .outputs = run->outputs,
                            .output_count = run->output_count,
                            .unjudged = true};
  od_table *table = NULL;
  od_run_report report = {0};
  od_error err = {0};
  if (od_run(machine, &options, &table, &report, &err) != OD_OK) fail_msg("%s: %s", path, err.text);

  od_plant *plant;
  assert_int_equal(od_machine_plant(machine, run->outputs, run->output_count, NULL, 0, &plant, &err), OD_OK);
  od_sim *sim = od_sim_plain_new(plant), *at = sim;
  double *u = calloc((size_t)plant->nu + 1, sizeof *u), *y = calloc((size_t)plant->ny + 1, sizeof *y);
  od_machine_inputs(machine, 0, u);
  assert_int_equal(od_sim_start(sim, 0, u), OD_OK);
  od_sim_set_integrator(sim, od_integrator_find(integrator));
  od_advance *advance = od_advance_new(sim, &(od_advance_options){.step = adaptive ? 0 : step,
                                                                  .tolerance = 1e-5,
                                                                  .end = adaptive ? time : 0,
                                                                  .inputs = od_machine_input_source(machine)});
  for (int row = 0; row <= ROWS; row++) {
    if (row > 0) assert_int_equal(od_sim_advance(advance, row < ROWS || !adaptive ? row * step : time, &at), OD_OK);
    assert_int_equal(od_sim_outputs(at, y), OD_OK);
    for (int i = 0; i < plant->ny; i++)
      if (memcmp(&y[i], &table->data[row * table->columns + 1 + i], sizeof *y) != 0)
        fail_msg("%s: output %d in row %d is %.17g, expected %.17g", path, i, row, y[i],
                 table->data[row * table->columns + 1 + i]);
  }
  od_advance_free(advance);
  free(u), free(y);
  od_sim_free(sim);
  od_plant_free(plant);
  od_table_free(table);
  od_run_report_free(&report);
  od_machine_free(machine);
  od_messages_free(messages);
}

static void test_machines(void **state) {
  (void)state;
  DIR *cases = opendir(OD_SOURCE_DIR "/cases");
  assert_non_null(cases);
  int count = 0;
  for (struct dirent *entry; (entry = readdir(cases)) != NULL;) {
    char path[600];
    snprintf(path, sizeof path, "%s/%s/machine.yaml", OD_SOURCE_DIR "/cases", entry->d_name);
    FILE *file = entry->d_name[0] == '.' ? NULL : fopen(path, "r");
    if (file == NULL) continue;
    fclose(file);
    compare_machine(path, false);
    compare_machine(path, true);
    count++;
  }
  closedir(cases);
  assert_true(count > 15);
}

// Without a function the inputs stay constant, also in the search for a switch. A relay turns the rate of an integrator: x' = u
// until x = 0.5, then x' = -u until x = -0.5: a triangle.
static void test_constant_inputs(void **state) {
  (void)state;
  od_machine *machine = od_test_machine_text(
      "inputs: {u: {constant: 0}}\nblocks:\n"
      "  side: {type: relay, input: x, unit: '1', thresholds: [-0.5, 0.5], values: [1, -1]}\n"
      "  rate: {type: product, inputs: [side, u], unit: '1'}\n  x: {type: integrator, input: rate}\n"
      "run: {time: 1 s, outputs: [x]}\n");
  const int output = od_test_output(machine, "x");
  for (int adaptive = 0; adaptive < 2; adaptive++) {
    od_plant *plant;
    const double u = 0.7;
    assert_int_equal(od_machine_plant(machine, &output, 1, NULL, 0, &plant, NULL), OD_OK);
    od_sim *sim = od_sim_new(plant), *at;
    od_sim_set_integrator(sim, od_integrator_find("tr-bdf2"));
    assert_int_equal(od_sim_start(sim, 0, &u), OD_OK);
    od_advance *advance = od_advance_new(sim, &(od_advance_options){.step = adaptive ? 0 : 0.03});
    assert_non_null(advance);
    for (int i = 1; i < 20; i++) {
      double t = 0.3 * i, place = fmod(u * t + 0.5, 2), y;
      assert_int_equal(od_sim_advance(advance, t, &at), OD_OK);
      assert_int_equal(od_sim_outputs(at, &y), OD_OK);
      near(y, (place < 1 ? place : 2 - place) - 0.5, 1e-5);
      near(od_sim_inputs(at)[0], u, 0);
    }
    od_advance_free(advance);
    od_sim_free(sim);
    od_plant_free(plant);
  }
  od_machine_free(machine);
}

static void late_jump(const void *user, double t, double *u) {
  (void)user;
  u[0] = t >= 2.37 ? 1 : 0;
}

// Without an end, steps also follow the error estimate: steps over a jump that is not announced are rejected.
static void test_without_an_end(void **state) {
  (void)state;
  const double ends[] = {0, 10};
  for (int i = 0; i < 2; i++) {
    od_plant *plant;
    od_sim *sim = start_lag(&plant, "tr-bdf2"), *at;
    const od_advance_options options = {
        .tolerance = 1e-5, .longest = 1, .end = ends[i], .inputs = {NULL, late_jump, NULL}};
    od_advance *advance = od_advance_new(sim, &options);
    assert_int_equal(od_sim_advance(advance, 3.1, &at), OD_OK);
    near(od_sim_state(at)[0], 1 - exp(2.37 - 3.1), 1e-4);
    od_advance_free(advance);
    od_sim_free(sim);
    od_plant_free(plant);
  }
}

// A run that needs too many steps fails at its check of the pace, after 100000 steps of 1 us. The simulation is at the begin of the failed step,
// on the closed form, and the program may go on without the run.
static void test_too_many_steps(void **state) {
  (void)state;
  od_plant *plant;
  od_sim *sim = start_lag(&plant, "tr-bdf2"), *at;
  od_advance *advance = od_advance_new(
      sim, &(od_advance_options){
               .tolerance = 1e-5, .longest = 1e-6, .end = 1, .most_steps = 1000, .inputs = {NULL, pulse, pulse_break}});
  assert_int_equal(od_sim_advance(advance, 1, &at), OD_NOT_CONVERGED);
  const od_advance_failure failure = od_advance_get_failure(advance);
  assert_int_equal(failure.problem, OD_ADVANCE_TOO_MANY);
  near(failure.at, 0.1, 1e-3);
  assert_true(od_sim_time(sim) == failure.at);
  near(od_sim_state(sim)[0], exact(failure.at), 1e-9);
  od_advance_free(advance);
  od_sim_free(sim);
  od_plant_free(plant);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_pulse),
      cmocka_unit_test(test_rejected_times),
      cmocka_unit_test(test_saved_late),
      cmocka_unit_test(test_up_to),
      cmocka_unit_test(test_inputs_of_the_caller),
      cmocka_unit_test(test_watch),
      cmocka_unit_test(test_machines),
      cmocka_unit_test(test_constant_inputs),
      cmocka_unit_test(test_without_an_end),
      cmocka_unit_test(test_too_many_steps),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
