// Sudden changes of parameters. Oracle: Kalman filters of a state and two parameters, written here. After a detected change, estimate and
// covariance must equal those of filters over the same samples that add the variance of the change at one of the starting times, weighted
// with their likelihoods. Without a change alarms are rare; with a change the named parameter and the interval of the time are correct.
#include "support/test.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "observe/change_watch.h"
#include "random/random.h"

enum { NX = 1, NP = 2, NY = 2, N = NX + NP };
static const int watched[NP] = {0, 1};
static const double change[NP] = {1.25, 0.8};

// x' = 0.95 x + 0.1 p0 + 0.1 u p1, with process noise of standard deviation 0.01; x and x + 0.2 p1 are measured with standard deviation 0.3.
typedef struct filter {
  od_change_watch *watch;
  double x[N], P[N][N];
} filter;

static double input_at(long k) {
  return sin(0.05 * (double)k);
}

static void begin(filter *f, od_change_watch *watch, double *memory) {
  *f = (filter){.watch = watch, .P = {{1, 0, 0}, {0, 4, 0}, {0, 0, 4}}};
  if (watch) od_change_watch_init(watch, NX, NP, NY, NP, watched, change, memory);
}

static void predict(filter *f, long k) {
  const double A[NX * NX] = {0.95}, B[NX * NP] = {0.1, 0.1 * input_at(k)}, F[N] = {A[0], B[0], B[1]};
  double x = 0, FP[N];
  for (int j = 0; j < N; j++) {
    FP[j] = 0;
    x += F[j] * f->x[j];
    for (int i = 0; i < N; i++) FP[j] += F[i] * f->P[i][j];
  }
  f->x[0] = x;
  for (int j = 1; j < N; j++) f->P[0][j] = f->P[j][0] = FP[j];
  f->P[0][0] = FP[0] * F[0] + FP[1] * F[1] + FP[2] * F[2] + 1e-4;
  if (f->watch) od_change_watch_predict(f->watch, A, B);
}

// Corrects with a sample. Returns the log likelihood of the sample, without a constant.
static double correct(filter *f, const double y[NY]) {
  double likelihood = 0;
  static const double H[NY][N] = {{1, 0, 0}, {1, 0, 0.2}};
  if (f->watch) od_change_watch_begin_pass(f->watch);
  for (int m = 0; m < NY; m++) {
    double s = 0.09, value = y[m], g[N], K[N];
    for (int i = 0; i < N; i++) {
      g[i] = 0;
      for (int j = 0; j < N; j++) g[i] += f->P[i][j] * H[m][j];
    }
    for (int i = 0; i < N; i++) s += H[m][i] * g[i], value -= H[m][i] * f->x[i];
    for (int i = 0; i < N; i++) K[i] = g[i] / s;
    for (int i = 0; i < N; i++) {
      f->x[i] += K[i] * value;
      for (int j = 0; j < N; j++) f->P[i][j] -= K[i] * g[j];
    }
    likelihood -= 0.5 * (value * value / s + log(s));
    if (f->watch) od_change_watch_sensor(f->watch, H[m], value, s);
    if (f->watch) od_change_watch_gain(f->watch, K);
  }
  if (f->watch) od_change_watch_corrected(f->watch);
  return likelihood;
}

// The true machine: parameter `which` changes by `by` after sample `at`.
typedef struct truth {
  double x, p[NP];
  uint64_t seed;
  long at;
  int which;
  double by;
} truth;

static void measure(truth *r, long k, double y[NY]) {
  r->x = 0.95 * r->x + 0.1 * r->p[0] + 0.1 * input_at(k) * r->p[1] +
         0.01 * od_random_gaussian(r->seed, 1, (uint64_t)k, OD_USE_PROCESS);
  if (k == r->at) r->p[r->which] += r->by;
  y[0] = r->x + 0.3 * od_random_gaussian(r->seed, 2, (uint64_t)k, OD_USE_PROCESS);
  y[1] = r->x + 0.2 * r->p[1] + 0.3 * od_random_gaussian(r->seed, 3, (uint64_t)k, OD_USE_PROCESS);
}

static truth truth_of(uint64_t seed, long at, int which, double by) {
  return (truth){.x = 0, .p = {1, -1}, .seed = seed, .at = at, .which = which, .by = by};
}

