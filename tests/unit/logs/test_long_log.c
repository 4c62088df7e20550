// Long logs: rows that are not requested are not kept in memory. Oracles: straight lines between the values around a gap; the same log in
// memory; runs that keep every row; the peak memory of the program (wait4).
#define _DEFAULT_SOURCE  // wait4
#include "support/test.h"

#include <fcntl.h>
#include <math.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "experiment/observe.h"
#include "io/thin_table.h"
#include "random/random.h"
#include "support/experiments.h"
#include "support/scratch.h"

static const char machine[] =
    "machine: Lag\ninputs: {u: {unit: V, sine: {amplitude: 1 V, frequency: 0.2 Hz}}}\n"
    "blocks: {lag: {type: first-order, input: u, gain: 2, time_constant: 0.5 s}}\nrun: {time: 20 s, step: 10 ms}\n";
static const char experiment[] =
    "machine: lag.yaml\nstep: 10 ms\nsensors: {lag: {sigma: 50 mV}}\ninitial: {lag: 1 V}\ndata: {file: log.csv%s}\n"
    "parameters: {lag.gain: {start: 1, sigma: 1}}\n";

static double noise(long k) {
  return 0.05 * od_random_gaussian(1, 2, (uint64_t)k, OD_USE_NOISE);
}

// `rows` of a lag's response to two sines with noise, with unused columns; `end`: further lines.
static void write_log(scratch *s, long rows, const char *end) {
  FILE *to = fopen(scratch_path(s, "log.csv"), "w");
  double y = 0, a = exp(-0.01 / 0.5);
  fputs("time [s],note,u,lag,extra\n", to);
  for (long k = 0; k < rows; k++) {
    double u = sin(0.007 * (double)k) + sin(0.03 * (double)k);
    fprintf(to, "%ld.%02ld,text,%.6g,%.6g,%ld\n", k / 100, k % 100, u, y + noise(k), k);
    y = a * y + 2 * (1 - a) * u;
  }
  fputs(end, to);
  fclose(to);
}

static const char *write_experiment(scratch *s, const char *more) {
  char text[600];
  snprintf(text, sizeof text, experiment, more);
  scratch_write(s, "lag.yaml", machine, strlen(machine));
  scratch_write(s, "x.yaml", text, strlen(text));
  return scratch_path(s, "x.yaml");
}

static od_experiment *load(scratch *s, const char *more) {
  return load_experiment(write_experiment(s, more), &(od_experiment_options){0});
}

// The same log, not kept in memory.
static od_log *stream(const od_experiment *e, od_log_plan *plan) {
  od_messages *messages = od_messages_new();
  od_error err = {0};
  od_units *units = od_units_new(&err);
  od_log *log = NULL;
  *plan = e->data;
  plan->most_held = 0;
  assert_int_equal(od_log_read(plan, units, &log, messages), OD_OK);
  od_units_free(units);
  od_messages_free(messages);
  assert_true(e->log->value && !log->value);
  return log;
}

static bool same(double a, double b) {
  return a == b || (isnan(a) && isnan(b));
}

static bool next(od_log_cursor *c, double *time, const double **value) {
  od_error err = {0};
  bool more = false;
  if (od_log_cursor_next(c, time, value, &more, &err) != OD_OK) fail_msg("%s", err.text);
  return more;
}

// Two cursors over the file, one after the other, give the same values as the log in memory.
static void compare_rows(const od_log *held, const od_log *log) {
  od_log_cursor *ahead = NULL, *behind = NULL;
  od_error err = {0};
  const double *value = NULL;
  double time;
  assert_int_equal(od_log_cursor_new(log, &ahead, &err), OD_OK);
  assert_int_equal(od_log_cursor_new(log, &behind, &err), OD_OK);
  int channels = log->plan->channels;
  for (long k = 0, at = 0; k <= held->rows || at <= held->rows;) {
    bool first = k <= held->rows && k < at + 7;
    long row = first ? k++ : at++;
    bool more = next(first ? ahead : behind, &time, &value);
    assert_int_equal(more, row < held->rows);
    if (!more) continue;
    assert_true(time == held->time[row]);
    for (int c = 0; c < channels; c++) assert_true(same(value[c], held->value[row * channels + c]));
  }
  od_log_cursor_free(ahead);
  od_log_cursor_free(behind);
}

