// Guards of a machine (plant/model_plant_guards.c): their numbers and order, values at many points, which of them are jumps, who owns a jump, slopes
// of the guards of jumps, and the effect of held jumps on the rates. Oracle: the laws of the file, evaluated by hand.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"

#include "machine/machine.h"
#include "oleodyn/oleodyn.h"
#include "plant/model_plant.h"
#include "support/machines.h"

// A mass of 2 kg moves along y with two laws of force and a contact. Blocks: relays have margins; signs and formulas zeros; tables scales. A sign
// with a width has no jump.
static const char text[] =
    "bodies: {m: {point: {mass: 2 kg}}}\n"
    "joints: {A: {type: prismatic, between: [ground, m], axis: [0, 1, 0]}}\n"
    "inputs: {u: {constant: 0}, r: {constant: 0}}\n"
    "force_formulas:\n"
    "  f: {joint: A, parameters: {F: 3 N, a: 0.5 m, G: 1 N}, force: 'F * sign(-v) + if(x > a, G, -G)'}\n"
    "  h: {joint: A, parameters: {c: 5 N, b: 0.25 m/s}, force: 'if(v < b, c, 0)'}\n"
    "contacts: {floor: {at: m, stiffness: 1e6 N/m, normal: [0, 1, 0]}}\n"
    "blocks:\n"
    "  t: {type: table, input: u, at: [-2, 0, 1, 5], values: [1, 3, 2, 7], unit: 1}\n"
    "  map: {type: table-2d, row: u, column: r, unit: 1, at_row: [1, 2, 4], at_column: [10, 50], values: [[1, 2], [3, 4], [5, 9]]}\n"
    "  s: {type: sign, input: r}\n"
    "  wide: {type: sign, input: r, width: 0.1}\n"
    "  q: {type: formula, inputs: {x: u, y: r}, parameters: {a: 2}, formula: 'if(x > a, y, 2 * y) + sign(y)'}\n"
    "  bow: {type: spline, input: r, at: [-2, -1, 0.5, 1, 3], values: [9, 4, 0.25, 0, 4], unit: 1}\n"
    "  low: {type: relay, input: u, unit: '1', thresholds: [-60, 60], values: [0, 1]}\n"
    "  last: {type: table, input: r, at: [0, 10], values: [0, 1], unit: 1}\n"
    "initial: {A.position: 1 m}\n";

// Zeros and scales in the order of the file: forces, blocks, contact; then tables. The guard of a comparison is negative where the comparison holds.
enum { SIGN_V, X_ABOVE, V_BELOW, SIGN_R, U_ABOVE, SIGN_Y, HEIGHT, ZEROS };
enum { T, MAP_ROW, MAP_COLUMN, BOW, LAST, SCALES };
static const int knots[SCALES] = {4, 3, 2, 5, 2};
enum { JUMPS = 6 };  // all zeros but the height
static const char *const owners[JUMPS] = {"f", "f", "h", "s", "q", "q"};

// The place of u among the knots: k at knot k, linear in between, and extrapolated at both ends.
static double place(const double *at, int count, double u) {
  for (int k = 0; k + 1 < count; k++)
    if (u < at[k + 1] || k + 2 == count) return k + (u - at[k]) / (at[k + 1] - at[k]);
  return NAN;
}

// A jump inside the argument of another: the guard of the outer one contains the value of the inner one, which may be held.
static const char nested[] =
    "bodies: {m: {point: {mass: 2 kg}}}\n"
    "joints: {A: {type: prismatic, between: [ground, m], axis: [0, 1, 0]}}\n"
    "inputs: {u: {constant: 0}, r: {constant: 0}}\n"
    "force_formulas:\n"
    "  f: {joint: A, parameters: {F: 3 N}, force: 'F * sign(-v)'}\n"
    "  h: {joint: A, parameters: {c: 5 N, s: 0.5 m/s, l: 1 m}, force: 'c * sign(0.5 * sign(v / s) + x / l)'}\n"
    "blocks:\n"
    "  p: {type: formula, inputs: {x: u}, formula: 'sign(x)'}\n"
    "  q: {type: formula, inputs: {x: u, y: r}, parameters: {a: 2}, formula: 'sign(a * sign(x) + y)'}\n"
    "initial: {A.position: 1 m}\n";

typedef struct bench {
  od_machine *machine;
  od_plant *plant;
  void *work;
  double x[40], k[40], g[40];
} bench;