// Ends a sample of a filter with a watch. Returns whether a change is detected; then the estimate is corrected.
static bool end(filter *f, long k, bool is_valid, od_parameter_change *out) {
  double variance[NP] = {f->P[1][1], f->P[2][2]}, delta[N], added[N * N];
  if (!od_change_watch_end(f->watch, (double)k, f->x + NX, variance, is_valid, delta, added, out)) return false;
  for (int i = 0; i < N; i++) f->x[i] += delta[i];
  for (int i = 0; i < N * N; i++) f->P[i / N][i % N] += added[i];
  return true;
}

static double *memory_of_watch(void) {
  return calloc(od_change_watch_size(NX, NP, NY, NP), sizeof(double));
}

// Computes the estimate after sample `to` that the watch has to reach: filters over the same samples, each of which adds the variances of
// the changes of all possible causes after one of the starting times, weighted with their likelihoods and with the distances of the times.
static void check_mixture(const filter *f, const od_change_watch *before, truth like, long to) {
  static filter g[OD_WATCH_SLOTS];
  double weight[OD_WATCH_SLOTS], most = -INFINITY, all = 0;
  for (int s = 0; s < before->slots; s++) {
    const int *order = before->order;
    double time = before->time[order[s]], from = before->time[order[s > 0 ? s - 1 : 0]];
    truth r = like;
    begin(&g[s], NULL, NULL);
    weight[s] = 0;
    for (long k = 1; k <= to; k++) {
      double y[NY];
      measure(&r, k, y);
      predict(&g[s], k);
      weight[s] += correct(&g[s], y);
      for (int i = 0; i < NP && k == (long)time; i++) {
        if (!(before->suspect[i] > 0)) continue;
        if (!(g[s].P[NX + i][NX + i] < 0.25 * change[i] * change[i])) weight[s] = -INFINITY;
        g[s].P[NX + i][NX + i] += change[i] * change[i];
      }
    }
    weight[s] += log((s + 1 < before->slots ? before->time[order[s + 1]] : (double)to) - from);
    most = fmax(most, weight[s]);
  }
  double x[N] = {0}, P[N][N] = {{0}};
  for (int s = 0; s < before->slots; s++) all += weight[s] = exp(weight[s] - most);
  for (int s = 0; s < before->slots; s++)
    for (int i = 0; i < N; i++) x[i] += weight[s] / all * g[s].x[i];
  for (int s = 0; s < before->slots; s++)
    for (int i = 0; i < N; i++)
      for (int j = 0; j < N; j++) P[i][j] += weight[s] / all * (g[s].P[i][j] + (g[s].x[i] - x[i]) * (g[s].x[j] - x[j]));
  for (int i = 0; i < N; i++) {
    near(f->x[i], x[i], 1e-9);
    for (int j = 0; j < N; j++) near(f->P[i][j], P[i][j], 1e-9);
  }
}

static void test_step(void **state) {
  (void)state;
  int inside = 0, runs = 0;
  double *memory = memory_of_watch();
  for (uint64_t seed = 1; seed <= 40; seed++) {
    od_change_watch watch;
    filter f;
    od_parameter_change found = {0}, last;
    truth r = truth_of(seed, 1000, (int)(seed % 2), 0.8), like = r;
    int alarms = 0;
    begin(&f, &watch, memory);
    for (long k = 1; k <= 2000; k++) {
      double y[NY];
      measure(&r, k, y);
      predict(&f, k);
      correct(&f, y);
      od_change_watch before = watch;
      if (!end(&f, k, true, &last)) continue;
      alarms++, found = last;
      if (alarms == 1) check_mixture(&f, &before, like, k);
    }
    if (alarms != 1) fail_msg("seed %d: %d changes detected", (int)seed, alarms);
    assert_true(found.time > 1000 && found.time < 1300);
    inside += found.earliest <= 1000 && found.latest >= 1000;
    runs++;
    double variance[NP] = {f.P[1][1], f.P[2][2]};
    od_change_watch_name(&watch, f.x + NX, variance, &found);
    assert_int_equal(found.parameter, like.which);
    assert_true(found.after == f.x[NX + like.which]);
    // Possible causes of a change that is still tested do not rename the detected change.
    watch.possible[like.which] = 0, watch.possible[1 - like.which] = 1;
    od_change_watch_name(&watch, f.x + NX, variance, &found);
    assert_int_equal(found.parameter, like.which);
    double before = like.which ? -1 : 1, sigma = sqrt(f.P[NX + like.which][NX + like.which]);
    assert_true(fabs(found.before - before) < 4 * found.sigma && found.sigma < 0.2);
    assert_true(fabs(f.x[NX + like.which] - before - 0.8) < 4 * sigma && sigma < 0.2);
  }
  // 95 % of the intervals contain the time of the change: fewer than 33 of 40 with a probability of 0.1 %.
  if (inside < 33) fail_msg("%d of %d intervals contain the time of the change", inside, runs);
  free(memory);
}

