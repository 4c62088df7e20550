// Foreign blocks: laws given by functions (oleodyn/foreign.h). Oracles: the same laws as blocks of the core, for values, all
// derivatives (those of the core are compared with complex steps elsewhere) and runs; recursions of sampled blocks and closed forms
// by hand.
#include <complex.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"
#include "oleodyn/advance.h"
#include "oleodyn/foreign.h"
#include "oleodyn/image.h"
#include "oleodyn/integrator.h"
#include "oleodyn/sim.h"
#include "blocks/block_classes.h"
#include "model/model.h"

enum { MOST = 16 };

// ---- the law of a second-order block by hand: y = k x1, x1' = x2, x2' = w^2 (u - x1) - 2 D w x2; numbers k, w, D

typedef struct calls {
  int values, tangents, slopes;
} calls;

static od_status second_order(void *context, const od_foreign_point *at, double *y, double *rate) {
  double k = at->q[0], w = at->q[1], D = at->q[2];
  ((calls *)context)->values++;
  y[0] = k * at->x[0];
  y[1] = k * at->x[1];
  rate[0] = at->x[1];
  rate[1] = w * w * (at->u[0] - at->x[0]) - 2 * D * w * at->x[1];
  return OD_OK;
}

static od_status second_order_tangent(void *context, const od_foreign_point *at, const od_foreign_point *along,
                                      double *dy, double *drate) {
  double k = at->q[0], w = at->q[1], D = at->q[2];
  ((calls *)context)->tangents++;
  dy[0] = k * along->x[0] + at->x[0] * along->q[0];
  dy[1] = k * along->x[1] + at->x[1] * along->q[0];
  drate[0] = along->x[1];
  drate[1] = w * w * (along->u[0] - along->x[0]) - 2 * D * w * along->x[1] +
             (2 * w * (at->u[0] - at->x[0]) - 2 * D * at->x[1]) * along->q[1] - 2 * w * at->x[1] * along->q[2];
  return OD_OK;
}

static od_status second_order_slopes(void *context, const od_foreign_point *at, double *by) {
  double k = at->q[0], w = at->q[1], D = at->q[2];
  ((calls *)context)->slopes++;
  by[0] = by[4] = k;
  by[7] = 1;
  by[9] = -w * w, by[10] = -2 * D * w, by[11] = w * w;
  return OD_OK;
}

static const char *const output_names[] = {"", "rate"}, *const output_units[] = {"1", "1/s"};
static const char *const state_names[] = {"value", "speed"};

static od_foreign_law second_order_law(calls *count) {
  return (od_foreign_law){.context = count,
                          .inputs = 1,
                          .outputs = 2,
                          .states = 2,
                          .numbers = 3,
                          .holds = true,
                          .output_name = output_names,
                          .output_unit = output_units,
                          .state_name = state_names,
                          .values = second_order};
}

// ---- machines with an input "u" and a block "b"

typedef struct machine {
  od_model *model;
  od_plant *plant;
  od_sim *sim;
} machine;

// has_state: whether the block has a state; else an integrator without effect is added, because a machine needs a state.
static machine build(const od_block_spec *spec, const double *number, int numbers, const char *const *outputs,
                     int output_count, bool has_state) {
  machine m = {0};
  od_build *b = od_build_new();
  int u = od_build_input(b, "u", "1"), first = 0, output[MOST], parameter[MOST];
  for (int i = 0; i < numbers; i++) {
    char path[16];
    snprintf(path, sizeof path, "b.q%d", i);
    int place = od_build_number(b, path, number[i], "1");
    if (i == 0) first = place;
    parameter[i] = first + i;
  }
  int block = od_build_block(b, "b", spec, "1");
  od_build_block_input(b, block, 0, u);
  od_build_block_numbers(b, block, first);
  if (!has_state) {
    od_block_spec integrator = od_block_spec_of("integrator");
    int rest = od_build_block(b, "rest", &integrator, "1");
    od_build_block_numbers(b, rest, od_build_number(b, "rest.gain", 1, "1/s"));
  }
  od_error err = {0};
  if (od_build_finish(b, &m.model, &err) != OD_OK) fail_msg("%s", err.text);
  od_build_free(b);
  for (int i = 0; i < output_count; i++) {
    output[i] = od_model_output_find(m.model, outputs[i]);
    assert_true(output[i] >= 0);
  }
  assert_int_equal(od_model_plant(m.model, output, output_count, parameter, numbers, &m.plant, &err), OD_OK);
  m.sim = od_sim_new(m.plant);
  return m;
}

