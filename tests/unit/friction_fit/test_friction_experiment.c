// Friction fits from the sensors of an experiment with a simulated machine, by the program.
// - The measurements are those of `oleodyn observe` with the same seed, bit by bit.
// - Estimates are within four of their standard deviations. Oracle: the numbers of the machine file.
// - A step that is too long for the sensors' noise is reported. Oracle: a step ten times shorter.
// - A film ahead of its steady value, a field of costs, samples as points: needed for the figures of the cases.
// - A factor that depends on two pressures. Oracle: a force by hand.
// - Smoothing preserves parabolas and reduces noise as least squares do. Oracle: the closed form of their variance.
#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "support/test.h"
#include "friction_fit/friction_data.h"
#include "formats/read_table.h"
#include "io/table.h"
#include "random/random.h"
#include "support/program.h"

static void put_files(scratch *s) {
  scratch_put(
      s, "machine.yaml",
      "machine: A block that is pushed\n"
      "bodies: {block: {point: {mass: 10 kg}}}\n"
      "joints: {guide: {type: prismatic, between: [ground, block], axis: [1, 0, 0], friction: {law: reduced, Fs: 100 N, Fc: 40 N,\n"
      "  vs: 20 mm/s, n: 1.1, viscous: 150 N s/m, Fs_negative: 120 N, sigma_0: 1e6 N/m, tau_hn: 0.1 s}}}\n"
      "forces: {push: {at: block, value: f, direction: [1, 0]}}\n"
      "inputs: {f: {unit: N, sum: [{sine: {amplitude: 150 N, frequency: 0.7 Hz}}, {sine: {amplitude: 30 N, frequency: 3 Hz}}]}}\n"
      "initial: {guide.position: 0 m}\nrun: {time: 3 s, step: 0.1 ms}\n");
  scratch_put(s, "seen.yaml",
              "experiment: A block with sensors\nmachine: machine.yaml\ntime: 3 s\nstep: 0.1 ms\nintegrator: tr-bdf2\n"
              "sensors: {guide.rate: {sigma: 0.02 mm/s}, guide.friction: {sigma: 0.5 N}}\n"
              "variants: {coarse: {step: 1 ms}}\n");
}

#define FIT                                                                                                                    \
  "friction: From a block\n"                                                                                                   \
  "laws: {guess: {law: reduced, Fs: 80 N, Fc: 50 N, vs: 15 mm/s, n: 1, viscous: 100 N s/m, sigma_0: 2e6 N/m, tau_hn: 0.2 s,\n" \
  "  Fs_negative: 90 N}}\n"                                                                                                    \
  "fit: {law: reduced, method: complete, start: guess, parameters: [Fs, Fc, vs, n, viscous, sigma_0, tau_hn]}\n"
#define TRUTH "truth: {machine: guide.friction, law: reduced}\n"

static od_table *table_of(scratch *s, const char *name) {
  od_table *t = NULL;
  od_error err;
  if (od_table_read_csv(scratch_path(s, name), &t, &err) != OD_OK) fail_msg("%s", err.text);
  return t;
}

static void test_same_measurements(void **state) {
  scratch *s = *state;
  put_files(s);
  scratch_put(s, "fit.yaml",
              FIT TRUTH "run: {experiment: seen.yaml, variant: coarse, velocity: guide.rate, force: guide.friction}\n");
  outcome o = run(s, "observe seen.yaml --variant coarse --seed 5 --quiet --csv observed.csv");
  ends_with(o, 0);
  forget(o);
  o = run(s, "friction-fit fit.yaml --seed 5 --csv fitted.csv");
  ends_with(o, 0);
  says(o.out, "Step of the true machine too long: with steps of 1 ms");
  forget(o);
  od_table *seen = table_of(s, "observed.csv"), *fitted = table_of(s, "fitted.csv");
  // There is no measurement at the start.
  assert_int_equal(seen->rows, fitted->rows + 1);
  for (long i = 0; i < fitted->rows; i++)
    for (int k = 0; k < 3; k++)
      assert_true(fitted->data[i * fitted->columns + k] == seen->data[(i + 1) * seen->columns + k]);
  od_table_free(seen), od_table_free(fitted);
}