// 200 runs of 2000 samples without a change: at most two alarms.
static void test_no_change(void **state) {
  (void)state;
  int alarms = 0;
  double *memory = memory_of_watch();
  for (uint64_t seed = 101; seed <= 300; seed++) {
    od_change_watch watch;
    filter f;
    od_parameter_change found;
    truth r = truth_of(seed, -1, 0, 0);
    begin(&f, &watch, memory);
    for (long k = 1; k <= 2000; k++) {
      double y[NY];
      measure(&r, k, y);
      predict(&f, k);
      correct(&f, y);
      alarms += end(&f, k, true, &found);
    }
  }
  if (alarms > 2) fail_msg("%d false alarms in 200 runs", alarms);
  free(memory);
}

// After samples at which the filter is not consistent, only later changes are detected.
static void test_invalid(void **state) {
  (void)state;
  double *memory = memory_of_watch();
  od_change_watch watch;
  filter f;
  od_parameter_change found;
  truth r = truth_of(1, 1000, 0, 0.8);
  begin(&f, &watch, memory);
  for (long k = 1; k <= 1200; k++) {
    double y[NY];
    measure(&r, k, y);
    predict(&f, k);
    correct(&f, y);
    assert_false(end(&f, k, k < 990, &found));
  }
  assert_int_equal(watch.slots, 0);
  free(memory);
}

// Saves the watch, changes one integer, and returns the reported problem. where: 0: the number of starting times; 1 and more: an index.
static const char *problem_of(od_change_watch *w, int where, int value) {
  od_pieces t = {.mode = OD_PIECES_COUNT};
  od_change_watch_transfer(w, &t);
  const size_t size = t.at;
  char *saved = aligned_alloc(16, size);
  assert_non_null(saved);
  od_change_watch changed = *w;
  *(where == 0 ? &changed.slots : &changed.order[where - 1]) = value;
  t = (od_pieces){.mode = OD_PIECES_SAVE, .to = saved};
  od_change_watch_transfer(&changed, &t);
  t = (od_pieces){.mode = OD_PIECES_CHECK, .from = saved};
  od_change_watch_transfer(w, &t);
  assert_int_equal(t.at, size);
  free(saved);
  return t.problem;
}

// A watch without any starting time up to a full one can be saved; numbers and indices beyond are refused. A restored watch has the same bits.
static void test_saved(void **state) {
  (void)state;
  double *memory = memory_of_watch(), *other_memory = memory_of_watch();
  od_change_watch watch, other;
  filter f, g;
  od_parameter_change found;
  truth r = truth_of(1, 1000, 0, 0.8);
  begin(&f, &watch, memory);
  for (long k = 1; k <= 600; k++) {
    double y[NY];
    measure(&r, k, y);
    predict(&f, k);
    correct(&f, y);
    end(&f, k, true, &found);
  }
  assert_true(watch.slots > 5);
  for (int value = -2; value <= OD_WATCH_SLOTS + 2; value++) {
    const char *count = problem_of(&watch, 0, value);
    assert_true((count == NULL) == (value >= 0 && value <= OD_WATCH_SLOTS));
    if (count) assert_non_null(strstr(count, "number of starting times"));
    for (int where = 1; where <= OD_WATCH_SLOTS; where++) {
      const char *index = problem_of(&watch, where, value);
      assert_true((index == NULL) == (value >= 0 && value < OD_WATCH_SLOTS));
      if (index) assert_non_null(strstr(index, "index of a starting time"));
    }
  }
  begin(&g, &other, other_memory);
  od_pieces t = {.mode = OD_PIECES_COUNT};
  od_change_watch_transfer(&watch, &t);
  char *saved = aligned_alloc(16, t.at);
  assert_non_null(saved);
  t = (od_pieces){.mode = OD_PIECES_SAVE, .to = saved};
  od_change_watch_transfer(&watch, &t);
  t = (od_pieces){.mode = OD_PIECES_RESTORE, .from = saved};
  od_change_watch_transfer(&other, &t);
  assert_memory_equal(other_memory, memory, od_change_watch_size(NX, NP, NY, NP) * sizeof *memory);
  assert_true(other.slots == watch.slots && memcmp(other.order, watch.order, sizeof watch.order) == 0);
  free(saved), free(memory), free(other_memory);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_step), cmocka_unit_test(test_no_change),
                                     cmocka_unit_test(test_invalid), cmocka_unit_test(test_saved)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
