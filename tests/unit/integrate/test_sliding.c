// Sliding along a jump of a law: if the motion returns to the jump from both sides, it stays there (Filippov's solution), and the law has
// the value between both sides that keeps it there. Oracles are closed forms, phase by phase, given in each test.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"
#include "machine/machine.h"
#include "simulate/run.h"
#include "support/machines.h"

static const char *const integrators[] = {"trapezoid", "tr-bdf2", "rk4"};

// step 0: adaptive, with rows every millisecond.
static od_table *run(const char *text, const char *integrator, double step) {
  od_machine *m = od_test_machine_text(text);
  const od_run_defaults *file = od_machine_run(m);
  const od_run_options options = {.time = file->time,
                                  .step = step > 0 ? step : 1e-3,
                                  .adaptive = step == 0,
                                  .integrator = integrator,
                                  .outputs = file->outputs,
                                  .output_count = file->output_count};
  od_table *table = NULL;
  od_error err = {0};
  if (od_run(m, &options, &table, NULL, &err) != OD_OK) fail_msg("%s, %g s: %s", integrator, step, err.text);
  od_machine_free(m);
  return table;
}

static double at(const od_table *t, long row, int column) {
  return t->data[row * t->columns + column];
}

// ---- v' = a sin(w t) - c sign(v), exactly: it sticks while |a sin(w t)| <= c, and slips in between

typedef struct friction {
  double a, w, c;
  double t, v, x;  // the present point
  int side;        // 0: it sticks
} friction;

static double slip_speed(const friction *f, double t) {
  return f->v + f->a / f->w * (cos(f->w * f->t) - cos(f->w * t)) - f->side * f->c * (t - f->t);
}
static double slip_way(const friction *f, double t) {
  double d = t - f->t;
  return f->x + (f->v + f->a / f->w * cos(f->w * f->t)) * d - f->a / f->w / f->w * (sin(f->w * t) - sin(f->w * f->t)) -
         f->side * f->c * d * d / 2;
}

// Whether the phase is over at t.
static bool is_over(const friction *f, double t) {
  return f->side ? f->side * slip_speed(f, t) < 0 : fabs(f->a * sin(f->w * t)) > f->c;
}

// Moves the point to t, phase by phase; the end of a phase is found by bisection, in steps shorter than any phase.
static void advance(friction *f, double t) {
  while (f->t < t) {
    double next = fmin(f->t + 1e-3, t);
    if (!is_over(f, next)) {
      double v = f->side ? slip_speed(f, next) : 0, x = f->side ? slip_way(f, next) : f->x;
      f->t = next, f->v = v, f->x = x;
      continue;
    }
    double low = f->t, high = next;
    for (int i = 0; i < 60; i++) *(is_over(f, (low + high) / 2) ? &high : &low) = (low + high) / 2;
    if (f->side) f->x = slip_way(f, high);
    f->t = high, f->v = 0;
    double force = f->a * sin(f->w * high);
    f->side = fabs(force) < f->c ? 0 : force > 0 ? 1 : -1;
  }
}

static void check_friction(const od_table *t, friction f, double mass, double tolerance, const char *what) {
  for (long i = 0; i < t->rows; i++) {
    advance(&f, at(t, i, 0));
    if (fabs(at(t, i, 1) - f.v) > tolerance || fabs(at(t, i, 2) - f.x) > tolerance)
      fail_msg("%s at %g s: speed %.9g and way %.9g, exact %.9g and %.9g", what, at(t, i, 0), at(t, i, 1), at(t, i, 2),
               f.v, f.x);
    double before = at(t, i > 0 ? i - 1 : 0, 1), after = at(t, i + 1 < t->rows ? i + 1 : i, 1);
    bool sticks = f.side == 0 && fabs(before) + fabs(after) < 1e-9;
    if (sticks && fabs(at(t, i, 1)) > 1e-12) fail_msg("%s at %g s: speed %.9g", what, at(t, i, 0), at(t, i, 1));
    if (sticks && i > 0 && fabs(at(t, i, 3) - mass * f.a * sin(f.w * f.t)) > 2e-3 * mass * f.c)
      fail_msg("%s at %g s: friction %.9g, exact %.9g", what, at(t, i, 0), at(t, i, 3), mass * f.a * sin(f.w * f.t));
  }
}

