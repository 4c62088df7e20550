// MATLAB files: typical workspaces; truncated or damaged files; full disks. Oracles: values by hand, the undamaged
// file.
#include "support/test.h"

#include <math.h>
#include <matio.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/helper.h"
#include "formats/read_table.h"
#include "io/table.h"
#include "support/scratch.h"

// --- Workspaces ---------------------------------------------------------------------------------------------------

enum { LENGTH = 2500 };

static void put(mat_t *mat, const char *name, size_t rows, size_t columns, size_t pages, double (*value)(size_t)) {
  size_t dims[3] = {rows, columns, pages}, count = rows * columns * pages;
  double *data = malloc(count * sizeof *data);
  for (size_t i = 0; i < count; i++) data[i] = value(i);
  matvar_t *v = Mat_VarCreate(name, MAT_C_DOUBLE, MAT_T_DOUBLE, pages > 1 ? 3 : 2, dims, data, 0);
  assert_int_equal(Mat_VarWrite(mat, v, MAT_COMPRESSION_ZLIB), 0);
  Mat_VarFree(v);
  free(data);
}

static double index_of(size_t i) {
  return (double)i;
}

static double thousandth(size_t i) {
  return 1e-3 * (double)i;
}

// Eight scalars and a long flat matrix in addition to the signals; `time` is the name of the time.
static const char *write_workspace(scratch *s, const char *time, enum mat_ft level) {
  const char *path = scratch_path(s, "w.mat");
  mat_t *mat = Mat_CreateVer(path, NULL, level);
  for (int i = 0; i < 8; i++) put(mat, (char[]){'a' + (char)i, '\0'}, 1, 1, 1, index_of);
  put(mat, "Xt", 4, LENGTH, 1, index_of);
  put(mat, "gains", 6, 1, 1, index_of);
  put(mat, "poles", 6, 1, 1, index_of);
  put(mat, "zeros", 1, 6, 1, index_of);
  put(mat, time, 1, LENGTH, 1, thousandth);
  if (level != MAT_FT_MAT4) put(mat, "flat", 1, 1, LENGTH, index_of);
  Mat_Close(mat);
  return path;
}

static double value(const od_table *t, long row, const char *name) {
  for (int i = 0; i < t->columns; i++)
    if (!strcmp(t->name[i], name)) return t->data[row * t->columns + i];
  fail_msg("there is no %s", name);
  return NAN;
}

static od_table *read_mat(const char *path, const od_table_wish *wish) {
  od_table *t = NULL;
  od_error err = {0};
  if (od_table_read_mat(path, wish, &t, &err) != OD_OK) fail_msg("%s", err.text);
  return t;
}

// The rows follow the time, found by its usual name or a given one; then a needed column. Values by hand: MATLAB stores
// columns.
static void test_workspace(void **state) {
  scratch *s = *state;
  const enum mat_ft levels[] = {MAT_FT_MAT4, MAT_FT_MAT5, MAT_FT_MAT73};
  const char *needed[] = {"Xt(3,:)", NULL};
  const struct {
    const char *time;
    od_table_wish wish;
  } cases[] = {{"t", {0}},
               {"TIME", {0}},
               {"Zeit", {.time = "Zeit"}},
               {"Zeit", {.columns = needed}},
               {"Zeit", {.columns = needed, .no_time = true}}};
  for (size_t i = 0; i < 3 * sizeof cases / sizeof *cases; i++) {
    enum mat_ft level = levels[i % 3];
    od_table *t = read_mat(write_workspace(s, cases[i / 3].time, level), &cases[i / 3].wish);
    assert_int_equal(t->rows, LENGTH);
    assert_int_equal(t->columns, level == MAT_FT_MAT4 ? 5 : 6);
    assert_true(fabs(value(t, 700, cases[i / 3].time) - 0.7) < 1e-15);
    for (int k = 0; k < 4; k++) {
      char name[] = "Xt(1,:)";
      name[3] += (char)k;
      assert_true(value(t, 700, name) == 4 * 700 + k);
    }
    if (level != MAT_FT_MAT4) assert_true(value(t, 700, "flat") == 700);
    od_table_free(t);
  }
}

