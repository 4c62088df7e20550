// Observing logs: written logs that are read again; columns, units, gaps and missing values of foreign files. Oracles:
// the estimates of the original run; the exact messages for mistakes.
#include "support/test.h"

#include <math.h>
#include <matio.h>
#include <stdlib.h>

#include "experiment/observe.h"
#include "support/experiments.h"
#include "support/scratch.h"

#define CASE       OD_SOURCE_DIR "/cases/fourbar-valve/"
#define EXPERIMENT CASE "points-3.experiment.yaml"

static od_experiment *load(const char *path, const char *data, const char *set) {
  const od_experiment_options options = {.set = &set, .set_count = set ? 1 : 0, .log.data = {&data, data != NULL}};
  return load_experiment(path, &options);
}

static void done(od_experiment *e, od_observed *o) {
  od_observed_free(o);
  od_experiment_free(e);
}

static int column(const od_table *t, const char *name) {
  for (int i = 0; i < t->columns; i++)
    if (!strcmp(t->name[i], name)) return i;
  return -1;
}

static double cell(const od_table *t, long row, const char *name) {
  return t->data[row * t->columns + column(t, name)];
}

// --- Written logs read again --------------------------------------------------------------------------------------

// Every column that both have must be the same to the last bit; `columns` of them.
static void expect_same(const od_table *a, const od_table *b, int columns) {
  int common = 0;
  assert_int_equal(a->rows, b->rows);
  for (int j = 0; j < b->columns; j++) {
    int i = column(a, b->name[j]);
    if (i < 0) continue;
    common++;
    for (long row = 0; row < a->rows; row++) {
      double x = a->data[row * a->columns + i], y = b->data[row * b->columns + j];
      if (!(x == y || (isnan(x) && isnan(y)))) fail_msg("%s, row %ld: %.17g is not %.17g", b->name[j], row, y, x);
    }
  }
  assert_int_equal(common, columns);
}

static void test_own_files_give_the_same(void **state) {
  scratch *s = *state;
  od_error err = {0};
  od_experiment *simulated = load(EXPERIMENT, NULL, "time=1");
  simulated->sensor[2].every = 3;
  od_observed *a = observe(simulated);
  assert_true(a->has_truth && column(a->table, "true.P.pressure") > 0);
  char csv[600], mat[600];
  strcpy(csv, scratch_path(s, "run.csv"));
  strcpy(mat, scratch_path(s, "run.mat"));
  assert_int_equal(od_table_write_csv(a->table, csv, &err), OD_OK);
  assert_int_equal(od_table_write_mat(a->table, mat, &err), OD_OK);
  const char *files[] = {csv, mat};
  for (int i = 0; i < 2; i++) {
    od_experiment *e = load(EXPERIMENT, files[i], NULL);
    od_observed *b = observe(e);
    assert_true(!b->has_truth && b->curves == 4 && isnan(od_observed_curve_rmse(b)) && b->compared == 0 &&
                isnan(b->nees) && e->truth == NULL);
    assert_true(column(b->table, "true.P.pressure") < 0 && column(b->table, "error.P.pressure") < 0);
    expect_same(a->table, b->table, b->table->columns);
    assert_memory_equal(a->sensor, b->sensor, 3 * sizeof *a->sensor);
    assert_memory_equal(a->covariance, b->covariance, 36 * sizeof(double));
    assert_true(a->nis == b->nis && a->steps == b->steps && fabs(b->step - 1e-3) < 1e-12);
    done(e, b);
  }
  done(simulated, a);
}

// --- Foreign files ------------------------------------------------------------------------------------------------

