// oleodyn simulate: the summary and the written files, units, cavitation, outputs that share a panel. Oracles: closed
// forms of volumes and pumps, expected texts.
#include "support/test.h"
#include "support/page_data.h"
#include "support/program.h"

// A liter of oil at 10 bar from which 0.3 l/min are drawn until 0.4 s, and pumped back from then on. The pressure falls
// by 5 MPa/s: it is zero at 0.2 s and again at 0.6 s.
static const char drawn[] =
    "oil: {density: 860 kg/m^3, law: constant, modulus: 1000 MPa}\n"
    "volumes: {A: {volume: 1 L}, B: {volume: 1 L}}\n"
    "inputs: {draw: {unit: m3/s, steps: {initial: -0.3 L/min, at: [[0.4 s, 0.3 L/min]]}}}\n"
    "pumps: {pump: {to: A, flow: draw}, spare: {to: B, flow: 0.1 L/min}}\n"
    "initial: {A.pressure: 10 bar, B.pressure: 20 bar}\n"
    "run: {time: 1 s, step: 1 ms, outputs: [A.pressure, B.pressure, pump.flow]}\n";

static scratch *with_machine(void **state) {
  scratch_write(*state, "drawn.yaml", drawn, sizeof drawn - 1);
  return *state;
}

static void lacks(const char *text, const char *part) {
  if (strstr(text, part)) fail_msg("'%s' is in:\n%s", part, text);
}

static void test_files_keep_the_summary(void **state) {
  scratch *s = with_machine(state);
  const char *const options[] = {"--csv r.csv", "--mat r.mat", "--json r.json", "--plot r.svg"};
  for (int i = 0; i < 4; i++) {
    outcome o = run(s, "simulate drawn.yaml %s", options[i]);
    ends_with(o, 0);
    says(o.out, "output");
    says(o.out, "A.pressure");
    says(o.out, "verdict: sound");
    says(o.out, "wrote r.");
    forget(o);
  }
  outcome o = run(s, "simulate drawn.yaml --csv -");
  lacks(o.out, "verdict");
  forget(o);
  o = run(s, "simulate drawn.yaml --csv r.csv --quiet");
  assert_string_equal(o.out, "");
  forget(o);
}

// Closed form: from 0.2 s to 0.6 s. The row at 0.2 s itself may be on either side of zero.
static void test_cavitation_is_told(void **state) {
  scratch *s = with_machine(state);
  const char *const integrators[] = {"trapezoid", "rk4", "cvodes"};
  for (int i = 0; i < 3; i++) {
    outcome o = run(s, "simulate drawn.yaml --integrator %s --step '0.9 ms' --json r.json", integrators[i]);
    ends_with(o, 0);
    says(o.out, "verdict: sound\n  Cavitation: volume A cavitates from 0.2");
    says(o.out, " s on, for 400 ms of 1 s in total");
    lacks(o.out, "volume B");
    forget(o);
    char *json = scratch_read(scratch_path(s, "r.json"));
    says(json, "\"code\": \"cavitation\"");
    free(json);
  }
  outcome o = run(s, "simulate drawn.yaml --time 0.19");
  lacks(o.out, "avitat");
  forget(o);
}

// Tables with columns of any width.
static outcome squeezed(outcome o) {
  char *to = o.out;
  for (const char *c = o.out; *c; c++)
    if (*c != ' ' || (to > o.out && to[-1] != ' ')) *to++ = *c;
  *to = '\0';
  return o;
}

// A run outside the validity of elements is reported in terminal, JSON and report in the same words; otherwise a run is sound.
static void expect_told(scratch *s, const char *text, const char *set, const char *expected) {
  scratch_write(s, "beyond.yaml", text, strlen(text));
  outcome o = run(s, "simulate beyond.yaml --json r.json --report r.html");
  ends_with(o, 0);
  says(o.out, expected);
  forget(o);
  const char *const files[] = {"r.json", "r.html"};
  for (int i = 0; i < 2; i++) {
    char *written = scratch_read(scratch_path(s, files[i]));
    says(written, expected);
    free(written);
  }
  o = run(s, "simulate beyond.yaml --set %s", set);
  ends_with(o, 0);
  says(o.out, "verdict: sound");
  forget(o);
}

