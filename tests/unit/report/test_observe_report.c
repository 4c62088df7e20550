// The report of an observer: its figures agree with the run, with and without known true values, for any length of the
// run and any number of parameters. Oracles: the values of the run, a strict XML reader.
#include "support/test.h"

#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <sys/wait.h>

#include "random/random.h"
#include "experiment/observe.h"
#include "report/innovation_series.h"
#include "report/observe_result.h"
#include "report/page_result.h"
#include "support/experiments.h"
#include "report/page_files.h"
#include "support/report.h"
#include "support/scratch.h"

#define CASE OD_SOURCE_DIR "/cases/fourbar-valve/"

static od_experiment *load(const char *path, const char *const *set, int count) {
  const od_experiment_options options = {.set = set, .set_count = count};
  return load_experiment(path, &options);
}

// The report as a text, after a check that it is well-formed and contains no NaN.
static char *report(scratch *s, const od_experiment *e, const od_observed *o, const char *message) {
  od_error err = {0};
  const char *path = scratch_path(s, "report.html");
  const od_observe_findings findings = {e, o, message};
  od_result r = od_observe_result(&findings);
  if (od_page_write_result(&r, path, &err) != OD_OK) fail_msg("%s", err.text);
  od_result_free(&r);
  return report_text(path);
}

// --- Its figures --------------------------------------------------------------------------------------------------

// The unit of each shown quantity, repeated here.
static double shown_factor(const char *unit) {
  const struct {
    const char *unit;
    double factor;
  } known[] = {{"", 1}, {"bar", 1e-5}, {"MPa", 1e-6}, {"mm", 1e3}, {"mm/s", 1e3}};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (!strcmp(known[i].unit, unit)) return known[i].factor;
  fail_msg("unexpected unit '%s'", unit);
  return NAN;
}

static double number(const json_t *object, const char *key) {
  return json_number_value(json_object_get(object, key));
}

static void compare_parameters(const char *text, const json_t *root) {
  size_t i;
  json_t *item;
  char cell[200];
  json_array_foreach(json_object_get(root, "parameters"), i, item) {
    const char *path = json_string_value(json_object_get(item, "path"));
    cell_of(text, path, 0, 1, cell, sizeof cell);
    double f = shown_factor(cell);
    const struct {
      int column;
      double value;
    } expected[] = {{2, f * number(item, "start")},
                    {3, f * number(item, "estimate")},
                    {4, f * 1.959963985 * number(item, "sigma")},
                    {5, number(item, "step_shift_in_sigmas")},
                    {6, f * number(item, "true")},
                    {7, number(item, "error_in_sigmas")}};
    for (int k = 0; k < 6; k++) {
      cell_of(text, path, 0, expected[k].column, cell, sizeof cell);
      expect_shown(cell, expected[k].value);
    }
  }
  assert_int_equal(json_array_size(json_object_get(root, "parameters")), 18);
}

static void compare_outputs(const char *text, const json_t *root) {
  size_t i;
  json_t *item;
  char cell[200];
  json_array_foreach(json_object_get(root, "outputs"), i, item) {
    const char *name = json_string_value(json_object_get(item, "name"));
    int table =
        (int)i < (int)json_array_size(json_object_get(root, "sensors"));  // sensors have a consistency row before
    cell_of(text, name, table, 1, cell, sizeof cell);
    double f = shown_factor(cell);
    const double values[] = {number(item, "estimate"), 1.959963985 * number(item, "sigma"), number(item, "true"),
                             number(item, "error_rms")};
    for (int k = 0; k < 4; k++) {
      cell_of(text, name, table, 2 + k, cell, sizeof cell);
      expect_shown(cell, f * values[k]);
    }
  }
  json_array_foreach(json_object_get(root, "sensors"), i, item) {
    const char *name = json_string_value(json_object_get(item, "name")), *keys[] = {"used", "missing", "gated"};
    for (int k = 0; k < 3; k++) {
      cell_of(text, name, 0, 1 + k, cell, sizeof cell);
      expect_shown(cell, number(item, keys[k]));
    }
  }
}

