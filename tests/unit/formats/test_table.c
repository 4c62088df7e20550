// Tables, and their CSV and MATLAB files. Oracles: values by hand, files that are written and read again.
#include "support/test.h"

#include <math.h>
#include <matio.h>

#include "formats/csv_lines.h"
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
  // Old line ends (CR).
  expect(READ(s, "time [s],p 1 [bar]\r0,1.5\r1,\r2,-3e5\r"), 2, labels, 3, data);
  // Quotes may hold separators, quotes and line ends.
  expect(READ(s, "\"a, \"\"b\"\"\nc\",[N]\n1,2\n"), 2, LABELS("a, \"b\"\nc", "", "[N]", ""), 1, (double[]){1, 2});
  // No header.
  expect(READ(s, "1,2\n3,4\n"), 2, LABELS("column1", "", "column2", ""), 2, (double[]){1, 2, 3, 4});
  // One column; no rows.
  expect(READ(s, "x\n1\n2\n"), 1, LABELS("x", ""), 2, (double[]){1, 2});
  expect(READ(s, "x,y\n"), 2, LABELS("x", "", "y", ""), 0, NULL);
  // An index is not a unit.
  expect(READ(s, "p[1],p [1],p[12],p[]\n1,2,3,4\n"), 4, LABELS("p[1]", "", "p", "1", "p[12]", "", "p[]", ""), 1,
         (double[]){1, 2, 3, 4});
  // Units in a separate line; units in the header have priority.
  expect(READ(s, "time,p 1 [bar],n\n\ns,,(1/min)\n0,1.5,2\n"), 3, LABELS("time", "s", "p 1", "bar", "n", "1/min"), 1,
         (double[]){0, 1.5, 2});
  expect(READ(s, "time;p;\n[s];-;\n0;1,5;\n"), 2, LABELS("time", "s", "p", "1"), 1, (double[]){0, 1.5});
}

static void test_csv_missing_values(void **state) {
  scratch *s = *state;
  const char text[] = "time,p\n0,-9999\n1,-9999.0\n2,n/a\n3,\n4,9999\n", *missing[] = {"-9999", "n/a", NULL};
  od_table *t = NULL;
  od_error err = {0};
  const char *path = scratch_write(s, "t.csv", text, strlen(text));
  assert_int_equal(od_table_read_csv_with(path, &(od_table_wish){.missing = missing}, &t, &err), OD_OK);
  assert_true(t->places.header == 1 && t->places.column[1] == 6 && t->places.line[4] == 6);
  expect(t, 2, (const char *[]){"time", "", "p", ""}, 5, (double[]){0, NAN, 1, NAN, 2, NAN, 3, NAN, 4, 9999});
}

// Single lines are read like the lines of a file.
static void test_csv_lines(void **state) {
  (void)state;
  od_csv_lines lines = {.name = "input", .line = 1};
  od_error err = {0};
  bool taken;
  double v[3];
#define LINE(text) text, strlen(text)
  assert_int_equal(od_csv_header(&lines, LINE("\xef\xbb\xbftime [s];\"p; 1\";q"), &err), OD_OK);
  assert_int_equal(lines.table->columns, 3);
  assert_string_equal(lines.table->name[1], "p; 1");
  lines.line++;
  assert_true(od_csv_is_empty(&lines, LINE("  ")) && od_csv_is_empty(&lines, LINE(" # x")));
  assert_int_equal(od_csv_units(&lines, LINE(";bar;mm"), &taken, &err), OD_OK);
  assert_true(taken);
  assert_string_equal(lines.table->unit[0], "s");
  assert_string_equal(lines.table->unit[2], "mm");
  lines.line++;
  assert_int_equal(od_csv_units(&lines, LINE("0;bar;mm"), &taken, &err), OD_OK);
  assert_false(taken);
  assert_int_equal(od_csv_row(&lines, LINE("0,5;;\"-1e3\""), v, &err), OD_OK);
  assert_true(v[0] == 0.5 && isnan(v[1]) && v[2] == -1000);
  const char *wrong[] = {"1;2", "1;2;3;4", "1;x;3", "1;\"2;3"};
  const char *said[] = {"input:3:4: 2 cells, but the header has 3 cells; expected equal numbers",
                        "input:3:7: the row has more cells than the header, which has 3 cells; expected equal numbers",
                        "input:3:3: 'x' is not a number (column 'p; 1')",
                        "input:3:3: the quote is not closed; add the closing quote"};
  for (int i = 0; i < 4; i++) {
    assert_int_equal(od_csv_row(&lines, LINE(wrong[i]), v, &err), OD_BAD_INPUT);
    assert_string_equal(err.text, said[i]);
  }
  // Unused columns may contain anything or be missing.
  lines.used = (bool[]){true, false, false};
  assert_int_equal(od_csv_row(&lines, LINE("7;x"), v, &err), OD_OK);
  assert_true(v[0] == 7 && isnan(v[1]) && isnan(v[2]));
  assert_int_equal(od_csv_row(&lines, LINE("y;x;1"), v, &err), OD_BAD_INPUT);
  od_table_free(lines.table);
  lines = (od_csv_lines){.name = "input", .line = 1};
  assert_int_equal(od_csv_header(&lines, LINE("1,2"), &err), OD_BAD_INPUT);
  assert_string_equal(err.text, "input:1:1: found only numbers, expected a header with the names of the columns");
}