static void test_beyond_what_elements_are_made_for(void **state) {
  expect_told(
      *state,
      "bodies: {load: {point: {mass: 200 kg}}}\n"
      "joints: {guide: {type: prismatic, between: [ground, load], axis: [1, 0, 0]}}\n"
      "ground: {points: {foot: [-1 m, 0]}}\n"
      "oil: {density: 870, law: constant, modulus: 1.4 GPa}\n"
      "volumes: {A: {volume: 0.5 l}, B: {volume: 0.5 l}}\n"
      "inputs: {level: {unit: 1, steps: {initial: 1, at: [[20 ms, -0.5]]}}}\n"
      "cylinders:\n"
      "  ram: {between: [ground.foot, load], chambers: [A, B], areas: [20 cm^2, 15 cm^2], closed: 0.8 m, stroke: 0.6 m,\n"
      "        friction: {law: viscous, viscous: 300, factor: level}}\n"
      "initial: {guide.position: 0.2 m, guide.rate: 20 mm/s, A.pressure: 30 bar, B.pressure: 40 bar}\n"
      "run: {time: 0.05 s, step: 0.1 ms}\n",
      "'inputs.level.steps.at[0][1]=0.5'",
      "the factor of the friction of ram, is first negative at 0.02 s; its lowest value is -0.5, at 0.02 s: friction cannot drive the motion, "
      "so negative values are replaced by a value near zero.");
  // The friction of a joint depends on an input in the same way as that of a cylinder.
  expect_told(*state,
              "bodies: {load: {point: {mass: 200 kg}}}\n"
              "inputs: {level: {unit: 1, steps: {initial: 1, at: [[20 ms, -0.5]]}}}\n"
              "joints: {guide: {type: prismatic, between: [ground, load], axis: [1, 0, 0],\n"
              "                 friction: {law: viscous, viscous: 300, factor: level}}}\n"
              "initial: {guide.position: 0, guide.rate: 20 mm/s}\nrun: {time: 0.05 s, step: 0.1 ms}\n",
              "'inputs.level.steps.at[0][1]=0.5'", "the factor of the friction of guide, is first negative at 0.02 s");
  // 1 l/min into 1 l of oil: 1.4e9 Pa / 60 s in addition to 10 bar and the pump's flow.
  expect_told(
      *state,
      "oil: {density: 870, law: constant, modulus: 1.4 GPa}\n"
      "volumes: {P: {volume: 1 l}}\ntanks: {T: {pressure: 1 bar}}\n"
      "pressure_pumps: {supply: {from: T, to: P, flow: 6 l/min, set: 100 bar, range: 10 bar}}\n"
      "pumps: {other: {to: P, flow: 1 l/min}}\ninitial: {P.pressure: 10 bar}\nrun: {time: 2 s, step: 1 ms}\n",
      "run.time='50 ms'",
      "bar at 2 s. The pressure-controlled pump supply delivers no flow above 110 bar, and the oil has no outlet");
}

static void test_units_for_people(void **state) {
  scratch *s = with_machine(state);
  outcome o = squeezed(run(s, "simulate drawn.yaml --csv r.csv --plot r.svg"));
  says(o.out, " A.pressure bar 0 20 ");
  says(o.out, " pump.flow l/min -0.3 0.3 0.3 0.3\n");
  forget(o);
  char *text = scratch_read(scratch_path(s, "r.svg"));
  says(text, "A.pressure<tspan class=\"note\" dx=\"6\">(bar)");
  says(text, "pump.flow<tspan class=\"note\" dx=\"6\">(l/min)");
  free(text);
  text = scratch_read(scratch_path(s, "r.csv"));
  says(text, "time [s],A.pressure [Pa],B.pressure [Pa],pump.flow [m3/s]\n0,");
  free(text);

  o = squeezed(run(s, "simulate drawn.yaml --si --plot r.svg"));
  says(o.out, " A.pressure Pa 0 2e+06 ");
  says(o.out, " pump.flow m3/s -5e-06 5e-06 ");
  forget(o);
  text = scratch_read(scratch_path(s, "r.svg"));
  says(text, "(MPa)");
  lacks(text, "bar");
  free(text);

  o = squeezed(run(s, "info drawn.yaml"));
  says(o.out, " A.volume 1 l ");
  says(o.out, " initial.B.pressure 20 bar");
  says(o.out, " A pressure (bar), inflow (l/min), cavitating, void (l), mass (kg), compressed (J)\n");
  forget(o);
  o = squeezed(run(s, "info drawn.yaml --si"));
  says(o.out, " A.volume 0.001 m3 ");
  says(o.out, " initial.B.pressure 2000000 Pa");
  says(o.out, " A pressure (Pa), inflow (m3/s), cavitating, void (m3), mass (kg), compressed (J)\n");
  forget(o);
}

static int count(const char *text, const char *part) {
  int n = 0;
  for (const char *c = text; (c = strstr(c, part)); c++) n++;
  return n;
}

