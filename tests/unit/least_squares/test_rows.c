// Least squares of rows that are computed in sequence, and searches that begin with some of them. Oracles: the same problem with
// all residuals and their Jacobian in memory; the number of computed rows, which the problem counts.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"
#include "oleodyn/least_squares.h"
#include "support/random_machine.h"

// r = a exp(-b t) sin(c t) + d e(t) - data in units of the noise, t = 0 .. 1. e is 1 in a few rows and 0 in all others.
enum { N = 4, MOST = 20000 };
typedef struct swing {
  int rows, block;               // rows per block
  int event_first, event_count;  // zero: e is t
  long asked;                    // number of computed rows
  double data[MOST];
} swing;

static const double truth[N] = {2, 3, 20, 0.5}, start[N] = {1, 1, 18, 0}, low[N] = {0.1, 0, 10, -5},
                    high[N] = {10, 20, 40, 5};

static double one_row(const swing *s, const double *x, int k, double *J) {
  double t = (double)k / s->rows, decay = exp(-x[1] * t), event = t;
  if (s->event_count > 0) event = k >= s->event_first && k < s->event_first + s->event_count;
  if (J) {
    J[0] = decay * sin(x[2] * t) / 0.1;
    J[1] = -t * x[0] * decay * sin(x[2] * t) / 0.1;
    J[2] = t * x[0] * decay * cos(x[2] * t) / 0.1;
    J[3] = event / 0.1;
  }
  return (x[0] * decay * sin(x[2] * t) + x[3] * event - s->data[k]) / 0.1;
}

static int rows(void *user, const double *x, bool derivatives, int every, od_ls_take *take, void *to) {
  swing *s = user;
  double r[64], J[64 * N];
  int count = 0;
  for (int k = 0; k < s->rows; k += every) {
    r[count] = one_row(s, x, k, derivatives ? J + count * N : NULL);
    s->asked++;
    if (++count < s->block) continue;
    take(to, count, r, derivatives ? J : NULL, NULL);
    count = 0;
  }
  if (count > 0) take(to, count, r, derivatives ? J : NULL, NULL);
  return 0;
}
static int residuals(void *user, const double *x, double *r) {
  const swing *s = user;
  for (int k = 0; k < s->rows; k++) r[k] = one_row(s, x, k, NULL);
  return 0;
}
static int jacobian(void *user, const double *x, double *J) {
  const swing *s = user;
  for (int k = 0; k < s->rows; k++) one_row(s, x, k, J + (size_t)k * N);
  return 0;
}

static void make(swing *s, int count, bool outliers) {
  od_dice d = {11};
  s->rows = count;
  s->block = 17;
  memset(s->data, 0, sizeof s->data);
  for (int k = 0; k < count; k++) {
    double noise = 0;
    for (int i = 0; i < 12; i++) noise += od_dice_uniform(&d, -0.5, 0.5);
    s->data[k] = 0.1 * one_row(s, truth, k, NULL) + 0.1 * noise + (outliers && k % 50 == 0 ? 3 : 0);
  }
}

static od_ls_problem problem_of(swing *s, bool as_rows) {
  od_ls_problem p = {.m = s->rows, .n = N, .user = s, .start = start, .low = low, .high = high};
  if (as_rows)
    p.rows = rows;
  else
    p.residuals = residuals, p.jacobian = jacobian;
  return p;
}

static od_ls_result *solve(swing *s, bool as_rows, const od_ls_options *options) {
  od_ls_problem problem = problem_of(s, as_rows);
  od_ls_result *r;
  od_error err = {0};
  if (od_least_squares(&problem, options, &r, &err) != OD_OK) fail_msg("%s", err.text);
  return r;
}

// Largest difference of estimates in standard deviations.
static double distance(const od_ls_result *a, const od_ls_result *b) {
  double worst = 0;
  for (int i = 0; i < N; i++) worst = fmax(worst, fabs(a->x[i] - b->x[i]) / b->sigma[i]);
  return worst;
}

static void rows_like_residuals(void **state) {
  (void)state;
  static swing s;
  make(&s, 1003, true);
  double worst = 0;
  for (int method = OD_LS_REFLECTIVE; method <= OD_LS_ACTIVE_SET; method++)
    for (int loss = OD_LOSS_LINEAR; loss <= OD_LOSS_ARCTAN; loss++) {
      const od_ls_options options = {.method = (od_ls_method)method, .loss = (od_ls_loss)loss, .cost_tolerance = 1e-13};
      od_ls_result *whole = solve(&s, false, &options), *streamed = solve(&s, true, &options);
      worst = fmax(worst, distance(streamed, whole));
      for (int i = 0; i < N; i++) assert_true(fabs(streamed->sigma[i] / whole->sigma[i] - 1) < 1e-6);
      assert_true(fabs(streamed->cost / whole->cost - 1) < 1e-12);
      assert_true(fabs(streamed->squares / whole->squares - 1) < 1e-6);
      assert_null(streamed->residuals);
      assert_int_equal(streamed->m, 1003);
      assert_int_equal(streamed->coarse, 0);
      od_ls_result_free(whole), od_ls_result_free(streamed);
    }
  print_message("rows as they come against all in memory: %.2g sigmas\n", worst);
  assert_true(worst < 1e-5);
}