// A mistake in a column is reported only if the column is used; the other columns are correct.
static void test_csv_flaws(void **state) {
  scratch *s = *state;
  const struct {
    const char *text, *flaw;
  } cases[] = {{"time,p\n0,1\n1, abc\n2,x\n", "t.csv:3:4: 'abc' is not a number (column 'p')"},
               {"time,p\n0,1\n\n# note\n1\n", "t.csv:5:2: 1 cell, but the header has 2 cells; expected equal numbers"},
               {"time,event\n0,\n1,valve, opened; slowly, again\n", "'valve' is not a number"},
               {"time;event\n0,5;a\n", "'a' is not a number"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    od_table *t = read_text(s, cases[i].text, strlen(cases[i].text));
    assert_null(od_table_flaw(t, 0));
    assert_non_null(od_table_flaw(t, 1));
    if (!strstr(od_table_flaw(t, 1), cases[i].flaw)) fail_msg("%s", od_table_flaw(t, 1));
    assert_true(isnan(t->data[2 * t->rows - 1]) && t->data[2 * t->rows - 2] == (i == 0 ? 2 : i == 3 ? 0.5 : 1));
    od_table_free(t);
  }
}

// Lines before the header are detected from the rows, or given.
static void test_csv_preamble(void **state) {
  scratch *s = *state;
  const char *labels[] = {"time", "s", "p", "bar", "q", ""};
  double data[] = {0, 1.5, 2, 1, 2.5, 3};
#define LOGGER "Logger 12\nDate: 2024-02-29, Friday\nChannels, 3\n\n"
  expect(READ(s, LOGGER "time [s],p [bar],q\n0,1.5,2\n1,2.5,3\n"), 3, labels, 2, data);
  expect(READ(s, LOGGER "time,p [bar],q\ns,,\n0,1.5,2\n1,2.5,3\n"), 3, labels, 2, data);
  expect(READ(s, LOGGER "time [s];p [bar];q\n0;1,5;2\n1;2,5;3\n"), 3, labels, 2, data);
  expect(READ(s, "\"a quote\ntime [s],p [bar],q\n0,1.5,2\n1,2.5,3\n"), 3, labels, 2, data);
  expect(READ(s, LOGGER "time [s],p [bar],q\n0,1.5,2\n"), 3, labels, 1, data);
  // Empty surplus cells at the ends of rows, of lines before the header, or of all lines.
  expect(READ(s, "Plant 1\ntime [s];p [bar];q\n0;1,5;2;\n1;2,5;3;\n"), 3, labels, 2, data);
  expect(READ(s, "Plant 1\ntime;p;q\ns;bar;;\n0;1,5;2;;;;;\n1;2,5;3;;;;;\n"), 3, labels, 2, data);
  expect(READ(s, "Plant 1;;\ntime [s];p [bar];q\n0;1,5;2\n1;2,5;3\n"), 3, labels, 2, data);
  expect(READ(s, "Plant 1;;;\nHall 2;;;\ntime;p;q;\ns;bar;;\n0;1,5;2;\n1;2,5;3;\n"), 3, labels, 2, data);
  // Rows whose last value is missing have the width of the header.
  double missing[] = {0, 1.5, NAN, 1, 2.5, NAN};
  expect(READ(s, "Plant;1\ntime [s];p [bar];q\n0;1,5;\n1;2,5;\n"), 3, labels, 2, missing);
  // A line with the width of the table: the number must be given.
  const char text[] = "made,by,hand\ntime [s],p [bar],q\n0,1.5,2\n1,2.5,3\n";
  od_table *t = NULL;
  const char *path = scratch_write(s, "t.csv", text, sizeof text - 1);
  assert_int_equal(od_table_read_csv_with(path, &(od_table_wish){.skip = 1}, &t, NULL), OD_OK);
  assert_int_equal(t->places.line[0], 3);
  expect(t, 3, labels, 2, data);
  t = NULL;
  assert_int_equal(od_table_read_csv_with(path, &(od_table_wish){.skip = 10}, &t, NULL), OD_BAD_INPUT);
}

static void test_csv_errors_name_the_place(void **state) {
  scratch *s = *state;
  const struct {
    const char *text, *expected;
  } cases[] = {
      {"time,event\n0,5,start\n",
       "t.csv:2:5: the row has more cells than the header, which has 2 cells; expected equal numbers"},
      {"time,event\n0,start,5\n",
       "t.csv:2:9: the row has more cells than the header, which has 2 cells; expected equal numbers"},
      {"time,p\n0,1,2\n",
       "t.csv:2:5: the row has more cells than the header, which has 2 cells; expected equal numbers"},
      {"Plant 1\nHall 2\n0,1,2\n1,2,5\n",
       "t.csv:3:3: the row has more cells than the header, which has 1 cell; expected equal numbers; if line 1 is a "
       "remark, skip it: --skip 1, or 'skip: 1' under 'data'"},
      {"time,p\n0,\"1\n", "t.csv:2:3: the quote is not closed"},
      {"time,p\n0,\"1\" x\n", "t.csv:2:7: expected a separator after the closing quote"},
      {"time,p\n0,1,5\n", "t.csv:2:5: the row has more cells"},
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

// Random bytes must not crash the reader; any message is allowed.
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

// --- Reading MATLAB files of this program and of others --------------------------------------------------------------

static void test_mat_round_trip(void **state) {
  scratch *s = *state;
  od_table *t = od_table_new(4), *back = NULL;
  od_table_label(t, 0, "time", "s");
  od_table_label(t, 1, "a.b", "m");
  od_table_label(t, 2, "a-b", "");
  od_table_label(t, 3, "a.c", "m/s^2");
  for (int i = 0; i < 7; i++) od_table_append(t, (double[]){i, 0.1 * i, i == 3 ? (double)NAN : -i, 1e300});
  od_error err = {0};
  assert_int_equal(od_table_write_mat(t, scratch_path(s, "t.mat"), &err), OD_OK);
  if (od_table_read_mat(scratch_path(s, "t.mat"), NULL, &back, &err) != OD_OK) fail_msg("%s", err.text);
  const char *labels[] = {"time", "s", "a.b", "m", "a-b", "", "a.c", "m/s^2"};
  expect(back, 4, labels, 7, t->data);
  od_table_free(t);
}

static void write_foreign_mat(const char *path, enum mat_ft level) {
  mat_t *mat = Mat_CreateVer(path, NULL, level);
  assert_non_null(mat);
  double time[3] = {0, 1, 2}, X[6] = {1, 2, 3, 4, 5, -9999}, scalar = 7;
  float p[3] = {0.5f, 1.5f, 2.5f};
  int16_t counts[3] = {-1, 0, 1};
  size_t column[2] = {3, 1}, row[2] = {1, 3}, matrix[2] = {3, 2}, one[2] = {1, 1};
  matvar_t *v[5] = {Mat_VarCreate("time", MAT_C_DOUBLE, MAT_T_DOUBLE, 2, column, time, 0),
                    Mat_VarCreate("X", MAT_C_DOUBLE, MAT_T_DOUBLE, 2, matrix, X, 0),
                    Mat_VarCreate("scalar", MAT_C_DOUBLE, MAT_T_DOUBLE, 2, one, &scalar, 0)};
  int count = 3;
  if (level != MAT_FT_MAT4) {
    const char *fields[] = {"p", "inner"}, *inner_fields[] = {"n"};
    matvar_t *log = Mat_VarCreateStruct("log", 2, one, fields, 2);
    matvar_t *inner = Mat_VarCreateStruct("inner", 2, one, inner_fields, 1);
    Mat_VarSetStructFieldByName(inner, "n", 0, Mat_VarCreate("n", MAT_C_INT16, MAT_T_INT16, 2, row, counts, 0));
    Mat_VarSetStructFieldByName(log, "p", 0, Mat_VarCreate("p", MAT_C_SINGLE, MAT_T_SINGLE, 2, row, p, 0));
    Mat_VarSetStructFieldByName(log, "inner", 0, inner);
    v[count++] = log;
  }
  for (int i = 0; i < count; i++) {
    assert_int_equal(Mat_VarWrite(mat, v[i], MAT_COMPRESSION_NONE), 0);
    Mat_VarFree(v[i]);
  }
  Mat_Close(mat);
}

static void test_foreign_mat(void **state) {
  scratch *s = *state;
  const enum mat_ft levels[] = {MAT_FT_MAT4, MAT_FT_MAT5, MAT_FT_MAT73};
  const char *missing[] = {"-9999", NULL};
  const struct {
    const char *name;
    double last;
  } wanted[] = {{"time", 2}, {"X(:,1)", 3}, {"X(:,2)", NAN}, {"log.p", 2.5}, {"log.inner.n", 1}};
  for (int i = 0; i < 3; i++) {
    const char *path = scratch_path(s, "f.mat");
    write_foreign_mat(path, levels[i]);
    od_table *t = NULL;
    od_error err = {0};
    if (od_table_read_mat(path, &(od_table_wish){.missing = missing}, &t, &err) != OD_OK) fail_msg("%s", err.text);
    int columns = levels[i] == MAT_FT_MAT4 ? 3 : 5;
    assert_int_equal(t->columns, columns);
    assert_int_equal(t->rows, 3);
    for (int k = 0; k < columns; k++) {
      int c = 0;
      while (c < t->columns && strcmp(t->name[c], wanted[k].name) != 0) c++;
      if (c == t->columns) fail_msg("level %d has no %s", i, wanted[k].name);
      double last = t->data[2 * t->columns + c];
      assert_true(last == wanted[k].last || (isnan(last) && isnan(wanted[k].last)));
    }
    od_table_free(t);
  }
  od_table *t = NULL;
  od_error err = {0};
  assert_int_equal(od_table_read_mat(scratch_write(s, "f.mat", "rubbish", 7), NULL, &t, &err), OD_BAD_INPUT);
  assert_null(t);
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

// By hand: of four rows, and of the two from 1 to 2 s; NaN is not skipped.
static void test_take(void **state) {
  (void)state;
  static const double rows[][2] = {{0, 1}, {1, -3}, {2, 2}, {3, NAN}};
  static const double all[] = {-3, 2, 3, 0, 2.1602468994692868, 2}, some[] = {-3, 2, 3, -0.5, 2.5495097567963922, 2};
  od_table *t = od_table_new(2);
  for (int i = 0; i < 4; i++) assert_int_equal(od_table_append(t, rows[i]), OD_OK);
  for (int k = 0; od_take_names[k]; k++) {
    assert_true(fabs(od_table_take(t, 1, (od_take)k, -INFINITY, 2) - all[k]) < 1e-15);
    assert_true(fabs(od_table_take(t, 1, (od_take)k, 1, 2) - some[k]) < 1e-15);
    assert_true(isnan(od_table_take(t, 1, (od_take)k, 0, 3)) && isnan(od_table_take(t, 1, (od_take)k, 4, 5)));
  }
  od_table_free(t);
}

// A sine and the same sine with a lag p: the loop has the width 2 sin(p) in the middle. Interpolation between rows has an error of the
// second order of their distance. A column that only rises has no loop.
static void test_loop(void **state) {
  (void)state;
  const double pi = acos(-1), lag = 0.3;
  od_table *t = od_table_new(4);
  for (int i = 0; i <= 2000; i++) {
    double time = i * 2e-3, row[] = {time, sin(2 * pi * time + 0.1), 5 + sin(2 * pi * time + 0.1 - lag), time};
    assert_int_equal(od_table_append(t, row), OD_OK);
  }
  near(od_table_loop(t, 2, 1, 0, 4), 2 * sin(lag), 1e-4);
  near(od_table_loop(t, 1, 2, 1, 3), -2 * sin(lag), 1e-4);
  near(od_table_loop(t, 1, 1, 0, 4), 0, 1e-12);
  assert_true(isnan(od_table_loop(t, 2, 3, 0, 4)) && isnan(od_table_loop(t, 2, 1, 5, 6)));
  od_table_free(t);
}

int main(void) {
#define TEST(f) cmocka_unit_test_setup_teardown(f, scratch_setup, scratch_teardown)
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_summary),
      cmocka_unit_test(test_take),
      cmocka_unit_test(test_loop),
      TEST(test_csv_round_trip),
      TEST(test_csv_dialects),
      TEST(test_csv_flaws),
      TEST(test_csv_preamble),
      TEST(test_csv_errors_name_the_place),
      TEST(test_csv_survives_noise),
      TEST(test_mat),
      TEST(test_failures_leave_nothing),
      TEST(test_csv_missing_values),
      TEST(test_csv_lines),
      TEST(test_mat_round_trip),
      TEST(test_foreign_mat),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
