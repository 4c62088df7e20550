// The program as users and scripts call it: help, options, files, exit codes. Oracles: the manual page, the readme,
// expected texts.
#include <ctype.h>

#include "support/test.h"

#include <jansson.h>
#include <math.h>
#include <matio.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <time.h>

#include "formats/read_table.h"
#include "io/table.h"
#include "oleodyn/oleodyn.h"
#include "support/program.h"

#define MACHINE OD_SOURCE_DIR "/cases/fourbar-observer/spring.yaml"

static void test_overview_and_help(void **state) {
  scratch *s = *state;
  const char *ways[] = {"", "help", "--help", "-h"};
  for (int i = 0; i < 4; i++) {
    outcome o = run(s, "%s", ways[i]);
    ends_with(o, 0);
    says(o.out, "simulate");
    says(o.out, "check");
    says(o.out, "info");
    assert_string_equal(o.err, "");
    forget(o);
  }
  outcome a = run(s, "help simulate"), b = run(s, "simulate --help");
  ends_with(a, 0);
  says(a.out, "--integrator");
  assert_string_equal(a.out, b.out);
  forget(a);
  forget(b);
  expect_code(run(s, "help check"), 0);
  expect_code(run(s, "help simulat"), 2);
}

static void test_version(void **state) {
  scratch *s = *state;
  outcome o = run(s, "version");
  ends_with(o, 0);
  assert_string_equal(o.out, "oleodyn " OD_VERSION "\n");
  forget(o);
  o = run(s, "version --json");
  json_t *json = json_loads(o.out, 0, NULL);
  assert_string_equal(json_string_value(json_object_get(json, "version")), OD_VERSION);
  json_decref(json);
  forget(o);
  expect_code(run(s, "--version"), 0);
}

// Whether the manual has this whole word, in bold as a command or an option. roff writes its dashes as \-.
static bool manual_has(const char *manual, const char *word) {
  char written[80];
  size_t n = 0;
  for (const char *c = word; *c; c++) {
    assert_true(n + 3 < sizeof written);
    if (*c == '-') written[n++] = '\\';
    written[n++] = *c;
  }
  written[n] = 0;
  for (const char *at = strstr(manual, written); at; at = strstr(at + 1, written)) {
    const char after = at[n], before = at == manual ? ' ' : at[-1];
    if (!isalnum((unsigned char)after) && after != '\\' && !isalnum((unsigned char)before) && before != '-')
      return true;
    // A font change or a break may follow the word; with a dash it would be a longer word.
    if (after == '\\' && at[n + 1] != '-' && !isalnum((unsigned char)before) && before != '-') return true;
  }
  return false;
}

// The manual page has every command that the program lists, and every option of their help texts.
static void test_manual_is_complete(void **state) {
  scratch *s = *state;
  outcome page = run(s, "help --manual-page");
  ends_with(page, 0);
  char *manual = page.out;
  // Only requests of roff begin with a dot.
  static const char *const requests[] = {".\\\"", ".TH ", ".SH ", ".SS ",  ".TP\n", ".B",
                                         ".I ",   ".RI ", ".RB ", ".PP\n", ".nf\n", ".fi\n"};
  for (const char *c = strstr(manual, "\n."); c; c = strstr(c + 1, "\n.")) {
    bool known = false;
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++)
      known = known || strncmp(c + 1, requests[i], strlen(requests[i])) == 0;
    if (!known) fail_msg("no request of roff: %.40s", c + 1);
  }
  says(manual, "oleodyn " OD_VERSION);
  // Every integrator is in both, too.
  outcome simulate = run(s, "help simulate");
  for (int i = 0; od_integrator_at(i); i++) {
    char written[64] = "";
    for (const char *c = od_integrator_at(i)->name; *c; c++)
      snprintf(written + strlen(written), sizeof written - strlen(written), *c == '-' ? "\\%c" : "%c", *c);
    says(simulate.out, od_integrator_at(i)->name);
    says(manual, written);
  }
  forget(simulate);
  assert_false(manual_has(manual, "--random"));  // only --random-start exists: whole words are compared
  outcome list = run(s, "help --json");
  json_t *json = json_loads(list.out, 0, NULL), *command;
  size_t at, options = 0;
  json_array_foreach(json_object_get(json, "commands"), at, command) {
    const char *name = json_string_value(json_object_get(command, "name"));
    if (!manual_has(manual, name)) fail_msg("the manual does not have the command %s", name);
    outcome o = run(s, "help %s", name);
    for (const char *c = strstr(o.out, "\n  --"); c; c = strstr(c + 1, "\n  --")) {
      char option[40];
      assert_int_equal(sscanf(c, " %39[-a-z0-9]", option), 1);
      if (!manual_has(manual, option)) fail_msg("the manual does not have %s of %s", option, name);
      options++;
    }
    forget(o);
  }
  // Neither list was empty.
  assert_true(at >= 8 && options >= 40);
  json_decref(json);
  forget(list);
  forget(page);
}

