// Plants around a plant: calibrated sensors and tied parameters, on random machines with loops, circuits, blocks and samples.
//
// Oracle: the plant inside, as a plant of its own with the same motion, and the chain rule by hand: y = scale h + bias, p = f(q). Compared are
// outputs, all derivatives, transitions of steps, samples and changes of coordinates.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"
#include "integrate/sim_block.h"
#include "plant/inner_plant.h"
#include "support/machines.h"
#include "support/random_machine.h"

enum { PARAMETERS = 3, MOST_TIES = 5, OUTPUTS = 24, ITEMS = 4, MACHINES = 8 };

// ---- ties: p_i = base_i (1 + sum_j a_ij (q_j - j) + (q_0 - 0) (q_last - last) / 5), q_j = j at the start

typedef struct tie {
  int count;
  double base[PARAMETERS];
} tie;
static double weight(int i, int j) {
  return 0.1 * (1 + i) - 0.07 * j;
}
static void follow(const void *user, const double *q, double *p, double *slope) {
  const tie *t = user;
  int last = t->count - 1;
  for (int i = 0; i < PARAMETERS; i++) {
    p[i] = 1 + q[0] * (q[last] - last) / 5;
    for (int j = 0; j < t->count; j++) p[i] += weight(i, j) * (q[j] - j);
    p[i] *= t->base[i];
    for (int j = 0; j < t->count; j++) slope[i * t->count + j] = t->base[i] * weight(i, j);
    slope[i * t->count] += t->base[i] * (q[last] - last) / 5;
    slope[i * t->count + last] += t->base[i] * q[0] / 5;
  }
}

// ---- comparisons

typedef struct pair {
  od_plant *inner, *outer;
  od_sim *in, *out;
  int nq;                                       // parameters of the outer plant
  double S[PARAMETERS * (PARAMETERS + ITEMS)];  // dp/dq
  double scale[OUTPUTS], bias[OUTPUTS];         // y = scale h + bias
  int by_scale[OUTPUTS], by_bias[OUTPUTS];      // the parameter that is the scale or the bias; -1: none
} pair;

static const double u0[4] = {0.4, -0.3}, u1[4] = {0.45, -0.33};

static double largest(const double *a, size_t count) {
  double size = 0;
  for (size_t i = 0; i < count; i++) size = fmax(size, fabs(a[i]));
  return size;
}
static void close_to(const double *got, const double *want, size_t rows, size_t columns) {
  for (size_t i = 0; i < rows; i++) {
    double size = largest(want + i * columns, columns);
    for (size_t j = 0; j < columns; j++) near(got[i * columns + j], want[i * columns + j], 1e-9 * size + 1e-14);
  }
}
// by_q = by_p S
static double *chain(const pair *p, const double *by_p, size_t rows) {
  double *by_q = calloc(rows * (size_t)p->nq + 1, sizeof *by_q);
  for (size_t i = 0; i < rows; i++)
    for (int j = 0; j < p->nq; j++)
      for (int k = 0; k < PARAMETERS; k++)
        by_q[i * (size_t)p->nq + (size_t)j] += by_p[i * PARAMETERS + (size_t)k] * p->S[k * p->nq + j];
  return by_q;
}
static void close_by_chain(const pair *p, const double *got, const double *by_p, size_t rows) {
  double *want = chain(p, by_p, rows);
  close_to(got, want, rows, (size_t)p->nq);
  free(want);
}

