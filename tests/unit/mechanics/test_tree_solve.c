// Newton's matrix along the tree of bodies. Oracles: the dense matrix, column by column from the exact tangents; steps with dense
// factors; Lagrange's equations of a chain by hand; an inverted pendulum in closed form.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"
#include "math/dense.h"
#include "model/joint_types.h"
#include "oleodyn/sim.h"
#include "plant/model_plant.h"
#include "plant/model_plant_work.h"
#include "plant/newton_choice.h"
#include "support/machines.h"
#include "support/random_machine.h"

// The largest error of rows of N x = r, each relative to the sizes of its terms.
static double row_error(int n, const double *N, const double *x, const double *r) {
  double worst = 0;
  for (int i = 0; i < n; i++) {
    double sum = -r[i], size = fabs(r[i]);
    for (int j = 0; j < n; j++) sum += N[i * n + j] * x[j], size += fabs(N[i * n + j] * x[j]);
    worst = fmax(worst, fabs(sum) / (size + 1e-300));
    if (!isfinite(sum)) return INFINITY;
  }
  return worst;
}

typedef struct counts {
  int machines, lines, ground_lines, loads, states, joint_states, branches, compared;
  double worst;
} counts;

static void compare_at(const od_plant *plant, void *work, od_dice *dice, double alpha, double beta, counts *c) {
  int nk = od_plant_nk(plant);
  enum { COLUMNS = 2 };
  double *N = malloc((size_t)(nk * nk) * sizeof *N), *right = malloc((size_t)(COLUMNS * nk) * sizeof *right),
         *x = malloc((size_t)nk * sizeof *x), *r = malloc((size_t)nk * sizeof *r),
         *before = malloc((size_t)(COLUMNS * nk) * sizeof *before);
  assert_int_equal(plant->ops->step_matrix(plant, work, alpha, beta, N), OD_OK);
  // Right-hand sides of the size of the rows.
  for (int i = 0; i < nk; i++) {
    double size = 0;
    for (int j = 0; j < nk; j++) size = fmax(size, fabs(N[i * nk + j]) * plant->scale[j]);
    for (int k = 0; k < COLUMNS; k++) right[i * COLUMNS + k] = size * od_dice_uniform(dice, -1, 1);
  }
  memcpy(before, right, (size_t)(COLUMNS * nk) * sizeof *right);
  assert_int_equal(od_model_plant_tree_factors(plant, work, alpha, beta), OD_OK);
  od_model_plant_tree_solve(plant, work, right, COLUMNS);
  for (int k = 0; k < COLUMNS; k++) {
    for (int i = 0; i < nk; i++) x[i] = right[i * COLUMNS + k], r[i] = before[i * COLUMNS + k];
    double error = row_error(nk, N, x, r);
    c->worst = fmax(c->worst, error);
    c->compared++;
    // Stiff circuits have larger numbers, which cancel.
    double bound = plant->nc ? 1e-10 : 1e-12;
    if (!(error < bound)) print_error("alpha %g beta %g: %g\n", alpha, beta, error);
    assert_true(error < bound);
  }
  free(N), free(right), free(x), free(r), free(before);
}

static void count_parts(const od_model *m, counts *c) {
  c->machines++;
  int moving = od_model_moving_lines(m);
  c->lines += moving;
  for (int i = 0; i < m->actuators; i++) c->ground_lines += m->actuator[i].coordinate < 0 && !od_model_line_moves(m, i);
  c->loads += m->loads;
  c->states += m->states;
  c->joint_states += m->tree_states.own_count;
  for (int i = 2; i < m->links; i++) c->branches += m->link[i].parent > 0 && m->link[i].parent != i - 1;
}

