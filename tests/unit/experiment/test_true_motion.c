// The motion of the true machine. Oracles: the rows of `simulate` with the same steps, to the bit, for all cases; the pressure of a
// volume whose inflow jumps within a step and at the end of a step, in closed form; an input that crosses zero does not jump.
#include "support/test.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "experiment/true_motion.h"
#include "simulate/run.h"
#include "support/experiments.h"
#include "support/scratch.h"

static od_experiment *experiment_of(scratch *s, const char *machine, const char *time, const char *step,
                                    const char *sensor) {
  char text[1200];
  int length = snprintf(text, sizeof text, "machine: %s\ntime: %s\nstep: %s\nsensors: {%s: {sigma: 1}}\n", machine,
                        time, step, sensor);
  return load_experiment(scratch_write(s, "x.yaml", text, (size_t)length), NULL);
}

// --- Cases ----------------------------------------------------------------------------------------------------------

// Outputs of the true machine are read before jumps, rows of a run after them, so rows with jumps are not compared.
static void compare_with_run(const od_experiment *e, const char *path) {
  od_error err = {0};
  int output = od_machine_output_find(e->truth, e->sensor[0].name);
  const od_run_options options = {.time = e->time,
                                  .step = e->step,
                                  .integrator = e->integrator ? e->integrator->name : NULL,
                                  .outputs = &output,
                                  .output_count = 1,
                                  .unjudged = true};
  od_table *table = NULL;
  od_run_report report = {0};
  if (od_run(e->truth, &options, &table, &report, &err) != OD_OK) fail_msg("%s: %s", path, err.text);
  od_true_motion *motion;
  assert_int_equal(od_true_motion_new(e, &motion, &err), OD_OK);
  long row = 0;
  for (bool more = true;; row++) {
    od_motion_sample sample;
    if (od_true_motion_next(motion, &sample, &more, &err) != OD_OK) fail_msg("%s: %s", path, err.text);
    if (!more) break;
    double expected = table->data[row * table->columns + 1], found = sample.y[e->watches];
    assert_true(sample.t == table->data[row * table->columns]);
    if (!sample.u_after && memcmp(&found, &expected, sizeof found) != 0)
      fail_msg("%s: %s in row %ld is %.17g, expected %.17g", path, e->sensor[0].name, row, found, expected);
  }
  assert_int_equal(row, table->rows);
  od_true_motion_free(motion);
  od_table_free(table);
  od_run_report_free(&report);
}

static void test_cases(void **state) {
  DIR *cases = opendir(OD_SOURCE_DIR "/cases");
  assert_non_null(cases);
  int count = 0;
  for (struct dirent *entry; (entry = readdir(cases)) != NULL;) {
    char path[600];
    snprintf(path, sizeof path, "%s/%s/machine.yaml", OD_SOURCE_DIR "/cases", entry->d_name);
    od_machine *machine = NULL;
    od_messages *messages = od_messages_new();
    FILE *file = entry->d_name[0] == '.' ? NULL : fopen(path, "r");
    if (file != NULL) {
      fclose(file);
      assert_int_equal(od_machine_load(path, NULL, &machine, messages), OD_OK);
      int *outputs = calloc((size_t)od_machine_output_count(machine), sizeof *outputs);
      od_machine_default_outputs(machine, outputs);
      od_experiment *e = experiment_of(*state, path, "60 ms", "1 ms", od_machine_output_name(machine, outputs[0]));
      compare_with_run(e, path);
      od_experiment_free(e);
      free(outputs);
      od_machine_free(machine);
      count++;
    }
    od_messages_free(messages);
  }
  closedir(cases);
  assert_true(count > 15);
}

// --- Closed forms ---------------------------------------------------------------------------------------------------

// 1 l of oil, 1000 MPa: an inflow of 0.3 l/min raises the pressure by 5 MPa/s.
#define VOLUME                                                                                                   \
  "machine: volume\noil: {density: 860 kg/m^3, law: constant, modulus: 1000 MPa}\nvolumes: {A: {volume: 1 L}}\n" \
  "pumps: {pump: {to: A, flow: draw}}\ninitial: {A.pressure: 10 bar}\n"

typedef struct motion {
  od_experiment *e;
  od_true_motion *m;
} motion;

static motion start(scratch *s, const char *inputs, const char *time, const char *step, const char *sensor) {
  char text[1000];
  int length = snprintf(text, sizeof text, VOLUME "inputs: {draw: {unit: m3/s, %s}}\n", inputs);
  scratch_write(s, "volume.yaml", text, (size_t)length);
  motion m = {.e = experiment_of(s, "volume.yaml", time, step, sensor)};
  assert_int_equal(od_true_motion_new(m.e, &m.m, NULL), OD_OK);
  return m;
}

static void end(motion m) {
  od_true_motion_free(m.m);
  od_experiment_free(m.e);
}

static void test_jump_within_a_step(void **state) {
  motion m = start(*state, "steps: {initial: 0, at: [[12.5 ms, 0.3 L/min]]}", "50 ms", "10 ms", "A.pressure");
  od_motion_sample s;
  bool more = true;
  for (int i = 0; i <= 5; i++) {
    assert_int_equal(od_true_motion_next(m.m, &s, &more, NULL), OD_OK);
    assert_true(more && !s.u_after);
    near(s.y[m.e->watches], 1e6 + 5e6 * fmax(s.t - 0.0125, 0), 1e-3);
  }
  end(m);
}

// At the jump, the sample has the flow and the input before it, and the input after it.
static void test_jump_at_a_sample(void **state) {
  motion m = start(*state, "steps: {initial: 0, at: [[20 ms, 0.3 L/min]]}", "50 ms", "10 ms", "pump.flow");
  od_motion_sample s;
  bool more = true;
  for (int i = 0; i <= 5; i++) {
    assert_int_equal(od_true_motion_next(m.m, &s, &more, NULL), OD_OK);
    assert_int_equal(s.u_after != NULL, i == 2);
    near(s.u[0], i <= 2 ? 0 : 5e-6, 1e-15);
    near(s.y[m.e->watches], i <= 2 ? 0 : 5e-6, 1e-15);
    if (s.u_after) near(s.u_after[0], 5e-6, 1e-15);
  }
  end(m);
}

// The sine is zero at every fifth sample.
static void test_zero_crossing(void **state) {
  motion m = start(*state, "sine: {amplitude: 0.3 L/min, frequency: 10 Hz}", "300 ms", "10 ms", "A.pressure");
  od_motion_sample s;
  bool more = true;
  for (int i = 0; i <= 30; i++) {
    assert_int_equal(od_true_motion_next(m.m, &s, &more, NULL), OD_OK);
    if (s.u_after) fail_msg("the input jumps at %.6g s", s.t);
    near(s.u[0], 5e-6 * sin(20 * acos(-1.0) * s.t), 1e-18);
  }
  end(m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_cases, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(test_jump_within_a_step, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(test_jump_at_a_sample, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(test_zero_crossing, scratch_setup, scratch_teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
