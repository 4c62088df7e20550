// oleodyn log: facts, mapping and conversion. Oracles: sequences in closed form; lines and means that resampling must reproduce
// exactly; the columns of a simulated machine, whose names are changed; frames of a CAN trace with known times.
#include "support/test.h"

#include <jansson.h>
#include <math.h>
#include <sys/resource.h>

#include "formats/read_table.h"
#include "io/table.h"
#include "support/mdf_reading.h"
#include "support/program.h"

// Writes a CSV file row by row.
static FILE *begin(scratch *s, const char *name, const char *header) {
  FILE *f = fopen(scratch_path(s, name), "w");
  fprintf(f, "%s\n", header);
  return f;
}

static json_t *read_json(scratch *s, const char *name) {
  json_error_t error;
  json_t *all = json_load_file(scratch_path(s, name), 0, &error);
  assert_non_null(all);
  return all;
}

// Returns the object of a list whose "name" (or another key) has this text.
static json_t *entry(const json_t *list, const char *key, const char *text) {
  size_t i;
  json_t *item;
  json_array_foreach(list, i, item) {
    const char *found = json_string_value(json_object_get(item, key));
    if (found && !strcmp(found, text)) return item;
  }
  return NULL;
}

static double number(const json_t *object, const char *key) {
  return json_number_value(json_object_get(object, key));
}

// A log that is much longer than the memory of the command. The first test, because the largest memory of all child processes counts.
static void test_memory(void **state) {
  enum { ROWS = 300000, LIMIT_KB = 40000 };
  scratch *s = *state;
  FILE *f = begin(s, "long.csv", "time [s],a,b [bar],c,d,e,f,g");
  for (long i = 0; i < ROWS; i++)
    fprintf(f, "%ld.%03ld,%ld,%ld.25,0.123456789012,17.123456789012,-5.123456789012,1e-5,%ld\n", i / 1000, i % 1000,
            i % 97, i % 131, (i * i) % 1009);
  long bytes = ftell(f);
  fclose(f);
  assert_true(bytes > 2 * 1000 * (long)LIMIT_KB / 5);
  outcome o = run(s, "log long.csv --json o.json --plot o.svg --report o.html --csv o.csv --resample 0.01 --quiet");
  ends_with(o, 0);
  forget(o);
  struct rusage usage;
  getrusage(RUSAGE_CHILDREN, &usage);
  printf("log of %ld MB: largest memory %ld MB\n", bytes / 1000000, usage.ru_maxrss / 1000);
#if !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__  // sanitizers need more memory
  assert_true(usage.ru_maxrss < LIMIT_KB);
#endif
  json_t *all = read_json(s, "o.json");
  near(number(all, "rows"), ROWS, 0);
  near(number(entry(json_object_get(all, "channels"), "name", "b"), "max"), 130.25e5, 1e-6);
  json_decref(all);
}