static void test_mistakes_get_suggestions(void **state) {
  scratch *s = *state;
  const struct {
    const char *arguments, *answer;
  } cases[] = {
      {"simualte " MACHINE, "unknown command 'simualte'; did you mean 'simulate'?"},
      {"frobnicate", "unknown command 'frobnicate'"},
      {"simulate " MACHINE " --tiem 5", "unknown option '--tiem'; did you mean '--time'?"},
      {"simulate " MACHINE " -o x.csv", "unknown option '-o'"},
      {"simulate " MACHINE " --time", "--time requires a value"},
      {"simulate " MACHINE " --quiet=yes", "--quiet takes no value"},
      {"simulate " MACHINE " --time '5 mm'", "--time: the unit 'mm' cannot be converted to s"},
      {"simulate " MACHINE " --time=-5", "--time: found '-5', expected a positive number"},
      {"simulate " MACHINE " --step soon", "--step: found 'soon', expected a number"},
      {"simulate " MACHINE " --every 1.5", "found '1.5', expected a whole number"},
      {"simulate " MACHINE " --integrator trapezoidal", "did you mean 'trapezoid'?"},
      {"simulate " MACHINE " --integrator tr-bdf3", "did you mean 'tr-bdf2'?"},
      {"simulate " MACHINE " --integrator euler",
       "there is no integrator 'euler'; the integrators are trapezoid, tr-bdf2, rk4 and cvodes"},
      {"simulate " MACHINE " --step '1 ms' --rows '1 ms'", "--rows requires --step auto"},
      {"simulate " MACHINE " --step auto --integrator trapezoid --time 1",
       "estimates the error of each step: tr-bdf2 or rk4"},
      {"simulate " MACHINE " --output crank.edn.x", "there is no output 'crank.edn.x'; did you mean 'crank.end.x'?"},
      {"simulate " MACHINE " --output 'nothing.*'", "no output matches 'nothing.*'"},
      {"simulate " MACHINE " --csv - --json -", "cannot both use standard output"},
      {"simulate", "an argument is missing"},
      {"simulate " MACHINE " --csv same --mat same", "--csv and --mat would both be written to same"},
      {"simulate " MACHINE " " MACHINE, "unexpected argument '"},
      {"simulate no-such-file.yaml", "no-such-file.yaml"},
      {"info no-such-file.yaml", "no-such-file.yaml"},
      {"check no-such-file.yaml", "no-such-file.yaml"},
      {"simulate " MACHINE " --set crank.beam.lenght=1", "crank.beam.length"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    outcome o = run(s, "%s", cases[i].arguments);
    ends_with(o, 2);
    says(o.err, cases[i].answer);
    assert_string_equal(o.out, "");
    forget(o);
  }
}

static double member(const json_t *json, const char *name) {
  const json_t *value = json_object_get(json, name);
  if (!json_is_number(value)) fail_msg("'%s' is not a number", name);
  return json_number_value(value);
}

static void test_simulate_json(void **state) {
  scratch *s = *state;
  outcome o =
      run(s, "simulate " MACHINE " --time '500 ms' --step 0.002 --output A.angle --output=spring.length --json -");
  ends_with(o, 0);
  json_t *json = json_loads(o.out, 0, NULL);
  assert_non_null(json);
  assert_true(fabs(member(json, "time") - 0.5) < 1e-9);
  assert_true(member(json, "step") == 0.002);
  assert_true(member(json, "steps") >= 250);
  assert_true(member(json, "repartitions") >= 0);
  assert_string_equal(json_string_value(json_object_get(json, "integrator")), "trapezoid");
  assert_string_equal(json_string_value(json_object_get(json, "machine")), "Spring four-bar");
  assert_true(json_is_true(json_object_get(json, "complete")));
  const json_t *outputs = json_object_get(json, "outputs");
  assert_int_equal(json_array_size(outputs), 2);
  const json_t *length = json_array_get(outputs, 1);
  assert_string_equal(json_string_value(json_object_get(length, "name")), "spring.length");
  assert_string_equal(json_string_value(json_object_get(length, "unit")), "m");
  assert_true(fabs(member(length, "max") - 1.8) < 1e-9);
  assert_true(member(length, "min") < member(length, "rms") && member(length, "rms") < member(length, "max"));
  assert_true(isfinite(member(length, "final")));
  json_decref(json);
  forget(o);
}

static void test_simulate_table(void **state) {
  scratch *s = *state;
  outcome o = run(s, "simulate " MACHINE " --time 0.1 --output A.angle");
  ends_with(o, 0);
  says(o.out, "Spring four-bar: 100 ms in 105 adaptive steps, tr-bdf2");
  says(o.out, "A.angle");
  says(o.out, "real time");
  assert_null(strchr(o.out, '\033'));
  forget(o);
  o = run(s, "simulate " MACHINE " --time 0.1 --output A.angle --quiet");
  ends_with(o, 0);
  assert_string_equal(o.out, "");
  assert_string_equal(o.err, "");
  forget(o);
}

// Results never overwrite their input files, for any spelling of the path.
static void test_inputs_are_spared(void **state) {
  scratch *s = *state;
  static const char machine[] =
      "bodies: {a: {point: {mass: 1 kg}}}\njoints: {J: {type: prismatic, between: [ground, a], axis: [1, 0, 0]}}\n"
      "initial: {J.position: 0 m, J.rate: 1 m/s}\nrun: {time: 10 ms}\n";
  static const char experiment[] =
      "machine: m.yaml\nsensors: {J.position: {sigma: 1 mm}}\n"
      "initial: {J.position: 1 mm, J.rate: 1 mm/s}\nparameters: {a.point.mass: {sigma: 1}}\n";
  scratch_write(s, "m.yaml", machine, sizeof machine - 1);
  scratch_write(s, "e.yaml", experiment, sizeof experiment - 1);
  outcome o = run(s, "observe e.yaml --csv log.csv --quiet");
  ends_with(o, 0);
  forget(o);
  char *log = scratch_read(scratch_path(s, "log.csv"));
  const char *const commands[] = {"simulate m.yaml --csv m.yaml",
                                  "simulate m.yaml --json ./m.yaml",
                                  "observe e.yaml --report e.yaml",
                                  "observe e.yaml --mat m.yaml",
                                  "observe e.yaml --data log.csv --csv log.csv",
                                  "fit e.yaml --csv m.yaml",
                                  "fit e.yaml --data log.csv --csv ./log.csv"};
  for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
    ends_and_says(run(s, "%s", commands[i]), 2, "which is an input");
  }
  const char *const names[] = {"m.yaml", "e.yaml", "log.csv"}, *const texts[] = {machine, experiment, log};
  for (int i = 0; i < 3; i++) {
    char *now = scratch_read(scratch_path(s, names[i]));
    assert_string_equal(now, texts[i]);
    free(now);
  }
  free(log);
}

