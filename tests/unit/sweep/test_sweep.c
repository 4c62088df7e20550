// Sweeps and draws of the tool: values of a grid, statistics, failures, and the result. Oracles: grids, means and quantiles by hand.
#include "support/test.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sweep/draw_statistics.h"
#include "sweep/sweep.h"

static const od_sweep_plan grid = {.axes = 2,
                                   .points = 6,
                                   .axis = {{.path = "a.mass", .unit = "kg", .from = 1, .to = 2, .count = 2},
                                            {.path = "b", .unit = "", .from = -1, .to = 1, .count = 3}}};

// The last axis changes fastest; ends are exact; the unit stays with the number.
static void test_grid(void **state) {
  (void)state;
  static const char *const wanted[6][2] = {{"a.mass=1 kg", "b=-1"}, {"a.mass=1 kg", "b=0"}, {"a.mass=1 kg", "b=1"},
                                           {"a.mass=2 kg", "b=-1"}, {"a.mass=2 kg", "b=0"}, {"a.mass=2 kg", "b=1"}};
  char text[OD_SWEEP_SETTING];
  for (int point = 0; point < 6; point++)
    for (int axis = 0; axis < 2; axis++) {
      od_sweep_setting(&grid, point, axis, text);
      assert_string_equal(text, wanted[point][axis]);
    }
}

// Of 1, 2, 3, 4, 5, with a missing value omitted: mean 3, variance 10/4, quantile p at 1 + 4 p.
static void test_statistics(void **state) {
  (void)state;
  static const double values[] = {4, 1, NAN, 3, 5, 2};
  od_table *t = od_table_new(1);
  for (int i = 0; i < 6; i++) assert_int_equal(od_table_append(t, &values[i]), OD_OK);
  od_draw_statistics s;
  assert_true(od_draw_statistics_of(t, 0, &s));
  assert_int_equal(s.count, 5);
  assert_true(fabs(s.mean - 3) < 1e-14);
  assert_true(fabs(s.deviation - sqrt(2.5)) < 1e-14);
  for (int k = 0; k < OD_DRAW_LEVELS; k++) assert_true(fabs(s.quantile[k] - (1 + 4 * od_draw_levels[k])) < 1e-14);
  od_table_free(t);
}

// The product of the two numbers; the fourth point fails. Machines are not needed: numbers come from the values.
static od_status multiply(void *user, const od_machine *machine, bool (*goes_on)(void *, double), void *going,
                          od_sweep_row *row, od_error *err) {
  (void)machine, (void)goes_on, (void)going;
  const od_sweep *s = user;
  int point = (int)(row - s->row);
  if (point == 3) return od_fail(err, OD_SINGULAR, "it cannot be solved");
  const double *x = s->value + 2 * point;
  return od_sweep_add(row, "product", "Pa", 1e5 * x[0] * x[1]) ? OD_OK : OD_NO_MEMORY;
}

static bool always(void *user, double done) {
  (void)user, (void)done;
  return true;
}
static bool never(void *user, double done) {
  (void)user, (void)done;
  return false;
}

static void begin(od_sweep *s) {
  assert_true(od_sweep_begin(s, &grid));
  for (int k = 0; k < 6; k++) s->value[2 * k] = k < 3 ? 1 : 2, s->value[2 * k + 1] = k % 3 - 1;
  snprintf(s->plan.axis[0].si, sizeof s->plan.axis[0].si, "kg");
  snprintf(s->plan.axis[1].si, sizeof s->plan.axis[1].si, "1");
}

static void test_result(void **state) {
  (void)state;
  for (int threads = 1; threads <= 3; threads += 2) {
    od_sweep s;
    begin(&s);
    od_sweep_run(&s, threads, multiply, &s, always, NULL);
    assert_true(od_sweep_has_results(&s));
    od_table *t = od_sweep_table(&s);
    assert_non_null(t);
    od_result r = od_sweep_result(&s, t);
    json_t *wanted = json_loads(
        "{\"columns\": [{\"name\": \"a.mass\", \"unit\": \"kg\", \"swept\": true}, {\"name\": \"b\", \"unit\": \"1\", "
        "\"swept\": true}, {\"name\": \"product\", \"unit\": \"Pa\", \"swept\": false}], \"rows\": [[1.0, -1.0, "
        "-100000.0], [1.0, 0.0, 0.0], [1.0, 1.0, 100000.0], [2.0, -1.0, null], [2.0, 0.0, 0.0], [2.0, 1.0, 200000.0]], "
        "\"failures\": [{\"row\": 3, \"message\": \"it cannot be solved\"}]}",
        0, NULL);
    assert_non_null(wanted);
    assert_true(json_equal(r.data, wanted));
    char *text = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);
    od_result_print(&r, to, false);
    fclose(to);
    assert_string_equal(text,
                        "  a.mass (kg)   b  product (bar)\n"
                        "            1  -1             -1\n"
                        "            1   0              0\n"
                        "            1   1              1\n"
                        "            2  -1              -\n"
                        "            2   0              0\n"
                        "            2   1              2\n"
                        "  a.mass = 2 kg, b = -1: it cannot be solved\n");
    free(text);
    json_decref(wanted);
    od_result_free(&r);
    od_table_free(t);
    od_sweep_free(&s);
  }
}

// After a stop the points that did not start are marked as such, and do not count as failures.
static od_status wait_for_stop(void *user, const od_machine *machine, bool (*goes_on)(void *, double), void *going,
                               od_sweep_row *row, od_error *err) {
  (void)user, (void)machine, (void)row, (void)err;
  while (goes_on(going, 0)) continue;
  return OD_INTERRUPTED;
}

static void test_stop(void **state) {
  (void)state;
  od_sweep s;
  begin(&s);
  od_sweep_run(&s, 2, wait_for_stop, NULL, never, NULL);
  assert_false(od_sweep_has_results(&s));
  assert_int_equal(od_sweep_computed(&s), 0);
  for (int k = 0; k < 6; k++) assert_int_equal(s.status[k], OD_INTERRUPTED);
  od_result r = od_sweep_result(&s, NULL);
  assert_null(r.first);
  od_result_free(&r);
  od_sweep_free(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_grid), cmocka_unit_test(test_statistics),
                                     cmocka_unit_test(test_result), cmocka_unit_test(test_stop)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
