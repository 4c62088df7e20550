// True motions shared by runs: they equal the motions that each run would simulate itself, and parts that depend on the seed are not
// shared.
//
// Oracle: the same experiment without a kept motion, bit by bit; for a failing machine, its own message.
#include "support/test.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>

#include "study/shared_truth.h"
#include "study/study.h"
#include "support/experiments.h"
#include "support/scratch.h"

#define CASE OD_SOURCE_DIR "/cases/fourbar-valve/points-3.experiment.yaml"

// A cart that is pushed by a force which jumps at a sample and between two; its position is known by integrating its acceleration twice.
static const char machine[] =
    "bodies: {cart: {mass: 2 kg, points: {P: [0, 0]}}}\n"
    "joints: {rail: {type: prismatic, between: [ground, cart], axis: [1, 0]}}\n"
    "inputs: {push: {unit: N, steps: {at: [[0 s, 1 N], [0.05 s, 3 N], [0.123 s, -2 N]]}}}\n"
    "forces: {pusher: {at: cart.P, direction: [1, 0], value: push}}\n"
    "initial: {rail.position: 1 m, rail.rate: 2 m/s}\n"
    "variants: {light: {bodies: {cart: {mass: 1 kg}}}}\n";

static od_experiment *cart(scratch *s, const char *name, const char *rest, const od_experiment_options *options) {
  char text[1500];
  scratch_write(s, "machine.yaml", machine, strlen(machine));
  int n = snprintf(
      text, sizeof text,
      "machine: machine.yaml\ntime: 0.2 s\nstep: 10 ms\n"
      "sensors:\n  rail.position: {source: rail.acceleration, integrate: 2, sigma: 0.1 m/s^2, bias: 0.1 m/s^2}\n"
      "  rail.rate: {sigma: 0.1 m/s, delay: 20 ms, dropout: 0.2}\n"
      "initial: {rail.position: 10 mm, rail.rate: 0.1 m/s}\n%s",
      rest);
  return load_experiment(scratch_write(s, name, text, (size_t)n), options);
}

static od_kept_motion *kept(const od_experiment *e) {
  od_kept_motion *k = NULL;
  od_error err = {0};
  if (od_kept_motion_new(e, (od_going_on){0}, &k, &err) != OD_OK) fail_msg("%s", err.text);
  return k;
}

// Compares all samples of both, and their ends. Returns the number of samples.
static long same_samples(const od_experiment *a, const od_experiment *b, od_status end) {
  od_sample_source source[2];
  od_error err[2] = {0};
  od_status status[2];
  long samples = 0;
  assert_int_equal(od_sample_source_simulated(a, &source[0], &err[0]), OD_OK);
  assert_int_equal(od_sample_source_simulated(b, &source[1], &err[1]), OD_OK);
  assert_true(source[0].step == source[1].step && source[0].end == source[1].end);
  for (;; samples++) {
    od_sample s[2];
    bool more[2];
    for (int i = 0; i < 2; i++) status[i] = source[i].next(source[i].self, &s[i], &more[i], &err[i]);
    assert_int_equal(status[0], status[1]);
    if (status[0] == OD_OK) assert_int_equal(more[0], more[1]);
    if (status[0] != OD_OK || !more[0]) break;
    assert_true(s[0].t == s[1].t);
    size_t nu = (size_t)od_machine_input_count(a->truth) * sizeof(double), sensors = (size_t)a->sensors;
    assert_memory_equal(s[0].u, s[1].u, nu);
    assert_true((s[0].u_after != NULL) == (s[1].u_after != NULL));
    if (s[0].u_after) assert_memory_equal(s[0].u_after, s[1].u_after, nu);
    assert_memory_equal(s[0].y, s[1].y, sensors * sizeof(double));
    assert_memory_equal(s[0].truth, s[1].truth, ((size_t)a->watches + sensors) * sizeof(double));
  }
  assert_int_equal(status[0], end);
  assert_string_equal(err[0].text, err[1].text);
  for (int i = 0; i < 2; i++) od_sample_source_free(&source[i]);
  return samples;
}

// Jumps of inputs, sensors with integration, delay or lost samples.
static void samples_are_the_same(void **state) {
  od_experiment *e = cart(*state, "x.yaml", "", NULL);
  od_kept_motion *k = kept(e);
  for (uint64_t seed = 1; seed < 4; seed++) {
    od_experiment alone = *e, shared = *e;
    alone.seed = shared.seed = seed;
    shared.motion = k;
    assert_int_equal(same_samples(&alone, &shared, OD_OK), 21);
  }
  od_kept_motion_free(k);
  od_experiment_free(e);
}

