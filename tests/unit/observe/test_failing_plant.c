// Evaluations of a plant that fail. Each function of a plant fails once, at its first call, its second call and so on, with NaN in its
// results, while a simulation or an observer does something.
//
// Oracle: the contracts of oleodyn/sim.h and oleodyn/observer.h. A call either succeeds with the results of an undisturbed call, or it returns an
// error and leaves state, rates, time, energies and parameters unchanged to the bit; the repeated call then gives the undisturbed results.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"
#include "observe/filters.h"
#include "oleodyn/observer.h"
#include "oleodyn/sim.h"
#include "support/machines.h"
#include "support/random_machine.h"

enum { PARAMETERS = 3, SENSORS = 3, MOST_CALLS = 400 };

// ---- a plant whose functions fail

static const od_plant_ops *inner;
static long left;  // calls until the failure; 0: none
static bool failed;

static bool is_due(void) {
  if (left == 0 || --left > 0) return false;
  failed = true;
  return true;
}
static od_status fail_with(double *a, int count) {
  for (int i = 0; a && i < count; i++) a[i] = NAN;
  return OD_NOT_FINITE;
}

static od_status residual(const od_plant *p, void *work, double t, const double *x, const double *k, const double *u,
                          double *g) {
  return is_due() ? fail_with(g, od_plant_nk(p)) : inner->residual(p, work, t, x, k, u, g);
}
static od_status step_matrix(const od_plant *p, void *work, double alpha, double beta, double *matrix) {
  int nk = od_plant_nk(p);
  return is_due() ? fail_with(matrix, nk * nk) : inner->step_matrix(p, work, alpha, beta, matrix);
}
static od_status jacobians(const od_plant *p, void *work, double *gx, double *gk, double *gu) {
  int nk = od_plant_nk(p);
  if (!is_due()) return inner->jacobians(p, work, gx, gk, gu);
  fail_with(gx, nk * od_plant_nx(p));
  fail_with(gk, nk * nk);
  return fail_with(gu, nk * p->nu);
}
static od_status parameter_jacobian(const od_plant *p, void *work, double *gp) {
  return is_due() ? fail_with(gp, od_plant_nk(p) * p->np) : inner->parameter_jacobian(p, work, gp);
}
static od_status outputs(const od_plant *p, void *work, const double *energy, double *y) {
  return is_due() ? fail_with(y, p->ny) : inner->outputs(p, work, energy, y);
}
static od_status output_jacobians(const od_plant *p, void *work, const double *energy, const unsigned char *wanted,
                                  const double *kx, const double *ku, const double *kp, double *hx, double *hu,
                                  double *hp) {
  if (!is_due()) return inner->output_jacobians(p, work, energy, wanted, kx, ku, kp, hx, hu, hp);
  fail_with(hx, p->ny * od_plant_nx(p));
  fail_with(hu, p->ny * p->nu);
  return fail_with(hp, p->ny * p->np);
}
static od_status powers(const od_plant *p, void *work, double *power) {
  return is_due() ? fail_with(power, p->nq) : inner->powers(p, work, power);
}
static od_status sample(const od_plant *p, void *work, double t, double *x, double *map, double *by_parameters) {
  return is_due() ? fail_with(NULL, 0) : inner->sample(p, work, t, x, map, by_parameters);
}
static od_status guards(const od_plant *p, void *work, double *guard) {
  return is_due() ? fail_with(guard, od_plant_guards(p)) : inner->guards(p, work, guard);
}
static od_status held_jacobian(const od_plant *p, void *work, double *gv) {
  return is_due() ? fail_with(gv, od_plant_nk(p) * p->jumps) : inner->held_jacobian(p, work, gv);
}
static od_status guard_slopes(const od_plant *p, void *work, od_point_change along, double *slope) {
  return is_due() ? fail_with(slope, p->jumps) : inner->guard_slopes(p, work, along, slope);
}
static od_status set_parameters(const od_plant *p, void *work, const double *values) {
  return is_due() ? fail_with(NULL, 0) : inner->set_parameters(p, work, values);
}

typedef enum what {
  RESIDUAL,
  MATRIX,
  JACOBIANS,
  BY_PARAMETERS,
  OUTPUTS,
  OUTPUT_JACOBIANS,
  POWERS,
  SAMPLE,
  GUARDS,
  HELD,
  SLOPES,
  SETTING,
  KINDS
} what;