static void test_files_are_complete(void **state) {
  scratch *s = *state;
  outcome o = run(s, "simulate " MACHINE
                     " --time 0.2 --output 'crank.end.?' --every 2 --csv r.csv --mat r.mat --json r.json "
                     "--plot r.svg");
  ends_with(o, 0);
  says(o.out, "wrote r.csv: 101 rows, 4 columns");
  forget(o);
  assert_int_equal(scratch_count(s), 4);

  od_table *t = NULL;
  od_error err = {0};
  if (od_table_read_csv(scratch_path(s, "r.csv"), &t, &err) != OD_OK) fail_msg("%s", err.text);
  assert_int_equal(t->rows, 101);
  assert_string_equal(t->name[0], "time");
  assert_string_equal(t->name[1], "crank.end.x");
  assert_string_equal(t->unit[1], "m");
  assert_true(fabs(t->data[4 * 100] - 0.2) < 1e-9);

  mat_t *mat = Mat_Open(scratch_path(s, "r.mat"), MAT_ACC_RDONLY);
  assert_non_null(mat);
  matvar_t *x = Mat_VarRead(mat, "crank_end_x");
  assert_non_null(x);
  for (int i = 0; i < 101; i++) assert_true(((double *)x->data)[i] == t->data[4 * i + 1]);
  Mat_VarFree(x);
  Mat_Close(mat);
  od_table_free(t);

  char *svg = scratch_read(scratch_path(s, "r.svg"));
  says(svg, "</svg>");
  says(svg, "crank.end.x");
  free(svg);
  json_t *json = json_load_file(scratch_path(s, "r.json"), 0, NULL);
  assert_non_null(json);
  json_decref(json);
}