// Gaps in all channels, at the ends, too; repeated times that fill each other's gaps; a part of the file.
static const char gappy[] =
    "time [s],note,u,lag,extra\n0,a,9,9,9\n1,,,1,\n2,,,,\n3,\"two\nlines\",4,3,\n4,,,4,\n4,,5,,\n5,,,5,\n6.5,,,,\n8,,-1,8,\n9,,,9,\n"
    "10,,,10,\n11,,7,7,\n";

static void bridged_gaps(void **state) {
  scratch *s = *state;
  // From 1 s to 10 s; u is 4 at 3 s, 5 at 4 s, -1 at 8 s.
  static const double t[] = {1, 2, 3, 4, 5, 6.5, 8, 9, 10};
  static const double u[] = {4, 4, 4, 5, 5 - 1.5, 5 - 1.5 * 2.5, -1, -1, -1}, held[] = {4, 4, 4, 5, 5, 5, -1, -1, -1};
  static const double lag[] = {1, NAN, 3, 4, 5, NAN, 8, 9, 10};
  for (int hold = 0; hold < 2; hold++) {
    scratch_write(s, "log.csv", gappy, strlen(gappy));
    od_experiment *e = load(s, hold ? ", start: 1, end: 10, hold: previous" : ", start: 1, end: 10");
    od_log_plan plan;
    od_log *log = stream(e, &plan);
    assert_int_equal(log->rows, 9);
    assert_int_equal(log->repeated, 1);
    assert_int_equal(log->missing[e->channel[1]], 6);
    assert_true(log->begin == 1 && log->end == 10 && log->longest == 1.5 && log->at == 5);
    compare_rows(e->log, log);
    for (int k = 0; k < 9; k++) {
      const double *row = e->log->value + k * e->log->plan->channels;
      assert_true(e->log->time[k] == t[k] && same(row[e->channel[0]], lag[k]));
      assert_true(fabs(row[e->channel[1]] - (hold ? held : u)[k]) < 1e-12);
    }
    od_log_free(log);
    od_experiment_free(e);
  }
}

static void streamed_as_held(void **state) {
  scratch *s = *state;
  write_log(s, 5000, "");
  od_experiment *e = load(s, "");
  od_log_plan plan;
  od_log *log = stream(e, &plan), *short_log = e->log;
  compare_rows(e->log, log);
  for (int c = 0; c < log->plan->channels; c++) {
    assert_true(log->facts[c].least == e->log->facts[c].least && log->facts[c].jumps == e->log->facts[c].jumps);
    assert_int_equal(log->constant[c], e->log->constant[c]);
  }
  od_observed *a = observe(e), *b;
  e->log = log;
  b = observe(e);
  assert_true(a->estimate[0] == b->estimate[0] && a->sigma[0] == b->sigma[0] && a->nis == b->nis);
  assert_int_equal(a->table->rows, b->table->rows);
  for (long i = 0; i < a->table->rows * a->table->columns; i++) assert_true(same(a->table->data[i], b->table->data[i]));
  // Truncating a file during reading is detected.
  od_observed *none = NULL;
  od_error err = {0};
  assert_int_equal(truncate(scratch_path(s, "log.csv"), 60000), 0);
  assert_int_equal(od_observe(e, NULL, &none, &err), OD_IO);
  assert_non_null(strstr(err.text, "log.csv changed while it was being read"));
  od_observed_free(none);
  od_observed_free(a);
  od_observed_free(b);
  e->log = short_log;
  od_log_free(log);
  od_experiment_free(e);
}

// --- What is kept of a run ----------------------------------------------------------------------------------------

typedef struct tally {
  long rows;
  double last[32];
} tally;

static bool count(void *user, const od_observed *o, const double *row, od_sample_fate fate, const char *why) {
  (void)fate;
  (void)why;
  tally *t = user;
  t->rows++;
  memcpy(t->last, row, (size_t)o->table->columns * sizeof *row);
  return true;
}

