// Changes of coordinates during a run: the slider-crank with its slider as coordinate changes it at every dead point,
// the spherical pendulum changes its reference rotation.
//
// Oracles: the same machine with its crank as coordinate (no change needed), and outputs, which do not depend on
// coordinates: a tangent vector must give the same change of all outputs before and after its transformation.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"

#include "filters/complex_step.h"
#include "oracle/slider_crank.h"
#include "integrate/sim_block.h"
#include "math/dense.h"
#include "plant/model_plant.h"
#include "plant/model_plant_work.h"
#include "support/machines.h"
#include "support/random_machine.h"

enum { MOST_OUTPUTS = 4096, MOST_STATES = 160 };

static const double pi = 3.14159265358979323846;

// Runge-Kutta with steps so small that its own error does not matter: near a dead point errors in the slider's
// coordinate are magnified.
static void step(od_test_run *r, double h, int count) {
  bool changed;
  od_sim_set_integrator(r->sim, od_integrator_find("rk4"));
  for (int i = 0; i < count; i++) {
    assert_int_equal(od_sim_repartition(r->sim, NULL, &changed), OD_OK);
    assert_int_equal(od_sim_step(r->sim, h, NULL), OD_OK);
  }
}

// A motor (20 N m minus 2 N m s times the speed) holds the speed, so that errors do not accumulate in the phase.
static void hundred_revolutions(void **state) {
  (void)state;
  static const char *const drive = "main.preload=-20 N m", *const brake = "main.damping=2 N m s/rad";
  static const char *const outputs[] = {"main.angle", "guide.position", "main.rate"};
  od_test_run crank = od_test_begin(od_test_machine("cases/slider-crank/machine.yaml", drive, brake, NULL), outputs[0],
                                    outputs[1], outputs[2], NULL);
  od_test_run slider = od_test_begin(od_test_machine("cases/slider-crank/slider-first.yaml", drive, brake, NULL),
                                     outputs[0], outputs[1], outputs[2], NULL);
  double worst = 0, y[3], x[3];
  long fewest = 1000, at_last_turn = 0;
  od_sim_outputs(crank.sim, y);
  double first = y[0];
  for (int turn = 0, i = 0; turn < 100 && i < 100000; i++) {
    step(&crank, 1e-4, 20);
    step(&slider, 1e-4, 20);
    od_sim_outputs(crank.sim, y);
    od_sim_outputs(slider.sim, x);
    for (int k = 0; k < 3; k++) worst = fmax(worst, fabs(x[k] - y[k]));
    if (y[0] < first + 2 * pi * (turn + 1)) continue;
    long now = od_sim_count(slider.sim).repartitions;
    if (now - at_last_turn < fewest) fewest = now - at_last_turn;
    at_last_turn = now;
    turn++;
  }
  print_message("100 revolutions: largest difference %.2g, at least %ld changes of coordinates in each\n", worst,
                fewest);
  assert_true(y[0] > first + 200 * pi);
  assert_true(worst < 1e-8);
  assert_true(fewest >= 2);
  assert_int_equal(od_sim_count(crank.sim).repartitions, 0);
  od_test_end(&crank);
  od_test_end(&slider);
}

// The engine against the closed form of the slider-crank, through dead points, in the slider's coordinate.
static void closed_form(void **state) {
  (void)state;
  oracle_slider_crank m = {
      .crank_mass = 2, .crank_length = 0.2, .rod_mass = 1, .rod_length = 0.6, .slider_mass = 3, .gravity = 9.81};
  oracle_slider_crank_sample *s = malloc(501 * sizeof *s);
  oracle_slider_crank_run(&m, pi / 4, 10, 4e-3, 500, 8, s);
  od_test_run r = od_test_begin(od_test_machine("cases/slider-crank/slider-first.yaml", NULL), "main.angle",
                                "main.rate", "guide.position", "guide.rate", NULL);
  double y[4], worst = 0;
  for (int i = 1; i <= 500; i++) {
    step(&r, 1e-4, 40);
    od_sim_outputs(r.sim, y);
    const double want[4] = {s[i].angle, s[i].rate, s[i].slider, s[i].slider_rate};
    for (int k = 0; k < 4; k++) worst = fmax(worst, fabs(y[k] - want[k]));
  }
  print_message("largest difference from the closed form over 2 s: %.2g, %ld changes of coordinates\n", worst,
                od_sim_count(r.sim).repartitions);
  assert_true(worst < 1e-8);
  assert_true(od_sim_count(r.sim).repartitions > 4);
  free(s);
  od_test_end(&r);
}