// Compares at a random point near the start.
static void compare_plant(const od_plant *plant, uint64_t seed, counts *c) {
  od_dice dice = {seed + 99};
  int nx = od_plant_nx(plant), nk = od_plant_nk(plant);
  void *work = calloc(1, plant->work_size);
  double *x = malloc((size_t)nx * sizeof *x), *k = malloc((size_t)nk * sizeof *k), *g = malloc((size_t)nk * sizeof *g),
         u[2];
  for (int i = 0; i < 2; i++) u[i] = od_dice_uniform(&dice, -2, 2);
  assert_int_equal(plant->ops->start(plant, work, x), OD_OK);
  for (int i = 0; i < 2 * plant->nz; i++) x[i] += od_dice_uniform(&dice, -0.5, 0.5) * (i < plant->nz ? 0.1 : 4);
  for (int i = 0; i < nk; i++) k[i] = plant->scale[i] * od_dice_uniform(&dice, -3, 3);
  assert_int_equal(plant->ops->residual(plant, work, 0, x, k, u, g), OD_OK);
  const double lengths[][2] = {{0, 0}, {1e-6, 1e-3}, {1e-4, 1e-2}, {2.5e-5, 5e-3}, {0, 3e-3}, {4e-5, 0}};
  for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
    compare_at(plant, work, &dice, lengths[i][0], lengths[i][1], c);
  free(work), free(x), free(k), free(g);
  count_parts(od_model_plant_model(plant), c);
}

static void compare_near_start(const od_model *m, uint64_t seed, counts *c) {
  od_plant *plant;
  assert_int_equal(od_model_plant(m, NULL, 0, NULL, 0, &plant, NULL), OD_OK);
  compare_plant(plant, seed, c);
  od_plant_free(plant);
}

static void print_counts(const counts *c) {
  print_message(
      "%d machines, %d moving lines, %d to the ground, %d loads, %d states, %d of joints, %d branches: worst %.1e\n",
      c->machines, c->lines, c->ground_lines, c->loads, c->states, c->joint_states, c->branches, c->worst);
}

static void random_trees(bool planar, bool circuit) {
  counts c = {0};
  for (uint64_t seed = 1; c.machines < 60; seed++) {
    od_model *m = od_random_machine(seed, planar, false, circuit, false);
    if (m && od_model_can_use_tree(m)) {
      m->newton = OD_NEWTON_TREE;
      compare_near_start(m, seed, &c);
    }
    od_model_free(m);
  }
  print_counts(&c);
  assert_true(c.loads > 0 && c.branches > 0 && c.lines > 0 && (!circuit || c.states > 0));
}

static void test_planar_trees(void **state) {
  (void)state;
  random_trees(true, false);
}
static void test_spatial_trees(void **state) {
  (void)state;
  random_trees(false, false);
}
static void test_planar_trees_with_circuits(void **state) {
  (void)state;
  random_trees(true, true);
}
static void test_spatial_trees_with_circuits(void **state) {
  (void)state;
  random_trees(false, true);
}

// ---- large ones

typedef struct plan {
  od_build *build;
  od_dice dice;
  bool planar;
} plan;

static int numbers(plan *p, const char *what, int count, const double *values) {
  int first = od_build_number(p->build, what, values[0], "1");
  for (int i = 1; i < count; i++) od_build_number(p->build, what, values[i], "1");
  return first;
}
static int point(plan *p, int body, double x) {
  return od_build_point(p->build, "at", body, numbers(p, "point", 3, (double[]){x, 0, 0}), -1, 0);
}

// A body on one of the last three, with a spring and a damper if its joint has one coordinate.
static void add_branch(plan *p, int i) {
  char name[32], quantity[48];
  static const od_joint_type kinds[] = {OD_REVOLUTE, OD_REVOLUTE, OD_REVOLUTE, OD_PRISMATIC, OD_SPHERICAL};
  int kind = od_dice_pick(&p->dice, p->planar ? 4 : 5);
  int parent = i == 0 ? OD_GROUND : i - 1 - od_dice_pick(&p->dice, i < 3 ? i : 3);
  snprintf(name, sizeof name, "body%d", i);
  od_build_body(p->build, name, OD_SHAPE_CYLINDER,
                numbers(p, name, 3, (double[]){od_dice_uniform(&p->dice, 0.5, 2), 0.3, 0.1}));
  snprintf(name, sizeof name, "joint%d", i);
  od_joint_spec spec = od_joint_spec_of(kinds[kind], point(p, parent, parent == OD_GROUND ? 0 : 0.3), point(p, i, 0));
  double axis[3] = {0, 0, 1};
  if (!p->planar || kinds[kind] == OD_PRISMATIC)
    for (int k = 0; k < (p->planar ? 2 : 3); k++) axis[k] = od_dice_uniform(&p->dice, 0.2, 1);
  if (p->planar && kinds[kind] == OD_PRISMATIC) axis[2] = 0;
  if (kinds[kind] != OD_SPHERICAL) spec.axis_a = numbers(p, "axis", 3, axis);
  int joint = od_build_joint(p->build, name, &spec);
  const od_joint_class *c = od_joint_class_of(kinds[kind]);
  for (int k = 0; k < c->coordinates; k++) {
    snprintf(quantity, sizeof quantity, "%s.%s", name, c->coordinate[k].label[0]);
    od_build_initial(p->build, quantity, od_dice_uniform(&p->dice, -0.3, 0.3), false);
  }
  if (c->coordinates > 1) return;
  od_element_spec spring = od_element_spec_of("joint spring");
  spring.joint = joint;
  spring.first_number = numbers(p, "spring", 4, (double[]){od_dice_uniform(&p->dice, 5, 50), 0.5, 0, 0});
  od_build_element(p->build, "", &spring);
}

