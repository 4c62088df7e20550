// Searches from several starts. Oracles: a cost with known minima; the cells of the start values; closed forms.
#include <math.h>

#include "support/test.h"

#include "oleodyn/least_squares.h"
#include "unit/least_squares/problems.h"

// (x - 2)^2 with ripples: many minima, the least at x = 2, y = 1.
static int ripples(void *user, const double *x, double *r) {
  (void)user;
  r[0] = x[0] - 2, r[1] = 6 * sin(0.7 * (x[0] - 2)), r[2] = x[1] - 1, r[3] = 6 * sin(0.7 * (x[1] - 1));
  return 0;
}
static od_ls_problem ripples_problem(void) {
  static const double start[2] = {-7, 8}, low[2] = {-10, -10}, high[2] = {10, 10};
  return (od_ls_problem){.m = 4, .n = 2, .residuals = ripples, .start = start, .low = low, .high = high};
}

static void multistart(void **state) {
  (void)state;
  const od_ls_problem problem = ripples_problem();
  od_ls_result *one = solve(&problem, NULL), *r, *again;
  assert_true(one->cost > 0.1);
  for (int uniform = 0; uniform < 2; uniform++) {
    const od_ls_starts starts = {.box = 40, .around = 5, .seed = 5, .uniform = uniform};
    assert_int_equal(od_least_squares_multistart(&problem, NULL, &starts, &r, NULL), OD_OK);
    assert_int_equal(r->starts, 46);
    near(r->x[0], 2, 1e-9);
    near(r->x[1], 1, 1e-9);
    assert_memory_equal(r->start_x, problem.start, 2 * sizeof(double));
    assert_true(r->end_cost[0] == one->cost);
    double least = INFINITY;
    for (int i = 0; i < 46; i++) least = fmin(least, r->end_cost[i]);
    assert_true(least == r->cost);
    // One start in each of 40 cells of each range.
    int cells[2][40] = {{0}}, once = 1;
    for (int i = 1; i <= 40; i++)
      for (int j = 0; j < 2; j++) cells[j][(int)((r->start_x[2 * i + j] + 10) / 0.5)]++;
    for (int i = 0; i < 80; i++) once &= cells[i / 40][i % 40] == 1;
    assert_int_equal(once, !uniform);
    // The same again, bit by bit; another seed has other starts.
    assert_int_equal(od_least_squares_multistart(&problem, NULL, &starts, &again, NULL), OD_OK);
    assert_memory_equal(r->end_x, again->end_x, 46 * 2 * sizeof(double));
    od_ls_result_free(again);
    const od_ls_starts other = {.box = 40, .seed = 6, .uniform = uniform};
    assert_int_equal(od_least_squares_multistart(&problem, NULL, &other, &again, NULL), OD_OK);
    assert_true(again->start_x[2] != r->start_x[2]);
    od_ls_result_free(again);
    od_ls_result_free(r);
  }
  od_ls_result_free(one);
}

static bool a_few(void *user, const od_ls_progress *p) {
  (void)p;
  return ++*(int *)user < 60;
}

static void multistart_with_trouble(void **state) {
  (void)state;
  od_ls_problem problem = ripples_problem();
  const od_ls_starts starts = {.box = 20};
  od_ls_result *r;
  od_error err = {0};
  int calls = 0;
  od_ls_options options = {.progress = a_few, .progress_user = &calls};
  assert_int_equal(od_least_squares_multistart(&problem, &options, &starts, &r, &err), OD_INTERRUPTED);
  assert_true(isfinite(r->cost) && isinf(r->end_cost[20]));
  od_ls_result_free(r);
  // Starts that cannot be evaluated are skipped.
  const double start[2] = {-1, 0}, low[2] = {-1, -10}, high[2] = {20, 10};
  problem = (od_ls_problem){.m = 2, .n = 2, .residuals = logarithm, .start = start, .low = low, .high = high};
  assert_int_equal(od_least_squares_multistart(&problem, NULL, &starts, &r, &err), OD_OK);
  near(r->x[0], exp(-2), 1e-7);
  assert_true(isinf(r->end_cost[0]));
  assert_string_equal(err.text, "");
  od_ls_result_free(r);
  problem.low = NULL;
  assert_int_equal(od_least_squares_multistart(&problem, NULL, &starts, &r, &err), OD_BAD_ARGUMENT);
  assert_string_equal(
      err.text, "the range of parameter 0 for random starts is from -inf to 20; give finite bounds or a finite box");
  // Starts of a logarithmic parameter are spread over orders of magnitude.
  const od_ls_transform transform[2] = {OD_TRANSFORM_LOG, OD_TRANSFORM_LINEAR};
  const double box_low[2] = {1e-6, -1}, box_high[2] = {1e6, 1}, at[2] = {1, 0};
  const od_ls_starts box = {.box = 12, .low = box_low, .high = box_high};
  problem = (od_ls_problem){.m = 2, .n = 2, .residuals = logarithm, .start = at, .transform = transform};
  assert_int_equal(od_least_squares_multistart(&problem, NULL, &box, &r, &err), OD_OK);
  int decades[12] = {0};
  for (int i = 1; i <= 12; i++) decades[(int)(log10(r->start_x[2 * i]) + 6)]++;
  for (int i = 0; i < 12; i++) assert_int_equal(decades[i], 1);
  od_ls_result_free(r);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(multistart), cmocka_unit_test(multistart_with_trouble)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
