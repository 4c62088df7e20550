// The report of a fit: its figures and sentences agree with the fit, and it is well-formed for any names, data and end of
// the search. Oracles: the values of the fit, a strict XML reader.
#include "support/test.h"

#include <math.h>

#include "report/fit_result.h"
#include "report/page_result.h"
#include "support/fits.h"
#include "report/page_files.h"
#include "support/report.h"

static const char lag[] =
    "machine: Lag\n"
    "inputs: {u: {unit: V, chirp: {amplitude: 1 V, from: 0.1 Hz, to: 2 Hz, duration: 5 s}}}\n"
    "blocks: {lag: {type: first-order, input: u, gain: 2, time_constant: 0.5 s}}\n"
    "run: {time: 5 s, step: 10 ms}\n"
    "variants: {wrong: {blocks: {lag: {gain: 1, time_constant: 1 s}}}}\n";
static const char head[] =
    "experiment: \"A <b>bold</b> & \\\"quoted\\\" title\"\nmachine: lag.yaml\nmodel: {variant: wrong}\n"
    "sensors: {lag: {sigma: 50 mV}}\n";
static const char both[] = "parameters: {lag.gain: {low: 0.1, high: 10}, lag.time_constant: {low: 50 ms, high: 5 s}}\n";

static int setup(void **state) {
  int code = scratch_setup(state);
  scratch_write(*state, "lag.yaml", lag, strlen(lag));
  return code;
}

static od_fit_plan *plan_of(scratch *s, const char *parameters, const char *more) {
  char text[2000];
  snprintf(text, sizeof text, "%s%s%s", head, parameters, more);
  return fit_plan_text(s, text);
}

static char *report(scratch *s, const od_fitted *f, const char *message) {
  od_error err = {0};
  const char *path = scratch_path(s, "report.html");
  const od_fit_findings findings = {f, message};
  od_result result = od_fit_result(&findings);
  if (od_page_write_result(&result, path, &err) != OD_OK) fail_msg("%s", err.text);
  od_result_free(&result);
  return report_text(path);
}

static const od_fit_options with_table = {.table = true};

static void test_figures(void **state) {
  scratch *s = *state;
  od_fit_plan *plan = plan_of(s, both,
                              "fit: {hold_out: 20 %}\nsets: {a: {}, b: {use: validate, noise: no, time: 2 s}}\n"
                              "combinations: {K/T: {powers: {lag.gain: 1, lag.time_constant: -1}}}\n");
  od_fitted *f = fit_run(plan, &with_table);
  char *text = report(s, f, NULL), cell[200], part[200];
  for (int i = 0; i < 2; i++) {
    const od_estimated *p = &plan->e->parameter[i];
    cell_of(text, p->path, 0, 1, cell, sizeof cell);
    assert_string_equal(cell, i ? "s" : "");
    const double expected[] = {p->low, p->high, p->start, f->estimate[i], 1.959963985 * f->sigma[i], p->truth};
    for (int k = 0; k < 6; k++) {
      cell_of(text, p->path, 0, 2 + k, cell, sizeof cell);
      expect_shown(cell, expected[k]);
    }
  }
  cell_of(text, "K/T", 0, 1, cell, sizeof cell);
  assert_true(fabs(atof(cell) / f->combination_value[0] - 1) < 0.05);
  // Rows of the sets: a is fitted and validated, b validated.
  const od_fit_quality *q[] = {&f->set[0].fitted_quality[0], &f->set[0].unseen_quality[0],
                               &f->set[1].unseen_quality[0]};
  for (int i = 0; i < 3; i++) {
    const char *name = i < 2 ? "a" : "b";
    cell_of(text, name, i % 2, 3, cell, sizeof cell);
    expect_shown(cell, (double)q[i]->samples);
    cell_of(text, name, i % 2, 5, cell, sizeof cell);
    expect_shown(cell, q[i]->start_fit);
    cell_of(text, name, i % 2, 6, cell, sizeof cell);
    expect_shown(cell, q[i]->fit);
  }
  snprintf(part, sizeof part, "The fit of the model is %.2f %%, and %.2f %% with", f->fit, f->start_fit);
  says(text, part);
  says(text, "2 parameters are all identifiable from the data");
  says(text, "In the last part of a, which was not fitted, the fit of the model is ");
  says(text, "In the set b, which was not fitted, the fit of the model is ");
  says(text, "rgba(0,114,178,0.55)\">1.00</td>");
  snprintf(part, sizeof part, "%.2f</td>", f->correlation[1]);
  says(text, part);
  says(text, "<title>A &lt;b&gt;bold&lt;/b&gt; &amp; &quot;quoted&quot; title</title>");
  says_not(text, "<b>bold");
  says_not(text, "Not white");
  char *again = report(s, f, NULL);
  assert_string_equal(text, again);
  assert_true(strlen(text) - od_page_css_size - od_page_js_size < 200000);
  free(again);
  free(text);
  fit_release(f, plan);
}

