// Columns of a log compared with the estimates of outputs that no sensor measures. Oracles: sequences with known spread and correlation; a
// log of the simulated machine whose compared columns are the true outputs plus known noise; the run without interruption.
#include "support/test.h"

#include <string.h>

#include "experiment/observe.h"
#include "math/normal.h"
#include "oleodyn/oleodyn.h"
#include "random/random.h"
#include "support/experiments.h"
#include "support/scratch.h"

static double gaussian(uint64_t seed, uint32_t stream, uint64_t sample) {
  return od_random_gaussian(seed, 4711 + stream, sample, OD_USE_NOISE);
}

// --- Statistics ---------------------------------------------------------------------------------------------------

// Compares `count` values of a sequence with an estimate that is zero and has the standard deviation 1.
typedef struct sequence {
  double scale, offset,
      correlation;      // of the errors of the estimate: first-order, with a standard deviation of `scale`
  double noise, given;  // noise of the column, and its value in the file (0: not given)
} sequence;

static od_reference_result compare(sequence q, uint64_t seed, int count) {
  od_watched watched = {.name = "x", .unit = "m"};
  od_reference reference = {.name = "r", .sigma = q.given};
  od_experiment e = {.watched = &watched, .watches = 1, .reference = &reference, .references = 1};
  od_reference_record *r = od_reference_record_new(&e);
  od_reference_result result;
  double error = q.scale * gaussian(seed, 0, 0), estimate = 0, sigma = 1;
  for (int i = 0; i < count; i++) {
    double measured = q.offset + error + q.noise * gaussian(seed, 1, (uint64_t)i);
    od_reference_record_take(r, &measured, &estimate, &sigma);
    error = q.correlation * error + sqrt(1 - q.correlation * q.correlation) * q.scale * gaussian(seed, 2, (uint64_t)i);
  }
  assert_true(od_reference_record_result(r, 0, &result));
  od_reference_record_free(r);
  return result;
}

// White and correlated errors of a consistent filter: 95 % are inside, and a test at the level of 1 % rejects few of 200 runs, whatever the
// correlation. A constant error is one independent value, whose chance is that of a normal number.
static void test_consistent(void **state) {
  (void)state;
  static const double correlations[] = {0, 0.9, 0.99, 0.999, 1};
  for (size_t k = 0; k < sizeof correlations / sizeof *correlations; k++) {
    double share = 0;
    int rejected = 0;
    for (uint64_t seed = 1; seed <= 200; seed++) {
      od_reference_result r = compare((sequence){1, 0, correlations[k], 0.5, 0.5}, seed, 1500);
      share += r.share / 200;
      rejected += r.square > 1 && r.chance < 0.01;
      assert_true(r.count == 1500 && r.freedom >= 1 && r.freedom <= 1500);
      near_relative(r.band, OD_NORMAL95 * sqrt(1.25), 1e-12);
    }
    near(share, 0.95, 0.03);
    // 200 trials with a probability of 1 % give more than 7 successes in one of 1000 cases.
    if (rejected > 7) fail_msg("correlation %g: %d rejected", correlations[k], rejected);
  }
  od_reference_result r = compare((sequence){0, 3, 1, 1e-9, 1e-9}, 1, 1000);
  near(r.freedom, 1, 1e-6);
  near(r.chance, erfc(3 / sqrt(2)), 1e-6);
  near(r.bias, 3, 1e-6);
  near(r.rms, 3, 1e-6);
  assert_true(r.share == 0);
}

// A wrong estimate is rejected. The noise of a column is found from its second differences, also with slow errors.
static void test_wrong(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 20; seed++) {
    od_reference_result r = compare((sequence){1, 6, 0.99, 0.5, 0.5}, seed, 5000);
    assert_true(r.share < 0.2 && r.chance < 1e-4);
    r = compare((sequence){3, 0, 0.5, 0.5, 0.5}, seed, 5000);
    assert_true(r.share < 0.6 && r.chance < 1e-10);
    r = compare((sequence){1, 0, 0.9999, 2, 0}, seed, 5000);
    near_relative(r.noise, 2, 0.05);
    r = compare((sequence){1, 0, 0, 1e-9, 1e-9}, seed, 2);
    assert_true(r.count == 2 && isnan(r.share) && isnan(r.rms));
  }
}

// --- A machine ----------------------------------------------------------------------------------------------------

static const char machine[] =
    "machine: lag\n"
    "bodies: {load: {point: {mass: 2 kg}}}\n"
    "joints: {rail: {type: prismatic, between: [ground, load], axis: [1, 0, 0]}}\n"
    "springs: {spring: {between: [ground, load], stiffness: 50 N/m, length: 0.5 m, damping: 2 N*s/m}}\n"
    "inputs: {push: {unit: N, sine: {amplitude: 5 N, frequency: 0.7 Hz}}}\n"
    "forces: {pusher: {at: load, value: push, direction: [1, 0]}}\n"
    "initial: {rail.position: 0.6 m}\n"
    "run: {time: 4 s, step: 5 ms}\n";