static void test_csv_on_standard_output(void **state) {
  scratch *s = *state;
  outcome o = run(s, "simulate " MACHINE " --time 0.01 --output A.angle --csv -");
  ends_with(o, 0);
  assert_memory_equal(o.out, "time [s],A.angle [rad]\n0,", 25);
  int lines = 0;
  for (const char *c = o.out; *c; c++) lines += *c == '\n';
  assert_int_equal(lines, 12);
  forget(o);
}

static void test_unwritable_files(void **state) {
  scratch *s = *state;
  outcome o = run(s, "simulate " MACHINE " --csv no/such/folder.csv");
  ends_with(o, 1);
  says(o.err, "cannot write no/such/folder.csv");
  forget(o);
  assert_int_equal(scratch_count(s), 0);
}

static void test_integrators_agree(void **state) {
  scratch *s = *state;
  // Integrators with an error estimate control their steps by default.
  const char *names[] = {"cvodes", "trapezoid", "tr-bdf2 --step '1 ms'", "rk4 --step '1 ms'", "tr-bdf2", "rk4"};
  const double within[] = {0, 1e-3, 1e-3, 1e-6, 1e-3, 1e-4};
  double final[6];
  for (int i = 0; i < 6; i++) {
    outcome o = run(s, "simulate " MACHINE " --time 0.5 --output A.angle --json - --integrator %s", names[i]);
    ends_with(o, 0);
    json_t *json = json_loads(o.out, 0, NULL);
    final[i] = member(json_array_get(json_object_get(json, "outputs"), 0), "final");
    const json_t *step = json_object_get(json, "step");
    assert_true(i < 4 ? json_number_value(step) == 1e-3 : strcmp(json_string_value(step), "auto") == 0);
    const char *integrator = json_string_value(json_object_get(json, "integrator"));
    assert_memory_equal(integrator, names[i], strlen(integrator));
    json_decref(json);
    forget(o);
    assert_true(fabs(final[i] - final[0]) <= within[i]);
  }
  // Without an integrator adaptive steps use the first suitable one; the row interval is as requested.
  outcome o = run(s, "simulate " MACHINE " --time 0.5 --step auto --rows '50 ms' --csv rows.csv");
  ends_with(o, 0);
  says(o.out, "adaptive steps, tr-bdf2");
  forget(o);
  od_table *rows = NULL;
  assert_int_equal(od_table_read_csv(scratch_path(s, "rows.csv"), &rows, NULL), OD_OK);
  assert_int_equal(rows->rows, 11);
  od_table_free(rows);
}