// Compares the effect of a tangent vector on all outputs before and after a change of coordinates. Returns 1 after a
// change, 0 if none was needed, -1 if the machine is in a singular position.
static int carry_tangent(od_sim *sim, const od_plant *plant, od_dice *dice, double *worst) {
  if (!plant->ops->wants_repartition(plant, od_sim_work(sim))) return 0;
  int nx = od_plant_nx(plant), ny = plant->ny, np = plant->np;
  bool changed;
  double before[MOST_STATES], after[MOST_STATES], map[MOST_STATES * MOST_STATES], moved[16], map_p[MOST_STATES * 16];
  double *hp = malloc((size_t)(ny * np + 1) * sizeof *hp), *hx = malloc((size_t)(ny * nx) * sizeof *hx),
         *dy = malloc((size_t)ny * sizeof *dy);
  double *y0 = malloc((size_t)ny * sizeof *y0), *y1 = malloc((size_t)ny * sizeof *y1);
  od_status status = od_sim_output_jacobians(sim, hx, NULL, np ? hp : NULL);
  if (status == OD_SINGULAR) {
    free(hp), free(hx), free(dy), free(y0), free(y1);
    return -1;
  }
  assert_int_equal(status, OD_OK);
  for (int i = 0; i < nx; i++) before[i] = od_dice_uniform(dice, -1, 1);
  for (int i = 0; i < np; i++) moved[i] = od_dice_uniform(dice, -1, 1);
  od_sim_outputs(sim, y0);
  double scale = 1;
  for (int i = 0; i < ny; i++) {
    dy[i] = 0;
    for (int j = 0; j < nx; j++) dy[i] += hx[i * nx + j] * before[j], scale = fmax(scale, fabs(hx[i * nx + j]));
    for (int j = 0; j < np; j++) dy[i] += hp[i * np + j] * moved[j], scale = fmax(scale, fabs(hp[i * np + j]));
  }
  // Free bodies that are very far away are not compared.
  if (!(scale < 1e9)) {
    free(hp), free(hx), free(dy), free(y0), free(y1);
    return -1;
  }
  assert_int_equal(od_sim_repartition_with_parameters(sim, map, map_p, &changed), OD_OK);
  if (changed) {
    for (int i = 0; i < nx; i++) {
      after[i] = 0;
      for (int j = 0; j < nx; j++) after[i] += map[i * nx + j] * before[j];
      for (int j = 0; j < np; j++) after[i] += map_p[i * np + j] * moved[j];
    }
    assert_int_equal(od_sim_output_jacobians(sim, hx, NULL, np ? hp : NULL), OD_OK);
    od_sim_outputs(sim, y1);
    for (int i = 0; i < ny; i++) {
      double got = 0;
      for (int j = 0; j < nx; j++) got += hx[i * nx + j] * after[j];
      for (int j = 0; j < np; j++) got += hp[i * np + j] * moved[j];
      *worst = fmax(*worst, fabs(got - dy[i]) / scale);
      *worst = fmax(*worst, fabs(y1[i] - y0[i]) / (1 + fabs(y0[i])));
    }
  }
  free(hp), free(hx), free(dy), free(y0), free(y1);
  return changed;
}

static void check_tangents(const od_integrator *integrator) {
  od_test_run r = od_test_begin(od_test_machine("cases/slider-crank/slider-first.yaml", NULL), "main.angle",
                                "main.rate", "main.acceleration", "guide.position", "guide.rate", "rod.middle.vx",
                                "rod.middle.ay", "energy.kinetic", "energy.potential", NULL);
  od_sim_set_integrator(r.sim, integrator);
  od_dice dice = {4711};
  double worst = 0;
  int changes = 0;
  for (int i = 0; i < 2000; i++) {
    assert_int_equal(od_sim_step(r.sim, 1e-3, NULL), OD_OK);
    changes += carry_tangent(r.sim, r.plant, &dice, &worst);
  }
  print_message("%d changes, tangents carried over to %.2g\n", changes, worst);
  assert_true(changes >= 4);
  assert_true(worst < 1e-10);
  od_test_end(&r);
}

static void tangents_are_carried_over(void **state) {
  (void)state;
  for (int i = 0; od_integrator_at(i); i++) check_tangents(od_integrator_at(i));
}