static void test_lengths_that_do_not_fit(void **state) {
  scratch *s = *state;
  const char *needed[] = {"gains", NULL};
  const char *path = write_workspace(s, "t", MAT_FT_MAT5);
  od_table *t = NULL;
  od_error err = {0};
  assert_int_equal(od_table_read_mat(path, &(od_table_wish){.columns = needed}, &t, &err), OD_BAD_INPUT);
  assert_non_null(strstr(err.text, "'gains' has 6 values, but the log has 2500 rows; expected equal lengths"));
  // Without a time the most frequent length is used.
  t = read_mat(write_workspace(s, "Zeit", MAT_FT_MAT4), NULL);
  assert_int_equal(t->rows, 6);
  od_table_free(t);
}

// --- Truncated files -----------------------------------------------------------------------------------------------

static od_table *small_table(void) {
  od_table *t = od_table_new(3);
  od_table_label(t, 0, "time", "s");
  od_table_label(t, 1, "P.pressure", "Pa");
  od_table_label(t, 2, "U", "V");
  for (int i = 0; i < 40; i++) od_table_append(t, (double[]){i, 1e5 * sin(i), 5 + i % 2});
  return t;
}

static void expect_equal_columns(const od_table *t, const od_table *whole) {
  assert_int_equal(t->rows, whole->rows);
  for (int c = 0; c < t->columns; c++)
    for (long row = 0; row < t->rows; row++) {
      double cell = t->data[row * t->columns + c];
      if (cell != value(whole, row, t->name[c])) fail_msg("%s, row %ld: %.17g", t->name[c], row, cell);
    }
}

static char *bytes_of(const char *path, size_t *size) {
  struct stat st;
  assert_int_equal(stat(path, &st), 0);
  *size = (size_t)st.st_size;
  return scratch_read(path);
}

// Every truncated file is rejected, or lacks whole variables. Files of this program lack nothing: they end with their
// names.
static void expect_prefixes(scratch *s, const char *path, bool own, size_t stride) {
  size_t size, accepted = 0;
  char *bytes = bytes_of(path, &size);
  od_table *whole = read_mat(path, NULL);
  for (size_t n = 0; n < size; n += n + stride < size || n == size - 1 ? stride : size - 1 - n) {
    od_table *t = NULL;
    od_error err = {0};
    od_status status = od_table_read_mat(scratch_write(s, "cut.mat", bytes, n), NULL, &t, &err);
    if (status == OD_OK) expect_equal_columns(t, whole), accepted++;
    assert_true(status == OD_OK || (!t && err.text[0]));
    od_table_free(t);
  }
  assert_true(accepted <= (own ? 0 : 8));
  od_table_free(whole);
  free(bytes);
}

static void test_truncated(void **state) {
  scratch *s = *state;
  char path[600];
  od_table *t = small_table();
  strcpy(path, scratch_path(s, "own.mat"));
  assert_int_equal(od_table_write_mat(t, path, NULL), OD_OK);
  expect_prefixes(s, path, true, 1);
  od_table_free(t);
  const enum mat_ft levels[] = {MAT_FT_MAT4, MAT_FT_MAT5, MAT_FT_MAT73};
  for (int i = 0; i < 3; i++) {
    mat_t *mat = Mat_CreateVer(strcpy(path, scratch_path(s, "f.mat")), NULL, levels[i]);
    put(mat, "time", 40, 1, 1, thousandth);
    put(mat, "p", 1, 40, 1, index_of);
    put(mat, "X", 40, 2, 1, index_of);
    Mat_Close(mat);
    expect_prefixes(s, path, false, levels[i] == MAT_FT_MAT73 ? 97 : 7);
  }
}

