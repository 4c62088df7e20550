// Tables, and the files they go to and come from.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <matio.h>

#include "io/table.h"
#include "support/scratch.h"

static od_table *example(void) {
  od_table *t = od_table_new(3);
  od_table_label(t, 0, "time", "s");
  od_table_label(t, 1, "crank.end.x", "m");
  od_table_label(t, 2, "odd, \"name\"", "1");
  for (int i = 0; i < 1000; i++)
    assert_int_equal(od_table_append(t, (double[]){1e-3 * i, sin(0.1 * i), i == 7 ? NAN : 1.0 / (i - 3)}), OD_OK);
  return t;
}

static void test_summary(void **state) {
  (void)state;
  od_table *t = od_table_new(2);
  for (int i = 0; i < 4; i++) od_table_append(t, (double[]){i == 2 ? (double)NAN : i, NAN});
  od_summary s = od_table_summary(t, 0), none = od_table_summary(t, 1);
  assert_true(s.min == 0 && s.max == 3 && s.final == 3);
  assert_true(fabs(s.rms - sqrt(10.0 / 3)) < 1e-15);
  assert_true(isnan(none.min) && isnan(none.max) && isnan(none.rms) && isnan(none.final));
  assert_int_equal(od_table_label(t, 2, "x", "m"), OD_BAD_ARGUMENT);
  od_table_free(t);
}

static void test_csv_round_trip(void **state) {
  scratch *s = *state;
  od_table *t = example(), *back = NULL;
  const char *path = scratch_path(s, "t.csv");
  assert_int_equal(od_table_write_csv(t, path, NULL), OD_OK);
  assert_int_equal(scratch_count(s), 1);
  char *text = scratch_read(path);
  assert_memory_equal(text, "time [s],crank.end.x [m],\"odd, \"\"name\"\"\"\n0,0,-0.3333333333333333\n0.001,", 71);
  free(text);
  od_error err = {0};
  if (od_table_read_csv(path, &back, &err) != OD_OK) fail_msg("%s", err.text);
  assert_int_equal(back->columns, 3);
  assert_int_equal(back->rows, t->rows);
  assert_string_equal(back->name[1], "crank.end.x");
  assert_string_equal(back->unit[1], "m");
  assert_string_equal(back->name[2], "odd, \"name\"");
  for (long i = 0; i < 3 * t->rows; i++)
    assert_true(back->data[i] == t->data[i] || (isnan(back->data[i]) && isnan(t->data[i])));
  od_table_free(t);
  od_table_free(back);
}

static od_table *read_text(scratch *s, const char *text, size_t length) {
  od_table *t = NULL;
  od_error err = {0};
  if (od_table_read_csv(scratch_write(s, "t.csv", text, length), &t, &err) != OD_OK) fail_msg("%s", err.text);
  return t;
}
#define READ(s, text) read_text(s, text, sizeof(text) - 1)

static void expect(od_table *t, int columns, const char *const *labels, long rows, const double *data) {
  assert_int_equal(t->columns, columns);
  assert_int_equal(t->rows, rows);
  for (int c = 0; c < columns; c++) {
    assert_string_equal(t->name[c], labels[2 * c]);
    assert_string_equal(t->unit[c], labels[2 * c + 1]);
  }
  for (long i = 0; i < rows * columns; i++)
    if (!(t->data[i] == data[i] || (isnan(t->data[i]) && isnan(data[i]))))
      fail_msg("cell %ld: %g instead of %g", i, t->data[i], data[i]);
  od_table_free(t);
}

static void test_csv_dialects(void **state) {
  scratch *s = *state;
  const char *labels[] = {"time", "s", "p 1", "bar"};
  double data[] = {0, 1.5, 1, NAN, 2, -3e5};
#define LABELS(...) (const char *[]){__VA_ARGS__}
  expect(READ(s, "time [s],p 1 [bar]\n0,1.5\n1,\n2,-3e5\n"), 2, labels, 3, data);
  // Round brackets, byte order mark, CRLF, blanks, comments, blank lines, no line end at the end.
  expect(READ(s, "\xef\xbb\xbf# a log\r\n\r\n time (s) , p 1(bar)\r\n0, 1.5\r\n # more\r\n1,nan\r\n\r\n2 ,-3E5"), 2,
         labels, 3, data);
  // Semicolons with decimal commas, quotes around everything, a separator at every line's end.
  expect(READ(s, "\"time [s]\";\"p 1 [bar]\";\n0,0;\"1,5\";\n1;;\n2;-3e5;\n"), 2, labels, 3, data);
  expect(READ(s, "time [s]\tp 1 [bar]\n0\t1,5\n1\t\n2\t-3e5\n"), 2, labels, 3, data);
  // Old line ends.
  expect(READ(s, "time [s],p 1 [bar]\r0,1.5\r1,\r2,-3e5\r"), 2, labels, 3, data);
  // Quotes may hold separators, quotes and line ends.
  expect(READ(s, "\"a, \"\"b\"\"\nc\",[N]\n1,2\n"), 2, LABELS("a, \"b\"\nc", "", "[N]", ""), 1, (double[]){1, 2});
  // No header.
  expect(READ(s, "1,2\n3,4\n"), 2, LABELS("column1", "", "column2", ""), 2, (double[]){1, 2, 3, 4});
  // One column; no rows.
  expect(READ(s, "x\n1\n2\n"), 1, LABELS("x", ""), 2, (double[]){1, 2});
  expect(READ(s, "x,y\n"), 2, LABELS("x", "", "y", ""), 0, NULL);
}

