// Shapes of CSV files as programs write them: columns without names, separators at the ends of lines, line ends of all kinds, columns between
// blanks, NUL bytes, long lines. Oracle: names, units and values by hand; whole files and streams with blocks of every size agree with them.
#include "support/test.h"

#include <math.h>
#include <string.h>

#include "formats/csv_stream.h"
#include "support/scratch.h"

enum { MOST = 5 };

typedef struct shape {
  const char *text;
  int columns, rows;
  const char *label[2 * MOST];  // name and unit of each column
  double data[3 * MOST];
} shape;

static const double none = NAN;
#define N none

static void compare(const od_table *t, const shape *w, const char *way) {
  if (t->columns != w->columns) fail_msg("%s, %s: %d columns", way, w->text, t->columns);
  for (int i = 0; i < t->columns; i++) {
    if (strcmp(t->name[i], w->label[2 * i]) || strcmp(t->unit[i], w->label[2 * i + 1]))
      fail_msg("%s, %s: column '%s' in '%s'", way, w->text, t->name[i], t->unit[i]);
  }
}

static void compare_row(const double *row, const shape *w, long k, const char *way) {
  if (k >= w->rows) fail_msg("%s, %s: too many rows", way, w->text);
  for (int i = 0; i < w->columns; i++) {
    const double wanted = w->data[k * w->columns + i];
    if (!(row[i] == wanted || (isnan(row[i]) && isnan(wanted))))
      fail_msg("%s, %s: row %ld, column %d: %g", way, w->text, k + 1, i + 1, row[i]);
  }
}

static void expect(scratch *s, const shape *w, size_t length) {
  const char *path = scratch_write(s, "t.csv", w->text, length);
  od_table *t = NULL;
  od_error err = {0};
  if (od_table_read_csv(path, &t, &err) != OD_OK) fail_msg("%s: %s", w->text, err.text);
  compare(t, w, "whole");
  for (long k = 0; k < t->rows; k++) compare_row(t->data + k * t->columns, w, k, "whole");
  assert_int_equal(t->rows, w->rows);
  od_table_free(t);
  for (size_t block = 0; block <= length + 1; block++) {
    char way[40];
    double row[MOST];
    bool end = false;
    void *c = NULL;
    snprintf(way, sizeof way, "block %zu", block);
    if (od_csv_stream_open(path, NULL, block, &c, &err) != OD_OK) fail_msg("%s, %s: %s", way, w->text, err.text);
    od_csv_stream_use(c, (bool[MOST]){false});  // columns may contain text
    compare(od_csv_stream_head(c), w, way);
    long k = 0;
    for (; od_csv_stream_next(c, row, &end, &err) == OD_OK && !end; k++) compare_row(row, w, k, way);
    if (!end) fail_msg("%s, %s: %s", way, w->text, err.text);
    assert_int_equal(k, w->rows);
    od_csv_stream_close(c);
  }
}

