// Joints that move too little mass (plant/finish.c). Oracles, by hand: the mass matrix of a few coordinates, and the typical inertia of a
// coordinate: the mass that it carries, for angles times the square of the machine's size, which is the distance of the only point. The
// inertia of a coordinate, with the earlier ones free, must exceed 1e-12 of its inertia with the earlier ones held, plus 1e-13 of its
// typical inertia.
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/test.h"
#include "machine/machine.h"

// Loads a machine in space. Returns NULL if it is accepted, else its last message; earlier ones may be warnings.
__attribute__((format(printf, 1, 2))) static const char *message_of(const char *form, ...) {
  static char said[1000];
  char text[3000], path[] = "/tmp/oleodyn-massless-XXXXXX";
  va_list args;
  va_start(args, form);
  vsnprintf(text, sizeof text, form, args);
  va_end(args);
  int fd = mkstemp(path);
  assert_true(fd >= 0);
  assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
  close(fd);
  od_messages *messages = od_messages_new();
  od_machine *machine = NULL;
  const od_load_options options = {.spatial = true};
  od_status status = od_machine_load(path, &options, &machine, messages);
  unlink(path);
  snprintf(said, sizeof said, "%s",
           status == OD_OK ? "" : od_messages_get(messages, od_messages_count(messages) - 1)->text);
  if (status == OD_OK) assert_true(od_machine_model(machine) != NULL);
  od_machine_free(machine);
  od_messages_free(messages);
  return status == OD_OK ? NULL : said;
}

static void must(const char *message, const char *joint) {
  char says[100];
  snprintf(says, sizeof says, "joint '%s' can move without moving any mass", joint);
  if (message && (!*joint || !strstr(message, says))) fail_msg("%s", message);
  if (!message && *joint) fail_msg("joint '%s' is accepted", joint);
}

// A disc turns about z with the inertia J. It carries 300 kg that slide along z without inertia about z, another 200 kg that are fixed to them, and
// has 500 kg itself: J must exceed 1e-13 * 1000 kg * (3 m)^2, also if the disc is on a slide along z, which comes before it.
static void an_angle(void **state) {
  (void)state;
  const double least = 1e-13 * 1000 * 9;
  for (int behind = 0; behind < 2; behind++)
    for (int k = 0; k < 2; k++) {
      const char *first = behind ? "  S: {type: prismatic, between: [ground, base], axis: [0, 0, 1]}\n" : "";
      const char *body = behind ? "  base: {mass: 70 kg, inertia: [1, 1, 1], centre: [0, 0, 0]}\n" : "";
      must(message_of("gravity: [0, 0, 0]\nbodies:\n%s"
                      "  disc: {mass: 500 kg, inertia: [1, 1, %.17g], centre: [0, 0, 0]}\n"
                      "  mass: {mass: 300 kg, inertia: [1, 1, 0], centre: [0, 0, 0], points: {P: [3 m, 0, 0]}}\n"
                      "  more: {mass: 200 kg, inertia: [1, 1, 0], centre: [0, 0, 0]}\njoints:\n%s"
                      "  A: {type: revolute, between: [%s, disc], axis: [0, 0, 1]}\n"
                      "  B: {type: prismatic, between: [disc, mass], axis: [0, 0, 1]}\n"
                      "  C: {type: fixed, between: [mass, more]}\n"
                      "initial: {A.angle: 0, B.position: 0%s}\n",
                      body, (k ? 1.05 : 0.95) * least, first, behind ? "base" : "ground",
                      behind ? ", S.position: 0" : ""),
           k ? "" : "A");
    }
}

// A large mass on a small one, both on slides in the same direction: m M / (m + M) > 1.1e-12 M, whatever the size of the machine is.
static void a_slide(void **state) {
  (void)state;
  for (int k = 0; k < 2; k++)
    for (int size = 1; size < 50; size += 40)
      must(message_of(
               "gravity: [0, 0, 0]\nbodies:\n"
               "  small: {mass: %.17g kg, inertia: [1, 1, 1], centre: [0, 0, 0]}\n"
               "  large: {mass: 1000 kg, inertia: [1, 1, 1], centre: [0, 0, 0], points: {P: [%d m, 0, 0]}}\njoints:\n"
               "  A: {type: prismatic, between: [ground, small], axis: [0, 0, 1]}\n"
               "  B: {type: prismatic, between: [small, large], axis: [0, 0, 1]}\n"
               "initial: {A.position: 0, B.position: 0}\n",
               (k ? 1.12e-12 : 1.08e-12) * 1000, size),
           k ? "" : "B");
}

// Bodies without any inertia about their axis, before and after others.
static void the_named_joint(void **state) {
  (void)state;
  for (int which = 0; which < 3; which++) {
    const char *joints = "ABC";
    char name[2] = {joints[which], 0};
    must(message_of("gravity: [0, 0, 0]\nbodies:\n"
                    "  a: {mass: 1 kg, inertia: [1, 1, %d], centre: [0, 0, 0]}\n"
                    "  b: {mass: 1 kg, inertia: [1, 1, %d], centre: [0, 0, 0]}\n"
                    "  c: {mass: 1 kg, inertia: [1, 1, %d], centre: [0, 0, 0]}\njoints:\n"
                    "  A: {type: revolute, between: [ground, a], axis: [0, 0, 1]}\n"
                    "  B: {type: revolute, between: [ground, b], axis: [0, 0, 1]}\n"
                    "  C: {type: revolute, between: [ground, c], axis: [0, 0, 1]}\n"
                    "initial: {A.angle: 0, B.angle: 0, C.angle: 0}\n",
                    which != 0, which != 1, which != 2),
         name);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(an_angle), cmocka_unit_test(a_slide),
                                     cmocka_unit_test(the_named_joint)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
