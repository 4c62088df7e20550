// Messages about the initial state name the part with the mistake, wherever this part is in its list. A machine has three equal arms with a cylinder
// each; one of them, the first, the middle or the last, has a mistake. Oracle: there is one error, about this arm, with this text.
#include <stdio.h>
#include <string.h>

#include "support/test.h"

#include "oleodyn/oleodyn.h"

enum { ARMS = 3, SIZE = 6000 };

typedef struct arm {
  const char *joint, *pressures;  // initial values; %d is the number of the arm
  const char *cylinder;           // further keys of the cylinder
  const char *foot;               // the foot of the cylinder
} arm;

// The pressures hold the arm.
static const arm balanced = {"J%d.angle: 0, ", "A%d.pressure: balance from 5 bar, B%d.pressure: 1 bar, ",
                             "closed: 0.6 m, stroke: 1 m", "-1 m"};

static const struct mistake {
  arm wrong;
  const char *text;  // %d is the number of the arm
} mistakes[] = {
    {{"", NULL, NULL, NULL},
     "joint 'J%d' has no initial value: add 'J%d.angle' to 'initial', exact or approximate ('about')"},
    {{NULL, "A%d.pressure: 3 bar, ", NULL, NULL},
     "volume 'B%d' has no initial pressure: add 'B%d.pressure' to 'initial'"},
    {{NULL, "B%d.pressure: 3 bar, ", NULL, NULL},
     "volume 'A%d' has no initial pressure: add 'A%d.pressure' to 'initial'"},
    {{NULL, NULL, "closed: 1.5 m, stroke: 1 m", NULL},
     "cylinder 'r%d' cannot connect its points: the points are 1.414 m apart in the initial position"},
    {{NULL, NULL, "closed: 0.6 m, stroke: 0.5 m", NULL},
     "cylinder 'r%d' cannot connect its points: the points are 1.414 m apart in the initial position"},
    {{NULL, "A%d.pressure: 1 bar, B%d.pressure: balance from 5 bar, ", NULL, NULL}, "a static balance needs -"},
    {{NULL, "A%d.pressure: 1 bar, B%d.pressure: 1 bar, ", NULL, NULL}, "'J%d.angle' is not in balance: "},
    {{"J%d.angle: balance from 0.1, ", "A%d.pressure: 30 bar, B%d.pressure: 1 bar, ", NULL, NULL},
     "the static balance is beyond the stroke of cylinder 'r%d': the length would be"},
    {{"J%d.rate: 1, K%d.angle: 2, J%d.angle: 0, ", NULL, NULL, NULL}, "there is no element 'K%d'"},
};
enum { MISTAKES = sizeof mistakes / sizeof *mistakes };

static void append(char *text, const char *format, int number) {
  size_t used = strlen(text);
  for (const char *c = format; *c && used + 12 < SIZE; c++) {
    if (c[0] == '%' && c[1] == 'd')
      used += (size_t)snprintf(text + used, SIZE - used, "%d", number), c++;
    else
      text[used++] = *c, text[used] = 0;
  }
}

static void describe(char *text, const arm *wrong, int place) {
  arm arms[ARMS];
  for (int i = 0; i < ARMS; i++) {
    arms[i] = balanced;
    if (i != place) continue;
    if (wrong->joint) arms[i].joint = wrong->joint;
    if (wrong->pressures) arms[i].pressures = wrong->pressures;
    if (wrong->cylinder) arms[i].cylinder = wrong->cylinder;
  }
  text[0] = 0;
  append(text, "gravity: [0, -9.81]\noil: {density: 870, law: constant, modulus: 1.2 GPa}\nbodies:\n", 0);
  for (int i = 0; i < ARMS; i++) append(text, "  b%d: {beam: {mass: 10 kg, length: 1 m}}\n", i);
  append(text, "ground: {points: {", 0);
  for (int i = 0; i < ARMS; i++) append(text, i ? ", f%d: [0, -1 m]" : "f%d: [0, -1 m]", i);
  append(text, "}}\njoints:\n", 0);
  for (int i = 0; i < ARMS; i++) append(text, "  J%d: {type: revolute, between: [ground, b%d.start]}\n", i);
  append(text, "volumes:\n", 0);
  for (int i = 0; i < ARMS; i++) append(text, "  A%d: {volume: 1 L}\n  B%d: {volume: 1 L}\n", i);
  append(text, "cylinders:\n", 0);
  for (int i = 0; i < ARMS; i++) {
    append(text, "  r%d: {between: [ground.f%d, b%d.end], chambers: [A%d, B%d], areas: [2 cm^2, 1 cm^2], ", i);
    append(text, arms[i].cylinder, i);
    append(text, "}\n", i);
  }
  append(text, "initial: {", 0);
  for (int i = 0; i < ARMS; i++) append(text, arms[i].joint, i), append(text, arms[i].pressures, i);
  append(text, "}\n", 0);
}