// --- Damage -------------------------------------------------------------------------------------------------------

// Files that crashed the library: a structure without data, and a file of level 7.3. The reader rejects them, or reads the
// rest.
static void test_damaged(void **state) {
  (void)state;
  od_table *t = NULL;
  od_error err = {0};
  assert_int_equal(od_table_read_mat(OD_SOURCE_DIR "/tests/unit/formats/damaged/level73.mat", NULL, &t, &err),
                   OD_BAD_INPUT);
  assert_non_null(strstr(err.text, "level73.mat as a MATLAB file: the library that reads such files "));
  assert_null(t);
  t = read_mat(OD_SOURCE_DIR "/tests/unit/formats/damaged/struct_without_data.mat", NULL);
  assert_true(t->columns >= 2 && !strcmp(t->name[0], "time"));
  od_table_free(t);
}

// A changed byte never gives other numbers without a message.
static void test_changed_bytes(void **state) {
  scratch *s = *state;
  od_table *whole = small_table();
  char path[600];
  strcpy(path, scratch_path(s, "own.mat"));
  assert_int_equal(od_table_write_mat(whole, path, NULL), OD_OK);
  size_t size;
  char *bytes = bytes_of(path, &size);
  for (size_t at = 128; at < size; at += 3) {
    bytes[at] ^= 0x55;
    od_table *t = NULL;
    od_error err = {0};
    if (od_table_read_mat(scratch_write(s, "cut.mat", bytes, size), NULL, &t, &err) == OD_OK) {
      bool same = t->columns == 3 && t->rows == whole->rows;
      for (long i = 0; same && i < 3 * t->rows; i++) same = t->data[i] == whole->data[i];
      if (!same) fail_msg("byte %zu: other numbers", at);
    }
    bytes[at] ^= 0x55;
    od_table_free(t);
  }
  free(bytes);
  od_table_free(whole);
}

// --- Helper programs that fail ------------------------------------------------------------------------------------

// This program is also a helper program: as a link of the name oleodyn-mat it fails in the way that BAD_HELPER names.
static int be_bad_helper(const char *bytes) {
  static od_channel c;
  const char *how = getenv("BAD_HELPER");
  od_helper_restrict(atoll(bytes));
  od_channel_init(&c, STDIN_FILENO);
  if (!strcmp(how, "crash")) abort();
  if (!strcmp(how, "hang"))
    for (volatile int i = 0;;) i = !i;
  if (!strcmp(how, "interrupt")) raise(SIGINT);
  if (!strcmp(how, "silence")) return 0;
  od_channel_put_number(&c, !strcmp(how, "version") ? OD_HELPER_PROTOCOL + 1 : OD_HELPER_PROTOCOL);
  if (!strcmp(how, "memory")) {
    void *volatile block = malloc((size_t)8 << 30);  // compilers may remove an unused block
    od_channel_put_number(&c, OD_HELPER_STATUS);
    od_channel_put_number(&c, block ? OD_OK : OD_NO_MEMORY);
    free(block);
  } else {
    od_channel_put_number(&c, OD_HELPER_TABLE);
    od_channel_put_number(&c, !strcmp(how, "columns") ? UINT64_MAX : 2);
    od_channel_put_number(&c, !strcmp(how, "rows") ? UINT64_C(1) << 60 : 1);
    od_channel_put_number(&c, !strcmp(how, "time") ? 3 : 0);
    od_channel_put_text(&c, "");
    for (int i = 0; i < 6; i++) {
      if (i % 3 == 2) {
        od_channel_put_text(&c, "");
        continue;
      }
      od_channel_put_number(&c, !strcmp(how, "text") ? UINT64_MAX : 1);
      od_channel_put(&c, "x", 1);
    }
    od_channel_put(&c, (double[]){1, 2}, (!strcmp(how, "cut") ? 1 : 2) * sizeof(double));
    if (!strcmp(how, "cut")) return od_channel_flush(&c) ? 0 : 1;
    od_channel_put_number(&c, OD_HELPER_STATUS);
    od_channel_put_number(&c, !strcmp(how, "status") ? OD_STATUS_COUNT : OD_OK);
  }
  od_channel_put_text(&c, "");
  od_channel_flush(&c);
  od_channel_drain(&c);
  return 0;
}

