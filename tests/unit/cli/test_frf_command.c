// oleodyn frf and oleodyn tf.
//
// Oracles: the frequency response of a first- and a second-order block in closed form; a difference equation of first order; the response of
// the written machine compared with that of the original machine.
#include <complex.h>
#include <math.h>
#include <sys/resource.h>

#include "support/test.h"

#include <jansson.h>

#include "formats/read_table.h"
#include "io/table.h"
#include "random/random.h"
#include "support/program.h"

static const char machine[] =
    "inputs: {u: {unit: V, stepped_sine: {amplitude: 2 V, from: 1 Hz, to: 20 Hz, step: 1 Hz, periods: 12}}}\n"
    "blocks:\n"
    "  lag: {type: first-order, input: u, unit: m, gain: 3 mm/V, time_constant: 20 ms}\n"
    "  swing: {type: second-order, input: u, gain: 2, frequency: 50 rad/s, damping: 0.3}\n"
    "run: {time: 44 s, step: 1 ms, outputs: [u, lag, swing]}\n";

static double _Complex lag(double frequency) {
  return 3e-3 / (1 + 0.02 * 2 * acos(-1) * frequency * _Complex_I);
}
static double _Complex swing(double frequency) {
  double _Complex s = 2 * acos(-1) * frequency / 50 * _Complex_I;
  return 2 / (s * s + 0.6 * s + 1);
}

// The largest difference of real and imaginary parts of two outputs from the closed forms.
static double worst(scratch *s, const char *file, const char *first, const char *second) {
  od_table *t = NULL;
  od_error err = {0};
  if (od_table_read_csv(scratch_path(s, file), &t, &err) != OD_OK) fail_msg("%s", err.text);
  int column[4] = {-1, -1, -1, -1};
  for (int i = 0; i < t->columns; i++)
    for (int k = 0; k < 4; k++) {
      char name[100];
      snprintf(name, sizeof name, "%s.%s", k < 2 ? first : second, k % 2 ? "imaginary" : "real");
      if (!strcmp(name, t->name[i])) column[k] = i;
    }
  double off = 0;
  assert_true(t->rows > 0);
  for (long i = 0; i < t->rows; i++) {
    const double *row = t->data + i * t->columns;
    for (int k = 0; k < 2; k++) {
      assert_true(column[2 * k] >= 0 && column[2 * k + 1] >= 0);
      double _Complex want = k ? swing(row[0]) : lag(row[0]);
      double _Complex got = row[column[2 * k]] + row[column[2 * k + 1]] * _Complex_I;
      off = fmax(off, cabs(got - want) / cabs(k ? swing(1) : lag(1)));
    }
  }
  od_table_free(t);
  return off;
}

static void test_machine(void **state) {
  scratch *s = *state;
  scratch_put(s, "m.yaml", machine);
  expect_code(
      run(s, "frf m.yaml --output lag,swing --low '1 Hz' --high 20 --points 57 --csv m.csv --plot m.svg --quiet"), 0);
  assert_true(worst(s, "m.csv", "lag", "swing") < 1e-12);
  char *svg = scratch_read(scratch_path(s, "m.svg"));
  assert_null(strstr(svg, "nan"));
  free(svg);
  outcome o = run(s, "frf m.yaml --output swing --low 0.01 --points 2000");
  ends_with(o, 0);
  says(o.out, "bandwidth");
  says(o.out, "resonance");
  says(o.out, "at 7.2");  // 50 sqrt(1 - 2 0.3^2) rad/s are 7.206 Hz
  forget(o);
}

// The response from a log of the same machine, with other units; transients have decayed after eight periods of twelve.
static void test_stepped_sine(void **state) {
  scratch *s = *state;
  scratch_put(s, "m.yaml", machine);
  expect_code(run(s, "simulate m.yaml --csv log.csv --quiet --integrator rk4"), 0);
  expect_code(run(s,
                  "frf log.csv --input u --output lag --output swing --sine 1:20:1 --periods 12 --settle 8 --csv f.csv "
                  "--json f.json --quiet"),
              0);
  double off = worst(s, "f.csv", "lag", "swing");
  print_message("stepped sine through the program: within %.1e\n", off);
  assert_true(off < 1e-4);
  json_t *root = json_load_file(scratch_path(s, "f.json"), 0, NULL);
  const json_t *second = json_array_get(json_object_get(root, "outputs"), 1);
  double bandwidth = json_number_value(json_object_get(json_object_get(second, "bandwidth"), "value"));
  // (w/w0)^2 = 0.82 + sqrt(0.82^2 + 1), relative to the gain at zero; the first point is at 1 Hz.
  assert_true(fabs(bandwidth / (50 * sqrt(0.82 + sqrt(0.82 * 0.82 + 1)) / (2 * acos(-1))) - 1) < 0.02);
  assert_int_equal(json_array_size(json_object_get(json_array_get(json_object_get(root, "outputs"), 0), "points")), 20);
  json_decref(root);
}