static void shapes(void **state) {
  const shape list[] = {
      // An index column without a name: in quotes, as a text, with an empty name.
      {"\"t\",\"u\"\n\"1\",0,1.5\n\"2\",1,2.5\n", 3, 2, {"column1", "", "t", "", "u", ""}, {1, 0, 1.5, 2, 1, 2.5}},
      {"t;u\nrun a;0;1,5\nrun b;1;2,5\n", 3, 2, {"column1", "", "t", "", "u", ""}, {N, 0, 1.5, N, 1, 2.5}},
      {"\"t\" \"u\"\n\"1\" 0 1.5\n\"2\" 1 2.5\n", 3, 2, {"column1", "", "t", "", "u", ""}, {1, 0, 1.5, 2, 1, 2.5}},
      {"t u\n1 0 1.5\n2 1 2.5\n", 3, 2, {"column1", "", "t", "", "u", ""}, {1, 0, 1.5, 2, 1, 2.5}},
      {",t,u [V]\n0,0,1.5\n1,1,2.5\n", 3, 2, {"column1", "", "t", "", "u", "V"}, {0, 0, 1.5, 1, 1, 2.5}},
      {"t,,u\n0,7,1\n1,8,2\n", 3, 2, {"t", "", "column2", "", "u", ""}, {0, 7, 1, 1, 8, 2}},
      // Separators at the ends of lines: everywhere, only in the header, only in the rows, several.
      {"t,u,\n0,1,\n1,2,\n", 2, 2, {"t", "", "u", ""}, {0, 1, 1, 2}},
      {"t,u,\n0,1\n1,2\n", 2, 2, {"t", "", "u", ""}, {0, 1, 1, 2}},
      {"t,u\n0,1,\n1,2,,, ,\"\"\n", 2, 2, {"t", "", "u", ""}, {0, 1, 1, 2}},
      {"t\tu\t\r\ns\tV\t\r\n0\t1\t\r\n1\t\t\r\n", 2, 2, {"t", "s", "u", "V"}, {0, 1, 1, N}},
      // The first row of a file without names ends with a missing number.
      {"0;1;\n1;2;3\n", 3, 2, {"column1", "", "column2", "", "column3", ""}, {0, 1, N, 1, 2, 3}},
      // Line ends and a mark at the beginning.
      {"t,u\r0,1\r1,2\r", 2, 2, {"t", "", "u", ""}, {0, 1, 1, 2}},
      {"t,u\r\r0,1\r1,2", 2, 2, {"t", "", "u", ""}, {0, 1, 1, 2}},
      {"\xef\xbb\xbft,u\r\n0,1\r\n1,2\r\n", 2, 2, {"t", "", "u", ""}, {0, 1, 1, 2}},
      {"t,\"u\",note\r0,1,\"a\rb\"\r1,2,c\r", 3, 2, {"t", "", "u", "", "note", ""}, {0, 1, N, 1, 2, N}},
      {"t,u\n0,1\r1,2\r\n2,3\n", 2, 3, {"t", "", "u", ""}, {0, 1, 1, 2, 2, 3}},
      // Columns between blanks: fixed widths, units, names with blanks, decimal commas, tabs among the blanks.
      {"  t      u\n  0    1.5\n 10  -12.5\n", 2, 2, {"t", "", "u", ""}, {0, 1.5, 10, -12.5}},
      {"t [s]   p [bar]\n0.0    1e2\n0.5    nan  \n", 2, 2, {"t", "s", "p", "bar"}, {0, 100, 0.5, N}},
      {"Time [s]   rod pressure [bar]\n0.0    1\n0.5    2\n",
       2,
       2,
       {"Time", "s", "rod pressure", "bar"},
       {0, 1, 0.5, 2}},
      {"t    p\n[s]  (bar)\n0    1\n1    2\n", 2, 2, {"t", "s", "p", "bar"}, {0, 1, 1, 2}},
      {"t    p\n0,5  1,25\n1,5  2\n", 2, 2, {"t", "", "p", ""}, {0.5, 1.25, 1.5, 2}},
      {"t  p\n0   1\n1 \t2\n2\t3\n", 2, 3, {"t", "", "p", ""}, {0, 1, 1, 2, 2, 3}},
      {"0.5  1  2\n1.5  3  4\n", 3, 2, {"column1", "", "column2", "", "column3", ""}, {0.5, 1, 2, 1.5, 3, 4}},
      {"A logger with seven channels\nmade by hand\n\nt   p\n0   1\n1   2\n", 2, 2, {"t", "", "p", ""}, {0, 1, 1, 2}},
      {"date       time      p\n2026-03-01 12:00:00  1\n2026-03-01 12:00:01  2\n",
       3,
       2,
       {"date", "s", "time", "s", "p", ""},
       {0, 0, 1, 0, 1, 2}},
      // Windows-1252 in the header, in the line of units, in quotes; UTF-8 remains.
      {"t [s];Pr\xfc"
       "fdruck [bar];T [\xb0"
       "C];\"\x84\"\"\x80 [\xb5m]\"\n0;1;2;3\n1;2;3;4\n",
       4,
       2,
       {"t", "s",
        "Pr\xc3\xbc"
        "fdruck",
        "bar", "T",
        "\xc2\xb0"
        "C",
        "\xe2\x80\x9e\"\xe2\x82\xac", "\xc2\xb5m"},
       {0, 1, 2, 3, 1, 2, 3, 4}},
      {"t,T\ns,\xb0"
       "C\n0,1\n1,2\n",
       2,
       2,
       {"t", "s", "T",
        "\xc2\xb0"
        "C"},
       {0, 1, 1, 2}},
      {"t\xc3\xbc,T [\xc2\xb0"
       "C]\n0,1\n1,2\n",
       2,
       2,
       {"t\xc3\xbc", "", "T",
        "\xc2\xb0"
        "C"},
       {0, 1, 1, 2}},
      // A mark before the names, after lines of text with numbers that look like rows.
      {"NIST set\nStart 1  2\n b1 = 5 25 3\n b2 = 1 20 2\n\nData:   y      x\n 1 2\n 3 4\n",
       2,
       2,
       {"y", "", "x", ""},
       {1, 2, 3, 4}},
      {"% t u [V]\n0 1\n1 2\n", 2, 2, {"t", "", "u", "V"}, {0, 1, 1, 2}},
      {"Data: t\n0 1\n1 2\n", 2, 2, {"Data:", "", "t", ""}, {0, 1, 1, 2}},
      // Lines of one cell before the names, and rows without the last cell.
      {"Header Size:  4\nVersion:  2\nRate:  1000\nNo, t, u, Events\n 1, 0, 1.5, Start\n 2, 1, 2.5\n 3, 2, 3.5\n",
       4,
       3,
       {"No", "", "t", "", "u", "", "Events", ""},
       {1, 0, 1.5, N, 2, 1, 2.5, N, 3, 2, 3.5, N}},
      // Rows with a decimal comma in every cell, which have more commas than separators.
      {"Rig;3\nRate;256 Hz\n\nt;u [V];x\n0,5;1,5;2,5\n1,5;2,5;3,5\n",
       3,
       2,
       {"t", "", "u", "V", "x", ""},
       {0.5, 1.5, 2.5, 1.5, 2.5, 3.5}},
      {"Rig\t3\nt\tu\tnote\n0,5\t,5\tStart, good\n1,5\t2,5\tEnd\n",
       3,
       2,
       {"t", "", "u", "", "note", ""},
       {0.5, 0.5, N, 1.5, 2.5, N}},
      {"0,5;1,5\n1,5;2,5\n", 2, 2, {"column1", "", "column2", ""}, {0.5, 1.5, 1.5, 2.5}},
      {"Rig,3\nt,u,note\n0,1,start; good\n1,2,\"a;b\"\n", 3, 2, {"t", "", "u", "", "note", ""}, {0, 1, N, 1, 2, N}},
      // One column whose name has blanks.
      {"spool position [mm]\n1\n2\n", 1, 2, {"spool position", "mm"}, {1, 2}},
  };
  for (size_t i = 0; i < sizeof list / sizeof *list; i++) expect(*state, &list[i], strlen(list[i].text));
  // NUL bytes, as after a power failure, are no number.
  static const char zeros[] = "t,u\n0,1\n\0\0\0,\0\n2,3\n";
  expect(*state, &(shape){zeros, 2, 3, {"t", "", "u", ""}, {0, 1, N, N, 2, 3}}, sizeof zeros - 1);
}

