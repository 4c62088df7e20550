// CSV files row by row. Oracles: the same file read as a whole (formats/csv_read.c), for every size of the block that is read at once;
// for random rows the values that strtod reads from the texts of which the test composes the rows.
#include <math.h>
#include <string.h>

#include "support/test.h"
#include "formats/csv_stream.h"
#include "support/scratch.h"

static const char *const texts[] = {
    "t,u [V],y [bar]\n0,1,2\n1,3,4\n2,5,6\n",
    "t;u;y\r\ns;V;bar\r\n0;1,5;2\r\n\r\n# a comment, with commas\r\n1;3,25;4\r\n2;5;6",
    "\xef\xbb\xbft\tu\n0\t1\n1\t\n2\tnan\n",
    "0,1,2\n1,3,4\n2,5,6\n",                                     // no header
    "made by a logger\nserial 17\n\nt,u\ns,V\n0,1\n1,2\n2,3\n",  // lines before the header
    "t,\"name, with a comma\",note\n0,1,\"a\nb\"\n1,2,\"say \"\"so\"\"\"\n2,3,c\n",
    "t,u,\n0,1,\n1,2,\n",  // a separator at the end of every line
    "t,u\n0,0.1234567890123456789012345678901234567890123456789012345678901234567890\n1,2\n",
    "t,u,note\n0,1,5\" hose\n1,2,\"a\nb\"\n2,3,x \"y\n3,4,\"c\nd\"\n",  // quotes within texts
    "# bore 2\"\nt;u;note\n0;1,5;a, \"b\n # 3\" pipe\n1;2;\"c;\nd\"\n2;3; \"e\"\"\nf\" \n",
    "\n\n\n\n\n# only\n# comments\n# before\nt,u\n0,1\n",
};

static void same(const double *a, const double *b, int n) {
  for (int i = 0; i < n; i++) assert_true(a[i] == b[i] || (isnan(a[i]) && isnan(b[i])));
}

static void compare(const char *path, size_t block) {
  od_error err = {0};
  od_table *whole = NULL;
  void *s = NULL;
  assert_int_equal(od_table_read_csv(path, &whole, &err), OD_OK);
  if (od_csv_stream_open(path, NULL, block, &s, &err) != OD_OK) fail_msg("%s", err.text);
  const od_table *head = od_csv_stream_head(s);
  assert_int_equal(head->columns, whole->columns);
  for (int i = 0; i < head->columns; i++) {
    assert_string_equal(head->name[i], whole->name[i]);
    assert_string_equal(head->unit[i], whole->unit[i]);
  }
  bool *used = calloc((size_t)head->columns, sizeof *used);  // texts are allowed
  double *row = calloc((size_t)head->columns, sizeof *row);
  od_csv_stream_use(s, used);
  for (int round = 0; round < 3; round++) {
    bool end = false;
    for (long k = 0;; k++) {
      if (od_csv_stream_next(s, row, &end, &err) != OD_OK) fail_msg("block %zu: %s", block, err.text);
      if (end) assert_int_equal(k, whole->rows);
      if (end) break;
      assert_true(k < whole->rows);
      same(row, whole->data + k * whole->columns, whole->columns);
      if (round == 1 && k == 1) break;  // back from the middle, too
    }
    od_csv_stream_rewind(s);
  }
  free(used);
  free(row);
  od_csv_stream_close(s);
  od_table_free(whole);
}

static void as_whole_files(void **state) {
  scratch *s = *state;
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    scratch_write(s, "f.csv", texts[i], strlen(texts[i]));
    compare(scratch_path(s, "f.csv"), 0);
    for (size_t block = 1; block < 100; block++) compare(scratch_path(s, "f.csv"), block);
  }
}

// More rows than the header needs, in blocks that end anywhere within them. Quotes within texts open none.
static void many_rows(void **state) {
  scratch *s = *state;
  char text[20000] = "t,u,note\n";
  size_t n = strlen(text);
  for (int k = 0; k < 900; k++) {
    const char *note = k % 7 == 3 ? "\"two\nlines\"" : k % 60 == 5 ? "5\" hose" : "x";
    n += (size_t)snprintf(text + n, sizeof text - n, "%d,%g,%s\n", k, k / 7.0, note);
  }
  scratch_write(s, "f.csv", text, n);
  for (size_t block = 1000; block < 1100; block++) compare(scratch_path(s, "f.csv"), block);
}