static void expect_same_findings(const od_observed *a, const od_observed *b) {
  assert_true(a->estimate[0] == b->estimate[0] && a->sigma[0] == b->sigma[0] && a->nis == b->nis);
  assert_true(a->rows == b->rows && a->steps == b->steps && a->clipped[0] == b->clipped[0]);
  assert_int_equal(a->verdict.count, b->verdict.count);
  for (int i = 0; i < a->verdict.count; i++) assert_string_equal(a->verdict.remark[i].text, b->verdict.remark[i].text);
  for (int c = a->columns.watched; c < a->columns.parameter; c++) {
    od_summary x = od_observed_summary(a, c), y = od_observed_summary(b, c);
    assert_true(same(x.final, y.final));
  }
  const double *last = a->table->data + (a->table->rows - 1) * a->table->columns;
  for (int c = 0; b->table->rows == 1 && c < a->table->columns; c++) assert_true(same(last[c], b->table->data[c]));
}

static od_observed *run(const od_experiment *e, const od_observe_options *options, od_status expected) {
  od_observed *o = NULL;
  od_error err = {0};
  assert_int_equal(od_observe(e, options, &o, &err), expected);
  return o;
}

// The results do not depend on the number of kept rows.
static void same_findings(void **state) {
  scratch *s = *state;
  enum { ROWS = OD_THIN_ROWS + 5001 };
  tally seen = {0};
  write_log(s, ROWS, "");
  od_experiment *e = load(s, "");
  od_observed *all = run(e, NULL, OD_OK);
  od_observed *picture = run(e, &(od_observe_options){.keep = OD_ROWS_PICTURE}, OD_OK);
  od_observed *few = run(e, &(od_observe_options){.keep = OD_ROWS_LAST, .answer = count, .user = &seen}, OD_OK);
  assert_true(all->table->rows == ROWS && all->rows == ROWS && seen.rows == ROWS);
  assert_true(picture->table->rows <= OD_THIN_ROWS && picture->table->rows > 1000 && few->table->rows == 1);
  expect_same_findings(all, picture);
  expect_same_findings(all, few);
  for (int c = 0; c < all->table->columns; c++) {
    od_summary x = od_table_summary(all->table, c), y = od_table_summary(picture->table, c);
    assert_true(same(x.min, y.min) && same(x.max, y.max));
    assert_true(same(seen.last[c], few->table->data[c]));
  }
  od_observed_free(all);
  od_observed_free(few);
  od_observed_free(picture);
  od_experiment_free(e);
}

// Also if no rows are requested, and the last row of a failed run (here a time jumps) must be found again.
static void same_findings_of_failure(void **state) {
  scratch *s = *state;
  enum { ROWS = 5000 };
  write_log(s, ROWS, "1e9,,1,1,\n");
  od_experiment *e = load(s, "");
  od_observed *all = run(e, NULL, OD_BAD_INPUT),
              *last = run(e, &(od_observe_options){.keep = OD_ROWS_LAST}, OD_BAD_INPUT);
  assert_true(all->rows == ROWS && last->table->rows == 1);
  expect_same_findings(all, last);
  od_observed_free(all);
  od_observed_free(last);
  od_experiment_free(e);
}

// --- Logs that change while they are read ----------------------------------------------------------------------------

typedef enum change { OVERWRITTEN, CUT, GROWN, TOUCHED, REPLACED } change;
typedef struct writer {
  const char *path;
  change how;
  double when;  // fraction of the work done
  bool done;
} writer;

static void replace_file(const char *path) {
  char other[600];
  snprintf(other, sizeof other, "%s.new", path);
  FILE *to = fopen(other, "w");
  fputs("nothing of all that\n", to);
  fclose(to);
  assert_int_equal(rename(other, path), 0);
}

static bool write_meanwhile(void *user, double done) {
  writer *w = user;
  if (w->done || done < w->when) return true;
  w->done = true;
  if (w->how == REPLACED) {
    replace_file(w->path);
    return true;
  }
  int file = open(w->path, O_RDWR);
  struct stat about;
  assert_int_equal(fstat(file, &about), 0);
  if (w->how == OVERWRITTEN) assert_int_equal(pwrite(file, "7", 1, 3000), 1);
  if (w->how == CUT) assert_int_equal(ftruncate(file, about.st_size / 2), 0);
  if (w->how == GROWN) assert_int_equal(pwrite(file, "900,text,0,0,0\n", 15, about.st_size), 15);
  if (w->how == TOUCHED) assert_int_equal(futimens(file, NULL), 0);
  close(file);
  return true;
}