// A step by complex steps after a change, against the exact derivatives of the step: the complex memory has the new reference rotations.
static double complex_step_error(const od_sim *sim, const od_plant *plant, const double *u) {
  int nx = od_plant_nx(plant);
  size_t size = od_sim_size(plant);
  od_sim *copy = malloc(size);
  void *memory = calloc(1, od_sim_complex_size(plant));
  double F[MOST_STATES * MOST_STATES], exact[MOST_STATES * MOST_STATES], error = 0, scale = 1;
  memcpy(copy, sim, size);
  bool done = od_sim_step_with_jacobians(copy, 1e-4, u, exact, NULL, NULL, NULL) == OD_OK;
  memcpy(copy, sim, size);
  if (done) assert_int_equal(od_sim_step_with_complex_steps(copy, 1e-4, u, memory, F, NULL), OD_OK);
  for (int k = 0; done && k < nx * nx; k++)
    error = fmax(error, fabs(F[k] - exact[k])), scale = fmax(scale, fabs(exact[k]));
  free(copy);
  free(memory);
  return error / scale;
}

// Random spatial machines with spherical joints and loops, with initial rotation; some of their numbers are parameters.
static void charts_are_carried_over(void **state) {
  (void)state;
  double worst = 0, worst_step = 0;
  int changes = 0;
  for (unsigned seed = 1; seed <= 200; seed++) {
    od_model *m = od_random_machine(seed, false, seed % 2, seed % 3 == 0, false);
    if (!m) continue;
    int outputs[MOST_OUTPUTS], count = 0;
    assert_true(m->outputs <= MOST_OUTPUTS);
    for (int i = 0; i < m->outputs; i++)
      if (!od_model_output_has_rates(m, &m->output[i])) outputs[count++] = i;
    od_plant *plant = NULL;
    od_dice dice = {seed};
    // With redundant closure equations a changed axis would open the loop: no parameters there.
    int parameters[6], parameter_count = m->rows == m->coordinates - m->freedom ? 6 : 0;
    for (int i = 0; i < 6; i++) parameters[i] = od_dice_pick(&dice, m->numbers);
    assert_int_equal(od_model_plant(m, outputs, count, parameters, parameter_count, &plant, NULL), OD_OK);
    od_sim *sim = od_sim_new(plant);
    double u[2] = {1, -1}, x[MOST_STATES];
    assert_int_equal(od_sim_start(sim, 0, u), OD_OK);
    memcpy(x, od_sim_state(sim), (size_t)od_plant_nx(plant) * sizeof *x);
    for (int i = plant->nz; i < 2 * plant->nz; i++) x[i] = od_dice_uniform(&dice, -3, 3);
    if (od_sim_set(sim, 0, x, u) == OD_OK)
      for (int i = 0, carried = 0; i < 400 && carried >= 0 && od_sim_step(sim, 2e-3, u) == OD_OK; i++) {
        carried = carry_tangent(sim, plant, &dice, &worst);
        changes += carried > 0;
        if (carried > 0 && changes % 5 == 0) worst_step = fmax(worst_step, complex_step_error(sim, plant, u));
      }
    od_sim_free(sim);
    od_plant_free(plant);
    od_model_free(m);
  }
  print_message("%d changes, tangents carried over to %.2g, complex steps to %.2g\n", changes, worst, worst_step);
  assert_true(changes >= 50);
  assert_true(worst_step < 1e-8);
  assert_true(worst < 1e-10);
}

// ---- exchanges

// The closure Jacobian of all rows, at the last point.
static void dense_jacobian(const od_model *m, const double *entries, double *J) {
  memset(J, 0, (size_t)(m->rows * m->coordinates) * sizeof *J);
  for (int i = 0; i < m->closures; i++) {
    const od_closure *c = &m->closure[i];
    for (int k = 0; k < c->rows; k++)
      for (int e = 0; e < c->path_count; e++)
        J[(c->row + k) * m->coordinates + m->link[m->path_step[c->path + e].link].coordinate] =
            entries[c->entry + k * c->path_count + e];
  }
}