static const char experiment[] =
    "machine: machine.yaml\n"
    "%s"
    "sensors: {rail.position: {sigma: 1 mm}}\n"
    "initial: {rail.position: 5 mm, rail.rate: 20 mm/s}\n"
    "noise: {acceleration: 1e-4}\n"
    "filter: ekf\n"
    "%s";

// Writes the log of a simulated run: position with noise of the sensor, "v" with the true rate and known noise, "w" with a wrong rate.
static void write_log(scratch *s, uint64_t seed) {
  char text[1000];
  scratch_put(s, "machine.yaml", machine);
  snprintf(text, sizeof text, experiment, "truth: {}\n", "");
  od_experiment *e = load_experiment(scratch_put(s, "simulated.yaml", text), &(od_experiment_options){0});
  e->seed = seed;
  od_observed *o = NULL;
  assert_int_equal(od_observe(e, NULL, &o, NULL), OD_OK);
  FILE *f = fopen(scratch_path(s, "log.csv"), "w");
  fprintf(f, "time [s],rail.position [m],push [N],v [mm/s],w [m/s]\n");
  int measured = od_table_find(o->table, "measured.rail.position"), rate = od_table_find(o->table, "true.rail.rate");
  int input = od_table_find(o->table, "input.push");
  assert_true(measured >= 0 && rate >= 0 && input >= 0);
  for (long i = 0; i < o->table->rows; i++) {
    double noise = 2e-3 * gaussian(seed, 9, (uint64_t)i), v = od_table_value(o->table, i, rate);
    fprintf(f, "%.17g,%.17g,%.17g,%.17g,%.17g\n", od_table_value(o->table, i, 0), od_table_value(o->table, i, measured),
            od_table_value(o->table, i, input), 1000 * (v + noise), 1.3 * v + noise);
  }
  fclose(f);
  od_observed_free(o);
  od_experiment_free(e);
}

static od_observed *observe_log(scratch *s, const char *compare_section, const char *set, od_experiment **e,
                                od_observe_options options) {
  char text[1000];
  od_observed *o = NULL;
  od_error err = {0};
  snprintf(text, sizeof text, experiment, "data: {file: log.csv}\n", compare_section);
  *e = load_experiment(scratch_put(s, "logged.yaml", text),
                       &(od_experiment_options){.set = &set, .set_count = set != NULL});
  od_status status = od_observe(*e, &options, &o, &err);
  if (status != OD_OK && status != OD_INTERRUPTED) fail_msg("%s", err.text);
  return o;
}

static bool warns(const od_observed *o) {
  return od_verdict_has(&o->verdict, "compare.share");
}

static const char right_column[] = "compare: {v: {output: rail.rate, sigma: 2 mm/s}}\n";

// Correct models and columns have about 95 % of the values inside and no remark; a wrong column and a wrong model have one.
static void test_machine(void **state) {
  scratch *s = *state;
  for (uint64_t seed = 1; seed <= 3; seed++) {
    od_experiment *e;
    write_log(s, seed);
    od_observed *o = observe_log(s, right_column, NULL, &e, (od_observe_options){0});
    const od_reference_result *r = &o->reference[0];
    assert_int_equal(r->count, o->table->rows);
    near(r->share, 0.95, 0.035);
    assert_false(warns(o));
    // The same numbers from the table of the run.
    int v = od_table_find(o->table, "compared.v"), estimate = od_table_find(o->table, "estimate.rail.rate");
    int sigma = od_table_find(o->table, "sigma.rail.rate");
    assert_string_equal(od_table_unit(o->table, v), "m/s");
    double squares = 0, sum = 0, inside = 0, n = (double)o->table->rows;
    for (long i = 0; i < o->table->rows; i++) {
      double d = od_table_value(o->table, i, v) - od_table_value(o->table, i, estimate);
      squares += d * d, sum += d;
      inside += fabs(d) <= OD_NORMAL95 * hypot(od_table_value(o->table, i, sigma), 2e-3);
    }
    near_relative(r->rms, sqrt(squares / n), 1e-12);
    near_scaled(r->bias, sum / n, 1e-12, r->rms);
    near(r->share, inside / n, 1e-12);
    od_observed_free(o);
    od_experiment_free(e);
    // Without sigma the noise is estimated.
    o = observe_log(s, "compare: {v: rail.rate}\n", NULL, &e, (od_observe_options){0});
    near_relative(o->reference[0].noise, 2e-3, 0.15);
    near(o->reference[0].share, 0.95, 0.035);
    assert_false(warns(o));
    od_observed_free(o);
    od_experiment_free(e);
    o = observe_log(s, "compare: {w: rail.rate}\n", NULL, &e, (od_observe_options){0});
    assert_true(warns(o) && o->reference[0].share < 0.7 && o->verdict.trust == OD_DOUBTFUL);
    od_observed_free(o);
    od_experiment_free(e);
    o = observe_log(s, right_column, "model.spring.stiffness=75 N/m", &e, (od_observe_options){0});
    assert_true(warns(o) && o->reference[0].share < 0.9);
    od_observed_free(o);
    od_experiment_free(e);
    // A factor that corrects the wrong column.
    o = observe_log(s, "compare: {w: {output: rail.rate, scale: 0.76923076923076927}}\n", NULL, &e,
                    (od_observe_options){0});
    assert_false(warns(o));
    od_observed_free(o);
    od_experiment_free(e);
  }
}