// The plant with one failing function; false: it does not have this function.
static bool disturb(const od_plant *plant, what kind, od_plant *out, od_plant_ops *ops) {
  inner = plant->ops;
  *ops = *plant->ops;
  *out = *plant;
  out->ops = ops;
  left = 0;
  switch (kind) {
    case RESIDUAL: ops->residual = residual; return true;
    case MATRIX: ops->step_matrix = step_matrix; return true;
    case JACOBIANS: ops->jacobians = jacobians; return true;
    case BY_PARAMETERS: ops->parameter_jacobian = parameter_jacobian; return plant->np > 0;
    case OUTPUTS: ops->outputs = outputs; return true;
    case OUTPUT_JACOBIANS: ops->output_jacobians = output_jacobians; return true;
    case POWERS: ops->powers = powers; return plant->nq > 0;
    case SAMPLE: ops->sample = sample; return inner->sample;
    case GUARDS: ops->guards = guards; return inner->guards;
    case HELD: ops->held_jacobian = held_jacobian; return plant->jumps > 0;
    case SLOPES: ops->guard_slopes = guard_slopes; return plant->jumps > 0;
    default: ops->set_parameters = set_parameters; return plant->np > 0;
  }
}

// ---- simulations

static const double u0[4] = {0.4, -0.3}, u1[4] = {0.45, -0.32};
static double step_length;
static double other_choice;  // differences that the choice of another way to take the step may cause

enum {
  STEP,
  STEP_JACOBIANS,
  SHIFT,
  SET,
  SET_INPUTS,
  SET_PARAMETERS,
  DERIVATIVES,
  OUTPUT_ROWS,
  READ,
  ELSEWHERE,
  SAMPLES,
  EVENTS,
  ACTIONS
};

typedef struct result {
  double *value;
  size_t count;
} result;

// Does something with a simulation. The results are the point afterward and all that the call has computed.
static od_status act(od_sim *s, int action, result *r) {
  const od_plant *p = s ? *(const od_plant *const *)s : NULL;  // the first field of a simulation
  size_t nx = (size_t)od_plant_nx(p), nk = (size_t)od_plant_nk(p), np = (size_t)p->np, ny = (size_t)p->ny,
         nu = (size_t)p->nu;
  size_t room =
      nx * (nx + 2 * nu + np + 2) + ny * (nx + nu + np + 1) + nk + (size_t)p->nq + 2 + np + (size_t)od_plant_guards(p);
  double *v = r->value = calloc(room + 1, sizeof *v), x[200], q[PARAMETERS], part = 0;
  od_status status = OD_OK;
  bool changed = false;
  memcpy(x, od_sim_state(s), nx * sizeof *x);
  od_sim_parameters(s, q);
  for (size_t i = 0; i < nx; i++) x[i] += 1e-7 * (1 + fabs(x[i]));
  for (size_t i = 0; i < np; i++) q[i] *= 1 + 1e-6;
  switch (action) {
    case STEP: status = od_sim_step(s, step_length, u1); break;
    case STEP_JACOBIANS:
      status =
          od_sim_step_with_jacobians(s, step_length, u1, v, v + nx * nx, v + nx * (nx + nu), v + nx * (nx + 2 * nu));
      v += nx * (nx + 2 * nu + np);
      break;
    case SHIFT: {
      double dx[200];
      for (size_t i = 0; i < nx; i++) dx[i] = 1e-9 * x[i];
      status = od_sim_step_and_shift(s, step_length, u1, dx, v, v + nx * nx, &part);
      if (status == OD_OK) od_sim_end_shift(s);
      v += nx * (nx + np);
      break;
    }
    case SET: status = od_sim_set_with_parameters(s, od_sim_time(s) + 1e-3, x, u1, q); break;
    case SET_INPUTS: status = od_sim_set_inputs(s, u1); break;
    case SET_PARAMETERS: status = od_sim_set_parameters(s, q); break;
    case DERIVATIVES:
      status = od_sim_derivatives(s, v, v + nx, v + nx + nx * nx, v + nx + nx * (nx + nu));
      v += nx * (1 + nx + nu + np);
      break;
    case OUTPUT_ROWS:
      status = od_sim_output_jacobians(s, v, v + ny * nx, v + ny * (nx + nu));
      v += ny * (nx + nu + np);
      break;
    case READ:
      status = od_sim_outputs(s, v);
      v += ny;
      if (status == OD_OK && od_plant_guards(p)) status = od_sim_guards(s, v);
      v += od_plant_guards(p);
      break;
    case ELSEWHERE: {  // on a copy
      od_sim *copy = malloc(od_sim_bytes(s));
      memcpy(copy, s, od_sim_bytes(s));
      status = od_sim_outputs_elsewhere(copy, x, q, v);
      free(copy);
      v += ny;
      break;
    }
    case SAMPLES: status = od_sim_sample(s, NULL, NULL, &changed); break;
    case EVENTS: {
      od_event_search e = {malloc(od_sim_bytes(s)),
                           malloc(od_sim_bytes(s)),
                           calloc(od_event_doubles(p) + 1, sizeof(double)),
                           NULL,
                           NULL,
                           {0}};
      double taken = 0;
      status = od_sim_begin_events(s, &e, false);
      if (status == OD_OK) status = od_sim_step(s, step_length, u1);
      if (status == OD_OK) {
        status = od_sim_end_events(s, &e, step_length);
        if (status == OD_OK) status = od_sim_find_switch(s, &e, step_length, &taken);
        if (status != OD_OK) memcpy(s, e.before, od_sim_bytes(s));
      }
      free(e.before), free(e.after), free(e.memory);
      *v++ = taken;
      break;
    }
  }
  if (status != OD_OK) v = r->value;  // results are undefined
  *v++ = od_sim_time(s);
  memcpy(v, od_sim_state(s), nx * sizeof *v), v += nx;
  memcpy(v, od_sim_rates(s), nk * sizeof *v), v += nk;
  if (p->nq) memcpy(v, od_sim_energy(s), (size_t)p->nq * sizeof *v), v += p->nq;
  od_sim_parameters(s, v), v += np;
  r->count = (size_t)(v - r->value);
  assert_true(r->count <= room);
  return status;
}