// Both outputs with three poles, as a machine file; its response is that of the machine.
static void test_block(void **state) {
  scratch *s = *state;
  scratch_put(s, "m.yaml", machine);
  outcome o =
      run(s, "tf m.yaml --output lag,swing --low 1 --high 20 --points 80 --block b.yaml --plot b.svg --json b.json");
  ends_with(o, 0);
  says(o.out, "error at held-out points");
  const char *mark = strstr(o.out, "<- chosen"), *row = mark;
  assert_non_null(mark);
  while (row[-1] != '\n') row--;
  assert_int_equal(strtol(row, NULL, 10), 3);
  says(o.out, "order 3,");
  forget(o);
  expect_code(run(s, "check b.yaml"), 0);
  expect_code(run(s, "simulate b.yaml --quiet"), 0);
  expect_code(run(s, "frf b.yaml --low 1 --high 20 --points 33 --csv b.csv --quiet"), 0);
  assert_true(worst(s, "b.csv", "y_lag", "y_swing") < 1e-9);
  json_t *root = json_load_file(scratch_path(s, "b.json"), 0, NULL);
  assert_int_equal(json_integer_value(json_object_get(root, "order")), 3);
  assert_int_equal(json_integer_value(json_object_get(root, "unstable")), 0);
  json_decref(root);
  for (int i = 0; i < 3; i++) {
    static const char *const methods[] = {"levy", "sk", "vf"};
    expect_code(
        run(s, "tf m.yaml --output lag,swing --low 1 --high 20 --order 3 --method %s --csv t.csv --quiet", methods[i]),
        0);
    assert_true(worst(s, "t.csv", "lag.model", "swing.model") < 1e-7);
  }
}

// y[k] = 0.9 y[k-1] + 0.1 u[k], written in kV and bar: H = 0.1/(1 - 0.9 z^-1) 100 Pa/V.
static void test_broad_log(void **state) {
  scratch *s = *state;
  FILE *f = fopen(scratch_path(s, "n.csv"), "w");
  fprintf(f, "t [s],u [kV],p [bar]\n");
  double y = 0;
  for (long k = 0; k < 40000; k++) {
    double u = od_random_gaussian(1, 1, (uint64_t)k, OD_USE_NOISE);
    y = 0.9 * y + 0.1 * u;
    fprintf(f, "%.6f,%.12g,%.12g\n", (double)k * 1e-3, u, y + 7);
  }
  fclose(f);
  expect_code(run(s, "frf n.csv --input u --length 1000 --high 200 --csv n.out.csv --json n.json --quiet"), 0);
  od_table *t = NULL;
  od_error err = {0};
  assert_int_equal(od_table_read_csv(scratch_path(s, "n.out.csv"), &t, &err), OD_OK);
  assert_int_equal(t->rows, 200);
  assert_string_equal(t->unit[1], "Pa/V");
  double square = 0;
  for (long i = 2; i < t->rows; i++) {
    const double *row = t->data + i * t->columns;
    double _Complex want = 10 / (1 - 0.9 * cexp(-2e-3 * acos(-1) * row[0] * _Complex_I)) * (1e5 / 1e3 / 100);
    assert_true(fabs(row[0] - (double)(i + 1)) < 1e-9);
    assert_true(cabs(row[3] + row[4] * _Complex_I - want) < 0.05 * cabs(want));
    assert_true(row[6] > 0.99 && row[6] <= 1);
    square += 1;
  }
  assert_true(square > 100);
  od_table_free(t);
}