// R = -Phi_dep^-1 Phi_ind of a choice of coordinates, by dense factors; false: it is singular. Returns its largest weighted entry.
static bool dense_map(const od_model *m, const double *J, const int *in, double *R, double *largest) {
  const od_layout *l = &m->layout;
  int rank = od_partition_rank(m), n = m->coordinates, freedom = m->freedom, pivot[MOST_STATES];
  double *dep = malloc((size_t)(rank * rank) * sizeof *dep);
  for (int i = 0; i < rank; i++) {
    const double *row = J + in[l->kept_row + i] * n;
    for (int j = 0; j < rank; j++) dep[i * rank + j] = row[in[l->dependent + j]];
    for (int k = 0; k < freedom; k++) R[i * freedom + k] = -row[in[l->independent + k]];
  }
  bool regular = od_lu_factor(rank, dep, pivot) == OD_OK;
  if (regular) od_lu_solve(rank, dep, pivot, R, freedom);
  *largest = 0;
  for (int i = 0; regular && i < rank; i++)
    for (int k = 0; k < freedom; k++)
      *largest = fmax(*largest, fabs(R[i * freedom + k]) * m->coordinate_weight[in[l->independent + k]] /
                                    m->coordinate_weight[in[l->dependent + i]]);
  free(dep);
  return regular;
}

// Exchanges from any non-singular choice lead to one whose map has no weighted entry above 1. Oracle: the map by dense factors
// of the whole Jacobian.
static void exchanges_end_well(void **state) {
  (void)state;
  int tried = 0, bad = 0, several = 0;
  for (unsigned seed = 1; seed <= 120; seed++) {
    od_model *m = od_random_machine(seed, seed % 2, true, false, false);
    if (!m) continue;
    const od_layout *l = &m->layout;
    od_plant *plant = NULL;
    assert_int_equal(od_model_plant(m, NULL, 0, NULL, 0, &plant, NULL), OD_OK);
    int rank = od_partition_rank(m), freedom = m->freedom;
    double *x = calloc((size_t)od_plant_nx(plant), sizeof *x),
           *memory = calloc(od_partition_doubles(m), sizeof *memory),
           *J = calloc((size_t)(m->rows * m->coordinates + 1), sizeof *J),
           *R = calloc((size_t)(rank * freedom + 1), sizeof *R), largest, after;
    void *work = calloc(1, plant->work_size);
    assert_int_equal(plant->ops->start(plant, work, x), OD_OK);
    const double *entries = od_model_plant_scalars(plant, work) + l->jacobian;
    int *in = malloc((size_t)l->integers * sizeof *in);
    dense_jacobian(m, entries, J);
    od_dice dice = {seed};
    for (int trial = 0; trial < 5 && rank > 0; trial++) {
      memcpy(in, od_model_plant_integers(plant, work), (size_t)l->integers * sizeof *in);
      for (int i = 0; i < 4; i++) {
        int *a = &in[l->dependent + od_dice_pick(&dice, rank)], *b = &in[l->independent + od_dice_pick(&dice, freedom)];
        int swap = *a;
        *a = *b, *b = swap;
      }
      if (!dense_map(m, J, in, R, &largest) || largest > 1e6) continue;
      assert_true(od_partition_exchange(m, entries, R, in, memory));
      assert_true(dense_map(m, J, in, R, &after));
      assert_true(after < 1 + 1e-6);
      tried++, bad += largest > 1.5, several += largest > 1.5 && freedom > 1;
    }
    free(in), free(work), free(R), free(J), free(memory), free(x);
    od_plant_free(plant);
    od_model_free(m);
  }
  print_message("%d choices, %d of them bad, %d with several freedoms\n", tried, bad, several);
  assert_true(several > 30);
}