static void test_csv_errors_name_the_place(void **state) {
  scratch *s = *state;
  const struct {
    const char *text, *expected;
  } cases[] = {
      {"time,p\n0,1\n1, abc\n", "t.csv:3:4: 'abc' is not a number (column 'p')"},
      {"time,p\n0,1\n\n# note\n1\n", "t.csv:5:2: 1 cell, but the header has 2"},
      {"time,p\n0,1,2\n", "t.csv:2:5: more cells than the header's 2"},
      {"time,p\n0,\"1\n", "t.csv:2:3: this quote is never closed"},
      {"time,p\n0,\"1\" x\n", "t.csv:2:7: expected a separator after the closing quote"},
      {"time,p\n0,1,5\n", "t.csv:2:5: more cells"},
      {"", "is empty"},
      {"# only a comment\n", "is empty"},
      {"\xff\xfet\0", "UTF-16"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    od_table *t = NULL;
    od_error err = {0};
    const char *path = scratch_write(s, "t.csv", cases[i].text, strlen(cases[i].text));
    assert_int_equal(od_table_read_csv(path, &t, &err), OD_BAD_INPUT);
    assert_null(t);
    if (!strstr(err.text, cases[i].expected)) fail_msg("'%s' does not say '%s'", err.text, cases[i].expected);
  }
  od_table *t = NULL;
  od_error err = {0};
  assert_int_equal(od_table_read_csv("/no/such/file.csv", &t, &err), OD_IO);
  assert_int_equal(od_table_read_csv("/tmp", &t, &err), OD_IO);
}

// Random bytes must not crash the reader, whatever it says about them.
static void test_csv_survives_noise(void **state) {
  scratch *s = *state;
  static const char alphabet[] = "0123456789.,;\t\"\"\n\r#[]()eE+- ab\xff";
  uint32_t x = 12345;
  for (int round = 0; round < 3000; round++) {
    char text[120];
    size_t length = 0;
    while (length < sizeof text && (x = x * 1664525u + 1013904223u) >> 24 != 7)
      text[length++] = alphabet[(x >> 16) % (sizeof alphabet - 1)];
    od_table *t = NULL;
    od_error err = {0};
    od_status status = od_table_read_csv(scratch_write(s, "t.csv", text, length), &t, &err);
    assert_true(status == OD_OK ? t != NULL : t == NULL && err.text[0]);
    od_table_free(t);
  }
}

static void expect_text(const matvar_t *cells, int index, const char *text) {
  const matvar_t *cell = ((matvar_t **)cells->data)[index];
  assert_int_equal(cell->nbytes, strlen(text));
  if (text[0]) assert_memory_equal(cell->data, text, strlen(text));
}

static void test_mat(void **state) {
  scratch *s = *state;
  od_table *t = od_table_new(5);
  od_table_label(t, 0, "time", "s");
  od_table_label(t, 1, "crank.end.x", "m");
  od_table_label(t, 2, "crank-end-x", "");
  od_table_label(t, 3, "columns", "m^2");
  od_table_label(t, 4, "2nd", "m");
  for (int i = 0; i < 500; i++) od_table_append(t, (double[]){i, 2.5 * i, -i, sqrt(i), 1});
  const char *path = scratch_path(s, "t.mat");
  od_error err = {0};
  if (od_table_write_mat(t, path, &err) != OD_OK) fail_msg("%s", err.text);
  assert_int_equal(scratch_count(s), 1);

  mat_t *mat = Mat_Open(path, MAT_ACC_RDONLY);
  assert_non_null(mat);
  const char *names[] = {"time", "crank_end_x", "crank_end_x_2", "columns_2", "x2nd"};
  for (int c = 0; c < 5; c++) {
    matvar_t *v = Mat_VarRead(mat, names[c]);
    assert_non_null(v);
    assert_int_equal(v->dims[0], 500);
    for (int i = 0; i < 500; i++) assert_true(((double *)v->data)[i] == t->data[5 * i + c]);
    Mat_VarFree(v);
  }
  matvar_t *columns = Mat_VarRead(mat, "columns");
  assert_non_null(columns);
  assert_int_equal(columns->dims[0], 5);
  assert_int_equal(columns->dims[1], 2);
  expect_text(columns, 1, "crank.end.x");
  expect_text(columns, 5, "s");
  expect_text(columns, 7, "");
  Mat_VarFree(columns);
  Mat_Close(mat);
  od_table_free(t);
}

static void test_failures_leave_nothing(void **state) {
  scratch *s = *state;
  od_table *t = example();
  od_error err = {0};
  assert_int_equal(od_table_write_csv(t, scratch_path(s, "no/t.csv"), &err), OD_IO);
  assert_non_null(strstr(err.text, "no/t.csv"));
  assert_int_equal(od_table_write_mat(t, scratch_path(s, "no/t.mat"), &err), OD_IO);
  assert_int_equal(scratch_count(s), 0);
  od_table_free(t);
}

int main(void) {
#define TEST(f) cmocka_unit_test_setup_teardown(f, scratch_setup, scratch_teardown)
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_summary),       TEST(test_csv_round_trip),     TEST(test_csv_dialects),
      TEST(test_csv_errors_name_the_place), TEST(test_csv_survives_noise), TEST(test_mat),
      TEST(test_failures_leave_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