// The law as a block or as a formula, with every integrator, in fixed and adaptive steps.
static void laws_stick_and_slip(void **state) {
  (void)state;
  static const char *const laws[] = {"{type: sign, input: v}", "{type: formula, inputs: {v: v}, formula: 'sign(v)'}",
                                     "{type: formula, inputs: {v: v}, formula: 'if(v > 0, 1, -1)'}",
                                     "{type: formula, inputs: {v: v}, formula: 'if(v < 0, -1, 1)'}"};
  static const double amplitude[] = {0.5, 1.5, 4}, start[] = {0, 1, -0.3};
  for (int law = 0; law < 4; law++)
    for (int i = 0; i < 9; i++) {
      char text[1000];
      double a = amplitude[i % 3], v0 = start[i / 3];
      snprintf(text, sizeof text,
               "inputs: {d: {unit: '1', sine: {amplitude: %g, frequency: %.17g Hz}}}\nblocks:\n"
               "  v: {type: integrator, input: e, gain: 1 1/s, unit: '1'}\n  law: %s\n"
               "  e: {type: sum, inputs: [d, law], weights: [1, -1]}\n"
               "  x: {type: integrator, input: v, gain: 1 1/s, unit: '1'}\n"
               "initial: {v.integral: %g}\nrun: {time: 8 s, outputs: [v, x, law]}\n",
               a, 1 / (2 * acos(-1)), laws[law], v0);
      const friction f = {.a = a, .w = 1, .c = 1, .v = v0, .side = v0 > 0 ? 1 : v0 < 0 ? -1 : 0};
      for (int k = 0; k < 3; k++) {
        od_table *t = run(text, integrators[k], 2e-3);
        check_friction(t, f, 1, 1.2e-2, integrators[k]);
        od_table_free(t);
      }
      od_table *t = run(text, "tr-bdf2", 0);
      check_friction(t, f, 1, 1e-4 * (1 + a), "adaptive");
      od_table_free(t);
    }
}

// Coulomb friction of a mass, as a force formula.
static void masses_stick_and_slip(void **state) {
  (void)state;
  static const char text[] =
      "inputs: {F: {unit: N, sine: {amplitude: 70 N, frequency: 0.5 Hz}}}\n"
      "bodies: {m: {point: {mass: 10 kg}}}\n"
      "joints: {rail: {type: prismatic, between: [ground, m], axis: [1, 0, 0]}}\ntorques: {push: {joint: rail, value: F}}\n"
      "force_formulas: {friction: {joint: rail, parameters: {Fc: 60 N}, force: 'Fc * sign(-v)'}}\n"
      "blocks: {braking: {type: gain, input: friction.force, gain: -1}}\n"
      "initial: {rail.position: 0 m}\nrun: {time: 4 s, outputs: [rail.rate, rail.position, braking]}\n";
  const friction f = {.a = 7, .w = acos(-1), .c = 6};
  for (int k = 0; k < 3; k++) {
    od_table *t = run(text, integrators[k], 1e-3);
    check_friction(t, f, 10, 1e-2, integrators[k]);
    od_table_free(t);
  }
  od_table *t = run(text, "tr-bdf2", 0);
  check_friction(t, f, 10, 1e-4, "adaptive");
  od_table_free(t);
}

