// Messages about a static balance that is not found or beyond a stroke: the number, its unit, the named quantity, and its line. Oracle: statics of
// carts on rails, worked out by hand. Each cart in turn is the one that is not in balance.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"

#include "oleodyn/machine.h"
#include "support/machine_file.h"

enum { CARTS = 3 };

static void message_of(const machine_file *file, const char *text, char *line, size_t size) {
  machine_file_write(file, text, strlen(text));
  od_messages *messages = od_messages_new();
  od_machine *machine = NULL;
  assert_int_not_equal(od_machine_load(file->path, NULL, &machine, messages), OD_OK);
  char *printed = messages_text(messages);
  snprintf(line, size, "%s", printed);
  free(printed);
  od_messages_free(messages);
}

// Returns the line number of the n-th line of the section 'initial'.
static int initial_line(const char *text, int n) {
  int line = 1;
  const char *end = strstr(text, "initial:\n");
  for (const char *at = text; at < end; at++) line += *at == '\n';
  return line + 1 + n;
}

static void must_contain(const char *printed, const char *part) {
  if (!strstr(printed, part)) fail_msg("'%s' is not in: %s", part, printed);
}
static void must_be_at(const char *printed, int line) {
  char place[40];
  snprintf(place, sizeof place, "machine.yaml:%d:", line);
  must_contain(printed, place);
}

// Carts on vertical rails, each on a cylinder with a piston of 10 cm2 and a rod of 4 cm2 (areas within round-off of the diameters). The stop of one
// cylinder carries the difference between weight and pressures; the stops of the other ones carry nothing, because their springs do.
static void strokes(void **state) {
  static char text[6000], printed[2000], part[300];
  const double pi = acos(-1), g = 10, mass = 200, area = 1e-3, small = 6e-4, back = 2e5, stiffness = 2e7, closed = 0.6,
               stroke = 0.4;
  for (int wrong = 0; wrong < CARTS; wrong++)
    for (int is_long = 0; is_long < 2; is_long++) {
      const double pressure = is_long ? 40e5 : 5e5;  // 4000 N and 500 N, minus 120 N, against 2000 N
      const double carried = is_long ? 4000 - 120 - 2000 : 2000 + 120 - 500;
      size_t used = (size_t)snprintf(
          text, sizeof text, "gravity: [0, %g]\noil: {density: 870, law: constant, modulus: 1.2 GPa}\nbodies:\n", -g);
      for (int i = 0; i < CARTS; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "  c%d: {point: {mass: %g kg}}\n", i, mass);
      used += (size_t)snprintf(text + used, sizeof text - used, "joints:\n");
      for (int i = 0; i < CARTS; i++)
        used += (size_t)snprintf(text + used, sizeof text - used,
                                 "  R%d: {type: prismatic, between: [ground, c%d], axis: [0, 1, 0]}\n", i, i);
      used += (size_t)snprintf(text + used, sizeof text - used, "volumes:\n");
      for (int i = 0; i < CARTS; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "  A%d: {volume: 1 L}\n  B%d: {volume: 1 L}\n", i, i);
      used += (size_t)snprintf(text + used, sizeof text - used, "springs:\n");
      for (int i = 0; i < CARTS; i++)  // the springs of the other carts have their rest length in mid-stroke
        if (i != wrong)
          used += (size_t)snprintf(text + used, sizeof text - used,
                                   "  S%d: {between: [ground, c%d], stiffness: 100 kN/m, length: 0.8 m}\n", i, i);
      used += (size_t)snprintf(text + used, sizeof text - used, "cylinders:\n");
      for (int i = 0; i < CARTS; i++)
        used += (size_t)snprintf(
            text + used, sizeof text - used,
            "  ram%d: {between: [ground, c%d], chambers: [A%d, B%d], bore: %.17g m, rod: %.17g m, closed: %g m, stroke: "
            "%g m, stops: {stiffness: %g N/m}}\n",
            i, i, i, i, sqrt(4 * area / pi), sqrt(4 * (area - small) / pi), closed, stroke, stiffness);
      used += (size_t)snprintf(text + used, sizeof text - used, "initial:\n");
      for (int i = 0; i < CARTS; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "  R%d.position: balance from 0.8 m\n", i);
      for (int i = 0; i < CARTS; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "  A%d.pressure: %g Pa\n  B%d.pressure: %g Pa\n", i,
                                 i == wrong ? pressure : 20e5, i, back);
      message_of(*state, text, printed, sizeof printed);
      const double beyond = carried / stiffness;
      must_be_at(printed, initial_line(text, wrong));
      snprintf(part, sizeof part,
               "the static balance is beyond the stroke of cylinder 'ram%d': the length would be %.6g m", wrong,
               is_long ? closed + stroke + beyond : closed - beyond);
      must_contain(printed, part);
      snprintf(part, sizeof part, "%.4g mm %s of %g m, and the end stop would carry %.4g kN", 1e3 * beyond,
               is_long ? "more than the greatest length" : "less than the least length",
               is_long ? closed + stroke : closed, carried / 1e3);
      must_contain(printed, part);
      assert_null(strstr(strstr(printed, "error:") + 1, "error:"));  // the other cylinders are within their strokes
    }
}