static void test_facts(void **state) {
  scratch *s = *state;
  // A sine around 100 bar with noise of a fixed pattern, a dead channel, a text, missing values, repeated and decreasing times.
  FILE *f = begin(s, "log.csv", "t_ms,p [bar],dead,note,x [mm],oil [K]");
  for (int i = 0; i < 2000; i++) {
    int t = i == 700 ? 699 : i == 900 ? 890 : i;
    fprintf(f, "%d,%.3f,7,%s,", t, 100 + 20 * sin(i / 200.) + 0.05 * ((i * 7919) % 13 - 6), i == 55 ? "ok" : "1");
    if (i % 100 != 50) fprintf(f, "%.2f", i * 0.1);
    fprintf(f, ",%d\n", 20 + i % 7);
  }
  fclose(f);
  outcome o = run(s, "log log.csv --map time=t_ms:ms --json o.json");
  ends_with(o, 0);
  says(o.out, "Missing values: x lacks 20 values (1 %).");
  says(o.out, "Constant: all values of dead are 7.");
  says(o.out, "1 row has the time of the previous row; the first of these rows has the time 0.699 s");
  says(o.out, "Decreasing times: 1 row is earlier than the previous row; the first of these rows has the time 0.89 s");
  says(o.out, "log.csv:57");
  says(o.out, "Is the unit degC?");
  forget(o);
  json_t *all = read_json(s, "o.json"), *x = entry(json_object_get(all, "channels"), "name", "x");
  near(number(all, "end"), 1.999, 1e-12);
  assert_string_equal(json_string_value(json_object_get(all, "format")), "CSV");
  assert_string_equal(json_string_value(json_object_get(x, "unit")), "m");
  assert_string_equal(json_string_value(json_object_get(x, "file_unit")), "mm");
  near(number(x, "missing"), 20, 0);
  near(number(x, "max"), 0.1999, 1e-12);
  near(number(x, "resolution"), 1e-4, 1e-9);
  near(number(x, "interval"), 0.001, 1e-12);
  assert_non_null(entry(json_object_get(all, "findings"), "code", "log.repeated_times"));
  assert_non_null(entry(json_object_get(all, "findings"), "code", "log.text"));
  json_decref(all);
  // Without the unit of the times there is a warning.
  o = run(s, "log log.csv --quiet");
  ends_and_says(o, 0, "The name suggests the unit ms");
  scratch_put(s, "lag.yaml",
              "machine: Lag\nbodies: {bob: {point: {mass: 1 kg, at: [0, -1 m]}}}\n"
              "joints: {A: {type: revolute, between: [ground, bob]}}\ninitial: {A.angle: 0}\n");
  o = run(s, "log log.csv lag.yaml");
  ends_with(o, 0);
  says(o.out, "  time: {column: t_ms, unit: ms}  # unit in the name\n");
  forget(o);
  // Parts of the log, and channels by pattern.
  o = run(s, "log log.csv --map time=t_ms:ms --start 0.1 --end '199 ms' --channels 'p*' --json o.json --quiet");
  ends_with(o, 0);
  forget(o);
  all = read_json(s, "o.json");
  assert_int_equal(json_array_size(json_object_get(all, "channels")), 1);
  near(number(json_array_get(json_object_get(all, "channels"), 0), "values"), 100, 0);
  json_decref(all);
}

// Groups of a CAN trace: the rows of other messages are no missing values and no gaps.
static void test_groups(void **state) {
  scratch *s = *state;
  scratch_put(
      s, "m.dbc",
      "BU_: A\nBO_ 256 Fast: 2 A\n SG_ speed : 0|16@1+ (0.1,0) [0|0] \"rpm\" A\nBO_ 512 Slow: 1 A\n SG_ temp : 0|8@1+ (1,-40) [0|0] \"degC\" A\n");
  FILE *f = fopen(scratch_path(s, "t.log"), "w");
  for (int i = 0; i < 1000; i++) {
    if (i < 500 || i >= 600) fprintf(f, "(%d.%06d) can0 100#%02X%02X\n", i / 100, i % 100 * 10000, i % 250, 3);
    if (i % 10 == 3) fprintf(f, "(%d.%06d) can0 200#%02X\n", i / 100, i % 100 * 10000 + 500, 90 + i % 3);
  }
  fclose(f);
  outcome o = run(s, "log t.log --dbc m.dbc --json o.json");
  ends_with(o, 0);
  forget(o);
  json_t *all = read_json(s, "o.json"), *channels = json_object_get(all, "channels"),
         *groups = json_object_get(all, "groups");
  json_t *speed = entry(channels, "name", "Fast.speed"), *temp = entry(channels, "name", "Slow.temp");
  near(number(speed, "values"), 900, 0);
  near(number(temp, "values"), 100, 0);
  near(number(speed, "missing") + number(temp, "missing"), 0, 0);
  near(number(speed, "gaps"), 1, 0);
  near(number(speed, "longest"), 1.01, 1e-9);
  near(number(temp, "gaps"), 0, 0);
  near(number(temp, "interval"), 0.1, 1e-9);
  assert_int_equal(json_array_size(groups), 2);
  near(number(json_array_get(groups, 1), "rows"), 100, 0);
  json_decref(all);
  // A channel of one group alone has only its rows.
  expect_code(run(s, "log t.log --dbc m.dbc --channels temp --csv o.csv --quiet"), 0);
  od_table *t = NULL;
  od_error err = {0};
  assert_int_equal(od_table_read_csv(scratch_path(s, "o.csv"), &t, &err), OD_OK);
  assert_int_equal(t->rows, 100);
  near(t->data[1], 50, 0);
  od_table_free(t);
}

