// HDF5 tables, and MATLAB files of other programs. Oracles: h5py, PyTables, pandas and SciPy, which write files together with the numbers in
// them (write_tables.py), compared to the bit; the bytes of MATLAB objects by hand; the undamaged file.
#include "support/test.h"

#include <hdf5.h>
#include <math.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "formats/log_format.h"
#include "formats/read_table.h"
#include "formats/row_reader.h"
#include "io/table.h"
#include "support/scratch.h"
#include "support/skipping.h"

static od_table *read_file(const char *path) {
  od_table *t = NULL;
  od_error err = {0};
  if (od_table_read(path, NULL, &t, &err) != OD_OK) fail_msg("%s", err.text);
  return t;
}

static void expect_error(const char *path, const od_table_wish *wish, const char *message) {
  od_table *t = NULL;
  od_error err = {0};
  assert_int_equal(od_table_read(path, wish, &t, &err), OD_BAD_INPUT);
  assert_null(t);
  if (!strstr(err.text, message)) fail_msg("%s\nexpected: %s", err.text, message);
}

// --- Files of other programs --------------------------------------------------------------------------------------

// Returns the text up to the next separator and moves *at after the separator; NULL after the last text.
static char *split(char **at, char separator) {
  char *text = *at;
  if (!text) return NULL;
  *at = strchr(text, separator);
  if (*at) *(*at)++ = '\0';
  return text;
}

// Compares a table with one line of a list of expected columns. Returns the number of compared numbers.
static long compare_column(const od_table *t, const char *file, char *line) {
  char *at = line, *name = split(&at, '\t'), *unit = split(&at, '\t'), *cell;
  int column = -1;
  for (int i = 0; i < t->columns; i++)
    if (!strcmp(t->name[i], name)) column = i;
  if (column < 0) fail_msg("%s has no column %s", file, name);
  if (strcmp(t->unit[column], unit) != 0) fail_msg("%s, %s: unit '%s'", file, name, t->unit[column]);
  long row = 0;
  for (; (cell = split(&at, '\t')); row++) {
    if (!strcmp(cell, "!")) {
      if (!od_table_flaw(t, column)) fail_msg("%s, %s: no flaw", file, name);
      return 0;
    }
    uint64_t bits = strtoull(cell, NULL, 16);
    double expected, found = od_table_value(t, row, column);
    memcpy(&expected, &bits, sizeof bits);
    if (memcmp(&expected, &found, sizeof found) != 0 && !(isnan(expected) && isnan(found)))
      fail_msg("%s, %s, row %ld: %.17g, expected %.17g", file, name, row, found, expected);
  }
  if (od_table_flaw(t, column)) fail_msg("%s, %s: %s", file, name, od_table_flaw(t, column));
  if (row != t->rows) fail_msg("%s, %s: %ld rows, expected %ld", file, name, t->rows, row);
  return row;
}

static void compare_file(const char *path) {
  char name[700];
  snprintf(name, sizeof name, "%s.expected", path);
  od_table *t = read_file(path);
  char *list = scratch_read(name), *at = list, *line;
  int columns = 0;
  while ((line = split(&at, '\n')) && line[0]) {
    int time = od_table_find_time(t);
    if (columns == 0 && (time < 0 || strncmp(line, t->name[time], strcspn(line, "\t")) != 0))
      fail_msg("%s: the time is '%s'", path, time < 0 ? "" : t->name[time]);
    compare_column(t, path, line);
    columns++;
  }
  if (columns != t->columns) fail_msg("%s: %d columns, expected %d", path, t->columns, columns);
  assert_true(columns > 0);
  free(list);
  od_table_free(t);
}

// Writes the files of a program and compares all of them.
static void compare_writer(scratch *s, const char *writer, const char *package) {
  pid_t child = fork();
  if (child == 0) {
    execl("/usr/bin/python3", "python3", OD_SOURCE_DIR "/tests/unit/formats/write_tables.py", writer, s->folder, NULL);
    _exit(77);
  }
  int end = 0;
  waitpid(child, &end, 0);
  if (WIFEXITED(end) && WEXITSTATUS(end) == 77) skip_test("no package: %s", package);
  assert_true(WIFEXITED(end) && WEXITSTATUS(end) == 0);
  DIR *d = opendir(s->folder);
  int files = 0;
  for (struct dirent *e; (e = readdir(d));) {
    if (e->d_name[0] == '.' || strstr(e->d_name, ".expected")) continue;
    char path[600];
    snprintf(path, sizeof path, "%.60s/%.300s", s->folder, e->d_name);
    compare_file(path);
    files++;
  }
  closedir(d);
  assert_true(files > 0);
}