static void test_estimates(void **state) {
  scratch *s = *state;
  put_files(s);
  scratch_put(s, "fit.yaml", FIT TRUTH "run: {experiment: seen.yaml, velocity: guide.rate, force: guide.friction}\n");
  outcome o = run(s, "friction-fit fit.yaml --seed 3 --json -");
  ends_with(o, 0);
  json_error_t error;
  json_t *all = json_loads(o.out, 0, &error), *p;
  const char *key;
  if (!all) fail_msg("%s", error.text);
  forget(o);
  assert_string_equal(json_string_value(json_object_get(json_object_get(all, "verdict"), "trust")), "sound");
  static const struct {
    const char *key;
    double value;
  } truth[] = {{"Fs", 100}, {"Fs_negative", 120}, {"Fc_negative", 40}, {"tau_hn", 0.1}, {"sigma_0", 1e6}};
  for (size_t i = 0; i < sizeof truth / sizeof *truth; i++) {
    p = json_object_get(json_object_get(all, "parameters"), truth[i].key);
    assert_true(fabs(json_number_value(json_object_get(p, "truth")) - truth[i].value) < 1e-12 * truth[i].value);
  }
  json_object_foreach(json_object_get(all, "parameters"), key, p) {
    double off = json_number_value(json_object_get(p, "value")) - json_number_value(json_object_get(p, "truth"));
    assert_true(fabs(off) < 4 * json_number_value(json_object_get(p, "sigma")));
    assert_true(json_number_value(json_object_get(p, "sigma")) < 0.02 * json_number_value(json_object_get(p, "value")));
  }
  json_decref(all);
}

static void test_mistakes(void **state) {
  static const struct {
    const char *text, *message;
  } wrong[] = {
      {FIT TRUTH "run: {experiment: seen.yaml, variant: fine, velocity: guide.rate, force: guide.friction}\n",
       "coarse"},
      {FIT TRUTH "run: {experiment: nothing.yaml}\n", "nothing.yaml"},
      {FIT TRUTH "run: {pieces: [{ramp: 1 m/s, time: 1 s}]}\n", "'machine' needs a run with an 'experiment'"},
      {FIT "truth: {machine: guide.fricton, law: reduced}\nrun: {experiment: seen.yaml}\n",
       "has no friction element 'guide.fricton'"},
      {FIT TRUTH "run: {variant: coarse, pieces: [{ramp: 1 m/s, time: 1 s}]}\n",
       "'variant' and 'set' of a run need an 'experiment'"},
      {FIT TRUTH "run: {experiment: seen.yaml, velocity: guide.rat, force: guide.friction}\n",
       "did you mean 'guide.rate'?"},
      {FIT TRUTH "run: {experiment: seen.yaml, set: {truth.guide.friction.Fx: 1 N}}\n",
       "there is no number 'guide.friction.Fx'"},
  };
  put_files(*state);
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    scratch_put(*state, "wrong.yaml", wrong[i].text);
    outcome o = run(*state, "friction-fit wrong.yaml");
    ends_with(o, 2);
    says(o.err, wrong[i].message);
    forget(o);
  }
}

