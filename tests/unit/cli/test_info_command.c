// oleodyn info: initial values from balance. Oracle: statics by hand.
#include "support/test.h"

#include <jansson.h>
#include <math.h>

#include "support/program.h"

// A load of 100 kg on a ram of 10 cm^2, whose other chamber has no pressure: 100 kg * 9.81 m/s^2 / 10 cm^2 is 9.81 bar. A
// pendulum hangs straight down from it.
static const char ram[] =
    "bodies: {load: {point: {mass: 100 kg}}, rod: {beam: {mass: 1 kg, length: 1 m}}}\n"
    "joints:\n"
    "  guide: {type: prismatic, between: [ground, load], axis: [0, 1, 0]}\n"
    "  hinge: {type: revolute, between: [ground, rod.start]}\n"
    "ground: {points: {foot: [0, -2 m]}}\n"
    "oil: {density: 870 kg/m^3, law: constant, modulus: 1.4 GPa}\n"
    "gravity: [0, -9.81]\n"
    "volumes: {A: {volume: 1 L}, B: {volume: 1 L}}\n"
    "cylinders:\n"
    "  ram: {between: [ground.foot, load.origin], chambers: [A, B], areas: [10 cm^2, 5 cm^2], closed: 1 m, stroke: 2 m}\n"
    "initial: {guide.position: 0, hinge.angle: balance from -80 deg, A.pressure: balance from 2 bar, B.pressure: 0}\n";

static const json_t *number(const json_t *info, const char *path) {
  const json_t *list = json_object_get(info, "numbers");
  for (size_t i = 0; i < json_array_size(list); i++)
    if (!strcmp(json_string_value(json_object_get(json_array_get(list, i), "path")), path))
      return json_array_get(list, i);
  fail_msg("there is no %s", path);
  return NULL;
}

static void test_balanced_values(void **state) {
  scratch *s = *state;
  scratch_write(s, "ram.yaml", ram, sizeof ram - 1);
  outcome o = run(s, "info ram.yaml");
  ends_with(o, 0);
  says(o.out, " 9.81  bar ");
  says(o.out, "  balance from 2 bar: balanced\n");
  says(o.out, " -90  deg ");
  says(o.out, "  balance from -80 deg: balanced\n");
  forget(o);
  o = run(s, "info ram.yaml --json");
  ends_with(o, 0);
  json_t *info = json_loads(o.out, 0, NULL);
  const json_t *a = number(info, "initial.A.pressure"), *b = number(info, "initial.B.pressure");
  assert_true(fabs(json_number_value(json_object_get(a, "value")) - 9.81e5) < 1e-3);
  assert_string_equal(json_string_value(json_object_get(a, "given")), "balance from 2 bar");
  assert_true(json_is_true(json_object_get(a, "balanced")));
  assert_true(json_is_false(json_object_get(b, "balanced")));
  json_decref(info);
  forget(o);
  // Values instead of the balance.
  o = run(s, "info ram.yaml --set initial.A.pressure='9 bar' --set initial.hinge.angle='-80 deg'");
  ends_with(o, 0);
  says(o.out, " 9  bar ");
  assert_null(strstr(o.out, "balanced"));
  forget(o);
  // A mass in the wrong unit is visible in the balancing pressure.
  ends_and_says(run(s, "info ram.yaml --set load.point.mass='100 t'"), 0,
                "ram.yaml:11:77: warning: static balance gives A.pressure = 981 MPa, which is unusual; usual: ");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_balanced_values, scratch_setup, scratch_teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