static void open_bench(bench *b, const char *file) {
  *b = (bench){.machine = od_test_machine_text(file)};
  int parameter = -1;
  const od_model *m = od_machine_model(b->machine);
  for (int i = 0; i < m->blocks; i++)
    if (strcmp(od_model_text(m, m->block[i].name), "q") == 0) parameter = m->block[i].number;
  assert_true(parameter >= 0);
  assert_int_equal(od_model_plant(m, NULL, 0, &parameter, 1, &b->plant, NULL), OD_OK);
  b->work = aligned_alloc(64, (b->plant->work_size + 63) / 64 * 64);
  assert_non_null(b->work);
  assert_true(od_plant_nx(b->plant) <= 40);
  assert_int_equal(b->plant->ops->start(b->plant, b->work, b->x), OD_OK);
}
static void close_bench(bench *b) {
  free(b->work);
  od_plant_free(b->plant);
  od_machine_free(b->machine);
}
static void move_to(bench *b, double x, double v, const double *u) {
  b->x[0] = x, b->x[1] = v;
  assert_int_equal(b->plant->ops->residual(b->plant, b->work, 0, b->x, b->k, u, b->g), OD_OK);
}

static void values(void **state) {
  (void)state;
  bench b;
  open_bench(&b, text);
  assert_int_equal(b.plant->margins, 1);
  assert_int_equal(b.plant->zeros, ZEROS);
  assert_int_equal(b.plant->scales, SCALES);
  for (int i = 0; i < SCALES; i++) assert_int_equal(b.plant->scale_knots[i], knots[i]);
  static const double xs[] = {-0.5, 0.2, 0.7}, vs[] = {-1, 0.1, 2},
                      signals[] = {-30, -2.5, -2, -1.5, -0.3, 0, 0.25, 0.5, 0.75, 1, 1.5, 2.5, 4, 4.5, 7, 30, 70};
  const int count = sizeof signals / sizeof *signals;
  for (int n = 0; n < 9 * count * count; n++) {
    const double x = xs[n % 3], v = vs[n / 3 % 3], u[] = {signals[n / 9 % count], signals[n / 9 / count]};
    double guard[1 + ZEROS + SCALES];
    for (int i = 0; i < 1 + ZEROS + SCALES; i++) guard[i] = NAN;
    move_to(&b, x, v, u);
    assert_int_equal(b.plant->ops->guards(b.plant, b.work, guard), OD_OK);
    assert_true((guard[0] > 0) == (u[0] < 60));  // the relay is off, and switches at 60
    const double zeros[ZEROS] = {-v, 0.5 - x, v - 0.25, u[1], 2 - u[0], u[1], x};
    for (int i = 0; i < ZEROS; i++) near(guard[1 + i], zeros[i], 1e-14 * (1 + fabs(zeros[i])));
    const double *scale = guard + 1 + ZEROS;
    near(scale[T], place((double[]){-2, 0, 1, 5}, 4, u[0]), 1e-12);
    near(scale[MAP_ROW], place((double[]){1, 2, 4}, 3, u[0]), 1e-12);
    near(scale[MAP_COLUMN], place((double[]){10, 50}, 2, u[1]), 1e-12);
    near(scale[BOW], place((double[]){-2, -1, 0.5, 1, 3}, 5, u[1]), 1e-12);
    near(scale[LAST], place((double[]){0, 10}, 2, u[1]), 1e-12);
  }
  const double nowhere[] = {NAN, 0};
  double guard[1 + ZEROS + SCALES];
  move_to(&b, 0, 0, nowhere);
  assert_int_equal(b.plant->ops->guards(b.plant, b.work, guard), OD_NOT_FINITE);
  close_bench(&b);
}

static void jumps(void **state) {
  (void)state;
  bench b;
  open_bench(&b, text);
  const od_model *m = od_machine_model(b.machine);
  assert_int_equal(b.plant->jumps, JUMPS);
  for (int i = 0; i < JUMPS; i++) {
    const od_instance *element;
    const od_block *block;
    assert_int_equal(b.plant->jump_guard[i], 1 + i);
    od_model_plant_jump_owner(b.plant, i, &element, &block);
    assert_int_equal(element == NULL, i > V_BELOW);
    assert_int_equal(block == NULL, i <= V_BELOW);
    assert_string_equal(od_model_text(m, element ? element->name : block->name), owners[i]);
  }
  // Slopes of the guards along a direction: state, inputs, parameter a of block q.
  const double u[] = {0.3, 0.7}, dx[40] = {0.11, 0.22}, du[] = {0.33, 0.44}, dp[] = {0.55};
  move_to(&b, 0.2, 0.1, u);
  for (int parts = 0; parts < 8; parts++) {
    const double x = parts & 1 ? 1 : 0, by_u = parts & 2 ? 1 : 0, p = parts & 4 ? 1 : 0;
    const od_point_change along = {.x = x > 0 ? dx : NULL, .u = by_u > 0 ? du : NULL, .p = p > 0 ? dp : NULL};
    const double want[JUMPS] = {-0.22 * x, -0.11 * x, 0.22 * x, 0.44 * by_u, 0.55 * p - 0.33 * by_u, 0.44 * by_u};
    double slope[JUMPS];
    assert_int_equal(b.plant->ops->guard_slopes(b.plant, b.work, along, slope), OD_OK);
    for (int i = 0; i < JUMPS; i++) near(slope[i], want[i], 1e-14);
  }
  close_bench(&b);
}