static const char plan[] =
    "experiment: A log\nmachine: " CASE
    "machine.yaml\nstep: 1 ms\n"
    "model: {variant: wrong}\n"
    "sensors:\n"
    "  cylinder.length: {sigma: 1.12 mm}\n"
    "  P.pressure: {sigma: 0.15 MPa}\n"
    "  A.pressure: {sigma: 0.15 MPa}\n"
    "initial: {cylinder.length: 0.1 m, cylinder.rate: 0.01 m/s, P.pressure: 2 MPa, A.pressure: 1 MPa, B.pressure: 1 MPa}\n"
    "noise: {pressures: 30 Pa, acceleration: 1e-7}\n"
    "parameters: {oil.kp: {start: 1500 MPa, sigma: 100 MPa}}\n";

static const char *write_experiment(scratch *s, const char *name, const char *data) {
  char text[4096];
  snprintf(text, sizeof text, "%s%s", plan, data);
  return scratch_write(s, name, text, strlen(text));
}

// The run of the three-point experiment as another program might have written it: a row of units, decimal commas, another
// start of time, raw numbers instead of pressures, codes for missing values.
static void write_foreign(scratch *s, const od_table *t) {
  FILE *f = fopen(scratch_path(s, "foreign.csv"), "w");
  fprintf(f, "# a logger\nZeit;pos;p_P (raw);p_A [bar];cmd\ns;mm;-;;mV\n");
  for (long i = 0; i < t->rows; i++) {
    char line[300];
    double length = 1e3 * cell(t, i, "measured.cylinder.length"), p = cell(t, i, "measured.P.pressure");
    double a = 1e-5 * cell(t, i, "measured.A.pressure"), u = 1e3 * cell(t, i, "input.U_ref");
    int n = snprintf(line, sizeof line, "%.15g;%.15g;", 100 + 1e-3 * (double)i, length);
    n += snprintf(line + n, sizeof line - (size_t)n, i % 50 ? "%.15g;" : "-9999;", (p / 1e5 + 3) / 25);
    n += snprintf(line + n, sizeof line - (size_t)n, i % 70 ? "%.15g;" : "n/a;", a);
    snprintf(line + n, sizeof line - (size_t)n, "%.15g\n", u);
    for (char *c = line; *c; c++)
      if (*c == '.') *c = ',';
    fputs(line, f);
  }
  fclose(f);
}

static void test_foreign_file(void **state) {
  scratch *s = *state;
  od_experiment *simulated = load(EXPERIMENT, NULL, "time=1");
  od_observed *truth = observe(simulated);
  write_foreign(s, truth->table);
  char path[600];
  strcpy(path, write_experiment(s, "x.yaml",
                                "data:\n"
                                "  file: foreign.csv\n"
                                "  time: Zeit [s]\n"
                                "  channels:\n"
                                "    cylinder.length: pos\n"
                                "    P.pressure: {column: 3, unit: bar, scale: 25, offset: -3}\n"
                                "    A.pressure: {column: p_A (bar)}\n"  // any brackets
                                "    U_ref: {column: cmd}\n"
                                "  start: 100.2 s\n"
                                "  end: 100.8 s\n"
                                "  missing: [-9999, n/a]\n"));
  od_experiment *e = load(path, NULL, NULL);
  od_observed *o = observe(e);
  assert_int_equal(o->table->rows, 601);
  assert_true(fabs(o->begin - 100.2) < 1e-9 && fabs(o->end - 100.8) < 1e-9);
  for (long i = 0; i < o->table->rows; i++) {
    long row = i + 200;
    double p = cell(o->table, i, "measured.P.pressure"), a = cell(o->table, i, "measured.A.pressure");
    assert_int_equal(isnan(p), row % 50 == 0);
    assert_int_equal(isnan(a), row % 70 == 0);
    if (!isnan(p)) assert_true(fabs(p - cell(truth->table, row, "measured.P.pressure")) < 1e-6);
    if (!isnan(a)) assert_true(fabs(a - cell(truth->table, row, "measured.A.pressure")) < 1e-6);
    assert_true(fabs(cell(o->table, i, "input.U_ref") - cell(truth->table, row, "input.U_ref")) < 1e-12);
    assert_true(fabs(cell(o->table, i, "measured.cylinder.length") -
                     cell(truth->table, row, "measured.cylinder.length")) < 1e-12);
  }
  done(e, o);
  done(simulated, truth);
}

