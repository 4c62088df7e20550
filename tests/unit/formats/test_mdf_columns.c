// Columns and rows of an MDF 4 file as docs/logs.md describes them: equal times, groups without times, equal names, complex numbers, and
// remarks about parts that are not read. Oracle: the numbers that the test wrote, compared to the bit, and the rules of the page. The test
// writes the files with mdf_writer.c, which shares no code with the reader.
#include "support/test.h"
#include "formats/row_reader.h"
#include "support/mdf_reading.h"

enum { MOST = 8, WIDTH = 24 };

// A data group of records with a float of 8 bytes, a value of 8 bits (1, 2, ...), and further channels. sync: 0: the float is no master.
static uint64_t short_group(mdf_file *f, const char *group, int sync, const double *first, int count,
                            const uint64_t *more) {
  mdf_bytes data = {0};
  for (int k = 0; k < count; k++) {
    unsigned char *at = mdf_more(&data, WIDTH);
    mdf_put_double(at, first[k]);
    at[8] = (unsigned char)(k + 1);
    mdf_put_double(at + 9, 0.5 * k);
  }
  uint64_t channels[MOST] = {mdf_channel(
      f, &(mdf_cn){
             .name = "x", .type = sync ? MDF_MASTER : MDF_FIXED, .sync = sync, .data_type = MDF_FLOAT_LE, .bits = 64})};
  for (int i = 0; more[i]; i++) channels[1 + i] = more[i];
  uint64_t cg =
      mdf_group(f, &(mdf_cg){.name = group, .channels = channels, .records = (uint64_t)count, .data_bytes = WIDTH});
  uint64_t block = mdf_data(f, "DT", data.at, data.size, NULL);
  mdf_bytes_free(&data);
  return mdf_data_group(f, (uint64_t[]){cg, 0}, block, 0);
}

static uint64_t byte_channel(mdf_file *f, const char *name) {
  return mdf_channel(f, &(mdf_cn){.name = name, .byte = 8, .bits = 8});
}

// Returns whether a remark of the file contains a text.
static bool has_remark(const char *path, const char *text) {
  od_error err = {0};
  od_row_reader *r = NULL;
  bool found = false, end = false;
  double row[64];
  if (od_row_reader_open(path, NULL, &r, &err) != OD_OK) fail_msg("%s", err.text);
  assert_true(od_row_reader_head(r)->columns <= 64);
  while (!end)
    if (od_row_reader_next(r, row, &end, &err) != OD_OK) fail_msg("%s", err.text);
  for (int i = 0; od_row_reader_remark(r, i); i++) found = found || strstr(od_row_reader_remark(r, i), text);
  od_row_reader_close(r);
  return found;
}

// Groups with the same time share a row. Records of one group with the same time are rows of their own.
static void equal_times(void **state) {
  static const double ta[] = {0, 1, 1, 2, 5}, tb[] = {1, 2, 3, 5}, a[] = {1, 2, 3, 4, 5}, b[] = {1, 2, 3, 4};
  mdf_file *f = mdf_begin(NULL);
  uint64_t first = short_group(f, "a", MDF_TIME, ta, 5, (uint64_t[]){byte_channel(f, "a"), 0});
  uint64_t second = short_group(f, "b", MDF_TIME, tb, 4, (uint64_t[]){byte_channel(f, "b"), 0});
  od_table *t = mdf_read(mdf_finish(*state, f, (uint64_t[]){first, second, 0}));
  assert_int_equal(t->rows, 6);
  mdf_expect_series(t, "a", ta, a, 5);
  mdf_expect_series(t, "b", tb, b, 4);
  od_table_free(t);
}

// Groups with another master than the time, or without a master, are left out if other groups have times.
static void groups_without_time(void **state) {
  static const double times[] = {0, 1, 2}, values[] = {1, 2, 3};
  for (int sync = MDF_NO_SYNC; sync <= MDF_INDEX; sync++) {
    if (sync == MDF_TIME) continue;
    mdf_file *f = mdf_begin(NULL);
    uint64_t other = short_group(f, "crank", sync, times, 3, (uint64_t[]){byte_channel(f, "other"), 0});
    uint64_t timed = short_group(f, "rig", MDF_TIME, times, 3, (uint64_t[]){byte_channel(f, "y"), 0});
    const char *path = mdf_finish(*state, f, (uint64_t[]){other, timed, 0});
    assert_true(has_remark(path, "crank"));
    od_table *t = mdf_read(path);
    assert_int_equal(t->columns, 2);
    mdf_expect(t, "time", times, 3);
    mdf_expect(t, "y", values, 3);
    od_table_free(t);
  }
}

