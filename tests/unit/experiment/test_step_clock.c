// The time of steps among other work, by a clock that the test controls: reading the clock takes time, too. The oracle is the sum of the steps'
// times.
#include "support/test.h"

#include <math.h>

#include "experiment/step_clock.h"

static double now;
static long readings;

static double read_clock(void) {
  readings++;
  return now += 0.5;
}

// Steps of 10, every thousandth of 5000; light work of 2 after each; every 300th time work of 700, which is declared as long.
static void run(long steps, double *reported, double *given) {
  now = 0;
  readings = 0;
  *given = 0;
  od_step_clock c = od_step_clock_new(read_clock);
  for (long k = 0; k < steps; k++) {
    double step = k % 1000 == 7 ? 5000 : 10;
    od_step_clock_begin(&c);
    now += step;
    *given += step;
    od_step_clock_end(&c);
    now += 2;
    if (k % 300 == 0) {
      od_step_clock_leave(&c);
      now += 700;
      od_step_clock_return(&c);
    }
  }
  *reported = od_step_clock_seconds(&c);
}

// Each timed step includes one reading of the clock.
static void short_runs(void **state) {
  (void)state;
  double reported, given;
  run(8000, &reported, &given);
  assert_true(fabs(reported - given - 8000 * 0.5) < 1e-6);
}

static void long_runs(void **state) {
  (void)state;
  double reported, given;
  run(400000, &reported, &given);
  assert_true(fabs(reported / given - 1) < 0.01);
  assert_true(readings < 100000);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(short_runs), cmocka_unit_test(long_runs)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