// All arrays of a simulation that has nq parameters.
typedef struct numbers {
  double *f, *fx, *fu, *fp, *y, *hx, *hu, *hp, *F, *G0, *G1, *Gp, *map, *map_p;
} numbers;
static numbers numbers_for(const od_plant *plant) {
  size_t nx = (size_t)od_plant_nx(plant), nu = (size_t)plant->nu, np = (size_t)plant->np, ny = (size_t)plant->ny;
  numbers n;
  const struct {
    double **to;
    size_t count;
  } parts[] = {{&n.f, nx},       {&n.fx, nx * nx}, {&n.fu, nx * nu},  {&n.fp, nx * np},   {&n.y, ny},
               {&n.hx, ny * nx}, {&n.hu, ny * nu}, {&n.hp, ny * np},  {&n.F, nx * nx},    {&n.G0, nx * nu},
               {&n.G1, nx * nu}, {&n.Gp, nx * np}, {&n.map, nx * nx}, {&n.map_p, nx * np}};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
    *parts[i].to = malloc((parts[i].count + 1) * sizeof(double));
    for (size_t k = 0; k <= parts[i].count; k++) (*parts[i].to)[k] = NAN;
  }
  return n;
}
static void free_numbers(numbers n) {
  double *all[] = {n.f, n.fx, n.fu, n.fp, n.y, n.hx, n.hu, n.hp, n.F, n.G0, n.G1, n.Gp, n.map, n.map_p};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
}

static void compare_point(const pair *p) {
  numbers a = numbers_for(p->inner), b = numbers_for(p->outer);
  size_t nx = (size_t)od_plant_nx(p->inner), nu = (size_t)p->inner->nu, ny = (size_t)p->inner->ny, nq = (size_t)p->nq;
  assert_int_equal(od_sim_derivatives(p->in, a.f, a.fx, a.fu, a.fp), OD_OK);
  assert_int_equal(od_sim_derivatives(p->out, b.f, b.fx, b.fu, b.fp), OD_OK);
  close_to(b.f, a.f, 1, nx);
  close_to(b.fx, a.fx, nx, nx);
  close_to(b.fu, a.fu, nx, nu);
  close_by_chain(p, b.fp, a.fp, nx);
  assert_int_equal(od_sim_outputs(p->in, a.y), OD_OK);
  assert_int_equal(od_sim_outputs(p->out, b.y), OD_OK);
  // The innermost plant has its own work memory within that of the outer plant.
  void *work = od_sim_work(p->out);
  const od_plant *innermost = od_innermost_plant(p->outer, &work);
  assert_int_equal(innermost->ny, ny);
  double *y = calloc(ny + 1, sizeof *y);
  assert_int_equal(innermost->ops->outputs(innermost, work, od_sim_energy(p->out), y), OD_OK);
  close_to(y, a.y, 1, ny);
  free(y);
  assert_int_equal(od_sim_output_jacobians(p->in, a.hx, a.hu, a.hp), OD_OK);
  assert_int_equal(od_sim_output_jacobians(p->out, b.hx, b.hu, b.hp), OD_OK);
  double *hq = chain(p, a.hp, ny);
  for (size_t i = 0; i < ny; i++) {
    near(b.y[i], p->scale[i] * a.y[i] + p->bias[i], 1e-12 * (fabs(a.y[i]) + 1e-3));
    for (size_t j = 0; j < nx; j++) a.hx[i * nx + j] *= p->scale[i];
    for (size_t j = 0; j < nu; j++) a.hu[i * nu + j] *= p->scale[i];
    for (size_t j = 0; j < nq; j++) hq[i * nq + j] *= p->scale[i];
    if (p->by_scale[i] >= 0) hq[i * nq + (size_t)p->by_scale[i]] += a.y[i];
    if (p->by_bias[i] >= 0) hq[i * nq + (size_t)p->by_bias[i]] += 1;
  }
  close_to(b.hx, a.hx, ny, nx);
  close_to(b.hu, a.hu, ny, nu);
  close_to(b.hp, hq, ny, nq);
  // Some rows only, and some columns only.
  unsigned char wanted[OUTPUTS] = {0};
  for (size_t i = 0; i < ny; i += 3) wanted[i] = 1;
  double *rows = calloc(ny * nq + 1, sizeof *rows);
  assert_int_equal(od_sim_output_rows(p->out, wanted, NULL, NULL, rows), OD_OK);
  for (size_t i = 0; i < ny; i += 3) close_to(rows + i * nq, hq + i * nq, 1, nq);
  free(rows);
  free(hq);
  free_numbers(a), free_numbers(b);
}

