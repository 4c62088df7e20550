// Figure 3 of Cuadrado et al. as data: histories of x1 and of its rate, of prototype and observer, with the least error (angle, 1 ms) and the
// largest one (height rate, 10 ms). The paper has a figure without numbers. Oracles: the rate is the derivative of x1, by
// central differences of the file; the errors e and e_rate are eq. 20 of the paper on the rows of the file.
#include "support/test.h"

#include <math.h>

#include "formats/read_table.h"
#include "io/table.h"
#include "support/program.h"

#define CASE OD_SOURCE_DIR "/cases/fourbar-observer/"

static int column(const od_table *t, const char *name) {
  for (int i = 0; i < t->columns; i++)
    if (strcmp(t->name[i], name) == 0) return i;
  fail_msg("no column %s", name);
  return -1;
}

// The value of a metric in the text of the program, in mm or mm/s.
static double metric(const char *text, const char *name) {
  char line[60];
  double value = NAN;
  snprintf(line, sizeof line, "\n  %s ", name);
  const char *at = strstr(text, line);
  if (!at || sscanf(at, "%*s %*s %lf", &value) != 1) fail_msg("no metric %s in\n%s", name, text);
  return value;
}

static void histories_of_figure_3(void **state) {
  scratch *s = *state;
  static const struct {
    const char *file, *variant;
    long every;                 // rows between two of the 101 points
    double e, e_rate, part[2];  // mean of 200 seeds in the case's README, m and m/s; allowed differences of one seed
    double smooth;              // error of the central difference, m/s
  } cases[] = {{"paper-1ms", "angle", 10, 0.1672, 0.282, {0.03, 0.25}, 0.001},
               {"paper-10ms", "height-rate", 1, 0.3001, 2.084, {0.03, 0.1}, 0.05}};
  for (int c = 0; c < 2; c++) {
    outcome o =
        run(s, "observe " CASE "%s.experiment.yaml --variant %s --csv figure.csv", cases[c].file, cases[c].variant);
    od_table *t = NULL;
    od_error err = {0};
    if (od_table_read_csv(scratch_path(s, "figure.csv"), &t, &err) != OD_OK) fail_msg("%s", err.text);
    int x[2] = {column(t, "true.crank.end.x"), column(t, "estimate.crank.end.x")},
        v[2] = {column(t, "true.crank.end.vx"), column(t, "estimate.crank.end.vx")};
    double worst = 0, e = 0, e_rate = 0;
    for (long i = 0; i < t->rows; i++) {
      const double *row = t->data + i * t->columns;
      if (i % cases[c].every == 0) e += pow(row[x[0]] - row[x[1]], 2), e_rate += pow(row[v[0]] - row[v[1]], 2);
      if (i == 0 || i + 1 == t->rows) continue;
      const double *before = row - t->columns, *after = row + t->columns;
      worst = fmax(worst, fabs((after[x[0]] - before[x[0]]) / (after[0] - before[0]) - row[v[0]]));
    }
    print_message("%s, %s: e %.4f m, e_rate %.4f m/s, central difference within %.2g m/s\n", cases[c].file,
                  cases[c].variant, sqrt(e), sqrt(e_rate), worst);
    assert_int_equal((t->rows - 1) / cases[c].every, 100);
    assert_true(worst < cases[c].smooth);
    near_relative(metric(o.out, "e") / 1e3, sqrt(e), 1e-4);
    near_relative(metric(o.out, "e_rate") / 1e3, sqrt(e_rate), 1e-4);
    near_relative(sqrt(e), cases[c].e, cases[c].part[0]);
    near_relative(sqrt(e_rate), cases[c].e_rate, cases[c].part[1]);
    od_table_free(t);
    forget(o);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(histories_of_figure_3, scratch_setup, scratch_teardown)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
