// Observed runs that are stopped and go on from their checkpoint, with simulated data. Oracle: the same run without interruption, whose rows
// and statistics must be the same to the bit.
#include "support/test.h"

#include "support/experiments.h"

static int calls;
static bool stop_soon(void *user, double done) {
  (void)done;
  return ++calls < *(const int *)user;
}

static od_observed *observe_with(const od_experiment *e, od_observe_options options, od_status expected) {
  od_observed *o = NULL;
  od_error err = {0};
  if (od_observe(e, &options, &o, &err) != expected) fail_msg("%s after %d calls: %s", e->title, calls, err.text);
  return o;
}

static bool is_same_time(double a, double b) {
  return a == b || (isnan(a) && isnan(b));
}

// Returns whether the filter has fallen back. The verdict and the column `fell_back` must show the same time.
static bool has_fallen_back(const od_observed *o) {
  double since = NAN;
  const od_table *t = o->table;
  for (long i = 0; i < t->rows && o->may_fall_back; i++)
    if (t->data[i * t->columns + o->columns.fell_back] != 0 && isnan(since)) since = t->data[i * t->columns];
  bool said = od_verdict_has(&o->verdict, "filter.fell_back");
  assert_true(is_same_time(since, o->fell_back_since) && said == !isnan(since));
  return said;
}

static bool stop_and_go_on(const char *path, const char *variant, const char *time, int after_calls) {
  od_experiment *e = load_experiment(path, &(od_experiment_options){.variant = variant, .set = &time, .set_count = 1});
  od_observed *whole = observe_with(e, (od_observe_options){0}, OD_OK);
  od_checkpoint checkpoint = {0};
  calls = 0;
  od_observed *before = observe_with(
      e, (od_observe_options){.progress = stop_soon, .user = &after_calls, .checkpoint = &checkpoint}, OD_INTERRUPTED);
  od_observed *after = observe_with(e, (od_observe_options){.resume = &checkpoint}, OD_OK);
  const od_table *t = whole->table;
  assert_int_equal(before->table->rows + after->table->rows, t->rows);
  size_t row = (size_t)t->columns * sizeof *t->data;
  assert_memory_equal(before->table->data, t->data, (size_t)before->table->rows * row);
  assert_memory_equal(after->table->data, t->data + before->table->rows * t->columns, (size_t)after->table->rows * row);
  size_t np = (size_t)e->parameters * sizeof(double);
  assert_memory_equal(after->estimate, whole->estimate, np);
  assert_memory_equal(after->sigma, whole->sigma, np);
  assert_memory_equal(after->metric, whole->metric, (size_t)e->metrics * sizeof(double));
  assert_true(after->nis == whole->nis && after->nis_dimension == whole->nis_dimension && after->steps == whole->steps);
  assert_true(after->begin == whole->begin && after->end == whole->end);
  assert_int_equal(after->windows, whole->windows);
  for (int i = 0; i < e->sensors; i++) {
    assert_memory_equal(&after->sensor[i], &whole->sensor[i], sizeof whole->sensor[i]);
    assert_true(after->innovations[i].run.square == whole->innovations[i].run.square);
    assert_true(after->innovations[i].correlation[1] == whole->innovations[i].correlation[1]);
    assert_true(after->innovations[i].together == whole->innovations[i].together);
  }
  for (int i = 0; i < e->watches; i++) assert_int_equal(after->within[i], whole->within[i]);
  assert_int_equal(after->verdict.trust, whole->verdict.trust);
  bool fell_back = has_fallen_back(whole);
  assert_true(is_same_time(after->fell_back_since, whole->fell_back_since));
  assert_true(is_same_time(after->settled_since, whole->settled_since));
  assert_int_equal(after->changes, whole->changes);
  for (long i = 0; i < whole->changes; i++) {
    const od_parameter_change *a = &after->change[i], *b = &whole->change[i];
    assert_true(a->parameter == b->parameter && a->time == b->time && a->earliest == b->earliest);
    assert_true(a->latest == b->latest && a->before == b->before && a->after == b->after);
  }
  od_checkpoint_free(&checkpoint);
  od_observed_free(whole);
  od_observed_free(before);
  od_observed_free(after);
  od_experiment_free(e);
  return fell_back;
}

static void test_filters(void **state) {
  (void)state;
  // The filters of these experiments: iterated and tuned extended Kalman filters, and the relinearizing filter. The last experiment stops
  // between a change at 5 s and its detection.
  static const struct {
    const char *experiment, *time;
    int calls;  // the run stops after 64 times this number of samples
  } trials[] = {{"fourbar-observer/gyro", "time=2", 2},
                {"fourbar-observer/encoder", "time=2", 3},
                {"fourbar-observer/tuned", "time=2", 2},
                {"fourbar-valve/points-3", "time=0.4", 3},
                {"valve-wear/step", "time=6.2", 82}};
  for (size_t i = 0; i < sizeof trials / sizeof *trials; i++) {
    char path[300];
    snprintf(path, sizeof path, OD_SOURCE_DIR "/cases/%s.experiment.yaml", trials[i].experiment);
    assert_true(!stop_and_go_on(path, NULL, trials[i].time, trials[i].calls));
  }
}

// A wrong model: the run is stopped before (64 samples) and after (192 samples) the filter falls back.
static void test_fallback(void **state) {
  (void)state;
  for (int stop = 1; stop <= 3; stop += 2)
    assert_true(stop_and_go_on(OD_SOURCE_DIR "/tests/fuzz/lag/lag.experiment.yaml", "wrong", "time=8", stop));
}

// A changed bit of each byte of a checkpoint is found by its checksum or its header.
static void test_damaged(void **state) {
  (void)state;
  od_experiment *e = load_experiment(OD_SOURCE_DIR "/tests/fuzz/lag/lag.experiment.yaml", NULL);
  od_checkpoint checkpoint = {0};
  od_observed_free(observe_with(e, (od_observe_options){.samples = 3, .checkpoint = &checkpoint}, OD_OK));
  unsigned char *bytes = checkpoint.bytes;
  for (size_t i = 0; i < checkpoint.size; i++) {
    od_observed *o = NULL;
    od_error err = {0};
    bytes[i] ^= (unsigned char)(1u << i % 8);
    assert_int_equal(od_observe(e, &(od_observe_options){.resume = &checkpoint}, &o, &err), OD_BAD_INPUT);
    assert_true(err.text[0] != '\0' && o == NULL);
    bytes[i] ^= (unsigned char)(1u << i % 8);
  }
  od_observed_free(observe_with(e, (od_observe_options){.resume = &checkpoint}, OD_OK));
  od_checkpoint_free(&checkpoint);
  od_experiment_free(e);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_filters), cmocka_unit_test(test_fallback),
                                     cmocka_unit_test(test_damaged)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
