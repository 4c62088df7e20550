// Machine files that tests write, in a separate folder that is removed at the end.
#ifndef OD_TEST_MACHINE_FILE_H
#define OD_TEST_MACHINE_FILE_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "oleodyn/machine.h"

typedef struct machine_file {
  char folder[64], path[96];
} machine_file;

static inline int machine_file_start(void **state) {
  machine_file *file = calloc(1, sizeof *file);
  if (file == NULL) return -1;
  snprintf(file->folder, sizeof file->folder, "/tmp/oleodyn-test-XXXXXX");
  if (mkdtemp(file->folder) == NULL) return -1;
  snprintf(file->path, sizeof file->path, "%s/machine.yaml", file->folder);
  *state = file;
  return 0;
}

static inline int machine_file_end(void **state) {
  machine_file *file = *state;
  unlink(file->path);
  rmdir(file->folder);
  free(file);
  return 0;
}

static inline void machine_file_write(const machine_file *file, const char *text, size_t length) {
  FILE *to = fopen(file->path, "wb");
  assert_non_null(to);
  assert_int_equal(fwrite(text, 1, length, to), length);
  assert_int_equal(fclose(to), 0);
}

// All messages as one text, as printed by od_messages_print().
static inline char *messages_text(const od_messages *messages) {
  char *text = NULL;
  size_t length = 0;
  FILE *to = open_memstream(&text, &length);
  assert_non_null(to);
  od_messages_print(messages, to, false);
  fclose(to);
  return text;
}

// The machine of the text, with these options. The test fails if the text does not load.
static inline od_machine *machine_with(const machine_file *file, const char *text, const od_load_options *options) {
  machine_file_write(file, text, strlen(text));
  od_messages *messages = od_messages_new();
  od_machine *machine;
  od_status status = od_machine_load(file->path, options, &machine, messages);
  char *said = messages_text(messages);
  if (status != OD_OK) print_message("%s", said);
  free(said);
  od_messages_free(messages);
  assert_int_equal(status, OD_OK);
  assert_non_null(machine);
  return machine;
}

// The same with up to two --set (NULL: none).
static inline od_machine *machine_from(const machine_file *file, const char *text, const char *set1, const char *set2) {
  const char *set[2] = {set1, set2};
  return machine_with(file, text, &(od_load_options){.set = set, .set_count = (set1 != NULL) + (set2 != NULL)});
}

// ---- numbers of a loaded machine

static inline od_number number(const od_machine *machine, const char *path) {
  int i = od_machine_number_find(machine, path);
  if (i < 0) fail_msg("there is no number %s", path);
  return od_machine_number(machine, i);
}

// Value, unit, and the text in the file; NULL: a default.
static inline void check(const od_machine *machine, const char *path, double value, const char *unit,
                         const char *given) {
  od_number n = number(machine, path);
  assert_string_equal(n.path, path);
  if (!(fabs(n.value - value) <= 1e-15 * fabs(value))) fail_msg("%s is %.17g, not %.17g", path, n.value, value);
  assert_string_equal(n.unit, unit);
  if (given == NULL)
    assert_null(n.given);
  else
    assert_string_equal(n.given, given);
}

static inline void check_absent(const od_machine *machine, const char *path) {
  assert_int_equal(od_machine_number_find(machine, path), -1);
}

#endif