// The steps of a machine fail during the run.
static void failures_are_the_same(void **state) {
  static const char wild[] =
      "bodies: {cart: {mass: 2 kg, points: {P: [0, 0]}}}\n"
      "joints: {rail: {type: prismatic, between: [ground, cart], axis: [1, 0]}}\n"
      "inputs: {push: {unit: N, steps: {at: [[0 s, 1 N], [0.095 s, 1.7e308 N]]}}}\n"
      "forces: {pusher: {at: cart.P, direction: [1, 0], value: push}}\ninitial: {rail.position: 0 m, rail.rate: 0 m/s}\n";
  static const char text[] =
      "machine: wild.yaml\ntime: 0.2 s\nstep: 10 ms\nsensors: {rail.position: {sigma: 1 mm}}\n"
      "initial: {rail.position: 10 mm, rail.rate: 0.1 m/s}\n";
  scratch_write(*state, "wild.yaml", wild, strlen(wild));
  od_experiment *e = load_experiment(scratch_write(*state, "x.yaml", text, strlen(text)), NULL), shared = *e;
  od_kept_motion *k = kept(e);
  shared.motion = k;
  od_error err = {0};
  od_status status = od_kept_motion_status(k, &err);
  assert_true(status != OD_OK && strstr(err.text, "the true machine's step to 0.1 s failed"));
  assert_int_equal(same_samples(e, &shared, status), 10);
  od_kept_motion_free(k);
  od_experiment_free(e);
}

// A run of a study equals a single observation with the same seed.
static void studies_give_what_runs_give(void **state) {
  static const char text[] =
      "seeds: 1\nfirst_seed: 5\ncases:\n"
      "  a: {experiment: " CASE
      ", set: {time: 0.1 s}}\n"
      "  b: {experiment: " CASE ", set: {time: 0.1 s, sensors.P.pressure.bias: 1 bar}}\n";
  od_messages *messages = od_messages_new();
  od_study *study = NULL;
  od_study_result *r = NULL;
  od_error err = {0};
  od_study_load(scratch_write(*state, "s.yaml", text, strlen(text)), NULL, &study, messages);
  if (!study) od_messages_print(messages, stderr, false);
  assert_non_null(study);
  assert_int_equal(od_study_run(study, &(od_study_run_options){.threads = 2}, &r, &err), OD_OK);
  const char *const sets[] = {"time=0.1 s", "sensors.P.pressure.bias=1 bar"};
  int compared = 0;
  for (int i = 0; i < r->rows; i++) {
    if (strcmp(r->row[i].metric->name, "nis_per_dim") != 0) continue;
    od_experiment *e = load_experiment(CASE, &(od_experiment_options){.set = sets, .set_count = ++compared});
    e->seed = 5;
    od_observed *o = observe(e);
    assert_true(r->row[i].value == o->nis / (double)o->nis_dimension);
    od_observed_free(o);
    od_experiment_free(e);
  }
  assert_int_equal(compared, 2);
  od_study_result_free(r);
  od_study_free(study);
  od_messages_free(messages);
}

static void what_depends_on_the_seed_is_not_shared(void **state) {
  od_shared_truths *all = od_shared_truths_new(1e6);
  od_experiment *quiet = cart(*state, "x.yaml", "", NULL),
                *noisy =
                    cart(*state, "y.yaml", "noise: {acceleration: 0.1}\ntruth: {noise: {acceleration: 0.1}}\n", NULL);
  assert_non_null(od_shared_truths_find(all, quiet));
  assert_null(od_shared_truths_find(all, noisy));
  od_experiment_free(quiet);
  od_experiment_free(noisy);
  od_shared_truths_free(all);
}

// Cases share a motion if all its numbers are equal: another filter or model has no effect, any other difference has.
static void only_equal_truths_are_shared(void **state) {
  static const char *const set[][1] = {{"model.cart.mass=3 kg"},
                                       {"sensors.rail.rate.bias=0.1 m/s"},
                                       {"truth.cart.mass=3 kg"},
                                       {"time=0.3 s"},
                                       {"step=5 ms"}};
  const struct {
    od_experiment_options options;
    const char *rest;
    bool same;
  } other[] = {{{0}, "", true},
               {{0}, "filter: ukf\n", true},
               {{.set = set[0], .set_count = 1}, "", true},
               {{.set = set[1], .set_count = 1}, "", true},
               {{.set = set[2], .set_count = 1}, "", false},
               {{.set = set[3], .set_count = 1}, "", false},
               {{.set = set[4], .set_count = 1}, "", false},
               {{.truth = "light"}, "", false},
               {{.sensors = "rail.rate"}, "", false},
               {{0}, "integrator: tr-bdf2\n", false}};
  od_experiment *e = cart(*state, "x.yaml", "", NULL);
  for (size_t i = 0; i < sizeof other / sizeof *other; i++) {
    od_experiment *o = cart(*state, "y.yaml", other[i].rest, &other[i].options);
    od_shared_truths *all = od_shared_truths_new(1e6);
    const od_shared_truth *first = od_shared_truths_find(all, e), *second = od_shared_truths_find(all, o);
    assert_true(first && second);
    if ((first == second) != other[i].same) fail_msg("truth %d", (int)i);
    od_shared_truths_free(all);
    od_experiment_free(o);
  }
  od_experiment_free(e);
}

