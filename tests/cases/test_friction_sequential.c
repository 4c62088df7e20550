// The studies of cases/cylinder-friction that estimate friction in stages, and its figures that depend on a reading of source 28.
// - Table 6.8 in short: steady steps, then dynamics, through the closed loop of the bench. Oracle: the numbers of the machine file; the
//   seeds are held out.
// - Table 6.3, "Step+Separate". Oracle: the published errors, of which one run of each kind exists; ours scatter around them.
// - Figures 5.7, 5.11 and 6.10, and Table 6.2, "Total". Oracle: the published values; for 5.7 also a closed form without bristles.
// - Searches from the published starts (6.5, 6.6) and from the published results (6.5). Oracle: the true parameters.
#include <math.h>
#include <string.h>

#include "friction_show/friction_steps.h"
#include "support/studies.h"

#define FOLDER OD_SOURCE_DIR "/cases/cylinder-friction/"

static bool ends(const char *text, const char *with) {
  size_t a = strlen(text), b = strlen(with);
  return a >= b && strcmp(text + a - b, with) == 0;
}

static void test_steps_then_dynamics(void **state) {
  (void)state;
  static const char *const only[] = {"6.8 short"};
  od_study *study = NULL;
  od_study_result *r = run_study(FOLDER "steps-study.yaml", 1, only, 1, &study);
  int parameters = 0;
  for (int i = 0; i < r->rows; i++) {
    const char *name = r->row[i].metric->name;
    if (ends(name, " error_in_sigmas")) {
      if (!(r->row[i].value < 3.5)) fail_msg("%s: %g", name, r->row[i].value);
      parameters++;
    }
    if (ends(name, " error_percent")) assert_true(r->row[i].value < 10);
  }
  assert_int_equal(parameters, 12);
  assert_true(study_value(r, only[0], "sigma_0 error_percent") < 1.5 &&
              study_value(r, only[0], "tau_hn error_percent") < 3);
  assert_true(study_value(r, only[0], "sigma_0 true") == 1e7 && study_value(r, only[0], "failed") == 0);
  od_study_result_free(r);
  od_study_free(study);
}

static void test_separate(void **state) {
  (void)state;
  static const char *const only[] = {"6.3 separate 10", "6.3 separate 10, least squares"};
  static const double published = 0.338;
  od_study *study = NULL;
  od_study_result *r = run_study(FOLDER "steps-study.yaml", 6, only, 2, &study);
  double mean = study_value(r, only[0], "tau_hn"), spread = study_value(r, only[0], "tau_hn sd");
  print_message("tau_hn %.3f +- %.3f s, published %.3f s\n", mean, spread, published);
  assert_true(fabs(published - mean) < 3 * spread && spread > 0.01 && spread < 0.05);
  assert_true(study_value(r, only[0], "sigma_0 error_percent") < 1.4);
  // The scatter comes from ARMAX.
  assert_true(study_value(r, only[1], "tau_hn sd") < 0.5 * spread);
  od_study_result_free(r);
  od_study_free(study);
}

static int key_of(const od_friction_law *law, const char *key) {
  for (int i = 0; i < od_friction_law_numbers(law, false); i++)
    if (strcmp(law->element->fields[i].key, key) == 0) return i;
  fail_msg("no %s", key);
  return 0;
}

static od_set_law modified_lugre(double vb, double tau_hp) {
  static const struct {
    const char *key;
    double value;
  } number[] = {{"Fs", 2000},   {"Fc", 200},      {"vs", 0.01},     {"n", 1.2},      {"viscous", 300},
                {"vb", 0},      {"sigma_0", 1e7}, {"sigma_1", 0},   {"tau_hp", 0},   {"tau_hn", 0.3},
                {"tau_h0", 30}, {"factor", 1},    {"factor_Fs", 1}, {"factor_Fc", 1}};
  od_set_law law = {.law = od_friction_laws[od_friction_law_find("modified-lugre")]};
  for (size_t i = 0; i < sizeof number / sizeof *number; i++) law.q[key_of(law.law, number[i].key)] = number[i].value;
  law.q[key_of(law.law, "vb")] = vb, law.q[key_of(law.law, "tau_hp")] = tau_hp;
  return law;
}