static bool has_remark(const od_verdict *v, const char *code) {
  for (int i = 0; i < v->count; i++)
    if (!strcmp(v->remark[i].code, code)) return true;
  return false;
}

// Overwriting a log during the second run is reported, and not treated as a dependence on the start; during the first run it is an
// error. Appending to a log, or replacing the file by another one of its name, has no effect.
static void changed_logs(void **state) {
  scratch *s = *state;
  static const struct {
    change how;
    double when;
    od_status status;
    bool is_reported;
  } cases[] = {{OVERWRITTEN, 0.7, OD_OK, true}, {CUT, 0.7, OD_OK, true},       {GROWN, 0.7, OD_OK, false},
               {TOUCHED, 0.7, OD_OK, false},    {REPLACED, 0.7, OD_OK, false}, {OVERWRITTEN, 0.3, OD_IO, false},
               {CUT, 0.1, OD_IO, false},        {GROWN, 0.3, OD_OK, false}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    write_log(s, 20000, "");
    od_experiment *e = load(s, "");
    od_log_plan plan;
    od_log *log = stream(e, &plan);
    od_log_free(e->log);
    e->log = log;
    char path[600];
    snprintf(path, sizeof path, "%s", scratch_path(s, "log.csv"));
    writer w = {path, cases[i].how, cases[i].when, false};
    od_error err = {0};
    od_observed *o = NULL;
    const od_observe_options options = {.keep = OD_ROWS_LAST, .repeat = true, .progress = write_meanwhile, .user = &w};
    assert_int_equal(od_observe(e, &options, &o, &err), cases[i].status);
    assert_true(w.done);
    if (cases[i].status != OD_OK) assert_non_null(strstr(err.text, "log.csv changed while it was being read"));
    assert_int_equal(has_remark(&o->verdict, "log.changed"), cases[i].is_reported);
    assert_false(has_remark(&o->verdict, "start.matters"));
    assert_int_equal(o->shift != NULL, cases[i].status == OD_OK && !cases[i].is_reported);
    od_observed_free(o);
    od_experiment_free(e);
  }
}

// Times in ms that are read as seconds: with and without "ms" in the name; with a unit; and rows that are actually far
// apart.
static void time_units(void **state) {
  scratch *s = *state;
  static const struct {
    const char *column, *more;
    long apart;
    const char *expected;
    od_trust trust;
  } cases[] = {{"t_ms", "", 10, "The name suggests the unit ms: write 'time: {column: t_ms, unit: ms}'", OD_DOUBTFUL},
               {"Zeit_MSEC", ", time: Zeit_MSEC", 7, "The name suggests the unit ms", OD_DOUBTFUL},
               {"time", "", 10, "rows are 10 s apart, 1000 steps. If the times are in ms, write", OD_SOUND},
               {"time", "", 10000, "If the times are in us", OD_SOUND},
               {"time", "", 7, NULL, OD_SOUND},
               {"time [s]", "", 10, NULL, OD_SOUND},
               {"t_ms", ", time: {column: t_ms, unit: ms}", 10, NULL, OD_SOUND},
               {"items", ", time: items", 7, NULL, OD_SOUND}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    FILE *to = fopen(scratch_path(s, "log.csv"), "w");
    fprintf(to, "%s,u,lag\n", cases[i].column);
    for (long k = 0; k < 20; k++) fprintf(to, "%ld,%ld,%ld\n", k * cases[i].apart, k % 3, k % 2);
    fclose(to);
    od_experiment *e = load(s, cases[i].more);
    od_verdict verdict = {0};
    assert_true(od_log_remark_time_unit(e->log, e->step, &verdict));
    assert_int_equal(verdict.count, cases[i].expected != NULL);
    if (verdict.count > 0 && !strstr(verdict.remark[0].text, cases[i].expected)) fail_msg("%s", verdict.remark[0].text);
    assert_int_equal(verdict.trust, cases[i].trust);
    od_verdict_free(&verdict);
    od_experiment_free(e);
  }
}