static void memory_is_bounded(void **state) {
  od_experiment *e = cart(*state, "x.yaml", "", NULL),
                *light = cart(*state, "y.yaml", "truth: {variant: light}\n", NULL);
  double bytes = od_kept_motion_bytes(e);
  assert_true(bytes > 21 * 6 * sizeof(double) && bytes < 21 * 8 * sizeof(double));  // 1 input twice, 4 outputs, a flag
  od_shared_truths *all = od_shared_truths_new(1.5 * bytes);
  od_shared_truth *place = od_shared_truths_find(all, e);
  assert_non_null(place);
  assert_null(od_shared_truths_find(all, light));
  assert_ptr_equal(od_shared_truths_find(all, e), place);
  od_shared_truths_free(all);
  od_experiment_free(e);
  od_experiment_free(light);
}

static atomic_int asked;
static bool counts(void *user, double done) {
  (void)done;
  asked++;
  return !*(bool *)user;
}
static void *take(void *place) {
  static bool never;
  const od_kept_motion *k = NULL;
  od_error err = {0};
  return od_shared_truth_motion(place, (od_going_on){counts, &never}, &k, &err) == OD_OK ? (void *)k : NULL;
}

// All threads get one motion, which is simulated once; after an interrupt the motion is not kept, and the next request
// simulates it.
static void it_is_simulated_once(void **state) {
  (void)state;
  enum { THREADS = 4 };
  const char *const sets[] = {"time=0.6 s"};
  od_experiment *e = load_experiment(CASE, &(od_experiment_options){.set = sets, .set_count = 1});
  od_shared_truths *all = od_shared_truths_new(1e6);
  od_shared_truth *place = od_shared_truths_find(all, e);
  const od_kept_motion *k = NULL;
  bool stops = true;
  od_error err = {0};
  assert_int_equal(od_shared_truth_motion(place, (od_going_on){counts, &stops}, &k, &err), OD_INTERRUPTED);
  assert_null(k);
  pthread_t thread[THREADS];
  void *got[THREADS];
  asked = 0;
  for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_create(&thread[i], NULL, take, place), 0);
  for (int i = 0; i < THREADS; i++) pthread_join(thread[i], &got[i]);
  for (int i = 0; i < THREADS; i++) assert_true(got[i] && got[i] == got[0]);
  assert_int_equal(asked, 601 / 16);  // every 16 samples
  od_shared_truths_free(all);
  od_experiment_free(e);
}

// Rows of a simulated set of a fit, with noise of seed `seed`.
static od_fit_data *rows_of(od_fit_plan *plan, int set, uint64_t seed) {
  od_fit_data *d = NULL;
  od_error err = {0};
  plan->e->seed = seed;
  if (od_fit_data_make(plan, &plan->set[set], NULL, &d, &err) != OD_OK) fail_msg("%s", err.text);
  return d;
}

static void sets_of_fits_are_the_same(void **state) {
  (void)state;
  od_messages *messages = od_messages_new();
  od_fit_plan *alone = NULL, *kept = NULL;
  const char *path = OD_SOURCE_DIR "/cases/fin-servo/fit.yaml";
  assert_int_equal(od_fit_plan_load(path, &(od_experiment_options){0}, &alone, messages), OD_OK);
  assert_int_equal(od_fit_plan_load(path, &(od_experiment_options){0}, &kept, messages), OD_OK);
  // Enough memory for the first set, and not quite enough for the second one.
  od_shared_truths *all = od_shared_truths_new(od_fit_truth_bytes(kept, 0) + od_fit_truth_bytes(kept, 1) - 1);
  od_error err = {0};
  assert_int_equal(od_shared_truths_keep_sets(all, kept, 2, (od_going_on){0}, &err), OD_OK);
  assert_true(kept->set[0].true_motion && !kept->set[1].true_motion);
  for (int set = 0; set < 2; set++)
    for (uint64_t seed = 1; seed < 3; seed++) {
      od_fit_data *a = rows_of(alone, set, seed), *b = rows_of(kept, set, seed);
      size_t rows = (size_t)a->rows, d = sizeof(double);
      assert_true(a->rows == b->rows && rows > 100);
      assert_memory_equal(a->time, b->time, rows * d);
      assert_memory_equal(a->u, b->u, rows * (size_t)od_machine_input_count(alone->e->model) * d);
      assert_memory_equal(a->y, b->y, rows * (size_t)alone->e->sensors * d);
      assert_memory_equal(a->sigma, b->sigma, (size_t)alone->e->sensors * d);
      od_fit_data_free(a);
      od_fit_data_free(b);
    }
  od_shared_truths_free(all);
  od_fit_plan_free(alone);
  od_fit_plan_free(kept);
  od_messages_free(messages);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(samples_are_the_same, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(failures_are_the_same, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(studies_give_what_runs_give, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(what_depends_on_the_seed_is_not_shared, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(only_equal_truths_are_shared, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(memory_is_bounded, scratch_setup, scratch_teardown),
      cmocka_unit_test(it_is_simulated_once),
      cmocka_unit_test(sets_of_fits_are_the_same),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