// A file without any time is a table without a time.
static void no_time(void **state) {
  static const double angles[] = {10, 20, 30}, values[] = {1, 2, 3};
  for (int sync = MDF_NO_SYNC; sync <= MDF_INDEX; sync++) {
    if (sync == MDF_TIME) continue;
    mdf_file *f = mdf_begin(NULL);
    uint64_t dg = short_group(f, "crank", sync, angles, 3, (uint64_t[]){byte_channel(f, "y"), 0});
    od_error err = {0};
    od_table *t = NULL;
    if (od_table_read(mdf_finish(*state, f, (uint64_t[]){dg, 0}), NULL, &t, &err) != OD_OK) fail_msg("%s", err.text);
    assert_int_equal(mdf_find(t, "time"), -1);
    mdf_expect(t, "x", angles, 3);
    mdf_expect(t, "y", values, 3);
    od_table_free(t);
  }
}

// Channels with the same name in one group, and in two groups with the same name.
static void equal_names(void **state) {
  static const double times[] = {0, 1, 2}, values[] = {1, 2, 3}, halves[] = {0, 0.5, 1};
  mdf_file *f = mdf_begin(NULL);
  uint64_t half = mdf_channel(f, &(mdf_cn){.name = "y", .data_type = MDF_FLOAT_LE, .byte = 9, .bits = 64});
  uint64_t first = short_group(f, "rig", MDF_TIME, times, 3, (uint64_t[]){byte_channel(f, "y"), half, 0});
  uint64_t second = short_group(f, "rig", MDF_TIME, times, 3, (uint64_t[]){byte_channel(f, "z"), 0});
  uint64_t third = short_group(f, "rig", MDF_TIME, times, 3, (uint64_t[]){byte_channel(f, "z"), 0});
  uint64_t fourth = short_group(f, NULL, MDF_TIME, times, 3, (uint64_t[]){byte_channel(f, "z"), 0});
  od_table *t = mdf_read(mdf_finish(*state, f, (uint64_t[]){first, second, third, fourth, 0}));
  assert_int_equal(t->columns, 6);
  mdf_expect(t, "rig.y#1", values, 3);
  mdf_expect(t, "rig.y#2", halves, 3);
  mdf_expect(t, "rig.z#1", values, 3);
  mdf_expect(t, "rig.z#2", values, 3);
  mdf_expect(t, "group4.z", values, 3);
  od_table_free(t);
}

// Groups with the same name have different labels: rows of one group are no missing values of the other. Oracle: the order of the groups.
static void equal_groups(void **state) {
  static const double ta[] = {0, 1, 2}, tb[] = {0.5, 1, 1.5};
  static const char *const name[] = {"time", "x", "y", "z", "w"}, *const label[] = {NULL, "rig#1", "rig#2", "group3",
                                                                                    "bus"};
  mdf_file *f = mdf_begin(NULL);
  uint64_t first = short_group(f, "rig", MDF_TIME, ta, 3, (uint64_t[]){byte_channel(f, "x"), 0});
  uint64_t second = short_group(f, "rig", MDF_TIME, tb, 3, (uint64_t[]){byte_channel(f, "y"), 0});
  uint64_t third = short_group(f, NULL, MDF_TIME, tb, 3, (uint64_t[]){byte_channel(f, "z"), 0});
  uint64_t fourth = short_group(f, "bus", MDF_TIME, tb, 3, (uint64_t[]){byte_channel(f, "w"), 0});
  const char *path = mdf_finish(*state, f, (uint64_t[]){first, second, third, fourth, 0});
  od_error err = {0};
  od_row_reader *r = NULL;
  if (od_row_reader_open(path, NULL, &r, &err) != OD_OK) fail_msg("%s", err.text);
  assert_int_equal(od_row_reader_head(r)->columns, 5);
  for (int i = 0; i < 5; i++) {
    const char *group = od_row_reader_origin(r, i).group;
    assert_string_equal(od_row_reader_head(r)->name[i], name[i]);
    assert_string_equal(group ? group : "", label[i] ? label[i] : "");
  }
  od_row_reader_close(r);
}