static void test_h5py(void **state) {
  compare_writer(*state, "h5py", "python3-h5py");
}

static void test_pytables(void **state) {
  compare_writer(*state, "tables", "python3-tables");
}

static void test_pandas(void **state) {
  compare_writer(*state, "pandas", "python3-pandas python3-tables");
}

static void test_scipy(void **state) {
  compare_writer(*state, "scipy", "python3-scipy");
}

// --- Small files, written with the library ------------------------------------------------------------------------

// Chunks may be longer than the data.
static void put(hid_t group, const char *name, int rank, const hsize_t *length, const double *data, hsize_t chunk) {
  static const hsize_t unlimited[] = {H5S_UNLIMITED, H5S_UNLIMITED};
  hid_t space = H5Screate_simple(rank, length, chunk > 0 ? unlimited : NULL),
        properties = H5Pcreate(H5P_DATASET_CREATE);
  if (chunk > 0) H5Pset_chunk(properties, rank, (hsize_t[]){chunk, 1}), H5Pset_deflate(properties, 5);
  hid_t set = H5Dcreate2(group, name, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, properties, H5P_DEFAULT);
  if (data) assert_true(H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0);
  H5Dclose(set);
  H5Pclose(properties);
  H5Sclose(space);
}

enum { SMALL = 60 };