// The gain of the block and the scale of the sensor have the same effect: this is reported, and neither has a standard
// deviation.
static void test_what_is_not_identifiable(void **state) {
  od_fit_plan *plan = plan_of(
      *state, "parameters: {lag.gain: {}, lag.time_constant: {high: 0.4 s, start: 0.3 s}, sensors.lag.scale: {}}\n",
      "");
  od_fitted *f = fit_run(plan, &with_table);
  char *text = report(*state, f, NULL);
  says(
      text,
      "<b>Not all identifiable</b><p>2\u00a0of 3\u00a0directions of parameter changes are identifiable; 1\u00a0leaves the data");
  says(text, "Scaling lag.gain by lambda and sensors.lag.scale by 1/lambda leaves the data unchanged");
  says(text, "not identifiable alone");
  says(text, "'lag.time_constant' ends at its upper bound, 0.4 s: the best fit is beyond this bound");
  says(text, "Not white");
  free(text);
  fit_release(f, plan);
}

static bool stop(void *user, double done) {
  (void)user, (void)done;
  return false;
}

static void test_strange_ends(void **state) {
  scratch *s = *state;
  od_fit_plan *plan = plan_of(s, both, "");
  const od_fit_options options = {.table = true, .progress = stop};
  od_fitted *f = NULL;
  od_error err = {0};
  assert_int_equal(od_fit(plan, &options, &f, &err), OD_INTERRUPTED);
  char *text = report(s, f, err.text);
  says(text, "<b>The search ended early</b><p>Interrupted after 0\u00a0iterations");
  free(text);
  fit_release(f, plan);
  // Without a table there are no figures.
  plan = plan_of(s, both, "");
  f = fit_run(plan, NULL);
  text = report(s, f, NULL);
  says_not(text, "Measured and predicted");
  free(text);
  fit_release(f, plan);
}

// Constant signals, gaps, missing columns of values, only two rows.
static void test_poor_data(void **state) {
  scratch *s = *state;
  static const struct {
    const char *log, *said;
  } logs[] = {{"time,u,lag\n0,0,0\n1,0,0\n2,0,0\n3,0,0\n", "<b>No verdict</b>"},
              {"time,u,lag\n0,0,0\n1,1,\n2,0,1\n3,,1\n4,1,1.2\n", "1 sensor value is missing and ignored"},
              {"time,u,lag\n0,0,0\n1,1,1\n", "never mind"}};
  for (int i = 0; i < 3; i++) {
    scratch_write(s, "log.csv", logs[i].log, strlen(logs[i].log));
    od_fit_plan *plan = plan_of(s, both, "data: {file: log.csv}\n");
    od_fitted *f = NULL;
    od_error err = {0};
    od_fit(plan, &with_table, &f, &err);
    assert_non_null(f);
    char *text = report(s, f, NULL);
    if (i < 2) says(text, logs[i].said);
    free(text);
    fit_release(f, plan);
  }
}

// A set that the model cannot predict is reported, and not drawn.
static void test_set_that_explodes(void **state) {
  scratch *s = *state;
  static const char growth[] =
      "machine: Growth\ninputs: {u: {unit: V, sine: {amplitude: 1 V, frequency: 0.5 Hz}}}\n"
      "blocks:\n  rate: {type: sum, inputs: [u, back], weights: [1, 1]}\n"
      "  x: {type: integrator, input: rate, gain: 1 1/s}\n  back: {type: gain, input: x, gain: -2}\n"
      "run: {time: 5 s, step: 10 ms}\n";
  static const char fit[] =
      "machine: growth.yaml\nsensors: {x: {sigma: 1 mV}}\nparameters: {back.gain: {start: 60}}\n"
      "sets: {a: {time: 50 ms}, b: {use: validate, time: 40 s}}\n";
  scratch_write(s, "growth.yaml", growth, strlen(growth));
  od_fit_plan *plan = fit_plan_text(s, fit);
  const od_fit_options options = {.table = true, .only_predict = true};
  od_fitted *f = fit_run(plan, &options);
  char *text = report(s, f, NULL);
  says(text, "<b>b</b><p>The set cannot be predicted with the start values: the motion left all bounds");
  free(text);
  fit_release(f, plan);
}

int main(void) {
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, scratch_teardown)
  const struct CMUnitTest tests[] = {
      TEST(test_figures),   TEST(test_what_is_not_identifiable), TEST(test_strange_ends),
      TEST(test_poor_data), TEST(test_set_that_explodes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