// Carts with a spring and a constant force are in balance; one cart, or one wheel, has a force of 5 + sin(x), of which at least 4 remain. The message
// names this one, with the unit of its joint.
static void leftovers(void **state) {
  static char text[4000], printed[2000], part[300];
  for (int wrong = 0; wrong < CARTS; wrong++)
    for (int turns = 0; turns < 2; turns++) {
      size_t used = (size_t)snprintf(text, sizeof text, "bodies:\n");
      for (int i = 0; i < CARTS; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "  c%d: {mass: 1 kg, inertia: 1 kg m^2}\n", i);
      used += (size_t)snprintf(text + used, sizeof text - used, "joints:\n");
      for (int i = 0; i < CARTS; i++)
        used +=
            (size_t)snprintf(text + used, sizeof text - used, "  R%d: {type: %s, between: [ground, c%d]%s%s}\n", i,
                             i == wrong && turns ? "revolute" : "prismatic", i,
                             i == wrong && turns ? "" : ", axis: [1, 0, 0]", i == wrong ? "" : ", stiffness: 10 N/m");
      used += (size_t)snprintf(text + used, sizeof text - used, "torques:\n");
      for (int i = 0; i < CARTS; i++)
        if (i != wrong)
          used += (size_t)snprintf(text + used, sizeof text - used, "  t%d: {joint: R%d, value: %d N}\n", i, i, 1 + i);
      used += (size_t)snprintf(text + used, sizeof text - used,
                               "force_formulas: {f: {joint: R%d, parameters: {F: 5 %s, G: 1 %s%s}, force: 'F + G * "
                               "sin(x%s)'}}\ninitial:\n",
                               wrong, turns ? "N m" : "N", turns ? "N m" : "N", turns ? "" : ", l: 1 m",
                               turns ? "" : " / l");
      for (int i = 0; i < CARTS; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "  R%d.%s: balance\n", i,
                                 i == wrong && turns ? "angle" : "position");
      message_of(*state, text, printed, sizeof printed);
      must_be_at(printed, initial_line(text, wrong));
      snprintf(part, sizeof part, "a residual of 4 %s remains at 'R%d.%s'", turns ? "N m" : "N", wrong,
               turns ? "angle" : "position");
      must_contain(printed, part);
    }
}