// Surplus cells are an error with the place unless they are empty; a decimal comma is no index column.
static void surplus(void **state) {
  scratch *s = *state;
  static const char *const cases[][2] = {
      {"t,u\n0,1\n1,2,3\n",
       "t.csv:3:5: the row has more cells than the header, which has 2 cells; expected equal numbers"},
      {"t,u\n1,0,5\n2,1,5\n", "t.csv:2:5: the row has more cells"},
      {"t;u\n1;0;5\n2;1;5\n", "t.csv:2:5: the row has more cells"},
      {"t u\n0 1 5\n1 2 5\n", "t.csv:2:5: the row has more cells"},
      {"t,u\n0,1,,7\n", "t.csv:2:6: the row has more cells"},
      {"\xfe\xff\0t\0,\0u",
       "t.csv is UTF-16 text; save the file as UTF-8, for example with: iconv -f UTF-16 -t UTF-8 FILE >NEW"},
      {"PK\x03\x04,1\n0,1\n",
       "t.csv is an Excel workbook or a zip archive; save the table as CSV, or unpack the archive"},
      {"\x1f\x8b\b,\n0,1\n", "t.csv is compressed; unpack the file with: gunzip FILE"},
      {"t,\x01\x02\x03\n0,1\n",
       "t.csv is no text, and no log of a known format; expected text with columns (CSV), MATLAB"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    od_table *t = NULL;
    od_error err = {0};
    const char *path = scratch_put(s, "t.csv", cases[i][0]);
    assert_int_equal(od_table_read_csv(path, &t, &err), OD_BAD_INPUT);
    if (!strstr(err.text, cases[i][1])) fail_msg("'%s' instead of '%s'", err.text, cases[i][1]);
  }
}

// A line of 70 MB is an error, and the stream does not keep more than that in memory. A line of 20 MB is read.
static void long_lines(void **state) {
  scratch *s = *state;
  static const char begin[] = "t,u,note\n0,1,a\n1,2,";
  static const bool wanted[3] = {true, true, false};
  for (int i = 0; i < 2; i++) {
    const size_t length = i ? 70000000 : 20000000;
    void *c = NULL;
    od_error err = {0};
    double row[3];
    bool end = false;
    FILE *f = fopen(scratch_path(s, "t.csv"), "wb");
    fputs(begin, f);
    for (size_t n = 0; n < length; n += 10) fputs("0123456789", f);
    fputs("x\n2,3,c\n", f);
    fclose(f);
    od_status status = od_csv_stream_open(scratch_path(s, "t.csv"), NULL, 0, &c, &err);
    if (c) od_csv_stream_want(c, wanted);
    long rows = 0;
    for (; status == OD_OK && !end; rows++) status = od_csv_stream_next(c, row, &end, &err);
    assert_int_equal(status, i ? OD_BAD_INPUT : OD_OK);
    if (i) assert_non_null(strstr(err.text, "the line is longer than 64 MB; expected a text file with shorter lines"));
    if (!i) assert_int_equal(rows, 4);
    od_csv_stream_close(c);
  }
}

// Lines of 300 kB, of which the first 200 fill 60 MB: the header is found from fewer lines than usual.
static void wide_rows(void **state) {
  enum { COLUMNS = 60000, ROWS = 260 };
  scratch *s = *state;
  void *c = NULL;
  od_error err = {0};
  static double row[COLUMNS];
  static bool wanted[COLUMNS] = {true, [COLUMNS - 1] = true};
  FILE *f = fopen(scratch_path(s, "t.csv"), "wb");
  for (int i = 0; i < COLUMNS; i++) fprintf(f, "c%d%c", i, i + 1 < COLUMNS ? ',' : '\n');
  for (int k = 0; k < ROWS; k++) {
    fprintf(f, "%d,", k);
    for (int i = 2; i < COLUMNS; i++) fputs("0.25,", f);
    fprintf(f, "%d.5\n", k);
  }
  fclose(f);
  if (od_csv_stream_open(scratch_path(s, "t.csv"), NULL, 0, &c, &err) != OD_OK) fail_msg("%s", err.text);
  od_csv_stream_want(c, wanted);
  bool end = false;
  for (int k = 0; k <= ROWS; k++) {
    assert_int_equal(od_csv_stream_next(c, row, &end, &err), OD_OK);
    assert_int_equal(end, k == ROWS);
    if (!end) assert_true(row[0] == k && row[COLUMNS - 1] == k + 0.5);
  }
  od_csv_stream_close(c);
}

// 100000 columns are read; more are an error, because each column of a table needs memory.
static void many_columns(void **state) {
  scratch *s = *state;
  for (int more = 0; more < 2; more++) {
    const size_t columns = 100000 + (size_t)more;
    char *text = malloc(4 * columns + 100);
    size_t n = 0;
    for (size_t i = 0; i < columns; i++) text[n++] = 'u', text[n++] = i + 1 < columns ? ',' : '\n';
    for (size_t i = 0; i < columns; i++) text[n++] = '7', text[n++] = i + 1 < columns ? ',' : '\n';
    void *c = NULL;
    od_error err = {0};
    const char *path = scratch_write(s, "t.csv", text, n);
    assert_int_equal(od_csv_stream_open(path, NULL, 0, &c, &err), more ? OD_BAD_INPUT : OD_OK);
    if (more)
      assert_non_null(
          strstr(err.text, "t.csv:1: the line has more than 100000 cells; expected a table with fewer columns"));
    if (!more) assert_int_equal(od_csv_stream_head(c)->columns, 100000);
    od_csv_stream_close(c);
    free(text);
  }
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)
  const struct CMUnitTest tests[] = {TEST(shapes), TEST(surplus), TEST(long_lines), TEST(wide_rows),
                                     TEST(many_columns)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