// The same message, with the place, unless the column is not needed.
static void flaws(void **state) {
  scratch *s = *state;
  const char text[] = "t,u\n0,1\n1,much\n2,3\n";
  const bool used[2] = {true, false};
  double row[2];
  scratch_write(s, "f.csv", text, strlen(text));
  od_error err = {0};
  od_table *whole = NULL;
  assert_int_equal(od_table_read_csv(scratch_path(s, "f.csv"), &whole, &err), OD_OK);
  for (int needed = 0; needed < 2; needed++) {
    void *c = NULL;
    bool end = false;
    od_status status = od_csv_stream_open(scratch_path(s, "f.csv"), NULL, 5, &c, &err);
    if (!needed) od_csv_stream_use(c, used);
    for (int k = 0; status == OD_OK && !end; k++) status = od_csv_stream_next(c, row, &end, &err);
    assert_int_equal(status, needed ? OD_BAD_INPUT : OD_OK);
    if (needed) assert_string_equal(err.text, od_table_flaw(whole, 1));
    od_csv_stream_close(c);
  }
  od_table_free(whole);
  void *none = NULL;
  assert_int_equal(od_csv_stream_open(scratch_path(s, "none.csv"), NULL, 0, &none, &err), OD_IO);
  scratch_write(s, "empty.csv", "# no\n", 5);
  assert_int_equal(od_csv_stream_open(scratch_path(s, "empty.csv"), NULL, 2, &none, &err), OD_BAD_INPUT);
  scratch_write(s, "wide.csv", "\xff\xfet\0", 4);
  assert_int_equal(od_csv_stream_open(scratch_path(s, "wide.csv"), NULL, 0, &none, &err), OD_BAD_INPUT);
  assert_null(none);
}

// Another stream over the same open file is independent, also if the file was renamed and has become longer. Unused columns may contain
// anything and are not read.
static void again(void **state) {
  scratch *s = *state;
  const char text[] = "t,u,note\n0,1,x\n1,2,\"a\nb\"\n2,3,y\n";
  const bool wanted[3] = {true, true, false};
  const int line[3] = {2, 3, 5};
  char path[512], other_path[512];
  double row[3], other_row[3];
  bool end = false;
  od_error err = {0};
  void *c = NULL, *other = NULL;
  scratch_write(s, "f.csv", text, strlen(text));
  snprintf(path, sizeof path, "%s", scratch_path(s, "f.csv"));
  snprintf(other_path, sizeof other_path, "%s", scratch_path(s, "g.csv"));
  assert_int_equal(od_csv_stream_open(path, NULL, 7, &c, &err), OD_OK);
  od_csv_stream_want(c, wanted);
  assert_int_equal(od_csv_stream_next(c, row, &end, &err), OD_OK);
  assert_int_equal(rename(path, other_path), 0);
  FILE *more = fopen(other_path, "a");
  fputs("3,4,z\n", more);
  fclose(more);
  assert_int_equal(od_csv_stream_again(c, &other, &err), OD_OK);
  od_csv_stream_want(other, wanted);
  for (int k = 0; k < 3; k++) {
    if (k > 0) assert_int_equal(od_csv_stream_next(c, row, &end, &err), OD_OK);
    assert_int_equal(od_csv_stream_next(other, other_row, &end, &err), OD_OK);
    assert_true(!end && row[0] == k && row[1] == k + 1 && isnan(row[2]));
    assert_true(other_row[0] == k && other_row[1] == k + 1 && isnan(other_row[2]));
    assert_int_equal(od_csv_stream_line(other), line[k]);
  }
  assert_int_equal(od_csv_stream_next(other, other_row, &end, &err), OD_OK);
  assert_true(end && !od_csv_stream_is_cut(c));
  od_csv_stream_close(other);
  od_csv_stream_close(c);
  // For a file without rows both report that its line is complete.
  scratch_write(s, "names.csv", "t,u\n", 4);
  assert_int_equal(od_csv_stream_open(scratch_path(s, "names.csv"), NULL, 0, &c, &err), OD_OK);
  assert_int_equal(od_csv_stream_again(c, &other, &err), OD_OK);
  assert_int_equal(od_csv_stream_next(other, other_row, &end, &err), OD_OK);
  assert_true(end && !od_csv_stream_is_cut(other) && !od_csv_stream_is_cut(c));
  od_csv_stream_close(other);
  od_csv_stream_close(c);
}

