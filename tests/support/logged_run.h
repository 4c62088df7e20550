// Logs of cases that a script made from a simulated run: the run as the oracle, the comparison of columns with it, and the numbers of a fit
// of the log.
#ifndef OD_TEST_LOGGED_RUN_H
#define OD_TEST_LOGGED_RUN_H

#include <math.h>
#include <string.h>

#include "support/can.h"
#include "support/program.h"

static inline od_table *logged_read(const char *path, const char *database) {
  const char *databases[] = {database, NULL};
  od_table *t = NULL;
  od_error err = {0};
  if (od_table_read(path, &(od_table_wish){.databases = databases}, &t, &err) != OD_OK) fail_msg("%s", err.text);
  return t;
}

// The run of the variant 'worn', with rows 1 ms apart. Also written as run.csv in the scratch folder.
static inline od_table *logged_run(scratch *s, const char *machine) {
  expect_code(run(s, "simulate %s --variant worn --csv run.csv --quiet", machine), 0);
  return logged_read(scratch_path(s, "run.csv"), NULL);
}

// A column of the run at a time.
static inline double logged_value(const od_table *t, const char *name, double time) {
  long k = (long)floor(time / 1e-3);
  if (k > t->rows - 2) k = t->rows - 2;
  if (k < 0) k = 0;
  double a = can_value(t, k, name), b = can_value(t, k + 1, name), from = t->data[k * t->columns];
  return a + (time - from) / 1e-3 * (b - a);
}

// A column of a log, and the column of the run from which the script made it.
typedef struct logged_column {
  const char *column, *output;
  double factor, noise, resolution;  // in the unit of the column
  double early, late;                // limits of the delay of the times, s
  long values;
} logged_column;

// Compares a column with the run: all values within 5 standard deviations of the range of the run between the limits of the delay, their
// mean within 5 of its own, and the scatter.
static inline void logged_compare(const od_table *log, const od_table *run, const logged_column *e) {
  enum { STEPS = 8 };  // points of the run between the limits
  double sum = 0, squares = 0, limit = 5 * e->noise + e->resolution, slack = 0;
  int c = od_table_find(log, e->column);
  long count = 0;
  assert_true(c > 0);
  for (long k = 0; k < log->rows; k++) {
    double value = log->data[k * log->columns + c], time = log->data[k * log->columns], low = INFINITY,
           high = -INFINITY;
    if (isnan(value)) continue;
    for (int j = 0; j <= STEPS; j++) {
      double then =
          e->factor * logged_value(run, e->output, fmax(time - e->early - j * (e->late - e->early) / STEPS, 0));
      low = fmin(low, then), high = fmax(high, then);
    }
    double half = (high - low) / 2, d = value - (low + high) / 2;
    if (!(fabs(d) <= limit + half)) fail_msg("%s at %.6f s: %g, off by %g", e->column, time, value, d);
    sum += d, squares += d * d, slack += half, count++;
  }
  assert_int_equal(count, e->values);
  double n = (double)count;
  near(sum / n, 0, 5 * e->noise / sqrt(n) + slack / n + e->resolution / sqrt(n));
  if (e->noise > 0) near_relative(sqrt(squares / n), e->noise, 5 / sqrt(2 * n));
}

// The number after a name in JSON.
static inline double logged_number(const char *json, const char *name, const char *key) {
  const char *at = strstr(json, name);
  at = at ? strstr(at, key) : NULL;
  if (!at) fail_msg("there is no '%s' of '%s'", key, name);
  return strtod(at + strlen(key), NULL);
}

// A fit finds a number of the machine: within 3 of its standard deviations, which are at most `share` of the number.
static inline void logged_estimate(const char *json, const char *parameter, double value, double share) {
  double sigma = logged_number(json, parameter, "\"sigma\": ");
  near(logged_number(json, parameter, "\"estimate\": "), value, 3 * sigma);
  assert_true(sigma > 0 && sigma < share * value);
}

#endif
