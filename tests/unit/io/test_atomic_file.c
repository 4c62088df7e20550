#define _DEFAULT_SOURCE  // syscall

// Atomic files: a file is complete or does not appear. Oracle: the recorded sequence of system calls, and the old
// content.
#include "support/test.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "io/atomic_file.h"
#include "support/scratch.h"

// The sequence of operations: f a file and d a folder written to disk, r a rename. These functions replace the C
// library's in this program.
static char events[8];

static void happened(char what) {
  size_t n = strlen(events);
  if (n + 1 < sizeof events) events[n] = what;
}

int fsync(int fd) {
  struct stat st;
  happened(fstat(fd, &st) == 0 && S_ISDIR(st.st_mode) ? 'd' : 'f');
  return (int)syscall(SYS_fsync, fd);
}

int rename(const char *from, const char *to) {
  happened('r');
  return (int)syscall(SYS_renameat, AT_FDCWD, from, AT_FDCWD, to);
}

// A file is on disk before it replaces another one, also a file of another program; then the folder is.
static void test_on_disk_before_the_rename(void **state) {
  scratch *s = *state;
  for (int other = 0; other < 2; other++) {
    od_atomic_file f;
    memset(events, 0, sizeof events);
    assert_int_equal(od_atomic_open(&f, scratch_path(s, "a.txt"), NULL), OD_OK);
    if (other) {
      FILE *own = fopen(f.temporary, "w");
      fputs("new", own);
      fclose(own);
    } else {
      fputs("new", f.file);
    }
    assert_int_equal(od_atomic_commit(&f, NULL), OD_OK);
    assert_string_equal(events, "frd");
    char *text = scratch_read(scratch_path(s, "a.txt"));
    assert_string_equal(text, "new");
    free(text);
  }
}

static void test_commit_replaces(void **state) {
  scratch *s = *state;
  char path[512];
  strcpy(path, scratch_write(s, "a.txt", "old", 3));
  chmod(path, 0640);
  od_atomic_file f;
  assert_int_equal(od_atomic_open(&f, path, NULL), OD_OK);
  fputs("new", f.file);
  fflush(f.file);
  // The old content remains until the end.
  char *text = scratch_read(path);
  assert_string_equal(text, "old");
  free(text);
  assert_int_equal(od_atomic_commit(&f, NULL), OD_OK);
  text = scratch_read(path);
  assert_string_equal(text, "new");
  free(text);
  assert_int_equal(scratch_count(s), 1);
  struct stat st;
  stat(path, &st);
  assert_int_equal(st.st_mode & 0777, 0640);
}

static void test_discard_leaves_nothing(void **state) {
  scratch *s = *state;
  od_atomic_file f;
  assert_int_equal(od_atomic_open(&f, scratch_path(s, "a.txt"), NULL), OD_OK);
  fputs("half", f.file);
  od_atomic_discard(&f);
  assert_int_equal(scratch_count(s), 0);
}

static void test_links_are_followed(void **state) {
  scratch *s = *state;
  char link[512];
  scratch_write(s, "real.txt", "old", 3);
  strcpy(link, scratch_path(s, "link.txt"));
  assert_int_equal(symlink("real.txt", link), 0);
  od_atomic_file f;
  assert_int_equal(od_atomic_open(&f, link, NULL), OD_OK);
  fputs("new", f.file);
  assert_int_equal(od_atomic_commit(&f, NULL), OD_OK);
  struct stat st;
  assert_int_equal(lstat(link, &st), 0);
  assert_true(S_ISLNK(st.st_mode));
  char *text = scratch_read(scratch_path(s, "real.txt"));
  assert_string_equal(text, "new");
  free(text);
}

static void test_devices_are_written_directly(void **state) {
  (void)state;
  od_atomic_file f;
  assert_int_equal(od_atomic_open(&f, "/dev/null", NULL), OD_OK);
  fputs("gone", f.file);
  assert_int_equal(od_atomic_commit(&f, NULL), OD_OK);
  struct stat st;
  stat("/dev/null", &st);
  assert_true(S_ISCHR(st.st_mode));
}

static void test_failures_say_why(void **state) {
  scratch *s = *state;
  od_atomic_file f;
  od_error err = {0};
  assert_int_equal(od_atomic_open(&f, scratch_path(s, "no/such/folder.txt"), &err), OD_IO);
  assert_non_null(strstr(err.text, "No such file"));
  assert_int_equal(od_atomic_open(&f, s->folder, &err), OD_IO);
  assert_non_null(strstr(err.text, "directory"));
  // A full disk is detected at the latest when the file is closed.
  if (access("/dev/full", W_OK) == 0) {
    assert_int_equal(od_atomic_open(&f, "/dev/full", &err), OD_OK);
    fputs("x", f.file);
    assert_int_equal(od_atomic_commit(&f, &err), OD_IO);
    assert_non_null(strstr(err.text, "No space left"));
  }
  assert_int_equal(scratch_count(s), 0);
}

int main(void) {
#define TEST(f) cmocka_unit_test_setup_teardown(f, scratch_setup, scratch_teardown)
  const struct CMUnitTest tests[] = {
      TEST(test_commit_replaces),    TEST(test_discard_leaves_nothing),
      TEST(test_links_are_followed), TEST(test_devices_are_written_directly),
      TEST(test_failures_say_why),   TEST(test_on_disk_before_the_rename),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