// Units of a header: a plain number, and a spelling that is not known.
static void test_header_units(void **state) {
  scratch *s = *state;
  FILE *f = begin(s, "u.csv", "time [s],ratio [-],speed [U/min],odd [blip]");
  for (int i = 0; i < 40; i++) fprintf(f, "%d,%d,%d,%d\n", i, i % 5, i % 7, i % 9);
  fclose(f);
  outcome o = run(s, "log u.csv");
  ends_with(o, 0);
  says(
      o.out,
      "the unit 'U/min' of speed is unknown; did you mean 'rpm'? Give the unit under 'data', or with --map NAME=COLUMN:UNIT.");
  says(o.out, "the unit 'blip' of odd is unknown. Give");
  assert_null(strstr(o.out, "of ratio is unknown"));
  forget(o);
}

// A log without times: its first column is used as the time, and the messages say so. With a column that is named as a time, they do not.
static void test_no_times(void **state) {
  scratch *s = *state;
  static const char *const names[] = {"valve", "t"},
                           *const advice =
                               "the first column, 'valve', is used as the time; if it is no time, give --interval";
  for (int i = 0; i < 2; i++) {
    FILE *f = begin(s, "n.csv", i ? "t,p" : "valve,p");
    for (int k = 0; k < 60; k++) fprintf(f, "%d,%d\n", k * 7 % 13, k * 5 % 17);
    fclose(f);
    outcome o = run(s, "log n.csv");
    ends_with(o, 0);
    says(o.out, "Decreasing times");
    assert_true((strstr(o.out, advice) != NULL) == (i == 0));
    forget(o);
    o = run(s, "frf n.csv --input %s --output p", names[i]);
    ends_with(o, 2);
    says(o.err, "expected increasing times");
    assert_true((strstr(o.err, advice) != NULL) == (i == 0));
    forget(o);
  }
}

// Two groups of an MDF file with the same name and different rates: each channel has all values of its group.
static void test_equal_groups(void **state) {
  enum { GROUPS = 2 };
  static const char *const channel[GROUPS] = {"fast", "slow"};
  static const int step[GROUPS] = {1, 10};
  scratch *s = *state;
  mdf_file *m = mdf_begin(NULL);
  uint64_t group[GROUPS + 1] = {0};
  for (int g = 0; g < GROUPS; g++) {
    mdf_bytes data = {0};
    int rows = 0;
    for (int k = 0; k < 1000; k += step[g], rows++) {
      unsigned char *at = mdf_more(&data, 16);
      mdf_put_double(at, 0.001 * k);
      mdf_put_double(at + 8, sin(0.3 * k));
    }
    uint64_t y = mdf_channel(m, &(mdf_cn){.name = channel[g], .data_type = MDF_FLOAT_LE, .byte = 8, .bits = 64});
    uint64_t cg = mdf_group(m, &(mdf_cg){.name = "rig",
                                         .channels = (uint64_t[]){mdf_time_channel(m), y, 0},
                                         .records = (uint64_t)rows,
                                         .data_bytes = 16});
    group[g] = mdf_data_group(m, (uint64_t[]){cg, 0}, mdf_data(m, "DT", data.at, data.size, NULL), 0);
    mdf_bytes_free(&data);
  }
  mdf_end(m, group);
  mdf_save(m, scratch_path(s, "two.mf4"));
  mdf_free(m);
  expect_code(run(s, "log two.mf4 --json o.json --quiet"), 0);
  json_t *all = read_json(s, "o.json");
  assert_int_equal(json_array_size(json_object_get(all, "groups")), GROUPS);
  for (int g = 0; g < GROUPS; g++) {
    const json_t *c = entry(json_object_get(all, "channels"), "name", channel[g]);
    near(number(c, "values"), 1000 / step[g], 0);
    near(number(c, "missing"), 0, 0);
    near(number(c, "interval"), 0.001 * step[g], 1e-12);
  }
  assert_null(entry(json_object_get(all, "findings"), "code", "log.missing"));
  json_decref(all);
}