static int trials, errors, survived;

static void same(const result *a, const result *b, const char *where, int kind, int action, long call) {
  assert_int_equal(a->count, b->count);
  for (size_t i = 0; i < a->count; i++) {
    double difference = fabs(a->value[i] - b->value[i]);
    if (difference <= 1e-5 * (fabs(a->value[i]) + 1e-6)) continue;
    // Other entries of a matrix may be much larger.
    double size = 0;
    for (size_t k = 0; k < a->count; k++) size = fmax(size, fabs(a->value[k]));
    if (difference <= fmax(1e-9 * size, other_choice)) continue;
    print_error("%s: function %d, action %d, call %ld: entry %zu is %.15g instead of %.15g\n", where, kind, action,
                call, i, b->value[i], a->value[i]);
    fail();
  }
}

static void disturb_action(od_sim *s, od_sim *start, int kind, int action, const char *where) {
  size_t size = od_sim_bytes(s);
  result before, quiet, now;
  memcpy(s, start, size);
  left = 0;
  od_status quietly = act(s, action, &quiet);
  if (quietly != OD_OK) {  // such as a step that fails anyway
    free(quiet.value);
    return;
  }
  for (long call = 1; call <= MOST_CALLS; call++) {
    memcpy(s, start, size);
    assert_int_equal(act(s, READ, &before), OD_OK);
    free(before.value);
    memcpy(s, start, size);
    left = call, failed = false;
    od_status status = act(s, action, &now);
    left = 0;
    if (!failed) {
      free(now.value);
      break;
    }
    trials++;
    if (status == OD_OK) {
      same(&quiet, &now, where, kind, action, call);
      survived++;
    } else {
      errors++;
      // If only the shift after a step fails, the step has been taken.
      if (action == SHIFT && od_sim_time(s) > od_sim_time(start)) {
        free(now.value);
        continue;
      }
      // The point after the error is the point before.
      size_t nx = (size_t)od_plant_nx(*(const od_plant *const *)s),
             nk = (size_t)od_plant_nk(*(const od_plant *const *)s);
      assert_true(od_sim_time(s) == od_sim_time(start));
      assert_memory_equal(od_sim_state(s), od_sim_state(start), nx * sizeof(double));
      assert_memory_equal(od_sim_rates(s), od_sim_rates(start), nk * sizeof(double));
      double p[2][PARAMETERS];
      od_sim_parameters(s, p[0]), od_sim_parameters(start, p[1]);
      assert_memory_equal(p[0], p[1], (size_t)(*(const od_plant *const *)s)->np * sizeof(double));
      free(now.value);
      // Again, without a failure.
      assert_int_equal(act(s, action, &now), OD_OK);
      same(&quiet, &now, where, kind, action, call);
    }
    free(now.value);
  }
  free(quiet.value);
}

