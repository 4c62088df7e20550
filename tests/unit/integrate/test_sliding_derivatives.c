// Derivatives of a step that slides along a jump of a law (integrate/slide.c). The oracle is a complex step through hand-written equations of
// each rule, with the values of the jumps as unknowns and the guards at the end as their equations.
#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"

#include "filters/complex_step.h"
#include "machine/machine.h"
#include "oleodyn/sim.h"
#include "plant/model_plant.h"
#include "support/machines.h"

static const char *const integrators[] = {"trapezoid", "tr-bdf2", "rk4"};
static const double h = 0.05, u0 = 0.3, u1 = 0.4;  // the tested step, and its inputs

typedef double _Complex number;
enum { MOST = 2 };

// x' = rates(x, u, p, v) with values v of the jumps; guards are zero at the end of a step.
typedef struct sliding_system {
  const char *text, *parameters[MOST];
  int jumps;
  void (*rates)(const number *x, number u, const number *p, const number *v, number *f);
  void (*guards)(const number *x, number u, const number *p, const number *v, number *s);
} sliding_system;

// Arguments of a step: states, parameters, inputs at both ends.
typedef struct step_data {
  number x[MOST], p[MOST], u[2];
} step_data;

// x = base + beta rates(x), by iteration: steps are short.
static void solve_stage(const sliding_system *m, const step_data *d, const number *v, number u, double beta,
                        const number *base, number *x) {
  number f[MOST];
  memcpy(x, base, MOST * sizeof *x);
  for (int round = 0; round < 60; round++) {
    m->rates(x, u, d->p, v, f);
    for (int i = 0; i < MOST; i++) x[i] = base[i] + beta * f[i];
  }
}

// The end of a step by the trapezoidal rule, TR-BDF2 or the classical Runge-Kutta rule.
static void end_of_step(const sliding_system *m, int rule, const step_data *d, const number *v, number *x) {
  const double gamma = 2 - sqrt(2), weight[] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6}, node[] = {0, 0.5, 0.5, 1};
  number f0[MOST], f2[MOST], base[MOST];
  m->rates(d->x, d->u[0], d->p, v, f0);
  if (rule == 0) {
    for (int i = 0; i < MOST; i++) base[i] = d->x[i] + h / 2 * f0[i];
    solve_stage(m, d, v, d->u[1], h / 2, base, x);
  } else if (rule == 1) {
    number u = (1 - gamma) * d->u[0] + gamma * d->u[1];
    for (int i = 0; i < MOST; i++) base[i] = d->x[i] + gamma / 2 * h * f0[i];
    solve_stage(m, d, v, u, gamma / 2 * h, base, x);
    m->rates(x, u, d->p, v, f2);
    for (int i = 0; i < MOST; i++) base[i] = d->x[i] + sqrt(2) / 4 * h * (f0[i] + f2[i]);
    solve_stage(m, d, v, d->u[1], gamma / 2 * h, base, x);
  } else {
    memcpy(x, d->x, MOST * sizeof *x);
    for (int stage = 0; stage < 4; stage++) {
      for (int i = 0; i < MOST; i++) base[i] = d->x[i] + (stage ? node[stage] * h * f2[i] : 0);
      m->rates(base, (1 - node[stage]) * d->u[0] + node[stage] * d->u[1], d->p, v, f2);
      for (int i = 0; i < MOST; i++) x[i] += weight[stage] * h * f2[i];
    }
  }
}

static void guards_at_end(const sliding_system *m, int rule, const step_data *d, const number *v, number *x,
                          number *s) {
  end_of_step(m, rule, d, v, x);
  m->guards(x, d->u[1], d->p, v, s);
}

// The end of a sliding step: v by Newton's method in complex numbers. Its derivatives are real differences: they affect the speed of
// convergence, not the result.
static void sliding_step(const sliding_system *m, int rule, const step_data *d, number *x) {
  number v[MOST] = {0}, s[MOST], s1[MOST], slope[MOST][MOST] = {{1, 0}, {0, 1}};
  for (int round = 0; round < 60; round++) {
    guards_at_end(m, rule, d, v, x, s);
    for (int j = 0; j < m->jumps; j++) {
      v[j] += 1e-6;
      guards_at_end(m, rule, d, v, x, s1);
      v[j] -= 1e-6;
      for (int i = 0; i < m->jumps; i++) slope[i][j] = creal(s1[i] - s[i]) / 1e-6;
    }
    number det = slope[0][0] * slope[1][1] - slope[0][1] * slope[1][0];
    number change[] = {(slope[1][1] * s[0] - slope[0][1] * (m->jumps > 1 ? s[1] : 0)) / det,
                       (slope[0][0] * (m->jumps > 1 ? s[1] : 0) - slope[1][0] * s[0]) / det};
    for (int i = 0; i < m->jumps; i++) v[i] -= change[i];
  }
  guards_at_end(m, rule, d, v, x, s);
  for (int i = 0; i < m->jumps; i++) assert_true(fabs(creal(v[i])) < 0.95);
}