// Two pressures with the same signal, one 37.5 ms late, and a third one with another signal. Oracle: the delay.
static void test_lags(void **state) {
  scratch *s = *state;
  FILE *f = begin(s, "log.csv", "time [s],early [bar],late [MPa],other [bar]");
  for (int i = 0; i < 6000; i++) {
    double t = 0.005 * i, noise = 0.2 * ((i * 7919) % 31 / 15. - 1), late = t - 0.0375;
    fprintf(f, "%.3f,%.4f,%.6f,%.4f\n", t, 50 + 9 * sin(2.1 * t) + 5 * sin(7.7 * t) + noise,
            0.1 * (50 + 9 * sin(2.1 * late) + 5 * sin(7.7 * late)) + 0.02 * ((i * 613) % 37 / 18. - 1),
            40 + 9 * sin(1.3 * t * t / 9) - noise);
  }
  fclose(f);
  outcome o = run(s, "log log.csv --json o.json");
  ends_with(o, 0);
  says(o.out, "late follows early by 3");
  says(o.out, "and late is late, write 'delay: 3");
  forget(o);
  json_t *all = read_json(s, "o.json"), *lags = json_object_get(all, "lags"), *lag = json_array_get(lags, 0);
  assert_int_equal(json_array_size(lags), 1);
  near(number(lag, "lag"), 0.0375, 5e-4);
  assert_true(number(lag, "sigma") < 1e-3 && number(lag, "correlation") > 0.99);
  json_decref(all);
}

// ---- Conversion

static od_table *read_table(scratch *s, const char *name) {
  od_table *t = NULL;
  od_error err = {0};
  od_status status = od_table_read(scratch_path(s, name), NULL, &t, &err);
  if (status != OD_OK) fail_msg("%s", err.text);
  return t;
}

// A line stays a line: interpolated at irregular times, and averaged over symmetric intervals. States keep their values, gaps stay gaps.
static void test_resampling(void **state) {
  scratch *s = *state;
  FILE *f = begin(s, "log.csv", "time [s],line [mm],slow,gear");
  for (int i = 0; i <= 2000; i++) {
    if (i > 800 && i < 1200) continue;
    double t = 0.01 * i + (i % 3 == 1 ? 0.002 : 0);
    fprintf(f, "%.6f,%.6f,", t, 2 * t + 1);
    if (i % 50 == 0) fprintf(f, "%.6f", 5 - t);
    fprintf(f, ",%d\n", i / 300);
  }
  fclose(f);
  expect_code(run(s, "log log.csv --csv o.csv --resample '3 ms' --quiet"), 0);
  od_table *t = read_table(s, "o.csv");
  assert_int_equal(t->rows, 6667);
  assert_string_equal(t->unit[1], "mm");
  for (long k = 0; k < t->rows; k++) {
    const double *row = t->data + k * t->columns;
    near(row[0], 0.003 * (double)k, 1e-9);
    bool in_gap = row[0] > 8.0001 && row[0] < 11.9999;
    if (in_gap) {
      assert_true(isnan(row[1]) && isnan(row[3]));
      continue;
    }
    near(row[1], 2 * row[0] + 1, 1e-5);
    assert_true(isnan(row[2]) || fabs(row[2] - (5 - row[0])) < 1e-5);
    int i = (int)(row[0] / 0.01 + 1e-6);
    if (fabs(row[0] - 3.002) > 0.02 && i % 300 > 2) near(row[3], i / 300, 0);
  }
  od_table_free(t);
  // Means of 19 samples of a line, and of a signal whose 19 values have the mean 0.
  f = begin(s, "mean.csv", "time,line,noise");
  for (int i = 0; i <= 1000; i++)
    fprintf(f, "%.3f,%.6f,%g\n", 0.01 * i - 0.095, 3 * (0.01 * i - 0.095), (i * 7) % 19 - 9.);
  fclose(f);
  outcome o = run(s, "log mean.csv --start -0.1 --csv o.csv --mat o.mat --resample 0.19");
  ends_with(o, 0);
  says(o.out, "2 channels averaged");
  forget(o);
  t = read_table(s, "o.csv");
  // The intervals begin half an interval before the first sample, so the first mean has half of the samples.
  for (long k = 1; k + 1 < t->rows; k++) {
    const double *row = t->data + k * t->columns;
    near(row[1], 3 * row[0], 1e-6);
    near(row[2], 0, 1e-9);
  }
  od_table *m = read_table(s, "o.mat");
  assert_int_equal(m->rows, t->rows);
  for (long k = 0; k < t->rows * t->columns; k++) near(m->data[k], t->data[k], 1e-15 * fabs(t->data[k]));
  od_table_free(t);
  od_table_free(m);
}