// Omitted rows are equivalent to rows without values: the observer predicts in its own steps, and inputs are linear in
// between.
static void test_gaps(void **state) {
  scratch *s = *state;
  char full[600], gappy[600], path[600];
  strcpy(full, scratch_path(s, "full.csv"));
  strcpy(gappy, scratch_path(s, "gappy.csv"));
  FILE *f = fopen(full, "w"), *g = fopen(gappy, "w");
  const char *header = "t,cylinder.length,P.pressure,A.pressure,U_ref\n";
  fputs(header, f), fputs(header, g);
  for (int i = 0; i <= 400; i++) {
    bool gap = i > 100 && i < 150;
    fprintf(f, gap ? "%.3f,,,,\n" : "%.3f,1.73,7e6,1.2e6,%d\n", 1e-3 * i, i % 3);
    if (!gap) fprintf(g, "%.3f,1.73,7e6,1.2e6,%d\n", 1e-3 * i, i % 3);
  }
  fclose(f), fclose(g);
  strcpy(path, write_experiment(s, "x.yaml", ""));
  od_experiment *a = load(path, full, NULL), *b = load(path, gappy, NULL);
  assert_int_equal(a->log->missing[3], 49);
  assert_true(fabs(b->log->longest - 0.05) < 1e-12 && fabs(b->log->at - 0.1) < 1e-12);
  assert_true(a->log->constant[0] && !a->log->constant[3]);
  od_observed *o = observe(a), *p = observe(b);
  assert_int_equal(o->table->rows, 401);
  assert_int_equal(p->table->rows, 352);
  for (int c = o->columns.watched; c < o->columns.innovation; c++) {
    double x = o->table->data[400 * o->table->columns + c], y = p->table->data[351 * p->table->columns + c];
    assert_true(fabs(x - y) < 1e-9 * fabs(x));
  }
  done(a, o);
  done(b, p);
}

// A run that continues over gaps carries the last estimate over a gap of more than 10000 steps, with standard
// deviations of its states a hundred times as large. Oracle: the run without the gap, after one step without a
// measurement.
static void test_doubt_after_a_long_gap(void **state) {
  scratch *s = *state;
  char path[600], log[600];
  strcpy(path, write_experiment(s, "x.yaml", ""));
  double sigma[2];
  for (int gap = 0; gap < 2; gap++) {
    strcpy(log, scratch_path(s, gap ? "gap.csv" : "short.csv"));
    FILE *f = fopen(log, "w");
    fputs("t,cylinder.length,P.pressure,A.pressure,U_ref\n", f);
    for (int i = 0; i <= 50; i++) fprintf(f, "%.3f,1.73,7e6,1.2e6,0\n", 1e-3 * i);
    fputs(gap ? "11,1.73,7e6,1.2e6,0\n11.001,,,,0\n" : "0.051,,,,0\n", f);
    fclose(f);
    od_experiment *e = load(path, log, NULL);
    const od_observe_options options = {.keep_going = true};
    od_observed *o = NULL;
    od_error err = {0};
    assert_int_equal(od_observe(e, &options, &o, &err), OD_OK);
    assert_int_equal(o->held, gap);
    sigma[gap] = cell(o->table, o->table->rows - 1, "sigma.cylinder.length");
    done(e, o);
  }
  print_message("standard deviation %.6g, after the gap %.6g\n", sigma[0], sigma[1]);
  assert_true(fabs(sigma[1] / sigma[0] - 100) < 10);  // parts of the state change within the step
}