static void compare_consistency(const char *text, const json_t *root) {
  char cell[200], part[100];
  cell_of(text, "NIS", 0, 1, cell, sizeof cell);
  expect_shown(cell, number(root, "nis_per_dimension"));
  cell_of(text, "NIS", 0, 2, cell, sizeof cell);
  expect_shown(cell, number(root, "nis_low"));
  expect_shown(strstr(cell, "to ") + 3, number(root, "nis_high"));
  cell_of(text, "NEES", 0, 1, cell, sizeof cell);
  expect_shown(cell, number(root, "nees_per_dimension"));
  cell_of(text, "coverage", 0, 1, cell, sizeof cell);
  expect_shown(cell, 100 * number(root, "coverage95"));
  size_t i;
  json_t *item;
  json_array_foreach(json_object_get(root, "curves"), i, item) {
    const char *port = json_string_value(json_object_get(item, "port"));
    snprintf(part, sizeof part, "valve.%s", port);
    cell_of(text, part, 0, 4, cell, sizeof cell);
    expect_shown(cell, number(item, "rmse_percent"));
    cell_of(text, part, 0, 5, cell, sizeof cell);
    expect_shown(cell, 100 * number(item, "coverage95"));
  }
}

static json_t *run_program(scratch *s, const char *arguments, int expected) {
  char command[2048];
  snprintf(command, sizeof command, "cd %s && '%s' observe %s >.out 2>.err </dev/null", s->folder, OD_BINARY,
           arguments);
  int status = system(command);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != expected) fail_msg("%s ended with %d", command, status);
  char *out = scratch_read(scratch_path(s, ".out"));
  json_t *root = json_loads(out, 0, NULL);
  free(out);
  unlink(scratch_path(s, ".out"));
  return root;
}

static void test_figures_are_those_of_json(void **state) {
  scratch *s = *state;
  json_t *root =
      run_program(s, CASE "points-6.experiment.yaml --set truth.oil.density='869 kg/m^3' --json - --report r.html", 0);
  char *text = scratch_read(scratch_path(s, "r.html"));
  assert_non_null(root);
  assert_non_null(text);
  compare_parameters(text, root);
  compare_outputs(text, root);
  compare_consistency(text, root);
  says(text, "<b>Consistent</b>");
  says(text, "<b>Not determined by the data:</b> oil.k0,");
  says(text, "<dd>oil.density = 869 kg/m^3</dd>");
  says(text, "initial.P.pressure = 5.6 MPa");
  says(text, "simulated machine, variant 6-S1; seed of the noise: 1");
  assert_true(strlen(text) - od_page_css_size - od_page_js_size < 500000);
  free(text);
  json_decref(root);
  unlink(scratch_path(s, ".err"));
}

static void test_where_it_cannot_go(void **state) {
  scratch *s = *state;
  json_decref(run_program(s, CASE "points-3.experiment.yaml --set time=0.1 --report -", 2));
  json_decref(run_program(s, CASE "points-3.experiment.yaml --set time=0.1 --report no/such/folder.html", 1));
  char *err = scratch_read(scratch_path(s, ".err"));
  says(err, "no/such/folder.html");
  free(err);
  unlink(scratch_path(s, ".err"));
  assert_int_equal(scratch_count(s), 0);
}

static void test_same_again(void **state) {
  scratch *s = *state;
  const char *set[] = {"time=0.5"};
  od_experiment *e = load(CASE "points-4.experiment.yaml", set, 1);
  od_observed *a = observe(e), *b = observe(e);
  char *first = report(s, e, a, NULL), *second = report(s, e, b, NULL);
  assert_string_equal(first, second);
  free(first);
  free(second);
  od_observed_free(a);
  od_observed_free(b);
  od_experiment_free(e);
}

// --- What may be missing ------------------------------------------------------------------------------------------

static void forget_truth(od_experiment *e, od_observed *o, bool columns_too) {
  for (int i = 0; i < e->parameters; i++) e->parameter[i].truth = NAN;
  o->compared = o->covered = 0;
  o->nees = NAN;
  o->has_truth = false;
  for (int i = 0; i < o->curves; i++) {
    od_curve_result *c = &o->curve[i];
    c->rmse = c->coverage = NAN;
    for (int k = 0; k < c->samples + c->points; k++) c->sample[k].truth = NAN;
  }
  for (int k = 0; k < o->table->columns; k++) {
    if (strncmp(o->table->name[k], "true.", 5) != 0 && strncmp(o->table->name[k], "error.", 6) != 0) continue;
    for (long i = 0; i < o->table->rows; i++) o->table->data[i * o->table->columns + k] = NAN;
    if (columns_too) o->table->name[k][0] = '_';
  }
}