static void end(machine *m) {
  od_sim_free(m->sim);
  od_plant_free(m->plant);
  od_model_free(m->model);
}

static const double numbers[] = {3, 20, 0.3};

static machine build_law(const od_foreign_law *law) {
  static const char *const outputs[] = {"b", "b.rate", "b.value"};
  od_block_spec spec = od_block_spec_of_law(law);
  return build(&spec, numbers, 3, outputs, 3, true);
}

static machine build_native(void) {
  static const char *const outputs[] = {"b", "b.rate", "b.state1"};
  od_block_spec spec = od_block_spec_of("second-order");
  return build(&spec, numbers, 3, outputs, 3, true);
}

// All derivatives of a simulation at one point, in one list: of rates and outputs, and of a step.
enum { NX = 2, NP = 3, NY = 3 };
enum { DERIVATIVES = NX * NX + NX + NX * NP + NY * NX + NY + NY * NP + NX * NX + NX + NX + NX * NP };
static void derivatives_of(machine *m, double list[DERIVATIVES]) {
  double u = 0.7, later = 0.9, x[NX] = {0.4, -2}, f[NX], *fx = list, *fu = fx + NX * NX, *fp = fu + NX;
  double *hx = fp + NX * NP, *hu = hx + NY * NX, *hp = hu + NY, *F = hp + NY * NP, *G0 = F + NX * NX, *G1 = G0 + NX,
         *Gp = G1 + NX;
  assert_int_equal(od_plant_nx(m->plant), NX);
  memset(list, 0, DERIVATIVES * sizeof *list);
  assert_int_equal(od_sim_start(m->sim, 0, &u), OD_OK);
  assert_int_equal(od_sim_set(m->sim, 0, x, &u), OD_OK);
  assert_int_equal(od_sim_derivatives(m->sim, f, fx, fu, fp), OD_OK);
  assert_int_equal(od_sim_output_jacobians(m->sim, hx, hu, hp), OD_OK);
  assert_int_equal(od_sim_step_with_jacobians(m->sim, 1e-3, &later, F, G0, G1, Gp), OD_OK);
}

// The same law as a block of the core and as functions, with derivatives by hand, along directions only, and by differences.
static void a_law_equals_the_block_of_the_core(void **state) {
  (void)state;
  calls count[3] = {0};
  machine native = build_native();
  double want[DERIVATIVES], got[DERIVATIVES];
  derivatives_of(&native, want);
  for (int kind = 0; kind < 3; kind++) {
    od_foreign_law law = second_order_law(&count[kind]);
    if (kind < 2) law.tangent = second_order_tangent;
    if (kind < 1) law.slopes = second_order_slopes;
    machine m = build_law(&law);
    derivatives_of(&m, got);
    double bound = kind < 2 ? 1e-12 : 1e-8, worst = 0;
    for (int i = 0; i < DERIVATIVES; i++) {
      worst = fmax(worst, fabs(got[i] - want[i]) / (1 + fabs(want[i])));
      near_scaled(got[i], want[i], bound, 1);
    }
    print_message("derivatives, form %d: error %.2g\n", kind, worst);
    // A run.
    double u = 0.7, y[3], yn[3];
    assert_int_equal(od_sim_start(m.sim, 0, &u), OD_OK);
    assert_int_equal(od_sim_start(native.sim, 0, &u), OD_OK);
    for (int i = 0; i < 500; i++) {
      u = sin(0.01 * i);
      assert_int_equal(od_sim_step(m.sim, 1e-3, &u), OD_OK);
      assert_int_equal(od_sim_step(native.sim, 1e-3, &u), OD_OK);
    }
    assert_int_equal(od_sim_outputs(m.sim, y), OD_OK);
    assert_int_equal(od_sim_outputs(native.sim, yn), OD_OK);
    near_scaled(y[0], yn[0], kind < 2 ? 1e-13 : 1e-10, 1);
    near_scaled(y[1], yn[1], kind < 2 ? 1e-13 : 1e-10, 1);
    assert_string_equal(od_model_output_unit(m.model, od_model_output_find(m.model, "b.rate")), "1/s");
    end(&m);
  }
  assert_true(count[0].slopes > 0 && count[0].tangents > 0 && count[1].tangents > count[0].tangents);
  assert_true(count[1].slopes == 0 && count[2].tangents == 0 && count[2].values > count[1].values);
  end(&native);
}