static void some_rows_lead_the_way(void **state) {
  (void)state;
  static swing s;
  make(&s, MOST, false);
  const od_ls_options all = {.cost_tolerance = 1e-12, .step_tolerance = 1e-9},
                      coarse = {.cost_tolerance = 1e-12, .step_tolerance = 1e-9, .coarse = 9};
  s.asked = 0;
  od_ls_result *whole = solve(&s, true, &all);
  long asked = s.asked;
  s.asked = 0;
  od_ls_result *some = solve(&s, true, &coarse);
  print_message("%ld rows instead of %ld; %.2g sigmas apart\n", s.asked, asked, distance(some, whole));
  assert_int_equal(some->coarse, 9);
  assert_true(some->coarse_iterations > 1 && some->iterations < whole->iterations);
  assert_true(s.asked < asked);
  assert_true(distance(some, whole) < 1e-6);
  assert_int_equal(some->m, MOST);
  assert_true(fabs(some->start_cost / whole->start_cost - 1) < 1e-14);
  for (int i = 0; i < N; i++) assert_true(fabs(some->sigma[i] / whole->sigma[i] - 1) < 1e-6);
  od_ls_result_free(whole), od_ls_result_free(some);
}

// A caller that stops while only some rows are used gets the best result so far, marked as such. Oracle: the search's last reported
// point, and the cost of all rows there.
typedef struct watcher {
  long stop_at;  // iterations
  double x[N];
} watcher;
static bool stop_and_tell(void *user, const od_ls_progress *p) {
  watcher *w = user;
  memcpy(w->x, p->x, sizeof w->x);
  return p->iterations < w->stop_at;
}

static void stopped_with_some_rows(void **state) {
  (void)state;
  static swing s;
  make(&s, MOST, false);
  for (long iterations = 0; iterations < 4; iterations++) {
    watcher w = {.stop_at = iterations};
    const od_ls_options options = {
        .cost_tolerance = 1e-12, .step_tolerance = 1e-9, .coarse = 9, .progress = stop_and_tell, .progress_user = &w};
    od_ls_problem problem = problem_of(&s, true);
    od_ls_result *r = NULL;
    od_error err = {0};
    assert_int_equal(od_least_squares(&problem, &options, &r, &err), OD_INTERRUPTED);
    assert_int_equal(r->reason, OD_LS_STOPPED);
    assert_int_equal(r->only_coarse, iterations > 0);
    assert_int_equal(r->coarse_iterations, iterations);
    double squares = 0;
    for (int k = 0; k < s.rows; k++) squares += pow(one_row(&s, r->x, k, NULL), 2);
    print_message("%ld iterations: cost %.4g, of all rows %.4g, at the start %.4g\n", iterations, r->cost, squares / 2,
                  r->start_cost);
    for (int i = 0; i < N; i++) assert_true(r->x[i] == w.x[i] && isfinite(r->sigma[i]));
    assert_true(fabs(r->cost / (squares / 2) - 1) < 0.1);
    assert_true(iterations == 0 ? r->cost == r->start_cost : squares / 2 < 0.9 * r->start_cost);
    od_ls_result_free(r);
  }
}

// Four rows determine a parameter, and none of them, or too few, are among the first rows of a search.
static void not_where_rows_are_missed(void **state) {
  (void)state;
  static swing s;
  const od_ls_options coarse = {.cost_tolerance = 1e-12, .coarse = 9};
  for (int shift = 0; shift < 2; shift++) {
    s.event_first = 9001 + shift * 6, s.event_count = shift ? 80 : 4;
    make(&s, MOST, false);
    od_ls_result *r = solve(&s, true, &coarse);
    assert_int_equal(r->coarse, shift ? 9 : 0);
    assert_true(fabs(r->x[3] - truth[3]) < 5 * r->sigma[3] && isfinite(r->sigma[3]));
    od_ls_result_free(r);
  }
}

static void hidden_wants_residuals(void **state) {
  (void)state;
  static swing s;
  make(&s, MOST, false);
  od_ls_result *r = NULL;
  const od_ls_hidden hidden = {0};
  od_ls_problem both = problem_of(&s, true);
  both.hidden = &hidden;
  assert_int_equal(od_least_squares(&both, NULL, &r, NULL), OD_BAD_ARGUMENT);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rows_like_residuals),    cmocka_unit_test(some_rows_lead_the_way),
      cmocka_unit_test(stopped_with_some_rows), cmocka_unit_test(not_where_rows_are_missed),
      cmocka_unit_test(hidden_wants_residuals),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