static void test_without_truth(void **state) {
  const char *set[] = {"time=1.5"};
  for (int columns_too = 0; columns_too < 2; columns_too++) {
    od_experiment *e = load(CASE "points-3.experiment.yaml", set, 1);
    od_observed *o = observe(e);
    od_machine *truth = e->truth;
    forget_truth(e, o, columns_too);
    e->truth = NULL;
    char *text = report(*state, e, o, NULL);
    says(text, "<b>Consistent</b>");
    says(text, ">valve.a</th>");
    says(text, "U_ref");  // the observer uses the inputs, too
    says_not(text, "(true:");
    says_not(text, "true curve");
    says_not(text, "true value");
    says_not(text, "class=\"truth\" d=\"M");
    says_not(text, "simulated machine");
    free(text);
    e->truth = truth;
    od_observed_free(o);
    od_experiment_free(e);
  }
}

static void test_without_parameters(void **state) {
  static const char file[] =
      "experiment: \"A <b>bold</b> & \\\"quoted\\\" 'title'\"\n"
      "machine: " CASE "machine.yaml\ntime: 0.3 s\nsensors: {P.pressure: {sigma: 1.5 bar}}\n";
  scratch *s = *state;
  od_experiment *e = load(scratch_write(s, "e.yaml", file, strlen(file)), NULL, 0);
  od_observed *o = observe(e);
  char *text = report(s, e, o, NULL);
  says(text, "<title>A &lt;b&gt;bold&lt;/b&gt; &amp; &quot;quoted&quot; 'title'</title>");
  says_not(text, "<b>bold");
  says_not(text, ">Parameters</h2>");
  says_not(text, ">Valve curves</h2>");
  says_not(text, ">Outputs without a sensor</h2>");
  free(text);
  od_observed_free(o);
  od_experiment_free(e);
}

static bool stop_soon(void *user, double done) {
  return done < *(double *)user;
}

static void test_run_that_ended_early(void **state) {
  const char *set[] = {"time=0.5"};
  double ends[] = {0.5, 0};
  for (int i = 0; i < 2; i++) {
    od_experiment *e = load(CASE "points-3.experiment.yaml", set, 1);
    const od_observe_options options = {.progress = stop_soon, .user = &ends[i]};
    od_observed *o = NULL;
    od_error err = {0};
    assert_int_equal(od_observe(e, &options, &o, &err), OD_INTERRUPTED);
    // A run that fails in its first step has only the start.
    if (i == 1) {
      o->table->rows = 1, o->steps = 0, o->nis = 0, o->nis_dimension = 0;
      memset(o->innovations, 0, (size_t)e->sensors * sizeof *o->innovations);
      od_verdict_free(&o->verdict);
      assert_int_equal(od_observe_judge(e, &(od_observe_options){0}, o, &(od_error){0}), OD_OK);
    }
    char *text = report(*state, e, o, "the <step> to 0.25 s failed");
    says(text, "<b>The run ended early</b><p>The &lt;step&gt; to 0.25\u00a0s failed.");
    if (i == 1) says(text, "<b>No verdict</b>");
    free(text);
    od_observed_free(o);
    od_experiment_free(e);
  }
}

// A run without samples has a page without figures.
static void test_no_rows(void **state) {
  const char *set[] = {"time=0.01"};
  od_experiment *e = load(CASE "points-3.experiment.yaml", set, 1);
  od_observed *o = observe(e);
  o->table->rows = 0;
  char *text = report(*state, e, o, "there are no samples");
  says(text, "<b>The run ended early</b><p>There are no samples.");
  says_not(text, "<figure");
  free(text);
  od_observed_free(o);
  od_experiment_free(e);
}

// A filter that assumes too little sensor noise. The verdict of the same run with the squares of the innovations
// multiplied by a factor.
static void judge_scaled(const od_experiment *e, od_observed *o, double factor) {
  for (int i = 0; i < e->sensors; i++) {
    o->innovations[i].run.square *= factor;
    o->innovations[i].last.square *= factor;
  }
  od_verdict_free(&o->verdict);
  assert_int_equal(od_observe_judge(e, &(od_observe_options){0}, o, &(od_error){0}), OD_OK);
}

static void test_over_confident(void **state) {
  const char *set[] = {"time=1"};
  od_experiment *e = load(CASE "points-3.experiment.yaml", set, 1);
  od_observed *o = observe(e);
  judge_scaled(e, o, 4);
  char *text = report(*state, e, o, NULL);
  says(text, "<b>Overconfident</b>");
  says(text, "times as far from the predictions");
  free(text);
  judge_scaled(e, o, 1.0 / 16);
  text = report(*state, e, o, NULL);
  says(text, "<b>Over-cautious</b>");
  free(text);
  od_observed_free(o);
  od_experiment_free(e);
}

// --- Large runs ---------------------------------------------------------------------------------------------------