static uint64_t random_state = 20;

static uint64_t draw(uint64_t below) {
  random_state ^= random_state << 13, random_state ^= random_state >> 7, random_state ^= random_state << 17;
  return (random_state >> 11) % below;
}

// Writes a random number and returns its value: digits with a sign, a decimal sign and an exponent, each possibly absent.
static double random_number(char *to, char decimal_sign) {
  char point[64];
  size_t n = 0, digits = 1 + draw(21), before = draw(digits + 1);
  if (draw(3) == 0) point[n++] = draw(4) ? '-' : '+';
  for (size_t i = 0; i < digits; i++) {
    if (i == before) point[n++] = '.';
    point[n++] = draw(4) ? (char)('0' + draw(10)) : '0';
  }
  if (draw(4) == 0) n += (size_t)snprintf(point + n, sizeof point - n, "e%d", (int)draw(40) - 20);
  point[n] = '\0';
  strcpy(to, point);
  for (char *c = to; *c; c++)
    if (*c == '.') *c = decimal_sign;
  return strtod(point, NULL);
}

// Random files with each separator, line end and selection of columns; some cells are empty, some rows are short, some cells have quotes
// or blanks, and unused cells contain text.
static void random_rows(void **state) {
  enum { COLUMNS = 12, ROWS = 40 };
  static const char separators[] = ",;\t";
  scratch *s = *state;
  for (int round = 0; round < 300; round++) {
    const char separator = separators[round % 3];
    const bool spare = draw(3) == 0;
    const int columns = 2 + (int)draw(COLUMNS - 1);
    const char *ending = draw(2) ? "\n" : "\r\n";
    static char text[ROWS * COLUMNS * 80];
    bool wanted[COLUMNS];
    double expected[ROWS][COLUMNS], row[COLUMNS];
    size_t n = 0;
    for (int i = 0; i < columns; i++) {
      wanted[i] = draw(3) > 0;
      n += (size_t)sprintf(text + n, "name%d [V]%c", i, separator);
    }
    if (!spare) n--;
    n += (size_t)sprintf(text + n, "%s", ending);
    for (int k = 0; k < ROWS; k++) {
      const int cells = k > 4 && draw(8) == 0 ? 1 + (int)draw((uint64_t)columns) : columns;
      for (int i = 0; i < columns; i++) {
        char number[80];
        expected[k][i] = random_number(number, separator != ',' && draw(2) ? ',' : '.');
        const bool empty = k > 4 && draw(9) == 0, quoted = k > 4 && draw(30) == 0;
        if (empty || i >= cells || !wanted[i]) expected[k][i] = NAN;
        if (i >= cells) continue;
        const char *left = draw(5) ? "" : " ", *right = draw(5) ? "" : " ", *quote = quoted ? "\"" : "";
        const char *cell = k > 4 && !wanted[i] && i < columns - 1 && draw(2) ? "text" : empty ? "" : number;
        if (i == 0 && cells == 1 && empty) expected[k][0] = wanted[0] ? 7 : NAN, cell = "7";  // the line is not empty
        n += (size_t)sprintf(text + n, "%s%s%s%s%s%c", left, quote, cell, quote, right, separator);
      }
      if (!spare || draw(2)) n--;
      n += (size_t)sprintf(text + n, "%s", ending);
    }
    scratch_write(s, "f.csv", text, n);
    void *c = NULL;
    od_error err = {0};
    bool end = false;
    assert_int_equal(od_csv_stream_open(scratch_path(s, "f.csv"), NULL, 1 + draw(3000), &c, &err), OD_OK);
    assert_int_equal(od_csv_stream_head(c)->columns, columns);
    od_csv_stream_want(c, wanted);
    for (int k = 0; k < ROWS; k++) {
      assert_int_equal(od_csv_stream_next(c, row, &end, &err), OD_OK);
      assert_false(end);
      for (int i = 0; i < columns; i++)
        if (!(row[i] == expected[k][i] || (isnan(row[i]) && isnan(expected[k][i]))))
          fail_msg("round %d, row %d, column %d: %.17g instead of %.17g in\n%s", round, k + 1, i + 1, row[i],
                   expected[k][i], text);
    }
    assert_int_equal(od_csv_stream_next(c, row, &end, &err), OD_OK);
    assert_true(end);
    od_csv_stream_close(c);
  }
}

