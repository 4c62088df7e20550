// Stored runs: the settings and outputs come back, and the stored files are those of the machine. Other versions and damaged bytes are
// refused. tests/engine runs stored machines.
#include "support/test.h"

#include <stdlib.h>
#include <string.h>

#include "memory/owned.h"
#include "oleodyn/version.h"
#include "simulate/stored_run.h"

typedef struct stored {
  od_machine *machine;
  od_bundle files;
  od_records records;
} stored;

static void store(stored *s, const od_run_options *options, const int *watched, int count) {
  const char *const set[] = {"constants.piston=60 mm"};
  const od_load_options load = {.set = set, .set_count = 1};
  od_bundle *before = od_bundle_record(&s->files);
  assert_int_equal(od_machine_load(OD_SOURCE_DIR "/tests/engine/dependent.yaml", &load, &s->machine, NULL), OD_OK);
  od_bundle_record(before);
  od_stored_run_append(&s->records, s->machine, &s->files, options, watched, count);
  assert_false(s->records.no_memory);
}

static void free_stored(stored *s) {
  od_records_free(&s->records);
  od_arena_free(&s->files.arena);
  od_machine_free(s->machine);
}

static const int outputs[] = {0, 2}, watched[] = {1, 0, 3};
static const od_run_options options = {.time = 1.25,
                                       .step = 1e-3 / 3,
                                       .tolerance = 2e-6,
                                       .longest = 0.02,
                                       .adaptive = true,
                                       .every = 7,
                                       .integrator = "tr-bdf2",
                                       .outputs = outputs,
                                       .output_count = 2};

static void test_settings(void **state) {
  (void)state;
  stored s = {0};
  store(&s, &options, watched, 3);
  od_stored_run run = {0};
  od_error err = {0};
  assert_int_equal(od_stored_run_read(&run, s.records.bytes, s.records.size, &err), OD_OK);
  assert_true(run.options.time == options.time && run.options.step == options.step);
  assert_true(run.options.tolerance == options.tolerance && run.options.longest == options.longest);
  assert_true(run.options.adaptive && run.options.every == 7);
  assert_string_equal(run.options.integrator, "tr-bdf2");
  assert_int_equal(run.outputs, 2);
  assert_int_equal(run.watched, 3);
  for (int i = 0; i < 2; i++) assert_string_equal(run.output[i], od_machine_output_name(s.machine, outputs[i]));
  for (int i = 0; i < 3; i++) assert_string_equal(run.output[2 + i], od_machine_output_name(s.machine, watched[i]));
  assert_int_equal(run.source.sets, 1);
  assert_string_equal(run.source.set[0], "constants.piston=60 mm");
  // The machine file, the included file and the log; only the log is a text.
  assert_int_equal(run.source.files.files, 3);
  for (int i = 0; i < 3; i++) {
    bool log = strstr(run.source.files.file[i].path, ".csv") != NULL;
    assert_string_equal(run.source.files.file[i].path, s.files.file[i].path);
    assert_int_equal(s.files.file[i].is_yaml, !log);
    assert_int_equal(strncmp(run.source.files.file[i].bytes, s.files.file[i].bytes, 8) == 0, log);
  }
  assert_non_null(strstr(run.source.files.file[0].path, "dependent.yaml"));
  od_stored_run_free(&run);
  free_stored(&s);
}

static void test_refusals(void **state) {
  (void)state;
  stored s = {0};
  store(&s, &options, NULL, 0);
  od_error err = {0};
  for (size_t length = 0; length < s.records.size; length += 1 + length / 50) {
    od_stored_run run = {0};
    od_status status = od_stored_run_read(&run, s.records.bytes, length, &err);
    assert_true(status == OD_BAD_INPUT || run.source.files.files > 0);
    od_stored_run_free(&run);
  }
  od_stored_run run = {0};
  s.records.bytes[9 + strlen(OD_VERSION) - 1] ^= 1;
  assert_int_equal(od_stored_run_read(&run, s.records.bytes, s.records.size, &err), OD_BAD_INPUT);
  assert_non_null(strstr(err.text, "oleodyn " OD_VERSION));
  od_stored_run_free(&run);

  const od_run_options cvodes = {.integrator = "cvodes"};
  assert_int_equal(od_stored_run_check(&s.files, &cvodes, &err), OD_NOT_AVAILABLE);
  assert_int_equal(od_stored_run_check(&s.files, &options, &err), OD_OK);
  od_bundle with_log = {0};
  assert_true(od_bundle_add(&with_log, "log.mat", "", 0, false));
  assert_int_equal(od_stored_run_check(&with_log, &options, &err), OD_NOT_AVAILABLE);
  assert_non_null(strstr(err.text, "log.mat"));
  od_arena_free(&with_log.arena);
  free_stored(&s);
}

static void test_offered_numbers(void **state) {
  (void)state;
  static const struct {
    const char *path;
    bool offered;
  } paths[] = {{"boom.mass", true}, {"run.time", false}, {"requirements.x.max", false}, {"runner.mass", true}};
  for (int i = 0; i < 4; i++)
    assert_int_equal(od_stored_run_offers(&(od_number){.path = paths[i].path}), paths[i].offered);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_settings), cmocka_unit_test(test_refusals),
                                     cmocka_unit_test(test_offered_numbers)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