// A table with the columns of one sensor and `parameters` parameters, filled with noise.
static od_table *long_table(const od_experiment *e, long rows, double correlation, double size) {
  int columns = 4 + 2 * e->parameters;
  od_table *t = od_table_new(columns);
  char name[300];
  const char *sensor = e->sensor[0].name;
  od_table_label(t, 0, "time", "s");
  snprintf(name, sizeof name, "measured.%s", sensor);
  od_table_label(t, 1, name, "Pa");
  snprintf(name, sizeof name, "innovation.%s", sensor);
  od_table_label(t, 2, name, "Pa");
  snprintf(name, sizeof name, "innovation_sigma.%s", sensor);
  od_table_label(t, 3, name, "Pa");
  for (int i = 0; i < e->parameters; i++) {
    snprintf(name, sizeof name, "estimate.%s", e->parameter[i].path);
    od_table_label(t, 4 + 2 * i, name, "1");
    snprintf(name, sizeof name, "sigma.%s", e->parameter[i].path);
    od_table_label(t, 5 + 2 * i, name, "1");
  }
  double *row = calloc((size_t)columns, sizeof *row), x = 0;
  for (long i = 0; i < rows; i++) {
    x = correlation * x + sqrt(1 - correlation * correlation) * od_random_gaussian(3, 1, (uint64_t)i, OD_USE_NOISE);
    row[0] = 1e-3 * (double)i;
    row[1] = 1e6 + 1e4 * x;
    row[2] = size * 500 * x;
    row[3] = 500;
    for (int k = 4; k < columns; k++) row[k] = k % 2 ? 2 : x + k;
    od_table_append(t, row);
  }
  free(row);
  return t;
}

// A loaded experiment with another number of parameters and another table.
static void enlarge(od_experiment *e, od_observed *o, int parameters, long rows) {
  static char paths[400][40];
  e->parameter = OD_TAKE(&e->memory, od_estimated, parameters);
  o->estimate = OD_TAKE(&o->memory, double, parameters);
  o->sigma = OD_TAKE(&o->memory, double, parameters);
  o->start = OD_TAKE(&o->memory, double, parameters);
  o->bias = OD_TAKE(&o->memory, double, parameters);
  for (int i = 0; i < parameters; i++) {
    snprintf(paths[i], sizeof paths[i], "part.number[%d]", i);
    e->parameter[i] = (od_estimated){.path = paths[i], .unit = "1", .sigma = 10, .truth = NAN};
    o->start[i] = o->bias[i] = 0;
    o->estimate[i] = i;
    o->sigma[i] = i % 2 ? 2 : 10;
  }
  e->parameters = parameters;
  e->sensors = e->watches = 1;
  od_table_free(o->table);
  o->table = long_table(e, rows, 0, 1);
  o->steps = rows - 1;
  o->compared = 0;
  o->has_truth = false;
}

static void check_size(scratch *s, int parameters, long rows, size_t most) {
  const char *set[] = {"time=0.01"};
  od_experiment *e = load(CASE "points-3.experiment.yaml", set, 1);
  od_observed *o = observe(e);
  enlarge(e, o, parameters, rows);
  char *text = report(s, e, o, NULL);
  assert_true(strlen(text) < most);
  if (parameters > 100) {
    says(text, "The page shows 48 of 300 parameters: the parameters whose uncertainty decreases the most.");
    says(text, "part.number[299]");
    says(text, " and 144 more, as uncertain as at the start.");
  }
  free(text);
  od_observed_free(o);
  od_experiment_free(e);
}

static void test_million_steps(void **state) {
  check_size(*state, 1, 1000001, 400000);
}

static void test_many_parameters(void **state) {
  check_size(*state, 300, 2001, 1500000);
}

// --- Innovations --------------------------------------------------------------------------------------------------

// Noise of known size, correlated or not.
static void test_windows(void **state) {
  (void)state;
  enum { ROWS = 40000 };
  od_sensor sensor = {.name = "p", .unit = "Pa"};
  od_experiment e = {.sensor = &sensor, .sensors = 1};
  const struct { double correlation, size; } cases[] = {{0, 1}, {0, 1.5}, {0.5, 1}, {-0.3, 0.7}};
  for (int i = 0; i < 4; i++) {
    od_observed o = {.table = long_table(&e, ROWS, cases[i].correlation, cases[i].size)};
    // Missing samples have no effect.
    for (long row = 0; row < ROWS; row += 7)
      o.table->data[row * o.table->columns + 2] = i < 2 ? NAN : o.table->data[row * o.table->columns + 2];
    od_arena arena = {0};
    double *series = od_innovation_series(&e, &o, 0, &arena);
    assert_non_null(series);
    od_nis_window windows[OD_MOST_WINDOWS];
    int count = od_nis_windows(&e, &o, &series, windows), inside = 0;
    double mean = 0;
    for (int w = 0; w < count; w++) {
      mean += windows[w].value / count;
      inside += fabs(windows[w].value - windows[w].middle) <= windows[w].half;
    }
    assert_int_equal(count, OD_WINDOWS);
    assert_true(fabs(mean / (cases[i].size * cases[i].size) - 1) < 0.04);
    if (i == 0) assert_true(inside > 0.85 * count);
    if (i == 1) assert_int_equal(inside, 0);
    od_arena_free(&arena);
    od_table_free(o.table);
  }
}