// Two jumps that act on each other: x' = d - A sign(x) with A = [1 0.5; 0.5 1] stays at zero with values A^-1 d.
static void jumps_slide_together(void **state) {
  (void)state;
  static const char text[] =
      "inputs: {d1: {sine: {amplitude: 0.4, frequency: 0.3 Hz}}, d2: {sine: {amplitude: 0.3, frequency: 0.7 Hz}}}\nblocks:\n"
      "  x1: {type: integrator, input: e1, gain: 1 1/s, unit: '1'}\n"
      "  x2: {type: integrator, input: e2, gain: 1 1/s, unit: '1'}\n"
      "  s1: {type: sign, input: x1}\n  s2: {type: formula, inputs: {x: x2}, formula: 'sign(x)'}\n"
      "  e1: {type: sum, inputs: [d1, s1, s2], weights: [1, -1, -0.5]}\n"
      "  e2: {type: sum, inputs: [d2, s1, s2], weights: [1, -0.5, -1]}\n"
      "initial: {x1.integral: 0.2, x2.integral: -0.1}\nrun: {time: 5 s, outputs: [x1, x2, s1, s2]}\n";
  for (int k = 0; k < 4; k++) {
    od_table *t = run(text, k < 3 ? integrators[k] : "tr-bdf2", k < 3 ? 1e-3 : 0);
    for (long i = 0; i < t->rows; i++) {
      double time = at(t, i, 0), d1 = 0.4 * sin(0.6 * acos(-1) * time), d2 = 0.3 * sin(1.4 * acos(-1) * time);
      if (time < 1) continue;
      assert_true(fabs(at(t, i, 1)) < 1e-10 && fabs(at(t, i, 2)) < 1e-10);
      assert_true(fabs(at(t, i, 3) - (d1 - 0.5 * d2) / 0.75) < 1e-4);
      assert_true(fabs(at(t, i, 4) - (d2 - 0.5 * d1) / 0.75) < 1e-4);
    }
    od_table_free(t);
  }
}

// A sliding-mode controller: x'' = -2 sign(x + x') from x = 1 at rest. x + x' is zero after T = sqrt(2) - 1; from then on
// x = x(T) exp(T - t), and the control is x.
static void control_slides(void **state) {
  (void)state;
  static const char text[] =
      "blocks:\n  v: {type: integrator, input: law, gain: -2 1/s, unit: '1'}\n"
      "  x: {type: integrator, input: v, gain: 1 1/s, unit: '1'}\n  surface: {type: sum, inputs: [x, v]}\n"
      "  law: {type: sign, input: surface}\n"
      "initial: {x.integral: 1}\nrun: {time: 3 s, outputs: [x, v, law]}\n";
  const double T = sqrt(2) - 1, xT = 1 - T * T;
  for (int k = 0; k < 4; k++) {
    od_table *t = run(text, k < 3 ? integrators[k] : "tr-bdf2", k < 3 ? 1e-3 : 0);
    for (long i = 0; i < t->rows; i++) {
      double time = at(t, i, 0), x = time < T ? 1 - time * time : xT * exp(T - time);
      assert_true(fabs(at(t, i, 1) - x) < (k < 3 ? 2e-3 : 1e-4));
      if (time < T + 0.01) continue;
      assert_true(fabs(at(t, i, 1) + at(t, i, 2)) < 1e-10);
      assert_true(fabs(at(t, i, 3) + x / 2) < 1e-3);
    }
    od_table_free(t);
  }
}

// Motions that pass a jump or leave it do not slide: x' = -2 - sign(x)/2 from 1, and x' = 0.1 + sign(x) from 0; and x'' = -sign(x) from 1 at
// rest, whose period is 4 sqrt(2), of which each quarter is a parabola.
static void motions_pass_jumps(void **state) {
  (void)state;
  static const char text[] =
      "inputs: {one: {constant: 1}}\nblocks:\n"
      "  a: {type: integrator, input: ea, gain: 1 1/s, unit: '1'}\n  sa: {type: sign, input: a}\n"
      "  ea: {type: sum, inputs: [one, sa], weights: [-2, -0.5]}\n"
      "  b: {type: integrator, input: eb, gain: 1 1/s, unit: '1'}\n  sb: {type: sign, input: b}\n"
      "  eb: {type: sum, inputs: [one, sb], weights: [0.1, 1]}\n"
      "  v: {type: integrator, input: sc, gain: -1 1/s, unit: '1'}\n"
      "  c: {type: integrator, input: v, gain: 1 1/s, unit: '1'}\n  sc: {type: sign, input: c}\n"
      "initial: {a.integral: 1, c.integral: 1}\nrun: {time: 5.656854249492381 s, outputs: [a, b, c]}\n";
  for (int k = 0; k < 4; k++) {
    od_table *t = run(text, k < 3 ? integrators[k] : "tr-bdf2", k < 3 ? 1e-3 : 0);
    double tolerance = k < 3 ? 1e-2 : 1e-3, end = at(t, t->rows - 1, 0);
    assert_true(fabs(at(t, t->rows - 1, 1) + 1.5 * (end - 0.4)) < tolerance);
    assert_true(fabs(at(t, t->rows - 1, 2) - 1.1 * end) < tolerance);
    assert_true(fabs(at(t, t->rows - 1, 3) - 1) < tolerance);
    od_table_free(t);
  }
}