// y = 0.5 u[k-1] + 1.2 y[k-1] - 0.52 y[k-2] and measurement noise, around 7 bar: its coefficients, and the step response of the block that is
// written, which is (1 V) the sum of the difference equation.
static void test_discrete(void **state) {
  scratch *s = *state;
  FILE *f = fopen(scratch_path(s, "d.csv"), "w");
  fprintf(f, "t [s],u [V],p [bar]\n");
  double y1 = 0, y2 = 0, u1 = 0;
  for (long k = 0; k < 6000; k++) {
    double u = od_random_uniform(1, 1, (uint64_t)(k / 4), OD_USE_NOISE) < 0.5 ? -1 : 1;
    double y = 0.5 * u1 + 1.2 * y1 - 0.52 * y2;
    fprintf(f, "%.6f,%.12g,%.12g\n", (double)k * 1e-3, u,
            7 + y + 0.05 * od_random_gaussian(1, 2, (uint64_t)k, OD_USE_NOISE));
    y2 = y1, y1 = y, u1 = u;
  }
  fclose(f);
  static const char *const methods[] = {"arx", "armax", "oe", "bj", "moesp", "n4sid", "cva"};
  for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
    outcome o =
        run(s, "tf d.csv --input u --method %s --order 1:3 --json d.json --csv d.out.csv --plot d.svg --block d.yaml",
            methods[i]);
    ends_with(o, 0);
    says(o.out, "<- chosen");
    forget(o);
    json_t *root = json_load_file(scratch_path(s, "d.json"), 0, NULL);
    const json_t *below = json_object_get(root, "denominator"),
                 *output = json_array_get(json_object_get(root, "outputs"), 0);
    double fit = json_number_value(json_object_get(output, "fit_percent"));
    print_message("%s: order %d, fit %.2f %%\n", methods[i], (int)json_integer_value(json_object_get(root, "order")),
                  fit);
    // With noise of 0.05 and a signal of standard deviation 1.2 the fit is 96 %.
    assert_true(fit > 94);
    if (strcmp(methods[i], "oe") == 0) {
      assert_int_equal(json_integer_value(json_object_get(root, "order")), 2);
      assert_true(fabs(json_number_value(json_array_get(below, 1)) + 1.2) < 0.01);
      assert_true(fabs(json_number_value(json_array_get(below, 2)) - 0.52) < 0.01);
      expect_code(run(s, "simulate d.yaml --time 0.2 --csv step.csv --quiet"), 0);
      od_table *t = NULL;
      od_error err = {0};
      assert_int_equal(od_table_read_csv(scratch_path(s, "step.csv"), &t, &err), OD_OK);
      // 0.5 / (1 - 1.2 + 0.52) bar
      assert_true(fabs(t->data[(t->rows - 1) * t->columns + 1] / (0.5 / 0.32 * 1e5) - 1) < 0.01);
      od_table_free(t);
    }
    json_decref(root);
  }
}

// y = 0.5 u[k-1] + 0.5 y[k-1] for 300 rows without times, then with an offset of 2: the held-out part is off by 2, which does not affect the
// fit; rows after the end have no effect either.
static void test_hold_out(void **state) {
  scratch *s = *state;
  FILE *f = fopen(scratch_path(s, "h.csv"), "w");
  fprintf(f, "u,p\n");
  double y = 0, u1 = 0;
  for (long k = 0; k < 500; k++) {
    double u = od_random_gaussian(1, 1, (uint64_t)k, OD_USE_NOISE);
    y = 0.5 * u1 + 0.5 * y;
    fprintf(f, "%.17g,%.17g\n", u, y + (k < 300 ? 0 : k < 400 ? 2 : 100));
    u1 = u;
  }
  fclose(f);
  // The mean of the held-out part would be closer: unsound.
  expect_code(
      run(s, "tf h.csv --interval 1 --end 399 --input u --method arx --order 1 --hold-out '25 %%' --json h.json"), 3);
  json_t *root = json_load_file(scratch_path(s, "h.json"), 0, NULL);
  const json_t *below = json_object_get(root, "denominator"),
               *output = json_array_get(json_object_get(root, "outputs"), 0),
               *held = json_object_get(output, "held_out");
  assert_int_equal(json_integer_value(json_object_get(held, "samples")), 100);
  assert_true(fabs(json_number_value(json_array_get(below, 1)) + 0.5) < 0.01);
  assert_true(fabs(json_number_value(json_object_get(held, "error")) - 2) < 0.05);
  json_decref(root);
  outcome o = run(s, "tf h.csv --interval 1 --end 399 --input u --method arx --order 1:2 --hold-out 0.25");
  ends_with(o, 3);
  says(o.out, "explained part of the held-out rows");
  says(o.out, "verdict: unsound");
  says(o.out, "the mean is a better prediction");
  forget(o);
}

