// Predictions step by step and their sensitivities.
//
// Oracles: a Runge-Kutta rule in complex numbers, written here (complex step through the whole run); central differences
// of high order over whole predictions of machines; closed forms of steady states.
#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"
#include "predict/predict.h"
#include "support/allocations.h"
#include "support/machines.h"
#include "support/skipping.h"

// ---- a small nonlinear plant: a pendulum with a nonlinear damper, driven by a first-order actuator

typedef double _Complex cplx;
enum { NX = 3, NP = 4, COUNT = 60 };
static const double start[NX] = {0.4, -0.2, 0.1}, parameters[NP] = {2.5, 0.3, 4, 0.7};

static void rates(const cplx *x, cplx u, const cplx *p, cplx *dx) {
  dx[0] = x[1];
  dx[1] = -p[0] * csin(x[0]) - p[1] * x[1] * (1 + x[1] * x[1]) + x[2];
  dx[2] = p[2] * (u - x[2]);
}
static cplx output(int i, const cplx *x, cplx u, const cplx *p) {
  return i == 0 ? p[3] * x[0] + 0.1 * u : x[1] * x[2];
}

static int f_complex(void *user, double t, const double *x, const double *u, const double *p, double *dx) {
  (void)user, (void)t;
  rates((const cplx *)x, *(const cplx *)u, (const cplx *)p, (cplx *)dx);
  return 0;
}
static int h_complex(void *user, double t, const double *x, const double *u, const double *p, double *y) {
  (void)user, (void)t;
  for (int i = 0; i < 2; i++) ((cplx *)y)[i] = output(i, (const cplx *)x, *(const cplx *)u, (const cplx *)p);
  return 0;
}
static void widen(const double *x, const double *u, const double *p, cplx *cx, cplx *cu, cplx *cp) {
  for (int i = 0; i < NX; i++) cx[i] = x[i];
  for (int i = 0; i < NP; i++) cp[i] = p[i];
  *cu = *u;
}
static int f(void *user, double t, const double *x, const double *u, const double *p, double *dx) {
  (void)t;
  cplx cx[NX], cu, cp[NP], out[NX];
  if (user) (*(long *)user)++;
  widen(x, u, p, cx, &cu, cp);
  rates(cx, cu, cp, out);
  for (int i = 0; i < NX; i++) dx[i] = creal(out[i]);
  return 0;
}
static int h(void *user, double t, const double *x, const double *u, const double *p, double *y) {
  (void)user, (void)t;
  cplx cx[NX], cu, cp[NP];
  widen(x, u, p, cx, &cu, cp);
  for (int i = 0; i < 2; i++) y[i] = creal(output(i, cx, cu, cp));
  return 0;
}

static od_plant *small_plant(long *calls) {
  od_function fn = {.nx = NX,
                    .nu = 1,
                    .ny = 2,
                    .np = NP,
                    .x0 = start,
                    .p = parameters,
                    .user = calls,
                    .f = f,
                    .h = h,
                    .f_complex = f_complex,
                    .h_complex = h_complex};
  od_plant *plant = NULL;
  assert_int_equal(od_plant_from_function(&fn, &plant, NULL), OD_OK);
  return plant;
}

static double sample_time(int k) {
  return 0.2 + 0.05 * k + 0.01 * sin(k);
}
static double sample_input(int k) {
  return sin(0.3 * k) + 0.2 * cos(1.1 * k);
}

// The oracle: y (COUNT x 2) in complex numbers.
static void complex_run(const double *times, const double *u, od_hold hold, int substeps, const cplx *x0, const cplx *p,
                        cplx *y) {
  cplx x[NX];
  memcpy(x, x0, sizeof x);
  for (int k = 0; k < COUNT; k++) {
    for (int i = 0; i < 2; i++) y[2 * k + i] = output(i, x, u[k], p);
    for (int s = 0; s < substeps && k + 1 < COUNT; s++) {
      double step = (times[k + 1] - times[k]) / substeps, slope = hold == OD_HOLD_ZERO ? 0 : u[k + 1] - u[k];
      double u0 = u[k] + slope * s / substeps, u1 = u[k] + slope * (s + 1) / substeps, um = (u0 + u1) / 2;
      cplx k1[NX], k2[NX], k3[NX], k4[NX], at[NX];
      rates(x, u0, p, k1);
      for (int i = 0; i < NX; i++) at[i] = x[i] + step / 2 * k1[i];
      rates(at, um, p, k2);
      for (int i = 0; i < NX; i++) at[i] = x[i] + step / 2 * k2[i];
      rates(at, um, p, k3);
      for (int i = 0; i < NX; i++) at[i] = x[i] + step * k3[i];
      rates(at, u1, p, k4);
      for (int i = 0; i < NX; i++) x[i] += step / 6 * (k1[i] + 2 * k2[i] + 2 * k3[i] + k4[i]);
    }
  }
}