// Complex numbers of 2 x 4 and 2 x 8 bytes in both byte orders: a column for each part.
static void complex_numbers(void **state) {
  enum { KINDS = 4, ROWS = 5, SIZE = 8 + 8 + 8 + 16 + 16 };
  static const char *const name[KINDS] = {"single_le", "single_be", "double_le", "double_be"};
  static const int byte[KINDS] = {8, 16, 24, 40};
  double re[ROWS], im[ROWS];
  mdf_bytes data = {0};
  uint64_t chain[KINDS + 2] = {0};
  mdf_file *f = mdf_begin(&(mdf_header){.version = 420});
  chain[0] = mdf_time_channel(f);
  for (int c = 0; c < KINDS; c++)
    chain[1 + c] = mdf_channel(f, &(mdf_cn){.name = name[c],
                                            .data_type = c % 2 ? MDF_COMPLEX_BE : MDF_COMPLEX_LE,
                                            .byte = byte[c],
                                            .bits = c < 2 ? 64 : 128});
  for (int k = 0; k < ROWS; k++) {
    unsigned char *at = mdf_more(&data, SIZE);
    mdf_put_double(at, k);
    re[k] = 0.75 * k - 1, im[k] = -17 - k;
    for (int c = 0; c < KINDS; c++)
      for (int part = 0; part < 2; part++) {
        double d = part ? im[k] : re[k];
        float s = (float)d;
        uint64_t bits = 0;
        uint32_t short_bits = 0;
        memcpy(&bits, &d, 8);
        memcpy(&short_bits, &s, 4);
        int size = c < 2 ? 4 : 8;
        mdf_put(at + byte[c] + part * size, c < 2 ? short_bits : bits, size, c % 2 == 1);
      }
  }
  uint64_t group = mdf_group(f, &(mdf_cg){.channels = chain, .records = ROWS, .data_bytes = SIZE});
  uint64_t dg = mdf_data_group(f, (uint64_t[]){group, 0}, mdf_data(f, "DT", data.at, data.size, NULL), 0);
  od_table *t = mdf_read(mdf_finish(*state, f, (uint64_t[]){dg, 0}));
  for (int c = 0; c < KINDS; c++) {
    char column[40];
    snprintf(column, sizeof column, "%s.re", name[c]);
    mdf_expect(t, column, re, ROWS);
    snprintf(column, sizeof column, "%s.im", name[c]);
    mdf_expect(t, column, im, ROWS);
  }
  od_table_free(t);
  mdf_bytes_free(&data);
}

// Channels that cannot be read have a remark with their name: beyond the record, too many bits, a wrong formula, too large an array.
static void remarks(void **state) {
  static const double times[] = {0, 1, 2}, values[] = {1, 2, 3};
  for (int kind = 0; kind < 5; kind++) {
    mdf_file *f = mdf_begin(NULL);
    mdf_cn wrong = {.name = "doubtful", .byte = 8, .bits = 8};
    if (kind == 0) wrong.byte = WIDTH;
    if (kind == 1) wrong.bits = 65;
    if (kind == 2) wrong.conversion = mdf_formula(f, "X + unknown(3");
    if (kind == 3) wrong.composition = mdf_array(f, &(mdf_ca){.dimensions = 1, .byte_step = 0, .size = {5000}});
    if (kind == 4) wrong.data_type = MDF_FLOAT_LE, wrong.bits = 24;
    uint64_t dg =
        short_group(f, "g", MDF_TIME, times, 3, (uint64_t[]){byte_channel(f, "y"), mdf_channel(f, &wrong), 0});
    const char *path = mdf_finish(*state, f, (uint64_t[]){dg, 0});
    od_table *t = mdf_read(path);
    assert_int_equal(t->columns, 2);
    mdf_expect(t, "y", values, 3);
    od_table_free(t);
    if (!has_remark(path, "doubtful")) fail_msg("kind %d: no remark", kind);
  }
}