static od_model *large_tree(uint64_t seed, bool planar, int bodies, int lines) {
  plan p = {.build = od_build_new(), .dice = {seed}, .planar = planar};
  od_model *m = NULL;
  od_error error;
  od_build_gravity(p.build, numbers(&p, "gravity", 3, (double[]){0.5, -9.81, 0}));
  for (int i = 0; i < bodies; i++) add_branch(&p, i);
  for (int i = 0; i < lines; i++) {
    od_element_spec spring = od_element_spec_of("spring");
    int from = od_dice_pick(&p.dice, bodies / 2), to = bodies / 2 + od_dice_pick(&p.dice, bodies / 2);
    spring.point_a = point(&p, i == 0 ? OD_GROUND : from, 0.2), spring.point_b = point(&p, to, 0.1);
    spring.first_number = numbers(&p, "line", 4, (double[]){100, 3, 0.4, 5});
    od_build_element(p.build, "line", &spring);
  }
  od_status status = od_build_finish(p.build, &m, &error);
  if (status != OD_OK) print_error("%s\n", error.text);
  assert_int_equal(status, OD_OK);
  assert_int_equal(m->planar, planar);
  od_build_free(p.build);
  return m;
}

// The final state of a run of a model; the caller provides states (nx).
static double *run(const od_model *m, int steps, double h) {
  od_plant *plant;
  assert_int_equal(od_model_plant(m, NULL, 0, NULL, 0, &plant, NULL), OD_OK);
  assert_true((plant->ops->step_factors != NULL) == (m->newton == OD_NEWTON_TREE));
  od_sim *sim = m->newton == OD_NEWTON_TREE ? od_sim_plain_new(plant) : od_sim_new(plant);
  assert_int_equal(od_sim_start(sim, 0, NULL), OD_OK);
  bool changed;
  for (int i = 0; i < steps; i++) {
    assert_int_equal(od_sim_step(sim, h, NULL), OD_OK);
    assert_int_equal(od_sim_repartition(sim, NULL, &changed), OD_OK);
  }
  size_t size = (size_t)od_plant_nx(plant) * sizeof(double);
  double *x = malloc(size);
  memcpy(x, od_sim_state(sim), size);
  od_sim_free(sim);
  od_plant_free(plant);
  return x;
}

static void large_trees(void **state) {
  (void)state;
  for (int planar = 0; planar < 2; planar++) {
    counts c = {0};
    for (uint64_t seed = 1; seed <= 3; seed++) {
      od_model *m = large_tree(seed, planar, 40, 4);
      assert_int_equal(m->newton, OD_NEWTON_TREE);
      compare_near_start(m, seed, &c);
      double *tree = run(m, 100, 2e-3), worst = 0;
      m->newton = OD_NEWTON_DENSE;
      double *dense = run(m, 100, 2e-3);
      for (int i = 0; i < 2 * m->freedom; i++) worst = fmax(worst, fabs(tree[i] - dense[i]) / (1 + fabs(dense[i])));
      print_message("%d freedoms: states apart by %.1e after 100 steps\n", m->freedom, worst);
      assert_true(worst < 1e-8);
      free(tree), free(dense);
      od_model_free(m);
    }
    print_counts(&c);
    assert_true(c.branches > 0 && c.lines > 0 && c.ground_lines > 0);
  }
}