// Rows that are delivered in sequence, one in several, equal those of a whole prediction bit by bit.
typedef struct whole_rows {
  const double *y, *dy;
  int seen;
} whole_rows;
static void compare_rows(void *user, const od_predicted *rows) {
  whole_rows *w = user;
  for (int k = 0; k < rows->count; k++, w->seen++) {
    int row = rows->first + k * rows->every, per_row = 2 * (NP + 2);
    assert_memory_equal(rows->y + 2 * k, w->y + 2 * row, 2 * sizeof(double));
    assert_memory_equal(rows->dy + per_row * k, w->dy + per_row * row, (size_t)per_row * sizeof(double));
  }
}
static void test_thinned(od_predictor *predictor, const double *p, const double *x0, const double *y,
                         const double *dy) {
  whole_rows w = {y, dy, 0};
  od_predict_wish wish = {.sensitivities = true, .every = 7, .take = compare_rows, .user = &w};
  assert_int_equal(od_predict_rows(predictor, p, x0, &wish), OD_OK);
  assert_int_equal(w.seen, (COUNT - 1) / 7 + 1);
  wish.every = OD_PREDICT_MOST_EVERY + 1;
  assert_int_equal(od_predict_rows(predictor, p, x0, &wish), OD_BAD_ARGUMENT);
}

static void runge_kutta_against_complex_step(void **state) {
  (void)state;
  od_plant *plant = small_plant(NULL);
  double times[COUNT], u[COUNT], y[2 * COUNT], dy[2 * COUNT * (NP + 2)], again[2 * COUNT], worst = 0;
  for (int k = 0; k < COUNT; k++) times[k] = sample_time(k), u[k] = sample_input(k);
  const od_logged_inputs log = {.count = COUNT, .times = times, .u = u};
  const int free_states[2] = {2, 0};
  const double p[NP] = {2.2, 0.4, 3.5, 0.9}, x0[NX] = {0.5, 0.1, -0.3};
  for (int hold = OD_HOLD_FIRST; hold <= OD_HOLD_ZERO; hold++)
    for (int substeps = 1; substeps <= 3; substeps++) {
      const od_predictor_options options = {.rule = {od_integrator_find("rk4")},
                                            .hold = (od_hold)hold,
                                            .substeps = substeps,
                                            .free_states = free_states,
                                            .free_count = 2};
      od_predictor *predictor = NULL;
      assert_int_equal(od_predictor_new(plant, &log, &options, &predictor, NULL), OD_OK);
      assert_int_equal(od_predictor_columns(predictor), NP + 2);
      assert_int_equal(od_predict(predictor, p, x0, y, dy), OD_OK);
      assert_int_equal(od_predict(predictor, p, x0, again, NULL), OD_OK);
      assert_memory_equal(y, again, sizeof y);
      test_thinned(predictor, p, x0, y, dy);
      for (int c = 0; c < NP + 2; c++) {
        cplx px[NX], pp[NP], want[2 * COUNT];
        for (int i = 0; i < NX; i++) px[i] = x0[i];
        for (int i = 0; i < NP; i++) pp[i] = p[i];
        *(c < NP ? &pp[c] : &px[free_states[c - NP]]) += 1e-30 * I;
        complex_run(times, u, (od_hold)hold, substeps, px, pp, want);
        for (int i = 0; i < 2 * COUNT; i++) {
          worst = fmax(worst, fabs(y[i] - creal(want[i])));
          worst = fmax(worst, fabs(dy[i * (NP + 2) + c] - cimag(want[i]) / 1e-30));
        }
      }
      od_predictor_free(predictor);
    }
  print_message("Runge-Kutta and its sensitivities against complex steps: %.2g\n", worst);
  assert_true(worst < 1e-12);
  od_plant_free(plant);
}

// ---- differences of whole predictions