// A conversion has a unit. Its numbers have this unit; the raw numbers of an enumeration do not.
static void units_of_conversions(void **state) {
  static const double times[] = {0, 1, 2}, values[] = {1, 2, 3}, scaled[] = {3, 5, 7};
  mdf_file *f = mdf_begin(NULL);
  const uint64_t refs[] = {mdf_text(f, "off"), mdf_text(f, "on"), 0};
  const uint64_t conversion[] = {
      mdf_conversion(f, &(mdf_cc){.type = MDF_CC_LINEAR, .unit = "bar", .values = (double[]){1, 2}, .value_count = 2}),
      mdf_conversion(f, &(mdf_cc){.type = MDF_CC_TEXTS,
                                  .unit = "bar",
                                  .values = (double[]){1, 2},
                                  .value_count = 2,
                                  .refs = refs,
                                  .ref_count = 3})};
  uint64_t p = mdf_channel(f, &(mdf_cn){.name = "p", .byte = 8, .bits = 8, .conversion = conversion[0]});
  uint64_t mode = mdf_channel(f, &(mdf_cn){.name = "mode", .byte = 8, .bits = 8, .conversion = conversion[1]});
  uint64_t dg = short_group(f, "g", MDF_TIME, times, 3, (uint64_t[]){p, mode, 0});
  od_table *t = mdf_read(mdf_finish(*state, f, (uint64_t[]){dg, 0}));
  mdf_expect(t, "p", scaled, 3);
  mdf_expect(t, "mode", values, 3);
  mdf_expect_unit(t, "p", "bar");
  mdf_expect_unit(t, "mode", "");
  od_table_free(t);
}

// Values of one group and times of another one: rows need both. If values or times are missing at the end, the file is cut.
static void fewer_times_than_values(void **state) {
  enum { ROWS = 4 };
  static const double times[ROWS] = {0, 0.5, 1, 1.5}, values[ROWS] = {7, 8, 9, 10};
  for (int missing = 0; missing < 3; missing++) {  // nothing, a time, a value
    mdf_file *f = mdf_begin(&(mdf_header){.version = 420});
    uint64_t dg[3] = {0}, master = 0;
    for (int i = 0; i < 2; i++) {
      mdf_bytes data = {0};
      int rows = missing == i + 1 ? ROWS - 1 : ROWS;
      for (int k = 0; k < rows; k++) mdf_put_double(mdf_more(&data, 8), i ? values[k] : times[k]);
      const uint64_t channels[] = {
          i ? mdf_channel(f, &(mdf_cn){.name = "y", .data_type = MDF_FLOAT_LE, .bits = 64}) : mdf_time_channel(f), 0};
      uint64_t group = mdf_group(f, &(mdf_cg){.channels = channels,
                                              .records = ROWS,
                                              .flags = i ? MDF_CG_REMOTE_MASTER : 0,
                                              .master = master,
                                              .data_bytes = 8});
      master = group;
      dg[i] = mdf_data_group(f, (uint64_t[]){group, 0}, mdf_data(f, "DT", data.at, data.size, NULL), 0);
      mdf_bytes_free(&data);
    }
    const char *path = mdf_finish(*state, f, dg);
    od_error err = {0};
    od_row_reader *r = NULL;
    double row[2];
    bool end = false;
    if (od_row_reader_open(path, NULL, &r, &err) != OD_OK) fail_msg("%s", err.text);
    od_row_reader_want(r, (bool[]){true, true});
    while (!end)
      if (od_row_reader_next(r, row, &end, &err) != OD_OK) fail_msg("%s", err.text);
    assert_int_equal(od_row_reader_is_cut(r), missing > 0);
    od_row_reader_close(r);
    od_table *t = mdf_read(path);
    mdf_expect_series(t, "y", times, values, missing ? ROWS - 1 : ROWS);
    assert_int_equal(t->places.cut, missing > 0);
    od_table_free(t);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(equal_times, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(groups_without_time, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(no_time, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(equal_names, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(equal_groups, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(complex_numbers, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(units_of_conversions, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(fewer_times_than_values, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(remarks, scratch_setup, scratch_teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
