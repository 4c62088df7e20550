// Runs with keep_going return to their last good sample after a failed one. Oracle: the same run without the samples that fail, whose rows
// must be the same to the bit.
#include "support/test.h"

#include <math.h>
#include <stdlib.h>

#include "oleodyn/machine.h"
#include "support/experiments.h"

// A source that repeats the rows of a table, and adds samples that cannot be used.
typedef struct repeated {
  const od_experiment *e;
  const od_table *table;
  const od_columns *columns;
  long at;         // next row
  long bad_after;  // number of good samples between two bad ones; 0: no bad samples
  long good, bad;  // good samples since the last bad one; number of bad samples
  bool jumps;      // whether the inputs are constant between samples and jump at samples
  double *u, *u_last, *y;
} repeated;

static od_status next(void *self, od_sample *out, bool *more, od_error *err) {
  repeated *r = self;
  (void)err;
  int nu = od_machine_input_count(r->e->model);
  bool bad = r->bad_after > 0 && r->good >= r->bad_after;
  *more = r->at < r->table->rows;
  if (!*more) return OD_OK;
  const double *row = r->table->data + r->at * r->table->columns;
  if (bad) {
    // A measurement that is far off, or an input that is not finite. Several of them follow each other.
    memcpy(r->y, row + 1, (size_t)r->e->sensors * sizeof *r->y);
    if (r->bad % 2 || nu == 0)
      r->y[0] = 1e300;
    else
      r->u[0] = INFINITY;
    *out = (od_sample){.t = row[0] - 0.2 * r->e->step, .u = r->u, .y = r->y};
    r->bad++;
    if (r->bad % 3 == 0) r->good = 0;
    return OD_OK;
  }
  const double *before = r->at > 0 ? row - r->table->columns : row;
  memcpy(r->u, row + r->columns->input, (size_t)nu * sizeof *r->u);
  memcpy(r->u_last, before + r->columns->input, (size_t)nu * sizeof *r->u);
  memcpy(r->y, row + 1, (size_t)r->e->sensors * sizeof *r->y);
  *out = (od_sample){.t = row[0], .u = r->jumps ? r->u_last : r->u, .u_after = r->jumps ? r->u : NULL, .y = r->y};
  r->at++;
  r->good++;
  return OD_OK;
}

// The rows of all good samples.
typedef struct answers {
  double *row;
  long rows, failed, other;
  int columns;
} answers;

static bool take(void *user, const od_observed *o, const double *row, od_sample_fate fate, const char *why) {
  answers *a = user;
  (void)why;
  a->columns = o->columns.count;
  a->failed += fate == OD_FAILED;
  a->other += fate == OD_HELD || fate == OD_REFUSED;
  if (fate != OD_TAKEN) return true;
  a->row = realloc(a->row, (size_t)(++a->rows * a->columns) * sizeof *a->row);
  assert_non_null(a->row);
  memcpy(a->row + (a->rows - 1) * a->columns, row, (size_t)a->columns * sizeof *row);
  return true;
}

static answers answer(const od_experiment *e, const od_observed *run, long bad_after, bool jumps) {
  double u[16] = {0}, u_last[16] = {0}, y[16] = {0};
  answers a = {0};
  repeated r = {.e = e,
                .table = run->table,
                .columns = &run->columns,
                .bad_after = bad_after,
                .jumps = jumps,
                .u = u,
                .u_last = u_last,
                .y = y};
  od_sample_source source = {.self = &r, .next = next, .step = e->step, .end = INFINITY};
  od_observed *o = NULL;
  od_error err = {0};
  assert_true(e->sensors <= 16 && od_machine_input_count(e->model) <= 16);
  if (od_observe(e, &(od_observe_options){.source = &source, .answer = take, .user = &a, .keep_going = true}, &o,
                 &err) != OD_OK)
    fail_msg("%s: %s", e->title, err.text);
  assert_int_equal(a.failed, r.bad);
  assert_int_equal(a.other, 0);
  assert_int_equal(a.rows, run->table->rows);
  od_observed_free(o);
  return a;
}

// Blocks of 0.1 to 5 MB; filters; mechanisms that change coordinates; bad samples after each, after nearly each, and after many good samples.
static void test_same_bits(void **state) {
  (void)state;
  static const struct {
    const char *experiment, *time;
    bool jumps;
  } trials[] = {{"fourbar-valve/points-6", "time=0.5", false},  {"fourbar-valve/points-3", "time=0.5", true},
                {"fourbar-observer/gyro", "time=1", false},     {"fourbar-observer/encoder", "time=1", false},
                {"fourbar-observer/spinning", "time=2", false}, {"valve-wear/step", "time=3", false}};
  static const long bad_after[] = {1, 2, 31, 62, 63, 64, 65, 200};
  for (size_t i = 0; i < sizeof trials / sizeof *trials; i++) {
    char path[300];
    snprintf(path, sizeof path, OD_SOURCE_DIR "/cases/%s.experiment.yaml", trials[i].experiment);
    od_experiment *e = load_experiment(path, &(od_experiment_options){.set = &trials[i].time, .set_count = 1});
    od_observed *run = observe(e);
    answers good = answer(e, run, 0, trials[i].jumps);
    for (size_t k = 0; k < sizeof bad_after / sizeof *bad_after; k++) {
      answers a = answer(e, run, bad_after[k], trials[i].jumps);
      assert_true(a.failed > 0);
      for (long row = 0; row < good.rows; row++) {
        const size_t size = (size_t)good.columns * sizeof *good.row;
        if (memcmp(a.row + row * good.columns, good.row + row * good.columns, size) != 0)
          fail_msg("%s: row %ld differs with bad samples after %ld", path, row, bad_after[k]);
      }
      free(a.row);
    }
    free(good.row);
    od_observed_free(run);
    od_experiment_free(e);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_same_bits)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