static int calls;
static bool stop_soon(void *user, double done) {
  (void)user, (void)done;
  return ++calls < 5;
}

// A run that goes on from a checkpoint has the same result, to the bit.
static void test_checkpoint(void **state) {
  scratch *s = *state;
  od_experiment *e, *again;
  od_checkpoint checkpoint = {0};
  write_log(s, 1);
  od_observed *whole = observe_log(s, right_column, NULL, &e, (od_observe_options){0});
  calls = 0;
  od_observed *before = observe_log(s, right_column, NULL, &again,
                                    (od_observe_options){.progress = stop_soon, .checkpoint = &checkpoint});
  od_observed *after = NULL;
  assert_true(before->steps < whole->steps);
  assert_int_equal(od_observe(again, &(od_observe_options){.resume = &checkpoint}, &after, NULL), OD_OK);
  assert_memory_equal(&after->reference[0], &whole->reference[0], sizeof *after->reference);
  od_checkpoint_free(&checkpoint);
  od_observed_free(after);
  od_observed_free(before);
  od_observed_free(whole);
  od_experiment_free(again);
  od_experiment_free(e);
}

// Messages about an unknown output, an unknown column, a wrong unit and a wrong key.
static void test_mistakes(void **state) {
  scratch *s = *state;
  static const struct {
    const char *section, *message;
  } cases[] = {
      {"compare: {v: rail.speed}\n", "there is no output 'rail.speed'"},
      {"compare: {speed: rail.rate}\n", "has no column 'speed'"},
      {"compare: {rail.rate: v}\n", "found the output 'rail.rate' before the column 'v'; expected COLUMN: OUTPUT"},
      {"compare: {v: {output: rail.rate, unit: bar}}\n", "bar"},
      {"compare: {v: {sigma: 1 mm/s}}\n", "output"},
      {"compare: {v: {output: rail.rate, sigma: -1 mm/s}}\n", "sigma"},
      {"compare: [v]\n", "found a list, expected a map of columns of the log and their outputs"},
  };
  write_log(s, 1);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[1000];
    od_experiment *e = NULL;
    od_messages *messages = od_messages_new();
    snprintf(text, sizeof text, experiment, "data: {file: log.csv}\n", cases[i].section);
    od_status status =
        od_experiment_load(scratch_put(s, "wrong.yaml", text), &(od_experiment_options){0}, &e, messages);
    assert_int_equal(status, OD_BAD_INPUT);
    bool found = false;
    for (int k = 0; k < od_messages_count(messages); k++)
      found = found || strstr(od_messages_get(messages, k)->text, cases[i].message);
    if (!found) fail_msg("%s: %s", cases[i].section, od_messages_get(messages, 0)->text);
    od_messages_free(messages);
  }
}

// The program shows the comparison in its table, JSON, CSV, plot and report.
static void test_program(void **state) {
  scratch *s = *state;
  od_experiment *e;
  write_log(s, 1);
  od_observed_free(observe_log(s, "compare: {w: rail.rate, v: rail.rate}\n", NULL, &e, (od_observe_options){0}));
  od_experiment_free(e);
  char command[900];
  snprintf(command, sizeof command,
           "cd %s && " OD_BINARY
           " observe logged.yaml --json o.json --csv o.csv --plot o.svg --report o.html >o.txt 2>&1",
           s->folder);
  int end = system(command);
  assert_true(end != -1);
  static const struct {
    const char *file, *text[4];
  } expected[] = {{"o.txt", {"compared with", "rms difference", "Not confirmed by the log"}},
                  {"o.json", {"\"comparisons\"", "\"share95\"", "\"column\": \"w\"", "\"compare.share\""}},
                  {"o.csv", {"compared.w [m/s],compared.v [m/s]"}},
                  {"o.svg", {"compared.v", "compared.w", "95 % band, low", "high"}},
                  {"o.html", {"Comparisons with the log", "measured, not used by the observer"}}};
  for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
    char *text = scratch_read(scratch_path(s, expected[i].file));
    for (int k = 0; k < 4 && expected[i].text[k]; k++)
      if (!text || !strstr(text, expected[i].text[k]))
        fail_msg("%s has no '%s'", expected[i].file, expected[i].text[k]);
    free(text);
  }
}

int main(void) {
#define TEST(f) cmocka_unit_test_setup_teardown(f, scratch_setup, scratch_teardown)
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_consistent),
      cmocka_unit_test(test_wrong),
      TEST(test_machine),
      TEST(test_checkpoint),
      TEST(test_mistakes),
      TEST(test_program),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