// ---- steps of differences

// Records its arguments: states, inputs and numbers, two of each.
enum { ARGUMENTS = 6, RECORDS = 40 };
typedef struct records {
  double argument[RECORDS][ARGUMENTS];
  int count;
} records;

static od_status weighted_sum(void *context, const od_foreign_point *at, double *y, double *rate) {
  records *r = context;
  assert_true(r->count < RECORDS);
  double *to = r->argument[r->count++];
  for (int i = 0; i < 2; i++) to[i] = at->x[i], to[2 + i] = at->u[i], to[4 + i] = at->q[i];
  y[0] = 0, rate[0] = 1, rate[1] = 2;
  for (int i = 0; i < ARGUMENTS; i++) y[0] += (i + 1) * to[i];
  return OD_OK;
}

// Differences change one argument at a time, to both sides, by 6e-6 of its size: its value, and at least the typical size of a state or an
// input, or 1 for a number of zero. The results are the weights of the sum.
static void differences_have_the_size_of_their_arguments(void **state) {
  (void)state;
  static const double nominal[] = {1e-3, 0}, input_nominal[] = {2e4, -5};
  static const double points[][ARGUMENTS] = {{0, 0, 0, 0, 0, 0}, {5e-6, -3, 7e5, 0.25, 4e-7, -2e9}};
  for (int k = 0; k < 4; k++) {
    records r = {.count = 0};
    od_foreign_law law = {.context = &r, .inputs = 2, .outputs = 1, .states = 2, .numbers = 2, .values = weighted_sum};
    if (k % 2) law.nominal = nominal, law.input_nominal = input_nominal;
    const double *at = points[k / 2];
    od_block_spec spec = od_block_spec_of_law(&law);
    for (int moved = 0; moved < ARGUMENTS; moved++) {
      double complex p[ARGUMENTS + 1] = {0}, y[1], rate[2], held[1] = {0};
      for (int i = 0; i < ARGUMENTS; i++) p[i] = at[i] + (i == moved ? 1e-30 * I : 0);
      const double complex u[3] = {p[2], p[3], 0};
      r.count = 0;
      od_block_class_of(&spec)->evaluate_complex(&spec, p + 4, p, u, held, y, rate);
      double size = moved < 4 ? 1 : at[moved] == 0 ? 1 : 0, h;
      if (k % 2 && moved == 0) size = 1e-3;
      if (k % 2 && moved == 2) size = 2e4;
      h = 6e-6 * fmax(size, fabs(at[moved]));
      assert_int_equal(r.count, 3);
      for (int i = 0; i < ARGUMENTS; i++) {
        assert_true(r.argument[0][i] == at[i]);
        near(r.argument[1][i] - at[i], i == moved ? h : 0, 1e-9 * h);
        near(r.argument[2][i] - at[i], i == moved ? -h : 0, 1e-9 * h);
      }
      near(cimag(y[0]), (moved + 1) * 1e-30, 1e-30 * (1e-9 + 1e-15 * fabs(creal(y[0])) / h));
      for (int i = 0; i < 2; i++) assert_true(creal(rate[i]) == i + 1 && cimag(rate[i]) == 0);
    }
  }
}

// ---- a formula of an input and numbers, and of the time

static od_status formula_values(void *context, const od_foreign_point *at, double *y, double *rate) {
  (void)context, (void)rate;
  y[0] = at->q[0] * sin(at->u[0]) + at->q[1];
  return OD_OK;
}