// With held inputs a row's input is valid from its time on.
static void test_hold(void **state) {
  scratch *s = *state;
  char path[600];
  const char *log =
      "t,cylinder.length,P.pressure,A.pressure,U_ref\n0,1.62,5.6e6,2e6,0\n0.1,1.62,5.6e6,2e6,10\n0.2,1.62,5.6e6,2e6,10\n";
  scratch_write(s, "l.csv", log, strlen(log));
  double at_end[2];
  for (int hold = 0; hold < 2; hold++) {
    strcpy(path,
           write_experiment(s, "x.yaml", hold ? "data: {file: l.csv, hold: previous}\n" : "data: {file: l.csv}\n"));
    od_experiment *e = load(path, NULL, NULL);
    od_observed *o = observe(e);
    // The valve's spool has a lag of 20 ms; while it is closed the hose pressure is constant.
    at_end[hold] = cell(o->table, 1, "innovation.A.pressure");
    done(e, o);
  }
  assert_true(fabs(at_end[1]) < fabs(at_end[0]));
}

// Jumps: more than a tenth of the range within one row, with almost no change before and after.
static void test_jumps(void **state) {
  scratch *s = *state;
  const struct {
    const char *values[8];
    long jumps;
  } cases[] = {{{"0", "0", "5", "5", "5", "-1", "-1", "-1"}, 2},           // steps
               {{"0", "1", "2", "3", "4", "5", "6", "7"}, 0},              // a ramp
               {{"0", "0.1", "0.2", "5", "5.1", "5.2", "5.3", "5.4"}, 1},  // a ramp with a step in it
               {{"0", "3", "-2", "1", "4", "-3", "2", "0"}, 0},            // noise
               {{"2", "2", "2", "2", "2", "2", "2", "2"}, 0}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char log[600] = "t,cylinder.length,P.pressure,A.pressure,U_ref\n", path[600];
    for (int row = 0; row < 8; row++) {
      size_t used = strlen(log);
      snprintf(log + used, sizeof log - used, "0.%d,1.62,5.6e6,2e6,%s\n", row, cases[i].values[row]);
    }
    scratch_write(s, "l.csv", log, strlen(log));
    strcpy(path, write_experiment(s, "x.yaml", "data: {file: l.csv}\n"));
    od_experiment *e = load(path, NULL, NULL);
    od_verdict v = {0};
    int input = e->channel[e->sensors];
    assert_int_equal(e->log->facts[input].jumps, cases[i].jumps);
    assert_true(od_log_remark_jumps(e->log, true, OD_DOUBTFUL, &v));
    assert_int_equal(v.count, 0);
    assert_true(od_log_remark_jumps(e->log, false, OD_DOUBTFUL, &v));
    assert_int_equal(v.count, cases[i].jumps > 0);
    od_verdict_free(&v);
    od_experiment_free(e);
  }
}

// A constant input may be missing in the log; a varying input must be present.
static void test_constant_input(void **state) {
  scratch *s = *state;
  char *machine = scratch_read(CASE "machine.yaml"), path[600];
  char *sine = strstr(machine, "U_ref: {unit: V, sine"), *end = strchr(sine, '\n');
  memset(sine, ' ', (size_t)(end - sine));
  memcpy(sine, "U_ref: {unit: V, constant: 3}", 29);
  scratch_write(s, "m.yaml", machine, strlen(machine));
  free(machine);
  const char *file = "machine: m.yaml\nsensors: {P.pressure: {sigma: 1 MPa}}\n",
             *log = "time,P.pressure\n1,7e6\n2,7e6\n";
  strcpy(path, scratch_write(s, "x.yaml", file, strlen(file)));
  od_experiment *e = load(path, scratch_write(s, "l.csv", log, strlen(log)), NULL);
  od_observed *o = observe(e);
  assert_true(cell(o->table, 1, "input.U_ref") == 3);
  assert_int_equal(o->sensor[0].used, 2);
  done(e, o);
}

// --- Logs of other programs -----------------------------------------------------------------------------------------

