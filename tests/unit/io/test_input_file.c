// Files that are read whole: endless files are rejected, slow ones are waited for. The oracle is the written content.
#include "support/test.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "io/input_file.h"
#include "support/scratch.h"
#include "support/skipping.h"

static void expect(const char *path, size_t most, od_status wanted, const char *said) {
  char *bytes = NULL;
  size_t length = 0;
  od_error why = {0};
  od_status status = od_input_read(path, most, &bytes, &length, &why);
  if (status != wanted) fail_msg("%s: status %d, %s", path, (int)status, why.text);
  if (wanted == OD_OK) {
    assert_int_equal(length, strlen(said));
    assert_string_equal(bytes, said);
  } else {
    assert_null(bytes);
    assert_string_equal(why.text, said);
  }
  free(bytes);
}

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void test_files(void **state) {
  scratch *s = *state;
  static char text[200001];
  memset(text, 'x', sizeof text - 1);
  const char *path = scratch_write(s, "file", text, sizeof text - 1);
  expect(path, sizeof text - 1, OD_OK, text);
  expect(path, 1 << 20, OD_OK, text);
  expect(path, sizeof text - 2, OD_BAD_INPUT, "the file is too large; expected at most 0 MB");
  expect(scratch_put(s, "empty", ""), 10, OD_OK, "");
  expect(scratch_path(s, "nowhere"), 10, OD_IO, "No such file or directory");
  expect(s->folder, 10, OD_IO, "Is a directory");
}

static void test_devices(void **state) {
  (void)state;
  expect("/dev/zero", 10, OD_IO, "found a device or a socket, expected a file or a pipe");
  expect("/dev/null", 10, OD_IO, "found a device or a socket, expected a file or a pipe");
}

// A file of /proc has the size 0 and a content, which must still be read up to the limit.
static void test_size_that_is_not_known(void **state) {
  (void)state;
  struct stat facts;
  if (stat("/proc/self/status", &facts) != 0 || facts.st_size != 0)
    skip_test("not possible: there is no /proc/self/status");
  expect("/proc/self/status", 100, OD_BAD_INPUT, "the file is too large; expected at most 0 MB");
}

// A child that writes to the pipe: after `before` ms it opens it, after `pause` more it writes.
static pid_t begin_writer(const char *path, int before, int pause, const char *text, int times) {
  pid_t child = fork();
  if (child != 0) return child;
  struct timespec t = {.tv_sec = before / 1000, .tv_nsec = before % 1000 * 1000000L};
  nanosleep(&t, NULL);
  int fd = open(path, O_WRONLY);
  t = (struct timespec){.tv_sec = pause / 1000, .tv_nsec = pause % 1000 * 1000000L};
  nanosleep(&t, NULL);
  for (int i = 0; i < times; i++)
    if (write(fd, text, strlen(text)) < 0) break;
  _exit(0);
}

static void test_pipes(void **state) {
  scratch *s = *state;
  char path[600];
  strcpy(path, scratch_path(s, "pipe"));
  assert_int_equal(mkfifo(path, 0600), 0);
  double begin = seconds();
  expect(path, 1 << 20, OD_IO, "no program writes to this pipe; start the writing program first");
  assert_true(seconds() - begin < 10);

  pid_t child = begin_writer(path, 0, 0, "a line\n", 1);
  expect(path, 1 << 20, OD_OK, "a line\n");
  waitpid(child, NULL, 0);
  // A writer that has opened the pipe may be slow.
  child = begin_writer(path, 0, 1300, "a line\n", 1);
  expect(path, 1 << 20, OD_OK, "a line\n");
  waitpid(child, NULL, 0);
  // An endless writer is stopped.
  child = begin_writer(path, 0, 0, "a line\n", 1 << 30);
  expect(path, 3 << 20, OD_BAD_INPUT, "the file is too large; expected at most 3 MB");
  waitpid(child, NULL, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_files, scratch_setup, scratch_teardown),
      cmocka_unit_test(test_devices),
      cmocka_unit_test(test_size_that_is_not_known),
      cmocka_unit_test_setup_teardown(test_pipes, scratch_setup, scratch_teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