// A law that is held at v, from -1 to 1, is a mean of both sides: F v, -G v, and c (1 - v) / 2 for the law that is c or 0. The acceleration is the
// sum of the forces over 2 kg. Jumps that are not held have no column, nor have those at a bound.
static void held_laws(void **state) {
  (void)state;
  bench b;
  open_bench(&b, text);
  const double u[] = {0.3, 0.7}, effect[] = {3.0 / 2, -1.0 / 2, -2.5 / 2};
  const int nk = od_plant_nk(b.plant);
  double *gv = calloc((size_t)(nk * JUMPS), sizeof *gv), gk[1600];
  assert_non_null(gv);
  assert_true(nk <= 40);
  for (int n = 0; n < 27; n++) {
    static const double choices[] = {NAN, 0.4, 1};
    double held[JUMPS], sum = 0;
    const double alone[] = {-3, -1, 5};  // at x = 0.2 m and v = 0.1 m/s
    for (int i = 0; i < JUMPS; i++) held[i] = i < 3 ? choices[n / (i == 0 ? 1 : i == 1 ? 3 : 9) % 3] : 0.2;
    for (int i = 0; i < 3; i++)
      sum += isnan(held[i]) ? alone[i] : i == 0 ? 3 * held[0] : i == 1 ? -held[1] : 2.5 * (1 - held[2]);
    b.plant->ops->hold(b.plant, b.work, held);
    b.k[0] = sum / 2;
    move_to(&b, 0.2, 0.1, u);
    near(b.g[0], 0, 1e-12);
    assert_int_equal(b.plant->ops->held_jacobian(b.plant, b.work, gv), OD_OK);
    assert_int_equal(b.plant->ops->jacobians(b.plant, b.work, NULL, gk, NULL), OD_OK);
    for (int i = 0; i < 3; i++) near(-gv[i] / gk[0], held[i] == 0.4 ? effect[i] : 0, 1e-12);
    b.plant->ops->hold(b.plant, b.work, NULL);
    b.k[0] = (-3 - 1 + 5) / 2.0;
    move_to(&b, 0.2, 0.1, u);
    near(b.g[0], 0, 1e-12);
  }
  free(gv);
  close_bench(&b);
}

// The guards of jumps in other jumps, with inner jumps that are held or not, and their slopes, along which held values are constant.
static void nested_jumps(void **state) {
  (void)state;
  enum { F, INNER, OUTER, P, INNER_OF_Q, OUTER_OF_Q, ALL };
  bench b;
  open_bench(&b, nested);
  assert_int_equal(b.plant->jumps, ALL);
  assert_int_equal(b.plant->zeros, ALL);
  assert_true(b.plant->margins == 0 && b.plant->scales == 0);
  static const double choices[] = {NAN, 0.25, -0.75, 1};
  for (int n = 0; n < 64; n++) {
    const double side = n & 1 ? 1 : -1, x = 0.3, v = 0.1 * side, u[] = {0.7 * side, -0.2};
    double guard[ALL], slope[ALL], held[ALL] = {0.1, 0, -0.9, 0.6, 0, 0.8};
    held[INNER] = choices[n / 2 % 4], held[INNER_OF_Q] = choices[n / 8 % 4];
    b.plant->ops->hold(b.plant, b.work, held);
    move_to(&b, x, v, u);
    assert_int_equal(b.plant->ops->guards(b.plant, b.work, guard), OD_OK);
    const double inner = isnan(held[INNER]) ? side : held[INNER],
                 inner_of_q = isnan(held[INNER_OF_Q]) ? side : held[INNER_OF_Q];
    const double want[ALL] = {-v, v / 0.5, 0.5 * inner + x, u[0], u[0], 2 * inner_of_q + u[1]};
    for (int i = 0; i < ALL; i++) near(guard[i], want[i], 1e-14);
    const double dx[40] = {0.11, 0.22}, du[] = {0.33, 0.44}, dp[] = {0.55};
    const double want_slope[ALL] = {-0.22, 0.44, 0.11, 0.33, 0.33, 0.55 * inner_of_q + 0.44};
    assert_int_equal(b.plant->ops->guard_slopes(b.plant, b.work, (od_point_change){.x = dx, .u = du, .p = dp}, slope),
                     OD_OK);
    for (int i = 0; i < ALL; i++) near(slope[i], want_slope[i], 1e-14);
  }
  close_bench(&b);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(values), cmocka_unit_test(jumps), cmocka_unit_test(held_laws),
                                     cmocka_unit_test(nested_jumps)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