// d/dp_c by central differences of order six.
static void differences(od_predictor *predictor, int count, const double *p, int np, const double *x0, int c,
                        double step, double *out) {
  static const double weight[3] = {45.0 / 60, -9.0 / 60, 1.0 / 60};
  double *moved = malloc((size_t)np * sizeof *moved), *y = malloc((size_t)count * sizeof *y);
  memcpy(moved, p, (size_t)np * sizeof *p);
  for (int i = 0; i < count; i++) out[i] = 0;
  for (int side = -3; side <= 3; side++) {
    if (side == 0) continue;
    moved[c] = p[c] + side * step;
    assert_int_equal(od_predict(predictor, moved, x0, y, NULL), OD_OK);
    for (int i = 0; i < count; i++) out[i] += (side < 0 ? -1 : 1) * weight[abs(side) - 1] * y[i] / step;
  }
  free(moved), free(y);
}

// Largest error of a prediction's sensitivities, each column relative to its largest entry (per output).
static double worst_difference(od_predictor *predictor, const od_plant *plant, int samples, const double *p,
                               const double *x0, double relative_step) {
  int ny = plant->ny, np = plant->np, columns = od_predictor_columns(predictor), rows = samples * ny;
  double *y = malloc((size_t)rows * sizeof *y), *dy = malloc((size_t)(rows * columns) * sizeof *dy);
  double *want = malloc((size_t)rows * sizeof *want), worst = 0;
  assert_int_equal(od_predict(predictor, p, x0, y, dy), OD_OK);
  for (int c = 0; c < np; c++) {
    differences(predictor, rows, p, np, x0, c, relative_step * fabs(p[c]), want);
    for (int o = 0; o < ny; o++) {
      double size = 0, error = 0;
      for (int k = 0; k < samples; k++) {
        int i = k * ny + o;
        size = fmax(size, fabs(want[i]));
        error = fmax(error, fabs(want[i] - dy[i * columns + c]));
      }
      assert_true(size > 0);
      if (error / size > 1e-6) print_message("  parameter %d, output %d: %.2g of %.2g\n", c, o, error, size);
      worst = fmax(worst, error / size);
    }
  }
  free(y), free(dy), free(want);
  return worst;
}

typedef struct hydraulic {
  od_machine *machine;
  od_plant *plant;
  double *u, p[6];
} hydraulic;

// The hydraulic four-bar: mechanism, oil and valve, with parameters of each kind.
static hydraulic hydraulic_fourbar(int samples, double step) {
  static const char *const names[6] = {"oil.kp",    "crank.beam.mass", "crank.beam.length",
                                       "pump.flow", "valve.area",      "valve.ports.a.curve.points[1]"};
  hydraulic t = {.machine = od_test_machine("cases/fourbar-valve/machine.yaml", NULL)};
  int outputs[3] = {od_test_output(t.machine, "cylinder.length"), od_test_output(t.machine, "P.pressure"),
                    od_test_output(t.machine, "A.pressure")};
  int numbers[6];
  for (int i = 0; i < 6; i++) {
    numbers[i] = od_machine_number_find(t.machine, names[i]);
    if (numbers[i] < 0) fail_msg("no number %s", names[i]);
    t.p[i] = od_machine_number(t.machine, numbers[i]).value;
  }
  assert_int_equal(od_machine_plant(t.machine, outputs, 3, numbers, 6, &t.plant, NULL), OD_OK);
  assert_int_equal(t.plant->nu, 1);
  t.u = malloc((size_t)samples * sizeof *t.u);
  for (int k = 0; k < samples; k++) od_machine_inputs(t.machine, k * step, &t.u[k]);
  return t;
}
static void hydraulic_end(hydraulic *t) {
  free(t->u);
  od_plant_free(t->plant);
  od_machine_free(t->machine);
}

static void trapezoid_on_a_hydraulic_machine(void **state) {
  (void)state;
  enum { SAMPLES = 400 };
  hydraulic t = hydraulic_fourbar(SAMPLES, 1e-3);
  const od_logged_inputs log = {.count = SAMPLES, .step = 1e-3, .u = t.u};
  od_predictor *predictor = NULL;
  assert_int_equal(od_predictor_new(t.plant, &log, &(od_predictor_options){0}, &predictor, NULL), OD_OK);
  double worst = worst_difference(predictor, t.plant, SAMPLES, t.p, NULL, 2e-4);
  print_message("hydraulic four-bar, trapezoid, six parameters, against differences: %.2g\n", worst);
  assert_true(worst < 1e-6);
  od_predictor_free(predictor);
  hydraulic_end(&t);
}

