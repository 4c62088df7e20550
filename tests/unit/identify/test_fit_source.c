// Fits of a model that is not a machine. Oracle: the closed form of a straight line through points, y = a + b t.
#include <math.h>

#include "identify/fit.h"
#include "random/random.h"
#include "support/test.h"

enum { ROWS = 300 };
static const double sigma = 0.1, a_true = 2, b_true = -3;

typedef struct line {
  double t[ROWS], y[ROWS];
} line;

static line make_line(void) {
  line l;
  for (int k = 0; k < ROWS; k++) {
    l.t[k] = 0.01 * k;
    l.y[k] =
        a_true + b_true * l.t[k] + sigma * od_random_gaussian(5, od_random_stream("line"), (uint64_t)k, OD_USE_NOISE);
  }
  return l;
}

static od_status predict(void *user, const double *p, const double *x0, double *y, double *dy) {
  (void)x0;
  const line *l = user;
  for (int k = 0; k < ROWS; k++) {
    y[k] = p[0] + p[1] * l->t[k];
    if (dy) dy[2 * k] = 1, dy[2 * k + 1] = l->t[k];
  }
  return OD_OK;
}

static od_status fit_line(line *l, od_fit_extent extent, od_fitted **out) {
  od_error err = {0};
  const od_fit_source source = {.time = l->t,
                                .y = l->y,
                                .sigma = &sigma,
                                .model = {.rows = ROWS, .outputs = 1, .parameters = 2, .predict = predict, .user = l}};
  static const od_estimated unbounded = {
      .unit = "1", .low = -INFINITY, .high = INFINITY, .least = -INFINITY, .most = INFINITY};
  od_estimated parameter[2] = {unbounded, unbounded};
  parameter[0].path = "a", parameter[0].start = 1;
  parameter[1].path = "b", parameter[1].start = -1;
  od_sensor sensor = {.name = "y", .unit = "1", .scale = 1};
  od_experiment e = {.sensor = &sensor, .sensors = 1, .parameter = parameter, .parameters = 2};
  od_fit_set set = {.name = "line", .source = &source};
  const od_fit_plan plan = {.e = &e, .set = &set, .sets = 1, .step_tolerance = 1e-9};
  const od_fit_options options = {.extent = extent, .table = true};
  od_status status = od_fit(&plan, &options, out, &err);
  if (*out) (*out)->plan = NULL;
  return status;
}

// Estimates x, the matrix (J'J)^-1 and the variance of the residuals.
typedef struct closed_form {
  double x[2], inverse[2][2], variance;
} closed_form;
static closed_form solve(const line *l) {
  double n = ROWS, t = 0, tt = 0, y = 0, ty = 0, squares = 0;
  for (int k = 0; k < ROWS; k++) t += l->t[k], tt += l->t[k] * l->t[k], y += l->y[k], ty += l->t[k] * l->y[k];
  double det = n * tt - t * t;
  closed_form c = {.x = {(tt * y - t * ty) / det, (n * ty - t * y) / det},
                   .inverse = {{tt / det, -t / det}, {-t / det, n / det}}};
  for (int k = 0; k < ROWS; k++) squares += pow(l->y[k] - c.x[0] - c.x[1] * l->t[k], 2);
  c.variance = squares / (ROWS - 2);
  return c;
}

static void test_estimates_and_statistics(void **state) {
  (void)state;
  line l = make_line();
  closed_form c = solve(&l);
  od_fitted *f = NULL;
  assert_int_equal(fit_line(&l, OD_FIT_COMPLETE, &f), OD_OK);
  for (int i = 0; i < 2; i++) {
    near(f->estimate[i], c.x[i], 1e-9);
    near(f->sigma_white[i] / sqrt(c.variance * c.inverse[i][i]), 1, 1e-9);
    near(f->identifiability->sigma[i] / (sigma * sqrt(c.inverse[i][i])), 1, 1e-9);
  }
  near(f->correlation[1], c.inverse[0][1] / sqrt(c.inverse[0][0] * c.inverse[1][1]), 1e-9);
  assert_int_equal(f->set[0].fitted_quality[0].samples, ROWS);
  near(f->set[0].fitted_quality[0].rms, sqrt(c.variance * (ROWS - 2) / ROWS), 1e-9);
  assert_int_equal(f->table->rows, ROWS);
  assert_int_equal(f->verdict.trust, OD_SOUND);
  od_fitted_free(f);
}

// A change of one value changes the estimates by a row of J (J'J)^-1.
static void test_influence_of_values(void **state) {
  (void)state;
  line l = make_line();
  closed_form c = solve(&l);
  od_fitted *f = NULL;
  assert_int_equal(fit_line(&l, OD_FIT_LINEARIZATION, &f), OD_OK);
  for (int k = 0; k < ROWS; k++)
    for (int i = 0; i < 2; i++) near(f->influence[2 * k + i], c.inverse[i][0] + c.inverse[i][1] * l.t[k], 1e-12);
  od_fitted_free(f);
}

static void test_search_only(void **state) {
  (void)state;
  line l = make_line();
  closed_form c = solve(&l);
  od_fitted *f = NULL;
  assert_int_equal(fit_line(&l, OD_FIT_SEARCH_ONLY, &f), OD_OK);
  for (int i = 0; i < 2; i++) near(f->search->x[i], c.x[i], 1e-9);
  assert_null(f->identifiability);
  od_fitted_free(f);
}

// Blocks of rows, all or one in each `every`, have the values and derivatives of the whole prediction.
typedef struct seen {
  const line *l;
  int every, next;
  const double *p;
} seen;
static void check_block(void *user, const od_predicted *rows) {
  seen *s = user;
  assert_int_equal(rows->first, s->next);
  assert_true(rows->count <= OD_PREDICTED_BLOCK);
  for (int k = 0; k < rows->count; k++, s->next += s->every) {
    double t = s->l->t[s->next];
    near(rows->y[k], s->p[0] + s->p[1] * t, 0);
    near(rows->dy[2 * k], 1, 0);
    near(rows->dy[2 * k + 1], t, 0);
  }
}

static void test_rows_in_blocks(void **state) {
  (void)state;
  line l = make_line();
  const double p[] = {0.5, 0.25};
  const od_prediction_model model = {.rows = ROWS, .outputs = 1, .parameters = 2, .predict = predict, .user = &l};
  od_predictor *predictor = NULL;
  od_error err;
  assert_int_equal(od_predictor_of_model(&model, &predictor, &err), OD_OK);
  assert_int_equal(od_predictor_columns(predictor), 2);
  for (int every = 1; every <= 7; every += 2) {
    seen s = {&l, every, 0, p};
    const od_predict_wish wish = {.sensitivities = true, .every = every, .take = check_block, .user = &s};
    assert_int_equal(od_predict_rows(predictor, p, NULL, &wish), OD_OK);
    assert_true(s.next >= ROWS && s.next < ROWS + every);
  }
  od_predictor_free(predictor);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_estimates_and_statistics),
      cmocka_unit_test(test_influence_of_values),
      cmocka_unit_test(test_search_only),
      cmocka_unit_test(test_rows_in_blocks),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