// Forces that depend on two pressures, by hand: bristles are so stiff that LuGre's law equals its steady curve. The speed reverses midway
// between samples.
static void test_pressures(void **state) {
  scratch *s = *state;
  static char text[800000];
  const double c1 = 4e-8, c2 = -1.5e-8, normal = 50e5, pi = 3.14159265358979;
  int used = snprintf(text, sizeof text, "time [s],velocity [m/s],force [N],p1 [bar],p2 [bar]\n");
  for (int i = 0; i < 8000; i++) {
    double t = (i + 0.5) * 1e-3, v = 0.2 * sin(2 * pi * 0.5 * t);
    double p1 = 50e5 + 30e5 * sin(2 * pi * 0.37 * t), p2 = 60e5 + 25e5 * cos(2 * pi * 0.29 * t);
    double level = 100 + (180 - 100) * exp(-pow(v / 0.02, 2));
    double force = (1 + c1 * (p1 - normal) + c2 * (p2 - normal)) * level * ((v > 0) - (v < 0)) + 300 * v;
    used += snprintf(text + used, sizeof text - (size_t)used, "%.4f,%.9g,%.9g,%.9g,%.9g\n", t, v, force, p1 / 1e5,
                     p2 / 1e5);
  }
  scratch_put(s, "log.csv", text);
#define FOLLOWS                                                                                                          \
  "friction: x\nlaws: {guess: {law: lugre, Fs: 150 N, Fc: 120 N, vs: 30 mm/s, viscous: 200 N s/m, sigma_0: 1e10 N/m}}\n" \
  "fit: {law: lugre, start: guess, normal: [50 bar, 50 bar], "
  scratch_put(
      s, "fit.yaml",
      FOLLOWS
      "method: complete, parameters: [Fs, Fc, vs, viscous, per_p1, per_p2]}\nrun: {log: log.csv, pressures: [p1, p2]}\n");
  outcome o = run(s, "friction-fit fit.yaml --json fitted.json");
  ends_with(o, 0);
  // The terminal shows the factor per bar, JSON per pascal.
  says(o.out, "1/bar");
  says(o.out, "mm/s");
  forget(o);
  json_error_t error;
  json_t *all = json_load_file(scratch_path(s, "fitted.json"), 0, &error);
  if (!all) fail_msg("%s", error.text);
  static const struct {
    const char *key;
    double value;
  } truth[] = {{"Fs", 180}, {"Fc", 100}, {"vs", 0.02}, {"viscous", 300}, {"per_p1", 4e-8}, {"per_p2", -1.5e-8}};
  for (size_t i = 0; i < sizeof truth / sizeof *truth; i++) {
    const json_t *p = json_object_get(json_object_get(all, "parameters"), truth[i].key);
    double value = json_number_value(json_object_get(p, "value"));
    if (!(fabs(value / truth[i].value - 1) < 0.01)) fail_msg("%s is %g", truth[i].key, value);
  }
  json_decref(all);
  scratch_put(s, "fit.yaml", FOLLOWS "method: complete, parameters: [Fs, per_p1]}\nrun: {log: log.csv}\n");
  ends_and_says(run(s, "friction-fit fit.yaml"), 2, "with 'pressures' or a 'balance'");
}

#define CYLINDERS OD_SOURCE_DIR "/cases/cylinder-friction/cylinders.friction.yaml"

// Figure 6.8: a step at high speeds changes the film less than small errors of the steady numbers: tau_hn is not determined, the others are.
// While the piston stops, the film is ahead of its steady value.
static void test_film_leads(void **state) {
  scratch *s = *state;
  outcome o = run(s, "friction-fit " CYLINDERS
                     " --variant sequential --set 'run.pieces[0].half_cosine=0.04' --set 'run.pieces[2].lag=0.02'");
  ends_with(o, 0);
  says(o.out, "the data do not determine tau_hn;");
  forget(o);
  o = run(s, "friction-fit " CYLINDERS
             " --variant sequential --set 'fit.film[0]=6.4 s' --set 'fit.film[1]=6.7 s' --csv film.csv");
  ends_with(o, 0);
  says(o.out, "Film leads:");
  says(o.out, "the data do not determine tau_hn;");
  forget(o);
  od_table *t = table_of(s, "film.csv");
  assert_int_equal(t->columns, 7);
  assert_string_equal(t->name[5], "film");
  od_table_free(t);
}

// Figure 6.12. Oracle: the cost of data without errors is lowest at the true numbers.
static void test_cost_field(void **state) {
  scratch *s = *state;
  outcome o =
      run(s, "friction-fit " CYLINDERS
             " --variant dynamic --set run.error.size=0N --costs-of sigma_0,tau_hn --csv field.csv --plot field.svg");
  ends_with(o, 0);
  forget(o);
  od_table *t = table_of(s, "field.csv");
  long best = 0;
  assert_int_equal(t->rows, 41 * 41);
  for (long i = 0; i < t->rows; i++)
    if (t->data[3 * i + 2] < t->data[3 * best + 2]) best = i;
  assert_true(fabs(t->data[3 * best]) < 1e-12 && fabs(t->data[3 * best + 1]) < 1e-12);
  od_table_free(t);
  ends_and_says(run(s, "friction-fit " CYLINDERS " --variant dynamic --costs-of sigma_0,tau --csv field.csv"), 2,
                "expected two parameters");
}