// A failed choice of coordinates changes nothing. The failure is caused by weights of zero, which disable all rows of
// the closures. Oracle: the outputs before.
static void failure_changes_nothing(void **state) {
  (void)state;
  int failures = 0;
  for (unsigned seed = 1; seed <= 100; seed++) {
    od_model *m = od_random_machine(seed, false, true, false, false);
    if (!m) continue;
    od_plant *plant = NULL;
    int outputs[MOST_OUTPUTS], count = m->outputs;
    assert_true(count <= MOST_OUTPUTS);
    bool changed;
    double u[2] = {1, -1}, x[MOST_STATES], weight[MOST_STATES], before[MOST_OUTPUTS], after[MOST_OUTPUTS];
    for (int i = 0; i < count; i++) outputs[i] = i;
    assert_int_equal(od_model_plant(m, outputs, count, NULL, 0, &plant, NULL), OD_OK);
    od_sim *sim = od_sim_new(plant);
    size_t size = (size_t)od_plant_nx(plant) * sizeof *x, weights = (size_t)m->coordinates * sizeof *weight;
    od_dice dice = {seed};
    assert_int_equal(od_sim_start(sim, 0, u), OD_OK);
    memcpy(x, od_sim_state(sim), size);
    for (int i = plant->nz; i < 2 * plant->nz; i++) x[i] = od_dice_uniform(&dice, -3, 3);
    bool runs = m->coordinates > m->freedom && od_sim_set(sim, 0, x, u) == OD_OK;
    memcpy(weight, m->coordinate_weight, weights);
    memset(m->coordinate_weight, 0, weights);
    // Without weights the reason can only be a reference rotation.
    for (int i = 0; i < 400 && runs && !plant->ops->wants_repartition(plant, od_sim_work(sim)); i++)
      runs = od_sim_step(sim, 2e-3, u) == OD_OK;
    if (runs && plant->ops->wants_repartition(plant, od_sim_work(sim)) && od_sim_outputs(sim, before) == OD_OK) {
      memcpy(x, od_sim_state(sim), size);
      assert_int_equal(od_sim_repartition(sim, NULL, &changed), OD_SINGULAR);
      memcpy(m->coordinate_weight, weight, weights);
      assert_memory_equal(x, od_sim_state(sim), size);
      assert_int_equal(od_sim_outputs(sim, after), OD_OK);
      for (int i = 0; i < count; i++)  // joint loads amplify errors of the rates in stiff loops
        if (!(fabs(after[i] - before[i]) <=
              (od_model_output_is_reaction(&m->output[i]) ? 1e-5 : 1e-7) * (1 + fabs(before[i]))))
          fail_msg("seed %u, %s: %.12g instead of %.12g", seed, m->output[i].name, after[i], before[i]);
      assert_int_equal(od_sim_repartition(sim, NULL, &changed), OD_OK);
      assert_true(changed);
      failures++;
    }
    od_sim_free(sim);
    od_plant_free(plant);
    od_model_free(m);
  }
  print_message("%d choices failed on purpose\n", failures);
  assert_true(failures >= 5);
}

static od_machine *ball(const char *initial) {
  char text[1000];
  snprintf(text, sizeof text,
           "machine: box on a ball joint\ngravity: [0, 0, -9.81]\n"
           "bodies:\n  box: {box: {mass: 3 kg, size: [1, 2, 3], centre: [0, 0, -1]}}\n"
           "joints:\n  K: {type: spherical, between: [ground, box]}\n"
           "initial: {%s}\nrun: {time: 1 s}\n",
           initial);
  return od_test_machine_text(text);
}

// A spherical joint may start with its middle angle at 90 degrees, where the other two turn about one axis. Oracles: the
// physical pendulum, q'' = -m g s/J sin q with J = m (1 + 9)/12 + m s^2, integrated here; the kinetic energy of a turn
// about the box's own axis, J = m (1 + 4)/12, by hand.
static void starts_at_singular_angles(void **state) {
  (void)state;
  static const char *const centre[] = {"box.centre.x", "box.centre.y", "box.centre.z"};
  const double k = 3 * 9.81 / 5.5, h = 1e-4;
  for (int sense = -1; sense <= 1; sense += 2) {
    char initial[200];
    double last[3], q = sense * pi / 2, v = 0;
    snprintf(initial, sizeof initial, "K.angle1: 0, K.angle2: %d deg, K.angle3: 0", 90 * sense);
    od_machine *machine = ball(initial);
    od_test_run_to(machine, "rk4", 1, 1e-3, centre, 3, last);
    for (int i = 0; i < 10000; i++) {  // Stoermer and Verlet
      v -= h / 2 * k * sin(q);
      q += h * v;
      v -= h / 2 * k * sin(q);
    }
    print_message("from %d degrees: off by %.2g m and %.2g m after 1 s\n", 90 * sense, last[0] + sin(q),
                  last[2] + cos(q));
    assert_true(fabs(last[0] + sin(q)) < 1e-7 && fabs(last[1]) < 1e-12 && fabs(last[2] + cos(q)) < 1e-7);
    od_machine_free(machine);
  }
  // With rates, with rough values, and with a single exact one.
  static const char *const starts[] = {"K.angle1: 0, K.angle2: 90 deg, K.angle3: 0, K.rate1: 2, K.rate3: 3",
                                       "K.angle1: about 0, K.angle2: about 90 deg, K.angle3: about 0, K.rate1: 5",
                                       "K.angle1: about 0, K.angle2: 90 deg, K.angle3: about 0, K.rate3: 5"};
  for (int i = 0; i < 3; i++) {
    od_test_run r = od_test_begin(ball(starts[i]), "energy.kinetic", "box.centre.x", NULL);
    double y[2];
    assert_int_equal(od_sim_outputs(r.sim, y), OD_OK);
    assert_true(fabs(y[0] - 0.5 * 1.25 * 25) < 1e-12 && fabs(y[1] + 1) < 1e-12);
    step(&r, 1e-3, 500);
    od_test_end(&r);
  }
}