// A log of 400 rows, columns u, v and y, that begins during motion.
typedef double answer(long k, double u, double v, double last);
static void put_log(scratch *s, const char *name, answer *output) {
  FILE *f = fopen(scratch_path(s, name), "w");
  fprintf(f, "u,v,y\n");
  double y = 0, u1 = 0, v1 = 0;
  for (long k = 0; k < 600; k++) {
    double u = od_random_gaussian(2, 1, (uint64_t)k, OD_USE_NOISE);
    double v = od_random_gaussian(2, 2, (uint64_t)k, OD_USE_NOISE);
    y = output(k, u1, v1, y);
    if (k >= 200) fprintf(f, "%.17g,%.17g,%.17g\n", u, v, y);
    u1 = u, v1 = v;
  }
  fclose(f);
}
static double two_gains(long k, double u, double v, double last) {
  return 0.9 * last + u - 2 * v + 0.01 * od_random_gaussian(2, 3, (uint64_t)k, OD_USE_NOISE);
}
static double growing(long k, double u, double v, double last) {
  (void)v;
  return k < 200 ? 0 : 1.03 * last + u + 0.01 * od_random_gaussian(2, 3, (uint64_t)k, OD_USE_NOISE);
}
static double no_answer(long k, double u, double v, double last) {
  (void)u, (void)v, (void)last;
  return od_random_gaussian(2, 4, (uint64_t)k, OD_USE_NOISE);
}
static double stuck_sensor(long k, double u, double v, double last) {
  return k < 450 ? two_gains(k, u, v, last) : 0.1;
}
static double resting(long k, double u, double v, double last) {
  (void)k, (void)u, (void)v, (void)last;
  return 0.1;
}

// Every method ends with a verdict and its prediction of a held-out part; no output contains NaN.
static void test_discrete_verdicts(void **state) {
  scratch *s = *state;
  static const char *const methods[] = {"arx", "armax", "oe", "bj", "moesp", "n4sid", "cva", "vf", "sk"};
  static const struct {
    const char *name;
    answer *output;
  } logs[] = {{"two", two_gains}, {"grow", growing}, {"none", no_answer}, {"stuck", stuck_sensor}};
  enum { TWO, GROW, NONE, STUCK, LOGS };
  for (int l = 0; l < LOGS; l++) put_log(s, logs[l].name, logs[l].output);
  put_log(s, "rest", resting);
  for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
    bool samples = i < 7;
    for (int l = 0; l < LOGS; l++) {
      outcome o = run(s, "tf %s --interval 1 --input %s --output y --method %s --order 1 --json o.json", logs[l].name,
                      samples ? "u,v" : "u", methods[i]);
      if (o.code != 0 && (o.code != 3 || (l == TWO && samples)))
        fail_msg("%s of %s ends with %d: %s", methods[i], logs[l].name, o.code, o.out);
      says(o.out, o.code == 3 ? "verdict: unsound" : "verdict: ");
      says(o.out, samples ? "samples, not fitted" : "error at held-out points");
      assert_null(strstr(o.out, "inf %"));
      assert_null(strstr(o.out, "nan %"));
      double explained = 0;
      const char *row = strstr(o.out, "\n  y ");
      if (l == TWO && samples) assert_true(row && sscanf(row, " y %lf %%", &explained) == 1 && explained >= 99);
      if (l == GROW && i < 2) says(o.out, "Unstable: the largest pole has the magnitude 1.03");
      if (l >= NONE && samples) assert_null(strstr(o.out, "verdict: sound"));
      forget(o);
    }
    ends_and_says(run(s, "tf rest --interval 1 --input u --output y --method %s --order 1", methods[i]), 2,
                  "that changes");
    ends_and_says(run(s, "tf rest --interval 1 --input y --output u --method %s --order 1", methods[i]), 2,
                  "input 'y'");
  }
}