// Oracle: what each helper does. A good answer of the same form is read; every lie and every failure is a message.
static void test_bad_helpers(void **state) {
  scratch *s = *state;
  static const struct {
    const char *how;
    od_status status;
    const char *message;
  } cases[] = {
      {"nothing", OD_OK, NULL},
      {"crash", OD_BAD_INPUT, "the library that reads such files crashed; the file may be damaged"},
      {"hang", OD_BAD_INPUT, "took longer than 1 s"},
      {"interrupt", OD_INTERRUPTED, "interrupted while reading"},
      {"silence", OD_BAD_INPUT, "ran out of memory"},
      {"version", OD_IO, "the program oleodyn-mat belongs to another version of oleodyn; install oleodyn again"},
      {"memory", OD_NO_MEMORY, "out of memory while reading"},
      {"columns", OD_BAD_INPUT, "cannot read"},
      {"rows", OD_BAD_INPUT, "cannot read"},
      {"time", OD_BAD_INPUT, "cannot read"},
      {"text", OD_BAD_INPUT, "cannot read"},
      {"status", OD_BAD_INPUT, "cannot read"},
      {"cut", OD_BAD_INPUT, "cannot read"},
  };
  char self[500], path[600];
  ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
  assert_true(length > 0);
  self[length] = '\0';
  strcpy(path, write_workspace(s, "t", MAT_FT_MAT5));
  const char *old = getenv("OLEODYN_HELPERS");
  char *kept = old ? strdup(old) : NULL;
  assert_int_equal(symlink(self, scratch_path(s, "oleodyn-mat")), 0);
  setenv("OLEODYN_HELPERS", s->folder, 1);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    od_table *t = NULL;
    od_error err = {0};
    setenv("BAD_HELPER", cases[i].how, 1);
    od_status status = od_table_read_mat(path, NULL, &t, &err);
    // Sanitizers end a program that allocates too much; otherwise the allocation fails.
    if (strcmp(cases[i].how, "memory") != 0 || status == OD_OK) assert_int_equal(status, cases[i].status);
    if (status == cases[i].status && cases[i].message && !strstr(err.text, cases[i].message))
      fail_msg("%s: %s", cases[i].how, err.text);
    assert_true((t != NULL) == (status == OD_OK));
    if (t) assert_true(t->columns == 2 && t->rows == 1 && t->data[0] == 1 && t->data[1] == 2);
    od_table_free(t);
  }
  // Writing: the old file remains, and no temporary file is left.
  od_table *small = small_table();
  od_error err = {0};
  int files = scratch_count(s);
  setenv("BAD_HELPER", "crash", 1);
  assert_int_equal(od_table_write_mat(small, scratch_path(s, "w.mat"), &err), OD_IO);
  assert_non_null(strstr(err.text, "the written file is incomplete, because the program oleodyn-mat crashed"));
  // Without the program: a message with its name.
  unlink(scratch_path(s, "oleodyn-mat"));
  assert_int_equal(od_table_write_mat(small, scratch_path(s, "w.mat"), &err), OD_IO);
  assert_non_null(strstr(err.text, "the program oleodyn-mat is missing in "));
  od_table *t = NULL;
  assert_int_equal(od_table_read_mat(path, NULL, &t, &err), OD_IO);
  assert_non_null(strstr(err.text, "the program oleodyn-mat is missing in "));
  assert_int_equal(scratch_count(s), files - 1);
  if (kept)
    setenv("OLEODYN_HELPERS", kept, 1);
  else
    unsetenv("OLEODYN_HELPERS");
  free(kept);
  od_table_free(read_mat(path, NULL));
  od_table_free(small);
}