// Figure 6.5: a sine treated as steady motion determines Coulomb friction, with a warning.
static void test_samples_as_points(void **state) {
  scratch *s = *state;
  outcome o = run(s, "friction-fit " CYLINDERS " --variant sine");
  ends_with(o, 0);
  says(o.out, "Points not steady:");
  says(o.out, "1998 points");
  forget(o);
}

static void test_smoothing(void **state) {
  (void)state;
  enum { COUNT = 4001, HALF = 6 };
  double x[COUNT], noise[COUNT], squares = 0;
  for (int i = 0; i < COUNT; i++) {
    x[i] = 3 - 0.5 * i + 0.02 * i * i;
    noise[i] = od_random_gaussian(1, od_random_stream("x"), (uint64_t)i, OD_USE_NOISE);
  }
  assert_int_equal(od_smooth(COUNT, HALF, x), OD_OK);
  assert_int_equal(od_smooth(COUNT, HALF, noise), OD_OK);
  for (int i = 0; i < COUNT; i++) {
    double exact = 3 - 0.5 * i + 0.02 * i * i;
    assert_true(fabs(x[i] - exact) <= 1e-9 * fabs(exact) + 1e-9);
    if (i >= HALF && i < COUNT - HALF) squares += noise[i] * noise[i] / (COUNT - 2 * HALF);
  }
  // The variance of the middle of a parabola through n = 2 m + 1 points: S4 / (n S4 - S2^2).
  double n = 2 * HALF + 1, S2 = 0, S4 = 0;
  for (int k = -HALF; k <= HALF; k++) S2 += pow(k, 2), S4 += pow(k, 4);
  double expected = S4 / (n * S4 - S2 * S2);
  assert_true(fabs(squares / expected - 1) < 0.2);
}

// The encoder's edges are 20 um apart, so its reading is held where the motion reverses, and the verdict states this. The same
// motion with the exact speed has no such remark. Oracle: at reversals of the true motion, with an acceleration of a few m/s2,
// the time within one pitch is some
// milliseconds; the block also stays at rest for some of them.
static void test_held_speed(void **state) {
  scratch *s = *state;
  put_files(s);
  scratch_put(
      s, "encoder.yaml",
      "experiment: A block with an encoder\nmachine: machine.yaml\ntime: 3 s\nstep: 0.2 ms\nintegrator: tr-bdf2\n"
      "sensors: {guide.rate: {source: guide.position, encoder: {pitch: 20 um}}, guide.friction: {sigma: 0.5 N}}\n");
  scratch_put(s, "fit.yaml",
              FIT TRUTH "run: {experiment: encoder.yaml, velocity: guide.rate, force: guide.friction}\n");
  outcome o = run(s, "friction-fit fit.yaml --seed 3");
  ends_with(o, 0);
  const char *held =
      strstr(o.out, "Speed held at reversals: where the motion reverses, the speed repeats its value for up to ");
  if (!held) fail_msg("%s", o.out);
  double time = strtod(strstr(held, "up to ") + 6, NULL);
  assert_true(time > 1 && time < 60);
  forget(o);
  scratch_put(s, "fit.yaml",
              FIT TRUTH "run: {experiment: seen.yaml, variant: coarse, velocity: guide.rate, force: guide.friction}\n");
  o = run(s, "friction-fit fit.yaml --seed 3");
  if (strstr(o.out, "Speed held")) fail_msg("%s", o.out);
  forget(o);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_same_measurements, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(test_estimates, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(test_mistakes, scratch_setup, scratch_teardown),

      cmocka_unit_test_setup_teardown(test_held_speed, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(test_film_leads, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(test_cost_field, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(test_samples_as_points, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(test_pressures, scratch_setup, scratch_teardown),
      cmocka_unit_test(test_smoothing)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