// Coordinates change when a dependent one moves more than three times as fast as the independent one, and not before: with
// one degree of freedom the map's entries are quotients of the joints' rates, which are outputs. Oracle: these quotients.
// No joint of this four-bar makes full turns, so each of them stands still at some point.
static void changes_at_the_bound(void **state) {
  (void)state;
  od_test_run r = od_test_begin(
      od_test_machine("cases/fourbar-swing/machine.yaml", "crank.beam.length=5 m", "coupler.beam.length=4 m", NULL),
      "A.rate", "P1.rate", "B.rate", NULL);
  double rate[3], most = 0, least = INFINITY;
  const double fast[2] = {od_sim_state(r.sim)[0], 8};
  assert_int_equal(od_sim_set(r.sim, 0, fast, NULL), OD_OK);
  int changes = 0;
  for (int i = 0; i < 3000; i++) {
    assert_int_equal(od_sim_step(r.sim, 1e-3, NULL), OD_OK);
    assert_int_equal(od_sim_outputs(r.sim, rate), OD_OK);
    const double independent = od_sim_state(r.sim)[1];
    double quotient = 0;
    for (int k = 0; k < 3; k++) quotient = fmax(quotient, fabs(rate[k] / independent));
    bool changed;
    assert_int_equal(od_sim_repartition(r.sim, NULL, &changed), OD_OK);
    changes += changed;
    if (changed) least = fmin(least, quotient);
    if (!changed) most = fmax(most, quotient);
  }
  print_message("%d changes, at quotients from %.4g; none up to %.4g\n", changes, least, most);
  assert_true(changes >= 2 && least > 3 && most > 2.9 && most <= 3 + 1e-9);
  od_test_end(&r);
}

// Closures whose pivots differ by more than 1e9 count as redundant. Two rods of 1 m at a small angle hold a body that two
// guides let move in the plane: the rows are (1, 0) and (1, angle), the second pivot is the angle. A third body is free,
// because a machine must have a degree of freedom.
static void nearly_redundant(void **state) {
  (void)state;
  static const double angle[2] = {3e-9, 0.3e-9};
  for (int i = 0; i < 2; i++) {
    char text[1000];
    snprintf(text, sizeof text,
             "bodies: {carriage: {point: {mass: 1 kg}}, load: {point: {mass: 1 kg}}, other: {point: {mass: 1 kg}}}\n"
             "ground: {points: {P: [-1 m, 0], Q: [-1 m, %g m]}}\n"
             "joints:\n"
             "  gx: {type: prismatic, between: [ground, carriage], axis: [1, 0, 0]}\n"
             "  gy: {type: prismatic, between: [carriage, load], axis: [0, 1, 0]}\n"
             "  free: {type: prismatic, between: [ground, other], axis: [1, 0, 0]}\n"
             "rods:\n"
             "  one: {between: [ground.P, load], length: 1 m}\n"
             "  two: {between: [ground.Q, load], length: 1 m}\n"
             "initial: {gx.position: about 0 m, gy.position: about 0 m, free.position: 0 m}\n",
             angle[i]);
    od_test_run r = od_test_begin(od_test_machine_text(text), "gx.position", NULL);
    assert_int_equal(r.plant->nz, 1 + i);
    od_test_end(&r);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(hundred_revolutions),       cmocka_unit_test(closed_form),
      cmocka_unit_test(tangents_are_carried_over), cmocka_unit_test(exchanges_end_well),
      cmocka_unit_test(charts_are_carried_over),   cmocka_unit_test(failure_changes_nothing),
      cmocka_unit_test(changes_at_the_bound),      cmocka_unit_test(nearly_redundant),
      cmocka_unit_test(starts_at_singular_angles)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