// ---- states: bristles in two joints of three, a cylinder between distant links, one to the ground, and sometimes a filter that drives
// a joint

enum { LINKS = 30 };

static void write_chain_with_states(FILE *to, bool blocks) {
  fprintf(to, "machine: chain\ngravity: [0, -9.81 m/s^2, 0]\nground: {points: {D: [0.5 m, -1 m, 0]}}\nbodies:\n");
  for (int i = 1; i <= LINKS; i++) fprintf(to, "  link%d: {beam: {mass: 1 kg, length: 0.2 m}}\n", i);
  fprintf(to, "joints:\n");
  for (int i = 1; i <= LINKS; i++) {
    fprintf(to, "  J%d: {type: revolute, between: [", i);
    if (i > 1)
      fprintf(to, "link%d.end", i - 1);
    else
      fprintf(to, "ground");
    fprintf(to, ", link%d.start], axis: [0, 0, 1], stiffness: 20 N m/rad", i);
    const char *numbers = "Fs: 0.3 N m, Fc: 0.2 N m, vs: 0.1 rad/s, sigma_0: 50 N m/rad, sigma_1: 0.5 N m s/rad";
    if (i % 3 == 1) fprintf(to, ", friction: {law: lugre, %s}", numbers);
    if (i % 3 == 2 && !blocks)
      fprintf(to, ", friction: {law: modified-lugre, n: 1, vb: 0.3 rad/s, tau_hp: 20 ms, tau_hn: 0.1 s, %s}", numbers);
    fprintf(to, "}\n");
  }
  fprintf(to,
          "oil: {density: 870 kg/m^3, law: constant, modulus: 1.4 GPa}\n"
          "volumes: {A: {volume: 1 L}, B: {volume: 1 L}, C: {volume: 1 L}}\ntanks: {T: {pressure: 1 bar}}\n"
          "orifices:\n  o1: {between: [A, B], area: 1 mm^2, discharge: 0.6}\n"
          "  o2: {between: [B, C], area: 2 mm^2, discharge: 0.6}\n"
          "  o3: {between: [C, T], area: 1 mm^2, discharge: 0.6}\ncylinders:\n"
          "  far: {between: [link3.middle, link12.middle], chambers: [A, B], areas: [2 cm^2, 1 cm^2],"
          " closed: 0.1 m, stroke: 4 m}\n"
          "  near: {between: [ground.D, link20.middle], chambers: [C, T], areas: [2 cm^2, 1 cm^2], closed: 0.1 m,"
          " stroke: 8 m, friction: {law: lugre, Fs: 30 N, Fc: 20 N, vs: 0.1 m/s, sigma_0: 5 kN/m}}\n");
  // Its states also depend on a pressure: they do not belong to the joint.
  fprintf(
      to,
      "brakes: {brake: {joint: J3, at: C, holding: 40 N m, deflection: 5 deg, damping: 0.5 N m s/rad, engage: 20 bar,"
      " release: 35 bar}}\n");
  if (blocks)
    fprintf(to,
            "inputs: {torque: {unit: N m, constant: 1 N m}}\n"
            "blocks: {filter: {type: first-order, input: torque, gain: 2, time_constant: 50 ms}}\n"
            "torques: {drive: {joint: J5, value: filter}}\n");
  fprintf(to, "initial:\n  A.pressure: 20 bar\n  B.pressure: 15 bar\n  C.pressure: 10 bar\n");
  for (int i = 1; i <= LINKS; i++) fprintf(to, "  J%d.angle: %.3f rad\n", i, 0.2 * cos(i));
}