// Figure 5.7: 126.5 N with the vb of Table 5.1, 160 N (published) with the vb at which 1 % of the Stribeck friction is left.
static void test_figure_57(void **state) {
  (void)state;
  static const struct {
    double vb, left, largest;
  } reading[] = {{0, 0.002 / 2.27158, 126.5}, {0.035703, 0.01, 160.4}};  // 1.2^4.5 = 2.27158
  static od_friction_steps steps;
  for (int i = 0; i < 2; i++) {
    const od_set_law slow = modified_lugre(reading[i].vb, 0.32), fast = modified_lugre(reading[i].vb, 0.033);
    assert_int_equal(od_friction_steps_compare(&fast, &slow, 0.05, 5e-3, 0.5, 2e-3, &steps), OD_OK);
    double most = steps.difference[steps.to * OD_STEP_SPEEDS + steps.from];
    print_message("5.7: %.1f N from %g to %g m/s\n", most, steps.speed[steps.from], steps.speed[steps.to]);
    near(most, reading[i].largest, 0.5);
    near(steps.speed[steps.from], 0.001, 1e-9);
    // The film without bristles and lag: Fs S(to) (h(to) - h(from)) times the largest difference of two exponentials.
    double to = steps.speed[steps.to], vb = 0.01 * pow(-log(reading[i].left), 1 / 1.2), exponentials = 0;
    for (double t = 0; t < 0.5; t += 1e-4) exponentials = fmax(exponentials, exp(-t / 0.32) - exp(-t / 0.033));
    double film = 0.9 * (pow(to / vb, 2.0 / 3) - pow(0.001 / vb, 2.0 / 3));
    near_relative(most, 2000 * exp(-pow(to / 0.01, 1.2)) * film * exponentials, 0.03);
  }
}

static void test_figures(void **state) {
  (void)state;
  static const char *const only[] = {"5.11 ratio 0.4",
                                     "5.11 ratio 0.4 interchanged",
                                     "5.11 sigma_1 10000 N s/m",
                                     "6.10 tau_hn 0.3 s step 0.2 s",
                                     "6.10 tau_hn 0.3 s step 0.6 s",
                                     "6.10 tau_hn 0.3 s step 1.5 s"};
  double off[6];
  od_study *study = NULL;
  od_study_result *r = run_study(FOLDER "figures-study.yaml", 0, only, 6, &study);
  for (int i = 0; i < 6; i++) off[i] = study_value(r, only[i], "tau_hn error_percent");
  // Published: up to about 2.5 %; about half as much again with the directions interchanged; sigma_1 affects sigma_0 most.
  near(off[0], 2.5, 0.1);
  near(off[1] / off[0], 1.5, 0.1);
  assert_true(study_value(r, only[2], "sigma_0 error_percent") > off[0]);
  // Published: steps with a time constant of 0.6 s are good in most cases.
  assert_true(off[4] < off[3] && off[4] < off[5]);
  od_study_result_free(r);
  od_study_free(study);
}

// Table 6.2, "Total". Published: 26.1 and 5.7 N. The direction of the slow motion decides which Fs is accurate.
static void test_total(void **state) {
  (void)state;
  static const char *const only[] = {"6.2 total 13 s both", "6.2 total 11 s"};
  od_study *study = NULL;
  od_study_result *r = run_study(FOLDER "total-study.yaml", 30, only, 2, &study);
  double positive = study_value(r, only[0], "Fs sd"), negative = study_value(r, only[0], "Fs_negative sd");
  print_message("Fs scatters by %.1f and %.1f N\n", positive, negative);
  near_relative(positive, 26.1, 0.4);
  assert_true(negative < 0.6 * positive &&
              study_value(r, only[1], "Fs_negative sd") > 4 * study_value(r, only[1], "Fs sd"));
  od_study_result_free(r);
  od_study_free(study);
}

// Cylinders #2 and #3 start with Fc above Fs in one direction (6.5). Only these two end elsewhere.
static void test_published_starts(void **state) {
  (void)state;
  static char name[32][40];
  static const char *only[32];
  od_study *study[2] = {NULL};
  for (int c = 1; c <= 8; c++) {
    snprintf(name[c - 1], sizeof *name, "6.5 #%d", c);
    snprintf(name[c + 7], sizeof *name, "6.6 #%d", c);
    snprintf(name[c + 15], sizeof *name, "6.5 end #%d", c);
    snprintf(name[c + 23], sizeof *name, "log 6.5 end #%d", c);
  }
  for (int i = 0; i < 32; i++) only[i] = name[i];
  od_study_result *r[2] = {run_study(FOLDER "convergence-study.yaml", 0, only, 16, &study[0]),
                           run_study(FOLDER "ends-study.yaml", 0, only + 16, 16, &study[1])};
  for (int i = 0; i < 32; i++) {
    bool lost = (i / 8 == 0 || i / 8 == 2) && (i % 8 == 1 || i % 8 == 2);
    double off = study_value(r[i / 16], only[i], "max_parameter_error_percent");
    if ((off < 1e-4) == lost) fail_msg("%s: %g %%", only[i], off);
    // A search that ended elsewhere has large residuals, and the verdict reports them.
    if (lost) assert_true(study_value(r[i / 16], only[i], "doubtful") == 1);
  }
  for (int i = 0; i < 2; i++) {
    od_study_result_free(r[i]);
    od_study_free(study[i]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_steps_then_dynamics),
                                     cmocka_unit_test(test_separate),
                                     cmocka_unit_test(test_figure_57),
                                     cmocka_unit_test(test_figures),
                                     cmocka_unit_test(test_total),
                                     cmocka_unit_test(test_published_starts)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