static void append(const char *path, const char *text, size_t length) {
  FILE *f = fopen(path, "ab");
  fwrite(text, 1, length, f);
  fclose(f);
}

// A file that grows by pieces of random lengths: rows are complete lines, each exactly once. Quotes may contain line ends.
static void growth(void **state) {
  enum { ROWS = 200 };
  scratch *s = *state;
  static const char *const endings[] = {"\n", "\r\n"};
  for (int round = 0; round < 40; round++) {
    char text[ROWS * 60], path[600];
    size_t n = 0, ends[ROWS], at;  // ends: number of bytes up to the end of each row
    n += (size_t)sprintf(text, "t,u [V],note%s", endings[round % 2]);
    for (int k = 0; k < ROWS; k++) {
      const char *note = draw(10) == 0 ? "\"two\nlines, and \"\"quotes\"\"\"" : draw(10) == 0 ? "5\" hose" : "";
      n += (size_t)sprintf(text + n, "%d,%d.5,%s%s", k, 3 * k, note, endings[round % 2]);
      ends[k] = n;
    }
    void *c = NULL;
    od_error err = {0};
    od_log_growth grown;
    const od_table_wish wish = {.follow = true};
    const size_t block = 1 + draw(300);
    snprintf(path, sizeof path, "%s", scratch_path(s, "grow.csv"));
    remove(path);
    for (at = 0; !c;) {
      const size_t piece = 1 + draw(30), length = piece < n - at ? piece : n - at;
      append(path, text + at, length);
      at += length;
      assert_int_equal(od_csv_stream_open(path, &wish, block, &c, &err), OD_OK);
      assert_int_equal(c != NULL, at >= ends[0]);
    }
    od_csv_stream_want(c, (bool[]){true, true, false});
    int rows = 0;
    for (bool end = false;;) {
      double row[3];
      if (od_csv_stream_next(c, row, &end, &err) != OD_OK) fail_msg("%s", err.text);
      if (!end) {
        assert_true(row[0] == rows && row[1] == 3 * rows + 0.5);
        rows++;
        continue;
      }
      int complete = 0;
      while (complete < ROWS && ends[complete] <= at) complete++;
      assert_int_equal(rows, complete);
      assert_int_equal(od_csv_stream_grow(c, &grown, &err), OD_OK);
      assert_int_equal(grown, OD_LOG_SAME);
      if (at == n) break;
      const size_t piece = 1 + draw(draw(4) ? 30 : 2000), length = piece < n - at ? piece : n - at;
      append(path, text + at, length);
      at += length;
      assert_int_equal(od_csv_stream_grow(c, &grown, &err), OD_OK);
      assert_int_equal(grown, OD_LOG_LONGER);
    }
    assert_int_equal(rows, ROWS);
    assert_false(od_csv_stream_has_changed(c));
    if (round % 2) {
      assert_int_equal(truncate(path, 20), 0);
      assert_int_equal(od_csv_stream_grow(c, &grown, &err), OD_IO);
      assert_non_null(strstr(err.text, "grow.csv has become shorter"));
    } else {
      char old[700];
      snprintf(old, sizeof old, "%s.1", path);
      assert_int_equal(rename(path, old), 0);
      assert_int_equal(od_csv_stream_grow(c, &grown, &err), OD_OK);
      assert_int_equal(grown, OD_LOG_SAME);  // the new file does not exist yet
      append(path, text, 10);
      assert_int_equal(od_csv_stream_grow(c, &grown, &err), OD_OK);
      assert_int_equal(grown, OD_LOG_REPLACED);
      remove(old);
    }
    od_csv_stream_close(c);
  }
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)
  const struct CMUnitTest tests[] = {TEST(as_whole_files), TEST(many_rows),   TEST(flaws),
                                     TEST(again),          TEST(random_rows), TEST(growth)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