// Two inputs as blocks: both step by 1, and the sum of both responses ends at (1 - 2)/(1 - 0.9).
static void test_two_inputs(void **state) {
  scratch *s = *state;
  put_log(s, "two.csv", two_gains);
  expect_code(
      run(s, "tf two.csv --interval 1 --input u,v --output y --method arx --order 1 --block two.yaml --json two.json"),
      0);
  json_t *root = json_load_file(scratch_path(s, "two.json"), 0, NULL);
  const json_t *B = json_object_get(root, "B");
  for (int j = 0; j < 2; j++) {
    double b = json_number_value(json_array_get(json_object_get(json_array_get(B, (size_t)j), "value"), 1));
    assert_true(fabs(b - (j ? -2 : 1)) < 0.01);
  }
  json_decref(root);
  expect_code(run(s, "simulate two.yaml --csv two.out.csv --quiet"), 0);
  od_table *t = NULL;
  od_error err = {0};
  assert_int_equal(od_table_read_csv(scratch_path(s, "two.out.csv"), &t, &err), OD_OK);
  assert_true(fabs(t->data[(t->rows - 1) * t->columns + 1] + 10) < 0.1);
  od_table_free(t);
  ends_and_says(run(s, "tf two.csv --interval 1 --input u,v --output y"), 2,
                "--input: error: found 2 inputs, expected 1");
  ends_and_says(run(s, "tf two.csv --interval 1 --input u,u --output y --method arx"), 2, "found the column 'u' twice");
}

// Ten times the rows need no more memory. This is the first test, because the peak is over all programs that were run.
static void test_constant_memory(void **state) {
  scratch *s = *state;
  // The first run loads libraries into memory, which would count as growth.
  long peak[2] = {0, 0};
  for (int run = 0; run < 3; run++) {
    int i = run == 2;
    FILE *f = fopen(scratch_path(s, "long.csv"), "w");
    fprintf(f, "t,u,y\n");
    for (long k = 0; k < (i ? 400000 : 40000); k++) fprintf(f, "%ld,%d,%ld\n", k, (int)(k * k % 17), k % 5);
    fclose(f);
    char command[1000];
    snprintf(command, sizeof command, "cd %s && '%s' frf long.csv --input u --length 256 --quiet", s->folder,
             OD_BINARY);
    assert_int_equal(system(command), 0);
    struct rusage used;
    getrusage(RUSAGE_CHILDREN, &used);
    peak[i] = used.ru_maxrss;
  }
  print_message("peak %ld kB with 40 000 rows, %ld kB with 400 000\n", peak[0], peak[1]);
  assert_true(peak[1] < peak[0] + 1000);
}

// The loop through a sampled gain is open in the linear model, and all commands that use a linear model report this.
static void test_sampled_loop(void **state) {
  scratch *s = *state;
  scratch_put(s, "s.yaml",
              "inputs: {r: {unit: V, constant: 0 V}}\n"
              "blocks:\n"
              "  e: {type: sum, inputs: [r, lag], weights: [1, -1]}\n"
              "  c: {type: gain, input: e, gain: 5, sample: 10 ms}\n"
              "  lag: {type: first-order, input: c, time_constant: 1 s}\n"
              "run: {time: 1 s, step: 1 ms, outputs: [lag]}\n");
  static const char *const calls[] = {"frf s.yaml --points 3", "linearize s.yaml", "bode s.yaml --points 3",
                                      "linearize s.yaml --sweep c.gain=1:2:2", "bode s.yaml --sweep c.gain=1:2:2"};
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
    outcome o = run(s, "%s", calls[i]);
    ends_with(o, 0);
    says(i < 3 ? o.out : o.err, "in the linear model the loops through these blocks are open");
    forget(o);
  }
}