// Through dead points, where the coordinates change, with lengths as parameters, which determine the relations between
// coordinates.
static void coordinates_change_on_the_way(void **state) {
  (void)state;
  enum { SAMPLES = 1200 };
  od_machine *machine = od_test_machine("cases/slider-crank/slider-first.yaml", NULL);
  int outputs[3] = {od_test_output(machine, "main.angle"), od_test_output(machine, "guide.position"),
                    od_test_output(machine, "rod.middle.vx")};
  static const char *const names[4] = {"crank.beam.length", "rod.beam.length", "rod.beam.mass", "gravity[1]"};
  int numbers[4];
  double p[4];
  for (int i = 0; i < 4; i++) {
    numbers[i] = od_machine_number_find(machine, names[i]);
    if (numbers[i] < 0) fail_msg("no number %s", names[i]);
    p[i] = od_machine_number(machine, numbers[i]).value;
  }
  od_plant *plant = NULL;
  assert_int_equal(od_machine_plant(machine, outputs, 3, numbers, 4, &plant, NULL), OD_OK);
  const od_logged_inputs log = {.count = SAMPLES, .step = 1e-3};
  od_predictor *predictor = NULL;
  // Runge-Kutta in small steps: the same motion in all coordinates, which may change at other times in the differences.
  const od_predictor_options options = {.rule = {od_integrator_find("rk4")}, .substeps = 2};
  assert_int_equal(od_predictor_new(plant, &log, &options, &predictor, NULL), OD_OK);
  double worst = worst_difference(predictor, plant, SAMPLES, p, NULL, 1e-4);
  print_message("slider-crank through dead points, lengths as parameters, against differences: %.2g\n", worst);
  assert_true(worst < 1e-6);
  od_predictor_free(predictor);
  od_plant_free(plant);
  od_machine_free(machine);
}

// ---- steady starts

static void steady_start(void **state) {
  (void)state;
  od_plant *plant = small_plant(NULL);
  double u[3] = {1.2, 1.2, 1.2}, y[6], dy[6 * NP];
  const od_logged_inputs log = {.count = 3, .step = 0.1, .u = u};
  for (int i = 0; od_integrator_at(i); i++) {
    const od_predictor_options options = {.rule = {od_integrator_at(i)}, .steady = true};
    od_predictor *predictor = NULL;
    assert_int_equal(od_predictor_new(plant, &log, &options, &predictor, NULL), OD_OK);
    assert_int_equal(od_predict(predictor, NULL, NULL, y, dy), OD_OK);
    // At rest sin(x0) = u / p0, and y = p3 x0 + 0.1 u.
    const double *p = parameters;
    double angle = asin(1.2 / p[0]), slope = -1.2 / (p[0] * p[0]) / cos(angle);
    for (int k = 0; k < 3; k++) {
      assert_true(fabs(y[2 * k] - (p[3] * angle + 0.12)) < 1e-12);
      assert_true(fabs(y[2 * k + 1]) < 1e-12);
      assert_true(fabs(dy[2 * k * NP] - p[3] * slope) < 1e-12);
      assert_true(fabs(dy[2 * k * NP + 1]) < 1e-12 && fabs(dy[2 * k * NP + 2]) < 1e-12);
      assert_true(fabs(dy[2 * k * NP + 3] - angle) < 1e-12);
    }
    // There is no equilibrium at this input: a status.
    const double none[NP] = {1.1, 0.3, 4, 0.7};
    assert_int_not_equal(od_predict(predictor, none, NULL, y, dy), OD_OK);
    assert_int_equal(od_predict(predictor, NULL, NULL, y, dy), OD_OK);
    od_predictor_free(predictor);
  }
  od_plant_free(plant);
}

// ---- trials that must be rejected

