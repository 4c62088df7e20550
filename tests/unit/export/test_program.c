// Descriptions of observers for controllers, run in this process. Oracles: od_observe(), the loop of `oleodyn observe`, whose estimates may differ
// by the round-off of its times only; sentences about files that cannot be exported.
#include "export/program.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"

#include "support/experiments.h"
#include "support/machines.h"

static od_export_program export_experiment(const od_experiment *e) {
  od_export_program p;
  od_error err = {0};
  const od_export_options options = {.name = "it"};
  if (od_export_experiment(e, &options, &p, &err) != OD_OK) fail_msg("%s", err.text);
  return p;
}

// The last row of an observer with the samples of the test run.
static void compare_observer(const char *path, const char *variant) {
  const od_experiment_options how = {.variant = variant};
  od_experiment *e = load_experiment(path, &how);
  od_export_program p = export_experiment(e);
  const od_observe_options options = {.keep = OD_ROWS_LAST, .samples = p.run.steps};
  od_observed *o = NULL;
  od_error err = {0};
  assert_int_equal(od_observe(e, &options, &o, &err), OD_OK);
  assert_int_equal(o->steps + 1, p.run.steps);
  for (int i = 0; i < e->parameters; i++) assert_true(fabs(o->estimate[i] - p.run.parameter[i]) <= 1e-9 * o->sigma[i]);
  const double *row = o->table->data + (o->table->rows - 1) * o->table->columns;
  for (int i = 0; i < e->watches; i++) {
    const double *watched = row + o->columns.watched + o->columns.per_watched * i;
    int k = e->watched[i].row;
    assert_true(fabs(watched[0] - p.run.output[k]) <= 1e-9 * watched[1]);
    assert_true(fabs(watched[1] - p.run.sigma[k]) <= 1e-9 * watched[1]);
  }
  print_message("%s: %d outputs, %d parameters, %zu bytes\n", path, e->watches, e->parameters, p.run.memory);
  od_observed_free(o);
  od_export_program_free(&p);
  od_experiment_free(e);
}

static void observers_agree_with_observe(void **state) {
  (void)state;
  compare_observer(OD_SOURCE_DIR "/cases/fourbar-valve/points-3.experiment.yaml", NULL);
  compare_observer(OD_SOURCE_DIR "/cases/fourbar-valve/points-6.experiment.yaml", "iterated-ekf");
  compare_observer(OD_SOURCE_DIR "/cases/fourbar-observer/tuned.experiment.yaml", NULL);
  compare_observer(OD_SOURCE_DIR "/cases/valve-wear/wear.experiment.yaml", NULL);
}

static void assert_refused(const od_machine *machine, const od_export_options *options, const char *words) {
  od_export_program p;
  od_error err = {0};
  assert_int_equal(od_export_machine(machine, options, &p, &err), OD_BAD_INPUT);
  assert_non_null(strstr(err.text, words));
  od_export_program_free(&p);
}

static void refusals(void **state) {
  (void)state;
  od_machine *machine = od_test_machine("cases/fourbar-valve/machine.yaml", NULL);
  const char *const unknown[] = {"oil.kq"}, *const initial[] = {"initial.P.pressure"};
  assert_refused(machine, &(od_export_options){.name = "it"}, "no fixed step");
  assert_refused(machine, &(od_export_options){.name = "it", .period = 1e-3, .parameter = unknown, .parameters = 1},
                 "no number 'oil.kq'");
  assert_refused(machine, &(od_export_options){.name = "it", .period = 1e-3, .parameter = initial, .parameters = 1},
                 "cannot be set in an export");
  od_machine_free(machine);

  const od_experiment_options how = {.filter = "continuous-ekf"};
  od_experiment *e = load_experiment(OD_SOURCE_DIR "/cases/fourbar-observer/paper-1ms.experiment.yaml", &how);
  od_export_program p;
  od_error err = {0};
  assert_int_equal(od_export_experiment(e, &(od_export_options){.name = "it"}, &p, &err), OD_BAD_INPUT);
  assert_non_null(strstr(err.text, "reference"));
  od_export_program_free(&p);
  od_experiment_free(e);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(observers_agree_with_observe),
      cmocka_unit_test(refusals),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
