// Saved states (base/saved.h) of a small object. Oracle: the layout in the header's comment: offsets and sizes of the fields by hand,
// pieces aligned to 16; each field of the identity is refused alone with its own message; a refused state changes nothing.
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"
#include "base/saved.h"
#include "oleodyn/version.h"

typedef struct thing {
  char text[5];
  double values[3];
  int32_t count;
  double placed[2];
} thing;

static void pieces(void *self, od_pieces *t) {
  thing *x = self;
  const char *text = od_pieces_bytes(t, x->text, sizeof x->text);
  od_pieces_expect(t, !text || text[0] != '!', "the text begins with '!'");
  const double *values = od_pieces_bytes(t, x->values, sizeof x->values);
  od_pieces_expect(t, !values || values[0] >= 0, "a value is negative");
  od_pieces_bytes(t, NULL, 0);
  od_pieces_bytes(t, &x->count, sizeof x->count);
  void *to;
  const void *from = od_pieces_place(t, sizeof x->placed, &to);
  assert_true((to != NULL) == (t->mode == OD_PIECES_SAVE));
  assert_true((from != NULL) == (t->mode == OD_PIECES_CHECK || t->mode == OD_PIECES_RESTORE));
  if (to) memcpy(to, x->placed, sizeof x->placed);
  if (t->mode == OD_PIECES_RESTORE) memcpy(x->placed, from, sizeof x->placed);
}

// Offsets in the header, and its size; the pieces follow: 5, 24, 0, 4 and 16 bytes.
enum {
  FORMAT = 8,
  ORDER = 12,
  SIZES = 16,
  KIND = 20,
  SIZE = 24,
  CHECKSUM = 32,
  MACHINE = 40,
  SELECTION = 48,
  OPTIONS = 56,
  VERSION = 64,
  INTEGRATOR = 80,
  FILTER = 112,
  HEADER = 144
};
enum { TEXT = HEADER, VALUES = TEXT + 16, COUNT = VALUES + 32, PLACED = COUNT + 16, ALL = PLACED + 16 };

static const thing sample = {"abcd", {1, 2, -3}, 7, {0.5, 0.25}};
static const od_saved_owner owner = {OD_SAVED_OBSERVER, 0x1122334455667788, 42, 99, "rk4", "ekf"};

static char *save(void) {
  thing x = sample;
  char *saved = aligned_alloc(16, ALL + 16);
  assert_non_null(saved);
  memset(saved, 0x5a, ALL + 16);
  assert_int_equal(od_saved_size(&x, pieces), ALL);
  od_saved_write(&owner, &x, pieces, saved);
  for (int i = 0; i < 16; i++) assert_int_equal(saved[ALL + i], 0x5a);
  return saved;
}

// Reads into an object with other contents; says: part of the message, NULL: it is restored.
static void must_read(const od_saved_owner *by, const char *saved, size_t size, const char *says) {
  thing x = {"----", {9, 9, 9}, 9, {9, 9}}, before = x;
  od_error err = {0};
  od_status status = od_saved_read(by, &x, pieces, saved, size, &err);
  if (!says) {
    if (status != OD_OK) fail_msg("%s", err.text);
    assert_true(memcmp(x.text, sample.text, sizeof x.text) == 0 &&
                memcmp(x.values, sample.values, sizeof x.values) == 0);
    assert_true(x.count == 7 && memcmp(x.placed, sample.placed, sizeof x.placed) == 0);
  } else {
    if (status != OD_BAD_INPUT || !strstr(err.text, says)) fail_msg("'%s' instead of '%s'", err.text, says);
    assert_memory_equal(&x, &before, sizeof x);
  }
}

static uint64_t number_at(const char *saved, size_t at, size_t size) {
  uint64_t value = 0;
  memcpy(&value, saved + at,
         size);  // the test reads numbers of less than 8 bytes on computers of little-endian order only
  return value;
}