// Every command warns once of an unusual value; nothing else changes.
static void test_warnings(void **state) {
  scratch *s = *state;
  static const char warning[] = "warning: modulus is '1.2 MPa', which is unusual";
  static const char soft[] =
      "oil: {density: 870 kg/m^3, law: constant, modulus: 1.2 MPa}\n"
      "volumes: {A: {volume: 1 L}}\ntanks: {T: {pressure: 1 bar}}\n"
      "leaks: {l: {between: [A, T], slope: 1e-11 m^3/(s Pa)}}\ninitial: {A.pressure: 20 bar}\n"
      "run: {time: 0.1 s, step: 5 ms, outputs: [A.pressure]}\n";
  static const char observe[] =
      "experiment: Soft\nmachine: soft.yaml\nsensors: {A.pressure: {sigma: 0.1 bar}}\n"
      "parameters: {l.slope: {sigma: 1e-12 m^3/(s Pa), low: 1e-12 m^3/(s Pa), high: 1e-10 m^3/(s Pa)}}\n";
  static const char study[] = "study: Soft\nseeds: 2\ncases: {soft: {experiment: soft.experiment.yaml}}\n";
  scratch_write(s, "soft.yaml", soft, strlen(soft));
  scratch_write(s, "soft.experiment.yaml", observe, strlen(observe));
  scratch_write(s, "soft.study.yaml", study, strlen(study));
  const char *calls[] = {"check soft.yaml",          "simulate soft.yaml",         "info soft.yaml",
                         "info --ranges soft.yaml",  "check soft.experiment.yaml", "observe soft.experiment.yaml",
                         "fit soft.experiment.yaml", "study soft.study.yaml"};
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
    outcome o = run(s, "%s", calls[i]);
    ends_with(o, 0);
    const char *first = strstr(o.err, warning);
    if (!first || strstr(first + 1, warning)) fail_msg("%s says %s", calls[i], o.err);
    says(o.err, "soft.yaml:1:52: warning:");
    forget(o);
  }
  outcome o = run(s, "check --json soft.yaml");
  ends_with(o, 0);
  json_t *json = json_loads(o.out, 0, NULL);
  assert_true(json_is_true(json_object_get(json, "ok")));
  const json_t *messages = json_object_get(json_array_get(json_object_get(json, "machines"), 0), "messages");
  assert_int_equal(json_array_size(messages), 1);
  const json_t *severity = json_object_get(json_array_get(messages, 0), "severity");
  assert_string_equal(json_string_value(severity), "warning");
  json_decref(json);
  forget(o);
}

static void test_check_and_info(void **state) {
  scratch *s = *state;
  outcome o = run(s, "check " MACHINE);
  ends_with(o, 0);
  assert_string_equal(o.out, MACHINE ": ok: 3 bodies, 4 joints, 1 degree of freedom\n");
  forget(o);

  scratch_write(s, "bad.yaml", "machine: Bad\nbodies: 5\n", 23);
  o = run(s, "check --json bad.yaml " MACHINE);
  ends_with(o, 2);
  json_t *json = json_loads(o.out, 0, NULL);
  assert_true(json_is_false(json_object_get(json, "ok")));
  const json_t *bad = json_array_get(json_object_get(json, "machines"), 0);
  assert_true(json_array_size(json_object_get(bad, "messages")) > 0);
  json_decref(json);
  forget(o);

  o = run(s, "info " MACHINE);
  ends_with(o, 0);
  says(o.out, "degrees of freedom  1");
  says(o.out, "spring.stiffness");
  says(o.out, "10 kN/m");
  forget(o);

  o = run(s, "info --json --set crank.beam.length='800 mm' " MACHINE);
  ends_with(o, 0);
  json = json_loads(o.out, 0, NULL);
  assert_true(member(json, "bodies") == 3 && member(json, "freedom") == 1 && member(json, "states") == 2);
  assert_true(json_array_size(json_object_get(json, "outputs")) > 20);
  const json_t *numbers = json_object_get(json, "numbers");
  bool found = false;
  for (size_t i = 0; i < json_array_size(numbers); i++) {
    const json_t *n = json_array_get(numbers, i);
    if (strcmp(json_string_value(json_object_get(n, "path")), "crank.beam.length") != 0) continue;
    found = true;
    assert_true(fabs(member(n, "value") - 0.8) < 1e-12);
  }
  assert_true(found);
  json_decref(json);
  forget(o);
}