static int samples, changes;

static void compare_step(const pair *p, double h) {
  numbers a = numbers_for(p->inner), b = numbers_for(p->outer);
  size_t nx = (size_t)od_plant_nx(p->inner), nu = (size_t)p->inner->nu;
  od_status status = od_sim_step_with_jacobians(p->in, h, u1, a.F, a.G0, a.G1, a.Gp);
  assert_int_equal(od_sim_step_with_jacobians(p->out, h, u1, b.F, b.G0, b.G1, b.Gp), status);
  if (status == OD_OK) {
    close_to(b.F, a.F, nx, nx);
    close_to(b.G0, a.G0, nx, nu);
    close_to(b.G1, a.G1, nx, nu);
    close_by_chain(p, b.Gp, a.Gp, nx);
    bool changed[2];
    assert_true(od_sim_next_sample(p->in) == od_sim_next_sample(p->out));
    status = od_sim_sample(p->in, a.map, a.map_p, &changed[0]);
    assert_int_equal(od_sim_sample(p->out, b.map, b.map_p, &changed[1]), status);
    assert_int_equal(changed[0], changed[1]);
    if (changed[0]) {
      samples++;
      close_to(b.map, a.map, nx, nx);
      close_by_chain(p, b.map_p, a.map_p, nx);
    }
    status = od_sim_repartition_with_parameters(p->in, a.map, a.map_p, &changed[0]);
    assert_int_equal(od_sim_repartition_with_parameters(p->out, b.map, b.map_p, &changed[1]), status);
    assert_int_equal(changed[0], changed[1]);
    if (status == OD_OK && changed[0]) {
      changes++;
      close_to(b.map, a.map, nx, nx);
      close_by_chain(p, b.map_p, a.map_p, nx);
    }
    int guards = od_plant_guards(p->inner);
    if (guards) {
      double *g = calloc(2 * (size_t)guards, sizeof *g);
      assert_int_equal(od_sim_guards(p->in, g), OD_OK);
      assert_int_equal(od_sim_guards(p->out, g + guards), OD_OK);
      close_to(g + guards, g, (size_t)guards, 1);
      free(g);
    }
  }
  free_numbers(a), free_numbers(b);
}

// Sets the parameters, and follows both plants.
static void compare(pair *p, const double *q, const double *inner_values, double h, int steps) {
  double now[PARAMETERS + ITEMS];
  p->in = od_sim_new(p->inner), p->out = od_sim_new(p->outer);
  for (int i = 0; i < p->inner->ny; i++) p->scale[i] = p->scale[i] == 0 ? 1 : p->scale[i];
  assert_int_equal(od_sim_start(p->in, 0, u0), OD_OK);
  assert_int_equal(od_sim_start(p->out, 0, u0), OD_OK);
  close_to(od_sim_state(p->out), od_sim_state(p->in), 1, (size_t)od_plant_nx(p->inner));
  if (od_sim_set_parameters(p->in, inner_values) == OD_OK) {
    assert_int_equal(od_sim_set_parameters(p->out, q), OD_OK);
    od_sim_parameters(p->out, now);
    for (int i = 0; i < p->nq; i++) assert_true(now[i] == q[i]);
    compare_point(p);
    for (int k = 0; k < steps; k++) compare_step(p, h);
    compare_point(p);
  }
  od_sim_free(p->in), od_sim_free(p->out);
}