static od_status formula_tangent(void *context, const od_foreign_point *at, const od_foreign_point *along, double *dy,
                                 double *drate) {
  (void)context, (void)drate;
  dy[0] = at->q[0] * cos(at->u[0]) * along->u[0] + sin(at->u[0]) * along->q[0] + along->q[1];
  return OD_OK;
}

static void a_law_equals_a_formula(void **state) {
  (void)state;
  static const char *const outputs[] = {"b"};
  const double number[] = {2.5, -0.3};
  od_operation list[] = {{.kind = OD_OPERATION_VARIABLE, .a = 0}, {.kind = OD_OPERATION_SIN, .a = 0},
                         {.kind = OD_OPERATION_VARIABLE, .a = 1}, {.kind = OD_OPERATION_MULTIPLY, .a = 1, .b = 2},
                         {.kind = OD_OPERATION_VARIABLE, .a = 2}, {.kind = OD_OPERATION_ADD, .a = 3, .b = 4}};
  od_block_spec native = od_block_spec_of("formula");
  native.inputs = 1;
  native.formula = (od_formula){6, list};
  od_block_choose(&native, "parameters", 2);
  od_foreign_law law = {.inputs = 1, .outputs = 1, .numbers = 2, .values = formula_values, .tangent = formula_tangent};
  od_block_spec foreign = od_block_spec_of_law(&law);
  machine a = build(&native, number, 2, outputs, 1, false), b = build(&foreign, number, 2, outputs, 1, false);
  for (double u = -2; u < 2; u += 0.3) {
    double ya, yb, ua, ub, pa[2], pb[2];
    assert_int_equal(od_sim_start(a.sim, 0, &u), OD_OK);
    assert_int_equal(od_sim_start(b.sim, 0, &u), OD_OK);
    assert_int_equal(od_sim_outputs(a.sim, &ya), OD_OK);
    assert_int_equal(od_sim_outputs(b.sim, &yb), OD_OK);
    assert_int_equal(od_sim_output_jacobians(a.sim, NULL, &ua, pa), OD_OK);
    assert_int_equal(od_sim_output_jacobians(b.sim, NULL, &ub, pb), OD_OK);
    assert_true(yb == ya);
    near(ub, ua, 1e-15);
    near(pb[0], pa[0], 1e-15);
    near(pb[1], pa[1], 1e-15);
  }
  end(&a);
  end(&b);
}

static od_status clock_values(void *context, const od_foreign_point *at, double *y, double *rate) {
  (void)context;
  y[0] = cos(3 * at->t);
  rate[0] = cos(3 * at->t);
  return OD_OK;
}

// x' = cos(3 t): x = sin(3 t) / 3, with adaptive steps.
static void a_law_reads_the_time(void **state) {
  (void)state;
  static const char *const outputs[] = {"b", "b.state"};
  od_foreign_law law = {.inputs = 1, .outputs = 1, .states = 1, .holds = true, .values = clock_values};
  od_block_spec spec = od_block_spec_of_law(&law);
  machine m = build(&spec, NULL, 0, outputs, 2, true);
  double u = 0, y[2];
  assert_int_equal(od_sim_start(m.sim, 0, &u), OD_OK);
  od_sim_set_integrator(m.sim, od_integrator_find("tr-bdf2"));
  od_advance_options options = {.tolerance = 1e-9, .end = 2};
  od_advance *advance = od_advance_new(m.sim, &options);
  for (double t = 0.1; t < 1.95; t += 0.1) {
    od_sim *at;
    assert_int_equal(od_sim_advance(advance, t, &at), OD_OK);
    assert_int_equal(od_sim_outputs(at, y), OD_OK);
    near(y[0], cos(3 * t), 1e-12);
    near(y[1], sin(3 * t) / 3, 1e-6);
  }
  od_advance_free(advance);
  end(&m);
}

// ---- a sampled law with two inputs and two outputs: s+ = s + q u0, y = [s+ + u1^2, s]

static od_status sampled(void *context, const od_foreign_point *at, double *next, double *y) {
  (void)context;
  next[0] = at->x[0] + at->q[0] * at->u[0];
  y[0] = next[0] + at->u[1] * at->u[1];
  y[1] = at->x[0];
  return OD_OK;
}