// Texts, events, lines before the header and repeated times do not change the used values.
static void test_other_things_in_a_file(void **state) {
  scratch *s = *state;
  char path[600], plain[600], rich[600];
  strcpy(plain, scratch_path(s, "plain.csv"));
  strcpy(rich, scratch_path(s, "rich.csv"));
  FILE *f = fopen(plain, "w"), *g = fopen(rich, "w");
  fputs("t,cylinder.length,P.pressure,A.pressure,U_ref\n", f);
  fputs("Logger 7, made by hand\nDate: 2024-02-29\n\nt,date,cylinder.length,P.pressure,A.pressure,U_ref,event\n", g);
  for (int i = 0; i <= 100; i++) {
    double length = 1.73 + 1e-3 * sin(i), u = i % 3;
    fprintf(f, "%.3f,%.9g,7e6,1.2e6,%g\n", 1e-3 * i, length, u);
    // The first row of this time lacks the length, which the second row has.
    if (i == 50) fprintf(g, "%.3f,12:00:%02d,,7e6,1.2e6,%g\n", 1e-3 * i, i % 60, u);
    fprintf(g, "%.3f,12:00:%02d,%.9g,7e6,1.2e6,%g%s\n", 1e-3 * i, i % 60, length, u, i == 7 ? ",valve, opened" : "");
    if (i == 20) fprintf(g, "%.3f,12:00:20,9,9,9,9\n", 1e-3 * i);
  }
  fclose(f), fclose(g);
  strcpy(path, write_experiment(s, "x.yaml", ""));
  od_experiment *a = load(path, plain, NULL), *b = load(path, rich, NULL);
  assert_int_equal(a->log->repeated, 0);
  assert_int_equal(b->log->repeated, 2);
  od_observed *o = observe(a), *p = observe(b);
  expect_same(o->table, p->table, o->table->columns);
  const od_remark *r = &p->verdict.remark[p->verdict.count - 1];
  assert_string_equal(r->code, "log.repeated_times");
  assert_non_null(strstr(r->text, "2 rows of "));
  assert_int_equal(r->trust, OD_SOUND);
  done(a, o);
  done(b, p);
}

// A MATLAB workspace: the machine's signals in rows of a matrix and in a structure, among scalars and other vectors.
static void test_workspace(void **state) {
  scratch *s = *state;
  enum { ROWS = 101 };
  char path[600], csv[600], mat_path[600];
  double t[ROWS], X[2 * ROWS], p[ROWS], u[ROWS], scalar = 3, gains[6] = {1, 2, 3, 4, 5, 6};
  strcpy(csv, scratch_path(s, "l.csv"));
  strcpy(mat_path, scratch_path(s, "l.mat"));
  FILE *f = fopen(csv, "w");
  fputs("t,cylinder.length,P.pressure,A.pressure,U_ref\n", f);
  for (int i = 0; i < ROWS; i++) {
    t[i] = 1e-3 * i, X[2 * i] = 1.73 + 1e-3 * sin(i), X[2 * i + 1] = 7e6 + i, p[i] = 1.2e6 - i, u[i] = i % 3;
    fprintf(f, "%.17g,%.17g,%.17g,%.17g,%g\n", t[i], X[2 * i], X[2 * i + 1], p[i], u[i]);
  }
  fclose(f);
  mat_t *mat = Mat_CreateVer(mat_path, NULL, MAT_FT_MAT5);
  size_t one[2] = {1, 1}, six[2] = {6, 1}, row[2] = {1, ROWS}, two[2] = {2, ROWS};
  matvar_t *log = Mat_VarCreateStruct("log", 2, one, (const char *[]){"A", "U_ref"}, 2);
  Mat_VarSetStructFieldByName(log, "A", 0, Mat_VarCreate("A", MAT_C_DOUBLE, MAT_T_DOUBLE, 2, row, p, 0));
  Mat_VarSetStructFieldByName(log, "U_ref", 0, Mat_VarCreate("U_ref", MAT_C_DOUBLE, MAT_T_DOUBLE, 2, row, u, 0));
  matvar_t *v[] = {log,
                   Mat_VarCreate("X", MAT_C_DOUBLE, MAT_T_DOUBLE, 2, two, X, 0),
                   Mat_VarCreate("T", MAT_C_DOUBLE, MAT_T_DOUBLE, 2, six, gains, 0),
                   Mat_VarCreate("K", MAT_C_DOUBLE, MAT_T_DOUBLE, 2, six, gains, 0),
                   Mat_VarCreate("a", MAT_C_DOUBLE, MAT_T_DOUBLE, 2, one, &scalar, 0),
                   Mat_VarCreate("b", MAT_C_DOUBLE, MAT_T_DOUBLE, 2, one, &scalar, 0),
                   Mat_VarCreate("t", MAT_C_DOUBLE, MAT_T_DOUBLE, 2, row, t, 0)};
  for (int i = 0; i < 7; i++) {
    assert_int_equal(Mat_VarWrite(mat, v[i], MAT_COMPRESSION_NONE), 0);
    Mat_VarFree(v[i]);
  }
  Mat_Close(mat);
  strcpy(path, write_experiment(s, "x.yaml",
                                "data:\n  file: l.mat\n  channels:\n    cylinder.length: X(1,:)\n"
                                "    P.pressure: {column: 'X(2,:)'}\n    A.pressure: log.A\n"));
  od_experiment *a = load(path, NULL, NULL);
  strcpy(path, write_experiment(s, "y.yaml", "data: {file: l.csv}\n"));
  od_experiment *b = load(path, NULL, NULL);
  od_observed *o = observe(a), *q = observe(b);
  expect_same(o->table, q->table, o->table->columns);
  done(a, o);
  done(b, q);
}