static void disturb_plant(const od_plant *plant, int steps, const char *where) {
  assert_true(od_plant_nx(plant) <= 200 && plant->nu <= 4 && plant->np <= PARAMETERS);
  for (int kind = 0; kind < KINDS; kind++) {
    od_plant own;
    od_plant_ops ops;
    if (!disturb(plant, (what)kind, &own, &ops)) continue;
    od_sim *s = od_sim_new(&own), *start = malloc(od_sim_bytes(s));
    for (int i = 0; i < 3; i++) {
      od_sim_set_integrator(s, od_integrator_at(i));
      assert_int_equal(od_sim_start(s, 0, u0), OD_OK);
      // The start itself.
      for (long call = 1; call <= MOST_CALLS && i == 0; call++) {
        left = call, failed = false;
        od_status status = od_sim_start(s, 0, u0);
        left = 0;
        if (failed && status != OD_OK) assert_int_equal(od_sim_step(s, step_length, u0), OD_BAD_ARGUMENT);
        assert_int_equal(od_sim_start(s, 0, u0), OD_OK);
        if (!failed) break;
      }
      for (int k = 0; k < steps; k++) assert_int_equal(od_sim_step(s, step_length, u0), OD_OK);
      memcpy(start, s, od_sim_bytes(s));
      for (int action = 0; action < ACTIONS; action++)
        if (i == 0 || action <= SHIFT || action == EVENTS) disturb_action(s, start, kind, action, where);
    }
    od_sim_free(s);
    free(start);
  }
}

static void random_machines(void **state) {
  (void)state;
  int made = 0;
  trials = errors = survived = 0;
  step_length = 1e-5;
  for (unsigned long long seed = 1; made < 4; seed++) {
    od_model *m = od_random_machine(seed, seed % 2, seed % 3 == 0, seed % 4 != 1, seed % 2);
    if (!m || m->freedom + m->states > 30) {
      od_model_free(m);
      continue;
    }
    made++;
    const int out[SENSORS] = {0, m->outputs / 2, m->outputs - 1}, parameter[PARAMETERS] = {0, 1, m->numbers - 1};
    od_plant *plant = NULL;
    assert_int_equal(od_model_plant(m, out, SENSORS, parameter, PARAMETERS, &plant, NULL), OD_OK);
    assert_int_equal(od_model_plant_integrate_powers(plant), OD_OK);
    disturb_plant(plant, 2, "random machine");
    od_plant_free(plant);
    od_model_free(m);
  }
  print_message("%d failures: %d reported, %d without effect\n", trials, errors, survived);
  assert_true(errors > 100);
}

// Two laws that jump, along which the motion slides: the steps begin before the first jump, and during sliding.
static void sliding_motion(void **state) {
  (void)state;
  static const char text[] =
      "inputs: {d1: 0.1, d2: 0.2}\nblocks:\n"
      "  x1: {type: integrator, input: e1, gain: 1 1/s, unit: '1'}\n  x2: {type: integrator, input: e2, gain: 1 1/s, unit: '1'}\n"
      "  s1: {type: sign, input: x1}\n  s2: {type: formula, inputs: {x: x2}, formula: 'sign(x)'}\n"
      "  e1: {type: sum, inputs: [d1, s1, s2], weights: [1, -1, -0.5]}\n"
      "  e2: {type: sum, inputs: [d2, s1, s2], weights: [1, -0.5, -1]}\ninitial: {x1.integral: 0.2, x2.integral: -0.1}\n";
  od_machine *machine = od_test_machine_text(text);
  const int out[SENSORS] = {od_test_output(machine, "x1"), od_test_output(machine, "x2"),
                            od_test_output(machine, "s1")},
            first = 0;
  od_plant *plant = NULL;
  assert_int_equal(od_machine_plant(machine, out, SENSORS, &first, 1, &plant, NULL), OD_OK);
  trials = errors = survived = 0;
  step_length = 0.02;
  other_choice = 0.05;  // a failed search for the end of sliding leads to an ordinary step
  for (int steps = 0; steps <= 40; steps += 4) disturb_plant(plant, steps, "sliding motion");
  other_choice = 0;
  print_message("%d failures: %d reported, %d without effect\n", trials, errors, survived);
  assert_true(errors > 100);
  od_plant_free(plant);
  od_machine_free(machine);
}