static void samples(void **state) {
  (void)state;
  static const double initial[] = {0.5};
  static const char *const names[] = {"", "before"};
  od_foreign_law law = {.inputs = 2,
                        .outputs = 2,
                        .states = 1,
                        .numbers = 1,
                        .output_name = names,
                        .initial = initial,
                        .sample = sampled};
  od_block_spec spec = od_block_spec_of_law(&law);
  spec.sample = 1e-2;
  od_build *b = od_build_new();
  int u0 = od_build_input(b, "u0", "1"), u1 = od_build_input(b, "u1", "1"), q = od_build_number(b, "b.q", 0.2, "1");
  int block = od_build_block(b, "b", &spec, "1");
  od_build_block_input(b, block, 0, u0);
  od_build_block_input(b, block, 1, u1);
  od_build_block_numbers(b, block, q);
  od_model *model;
  od_plant *plant;
  assert_int_equal(od_build_finish(b, &model, NULL), OD_OK);
  od_build_free(b);
  int output[] = {od_model_output_find(model, "b"), od_model_output_find(model, "b.before")};
  assert_int_equal(od_model_plant(model, output, 2, &q, 1, &plant, NULL), OD_OK);
  od_sim *sim = od_sim_new(plant);
  double u[] = {2, 3}, y[2], s = 0.5, map[9], by[3];
  bool changed;
  assert_int_equal(od_sim_start(sim, 0, u), OD_OK);  // takes the first sample
  for (int i = 0; i < 20; i++) {
    assert_int_equal(od_sim_sample(sim, map, by, &changed), OD_OK);
    assert_int_equal(od_sim_outputs(sim, y), OD_OK);
    if (i % 2 == 0) {
      near(y[1], s, 1e-15);
      s += 0.2 * u[0];
      near(y[0], s + u[1] * u[1], 1e-14);
    }
    if (changed) {
      // Rows: state, held outputs. The held outputs from before the sample have no effect.
      const double want[] = {1, 0, 0, 1, 0, 0, 1, 0, 0}, want_by[] = {u[0], u[0], 0};
      for (int k = 0; k < 9; k++) near(map[k], want[k], 1e-7);
      for (int k = 0; k < 3; k++) near(by[k], want_by[k], 1e-7);
    }
    assert_true(changed == (i > 0 && i % 2 == 0));
    u[0] = cos(i), u[1] = i;
    assert_int_equal(od_sim_step(sim, 5e-3, u), OD_OK);
  }
  od_sim_free(sim);
  od_plant_free(plant);
  od_model_free(model);
}

static od_status sampled_twice(void *context, const od_foreign_point *at, double *next, double *y) {
  (void)context;
  for (int i = 0; i < 2; i++) next[i] = y[i] = 2 * at->x[i];
  return OD_OK;
}

// ---- a law that jumps: a bouncing ball, with a token that counts the bounces

static od_status ball_values(void *context, const od_foreign_point *at, double *y, double *rate) {
  (void)context;
  y[0] = at->x[0];
  rate[0] = at->x[1];
  rate[1] = -9.81;
  return OD_OK;
}
static od_status ball_margin(void *context, const od_foreign_point *at, double *margin) {
  (void)context;
  *margin = at->x[0] > 0 || at->x[1] > 0 ? fmax(at->x[0], 1e-12) : at->x[0];
  return OD_OK;
}
static od_status ball_bounces(void *context, const od_foreign_point *at, double *next) {
  (void)context;
  next[0] = 0;
  next[1] = -at->q[0] * at->x[1];
  next[2] = at->x[2] + 1;
  return OD_OK;
}