// Clipped outputs are counted in every sample, also late ones: a limited signal stays at its limit in some samples of a long
// log without requested rows. Oracle: the observer's state after each sample.
static void count_clipped(void *user, const od_sample *sample, od_observer *observer) {
  double y[8], sigma[8];
  (void)sample;
  assert_int_equal(od_observer_outputs(observer, y, sigma), OD_OK);
  *(long *)user += od_observer_clipped(observer, 0);
}

static void clipped_to_the_end(void **state) {
  scratch *s = *state;
  enum { ROWS = 70000, LATE = 66000 };
  static const char limited[] =
      "machine: Limited\ninputs: {u: {unit: V, constant: 0 V}}\n"
      "blocks:\n  lag: {type: integrator, input: u, gain: 1 1/s}\n"
      "  limited: {type: saturation, input: lag, limits: [-5 V, 5 V]}\n"
      "run: {time: 20 s, step: 10 ms}\n";
  static const char text[] =
      "machine: lag.yaml\nstep: 10 ms\nsensors: {limited: {sigma: 1 kV}}\ninitial: {lag: 1 V}\ndata: {file: log.csv}\n";
  scratch_write(s, "lag.yaml", limited, strlen(limited));
  scratch_write(s, "x.yaml", text, strlen(text));
  FILE *to = fopen(scratch_path(s, "log.csv"), "w");
  fputs("time [s],u,limited\n", to);
  for (long k = 0; k < ROWS; k++)
    fprintf(to, "%ld.%02ld,%.3g,%ld\n", k / 100, k % 100, k > LATE ? 4 * sin(0.005 * (double)(k - LATE)) : 0.0, k % 2);
  fclose(to);
  od_experiment *e = load_experiment(scratch_path(s, "x.yaml"), &(od_experiment_options){0});
  long expected = 0;
  od_observed *o = run(e, &(od_observe_options){.keep = OD_ROWS_LAST, .each = count_clipped, .user = &expected}, OD_OK);
  print_message("%ld samples clipped, %ld expected\n", o->clipped[0], expected);
  assert_true(expected > 100 && o->clipped[0] == expected);
  od_observed_free(o);
  od_experiment_free(e);
}

// --- Memory -------------------------------------------------------------------------------------------------------

// Peak memory of the program, kB.
static long memory_of(const char *path, const char *csv) {
  pid_t child = fork();
  if (child == 0) {
    int nothing = open("/dev/null", O_WRONLY);
    dup2(nothing, STDOUT_FILENO);
    dup2(nothing, STDERR_FILENO);
    execl(OD_BINARY, "oleodyn", "observe", path, "--quiet", "--json", "-", csv ? "--csv" : NULL, csv, (char *)NULL);
    _exit(127);
  }
  struct rusage used;
  int status;
  assert_int_equal(wait4(child, &status, 0, &used), child);
  assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  return used.ru_maxrss;
}

// Bytes per row between two lengths. Rows of results have 96 bytes, those of the log 24 if it is kept in memory, as for short CSV
// files. The search for causes keeps at most 40000 rows, so both logs are longer. The figure of the shorter log includes the memory of
// this process at the fork, so that the difference varies by about 20 bytes per row.
static void bounded_memory(void **state) {
  scratch *s = *state;
  static const struct {
    long shorter, longer;
    double most;
    bool csv;
  } cases[] = {{168000, 228000, 14, false}, {60000, 100000, 72, true}};
  char path[512], csv[512];
  snprintf(csv, sizeof csv, "%s", scratch_path(s, "o.csv"));
  snprintf(path, sizeof path, "%s", write_experiment(s, ""));
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    write_log(s, cases[i].shorter, "");
    long before = memory_of(path, cases[i].csv ? csv : NULL);
    write_log(s, cases[i].longer, "");
    long after = memory_of(path, cases[i].csv ? csv : NULL);
    double bytes = 1024 * (double)(after - before) / (double)(cases[i].longer - cases[i].shorter);
    print_message("%.1f bytes per row\n", bytes);
    if (bytes > cases[i].most) fail_msg("%.0f bytes per row", bytes);
  }
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)
  const struct CMUnitTest tests[] = {
      TEST(bridged_gaps), TEST(streamed_as_held), TEST(same_findings),      TEST(same_findings_of_failure),
      TEST(changed_logs), TEST(time_units),       TEST(clipped_to_the_end), TEST(bounded_memory)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
