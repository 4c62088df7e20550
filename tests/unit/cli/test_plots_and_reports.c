// Every command that computes has --plot and --report: an SVG file, a picture in the terminal, and a page with figures. The files
// are checked by an independent reader of XML; the numbers of figures and the words are those of each command.
#include "support/test.h"

#include <string.h>

#include "support/program.h"
#include "support/xml.h"

#define CASES OD_SOURCE_DIR "/cases/"

static int count_of(const char *text, const char *part) {
  int count = 0;
  for (const char *c = text; (c = strstr(c, part)); c += strlen(part)) count++;
  return count;
}

static void check_xml(scratch *s, const char *name) {
  char *text = scratch_read(scratch_path(s, name)), what[200];
  if (!xml_well_formed(text, what, sizeof what)) fail_msg("%s: %s", name, what);
  free(text);
}

static const char lags[] =
    "inputs: {u: {constant: 1}, v: {constant: 1}}\n"
    "blocks:\n"
    "  e: {type: sum, inputs: [u, b], weights: [1, -1]}\n"
    "  a: {type: first-order, input: e, gain: 2, time_constant: 0.1 s}\n"
    "  b: {type: first-order, input: a, gain: 3, time_constant: 0.05 s}\n"
    "  c: {type: first-order, input: v, gain: 1, time_constant: 1 s}\n"
    "run: {time: 1 s, step: 1 ms, outputs: [a, c]}\n";

typedef struct command {
  const char *arguments;
  int figures;          // least number of figures of the report
  const char *word[3];  // words of the picture in the terminal
} command;

static const command commands[] = {
    {"simulate lags.yaml", 2, {"time (s)", "a\n"}},
    {"simulate lags.yaml --sweep a.gain=1:3:4", 4, {"a.final", "a.gain"}},
    {"simulate lags.yaml --sweep a.gain=1:3:3 --sweep b.gain=1:2:2", 4, {"a.gain = 2", "b.gain"}},
    {"simulate lags.yaml --sweep a.gain=1:3:2 --sweep b.gain=1:2:2 --sweep c.gain=1:2:2", 4, {"c.gain"}},
    {"simulate lags.yaml --draw a.gain=uniform:1:3 --draws 30", 4, {"30 values"}},
    {"equilibrium lags.yaml", 1, {"values at the operating point"}},
    {"equilibrium lags.yaml --sweep a.gain=1:3:4", 1, {"a.gain"}},
    {"linearize lags.yaml", 2, {"x: poles", "stability limit", "natural frequency (Hz)"}},
    {"linearize lags.yaml --sweep a.gain=1:3:4", 2, {"a.gain"}},
    {"bode lags.yaml", 2, {"frequency (Hz)", "phase (deg)"}},
    {"bode lags.yaml --sweep a.gain=1:3:4", 2, {"peak_at"}},
    {"rga lags.yaml", 2, {"relative gains of a", "independent loop"}},
    {"signals lags.yaml", 4, {"u.slope"}},
    {"frf lags.yaml --input u --output a", 3, {"a: magnitude (dB)", "Nyquist plot"}},
    {"log log.csv", 2, {"time (s)", "p (bar)"}},
    {"tf lags.yaml --input u --output a --order 1:3", 5, {"number of poles", ": chosen", "x: poles, o: zeros"}},
    {"friction tustin --set Fs=2100 --set Fc=191 --set vs=0.0105 --set viscous=349", 1, {"(mm/s)"}},
    {"friction reduced --set Fs=2000 --set Fc=200 --set vs=0.01 --set n=1.2 --set viscous=300 --set sigma_0=1e7 --set tau_hn=0.3 "
     "--vary tau_hn=0.5 --show contour --time 0.1",
     1,
     {"speed before the step (mm/s)", "speed after the step"}},
    {"optimize lags.yaml --search a.gain=1:5 --goal a:final=0.28", 3, {"cost", "iteration", "- a:final"}},
    {"inverse " CASES "crane/machine.yaml --move heel.angle='30 deg' --move elbow.angle='-40 deg' --time 0.1",
     2,
     {"time (s)"}},
    {"observe " CASES "valve-wear/step.experiment.yaml", 2, {"time (s)"}},
    {"tune " CASES "observer-tuning/disturbed.experiment.yaml", 3, {"NIS of the rest"}},
    {"compare " CASES "valve-wear/step.experiment.yaml --seeds 2 --filter ekf", 2, {"no correction"}},
    {"study " CASES "valve-wear/step.study.yaml --seeds 3", 4, {": result:", "3 values"}},
    {"fit " CASES "fin-servo/fit.yaml", 4, {"measured", "predicted"}},
    {"friction-fit " CASES "cylinder-friction/series.friction.yaml", 2, {"- mean", "run"}},
};
enum { COMMANDS = sizeof commands / sizeof *commands };