static void a_law_jumps(void **state) {
  (void)state;
  static const char *const outputs[] = {"b", "b.state3"};
  static const double initial[] = {1, 0, 0}, number[] = {0.7};
  od_foreign_law law = {.inputs = 1,
                        .outputs = 1,
                        .states = 3,
                        .tokens = 1,
                        .numbers = 1,
                        .holds = true,
                        .initial = initial,
                        .values = ball_values,
                        .margin = ball_margin,
                        .switch_states = ball_bounces};
  od_block_spec spec = od_block_spec_of_law(&law);
  machine m = build(&spec, number, 1, outputs, 2, true);
  double u = 0, y[2], t1 = sqrt(2 / 9.81), t2 = t1 + 2 * 0.7 * t1, t = 1.2;
  assert_int_equal(od_sim_start(m.sim, 0, &u), OD_OK);
  od_sim_set_integrator(m.sim, od_integrator_find("tr-bdf2"));
  od_advance_options options = {.tolerance = 1e-8, .end = 2};
  od_advance *advance = od_advance_new(m.sim, &options);
  od_sim *at;
  assert_int_equal(od_sim_advance(advance, t, &at), OD_OK);
  assert_int_equal(od_sim_outputs(at, y), OD_OK);
  assert_true(t > t2);
  double v2 = 0.7 * 0.7 * 9.81 * t1;
  near(y[0], v2 * (t - t2) - 0.5 * 9.81 * (t - t2) * (t - t2), 1e-6);
  assert_true(y[1] == 2);
  od_advance_free(advance);
  end(&m);
}

// ---- errors

static od_status fails(void *context, const od_foreign_point *at, double *y, double *rate) {
  (void)context;
  y[0] = rate[0] = 0;
  return at->u[0] > 1 ? OD_IO : OD_OK;
}

static const char *why(void *context) {
  return context ? NULL : "the input exceeds 1";
}

static void a_failed_law_is_not_finite(void **state) {
  (void)state;
  static const char *const outputs[] = {"b"};
  od_foreign_law law = {.inputs = 1, .outputs = 1, .states = 1, .holds = true, .values = fails, .failure = why};
  od_block_spec spec = od_block_spec_of_law(&law);
  machine m = build(&spec, NULL, 0, outputs, 1, true);
  double u = 0, later = 2;
  assert_int_equal(od_sim_start(m.sim, 0, &u), OD_OK);
  assert_int_equal(od_sim_step(m.sim, 1e-3, &u), OD_OK);
  assert_int_equal(od_sim_step(m.sim, 1e-3, &later), OD_NOT_FINITE);
  const char *block = NULL;
  assert_string_equal(od_model_law_failure(m.model, &block), "the input exceeds 1");
  assert_string_equal(block, "b");
  assert_int_equal(od_sim_step(m.sim, 1e-3, &u), OD_OK);
  end(&m);
}

static void wrong_laws_are_reported(void **state) {
  (void)state;
  calls count = {0};
  od_foreign_law good = second_order_law(&count);
  const struct {
    od_foreign_law law;
    double sample;
    bool no_law;
    const char *says;
  } wrong[] = {
      {good, 0, true, "has no law"},
      {{.inputs = 40, .outputs = 1, .values = second_order}, 0, false, "number of inputs"},
      {{.inputs = 1, .outputs = 17, .values = second_order}, 0, false, "number of outputs"},
      {{.inputs = 1, .outputs = 1, .states = 33, .values = second_order}, 0, false, "number of states"},
      {{.inputs = 1, .outputs = 1, .tokens = 1, .values = second_order}, 0, false, "number of states"},
      {{.inputs = 1, .outputs = 1, .numbers = 301, .values = second_order}, 0, false, "number of numbers"},
      {{.inputs = 1, .outputs = 1}, 0, false, "expected 'sample'"},
      {good, 0.1, false, "expected 'sample'"},
      {{.inputs = 1, .outputs = 1, .values = second_order, .margin = ball_margin}, 0, false, "switch_states"},
  };
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    od_build *b = od_build_new();
    od_block_spec spec = od_block_spec_of_law(&wrong[i].law);
    spec.sample = wrong[i].sample;
    if (wrong[i].no_law) spec.foreign = NULL;
    od_build_input(b, "u", "1");
    od_build_block(b, "b", &spec, "1");
    od_model *model = NULL;
    od_error err = {0};
    assert_int_equal(od_build_finish(b, &model, &err), OD_BAD_INPUT);
    if (!strstr(err.text, wrong[i].says)) fail_msg("'%s' does not contain '%s'", err.text, wrong[i].says);
    od_build_free(b);
  }
}