// A sampled controller, a relay and a brake: samples and switches.
static void switches_and_samples(void **state) {
  (void)state;
  static const char text[] =
      "gravity: [0, 0]\nbodies: {cart: {point: {mass: 2 kg}}}\n"
      "joints: {rail: {type: prismatic, between: [ground, cart], axis: [1, 0, 0], damping: 3 N s/m}}\n"
      "inputs: {u: {unit: N, constant: 1 N}}\n"
      "blocks:\n  relay: {type: relay, input: rail.position, unit: N, thresholds: [-0.01 m, 0.01 m], values: [5 N, -5 N]}\n"
      "  seen: {type: delay, input: rail.rate, time: 40 ms, sample: 20 ms}\n"
      "  brake: {type: gain, input: seen, unit: N, gain: -2 N s/m}\n"
      "forces:\n  push: {at: cart, direction: [1, 0], value: u}\n  kick: {at: cart, direction: [1, 0], value: relay}\n"
      "  drag: {at: cart, direction: [1, 0], value: brake}\n"
      "initial: {rail.position: 0 m, rail.rate: 0.3 m/s}\n";
  od_machine *machine = od_test_machine_text(text);
  const int out[SENSORS] = {od_test_output(machine, "rail.position"), od_test_output(machine, "relay"),
                            od_test_output(machine, "seen")};
  const int first = 3;
  od_plant *plant = NULL;
  assert_int_equal(od_machine_plant(machine, out, SENSORS, &first, 1, &plant, NULL), OD_OK);
  trials = errors = survived = 0;
  step_length = 0.02;
  for (int steps = 0; steps <= 6; steps++) disturb_plant(plant, steps, "switches and samples");
  print_message("%d failures: %d reported, %d without effect\n", trials, errors, survived);
  assert_true(errors > 100);
  od_plant_free(plant);
  od_machine_free(machine);
}

// ---- observers

enum { PREDICT, CORRECT, TELL, OBSERVER_ACTIONS };

typedef struct watcher {
  od_observer *o;
  size_t size;
  double y[SENSORS], Q[40 * 40];
} watcher;

static od_status watch(watcher *w, int action, result *r) {
  od_observer *o = w->o;
  const od_plant *p = *(const od_plant *const *)o;
  size_t nx = (size_t)od_plant_nx(p), n = nx + (size_t)p->np, ny = (size_t)p->ny;
  double *v = r->value = calloc(1 + n + n * n + 2 * ny, sizeof *v);
  od_status status = OD_OK;
  if (action == PREDICT) status = od_observer_predict(o, step_length, u1, w->Q, NULL);
  if (action == CORRECT) status = od_observer_correct(o, w->y);
  if (action == TELL) status = od_observer_outputs(o, v + 1 + n + n * n, v + 1 + n + n * n + ny);
  *v++ = od_observer_time(o);
  memcpy(v, od_observer_state(o), nx * sizeof *v);
  memcpy(v + nx, od_observer_parameters(o), (n - nx) * sizeof *v);
  memcpy(v + n, od_observer_covariance(o), n * n * sizeof *v);
  r->count = 1 + n + n * n + 2 * ny;
  return status;
}

// Failures of a prediction leave time and estimate, and the repeated prediction gives the undisturbed result; after a failed correction a copy of
// the block is restored. Filters may do without a refined linearization; then the result differs by less than the standard deviations.
static void disturb_observer(watcher *w, const void *start, int kind, int action, const char *name) {
  result quiet, now;
  memcpy(w->o, start, w->size);
  left = 0;
  if (watch(w, action, &quiet) != OD_OK) {
    free(quiet.value);
    return;
  }
  for (long call = 1; call <= MOST_CALLS; call++) {
    memcpy(w->o, start, w->size);
    left = call, failed = false;
    od_status status = watch(w, action, &now);
    left = 0;
    if (failed) trials++;
    if (failed && status != OD_OK) {
      errors++;
      // If only the covariance fails, the observer stops until a copy is restored.
      bool stops = action == PREDICT && now.value[0] != od_observer_time(start);
      if (stops) assert_int_equal(od_observer_correct(w->o, w->y), OD_BAD_ARGUMENT);
      if (stops || action != PREDICT) memcpy(w->o, start, w->size);
      free(now.value);
      assert_int_equal(watch(w, action, &now), OD_OK);
      same(&quiet, &now, name, kind, action, call);
    } else if (failed) {
      survived++;
      const od_plant *p = *(const od_plant *const *)w->o;
      int n = od_plant_nx(p) + p->np;
      for (int i = 0; i < n; i++) {
        double sigma = sqrt(quiet.value[1 + n + i * n + i]);
        near(now.value[1 + i], quiet.value[1 + i], 0.1 * sigma + 1e-9 * fabs(quiet.value[1 + i]));
        near(sqrt(now.value[1 + n + i * n + i]), sigma, 0.1 * sigma + 1e-12);
      }
    }
    free(now.value);
    if (!failed) break;
  }
  free(quiet.value);
}