static void bytes_of_a_state(void **state) {
  (void)state;
  char *saved = save(), *again = save();
  const int one = 1;
  assert_memory_equal(saved, again, ALL);
  must_read(&owner, saved, ALL, NULL);
  assert_memory_equal(saved, "odstate", 8);
  assert_memory_equal(saved + TEXT, "abcd\0\0\0\0\0\0\0\0\0\0\0", 16);
  assert_memory_equal(saved + VALUES, sample.values, sizeof sample.values);
  for (int i = 24; i < 32; i++) assert_int_equal(saved[VALUES + i], 0);
  assert_memory_equal(saved + PLACED, sample.placed, sizeof sample.placed);
  assert_string_equal(saved + VERSION, OD_VERSION);
  assert_string_equal(saved + INTEGRATOR, "rk4");
  assert_string_equal(saved + FILTER, "ekf");
  assert_int_equal(number_at(saved, SIZE, 8), ALL);
  assert_true(number_at(saved, MACHINE, 8) == owner.machine && number_at(saved, SELECTION, 8) == 42 &&
              number_at(saved, OPTIONS, 8) == 99);
  if (*(const char *)&one == 1) {
    assert_int_equal(number_at(saved, FORMAT, 4), 2);
    assert_int_equal(number_at(saved, ORDER, 4), 0x01020304);
    assert_int_equal(number_at(saved, KIND, 4), OD_SAVED_OBSERVER);
  }
  const unsigned char sizes[] = {sizeof(int), sizeof(long), sizeof(size_t), sizeof(double)};
  assert_memory_equal(saved + SIZES, sizes, 4);
  // A name of 40 characters is cut to 31.
  const od_saved_owner longer = {OD_SAVED_SIM, 1, 1, 0, "abcdefghijabcdefghijabcdefghijabcdefghij", NULL};
  thing x = sample;
  od_saved_write(&longer, &x, pieces, saved);
  assert_string_equal(saved + INTEGRATOR, "abcdefghijabcdefghijabcdefghija");
  assert_string_equal(saved + FILTER, "");
  must_read(&longer, saved, ALL, NULL);
  free(saved), free(again);
}

static void other_owners(void **state) {
  (void)state;
  char *saved = save();
  static const char *const kinds[] = {"",
                                      "a simulation",
                                      "a plain simulation",
                                      "an advance",
                                      "an observer",
                                      "a run of 'simulate'",
                                      "a run of 'observe'"};
  for (int kind = OD_SAVED_SIM; kind <= OD_SAVED_OBSERVATION; kind++) {
    od_saved_owner by = owner;
    char says[100];
    by.kind = (od_saved_kind)kind;
    snprintf(says, sizeof says, "the state of an observer; expected %s", kinds[kind]);
    must_read(&by, saved, ALL, kind == OD_SAVED_OBSERVER ? NULL : says);
    // A state of each kind, and of kinds that do not exist.
    uint32_t value = (uint32_t)kind;
    memcpy(saved + KIND, &value, 4), od_saved_repair(saved, ALL);
    snprintf(says, sizeof says, "the state of %s; expected an observer", kinds[kind]);
    must_read(&owner, saved, ALL, kind == OD_SAVED_OBSERVER ? NULL : says);
    value = OD_SAVED_OBSERVER;
    memcpy(saved + KIND, &value, 4), od_saved_repair(saved, ALL);
  }
  for (uint32_t value = 0; value < 8; value += 7) {
    memcpy(saved + KIND, &value, 4), od_saved_repair(saved, ALL);
    must_read(&owner, saved, ALL, "the state of an unknown object; expected an observer");
  }
  free(saved);
  saved = save();
  od_saved_owner by[5];
  for (int i = 0; i < 5; i++) by[i] = owner;
  by[0].machine++, by[1].selection++, by[2].integrator = "rk5", by[3].filter = NULL, by[4].options++;
  static const char *const says[] = {"another machine", "other outputs", "integrator 'rk4'; expected 'rk5'",
                                     "filter 'ekf'; expected ''", "an observer with other options"};
  for (int i = 0; i < 5; i++) must_read(&by[i], saved, ALL, says[i]);
  saved[INTEGRATOR] = '\n', saved[INTEGRATOR + 1] = '\x7f', saved[INTEGRATOR + 2] = '~', od_saved_repair(saved, ALL);
  must_read(&owner, saved, ALL, "integrator '??~'");
  memset(saved + FILTER, 'x', 32), memcpy(saved + INTEGRATOR, "rk4", 3), od_saved_repair(saved, ALL);
  must_read(&owner, saved, ALL, "filter 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx';");
  free(saved);
}