// The least and the largest counts of a law: accepted at each limit, refused one step beyond. The limits are those of the messages.
static void limits_of_laws(void **state) {
  (void)state;
  calls count = {0};
  od_foreign_law usual = second_order_law(&count);
  struct {
    int *count, least, most;
    const char *says;
  } limits[] = {{&usual.inputs, 0, 32, "number of inputs"},
                {&usual.outputs, 1, 16, "number of outputs"},
                {&usual.states, 0, 32, "number of states"},
                {&usual.tokens, 0, 2, "number of states"},
                {&usual.numbers, 0, 300, "number of numbers"}};
  for (int sampled = 0; sampled < 2; sampled++) {
    usual.sample = sampled ? sampled_twice : NULL;
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
      const int before = *limits[i].count, held = sampled && limits[i].count == &usual.states ? usual.outputs : 0;
      for (int value = limits[i].least - 1; value <= limits[i].most - held + 1; value++) {
        if (value > limits[i].least && value < limits[i].most - held) continue;
        *limits[i].count = value;
        od_block_spec spec = od_block_spec_of_law(&usual);
        spec.sample = sampled ? 0.1 : 0;
        const char *problem = od_block_spec_problem(&spec);
        if (value < limits[i].least || value > limits[i].most - held) {
          assert_true(problem && strstr(problem, limits[i].says));
        } else if (limits[i].count != &usual.states || value >= usual.tokens) {
          if (problem) fail_msg("%d: %s", value, problem);
        }
      }
      *limits[i].count = before;
    }
  }
  // The number of inputs in the spec is that of the law.
  od_block_spec spec = od_block_spec_of_law(&usual);
  spec.inputs++;
  assert_non_null(strstr(od_block_spec_problem(&spec), "number of inputs"));
}

static void save_nothing(void *context, const double *x, void *memory) {
  (void)context, (void)x, (void)memory;
}
static bool restore_nothing(void *context, const void *memory, double *x) {
  (void)context, (void)memory, (void)x;
  return true;
}

// The functions of a law: each one that another entry of the law requires.
static void functions_of_laws(void **state) {
  (void)state;
  calls count = {0};
  for (int which = 0; which < 64; which++) {
    od_foreign_law law = second_order_law(&count);
    bool sampled = which & 1;
    if (which & 1) law.sample = sampled_twice;
    if (which & 2) law.memory_size = 8;
    if (which & 4) law.save_memory = save_nothing;
    if (which & 8) law.restore_memory = restore_nothing;
    if (which & 16) law.margin = ball_margin;
    if (which & 32) law.switch_states = ball_bounces;
    od_block_spec spec = od_block_spec_of_law(&law);
    spec.sample = sampled ? 0.1 : 0;
    const char *problem = od_block_spec_problem(&spec);
    bool no_memory = (which & 2) && (which & 12) != 12, no_switch = (which & 16) && !(which & 32);
    if (no_memory)
      assert_non_null(strstr(problem, "'save_memory' or 'restore_memory'"));
    else if (no_switch)
      assert_non_null(strstr(problem, "'switch_states'"));
    else
      assert_null(problem);
  }
}

static void images_contain_no_laws(void **state) {
  (void)state;
  calls count = {0};
  od_foreign_law law = second_order_law(&count);
  machine m = build_law(&law);
  size_t size = od_image_size(m.model, NULL);
  void *memory = malloc(size);
  od_error err = {0};
  assert_int_equal(od_image_write(m.model, NULL, memory, size, &err), OD_NOT_AVAILABLE);
  assert_non_null(strstr(err.text, "'b'"));
  free(memory);
  end(&m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_law_equals_the_block_of_the_core),
      cmocka_unit_test(a_law_equals_a_formula),
      cmocka_unit_test(a_law_reads_the_time),
      cmocka_unit_test(samples),
      cmocka_unit_test(a_law_jumps),
      cmocka_unit_test(a_failed_law_is_not_finite),
      cmocka_unit_test(differences_have_the_size_of_their_arguments),
      cmocka_unit_test(wrong_laws_are_reported),
      cmocka_unit_test(limits_of_laws),
      cmocka_unit_test(functions_of_laws),
      cmocka_unit_test(images_contain_no_laws),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