static void divergence_is_a_status(void **state) {
  (void)state;
  long calls = 0;
  od_plant *plant = small_plant(&calls);
  enum { SAMPLES = 5000 };
  double *u = calloc(SAMPLES, sizeof *u), *y = malloc(2 * SAMPLES * sizeof *y),
         *dy = malloc((size_t)(2 * SAMPLES * NP) * sizeof *dy);
  const od_logged_inputs log = {.count = SAMPLES, .step = 0.01, .u = u};
  for (int i = 0; od_integrator_at(i); i++)
    for (int sensitivities = 0; sensitivities < 2; sensitivities++) {
      const od_predictor_options options = {.rule = {od_integrator_at(i)}};
      od_predictor *predictor = NULL;
      assert_int_equal(od_predictor_new(plant, &log, &options, &predictor, NULL), OD_OK);
      double *d = sensitivities ? dy : NULL;
      // Negative damping, cubic: escapes in finite time.
      const double escaping[NP] = {2.5, -0.8, 4, 0.7}, unstable[NP] = {2.5, 0.3, -40, 0.7};
      const double broken[NP] = {NAN, 0.3, 4, 0.7};
      calls = 0;
      assert_int_not_equal(od_predict(predictor, escaping, NULL, y, d), OD_OK);
      assert_true(calls < 40 * SAMPLES / 4);  // early
      assert_int_not_equal(od_predict(predictor, unstable, NULL, y, d), OD_OK);
      assert_int_equal(od_predict(predictor, broken, NULL, y, d), OD_NOT_FINITE);
      assert_int_equal(od_predict(predictor, NULL, NULL, y, d), OD_OK);
      // Results after a failure equal those before it.
      double first = y[2 * SAMPLES - 2];
      od_predict(predictor, escaping, NULL, y, d);
      assert_int_equal(od_predict(predictor, NULL, NULL, y, d), OD_OK);
      assert_true(y[2 * SAMPLES - 2] == first);
      od_predictor_free(predictor);
    }
  free(u), free(y), free(dy);
  od_plant_free(plant);
}

static void bad_arguments(void **state) {
  (void)state;
  od_plant *plant = small_plant(NULL);
  double u[3] = {0}, same[3] = {0, 1, 1}, uneven[3] = {0, 1, 3};
  const int no_state = 7, a_state = 1;
  struct {
    od_logged_inputs log;
    od_predictor_options options;
    od_status status;
  } cases[] = {
      {{.count = 0, .step = 1, .u = u}, {.substeps = 0}, OD_BAD_ARGUMENT},
      {{.count = 3, .step = 0, .u = u}, {.substeps = 0}, OD_BAD_ARGUMENT},
      {{.count = 3, .step = 1}, {.substeps = 0}, OD_BAD_ARGUMENT},
      {{.count = 3, .times = same, .u = u}, {.substeps = 0}, OD_BAD_ARGUMENT},
      {{.count = 3, .times = uneven, .u = u}, {.rule = {.exact = true}}, OD_BAD_ARGUMENT},
      {{.count = 3, .step = 1, .u = u}, {.free_states = &no_state, .free_count = 1}, OD_BAD_ARGUMENT},
      {{.count = 3, .step = 1, .u = u}, {.free_states = &a_state, .free_count = 1, .steady = true}, OD_BAD_ARGUMENT},
      {{.count = 3, .step = 1, .u = u}, {.rule = {.exact = true}}, OD_NOT_AVAILABLE},  // a pendulum is not linear
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    od_predictor *predictor = NULL;
    od_error error = {0};
    assert_int_equal(od_predictor_new(plant, &cases[i].log, &cases[i].options, &predictor, &error), cases[i].status);
    assert_null(predictor);
    assert_true(error.text[0] != '\0');
  }
  od_plant_free(plant);
}

static void predictions_allocate_nothing(void **state) {
  (void)state;
#if COUNTING
  enum { SAMPLES = 100 };
  hydraulic t = hydraulic_fourbar(SAMPLES, 1e-3);
  const od_logged_inputs log = {.count = SAMPLES, .step = 1e-3, .u = t.u};
  double y[3 * SAMPLES], *dy = malloc(3 * SAMPLES * 6 * sizeof *dy);
  for (int i = 0; od_integrator_at(i); i++) {
    od_predictor *predictor = NULL;
    const od_predictor_options options = {.rule = {od_integrator_at(i)},
                                          .substeps = od_integrator_at(i)->amplification ? 20 : 1};
    assert_int_equal(od_predictor_new(t.plant, &log, &options, &predictor, NULL), OD_OK);
    long before = allocations;
    od_status status = od_predict(predictor, t.p, NULL, y, dy);
    long counted = allocations - before;
    od_predictor_free(predictor);
    assert_int_equal(status, OD_OK);
    assert_int_equal(counted, 0);
  }
  free(dy);
  hydraulic_end(&t);
#else
  skip_test("not possible: the sanitizer has its own allocator");
#endif
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(runge_kutta_against_complex_step), cmocka_unit_test(trapezoid_on_a_hydraulic_machine),
      cmocka_unit_test(coordinates_change_on_the_way),    cmocka_unit_test(steady_start),
      cmocka_unit_test(divergence_is_a_status),           cmocka_unit_test(bad_arguments),
      cmocka_unit_test(predictions_allocate_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