// A cart whose position is balanced by a spring, and a second cart that no balanced quantity moves: its force remains. The number of balanced
// quantities is compared with the degrees of freedom.
static void forces_without_balance(void **state) {
  static char text[2000], printed[2000], part[300];
  for (int n = 0; n < 4; n++) {
    const bool turns = n % 2, is_first = n / 2;
    const int moved = is_first ? 1 : 0, free = 1 - moved;
    snprintf(text, sizeof text,
             "bodies: {c0: {mass: 1 kg, inertia: 1 kg m^2}, c1: {mass: 1 kg, inertia: 1 kg m^2}}\njoints:\n"
             "  R%d: {type: prismatic, between: [ground, c%d], axis: [1, 0, 0], stiffness: 10 N/m}\n"
             "  R%d: {type: %s, between: [ground, c%d]%s}\n"
             "torques: {a: {joint: R%d, value: 3 N}, b: {joint: R%d, value: %s}}\n"
             "initial:\n  R%d.position: balance\n  R%d.%s: %s\n",
             moved, moved, free, turns ? "revolute" : "prismatic", free, turns ? "" : ", axis: [1, 0, 0]", moved, free,
             turns ? "-7 N m" : "7 N", moved, free, turns ? "angle" : "position", turns ? "0.1 rad" : "0.1 m");
    message_of(*state, text, printed, sizeof printed);
    must_be_at(printed, initial_line(text, 1));
    snprintf(
        part, sizeof part,
        "'R%d.%s' is not in balance: a residual of 7 %s remains, and no balanced quantity acts on this coordinate; a "
        "static balance of 2 degrees of freedom needs the same number of balanced quantities, not 1",
        free, turns ? "angle" : "position", turns ? "N m" : "N");
    must_contain(printed, part);
  }
}

// A flow of 1e-6 m3/s out of a volume, which a leak of 1e-13 m3/(s Pa) from a tank of 1 bar replaces: the pressure would be 1 bar - 100 bar. Other
// volumes between the tank and a source are in balance. There is no mechanism, so one linear step gives the value.
static void suction(void **state) {
  static char text[3000], printed[2000], part[300];
  for (int volumes = 1; volumes < 4; volumes++)
    for (int wrong = 0; wrong < volumes; wrong++) {
      size_t used =
          (size_t)snprintf(text, sizeof text,
                           "oil: {density: 870, law: constant, modulus: 1.2 GPa}\ntanks: {T: {pressure: 1 bar}}\n"
                           "sources: {S: {pressure: 20 bar}}\nvolumes:\n");
      for (int i = 0; i < volumes; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "  V%d: {volume: 1 L}\n", i);
      used += (size_t)snprintf(text + used, sizeof text - used, "leaks:\n");
      for (int i = 0; i < volumes; i++) {
        used += (size_t)snprintf(text + used, sizeof text - used, "  a%d: {between: [V%d, T], slope: 1e-13}\n", i, i);
        if (i != wrong)
          used += (size_t)snprintf(text + used, sizeof text - used, "  b%d: {between: [S, V%d], slope: 1e-13}\n", i, i);
      }
      used += (size_t)snprintf(
          text + used, sizeof text - used,
          "flow_formulas: {q: {between: [V%d, T], flow: Q, parameters: {Q: 1e-6 m^3/s}}}\ninitial:\n", wrong);
      for (int i = 0; i < volumes; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "  V%d.pressure: balance from 30 bar\n", i);
      message_of(*state, text, printed, sizeof printed);
      must_be_at(printed, initial_line(text, wrong));
      snprintf(part, sizeof part,
               "a static balance needs -99 bar in 'V%d', but oil cannot carry tension: the lowest pressure is 0 bar",
               wrong);
      must_contain(printed, part);
      assert_null(strstr(strstr(printed, "error:") + 1, "error:"));
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(strokes, machine_file_start, machine_file_end),
      cmocka_unit_test_setup_teardown(leftovers, machine_file_start, machine_file_end),
      cmocka_unit_test_setup_teardown(suction, machine_file_start, machine_file_end),
      cmocka_unit_test_setup_teardown(forces_without_balance, machine_file_start, machine_file_end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