// Returns the number of errors; prints them.
static int errors_of(const char *text, char *first, size_t size) {
  od_messages *messages = od_messages_new();
  od_machine *machine = NULL;
  const od_load_options options = {.content = {text, strlen(text)}};
  int errors = 0;
  first[0] = 0;
  if (od_machine_load("machine.yaml", &options, &machine, messages) != OD_OK)
    for (int i = 0; i < od_messages_count(messages); i++) {
      const od_message *m = od_messages_get(messages, i);
      if (m->is_warning) continue;
      if (errors++ == 0) snprintf(first, size, "%s", m->text);
    }
  od_machine_free(machine);
  od_messages_free(messages);
  return errors;
}

static void test_every_place(void **state) {
  (void)state;
  char text[SIZE], got[1000], want[SIZE];
  int wrong = 0;
  describe(text, &balanced, 0);
  int errors = errors_of(text, got, sizeof got);
  if (errors) fail_msg("without a mistake: %s", got);
  for (int k = 0; k < MISTAKES; k++)
    for (int place = 0; place < ARMS; place++) {
      describe(text, &mistakes[k].wrong, place);
      want[0] = 0;
      append(want, mistakes[k].text, place);
      errors = errors_of(text, got, sizeof got);
      bool right = errors == 1 && strstr(got, want) != NULL;
      if (!right) print_message("mistake %d at arm %d: %d errors, the first: %s\n", k, place, errors, got);
      wrong += !right;
    }
  assert_int_equal(wrong, 0);
}

// A block cannot measure these quantities of the first, the middle or the last part, but can measure others.
static void test_measured_quantities(void **state) {
  (void)state;
  static const struct {
    const char *quantity, *unit, *text;  // %d is the number of the part; text NULL: it can be measured
  } cases[] = {{"o%d.flow", "m^3/s", "a block cannot measure 'o%d.flow'"},
               {"S%d.pressure", "Pa", "block 'b' cannot measure 'S%d.pressure': the pressure follows a signal"},
               {"K%d.pressure", "Pa",
                "block 'b' cannot measure 'K%d.pressure': the pressure of a junction depends directly on the valves"},
               {"y%d.force", "N", NULL},
               {"J%d.acceleration", "m/s^2",
                "block 'b' cannot measure 'J%d.acceleration': accelerations depend directly on the forces"},
               {"V%d.pressure", "Pa", NULL},
               {"s%d.force", "N", NULL},
               {"J%d.position", "m", NULL}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
    for (int place = 0; place < ARMS; place++) {
      char text[SIZE] = "", got[1000], want[SIZE] = "";
      append(
          text,
          "oil: {density: 870, law: constant, modulus: 1.2 GPa}\nground: {points: {f: [-1 m, 0]}}\njunctions: [K0, K1, K2]\ntanks: {T: {pressure: 1 bar}}\n",
          0);
      const char *const sections[][2] = {
          {"bodies:\n", "  m%d: {point: {mass: 10 kg}}\n"},
          {"joints:\n", "  J%d: {type: prismatic, between: [ground, m%d], axis: [1, 0, 0]}\n"},
          {"inputs:\n", "  p%d: {unit: Pa, constant: 5 bar}\n"},
          {"sources:\n", "  S%d: {pressure: p%d}\n"},
          {"volumes:\n", "  V%d: {volume: 1 L}\n"},
          {"orifices:\n",
           "  o%d: {between: [V%d, K%d], area: 1 mm^2, discharge: 0.7}\n  q%d: {between: [K%d, S%d], area: 1 mm^2, discharge: 0.7}\n"},
          {"cylinders:\n",
           "  y%d: {between: [ground.f, m%d], chambers: [V%d, T], areas: [2 cm^2, 1 cm^2], closed: 0.6 m, stroke: 1 m}\n"},
          {"springs:\n", "  s%d: {between: [ground.f, m%d], stiffness: 100 N/m, length: 1 m}\n"}};
      for (size_t n = 0; n < sizeof sections / sizeof *sections; n++) {
        append(text, sections[n][0], 0);
        for (int i = 0; i < ARMS; i++) append(text, sections[n][1], i);
      }
      append(text, "blocks: {b: {type: first-order, time_constant: 1 s, input: ", 0);
      append(text, cases[k].quantity, place);
      append(text, ", unit: ", 0), append(text, cases[k].unit, 0), append(text, "}}\ninitial: {", 0);
      for (int i = 0; i < ARMS; i++) append(text, "J%d.position: 0 m, V%d.pressure: 10 bar, ", i);
      append(text, "}\n", 0);
      int errors = errors_of(text, got, sizeof got);
      if (cases[k].text) append(want, cases[k].text, place);
      if (cases[k].text ? errors != 1 || !strstr(got, want) : errors != 0)
        print_message("%s of part %d: %d errors, the first: %s\n", cases[k].quantity, place, errors, got);
      assert_true(cases[k].text ? errors == 1 && strstr(got, want) : errors == 0);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_place), cmocka_unit_test(test_measured_quantities)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