// A nonlinear guard with an input and a parameter, in a law that also depends on the state.
static void curved_rates(const number *x, number u, const number *p, const number *v, number *f) {
  f[0] = u - 2 * v[0] * (1 + p[0] * x[1]);
  f[1] = x[0] - x[1];
}
static void curved_guards(const number *x, number u, const number *p, const number *v, number *s) {
  (void)v;
  s[0] = x[0] * x[0] * x[1] - p[1] - 0.2 * u;
}

// The same law between two branches of an if(), with other values on both sides.
static void branch_rates(const number *x, number u, const number *p, const number *v, number *f) {
  f[0] = u - (1 - v[0]) / 2 * (-1 - p[0] * x[1]) - (1 + v[0]) / 2 * 3 * x[0];
  f[1] = x[0] - x[1];
}

// A mass of 2 kg with friction along a nonlinear surface. p: friction and stiffness of the surface.
static void mass_rates(const number *x, number u, const number *p, const number *v, number *f) {
  f[0] = x[1];
  f[1] = (u + v[0] * (p[0] + 4 * x[0])) / 2;
}
static void mass_guards(const number *x, number u, const number *p, const number *v, number *s) {
  (void)u, (void)v;
  s[0] = -x[1] - p[1] * csin(x[0]);
}

// Two jumps; the guard of the second contains the value of the first.
static void nested_rates(const number *x, number u, const number *p, const number *v, number *f) {
  f[0] = u - v[0] * (1 + x[1] * x[1]) + 0.3 * v[1];
  f[1] = p[0] - v[1];
}
static void nested_guards(const number *x, number u, const number *p, const number *v, number *s) {
  (void)u;
  s[0] = csinh(x[0]) + 0.1 * x[1];
  s[1] = x[1] * cexp(x[0]) - p[1] * v[0];
}

static const sliding_system systems[] = {
    {.text =
         "inputs: {u: {constant: 0.3}}\nblocks:\n"
         "  x: {type: integrator, input: e, gain: 1 1/s, unit: '1'}\n"
         "  y: {type: integrator, input: lag, gain: 1 1/s, unit: '1'}\n"
         "  e: {type: sum, inputs: [u, law], weights: [1, -1]}\n  lag: {type: sum, inputs: [x, y], weights: [1, -1]}\n"
         "  law: {type: formula, inputs: {x: x, y: y, u: u}, parameters: {b: 0.7, c: 1}, "
         "formula: '2 * sign(x * x * y - c - 0.2 * u) * (1 + b * y)'}\n"
         "initial: {x.integral: 1.2, y.integral: 0.8}\nrun: {time: 1 s, outputs: [x]}\n",
     .parameters = {"law.parameters.b", "law.parameters.c"},
     .jumps = 1,
     .rates = curved_rates,
     .guards = curved_guards},
    {.text =
         "inputs: {u: {constant: 0.3}}\nblocks:\n"
         "  x: {type: integrator, input: e, gain: 1 1/s, unit: '1'}\n"
         "  y: {type: integrator, input: lag, gain: 1 1/s, unit: '1'}\n"
         "  e: {type: sum, inputs: [u, law], weights: [1, -1]}\n  lag: {type: sum, inputs: [x, y], weights: [1, -1]}\n"
         "  law: {type: formula, inputs: {x: x, y: y, u: u}, parameters: {b: 0.7, c: 1}, "
         "formula: 'if(x * x * y > c + 0.2 * u, 3 * x, -1 - b * y)'}\n"
         "initial: {x.integral: 1.2, y.integral: 0.8}\nrun: {time: 1 s, outputs: [x]}\n",
     .parameters = {"law.parameters.b", "law.parameters.c"},
     .jumps = 1,
     .rates = branch_rates,
     .guards = curved_guards},
    {.text = "inputs: {u: {unit: N, constant: 0.3 N}}\nbodies: {m: {point: {mass: 2 kg}}}\n"
             "joints: {rail: {type: prismatic, between: [ground, m], axis: [1, 0, 0]}}\n"
             "torques: {push: {joint: rail, value: u}}\n"
             "force_formulas: {friction: {joint: rail, parameters: {b: 9 N, c: 3 1/s, k: 4 N/m, l: 1 m},\n"
             "  force: '(b + k * x) * sign(-v - c * l * sin(x / l))'}}\n"
             "initial: {rail.position: 0.5 m}\nrun: {time: 1 s, outputs: [rail.position]}\n",
     .parameters = {"friction.parameters.b", "friction.parameters.c"},
     .jumps = 1,
     .rates = mass_rates,
     .guards = mass_guards},
    {.text =
         "inputs: {u: {constant: 0.3}}\nblocks:\n"
         "  x: {type: integrator, input: ex, gain: 1 1/s, unit: '1'}\n"
         "  y: {type: integrator, input: ey, gain: 1 1/s, unit: '1'}\n"
         "  s1: {type: formula, inputs: {x: x, y: y}, formula: 'sign(sinh(x) + 0.1 * y)'}\n"
         "  s2: {type: formula, inputs: {x: x, y: y, s: s1}, parameters: {c: 0.2}, formula: 'sign(y * exp(x) - c * s)'}\n"
         "  ex: {type: formula, inputs: {u: u, y: y, s: s1, r: s2}, formula: 'u - s * (1 + y * y) + 0.3 * r'}\n"
         "  ey: {type: formula, inputs: {s: s2}, parameters: {a: 0.1}, formula: 'a - s'}\n"
         "initial: {x.integral: 0.1, y.integral: -0.1}\nrun: {time: 1 s, outputs: [x]}\n",
     .parameters = {"ey.parameters.a", "s2.parameters.c"},
     .jumps = 2,
     .rates = nested_rates,
     .guards = nested_guards},
};