static void test_mistakes(void **state) {
  scratch *s = *state;
  scratch_put(s, "m.yaml", machine);
  expect_code(run(s, "compile m.yaml -o m.odm"), 0);
  scratch_put(s, "l.csv", "t,u,y\n0,0,0\n1,1,1\n2,0,1\n3,1,0\n4,0,0\n5,1,1\n6,0,1\n7,1,0\n8,1,0\n");
  scratch_put(s, "gap.csv", "t,u,y\n0,0,0\n1,1,1\n2,0,1\n3,1,0\n4,0,0\n5,1,1\n6,0,1\n37,1,0\n");
  scratch_put(s, "text.csv", "t,u,y\n0,0,0\n1,much,1\n2,0,1\n");
  scratch_put(s, "fall.csv", "t,u,y\n8,0,0\n7,1,1\n6,0,1\n5,1,0\n4,0,0\n3,1,1\n2,0,1\n1,1,0\n");
  static const struct {
    const char *call, *message;
  } calls[] = {
      {"frf none.csv --input u", "cannot read none.csv"},
      {"frf l.csv", "no input is selected; select a column with --input"},
      {"frf l.csv --input x", "--input: error: l.csv has no column 'x'"},
      {"frf l.csv --input u --output yy", "no column 'yy'"},
      {"frf gap.csv --input u", "has no value for 31 s after 6 s, 31 times the usual interval"},
      {"frf l.csv --input u --interval 0", "--interval: error: found '0', expected a positive time"},
      {"frf l.csv --input u --end 3", "the log has 4 rows; expected at least 8 rows"},
      {"frf m.yaml --interval 1", "--interval applies only to logs"},
      {"frf text.csv --input u", "text.csv:3:3: 'much' is not a number (column 'u')"},
      {"frf fall.csv --input u", "expected increasing times"},
      {"tf l.csv --input u --method arx --hold-out 120%", "--hold-out: found '120%', expected a fraction of the log"},
      {"tf l.csv --input u --method arx --hold-out much", "--hold-out: found 'much'"},
      {"frf l.csv --input u --length 3", "found blocks of 3 samples, expected 4"},
      {"frf l.csv --input u --length 64", "0 whole blocks of 64 samples, expected at least 2"},
      {"frf l.csv --input u --window hat", "found 'hat', expected hann"},
      {"frf l.csv --input u --sine 1:x:2", "--sine: found '1:x:2'"},
      {"frf l.csv --input u --sine 0.2:0.4:0.1 --settle 3", "--settle: found '3'"},
      {"frf l.csv --input u --sine 50:60:1", "no segment of the stepped sine has four samples"},
      {"frf l.csv --input u --period 2.5", "expected a whole number of samples"},
      {"frf l.csv --input u --length 4 --low 10", "Hz, but none in the range of --low and --high"},
      {"frf l.csv --input u --variant v", "apply only to machine files, but l.csv is a log; remove these options"},
      {"frf m.yaml --sine 1:2:1", "--sine applies only to logs"},
      {"frf m.yaml --input v", "--input: there is no input 'v'"},
      {"frf m.yaml --low 5 --high 1", "--low and --high: found 5 Hz to 1 Hz; expected a highest frequency"},
      {"tf m.yaml --order 17", "--order: found '17', expected a whole number from 1 to 16"},
      {"tf m.yaml --order 5:2", "--order: found '5:2'"},
      {"tf m.yaml --method fit", "--method: found 'fit', expected levy, sk, vf, arx"},
      {"tf m.yaml --method oe", "--method oe requires a log; m.yaml is a machine file"},
      {"tf m.odm --method oe", "--method oe requires a log; m.odm is an image of a machine"},
      {"tf l.csv --input u --method oe --order 2", "found 9 samples, expected "},
      {"tf l.csv --input u --method moesp --order 2", "found 9 samples, expected "},
      {"tf l.csv --input u --output y,t --method arx", "the method arx fits 1 output, but the log has 2"},
      {"tf l.csv --input u --method arx --delay 17",
       "--delay: found '17', expected a whole number of samples from 0 to 16"},
      {"tf l.csv --input u --method moesp --delay 1",
       "--delay requires the method arx, armax, oe or bj; found --method"},
      {"tf l.csv --input u --method arx --noise-order 1", "--noise-order requires the method armax or bj"},
      {"tf l.csv --input u --hold-out 0.2", "--hold-out requires the method arx"},
      {"tf l.csv --input u --method oe --relative", "--relative requires the method vf, levy or sk"},
      {"tf m.yaml --points 3 --order 4", "the number of points is 3; order 4 needs at least 5 points"},
      {"tf m.yaml --block -", "--block cannot be written to standard output"},
      {"tf m.yaml --block m.yaml", "--block m.yaml would replace m.yaml, which is an input"},
  };
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
    ends_and_says(run(s, "%s", calls[i].call), 2, calls[i].message);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)
  const struct CMUnitTest tests[] = {TEST(test_constant_memory), TEST(test_machine),           TEST(test_stepped_sine),
                                     TEST(test_block),           TEST(test_broad_log),         TEST(test_discrete),
                                     TEST(test_hold_out),        TEST(test_discrete_verdicts), TEST(test_two_inputs),
                                     TEST(test_sampled_loop),    TEST(test_mistakes)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