// --- Full disks ---------------------------------------------------------------------------------------------------

// In a separate process: writes with files limited to `bytes`. Returns the status.
static int write_limited(const od_table *t, const char *path, rlim_t bytes) {
  pid_t child = fork();
  if (child == 0) {
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){bytes, bytes});
    _exit((int)od_table_write_mat(t, path, NULL));
  }
  int end = 0;
  waitpid(child, &end, 0);
  return WIFEXITED(end) ? WEXITSTATUS(end) : -1;
}

// At any point at which the disk becomes full, the old file remains and no other file is left.
static void test_full_disk(void **state) {
  scratch *s = *state;
  od_table *t = od_table_new(20);
  double row[20];
  uint32_t x = 1;
  for (int i = 0; i < 200; i++) {
    for (int c = 0; c < 20; c++) row[c] = (double)(x = x * 1664525u + 1013904223u);
    od_table_append(t, row);
  }
  char path[600];
  strcpy(path, scratch_path(s, "t.mat"));
  assert_int_equal(od_table_write_mat(t, path, NULL), OD_OK);
  struct stat st;
  stat(path, &st);
  rlim_t size = (rlim_t)st.st_size;
  scratch_write(s, "t.mat", "old", 3);
  for (int k = 0; k < 40; k++) {
    assert_int_equal(write_limited(t, path, size * (rlim_t)k / 40), OD_IO);
    char *old = scratch_read(path);
    assert_string_equal(old, "old");
    free(old);
    assert_int_equal(scratch_count(s), 1);
  }
  assert_int_equal(write_limited(t, path, size - 1), OD_IO);
  assert_int_equal(write_limited(t, path, size), OD_OK);
  od_table_free(t);
}

// A long log of channels that hardly change is read as written, although a small file may not describe so many numbers.
static void test_long_constants(void **state) {
  enum { COLUMNS = 10, ROWS = 1 << 20 };
  scratch *s = *state;
  const char *path = scratch_path(s, "constant.mat");
  od_table *t = od_table_new(COLUMNS);
  od_error err = {0};
  for (int c = 0; c < COLUMNS; c++) {
    char name[8];
    snprintf(name, sizeof name, c ? "x%d" : "time", c);
    assert_int_equal(od_table_label(t, c, name, "s"), OD_OK);
  }
  assert_int_equal(od_table_resize(t, ROWS), OD_OK);
  for (long i = 0; i < (long)ROWS * COLUMNS; i++)
    t->data[i] = i % COLUMNS == 0 ? 0.001 * (double)(i / COLUMNS) : (double)(i % COLUMNS) + (i / COLUMNS > ROWS / 3);
  if (od_table_write_mat(t, path, &err) != OD_OK) fail_msg("%s", err.text);
  od_table *again = read_mat(path, NULL);
  assert_int_equal(again->rows, ROWS);
  assert_memory_equal(again->data, t->data, sizeof(double) * ROWS * COLUMNS);
  od_table_free(t);
  od_table_free(again);
}

int main(int argc, char **argv) {
  size_t length = strlen(argv[0]);
  if (argc == 2 && length > 12 && !strcmp(argv[0] + length - 12, "/oleodyn-mat")) return be_bad_helper(argv[1]);
#define TEST(f) cmocka_unit_test_setup_teardown(f, scratch_setup, scratch_teardown)
  const struct CMUnitTest tests[] = {
      TEST(test_workspace), TEST(test_lengths_that_do_not_fit), TEST(test_truncated),
      TEST(test_damaged),   TEST(test_changed_bytes),           TEST(test_bad_helpers),
      TEST(test_full_disk), TEST(test_long_constants),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