// The work memory of a tied plant: q, p and a direction of p, dp/dq, inner columns of states or outputs, of rates by states or parameters, outputs
// with and without rates, and the memory of the inner plant. Each area begins at a multiple of 16 bytes.
static void check_tied_size(const od_plant *inner, const od_plant *outer) {
  size_t nx = (size_t)od_plant_nx(inner), nk = (size_t)od_plant_nk(inner), ny = (size_t)inner->ny,
         np = (size_t)inner->np, nq = (size_t)outer->np, sum = 0;
  const size_t doubles[] = {nq, np, np, np * nq, (nx > ny ? nx : ny) * np, nk * (nx > np ? nx : np), ny * nx, ny * nx};
  for (int i = 0; i < 8; i++) sum += (doubles[i] * sizeof(double) + 15) / 16 * 16;
  assert_int_equal(outer->work_size, sum + (inner->work_size + 15) / 16 * 16);
}

static void check_tied(od_plant *inner, od_plant *second, int count, double h, int steps) {
  pair p = {.inner = inner, .nq = count};
  tie own = {.count = count};
  double start[MOST_TIES], q[MOST_TIES], values[PARAMETERS], slope[PARAMETERS * MOST_TIES];
  od_sim *s = od_sim_new(inner);
  assert_int_equal(od_sim_start(s, 0, u0), OD_OK);
  od_sim_parameters(s, own.base);
  od_sim_free(s);
  for (int j = 0; j < count; j++) start[j] = j, q[j] = j + 1e-3 * (j + 1);
  follow(&own, q, values, slope);
  for (int i = 0; i < PARAMETERS * count; i++) p.S[i] = slope[i];
  for (int i = 0; i < OUTPUTS; i++) p.by_scale[i] = p.by_bias[i] = -1;
  const od_tie t = {.count = count, .start = start, .user = &own, .follow = follow};
  assert_int_equal(od_plant_tied(second, &t, &p.outer, NULL), OD_OK);
  check_tied_size(inner, p.outer);
  od_sim *fresh = od_sim_new(p.outer);
  assert_int_equal(od_sim_start(fresh, 0, u0), OD_OK);
  double first[MOST_TIES];
  od_sim_parameters(fresh, first);
  for (int j = 0; j < count; j++) assert_true(first[j] == start[j]);
  od_sim_free(fresh);
  compare(&p, q, values, h, steps);
  od_plant_free(p.outer);
}

static void check_calibrated(od_plant *inner, od_plant *second, double h, int steps) {
  pair p = {.inner = inner, .nq = PARAMETERS + ITEMS};
  int last = inner->ny - 1;
  const od_calibration item[ITEMS] = {
      {1, OD_CALIBRATE_SCALE}, {last, OD_CALIBRATE_BIAS}, {1, OD_CALIBRATE_BIAS}, {0, OD_CALIBRATE_SCALE}};
  double q[PARAMETERS + ITEMS], values[PARAMETERS];
  for (int i = 0; i < OUTPUTS; i++) p.by_scale[i] = p.by_bias[i] = -1;
  p.by_scale[1] = PARAMETERS, p.by_bias[last] = PARAMETERS + 1, p.by_bias[1] = PARAMETERS + 2,
  p.by_scale[0] = PARAMETERS + 3;
  p.scale[1] = q[PARAMETERS] = 1.3, p.bias[last] = q[PARAMETERS + 1] = 0.7, p.bias[1] = q[PARAMETERS + 2] = -0.4;
  p.scale[0] = q[PARAMETERS + 3] = 0.8;
  for (int i = 0; i < PARAMETERS; i++) p.S[i * p.nq + i] = 1;
  od_sim *s = od_sim_new(inner);
  assert_int_equal(od_sim_start(s, 0, u0), OD_OK);
  od_sim_parameters(s, values);
  od_sim_free(s);
  for (int i = 0; i < PARAMETERS; i++) q[i] = values[i] *= 1.001;
  assert_int_equal(od_plant_calibrated(second, item, ITEMS, &p.outer, NULL), OD_OK);
  compare(&p, q, values, h, steps);
  od_plant_free(p.outer);
}