static void test_all_commands(void **state) {
  scratch *s = *state;
  scratch_put(s, "lags.yaml", lags);
  FILE *log = fopen(scratch_path(s, "log.csv"), "w");
  fputs("time,p [bar],x [mm]\n", log);
  for (int i = 0; i < 100; i++) fprintf(log, "%d,%d,%d\n", i, 20 + i % 30, i * i % 97);
  fclose(log);
  setenv("LC_ALL", "C.UTF-8", 1);
  setenv("COLUMNS", "100", 1);
  for (int i = 0; i < COMMANDS; i++) {
    const command *c = &commands[i];
    outcome o = run(s, "%s --report r.html --plot p.svg --quiet", c->arguments);
    if (o.code != 0 && o.code != 3) fail_msg("%s: exit code %d\n%s", c->arguments, o.code, o.err);
    int code = o.code;
    forget(o);
    check_xml(s, "r.html");
    check_xml(s, "p.svg");
    char *page = scratch_read(scratch_path(s, "r.html"));
    int figures = count_of(page, "<figure");
    if (figures < c->figures) fail_msg("%s: %d figures, expected at least %d", c->arguments, figures, c->figures);
    free(page);
    o = run(s, "%s --plot - --quiet", c->arguments);
    if (o.code != code) fail_msg("%s --plot -: exit code %d instead of %d\n%s", c->arguments, o.code, code, o.err);
    for (int k = 0; k < 3 && c->word[k]; k++)
      if (!strstr(o.out, c->word[k])) fail_msg("%s --plot -: '%s' is not in\n%s", c->arguments, c->word[k], o.out);
    assert_null(strchr(o.out, '\033'));
    forget(o);
  }
}

// Values at an operating point are a list that the script does not change. Bode plots of more than six paths have panels
// per output: u acts on a, b, d and e, v on c, d and f, and the sum of b and c has both.
static void test_lists_and_many_paths(void **state) {
  scratch *s = *state;
  char text[2000];
  snprintf(text, sizeof text, "%s", lags);
  char *run_section = strstr(text, "run:");
  assert_non_null(run_section);
  snprintf(run_section, sizeof text - (size_t)(run_section - text),
           "  d: {type: sum, inputs: [a, c], weights: [1, 1]}\n"
           "  f: {type: sum, inputs: [b, c], weights: [1, 1]}\n"
           "run: {time: 1 s, step: 1 ms, outputs: [a, c]}\n");
  scratch_put(s, "lags.yaml", text);
  forget(run(s, "equilibrium lags.yaml --report r.html --quiet"));
  char *page = scratch_read(scratch_path(s, "r.html"));
  assert_int_equal(count_of(page, "<figure class=\"card chart list\">"), 1);
  assert_int_equal(count_of(page, " data-chart="), 0);
  free(page);
  const char *const outputs[] = {"a,b,c", "a,b,c,d,e,f"}, *const titles[] = {"<b>magnitude</b>", "<b>magnitude of "};
  const int panels[] = {1, 6};
  for (int i = 0; i < 2; i++) {
    forget(run(s, "bode lags.yaml --output %s --report r.html --quiet", outputs[i]));
    page = scratch_read(scratch_path(s, "r.html"));
    assert_int_equal(count_of(page, titles[i]), panels[i]);
    free(page);
  }
}

// The loop gain of the block diagram is L = 6 / ((0.1 s + 1)(0.05 s + 1)), which has unit gain at w = 40 / s:
// |(1 + 4 i)(1 + 2 i)| = sqrt(17) sqrt(5) = 9.22 at 40 / s; at 30.0 / s: sqrt(10) sqrt(3.25) = 5.70. The unit gain is at 31.0 / s,
// 4.94 Hz, where the phase is -(72.1 + 57.2) = -129 degrees: a phase margin of 50.7 degrees.
static void test_margins_are_marked(void **state) {
  scratch *s = *state;
  scratch_put(s, "lags.yaml", lags);
  outcome o = run(s, "bode lags.yaml --input u --loop e --report r.html --plot - --quiet");
  ends_with(o, 0);
  says(o.out, "phase margin 50.7 deg at 4.9");
  says(o.out, "Nyquist");
  forget(o);
  char *page = scratch_read(scratch_path(s, "r.html"));
  says(page, "phase margin 50.7 deg");
  free(page);
}

static void test_standard_output_is_used_once(void **state) {
  scratch *s = *state;
  scratch_put(s, "lags.yaml", lags);
  ends_and_says(run(s, "simulate lags.yaml --csv - --plot -"), 2,
                "--csv - and --plot - cannot both use standard output");
  ends_and_says(run(s, "bode lags.yaml --report -"), 2, "--report cannot be written to standard output");
  // The summary is shown before the plot.
  outcome o = run(s, "simulate lags.yaml --plot -");
  ends_with(o, 0);
  const char *summary = strstr(o.out, "verdict"), *plot = strstr(o.out, "time (s)");
  assert_true(summary && plot && summary < plot);
  forget(o);
  // Without UTF-8 the plot is ASCII.
  setenv("LC_ALL", "C", 1);
  o = run(s, "simulate lags.yaml --plot - --quiet");
  for (const char *c = o.out; *c; c++) assert_true((unsigned char)*c < 128);
  says(o.out, "*");
  forget(o);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)
  const struct CMUnitTest tests[] = {TEST(test_all_commands), TEST(test_margins_are_marked),
                                     TEST(test_lists_and_many_paths), TEST(test_standard_output_is_used_once)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