// --- Mistakes -----------------------------------------------------------------------------------------------------

// The messages about a log, without the folder.
static void expect(scratch *s, const char *data, const char *log, const char *expected) {
  char path[600], *said = NULL;
  size_t size = 0, folder = strlen(s->folder);
  if (log) scratch_write(s, "l.csv", log, strlen(log));
  strcpy(path, write_experiment(s, "x.yaml", data));
  od_messages *messages = od_messages_new();
  od_experiment *e = NULL;
  od_status status = od_experiment_load(path, NULL, &e, messages);
  FILE *to = open_memstream(&said, &size);
  od_messages_print(messages, to, false);
  fclose(to);
  for (char *at; (at = strstr(said, s->folder));) memmove(at, at + folder + 1, strlen(at + folder + 1) + 1);
  assert_string_equal(said, expected);
  assert_true(status != OD_OK && e == NULL);
  free(said);
  od_messages_free(messages);
}

#define COLUMNS "t,cylinder.length,P.pressure,A.pressure,U_ref\n"

static void test_mistakes_in_the_section(void **state) {
  expect(*state,
         "data:\n"
         "  file: {a: l.csv}\n"
         "  tme: t\n"
         "  channels:\n"
         "    cylinder.lenght: pos\n"
         "    P.pressure: {colum: p, scale: 0}\n"
         "    A.pressure: {column: [3], unit: bar, offset: 3 bar}\n"
         "    A.pressure: p\n"
         "  start: 3 s\n"
         "  end: 2 s\n"
         "  interval: 0 s\n"
         "  hold: prevous\n"
         "  missing: {a: 3}\n"
         "  skip: 1.5\n",
         NULL,
         "x.yaml:13:9: error: found a map; 'file' must be the name of a file, or a list of names\n"
         "x.yaml:14:3: error: unknown key 'tme' in data; did you mean 'time'?\n"
         "x.yaml:16:5: error: there is no input or output 'cylinder.lenght'; did you mean 'cylinder.length'?\n"
         "x.yaml:17:18: error: unknown key 'colum' in the channel 'P.pressure'; did you mean 'column'?\n"
         "x.yaml:17:35: error: 'scale' is 0; expected a factor other than 0\n"
         "x.yaml:18:26: error: found a list; 'column' must be the name or the number of a column\n"
         "x.yaml:18:50: error: '3 bar' is a pressure; offset must be a plain number\n"
         "x.yaml:19:5: error: 'A.pressure' is given twice; remove one entry\n"
         "x.yaml:21:8: error: 'end' is 2 s; expected a time later than 'start', 3 s\n"
         "x.yaml:22:13: error: interval is '0 s' but must be greater than zero\n"
         "x.yaml:23:9: error: found 'prevous'; did you mean 'previous'?\n"
         "x.yaml:24:12: error: found a map; expected a list of numbers and texts\n"
         "x.yaml:25:9: error: 'skip' is 1.5; expected a whole number of lines, less than a million\n");
}

