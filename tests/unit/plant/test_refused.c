// Functions that create plants and refuse their arguments: the status, the text, and a result of NULL. Oracle: the documentation in plant.h.
#include <stdio.h>
#include <string.h>

#include "support/test.h"
#include "machine/machine.h"
#include "plant/inverse.h"
#include "support/machines.h"

static int rates(void *user, double t, const double *x, const double *u, const double *p, double *dx) {
  (void)user, (void)t, (void)u, (void)p;
  dx[0] = -x[0];
  return 0;
}
static int slopes(void *user, double t, const double *x, const double *u, const double *p, double *fx, double *fu,
                  double *fp) {
  (void)user, (void)t, (void)x, (void)u, (void)p, (void)fu, (void)fp;
  if (fx) fx[0] = -1;
  return 0;
}

static void test_functions(void **state) {
  (void)state;
  const double one = 1;
  const od_function good = {.nx = 1, .x0 = &one, .f = rates, .f_jacobians = slopes};
  od_function bad[8];
  for (int i = 0; i < 8; i++) bad[i] = good;
  bad[0].nx = 0, bad[1].nu = -1, bad[2].np = -1, bad[3].f = NULL, bad[4].x0 = NULL, bad[5].np = 1;
  bad[6].f_jacobians = NULL, bad[7].h = rates;
  static const char *const texts[] = {"at least 1 state", "f_jacobians or f_complex", "h_jacobians or h_complex"};
  for (int i = 0; i < 8; i++) {
    od_plant *plant = (od_plant *)&bad;
    od_error err = {0};
    assert_int_equal(od_plant_from_function(&bad[i], &plant, &err), OD_BAD_ARGUMENT);
    assert_null(plant);
    assert_non_null(strstr(err.text, texts[i < 6 ? 0 : i - 5]));
  }
  od_plant *plant = NULL;
  assert_int_equal(od_plant_from_function(&good, &plant, NULL), OD_OK);
  assert_true(plant->ny == 1 && plant->np == 0 && plant->nu == 0);  // the outputs are the states
  for (int output = -1; output <= 1; output += 2) {
    od_plant *calibrated = plant;
    od_error err = {0};
    const od_calibration item = {output, OD_CALIBRATE_BIAS};
    assert_int_equal(od_plant_calibrated(plant, &item, 1, &calibrated, &err), OD_BAD_ARGUMENT);
    assert_null(calibrated);
    assert_non_null(strstr(
        err.text, output < 0 ? "output -1; expected an index from 0 to 0" : "output 1; expected an index from 0 to 0"));
  }
  od_plant_free(plant);
}

static void test_machines(void **state) {
  (void)state;
  od_machine *machine = od_test_machine_text(
      "gravity: [0, 0]\nbodies: {a: {mass: 2 kg, inertia: 1, centre: [0, 0]}}\njoints: {A: {type: revolute, between: [ground, a]}}\n"
      "initial: {A.angle: 0}\n");
  const od_model *m = od_machine_model(machine);
  const int outputs[] = {-1, m->outputs}, numbers[] = {-1, m->numbers};
  char text[100];
  for (int i = 0; i < 2; i++) {
    od_plant *plant = (od_plant *)&text;
    od_error err = {0};
    assert_int_equal(od_model_plant(m, &outputs[i], 1, NULL, 0, &plant, &err), OD_BAD_ARGUMENT);
    assert_null(plant);
    snprintf(text, sizeof text, "output %d does not exist; expected an index from 0 to %d", outputs[i], m->outputs - 1);
    assert_string_equal(err.text, text);
    plant = (od_plant *)&text;
    assert_int_equal(od_model_plant(m, NULL, 0, &numbers[i], 1, &plant, &err), OD_BAD_ARGUMENT);
    assert_null(plant);
    snprintf(text, sizeof text, "number %d does not exist; expected an index from 0 to %d", numbers[i], m->numbers - 1);
    assert_string_equal(err.text, text);
  }
  od_plant *plant = NULL;
  const int last = m->outputs - 1;
  od_status status = od_model_plant(m, &last, 1, NULL, 0, &plant, NULL);
  assert_int_equal(status, OD_OK);
  od_inverse *inverse = (od_inverse *)&text;
  assert_int_equal(od_inverse_new(plant, NULL, 0, 0, NULL, 0, NULL, 0, &inverse), OD_BAD_INPUT);
  assert_null(inverse);
  od_plant_free(plant);
  od_machine_free(machine);
  od_build *b = od_build_new();
  od_model *model = (od_model *)&text;
  od_error err = {0};
  assert_int_equal(od_build_finish(b, &model, &err), OD_BAD_INPUT);
  assert_null(model);
  assert_non_null(strstr(err.text, "neither bodies nor a circuit nor blocks"));
  assert_int_equal(od_build_problem_count(b), 1);
  assert_true(od_build_problem(b, 0).kind == OD_ABOUT_MACHINE && od_build_problem(b, 0).index == -1);
  od_build_free(b);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_functions), cmocka_unit_test(test_machines)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