static void damaged_states(void **state) {
  (void)state;
  char *saved = save();
  for (size_t i = 0; i < ALL; i++) {
    saved[i] ^= 1;
    must_read(&owner, saved, ALL, "");
    saved[i] ^= 1;
  }
  must_read(&owner, saved, 7, "not a saved state");
  must_read(&owner, saved, 8, "truncated within its header: it has 8 bytes");
  must_read(&owner, saved, HEADER - 1, "truncated within its header");
  must_read(&owner, saved, HEADER, "truncated or too long: 144 bytes; expected 224 bytes");
  must_read(&owner, saved, ALL - 1, "truncated or too long");
  must_read(&owner, saved, ALL + 16, "truncated or too long: 240 bytes; expected 224 bytes");
  const struct {
    size_t at;
    const char *says;
  } fields[] = {{0, "not a saved state"},           {FORMAT, "has format"},
                {ORDER, "another byte order"},      {SIZES, "another byte order"},
                {SIZES + 3, "another byte order"},  {CHECKSUM, "checksum is wrong"},
                {VERSION, "was written by oleodyn"}};
  for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
    saved[fields[i].at] ^= 8;
    if (fields[i].at != CHECKSUM) assert_true(od_saved_repair(saved, ALL));
    must_read(&owner, saved, ALL, fields[i].says);
    saved[fields[i].at] ^= 8, od_saved_repair(saved, ALL);
  }
  // Values that the pieces refuse: the first problem is reported. A state with more or fewer pieces.
  saved[TEXT] = '!', memcpy(saved + VALUES, (double[]){-1}, 8), od_saved_repair(saved, ALL);
  must_read(&owner, saved, ALL, "damaged: the text begins with '!'");
  saved[TEXT] = 'a', od_saved_repair(saved, ALL);
  must_read(&owner, saved, ALL, "damaged: a value is negative");
  memcpy(saved + VALUES, (double[]){1}, 8);
  for (size_t size = ALL - 16; size <= ALL + 16; size += 16) {
    uint64_t given = size;
    memcpy(saved + SIZE, &given, 8), assert_true(od_saved_repair(saved, size));
    must_read(&owner, saved, size, size == ALL ? NULL : "its size does not fit the machine");
  }
  assert_false(od_saved_repair(saved, HEADER - 1));
  free(saved);
  od_error err = {0};
  thing x = sample;
  char *room = aligned_alloc(16, ALL + 32);
  assert_non_null(room);
  saved = save();
  memcpy(room + 8, saved, ALL);
  assert_int_equal(od_saved_read(&owner, &x, pieces, room + 8, ALL, &err), OD_BAD_ARGUMENT);
  assert_non_null(strstr(err.text, "aligned to 16"));
  free(room), free(saved);
}

static void first_piece(void **state) {
  (void)state;
  char *saved = save(), text[5] = "....", all[ALL - HEADER + 1];
  od_error err = {0};
  assert_int_equal(od_saved_first(OD_SAVED_OBSERVER, saved, ALL, text, 5, &err), OD_OK);
  assert_string_equal(text, "abcd");
  memset(text, '.', 4);
  assert_int_equal(od_saved_first(OD_SAVED_SIM, saved, ALL, text, 5, &err), OD_BAD_INPUT);
  assert_non_null(strstr(err.text, "the state of an observer; expected a simulation"));
  assert_int_equal(od_saved_first(OD_SAVED_OBSERVER, saved, ALL, all, sizeof all - 1, &err), OD_OK);
  assert_memory_equal(all, saved + HEADER, sizeof all - 1);
  assert_int_equal(od_saved_first(OD_SAVED_OBSERVER, saved, ALL, all, sizeof all, &err), OD_BAD_INPUT);
  assert_non_null(strstr(err.text, "it has no contents"));
  saved[ALL - 20] ^= 1;
  assert_int_equal(od_saved_first(OD_SAVED_OBSERVER, saved, ALL, text, 5, &err), OD_BAD_INPUT);
  assert_string_equal(text, "....");
  free(saved);
}

static void counts(void **state) {
  (void)state;
  assert_true(od_saved_is_count(0) && od_saved_is_count(1) && !od_saved_is_count(-1) && !od_saved_is_count(INT64_MIN));
  assert_false(od_saved_is_count(INT64_MAX));
  if (LONG_MAX > INT32_MAX)
    assert_true(od_saved_is_count((int64_t)1 << 48) && !od_saved_is_count(((int64_t)1 << 48) + 1));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(bytes_of_a_state), cmocka_unit_test(other_owners),
                                     cmocka_unit_test(damaged_states), cmocka_unit_test(first_piece),
                                     cmocka_unit_test(counts)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