static void test_mistakes_in_columns(void **state) {
  expect(*state,
         "data:\n"
         "  file: l.csv\n"
         "  time: Zeit [s]\n"
         "  channels:\n"
         "    cylinder.length: {column: pos, unit: bar}\n"
         "    P.pressure: {column: 9}\n"
         "    A.pressure: pp\n",
         "Zeti [s],pos,p [furlongs],p,U_reff\n",
         "x.yaml:14:9: error: l.csv has no column 'Zeit [s]'; did you mean 'Zeti'?\n"
         "x.yaml:16:42: error: column 'pos' is in 'bar', a pressure; expected a unit for 'cylinder.length', such as m\n"
         "x.yaml:17:26: error: l.csv has no column '9'; its columns are Zeti, pos, p, p, U_reff\n"
         "x.yaml:18:17: error: l.csv has no column 'pp'; its columns are Zeti, pos, p, p, U_reff\n"
         "l.csv:1:1: error: there is no column for the input 'U_ref'; did you mean 'U_reff'? Give the column under "
         "'data'\n");
  expect(*state, "data: {file: l.csv, channels: {P.pressure: p}}\n",
         "# units\n\nt,cylinder.length [mpa],p,p,A.pressure,U_ref (A)\n",
         "x.yaml:12:44: error: several columns of l.csv match 'p'; give the number of the column\n"
         "l.csv:3:3: error: unknown unit 'mpa' of column 'cylinder.length'; did you mean 'MPa'?\n"
         "l.csv:3:40: error: column 'U_ref' is in 'A', a current; expected a unit for 'U_ref', such as V\n");
  expect(*state, "data: {file: l.csv}\n", "t,x,y\n0,1,2\n",
         "l.csv:1:1: error: there is no column for the output 'cylinder.length'; give the column under 'data': one of "
         "t, x, y\n"
         "l.csv:1:1: error: there is no column for the output 'P.pressure'; give the column under 'data': one of t, "
         "x, y\n"
         "l.csv:1:1: error: there is no column for the output 'A.pressure'; give the column under 'data': one of t, "
         "x, y\n"
         "l.csv:1:1: error: there is no column for the input 'U_ref'; give the column under 'data': one of t, x, y\n");
}

// Variables have no order, so the time cannot be guessed.
static void test_workspace_without_time(void **state) {
  scratch *s = *state;
  static const char *const names[] = {"oil.T", "cylinder.length", "P.pressure", "A.pressure", "U_ref"};
  od_table *t = od_table_new(5);
  for (int i = 0; i < 5; i++) od_table_label(t, i, names[i], "");
  for (int i = 0; i < 9; i++) od_table_append(t, (double[]){i, 1.7, 7e6, 1e6, i});
  assert_int_equal(od_table_write_mat(t, scratch_path(s, "l.mat"), NULL), OD_OK);
  od_table_free(t);
  expect(
      s, "data: {file: l.mat}\n", NULL,
      "l.mat: error: there is no time column; give the name of a column with 'time' under 'data': one of oil.T, cylinder.length, "
      "P.pressure, A.pressure, U_ref\n");
  expect(
      s, "data: {file: l.mat, time: oil.T, channels: {P.pressure: p}}\n", NULL,
      "x.yaml:12:57: error: l.mat has no column 'p'; its columns are oil.T, cylinder.length, P.pressure, A.pressure, U_ref\n");
}