// A machine with one part of every kind; numbers and points as in the file.
static const char parts_machine[] =
    "gravity: [0, -9.81]\n"
    "ground: {points: {A: [0, 0], B: [2 m, 0]}}\n"
    "inputs: {drive: {unit: N m, sine: {amplitude: 5 N m, frequency: 1 Hz}}, push: 1}\n"
    "bodies:\n"
    "  crank: {beam: {mass: 2 kg, length: 0.5 m}}\n"
    "  plate: {mass: 3 kg, centre: [0.1 m, 0], inertia: 0.2, points: {ear: [0.5 m, 0]}}\n"
    "joints:\n"
    "  J: {type: revolute, between: [ground.A, crank.start], independent: true, stiffness: 40 N m/rad}\n"
    "  K: {type: revolute, between: [ground.B, plate]}\n"
    "rods: {tie: {between: [crank.end, plate.ear], length: 1 m}}\n"
    "springs: {damper: {between: [ground.B, crank.middle], damping: 7 N s/m}}\n"
    "forces: {f: {at: crank.end, value: 2 kN push, direction: [0, 1]}}\n"
    "torques: {t: {joint: J, value: drive}, g: {body: plate, value: 3 N m}}\n"
    "initial: {J.angle: about 0, K.angle: about 180 deg}\n";

static const json_t *part(const json_t *json, const char *kind, size_t i) {
  return json_array_get(json_object_get(json_object_get(json, "parts"), kind), i);
}

static void has_text(const json_t *json, const char *name, const char *text) {
  const char *found = json_string_value(json_object_get(json, name));
  if (!found || strcmp(found, text) != 0) fail_msg("'%s' is '%s', not '%s'", name, found ? found : "(none)", text);
}

static void test_info_lists_parts(void **state) {
  scratch *s = *state;
  scratch_write(s, "parts.yaml", parts_machine, sizeof parts_machine - 1);
  outcome o = run(s, "info parts.yaml");
  ends_with(o, 0);
  const char *lines[] = {
      "\nBodies\n  crank  beam     2 kg\n  plate  general  3 kg\n",
      "\nJoints\n  J  revolute  ground.A - crank.start   preferred\n  K  revolute  ground.B - plate.origin\n",
      "\nRods (each closes a loop)\n  tie  crank.end - plate.ear  1000 mm\n",
      "\nSprings and dampers\n  damper  ground.B - crank.middle  damping 7 N s/m\n",
      "\nSprings and dampers in joints\n  J  in joint J  stiffness 40 N m/rad\n",
      "\n  f  at crank.end   2000 N times push\n  t  in joint J     drive\n  g  on body plate  3 N m\n",
  };
  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) says(o.out, lines[i]);
  forget(o);

  o = run(s, "info --json parts.yaml");
  ends_with(o, 0);
  json_t *json = json_loads(o.out, 0, NULL);
  assert_non_null(json);
  has_text(part(json, "bodies", 0), "shape", "beam");
  assert_true(member(json_object_get(part(json, "bodies", 1), "mass"), "value") == 3);
  has_text(json_object_get(part(json, "bodies", 1), "mass"), "unit", "kg");
  assert_true(json_is_true(json_object_get(part(json, "joints", 0), "preferred")));
  assert_true(json_is_false(json_object_get(part(json, "joints", 0), "closes_loop")));
  const json_t *between = json_object_get(part(json, "rods", 0), "between");
  assert_string_equal(json_string_value(json_array_get(between, 1)), "plate.ear");
  has_text(part(json, "components", 0), "joint", "J");
  has_text(part(json, "components", 0), "class", "joint spring");
  assert_true(member(json_object_get(part(json, "components", 0), "stiffness"), "value") == 40);
  has_text(part(json, "forces", 0), "point", "crank.end");
  has_text(part(json, "forces", 0), "input", "push");
  has_text(part(json, "forces", 1), "joint", "J");
  has_text(part(json, "forces", 2), "body", "plate");
  assert_true(json_is_null(json_object_get(part(json, "forces", 2), "input")));
  json_decref(json);
  forget(o);

  o = run(s, "info " MACHINE);
  says(o.out, "  P2  revolute  coupler.end - rocker.end   closes a loop\n");
  forget(o);
}