static void test_rows_of_the_file(void **state) {
  scratch *s = *state;
  FILE *f = begin(s, "log.csv", "t [ms],a [bar],a [mm]");
  for (int i = 0; i < 50; i++) fprintf(f, "%d,%.17g,%s\n", 10 * i, sqrt(i), i % 7 ? "1" : "");
  fclose(f);
  expect_code(run(s, "log log.csv --to csv --quiet"), 0);
  od_table *t = read_table(s, "log.converted.csv");
  assert_int_equal(t->rows, 50);
  assert_string_equal(t->name[1], "log.a");
  assert_string_equal(t->unit[0], "s");
  for (long k = 0; k < t->rows; k++) {
    near(t->data[3 * k], 0.01 * (double)k, 1e-12);
    near(t->data[3 * k + 1], sqrt((double)k), 0);
    assert_true(isnan(t->data[3 * k + 2]) == (k % 7 == 0));
  }
  od_table_free(t);
  expect_code(run(s, "log log.csv --to mat --quiet"), 0);
  t = read_table(s, "log.mat");
  assert_int_equal(t->rows, 50);
  od_table_free(t);
}

// A channel that the reader of MDF files leaves out: a finding of `log`, and a warning of a command that needs the channel.
static void test_left_out(void **state) {
  scratch *s = *state;
  ends_and_says(run(s, "log " OD_SOURCE_DIR "/tests/fuzz/seeds/mdf/columns.mf4 --json o.json --quiet"), 0,
                "is left out");
  json_t *all = read_json(s, "o.json");
  assert_non_null(entry(json_object_get(all, "findings"), "code", "log.left_out"));
  json_decref(all);
  ends_and_says(run(s, "frf " OD_SOURCE_DIR "/tests/fuzz/seeds/mdf/columns.mf4 --input u --output bad"), 2,
                "channel 'bad' of group 'arrays' is left out: it is outside of the records of its group");
}

// The section of a mapping has the part and the hold of the options. Dates have the form of the option: in the other order, the times
// of these rows would not be days, but months.
static void test_settings(void **state) {
  scratch *s = *state;
  FILE *f = begin(s, "log.csv", "time,U_ref");
  for (int i = 0; i < 30; i++) fprintf(f, "%d,%d\n", i, i % 9);
  fclose(f);
  outcome o = run(s, "log log.csv " OD_SOURCE_DIR "/cases/fourbar-valve/machine.yaml --hold next --start 3 --end 12.3");
  ends_with(o, 0);
  says(o.out, "  start: 3 s\n  end: 12.3 s\n  hold: next\n");
  forget(o);
  f = begin(s, "days.csv", "Day,p");
  for (int i = 1; i <= 9; i++) fprintf(f, "%02d/04/2026 12:00:00,%d\n", i, i % 4);
  fclose(f);
  expect_code(run(s, "log days.csv --map 'time=Day:dd/mm/yyyy' --json o.json --quiet"), 0);
  json_t *all = read_json(s, "o.json");
  near(number(all, "end"), 8 * 86400.0, 1e-6);
  json_decref(all);
}