// A quantizer in a feedback loop cannot slide between two levels: the message names it and a remedy, which works.
static void quantisers_are_named(void **state) {
  (void)state;
  for (int sampled = 0; sampled < 2; sampled++) {
    char text[500];
    snprintf(text, sizeof text,
             "inputs: {d: {constant: 0.3}}\nblocks:\n  x: {type: integrator, input: e, gain: 1 1/s, unit: '1'}\n"
             "  level: {type: quantiser, input: x, step: 1%s}\n  e: {type: sum, inputs: [d, level], weights: [1, -1]}\n"
             "initial: {x.integral: 1}\nrun: {time: 2 s, outputs: [x]}\n",
             sampled ? ", sample: 10 ms" : "");
    od_machine *m = od_test_machine_text(text);
    const od_run_options options = {.time = 2, .step = 1e-3, .outputs = od_machine_run(m)->outputs, .output_count = 1};
    od_table *t = NULL;
    od_error err = {0};
    od_status status = od_run(m, &options, &t, NULL, &err);
    assert_int_equal(status, sampled ? OD_OK : OD_NOT_CONVERGED);
    if (sampled)
      assert_true(fabs(at(t, t->rows - 1, 1) - 0.5) < 0.01);
    else
      assert_non_null(strstr(err.text, "the quantizer 'level'"));
    od_table_free(t);
    od_machine_free(m);
  }
}

// A step can have 24 jumps. With one more the message names its block or its element, here one of many that hold the same mass.
static void too_many_jumps_are_named(void **state) {
  (void)state;
  static const char
      blocks
          [] = "inputs: {d: {constant: 0.3}}\nrun: {time: 10 ms, outputs: [x1]}\nblocks:\n",
    elements[] =
        "bodies: {m: {point: {mass: 1 kg}}}\n"
        "joints: {rail: {type: prismatic, between: [ground, m], axis: [1, 0, 0]}}\n"
        "initial: {rail.position: 0 m, rail.rate: 1 mm/s}\nrun: {time: 10 ms, outputs: [rail.position]}\nforce_formulas:\n",
    block[] =
        "  x%d: {type: integrator, input: e%d, gain: 1 1/s, unit: '1'}\n  s%d: {type: sign, input: x%d}\n"
        "  e%d: {type: sum, inputs: [d, s%d], weights: [1, -1]}\n",
    element[] = "  f%d: {joint: rail, parameters: {F: 1 N}, force: 'F * sign(-v)'}\n";
  for (int k = 0; k < 4; k++) {
    char text[8000];
    int count = k < 2 ? 24 : 25, of_elements = k % 2;
    int used = snprintf(text, sizeof text, "%s", of_elements ? elements : blocks);
    for (int i = 1; i <= count; i++)
      used += of_elements ? snprintf(text + used, sizeof text - (size_t)used, element, i)
                          : snprintf(text + used, sizeof text - (size_t)used, block, i, i, i, i, i, i);
    od_machine *m = od_test_machine_text(text);
    const od_run_options options = {
        .time = 0.01, .step = 1e-3, .outputs = od_machine_run(m)->outputs, .output_count = 1};
    od_table *t = NULL;
    od_error err = {0};
    assert_int_equal(od_run(m, &options, &t, NULL, &err), count > 24 ? OD_NOT_CONVERGED : OD_OK);
    if (count > 24 && !strstr(err.text, of_elements ? "the force formula 'f25'" : "the block 's25'"))
      fail_msg("%s", err.text);
    od_table_free(t);
    od_machine_free(m);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(laws_stick_and_slip),      cmocka_unit_test(masses_stick_and_slip),
      cmocka_unit_test(jumps_slide_together),     cmocka_unit_test(control_slides),
      cmocka_unit_test(motions_pass_jumps),       cmocka_unit_test(quantisers_are_named),
      cmocka_unit_test(too_many_jumps_are_named),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