static void joints_with_states(void **state) {
  (void)state;
  for (int blocks = 0; blocks < 2; blocks++) {
    char *text = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);
    write_chain_with_states(to, blocks);
    fclose(to);
    od_machine *machine = od_test_machine_text(text);
    od_plant *plant;
    assert_int_equal(od_machine_plant(machine, NULL, 0, NULL, 0, &plant, NULL), OD_OK);
    const od_model *m = od_model_plant_model(plant);
    assert_int_equal(m->newton, OD_NEWTON_TREE);
    // With blocks, which may couple any states, all of them are in the border.
    assert_int_equal(m->tree_states.own_count, blocks ? 0 : 30);
    assert_int_equal(m->tree_states.rests, m->states - m->tree_states.own_count);
    counts c = {0};
    for (uint64_t seed = 1; seed <= 5; seed++) compare_plant(plant, seed, &c);
    print_counts(&c);
    assert_true(c.lines > 0 && c.ground_lines > 0);
    od_plant_free(plant);
    od_machine_free(machine);
    free(text);
  }
}

// ---- a chain of beams that hangs on the ground, by Lagrange's equations in absolute angles a (with i, j from 1):
//
//   sum_j M_ij (cos(a_i - a_j) a_j'' + sin(a_i - a_j) a_j'^2) + (N - i + 1/2) m g l cos(a_i) = 0
//   M_ij = (N - max(i, j) + 1/2) m l^2, and M_ii = (N - i + 1/3) m l^2
enum { BEAMS = 200 };

static void beam_accelerations(const double *angle, const double *rate, double *acceleration) {
  static double M[BEAMS * BEAMS];
  static int pivot[BEAMS];
  const double m = 1, g = 9.81, l = 0.1;
  for (int i = 0; i < BEAMS; i++) {
    double sum = -(BEAMS - i - 0.5) * m * g * l * cos(angle[i]);
    for (int j = 0; j < BEAMS; j++) {
      double inertia = m * l * l * (i == j ? BEAMS - i - 2. / 3 : BEAMS - (i > j ? i : j) - 0.5);
      M[i * BEAMS + j] = inertia * cos(angle[i] - angle[j]);
      sum -= inertia * sin(angle[i] - angle[j]) * rate[j] * rate[j];
    }
    acceleration[i] = sum;
  }
  assert_int_equal(od_lu_factor(BEAMS, M, pivot), OD_OK);
  od_lu_solve(BEAMS, M, pivot, acceleration, 1);
}

static od_model *chain_of_beams(void) {
  plan p = {.build = od_build_new(), .planar = true};
  od_model *m = NULL;
  od_build_gravity(p.build, numbers(&p, "gravity", 3, (double[]){0, -9.81, 0}));
  for (int i = 0; i < BEAMS; i++) {
    char name[32];
    snprintf(name, sizeof name, "beam%d", i);
    od_build_body(p.build, name, OD_SHAPE_BEAM, numbers(&p, name, 2, (double[]){1, 0.1}));
    od_joint_spec spec =
        od_joint_spec_of(OD_REVOLUTE, i ? point(&p, i - 1, 0.1) : point(&p, OD_GROUND, 0), point(&p, i, 0));
    spec.axis_a = numbers(&p, "axis", 3, (double[]){0, 0, 1});
    snprintf(name, sizeof name, "joint%d", i);
    od_build_joint(p.build, name, &spec);
    snprintf(name, sizeof name, "joint%d.angle", i);
    od_build_initial(p.build, name, i ? 0.05 * cos(i) : -1.2, false);
  }
  assert_int_equal(od_build_finish(p.build, &m, NULL), OD_OK);
  od_build_free(p.build);
  return m;
}

static void long_chain(void **state) {
  (void)state;
  od_model *m = chain_of_beams();
  od_plant *plant;
  assert_int_equal(m->newton, OD_NEWTON_TREE);
  assert_int_equal(od_model_plant(m, NULL, 0, NULL, 0, &plant, NULL), OD_OK);
  od_sim *sim = od_sim_plain_new(plant);
  assert_int_equal(od_sim_start(sim, 0, NULL), OD_OK);
  double worst = 0;
  for (int i = 0; i <= 100; i++) {
    double angle[BEAMS], rate[BEAMS], acceleration[BEAMS], largest = 0;
    const double *x = od_sim_state(sim), *k = od_sim_rates(sim);
    for (int j = 0; j < BEAMS; j++) {
      angle[j] = x[j] + (j ? angle[j - 1] : 0);
      rate[j] = x[BEAMS + j] + (j ? rate[j - 1] : 0);
    }
    beam_accelerations(angle, rate, acceleration);
    for (int j = 0; j < BEAMS; j++) largest = fmax(largest, fabs(acceleration[j]));
    for (int j = 0; j < BEAMS; j++)
      worst = fmax(worst, fabs(acceleration[j] - (j ? acceleration[j - 1] : 0) - k[j]) / largest);
    assert_int_equal(od_sim_step(sim, 5e-4, NULL), OD_OK);
  }
  print_message("chain of %d beams: accelerations differ by %.1e from Lagrange's equations\n", BEAMS, worst);
  assert_true(worst < 1e-8);
  // Memory grows with the number of beams, not with its square.
  assert_true(od_sim_bytes(sim) < BEAMS * 4000);
  od_sim_free(sim);
  od_plant_free(plant);
  od_model_free(m);
}