static void test_mistakes(void **state) {
  scratch *s = *state;
  FILE *f = begin(s, "log.csv", "time,pressure_a,b");
  for (int i = 0; i < 30; i++) fprintf(f, "%d,%d,2\n", i, i % 9);
  fclose(f);
  scratch_put(s, "empty.csv", "time,a\n");
  scratch_put(s, "times.csv", "time\n1\n2\n");
  scratch_put(s, "remark.csv", "Plant 1\nHall\n1\n2\n");
  scratch_put(s, "texts.csv", "time,a\nnow,1\nthen,2\n");
  static const struct {
    const char *command;
    int code;
    const char *message;
  } wrong[] = {
      {"log", 2, "no file is given; give a log"},
      {"log none.csv", 2, "none.csv"},
      {"log empty.csv", 2, "empty.csv has no rows"},
      {"log times.csv", 2, "no channel other than the time"},
      {"log log.csv --csv log.csv", 2, "--csv log.csv would replace log.csv, which is an input"},
      {"log remark.csv", 2, "such as s; if line 1 is a remark, skip it with --skip 1"},
      {"log texts.csv", 2, "texts.csv:2:1: 'now' is not a number (column 'time')"},
      {"log log.csv --channels 'q*'", 2, "log.csv has no channel 'q*'"},
      {"log log.csv --start 5 --end 3", 2, "expected an end after the start"},
      {"log log.csv --start 100", 2, "log.csv has no rows between --start and --end"},
      {"log log.csv --to xls", 2, "--to: found 'xls'; expected csv or mat"},
      {"log log.csv --to csv --csv o.csv", 2, "found --to csv and --csv; expected one of these options"},
      {"log log.csv --resample 1", 2, "--resample needs a file for the rows"},
      {"log log.csv --csv o.csv --resample 1e-12", 2, "give a longer --resample"},
      {"log log.csv --csv o.csv --resample -1", 2, "--resample"},
      {"log log.csv --map time=b:kg", 2, "kg"},
      {"log log.csv --map p=b --map q=3", 2, "'p' and 'q' have the same column, 'b'; remove one entry"},
      {"log log.csv --map p=time", 2, "'time' and 'p' have the same column, 'time'; remove one entry"},
      {"log log.csv --map q=9", 2, "log.csv has no column '9'"},
      {"log log.csv none.yaml", 2, "none.yaml"},
      {"log any.yaml", 2, "any.yaml is not a log; expected oleodyn log LOG any.yaml"},
      {"log any.yml log.csv", 2, "any.yml is not a log; expected oleodyn log log.csv any.yml"},
      {"log log.csv --data log.csv log.csv", 2, "give the log once"},
      {"log --data log.csv --data log.csv", 2, "found 2 files with --data, expected 1; survey each file on its own"},
  };
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
    ends_and_says(run(s, "%s", wrong[i].command), wrong[i].code, wrong[i].message);
  // A converted file that failed does not appear.
  assert_true(access(scratch_path(s, "o.csv"), F_OK) != 0);
  expect_code(run(s, "log --data log.csv --quiet"), 0);
}

// ---- Mapping

// Writes an experiment of the case fourbar-valve with a section 'data' instead of a simulated machine.
static void write_experiment(scratch *s, const char *name, const char *section) {
  char *text = scratch_read(OD_SOURCE_DIR "/cases/fourbar-valve/points-3.experiment.yaml");
  char *truth = strstr(text, "truth:"), *rest = strchr(truth, '\n'), *machine = strstr(text, "machine: machine.yaml");
  char *end = strstr(rest, "\nvariants:");
  *truth = *machine = *end = '\0';
  FILE *f = fopen(scratch_path(s, name), "w");
  fprintf(f, "%smachine: " OD_SOURCE_DIR "/cases/fourbar-valve/machine.yaml%s%s\n%s", text,
          machine + strlen("machine: machine.yaml"), rest, section);
  fclose(f);
  free(text);
}