static void test_mistakes_in_rows(void **state) {
  expect(
      *state, "data: {file: l.csv}\n",
      COLUMNS "0,1,1,1,1\n0.1,1,1,1,1\n\n0.09,1,1,1,1\n0.05,1,1,1,1\n0.2,1,1,1,1\n,1,1,1,1\n",
      "l.csv:5:1: error: the time 0.09 s is not later than the previous time, 0.1 s; expected increasing times (and 1 more such row)\n"
      "l.csv:8:1: error: this row has no time; expected a number in the time column\n");
  expect(
      *state, "data: {file: l.csv}\n", COLUMNS "0,1,1,1,1\n0.1,1,x,1,1\n0.2,1,1\n",
      "x.yaml:12:14: error: l.csv:3:7: 'x' is not a number (column 'P.pressure'); 'missing' lists texts of missing values\n"
      "x.yaml:12:14: error: l.csv:4:8: 3 cells, but the header has 5 cells; expected equal numbers\n");
  expect(*state, "data: {file: l.csv}\n", COLUMNS, "l.csv: error: the file has no rows; expected at least one row\n");
  expect(*state, "data: {file: l.csv, start: 5 s}\n", COLUMNS "0,1,1,1,1\n0.5,1,1,1,1\n",
         "l.csv: error: the file has no rows between 'start' and 'end'; the rows are from 0 s to 0.5 s\n");
  expect(*state, "data: {file: l.csv}\n", COLUMNS "0,1,1,1,\n0.5,1,1,1,nan\n",
         "l.csv: error: the file has no value of the input 'U_ref'; expected at least one value\n");
  expect(
      *state, "data: {file: l.csv}\n", COLUMNS "0,1,1,1,1\n0.5,x,1,1,1\n",
      "x.yaml:12:14: error: l.csv:3:5: 'x' is not a number (column 'cylinder.length'); 'missing' lists texts of missing values\n");
  expect(*state, "data: {file: nowhere.csv}\n", NULL,
         "x.yaml:12:14: error: cannot read nowhere.csv: No such file or directory\n");
  expect(*state, "data: {file: nowhere.mat}\n", NULL,
         "x.yaml:12:14: error: cannot read nowhere.mat: No such file or directory\n");
}

static void test_truth_is_not_known(void **state) {
  scratch *s = *state;
  const char *set = "truth.oil.kp=1400 MPa", *log = COLUMNS "0,1.7,7e6,1e6,1\n";
  const char *path = scratch_write(s, "l.csv", log, strlen(log));
  const od_experiment_options options = {.set = &set, .set_count = 1, .truth = "3-S2", .log.data = {&path, 1}};
  od_messages *messages = od_messages_new();
  od_experiment *e = NULL;
  assert_int_equal(od_experiment_load(EXPERIMENT, &options, &e, messages), OD_BAD_INPUT);
  assert_int_equal(od_messages_count(messages), 2);
  assert_string_equal(od_messages_get(messages, 0)->file, "--truth");
  assert_string_equal(od_messages_get(messages, 1)->file, "--set");
  od_messages_free(messages);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)
  const struct CMUnitTest tests[] = {
      TEST(test_own_files_give_the_same),
      TEST(test_foreign_file),
      TEST(test_gaps),
      TEST(test_doubt_after_a_long_gap),
      TEST(test_hold),
      TEST(test_jumps),
      TEST(test_constant_input),
      TEST(test_other_things_in_a_file),
      TEST(test_workspace),
      TEST(test_mistakes_in_the_section),
      TEST(test_mistakes_in_columns),
      TEST(test_mistakes_in_rows),
      TEST(test_workspace_without_time),
      TEST(test_truth_is_not_known),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
