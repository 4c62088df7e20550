// Properties of the reader of MDF 4 files: unique names of columns, rows of groups with the same times, groups with few records in mixed
// data, formulas. Files are written by mdf_writer.c. Oracle: the values that were written, and C expressions for formulas.
#include "support/test.h"

#include "base/arena.h"
#include "formats/mdf_formula.h"
#include "formats/row_reader.h"
#include "memory/scoped.h"
#include "support/mdf_reading.h"

// A group with a time and one channel, and its data block.
static uint64_t simple_group(mdf_file *f, const char *name, const char *channel, const double *times, int rows,
                             double value) {
  mdf_bytes data = {0};
  for (int k = 0; k < rows; k++) {
    unsigned char *at = mdf_more(&data, 16);
    mdf_put_double(at, times[k]);
    mdf_put_double(at + 8, value + k);
  }
  const uint64_t channels[] = {
      mdf_time_channel(f), mdf_channel(f, &(mdf_cn){.name = channel, .data_type = MDF_FLOAT_LE, .byte = 8, .bits = 64}),
      0};
  uint64_t group =
      mdf_group(f, &(mdf_cg){.name = name, .channels = channels, .records = (uint64_t)rows, .data_bytes = 16});
  uint64_t dg = mdf_data_group(f, (uint64_t[]){group, 0}, mdf_data(f, "DT", data.at, data.size, NULL), 0);
  mdf_bytes_free(&data);
  return dg;
}

// A name that occurs once is unchanged; others get the group, its number if it has no name, and a number. Rows with equal times of
// several groups are one row.
static void names_and_rows(void **state) {
  const double times[] = {0, 1, 2}, late[] = {1, 2.5};
  mdf_file *f = mdf_begin(NULL);
  const uint64_t groups[] = {simple_group(f, "a", "p", times, 3, 10),
                             simple_group(f, "b", "p", late, 2, 20),
                             simple_group(f, NULL, "p", times, 3, 30),
                             simple_group(f, "b", "p", late, 2, 40),
                             simple_group(f, "c", "q", late, 2, 50),
                             simple_group(f, "d", "time", times, 3, 60),
                             0};
  od_table *t = mdf_read(mdf_finish(*state, f, groups));
  assert_int_equal(t->columns, 7);
  mdf_expect(t, "time", (double[]){0, 1, 2, 2.5}, 4);
  mdf_expect(t, "a.p", (double[]){10, 11, 12, NAN}, 4);
  mdf_expect(t, "b.p#1", (double[]){NAN, 20, NAN, 21}, 4);
  mdf_expect(t, "group3.p", (double[]){30, 31, 32, NAN}, 4);
  mdf_expect(t, "b.p#2", (double[]){NAN, 40, NAN, 41}, 4);
  mdf_expect(t, "q", (double[]){NAN, 50, NAN, 51}, 4);
  mdf_expect(t, "d.time", (double[]){60, 61, 62, NAN}, 4);
  od_table_free(t);
}