// ---- the comparison

static int find_number(const od_model *m, const char *name) {
  for (int i = 0; i < m->numbers; i++) {
    const char *found = strstr(od_number_path(m, i), name);
    if (found && strlen(found) == strlen(name)) return i;
  }
  fail_msg("there is no number '%s'", name);
  return -1;
}

static void go_on_until_it_slides(od_sim *sim, int rule) {
  od_sim_set_integrator(sim, od_integrator_find(integrators[rule]));
  assert_int_equal(od_sim_start(sim, 0, &u0), OD_OK);
  for (int i = 0; i < 30; i++) assert_int_equal(od_sim_step(sim, h, &u0), OD_OK);
}

// The data of the next step.
static step_data data_of(const sliding_system *m, od_sim *sim) {
  double p[MOST];
  number s[MOST], v[MOST] = {0};
  step_data d = {.u = {u0, u1}};
  od_sim_parameters(sim, p);
  for (int i = 0; i < MOST; i++) d.x[i] = od_sim_state(sim)[i], d.p[i] = p[i];
  m->guards(d.x, u0, d.p, v, s);
  assert_true(fabs(creal(s[0])) < 1e-8);  // a second guard contains the value of the first jump
  return d;
}

static void check_step(const sliding_system *m, od_sim *sim, int rule) {
  const double tiny = 1e-30;
  double F[MOST * MOST], Gp[MOST * MOST], Gu[2][MOST];
  number x[MOST];
  go_on_until_it_slides(sim, rule);
  const step_data d = data_of(m, sim);
  assert_int_equal(od_sim_step_with_jacobians(sim, h, &u1, F, Gu[0], Gu[1], Gp), OD_OK);
  for (int j = 0; j < 2 * MOST + 2; j++) {
    step_data moved = d;
    number *entry = j < MOST ? &moved.x[j] : j < 2 * MOST ? &moved.p[j - MOST] : &moved.u[j - 2 * MOST];
    *entry += tiny * I;
    sliding_step(m, rule, &moved, x);
    for (int i = 0; i < MOST; i++) {
      double exact = cimag(x[i]) / tiny, given = j < MOST       ? F[i * MOST + j]
                                                 : j < 2 * MOST ? Gp[i * MOST + j - MOST]
                                                                : Gu[j - 2 * MOST][i];
      if (!(fabs(creal(x[i]) - od_sim_state(sim)[i]) < 1e-9))
        fail_msg("%s, %s: state %d is %.12g, hand-written equations %.12g", m->parameters[0], integrators[rule], i,
                 od_sim_state(sim)[i], creal(x[i]));
      if (!(fabs(given - exact) < 2e-10))
        fail_msg("%s, %s: state %d by %d: %.12g, complex step %.12g", m->parameters[0], integrators[rule], i, j, given,
                 exact);
    }
  }
}