// 95 % intervals of chi-squared over its dimension, from tables.
static void test_interval(void **state) {
  (void)state;
  const double table[][3] = {{1, 0.000982, 5.0239}, {10, 3.2470, 20.483}, {100, 74.222, 129.561}};
  for (int i = 0; i < 3; i++) {
    od_consistency c = od_consistency_of(2 * table[i][0], table[i][0]);
    assert_true(fabs(c.value - 2) < 1e-12);
    assert_true(fabs(c.low - table[i][1] / table[i][0]) < 0.03 / table[i][0]);
    assert_true(fabs(c.high - table[i][2] / table[i][0]) < 0.1 / table[i][0]);
  }
}

// Curves in the data: at the ends of a clamped curve and of its control points, and inside the convex hull.
static void test_curve_places(void **state) {
  (void)state;
  const char *set[] = {"time=0.2"};
  od_experiment *e = load(CASE "points-6.experiment.yaml", set, 1);
  od_observed *o = observe(e);
  assert_int_equal(o->curves, 4);
  for (int i = 0; i < 4; i++) {
    const od_curve_result *c = &o->curve[i];
    assert_int_equal(c->points, 6);
    assert_string_equal(c->x_unit, "V");
    assert_int_equal(c->side, i < 2 ? 1 : -1);
    assert_true(c->full == 95);
    for (int k = 0; k < c->samples; k++) {
      const od_curve_place *p = &c->sample[k];
      assert_true(fabs(p->x - 10.0 * k / (c->samples - 1)) < 1e-12);
      // The start is a straight line (9.5 per volt), which a spline reproduces exactly.
      assert_true(fabs(p->start - 9.5 * p->x) < 1e-9);
      // The weights are a partition of unity and reproduce the straight line and the estimate.
      double sum = 0, line = 0, estimate = 0;
      for (int j = 0; j < 6; j++) {
        double weight = c->weight[j * c->samples + k];
        assert_true(weight >= -1e-12);
        sum += weight, line += weight * c->point[j].start, estimate += weight * c->point[j].estimate;
      }
      near(sum, 1, 1e-12);
      near(line, 9.5 * p->x, 1e-9);
      near(estimate, p->estimate, 1e-9);
    }
    for (int j = 0; j < 6; j++) {
      char ending[40];
      snprintf(ending, sizeof ending, ".curve.points[%d]", j);
      int own = c->parameter[j];
      assert_true(own >= 0 ? strstr(e->parameter[own].path, ending) != NULL : c->point[j].sigma == 0);
    }
    const od_curve_place *last = &c->sample[c->samples - 1], *end = &c->point[5];
    assert_true(c->sample[0].estimate == 0 && c->sample[0].sigma == 0 && c->sample[0].truth == 0);
    assert_true(fabs(last->estimate - 95) < 1e-9 && last->sigma < 1e-6 && fabs(last->truth - 95) < 1e-9);
    assert_true(end->x == 10 && end->estimate == 95 && end->sigma == 0);
  }
  const double points[] = {0, 28, 47, 64, 80, 95};
  for (int k = 0; k < 6; k++) assert_true(o->curve[0].point[k].truth == points[k]);
  assert_string_equal(o->curve[0].from, "P");
  assert_string_equal(o->curve[0].to, "A");
  od_observed_free(o);
  od_experiment_free(e);
}

int main(void) {
#define TEST(f) cmocka_unit_test_setup_teardown(f, scratch_setup, scratch_teardown)
  const struct CMUnitTest tests[] = {
      TEST(test_figures_are_those_of_json),
      TEST(test_where_it_cannot_go),
      TEST(test_same_again),
      TEST(test_without_truth),
      TEST(test_without_parameters),
      TEST(test_run_that_ended_early),
      TEST(test_no_rows),
      TEST(test_over_confident),
      TEST(test_million_steps),
      TEST(test_many_parameters),
      cmocka_unit_test(test_windows),
      cmocka_unit_test(test_interval),
      cmocka_unit_test(test_curve_places),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