static void test_outputs_share_a_panel(void **state) {
  scratch *s = with_machine(state);
  expect_code(run(s, "simulate drawn.yaml --output A.pressure,B.pressure,pump.flow --plot r.svg"), 0);
  char *text = scratch_read(scratch_path(s, "r.svg"));
  assert_int_equal(count(text, "class=\"frame\""), 3);
  assert_int_equal(count(text, "class=\"curve c"), 3);
  free(text);
  // B joins A's panel, wherever A is listed first; the files keep their columns.
  expect_code(
      run(s, "simulate drawn.yaml --output A.pressure,pump.flow,A.pressure+B.pressure --plot r.svg --csv r.csv"), 0);
  text = scratch_read(scratch_path(s, "r.svg"));
  assert_int_equal(count(text, "class=\"frame\""), 2);
  assert_int_equal(count(text, "class=\"curve c"), 3);
  says(text, ">A.pressure</text>");
  says(text, ">B.pressure</text>");
  // B: 0.1 l/min for 1 s into 1 l of 1000 MPa is 16.67 bar more than its 20.
  says(text, ">0 to 36.67<");
  free(text);
  text = scratch_read(scratch_path(s, "r.csv"));
  says(text, "time [s],A.pressure [Pa],pump.flow [m3/s],B.pressure [Pa]\n");
  free(text);
  outcome o = run(s, "simulate drawn.yaml --output 'A.pressure+pump.*'");
  ends_with(o, 2);
  says(o.err, "--output: 'A.pressure' (Pa) and 'pump.flow' (m3/s) have different units and cannot share a panel");
  forget(o);
  ends_and_says(run(s, "simulate drawn.yaml --output A.pressure+B.presure"), 2,
                "there is no output 'B.presure'; did you mean 'B.pressure'?");
}

// The same in the file, with patterns, and with a panel after an output with its own panel: three panels, five columns.
static void test_file_has_panels(void **state) {
  scratch *s = with_machine(state);
  static const char file[] =
      "include: drawn.yaml\n"
      "run: {outputs: [A.pressure+B.pressure, pump.f*, A.inflow+?.inflow]}\n";
  scratch_write(s, "panels.yaml", file, sizeof file - 1);
  expect_code(run(s, "simulate panels.yaml --plot r.svg --csv r.csv --report r.html"), 0);
  char *text = scratch_read(scratch_path(s, "r.html"));
  says(text, "<figcaption><b>Pressures</b> ");
  says(text, "<figcaption><b>pump.flow</b> ");
  // Charts of the file come first, then charts by quantity. A panel is one chart, with parts as labels.
  page_data d = page_data_read(text);
  const char *const titles[] = {"Pressures", "pump.flow", "Inflow: A, B"};
  for (int i = 0; i < 3; i++)
    assert_string_equal(json_string_value(json_object_get(page_data_at(&d, "charts", i), "title")), titles[i]);
  const json_t *lines = json_object_get(page_data_at(&d, "charts", 0), "lines");
  assert_int_equal(json_array_size(lines), 2);
  assert_string_equal(json_string_value(json_object_get(json_array_get(lines, 1), "label")), "B");
  page_data_free(&d);
  free(text);
  text = scratch_read(scratch_path(s, "r.svg"));
  assert_int_equal(count(text, "class=\"frame\""), 3);
  assert_int_equal(count(text, "class=\"curve c"), 5);
  free(text);
  text = scratch_read(scratch_path(s, "r.csv"));
  says(text, "time [s],A.pressure [Pa],B.pressure [Pa],pump.flow [m3/s],A.inflow [m3/s],B.inflow [m3/s]\n");
  free(text);
}

// A filter of a pressure of 51 bar that starts at zero has an initial error of 51 bar; a filter of a reference shows its step
// response, which is intended. A steady start has no transient.
static void test_kicks_at_the_start(void **state) {
  scratch *s = *state;
  scratch_put(s, "kick.yaml",
              "oil: {density: 860 kg/m^3, law: constant, modulus: 1000 MPa}\n"
              "volumes: {V: {volume: 1 L}}\n"
              "tanks: {T: {pressure: 1 bar}}\n"
              "inputs: {r: {constant: 4}}\n"
              "pumps: {pump: {to: V, from: T, flow: 6 l/min}}\n"
              "leaks: {leak: {between: [V, T], slope: 2e-11 m^3/(s Pa)}}\n"
              "blocks:\n"
              "  lag: {type: first-order, input: V.pressure, unit: Pa, time_constant: 1 s}\n"
              "  own: {type: first-order, input: r, time_constant: 1 s}\n"
              "initial: {V.pressure: 51 bar}\n"
              "run: {time: 1 s, outputs: [V.pressure, lag]}\n"
              "variants: {steady: {initial: {others: steady}}, given: {initial: {lag.state: 51 bar}}}\n");
  outcome o = run(s, "simulate kick.yaml");
  ends_with(o, 0);
  says(o.out, "verdict: sound\n  Transient at the start: ");
  says(o.out, "'lag' by 51 bar.");
  lacks(o.out, "'own'");
  forget(o);
  static const char *const variants[] = {"steady", "given"};
  for (int i = 0; i < 2; i++) {
    o = run(s, "simulate kick.yaml --variant %s", variants[i]);
    ends_with(o, 0);
    lacks(o.out, "Kick");
    forget(o);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_files_keep_the_summary, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(test_cavitation_is_told, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(test_beyond_what_elements_are_made_for, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(test_units_for_people, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(test_outputs_share_a_panel, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(test_kicks_at_the_start, scratch_setup, scratch_teardown),
      cmocka_unit_test_setup_teardown(test_file_has_panels, scratch_setup, scratch_teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