// The proposed section loads without changes and reads the same data as a section that is written by hand.
static void test_section_loads(void **state) {
  scratch *s = *state;
  expect_code(run(s, "simulate " OD_SOURCE_DIR "/cases/fourbar-valve/machine.yaml --variant 3-S1 --time 0.3 --output "
                     "U_ref,cylinder.length,P.pressure,A.pressure,B.pressure --csv sim.csv --quiet"),
              0);
  // Simulated signals have no faults.
  outcome clean = run(s, "log sim.csv --quiet");
  ends_with(clean, 0);
  assert_string_equal(clean.err, "");
  forget(clean);
  od_table *t = read_table(s, "sim.csv");
  FILE *f = begin(s, "log.csv", "t_ms,\"Uref: \"\"cmd\"\"\",cyl_len_mm,p_P [bar],\"A, pressure [kPa]\",pB,gps");
  for (long k = 0; k < t->rows; k++) {
    const double *x = t->data + k * t->columns;
    fprintf(f, "%.10g,%.17g,%.17g,%.17g,%.17g,%.17g,47.11\n", 1e3 * x[0], x[1], 1e3 * x[2], x[3] / 1e5, x[4] / 1e3,
            x[5] / 1e5);
  }
  fclose(f);
  od_table_free(t);
  outcome o = run(
      s, "log log.csv " OD_SOURCE_DIR "/cases/fourbar-valve/points-3.experiment.yaml --map time=t_ms:ms --json o.json");
  ends_with(o, 0);
  says(o.out, "    A.pressure: ");
  forget(o);
  json_t *all = read_json(s, "o.json");
  const char *section = json_string_value(json_object_get(all, "section"));
  assert_non_null(section);
  write_experiment(s, "proposed.yaml", section);
  write_experiment(
      s, "by-hand.yaml",
      "data:\n  file: log.csv\n  time: {column: 1, unit: ms}\n  channels:\n    U_ref: 2\n    cylinder.length: {column: 3, unit: mm}\n"
      "    P.pressure: {column: 4, unit: bar}\n    A.pressure: {column: 5, unit: kPa}\n");
  json_t *mapping = json_object_get(all, "mapping");
  assert_string_equal(json_string_value(json_object_get(entry(mapping, "target", "A.pressure"), "column")),
                      "A, pressure");
  assert_null(entry(mapping, "column", "gps"));
  json_decref(all);
  expect_code(run(s, "check proposed.yaml"), 0);
  expect_code(run(s, "observe proposed.yaml --csv a.csv --quiet"), 0);
  expect_code(run(s, "observe by-hand.yaml --csv b.csv --quiet"), 0);
  char *a = scratch_read(scratch_path(s, "a.csv")), *b = scratch_read(scratch_path(s, "b.csv"));
  assert_true(strlen(a) > 1000);
  assert_string_equal(a, b);
  free(a);
  free(b);
  // The machine file has more targets: B.pressure, too, whose unit follows from its range.
  o = run(s, "log log.csv " OD_SOURCE_DIR "/cases/fourbar-valve/machine.yaml --map time=t_ms:ms");
  ends_with(o, 0);
  says(o.out, "B.pressure: {column: pB, unit: bar}");
  says(o.out, "unit bar by its range");
  says(o.out, "# columns without a proposal: gps");
  forget(o);
}

// Names that YAML must quote, equal names, names with a control character (only the number of the column is possible) and names in
// Windows-1252 (the section is UTF-8).
static void test_difficult_names(void **state) {
  scratch *s = *state;
  static const char *const last[][2] = {{"cylinder\x01.length", "cylinder.length: 5 "},
                                        {"cylinder\xfc.length", "cylinder.length: \"cylinder\xc3\xbc.length\""}};
  for (int i = 0; i < 2; i++) {
    char header[200];
    snprintf(header, sizeof header, "time,'A' #pressure: {x} [bar],P.pressure [bar],P.pressure [bar],%s [m]",
             last[i][0]);
    FILE *f = begin(s, "log.csv", header);
    for (int k = 0; k < 60; k++) fprintf(f, "%d,%d,5%d,6%d,1.6\n", k, 50 + k % 7, k % 9, k % 9);
    fclose(f);
    outcome o =
        run(s, "log log.csv " OD_SOURCE_DIR "/cases/fourbar-valve/points-3.experiment.yaml --json o.json --quiet");
    ends_with(o, 0);
    forget(o);
    json_t *all = read_json(s, "o.json");
    const char *section = json_string_value(json_object_get(all, "section"));
    assert_non_null(section);
    says(section, "A.pressure: \"'A' #pressure: {x}\"");
    says(section, last[i][1]);
    assert_true(strstr(section, "P.pressure: 3 ") || strstr(section, "P.pressure: 4 "));
    json_decref(all);
  }
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)
  const struct CMUnitTest tests[] = {
      TEST(test_memory),           TEST(test_facts),    TEST(test_groups),   TEST(test_equal_groups),
      TEST(test_header_units),     TEST(test_no_times), TEST(test_lags),     TEST(test_resampling),
      TEST(test_rows_of_the_file), TEST(test_mistakes), TEST(test_left_out), TEST(test_section_loads),
      TEST(test_difficult_names),  TEST(test_settings)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
