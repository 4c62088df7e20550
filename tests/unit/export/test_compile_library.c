// Compilation of a library: the library exists afterwards; the message if the list of its objects cannot be written. Oracle: the file system.
#include "export/compile_library.h"

#include <sys/stat.h>
#include <unistd.h>

#include "support/test.h"

#include "support/scratch.h"
#include "support/skipping.h"

static od_error err;

static od_status compile(scratch *s, const char *library) {
  static const char *const sources[] = {"one.c", NULL};
  err = (od_error){0};
  scratch_put(s, "one.c", "int one(void);\nint one(void) { return 1; }\n");
  return od_compile_library(&od_compiler_linux, s->folder, sources, library, NULL, NULL, &err);
}

static void compiles(void **state) {
  scratch *s = *state;
  char library[600];
  if (!od_compiler_is_there(&od_compiler_linux)) skip_test("no package: gcc");
  snprintf(library, sizeof library, "%s", scratch_path(s, "one.so"));
  if (compile(s, library) != OD_OK) fail_msg("%s", err.text);
  assert_int_equal(access(library, F_OK), 0);
  assert_int_equal(scratch_count(s), 2);  // the source and the library
}

static void list_is_folder(void **state) {
  scratch *s = *state;
  if (!od_compiler_is_there(&od_compiler_linux)) skip_test("no package: gcc");
  assert_int_equal(mkdir(scratch_path(s, "objects.txt"), 0777), 0);
  assert_int_equal(compile(s, "one.so"), OD_IO);
  assert_non_null(strstr(err.text, "cannot write "));
  assert_non_null(strstr(err.text, "/objects.txt: Is a directory"));
}

// A full disk.
static void list_is_full(void **state) {
  scratch *s = *state;
  if (!od_compiler_is_there(&od_compiler_linux)) skip_test("no package: gcc");
  assert_int_equal(symlink("/dev/full", scratch_path(s, "objects.txt")), 0);
  assert_int_equal(compile(s, "one.so"), OD_IO);
  assert_non_null(strstr(err.text, "/objects.txt: No space left on device"));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(compiles, scratch_setup, scratch_teardown),
                                     cmocka_unit_test_setup_teardown(list_is_folder, scratch_setup, scratch_teardown),
                                     cmocka_unit_test_setup_teardown(list_is_full, scratch_setup, scratch_teardown)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