// Mixed records of three groups, stored one group after the other: all times of the last group are before the end of the first one. The
// queues of the reader would need 60 MB, so groups get their own scans.
static void groups_after_each_other(void **state) {
  enum { LONG = 1500000, SHORT = 700, WIDTH = 16 };
  static const long records[] = {LONG, SHORT, LONG};
  static const double steps[] = {0.01, 20, 0.01}, starts[] = {0.001, 0.002, 0.003};
  static const char *const name[] = {"first", "second", "third"};
  mdf_bytes data = {0};
  mdf_file *f = mdf_begin(NULL);
  uint64_t groups[4] = {0};
  for (int g = 0; g < 3; g++) {
    const uint64_t channels[] = {
        mdf_time_channel(f),
        mdf_channel(f, &(mdf_cn){.name = name[g], .data_type = MDF_FLOAT_LE, .byte = 8, .bits = 64}), 0};
    groups[g] = mdf_group(
        f,
        &(mdf_cg){
            .channels = channels, .record_id = (uint64_t)g + 1, .records = (uint64_t)records[g], .data_bytes = WIDTH});
    for (long k = 0; k < records[g]; k++) {
      unsigned char *at = mdf_more(&data, 1 + WIDTH);
      at[0] = (unsigned char)(g + 1);
      mdf_put_double(at + 1, starts[g] + steps[g] * (double)k);
      mdf_put_double(at + 9, (double)k);
    }
  }
  uint64_t dg = mdf_data_group(f, groups, mdf_data(f, "DT", data.at, data.size, NULL), 1);
  const char *path = mdf_finish(*state, f, (uint64_t[]){dg, 0});
  mdf_bytes_free(&data);
  od_row_reader *r = NULL;
  od_error err = {0};
  assert_int_equal(od_row_reader_open(path, NULL, &r, &err), OD_OK);
  long next[3] = {0};
  double row[4], last = -1;
  for (bool end = false;;) {
    assert_int_equal(od_row_reader_next(r, row, &end, &err), OD_OK);
    if (end) break;
    if (!(row[0] > last)) fail_msg("time %g after %g", row[0], last);
    last = row[0];
    for (int g = 0; g < 3; g++) {
      if (isnan(row[1 + g])) continue;
      double time = starts[g] + steps[g] * (double)next[g];
      if (row[1 + g] != (double)next[g]++ || row[0] != time) fail_msg("'%s': %g at %g s", name[g], row[1 + g], row[0]);
    }
  }
  for (int g = 0; g < 3; g++) assert_int_equal(next[g], records[g]);
  assert_false(od_row_reader_is_cut(r));
  od_row_reader_close(r);
}

static void formulas(void **state) {
  (void)state;
  const double x = 6;
  const struct {
    const char *text;
    double want;
  } good[] = {
      {"X", x},
      {" 2*X + 3 ", 2 * x + 3},
      {"2+3*X^2", 2 + 3 * x * x},
      {"-X^2", -(x * x)},
      {"2^3^2", 512},
      {"2^-1", 0.5},
      {"X**2/4%5", fmod(x * x / 4, 5)},
      {"(X-1)*-2", (x - 1) * -2},
      {"1 - 2 - 3", -4},
      {"100/X/2", 100 / x / 2},
      {"X1*1.5e-1", x * 0.15},
      {"0x1F & 6", 0x1f & 6},
      {"9 | 6 & 3", 9 | (6 & 3)},
      {"5 XOR 3", 5 ^ 3},
      {"1 << 4 >> 2", 4},
      {"~X", ~6},
      {"!(X > 5)", 0},
      {"(X > 5) * 3 + (X <= 5) * 7", 3},
      {"X >= 6 && X != 7 || 0", 1},
      {"pow(X, 2) + min(X, 2) - max(X, 9)", x * x + 2 - 9},
      {"ln(exp(X)) + log10(1000)", 9},
      {"sqrt(abs(-X*X))", x},
      {"atan2(X, -X)", atan2(x, -x)},
      {"sin(pi/2)", 1},
      {"floor(X/4) + ceil(X/4)", 3},
  };
  static const char *const bad[] = {"",    "X +",   "(X",   "X)",       "foo(X)", "sin X", "pow(X)", "pow(X,1,2)",
                                    "1 2", "X = 3", "2..3", "min(X, )", "Y",      "?",     "X * * 2"};
  for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
    OD_SCRATCH(memory);
    od_mdf_formula *f = NULL;
    const char *why = NULL;
    if (od_mdf_formula_parse(good[i].text, &memory, &f, &why) != OD_OK) fail_msg("'%s' %s", good[i].text, why);
    near_scaled(od_mdf_formula_value(f, x), good[i].want, 1e-14, 1);
  }
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    OD_SCRATCH(memory);
    od_mdf_formula *f = NULL;
    const char *why = NULL;
    if (od_mdf_formula_parse(bad[i], &memory, &f, &why) != OD_BAD_INPUT || !why) fail_msg("'%s' is accepted", bad[i]);
  }
  // Deep nesting ends with an error, not with the end of the stack.
  char deep[5000];
  memset(deep, '(', sizeof deep - 1);
  deep[sizeof deep - 1] = 0;
  OD_SCRATCH(memory);
  od_mdf_formula *f = NULL;
  const char *why = NULL;
  assert_int_equal(od_mdf_formula_parse(deep, &memory, &f, &why), OD_BAD_INPUT);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(names_and_rows, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(groups_after_each_other, scratch_setup, scratch_teardown),
      cmocka_unit_test(formulas),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
