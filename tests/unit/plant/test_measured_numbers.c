// Whether the measured quantities of blocks depend on numbers directly, not only through states: od_model_measures_numbers(). Pressures of volumes
// are states, also the first one; pressures of tanks and sources are not.
//
// Oracle: the kinds of nodes and outputs, by hand.
#include <stdio.h>

#include "support/test.h"
#include "plant/model_plant_work.h"
#include "support/machines.h"

static bool measures(const char *quantity) {
  char text[1500];
  snprintf(
      text, sizeof text,
      "oil: {density: 870, law: constant, modulus: 1.4 GPa}\n"
      "volumes: {A: {volume: 1 L}, B: {volume: 1 L}}\nsources: {S: {pressure: 50 bar}}\ntanks: {T: {pressure: 1 bar}}\n"
      "leaks: {x: {between: [A, B], slope: 1e-12}, y: {between: [B, T], slope: 1e-12}, z: {between: [S, A], slope: 1e-12}}\n"
      "pressure_differences: {ab: {between: [A, B]}, ba: {between: [B, A]}, at: {between: [A, T]}, ta: {between: [T, A]}, bs: {between: [B, S]}}\n"
      "blocks: {b: {type: first-order, input: %s, time_constant: 1 s}}\n"
      "initial: {A.pressure: 20 bar, B.pressure: 10 bar}\n",
      quantity);
  od_machine *machine = od_test_machine_text(text);
  const od_model *m = od_machine_model(machine);
  assert_true(m->measures == 1 && m->node[0].state == 0);
  bool answer = od_model_measures_numbers(m);
  od_machine_free(machine);
  return answer;
}

static void test_measures(void **state) {
  (void)state;
  static const char *const of_states[] = {"A.pressure", "B.pressure", "ab.pressure", "ba.pressure"};
  static const char *const of_numbers[] = {"S.pressure", "T.pressure", "at.pressure", "ta.pressure", "bs.pressure"};
  for (int i = 0; i < 4; i++)
    if (measures(of_states[i])) fail_msg("%s depends on states only", of_states[i]);
  for (int i = 0; i < 5; i++)
    if (!measures(of_numbers[i])) fail_msg("%s depends on numbers", of_numbers[i]);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_measures)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
