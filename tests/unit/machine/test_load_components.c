// Every element class that a table of fields describes, read from a file generated from the table: the file loads, each
// missing required key, each impossible value and an unknown key are reported. The oracle is the table.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"
#include "document/messages.h"
#include "oleodyn/machine.h"
#include "support/random_instance.h"
#include "support/scratch.h"

enum { SIZE = 4096 };

// Other connections of the volumes.
static const char leaks[] = "leaks: {a: {between: [A, T], slope: 1e-12}, b: {between: [B, T], slope: 1e-12}}\n";
static const char orifices[] =
    "orifices: {a: {between: [A, T], area: 1e-6, discharge: 0.6}, b: {between: [B, T], area: 1e-6, discharge: 0.6}}\n";

// A machine with two volumes and a joint, and one component in it; the field `other` has another text, "" omits it.
static void write_machine(char *text, const od_element_description *c, const double *q, int other,
                          const char *instead) {
  int used = snprintf(text, SIZE,
                      "bodies: {arm: {beam: {mass: 2 kg, length: 1 m}}}\n"
                      "joints: {J: {type: revolute, between: [ground.O, arm.start]}}\n"
                      "ground: {points: {O: [0, 0], P: [0.5, 1]}}\n"
                      "oil: {density: 870, law: constant, modulus: 1.5e9}\n"
                      "volumes: {A: {volume: 1 l}, B: {volume: 1 l}}\n"
                      "tanks: {T: {pressure: 1 bar}}\n"
                      "inputs: {u: 0.5}\n"
                      "%s"
                      "initial: {J.angle: 10 deg, A.pressure: 20 bar, B.pressure: 10 bar}\n%s: {x: {",
                      c == &od_leak_description ? orifices : leaks, c->section);
  const char *names[] = {"A", "B"};
  int end = 0;
  bool pair = c->ends[0].count == 2 || c->ends[1].count == 2;  // then a single end is at another place
  if (c->equations->acts == OD_ACTS_BETWEEN_POINTS)
    used += snprintf(text + used, (size_t)(SIZE - used), "between: [ground.P, arm.end], ");
  if (c->equations->acts == OD_ACTS_IN_JOINT || c->equations->acts == OD_ACTS_SOMEWHERE)
    used += snprintf(text + used, (size_t)(SIZE - used), "joint: J, ");
  for (int i = 0; i < OD_MOST_END_KEYS && c->ends[i].key; i++)
    if (c->ends[i].count == 2)
      used += snprintf(text + used, (size_t)(SIZE - used), "%s: [A, B], ", c->ends[i].key);
    else
      used += snprintf(text + used, (size_t)(SIZE - used), "%s: %s, ", c->ends[i].key, pair ? "T" : names[end++]);
  if (c->signal_key) used += snprintf(text + used, (size_t)(SIZE - used), "%s: u, ", c->signal_key);
  for (int i = 0; i < c->field_count; i++) {
    if (i == other && !*instead) continue;
    used += i == other ? snprintf(text + used, (size_t)(SIZE - used), "%s: %s, ", c->fields[i].key, instead)
                       : snprintf(text + used, (size_t)(SIZE - used), "%s: %.17g, ", c->fields[i].key, q[i]);
  }
  if (other < 0 && *instead) used += snprintf(text + used, (size_t)(SIZE - used), "%s: 1, ", instead);
  snprintf(text + used, (size_t)(SIZE - used), "}}\n");
}

// Loads the text; the messages in one line after another.
static bool loads(scratch *s, const char *text, char *said) {
  scratch_write(s, "machine.yaml", text, strlen(text));
  od_messages *messages = od_messages_new();
  od_machine *machine = NULL;
  bool fine = od_machine_load(scratch_path(s, "machine.yaml"), NULL, &machine, messages) == OD_OK;
  *said = '\0';
  for (int i = 0; i < od_messages_count(messages) && strlen(said) < SIZE / 2; i++)
    snprintf(said + strlen(said), SIZE - strlen(said), "%s\n", od_messages_get(messages, i)->text);
  od_messages_free(messages);
  od_machine_free(machine);
  return fine;
}

static bool is_tabular(const od_element_description *c) {
  return c->section && !c->has_parts && !c->formula_key;
}

static void test_each_class(void **state) {
  scratch *s = *state;
  od_dice dice = {5};
  int tried = 0;
  for (int i = 0; i < od_element_class_count(); i++) {
    const od_element_description *c = od_element_description_at(i);
    if (!is_tabular(c)) continue;
    double q[64];
    int choice[OD_MOST_ELEMENT_CHOICES];
    char text[SIZE], said[SIZE], instead[64];
    od_random_numbers(&dice, c, q, choice);
    write_machine(text, c, q, -1, "");
    if (!loads(s, text, said)) fail_msg("%s does not load:\n%s%s", c->equations->name, text, said);
    write_machine(text, c, q, -1, "bogus");
    assert_false(loads(s, text, said));
    assert_non_null(strstr(said, "bogus"));
    for (int k = 0; k < c->field_count; k++, tried++) {
      const od_element_field *f = &c->fields[k];
      write_machine(text, c, q, k, "");
      bool fine = loads(s, text, said), needed = isnan(f->fallback);
      if (needed && (fine || !strstr(said, f->key))) fail_msg("%s without %s: %s", c->equations->name, f->key, said);
      bool turns =
          (c->equations->acts == OD_ACTS_IN_JOINT || c->equations->acts == OD_ACTS_SOMEWHERE) && f->turning_unit;
      double high = turns ? f->turning_limits.high : f->limits.high;
      if (high > 0) {
        snprintf(instead, sizeof instead, "%.17g", 10 * high);
        write_machine(text, c, q, k, instead);
        if (loads(s, text, said) || !strstr(said, f->key))
          fail_msg("%s with %s = %s: %s", c->equations->name, f->key, instead, said);
      }
      if (f->sign != OD_ANY) {
        write_machine(text, c, q, k, "-1");
        if (loads(s, text, said) || !strstr(said, f->key))
          fail_msg("%s with %s = -1: %s", c->equations->name, f->key, said);
      }
      write_machine(text, c, q, k, "1 kg m s");
      if (loads(s, text, said) || !strstr(said, f->key))
        fail_msg("%s with %s in kg m s: %s", c->equations->name, f->key, said);
    }
  }
  assert_true(tried > 10);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(test_each_class, scratch_setup, scratch_teardown)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