// ---- limits of the method

// An inverted pendulum, M - alpha m g l / 2 with M = m l^2 / 3: the pivot is zero at alpha = 2 l / (3 g).
static void singular(void **state) {
  (void)state;
  plan p = {.build = od_build_new(), .planar = true};
  od_model *m = NULL;
  od_plant *plant;
  od_build_gravity(p.build, numbers(&p, "gravity", 3, (double[]){0, -9.81, 0}));
  od_build_body(p.build, "beam", OD_SHAPE_BEAM, numbers(&p, "beam", 2, (double[]){2, 0.7}));
  od_joint_spec spec = od_joint_spec_of(OD_REVOLUTE, point(&p, OD_GROUND, 0), point(&p, 0, 0));
  spec.axis_a = numbers(&p, "axis", 3, (double[]){0, 0, 1});
  od_build_joint(p.build, "joint", &spec);
  od_build_initial(p.build, "joint.angle", 1.57079632679489662, false);
  assert_int_equal(od_build_finish(p.build, &m, NULL), OD_OK);
  od_build_free(p.build);
  assert_int_equal(m->newton, OD_NEWTON_DENSE);  // it is small
  m->newton = OD_NEWTON_TREE;
  assert_int_equal(od_model_plant(m, NULL, 0, NULL, 0, &plant, NULL), OD_OK);
  void *work = calloc(1, plant->work_size);
  double x[2], k = 0, g, alpha = 2 * 0.7 / (3 * 9.81), right = 1;
  assert_int_equal(plant->ops->start(plant, work, x), OD_OK);
  assert_int_equal(plant->ops->residual(plant, work, 0, x, &k, NULL, &g), OD_OK);
  assert_int_equal(plant->ops->step_factors(plant, work, alpha, 0), OD_SINGULAR);
  assert_int_equal(plant->ops->step_factors(plant, work, NAN, 0), OD_NOT_FINITE);
  assert_int_equal(plant->ops->step_factors(plant, work, 0.5 * alpha, 0), OD_OK);
  plant->ops->step_solve(plant, work, &right, 1);
  assert_true(fabs(right - 2 / (2 * 0.7 * 0.7 / 3)) < 1e-13 * right);
  free(work);
  od_plant_free(plant);
  od_model_free(m);
}

static void choices(void **state) {
  (void)state;
  // Loops, blocks that measure, a border as large as the machine.
  od_model *m = large_tree(5, true, 40, 4), *bordered = large_tree(5, true, 40, 30), *small = large_tree(5, true, 8, 0);
  assert_int_equal(m->newton, OD_NEWTON_TREE);
  assert_int_equal(bordered->newton, OD_NEWTON_DENSE);
  assert_int_equal(small->newton, OD_NEWTON_DENSE);
  m->measures = 1;
  assert_false(od_model_prefers_tree(m));
  m->measures = 0, m->rows = 1;
  assert_false(od_model_prefers_tree(m));
  od_model_free(m), od_model_free(bordered), od_model_free(small);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_planar_trees),
      cmocka_unit_test(test_spatial_trees),
      cmocka_unit_test(test_planar_trees_with_circuits),
      cmocka_unit_test(test_spatial_trees_with_circuits),
      cmocka_unit_test(large_trees),
      cmocka_unit_test(joints_with_states),
      cmocka_unit_test(long_chain),
      cmocka_unit_test(singular),
      cmocka_unit_test(choices),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