static od_plant *plant_of(const od_machine *machine, const sliding_system *s) {
  const od_model *m = od_machine_model(machine);
  int parameter[MOST];
  od_plant *plant = NULL;
  for (int i = 0; i < MOST; i++) parameter[i] = find_number(m, s->parameters[i]);
  assert_int_equal(od_model_plant(m, NULL, 0, parameter, MOST, &plant, NULL), OD_OK);
  assert_int_equal(plant->jumps, s->jumps);
  return plant;
}

static void derivatives_are_exact(void **state) {
  (void)state;
  for (size_t k = 0; k < sizeof systems / sizeof *systems; k++) {
    od_machine *machine = od_test_machine_text(systems[k].text);
    od_plant *plant = plant_of(machine, &systems[k]);
    od_sim *sim = od_sim_new(plant);
    for (int rule = 0; rule < 3; rule++) check_step(&systems[k], sim, rule);
    od_sim_free(sim);
    od_plant_free(plant);
    od_machine_free(machine);
  }
}

// Parameters that follow one q, and a sensor with a bias: p0 = 0.7 q, p1 = q^2.
static void follow(const void *user, const double *q, double *p, double *slope) {
  (void)user;
  p[0] = 0.7 * q[0], p[1] = q[0] * q[0];
  slope[0] = 0.7, slope[1] = 2 * q[0];
}

static void wrapped_plants_slide(void **state) {
  (void)state;
  const double one = 1;
  double Gp[MOST * MOST], Gq[MOST * 2];
  od_machine *machine = od_test_machine_text(systems[0].text);
  od_plant *plain = plant_of(machine, &systems[0]), *inner = NULL, *tied = NULL, *calibrated = NULL;
  int output = 0, parameter[MOST];
  for (int i = 0; i < MOST; i++) parameter[i] = find_number(od_machine_model(machine), systems[0].parameters[i]);
  assert_int_equal(od_model_plant(od_machine_model(machine), &output, 1, parameter, MOST, &inner, NULL), OD_OK);
  assert_int_equal(od_plant_tied(inner, &(od_tie){.count = 1, .start = &one, .follow = follow}, &tied, NULL), OD_OK);
  assert_int_equal(od_plant_calibrated(tied, &(od_calibration){0, OD_CALIBRATE_BIAS}, 1, &calibrated, NULL), OD_OK);
  od_sim *sim = od_sim_new(plain), *wrapped = od_sim_new(calibrated);
  for (int rule = 0; rule < 3; rule++) {
    go_on_until_it_slides(sim, rule);
    go_on_until_it_slides(wrapped, rule);
    assert_int_equal(od_sim_step_with_jacobians(sim, h, &u1, NULL, NULL, NULL, Gp), OD_OK);
    assert_int_equal(od_sim_step_with_jacobians(wrapped, h, &u1, NULL, NULL, NULL, Gq), OD_OK);
    for (int i = 0; i < MOST; i++) {
      assert_true(fabs(Gq[i * 2] - 0.7 * Gp[i * MOST] - 2 * Gp[i * MOST + 1]) < 1e-12);
      assert_true(fabs(Gq[i * 2]) > 1e-6 && Gq[i * 2 + 1] == 0);
    }
  }
  od_sim_free(sim);
  od_sim_free(wrapped);
  od_plant_free(plain);
  od_plant_free(calibrated);
  od_machine_free(machine);
}

// Complex steps through a whole step cannot follow the values of jumps: they are rejected.
static void complex_steps_do_not_slide(void **state) {
  (void)state;
  double F[MOST * MOST];
  od_machine *machine = od_test_machine_text(systems[0].text);
  od_plant *plant = plant_of(machine, &systems[0]);
  od_sim *sim = od_sim_new(plant);
  void *memory = calloc(1, od_sim_complex_size(plant));
  assert_int_equal(od_sim_start(sim, 0, &u0), OD_OK);
  for (int i = 0, slides = 0; i < 10; i++) {
    od_status status = od_sim_step_with_complex_steps(sim, h, &u0, memory, F, NULL);
    const double *x = od_sim_state(sim);
    slides = slides || fabs(x[0] * x[0] * x[1] - 1.06) < 1e-9;
    assert_int_equal(status, slides ? OD_NOT_AVAILABLE : OD_OK);
    assert_true(slides || i < 5);
  }
  free(memory);
  od_sim_free(sim);
  od_plant_free(plant);
  od_machine_free(machine);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(derivatives_are_exact),
      cmocka_unit_test(wrapped_plants_slide),
      cmocka_unit_test(complex_steps_do_not_slide),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