static void observers(void **state) {
  (void)state;
  int made = 0;
  trials = errors = survived = 0;
  step_length = 1e-5;
  for (unsigned long long seed = 1; made < 1; seed++) {
    od_model *m = od_random_machine(seed, seed % 2, seed % 3 == 0, seed % 4 != 1, seed % 2);
    if (!m || 2 * m->freedom + m->states > 16) {
      od_model_free(m);
      continue;
    }
    made++;
    const int out[SENSORS] = {0, m->outputs / 2, m->outputs / 3}, parameter[PARAMETERS] = {0, 1, m->numbers - 1};
    od_plant *plant = NULL;
    assert_int_equal(od_model_plant(m, out, SENSORS, parameter, PARAMETERS, &plant, NULL), OD_OK);
    int nx = od_plant_nx(plant), n = nx + PARAMETERS;
    assert_true(n <= 40);
    double still[SENSORS], sigma[SENSORS], p[PARAMETERS], *P = calloc((size_t)(n * n), sizeof *P);
    static watcher w;
    memset(w.Q, 0, sizeof w.Q);
    od_sim *sim = od_sim_new(plant);
    assert_int_equal(od_sim_start(sim, 0, u0), OD_OK);
    assert_int_equal(od_sim_outputs(sim, still), OD_OK);
    od_sim_parameters(sim, p);
    for (int i = 0; i < n; i++) {
      double size = i < nx ? 1e-4 * (1e-2 + fabs(od_sim_state(sim)[i])) : 1e-3 * fabs(p[i - nx]) + 1e-9;
      P[i * n + i] = size * size;
      w.Q[i * n + i] = 1e-4 * size * size;
    }
    od_sim_free(sim);
    for (int i = 0; i < SENSORS; i++)
      sigma[i] = 1e-3 * (1e-2 + fabs(still[i])), w.y[i] = still[i] + sigma[i] * (i - 0.5);
    for (int f = 0; od_filter_at(f); f++)
      for (int kind = 0; kind < KINDS; kind++) {
        od_plant own;
        od_plant_ops ops;
        if (!disturb(plant, (what)kind, &own, &ops)) continue;
        const od_observer_options options = {
            .filter = od_filter_at(f), .form = (od_covariance_form)(f % 2), .sensor_sigma = sigma};
        w.o = od_observer_new(&own, &options);
        w.size = od_observer_block_size(w.o);
        // The start itself.
        for (long call = 1; call <= MOST_CALLS; call++) {
          left = call, failed = false;
          od_status status = od_observer_start(w.o, 0, NULL, p, P, u0);
          left = 0;
          if (!failed) break;
          if (status != OD_OK) assert_int_equal(od_observer_predict(w.o, step_length, u0, NULL, NULL), OD_BAD_ARGUMENT);
        }
        assert_int_equal(od_observer_start(w.o, 0, NULL, p, P, u0), OD_OK);
        for (int k = 0; k < 3; k++) {
          assert_int_equal(od_observer_predict(w.o, step_length, u0, w.Q, NULL), OD_OK);
          assert_int_equal(od_observer_correct(w.o, w.y), OD_OK);
        }
        void *start = malloc(w.size);
        for (int action = 0; action < OBSERVER_ACTIONS; action++) {
          memcpy(start, w.o, w.size);
          disturb_observer(&w, start, kind, action, options.filter->name);
          memcpy(w.o, start, w.size);
          if (action == PREDICT) assert_int_equal(od_observer_predict(w.o, step_length, u1, w.Q, NULL), OD_OK);
        }
        free(start);
        od_observer_free(w.o);
      }
    free(P);
    od_plant_free(plant);
    od_model_free(m);
  }
  print_message("%d failures: %d reported, %d without effect\n", trials, errors, survived);
  assert_true(errors > 50);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(random_machines),
      cmocka_unit_test(sliding_motion),
      cmocka_unit_test(switches_and_samples),
      cmocka_unit_test(observers),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