// The first machine of the readme gives the results in the readme.
static void test_readme_machine(void **state) {
  scratch *s = *state;
  char *readme = scratch_read(OD_SOURCE_DIR "/README.md");
  assert_non_null(readme);
  const char *begin = strstr(readme, "```yaml\n"), *end = begin ? strstr(begin + 8, "```") : NULL;
  assert_non_null(end);
  scratch_write(s, "pendulum.yaml", begin + 8, (size_t)(end - begin - 8));
  outcome o = run(s, "check pendulum.yaml");
  ends_with(o, 0);
  says(readme, o.out);
  forget(o);
  o = run(s, "simulate pendulum.yaml --plot pendulum.svg");
  ends_with(o, 0);
  // The table, line by line, except the energy balance, whose last digits depend on the compiler.
  int lines = 0;
  for (char *line = strtok(o.out, "\n"); line && lines < 4; line = strtok(NULL, "\n"), lines++) says(readme, line);
  assert_int_equal(lines, 4);
  forget(o);
  const char *command =
      "simulate pendulum.yaml --set spring.stiffness='0.2 kN/m' --output 'rod.end.*,energy.*' --csv run.csv "
      "--json summary.json";
  says(readme, command);
  expect_code(run(s, command), 0);
  free(readme);
}

// Every file of cases/ is valid. Files in folders `parts` are included by others and incomplete alone.
static void test_all_cases_are_right(void **state) {
  scratch *s = *state;
  outcome o = run(s, "check $(find " OD_SOURCE_DIR "/cases -name '*.yaml' -not -path '*/parts/*')");
  ends_with(o, 0);
  forget(o);
}

// Ctrl-C in a very long run: the files contain the results so far.
static void test_interruption(void **state) {
  scratch *s = *state;
  char csv[512], log[512];
  strcpy(csv, scratch_path(s, "r.csv"));
  strcpy(log, scratch_path(s, "log.txt"));
  pid_t child = fork();
  if (child == 0) {
    signal(SIGINT, SIG_DFL);
    FILE *to = freopen(log, "w", stderr);
    (void)to;
    execl(OD_BINARY, OD_BINARY, "simulate", MACHINE, "--time", "1e6", "--every", "1000", "--csv", csv, "--quiet",
          (char *)NULL);
    _exit(99);
  }
  // Time to start.
  nanosleep(&(struct timespec){.tv_sec = 1}, NULL);
  kill(child, SIGINT);
  int status;
  waitpid(child, &status, 0);
  assert_true(WIFEXITED(status));
  assert_int_equal(WEXITSTATUS(status), 130);
  od_table *t = NULL;
  od_error err = {0};
  if (od_table_read_csv(csv, &t, &err) != OD_OK) fail_msg("%s", err.text);
  assert_true(t->rows > 1);
  od_table_free(t);
  assert_int_equal(scratch_count(s), 2);
  char *text = scratch_read(log);
  says(text, "interrupted");
  free(text);
}

int main(void) {
#define TEST(f) cmocka_unit_test_setup_teardown(f, scratch_setup, scratch_teardown)
  const struct CMUnitTest tests[] = {
      TEST(test_overview_and_help),
      TEST(test_version),
      TEST(test_manual_is_complete),
      TEST(test_mistakes_get_suggestions),
      TEST(test_simulate_json),
      TEST(test_simulate_table),
      TEST(test_files_are_complete),
      TEST(test_csv_on_standard_output),
      TEST(test_inputs_are_spared),
      TEST(test_csv_on_standard_output),
      TEST(test_unwritable_files),
      TEST(test_integrators_agree),
      TEST(test_warnings),
      TEST(test_check_and_info),
      TEST(test_info_lists_parts),
      TEST(test_readme_machine),
      TEST(test_all_cases_are_right),
      TEST(test_interruption),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
