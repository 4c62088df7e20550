// Messages about algebraic loops of blocks. Oracle: the connections that the test writes. The message lists the blocks of the loop in the direction
// of the signals; it begins and ends with the same block. Blocks that only follow the loop, or lead into it, are not listed. A long loop is
// shortened.
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"

#include "oleodyn/machine.h"
#include "support/machine_file.h"

// Writes a ring of sums. Each sum adds the signal of the previous sum and the input, or a gain that leads into the ring. after: number of gains that
// follow the ring; they come first in the file.
static void write_ring(char *text, size_t size, int count, int after, bool has_lead) {
  size_t used = (size_t)snprintf(text, size, "inputs: {u: {constant: 1}}\nblocks:\n");
  for (int i = 0; i < after; i++)
    used += (size_t)snprintf(text + used, size - used, "  after%d: {type: gain, input: %s%d, gain: 2}\n", i,
                             i + 1 < after ? "after" : "r", i + 1 < after ? i + 1 : count / 2);
  if (has_lead) used += (size_t)snprintf(text + used, size - used, "  lead: {type: gain, input: u, gain: 2}\n");
  for (int i = 0; i < count; i++)
    used += (size_t)snprintf(text + used, size - used, "  r%d: {type: sum, inputs: [%s, r%d]}\n", i,
                             has_lead ? "lead" : "u", (i + count - 1) % count);
  snprintf(text + used, size - used, "run: {time: 1 s, outputs: [r0]}\n");
}

static char *message_of(const machine_file *file, const char *text) {
  machine_file_write(file, text, strlen(text));
  od_messages *messages = od_messages_new();
  od_machine *machine = NULL;
  assert_int_not_equal(od_machine_load(file->path, NULL, &machine, messages), OD_OK);
  char *printed = messages_text(messages);
  od_messages_free(messages);
  return printed;
}

static void loops(void **state) {
  static char text[20000];
  static const int counts[] = {1, 2, 3, 7, 20, 63, 64, 65, 70, 150};
  for (size_t k = 0; k < 4 * sizeof counts / sizeof *counts; k++) {
    const int count = counts[k / 4];
    write_ring(text, sizeof text, count, k % 2 ? 3 : 0, k / 2 % 2);
    char line[1000] = "", *printed = message_of(*state, text);
    snprintf(line, sizeof line, "%s", printed);
    free(printed);
    char *at = strstr(line, "error: r"), *end = strstr(line, " is an algebraic loop");
    if (!at || !end) fail_msg("%d blocks: %s", count, line);
    at += strlen("error: ");
    *end = 0;
    int listed = 0, first = -1, last = -1, cuts = 0;
    for (char *name = at; name; name = strstr(name, " -> ") ? strstr(name, " -> ") + 4 : NULL) {
      int block;
      if (strncmp(name, "... -> ", 7) == 0) {
        cuts++;
        continue;
      }
      assert_int_equal(sscanf(name, "r%d", &block), 1);
      if (last >= 0 && !cuts) assert_int_equal(block, (last + 1) % count);  // a connection of the file
      if (first < 0) first = block;
      last = block;
      listed++;
    }
    assert_int_equal(last, first);
    if (count <= 20 && cuts) fail_msg("%d blocks: %s", count, at);
    assert_int_equal(cuts, listed < count + 1);
    assert_true(listed == count + 1 || listed > 20);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(loops, machine_file_start, machine_file_end)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