static const char *write_small(scratch *s, hsize_t chunk) {
  static double time[SMALL], x[SMALL][2];
  for (int i = 0; i < SMALL; i++) time[i] = 0.1 * i, x[i][0] = i, x[i][1] = -i;
  const char *path = scratch_path(s, "small.h5");
  hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  hid_t group = H5Gcreate2(file, "log", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  put(group, "time", 1, (hsize_t[]){SMALL}, time, chunk);
  put(group, "x", 2, (hsize_t[]){SMALL, 2}, x[0], chunk);
  H5Gclose(group);
  H5Fclose(file);
  return path;
}

// Every truncated file is an error, and a changed byte is an error or changes only numbers: HDF5 has no checksum of numbers.
static void test_damaged(void **state) {
  scratch *s = *state;
  for (hsize_t chunk = 0; chunk <= 16; chunk += 16) {
    char path[600];
    snprintf(path, sizeof path, "%s", write_small(s, chunk));
    struct stat about;
    stat(path, &about);
    size_t size = (size_t)about.st_size;
    char *bytes = scratch_read(path);
    for (size_t n = 8; n < size; n += size / 60) {
      od_table *t = NULL;
      od_error err = {0};
      assert_int_equal(od_table_read(scratch_write(s, "cut.h5", bytes, n), NULL, &t, &err), OD_BAD_INPUT);
      assert_true(!t && strstr(err.text, "cut.h5 as an HDF5 file: "));
    }
    for (size_t at = 8; at < size; at += size / 60) {
      bytes[at] ^= 0x5a;
      od_table *t = NULL;
      od_error err = {0};
      od_status status = od_table_read(scratch_write(s, "bad.h5", bytes, size), NULL, &t, &err);
      assert_true(status == OD_OK ? t != NULL : !t && err.text[0]);
      bytes[at] ^= 0x5a;
      od_table_free(t);
    }
    free(bytes);
  }
}

// A file of a few hundred bytes describes 8 GB of zeros that are not stored, or large chunks of zeros. Groups contain each other.
static void test_hostile(void **state) {
  scratch *s = *state;
  const char *path = scratch_path(s, "hostile.h5");
  hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  put(file, "t", 1, (hsize_t[]){1000000000}, NULL, 1000);
  H5Fclose(file);
  expect_error(path, NULL,
               "describes more than 67.4 MB of numbers, which are almost all constant; write the file again");
  file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  put(file, "t", 1, (hsize_t[]){1000000000}, NULL, 0);
  H5Fclose(file);
  expect_error(path, NULL, "'t' has no stored numbers");
  enum { CHUNK = 2000000, CHUNKS = 10, ROWS = 1000 };
  double zeros[ROWS] = {0};
  file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  for (int i = 0; i < CHUNKS; i++) put(file, (char[]){(char)('a' + i), '\0'}, 1, (hsize_t[]){ROWS}, zeros, CHUNK);
  H5Fclose(file);
  expect_error(path, NULL,
               "the chunks of the columns in use need 160 MB of memory, which is too much for a file with ");
  file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  hid_t group = H5Gcreate2(file, "g", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  for (int i = 0; i < 12; i++)
    H5Lcreate_hard(file, "g", group, (char[]){(char)('a' + i), '\0'}, H5P_DEFAULT, H5P_DEFAULT);
  H5Lcreate_external("/etc/passwd", "/x", file, "outside", H5P_DEFAULT, H5P_DEFAULT);
  put(file, "time", 1, (hsize_t[]){2}, (double[]){1, 2}, 0);
  H5Gclose(group);
  H5Fclose(file);
  od_table *t = read_file(path);
  assert_true(t->columns == 1 && t->rows == 2 && t->data[1] == 2);
  od_table_free(t);
}

// A file that another program has open for writing has its own message.
static void test_open_elsewhere(void **state) {
  scratch *s = *state;
  const char *path = write_small(s, 0);
  hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
  expect_error(path, NULL, "another program has opened the file for writing, or has not closed it (");
  H5Fclose(file);
  od_table_free(read_file(path));
}

// A long file is read in blocks, in two passes that run alternately, and only the selected columns have values.
static void test_passes(void **state) {
  enum { ROWS = 400000 };
  scratch *s = *state;
  const char *path = scratch_path(s, "long.h5");
  double *data = malloc(3 * ROWS * sizeof *data);
  for (int i = 0; i < 3 * ROWS; i++) data[i] = i;
  hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  put(file, "X", 2, (hsize_t[]){ROWS, 3}, data, 70000);
  put(file, "time", 1, (hsize_t[]){ROWS}, data, 0);
  H5Fclose(file);
  free(data);
  static const bool wanted[] = {false, true, false, true};
  od_row_reader *r = NULL, *other = NULL;
  od_error err = {0};
  assert_int_equal(od_row_reader_open(path, NULL, &r, &err), OD_OK);
  assert_string_equal(od_row_reader_format(r)->name, "HDF5");
  assert_false(od_row_reader_holds(r));
  od_row_reader_want(r, wanted);
  assert_int_equal(od_row_reader_again(r, &other, &err), OD_OK);
  bool end = false;
  double row[4];
  for (long i = 0; i <= ROWS; i++)
    for (int k = 0; k < 2; k++) {
      if (k == 1 && i > 100000) continue;
      assert_int_equal(od_row_reader_next(k ? other : r, row, &end, &err), OD_OK);
      if (end != (i == ROWS)) fail_msg("row %ld", i);
      if (!end && (row[1] != 3 * (double)i + 1 || row[3] != (double)i || !isnan(row[0])))
        fail_msg("row %ld: %g", i, row[1]);
    }
  od_row_reader_close(other);
  od_row_reader_rewind(r);
  assert_int_equal(od_row_reader_next(r, row, &end, &err), OD_OK);
  assert_true(row[1] == 1 && !end && !od_row_reader_has_changed(r));
  od_row_reader_close(r);
}

// --- MATLAB objects -----------------------------------------------------------------------------------------------

// The bytes of a file of level 5.
typedef struct file_bytes {
  unsigned char at[4000];
  size_t n;
} file_bytes;

static void add(file_bytes *f, const void *data, size_t size) {
  memcpy(f->at + f->n, data, size);
  f->n += size;
}

static void add_number(file_bytes *f, uint32_t number) {
  add(f, &number, sizeof number);
}

// Adds an element: tag, data, zeros up to a multiple of 8 bytes.
static void add_element(file_bytes *f, uint32_t type, const void *data, size_t size) {
  add_number(f, type), add_number(f, (uint32_t)size);
  add(f, data, size);
  while (f->n % 8) add(f, "", 1);
}

static void add_text(file_bytes *f, const char *text) {
  add_element(f, 1, text, strlen(text));
}

// An opaque matrix (class 17) with the text MCOS, its class, and a matrix of references.
static file_bytes opaque(const char *name, const char *class_name) {
  file_bytes f = {.n = 0}, inside = {.n = 0};
  add_element(&f, 6, (uint32_t[]){17, 0}, 8);
  add_text(&f, name), add_text(&f, "MCOS"), add_text(&f, class_name);
  add_element(&inside, 6, (uint32_t[]){13, 0}, 8);
  add_element(&inside, 5, (int32_t[]){6, 1}, 8);
  add_text(&inside, "");
  add_element(&inside, 6, (uint32_t[]){0xdd000000, 2, 1, 1, 1, 1}, 24);
  add_element(&f, 14, inside.at, inside.n);
  return f;
}

static file_bytes vector(const char *name, int count) {
  file_bytes f = {.n = 0};
  double data[100];
  for (int i = 0; i < count; i++) data[i] = i;
  add_element(&f, 6, (uint32_t[]){6, 0}, 8);
  add_element(&f, 5, (int32_t[]){count, 1}, 8);
  add_text(&f, name);
  add_element(&f, 9, data, (size_t)count * sizeof *data);
  return f;
}

// A structure with the fields "p", a vector, and "ts", an object.
static file_bytes structure(const char *name, int count) {
  file_bytes f = {.n = 0}, field = vector("", count);
  char names[64] = "p";
  memcpy(names + 32, "ts", 2);
  add_element(&f, 6, (uint32_t[]){2, 0}, 8);
  add_element(&f, 5, (int32_t[]){1, 1}, 8);
  add_text(&f, name);
  add_number(&f, 4 << 16 | 5), add_number(&f, 32);
  add_element(&f, 1, names, sizeof names);
  add_element(&f, 14, field.at, field.n);
  field = opaque("", "timetable");
  add_element(&f, 14, field.at, field.n);
  return f;
}

static const char *write_objects(scratch *s, bool with_vectors, bool with_structure) {
  char head[128];
  memset(head, ' ', sizeof head);
  memcpy(head, "MATLAB 5.0 MAT-file", 19);
  memcpy(head + 116, "\0\0\0\0\0\0\0\0\0\1IM", 12);
  file_bytes f = {.n = 0}, m = opaque("ts", "timeseries");
  add(&f, head, sizeof head);
  if (with_vectors) {
    m = vector("t", 50);
    add_element(&f, 14, m.at, m.n);
  }
  m = opaque("ts", "timeseries");
  add_element(&f, 14, m.at, m.n);
  m = opaque("logsout", "Simulink.SimulationData.Dataset");
  add_element(&f, 14, m.at, m.n);
  if (with_structure) {
    m = structure("run", 50);
    add_element(&f, 14, m.at, m.n);
  }
  m = vector("", 77);  // the contents of the objects, a variable without a name
  add_element(&f, 14, m.at, m.n);
  return scratch_write(s, "objects.mat", (const char *)f.at, f.n);
}

// Objects have their names, classes and the lines of MATLAB that convert them. Vectors beside them are read.
static void test_objects(void **state) {
  scratch *s = *state;
  static const char *const timeseries =
      "'ts' is a MATLAB object of the class timeseries; in MATLAB: t = ts.Time; ts_data = squeeze(ts.Data); "
      "save('log.mat', 't', 'ts_data', '-v7')";
  const char *data[] = {"ts.Data", NULL}, *path = write_objects(s, false, false);
  expect_error(
      path, NULL,
      "the file contains no vectors or matrices of numbers, but 2 MATLAB objects: 'ts' is a MATLAB object of ");
  expect_error(path, &(od_table_wish){.time = "ts.Time"}, timeseries);
  path = write_objects(s, true, true);
  expect_error(path, &(od_table_wish){.columns = data}, timeseries);
  od_table *t = read_file(path);
  assert_int_equal(t->rows, 50);
  assert_int_equal(t->columns, 5);
  int p = od_table_find(t, "run.p"), ts = od_table_find(t, "ts"), inner = od_table_find(t, "run.ts"),
      logs = od_table_find(t, "logsout");
  assert_true(p >= 0 && ts >= 0 && inner >= 0 && logs >= 0 && od_table_find(t, "t") >= 0);
  assert_true(od_table_value(t, 7, p) == 7 && !od_table_flaw(t, p) && isnan(od_table_value(t, 7, ts)));
  assert_true(strstr(od_table_flaw(t, ts), timeseries) && strstr(od_table_flaw(t, ts), "objects.mat: "));
  assert_non_null(strstr(od_table_flaw(t, inner),
                         "'run.ts' is a MATLAB object of the class timetable; in MATLAB: s = table2struct("
                         "timetable2table(run.ts, 'ConvertRowTimes', false), 'ToScalar', true); s.time = "));
  assert_non_null(strstr(od_table_flaw(t, logs), "s.time = logsout{1}.Values.Time; for k = 1:logsout.numElements, "));
  od_table_free(t);
}

int main(void) {
#define TEST(f) cmocka_unit_test_setup_teardown(f, scratch_setup, scratch_teardown)
  const struct CMUnitTest tests[] = {
      TEST(test_h5py),    TEST(test_pytables), TEST(test_pandas),         TEST(test_scipy),   TEST(test_damaged),
      TEST(test_hostile), TEST(test_passes),   TEST(test_open_elsewhere), TEST(test_objects),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