static void random_machines(void **state) {
  (void)state;
  int made = 0;
  for (unsigned long long seed = 1; made < MACHINES; seed++) {
    od_model *m = od_random_machine(seed, seed % 2, seed % 3 == 0, seed % 4 != 1, seed % 2);
    if (!m || 2 * m->freedom + m->states > 40) {
      od_model_free(m);
      continue;
    }
    made++;
    int out[OUTPUTS], count = m->outputs < OUTPUTS ? m->outputs : OUTPUTS,
                      parameter[PARAMETERS] = {0, 1, m->numbers - 1};
    while (m->planar && strcmp(od_number_path(m, parameter[2]), "axis") == 0) parameter[2]--;  // not a parameter
    for (int i = 0; i < count; i++) out[i] = (int)((long)i * m->outputs / count);
    od_plant *plant[3];
    for (int i = 0; i < 3; i++)
      assert_int_equal(od_model_plant(m, out, count, parameter, PARAMETERS, &plant[i], NULL), OD_OK);
    od_sim *s = od_sim_new(plant[0]);
    bool starts = od_sim_start(s, 0, u0) == OD_OK;
    od_sim_free(s);
    if (starts) {
      check_tied(plant[0], plant[1], 2 + made % 2, 1e-5, 4);
      check_calibrated(plant[0], plant[2], 1e-5, 4);
    } else {
      made--;
      od_plant_free(plant[1]), od_plant_free(plant[2]);
    }
    od_plant_free(plant[0]);
    od_model_free(m);
  }
}

static od_plant *plant_with(const od_machine *machine, const char *const *names, int count, const char *const *paths) {
  int out[OUTPUTS], parameter[PARAMETERS];
  for (int i = 0; i < count; i++) out[i] = od_test_output(machine, names[i]);
  for (int i = 0; i < PARAMETERS; i++) {
    parameter[i] = od_machine_number_find(machine, paths[i]);
    assert_true(parameter[i] >= 0);
  }
  od_plant *plant;
  assert_int_equal(od_machine_plant(machine, out, count, parameter, PARAMETERS, &plant, NULL), OD_OK);
  return plant;
}

// A slider-crank through a dead point: its coordinates change. It has two states, fewer than tied parameters, and outputs that depend on rates.
static void change_of_coordinates(void **state) {
  (void)state;
  static const char *const names[] = {"guide.position", "main.rate", "guide.acceleration", "main.angle"};
  static const char *const paths[] = {"crank.beam.length", "rod.beam.mass", "rod.beam.length"};
  od_machine *machine = od_test_machine("cases/slider-crank/slider-first.yaml", NULL);
  changes = 0;
  for (int kind = 0; kind < 2; kind++) {
    od_plant *one = plant_with(machine, names, 4, paths), *two = plant_with(machine, names, 4, paths);
    if (kind)
      check_tied(one, two, MOST_TIES, 2e-3, 400);
    else
      check_calibrated(one, two, 2e-3, 400);
    od_plant_free(one);
  }
  assert_true(changes >= 2);
  od_machine_free(machine);
}

// A digital controller: samples, whose new states depend on parameters.
static void sampled(void **state) {
  (void)state;
  static const char *const names[] = {"rail.position", "control", "seen", "rail.acceleration"};
  static const char *const paths[] = {"control.kp", "load.point.mass", "control.ki"};
  od_machine *machine = od_test_machine("tests/cases/machines/sampled.yaml", NULL);
  samples = 0;
  for (int kind = 0; kind < 2; kind++) {
    od_plant *one = plant_with(machine, names, 4, paths), *two = plant_with(machine, names, 4, paths);
    if (kind)
      check_tied(one, two, 2, 5e-4, 12);
    else
      check_calibrated(one, two, 5e-4, 12);
    od_plant_free(one);
  }
  assert_true(samples >= 4);
  od_machine_free(machine);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(change_of_coordinates),
      cmocka_unit_test(random_machines),
      cmocka_unit_test(sampled),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
