// Outputs and their derivatives at other states (od_sim_outputs_elsewhere), and outputs at an edge (od_plant_ops.edges), on random
// machines with all their outputs. Oracles: a copy that is set to the same state; one-sided differences, which agree where there
// is no edge.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"
#include "oleodyn/sim.h"
#include "hydraulics/circuit.h"
#include "plant/model_plant.h"
#include "plant/model_plant_work.h"
#include "support/machines.h"
#include "support/random_machine.h"

enum { MOST_STATES = 96, MOST_OUTPUTS = 4096, PARAMETERS = 3 };

typedef struct subject {
  od_model *m;
  od_plant *plant;
  od_sim *sim, *copy;
  int nx, ny;
  double x[MOST_STATES], p[PARAMETERS];
} subject;

static void close_subject(subject *s) {
  od_sim_free(s->sim);
  od_sim_free(s->copy);
  if (s->plant) od_plant_free(s->plant);
  od_model_free(s->m);
}

// Whether a number can be a parameter; `placed`: of a plant whose outputs need neither signals nor circuit.
static bool may_vary(const od_model *m, int number, bool placed) {
  if (placed) return od_circuit_find_number(m, number).owner != OD_OWNER_NONE;
  return !m->planar || strcmp(od_number_path(m, number), "axis") != 0;
}

// Away from rest, every other volume just below the pressure at which it cavitates. placed: only outputs that depend on states alone
// (od_plant_ops.place). Returns false if the random machine cannot have this state or has no such outputs and parameters.
static bool open_subject(subject *s, uint64_t seed, bool placed) {
  *s = (subject){.m = od_random_machine(seed, seed % 2, seed % 3 == 0, seed % 4 != 0, seed % 5 == 0 && !placed)};
  if (!s->m) return false;
  od_dice dice = {seed + 7};
  int output[MOST_OUTPUTS], parameter[PARAMETERS], count = 0;
  assert_true(s->m->outputs <= MOST_OUTPUTS);
  for (int i = 0; i < s->m->outputs; i++)
    if (!placed || od_model_output_sees_states_only(s->m, &s->m->output[i])) output[count++] = i;
  for (int i = 0, tries = 0; i < PARAMETERS; tries++) {
    if (tries == 1000) return false;
    parameter[i] = od_dice_pick(&dice, s->m->numbers);
    i += may_vary(s->m, parameter[i], placed);
  }
  assert_int_equal(od_model_plant(s->m, output, count, parameter, PARAMETERS, &s->plant, NULL), OD_OK);
  assert_true((s->plant->ops->place != NULL) == placed);
  s->nx = od_plant_nx(s->plant), s->ny = count;
  assert_true(s->nx <= MOST_STATES);
  s->sim = od_sim_new(s->plant);
  s->copy = od_sim_new(s->plant);
  const double u[2] = {od_dice_uniform(&dice, -2, 2), od_dice_uniform(&dice, -2, 2)};
  assert_int_equal(od_sim_start(s->sim, 0, u), OD_OK);
  memcpy(s->x, od_sim_state(s->sim), (size_t)s->nx * sizeof *s->x);
  int nz = s->plant->nz;
  for (int i = 0; i < 2 * nz; i++)
    s->x[i] += i < nz ? od_dice_uniform(&dice, -0.02, 0.02) : od_dice_uniform(&dice, -2, 2);
  for (int i = 0; i < s->m->nodes; i += 2)
    if (s->m->node[i].state >= 0) s->x[2 * nz + s->m->node[i].state] = -1e-3;
  od_sim_parameters(s->sim, s->p);
  return od_sim_set(s->sim, 0, s->x, u) == OD_OK;
}

static bool set_copy(const subject *s, const double *x, const double *p, double *y) {
  memcpy(s->copy, s->sim, od_sim_size(s->plant));
  return od_sim_set_with_parameters(s->copy, 0, x, od_sim_inputs(s->sim), p) == OD_OK &&
         od_sim_outputs(s->copy, y) == OD_OK;
}

// Returns the largest difference of two lists, relative to their sizes plus `scale`.
static double difference(int count, const double *a, const double *b, double scale) {
  double worst = 0;
  for (int i = 0; i < count; i++) worst = fmax(worst, fabs(a[i] - b[i]) / (fabs(a[i]) + fabs(b[i]) + scale));
  return worst;
}

// One copy is set to many states in sequence; another one is set to each from the state of the simulation.
static void check_elsewhere(bool placed) {
  int compared = 0;
  double worst = 0, worst_slope = 0;
  static double y[MOST_OUTPUTS], expected[MOST_OUTPUTS], before[MOST_OUTPUTS], after[MOST_OUTPUTS];
  static double slopes[2][MOST_OUTPUTS * (MOST_STATES + PARAMETERS)];
  for (uint64_t seed = 1; seed <= 60; seed++) {
    subject s;
    if (!open_subject(&s, seed, placed)) {
      close_subject(&s);
      continue;
    }
    od_sim *traveller = od_sim_new(s.plant);
    memcpy(traveller, s.sim, od_sim_size(s.plant));
    assert_int_equal(od_sim_outputs(s.sim, before), OD_OK);
    od_dice dice = {seed};
    for (int trial = 0; trial < 6; trial++) {
      double x[MOST_STATES], p[PARAMETERS];
      for (int i = 0; i < s.nx; i++) x[i] = s.x[i] + (i < 2 * s.plant->nz ? od_dice_uniform(&dice, -0.02, 0.02) : 0);
      for (int i = 0; i < PARAMETERS; i++) p[i] = s.p[i] * od_dice_uniform(&dice, 0.99, 1.01);
      bool possible = set_copy(&s, x, p, expected);
      if (od_sim_outputs_elsewhere(traveller, x, p, y) != OD_OK || !possible) continue;
      for (int i = 0; i < s.ny; i++)
        worst = fmax(worst, fabs(y[i] - expected[i]) / (fabs(expected[i]) + fabs(before[i]) + 1e-3));
      int by_p = s.ny * s.nx;
      assert_int_equal(od_sim_output_rows_elsewhere(traveller, NULL, slopes[0], NULL, slopes[0] + by_p), OD_OK);
      assert_int_equal(od_sim_output_jacobians(s.copy, slopes[1], NULL, slopes[1] + by_p), OD_OK);
      double largest = 1e-3;
      for (int i = 0; i < by_p; i++) largest = fmax(largest, fabs(slopes[1][i]));
      worst_slope = fmax(worst_slope, difference(by_p, slopes[0], slopes[1], 1e-3 * largest));
      worst_slope =
          fmax(worst_slope, difference(s.ny * PARAMETERS, slopes[0] + by_p, slopes[1] + by_p, 1e-3 * largest));
      compared++;
    }
    // After a new set the copy continues without a difference.
    assert_int_equal(od_sim_set_with_parameters(traveller, 0, s.x, od_sim_inputs(s.sim), s.p), OD_OK);
    assert_int_equal(od_sim_outputs(traveller, after), OD_OK);
    for (int i = 0; i < s.ny; i++) worst = fmax(worst, fabs(after[i] - before[i]) / (fabs(before[i]) + 1e-3));
    od_sim_free(traveller);
    close_subject(&s);
  }
  print_message("%d states, outputs differ by at most %.1g, their derivatives by %.1g\n", compared, worst, worst_slope);
  assert_true(compared > 100 && worst < 1e-6 && worst_slope < 1e-6);
}
static void elsewhere(void **state) {
  (void)state;
  check_elsewhere(false);
}
static void placed_elsewhere(void **state) {
  (void)state;
  check_elsewhere(true);
}

// Whether one-sided differences along a state show an edge: one is much larger than the other.
static bool shows_edge(double up, double down, double value) {
  double larger = fmax(fabs(up), fabs(down));
  return larger > 1e-9 * fabs(value) + 1e-12 && fabs(up + down) > 0.5 * larger;
}

static void edges_are_told(void **state) {
  (void)state;
  long smooth = 0, seen = 0;
  static double y[MOST_OUTPUTS], up[MOST_OUTPUTS], down[MOST_OUTPUTS];
  static unsigned char at_edge[MOST_OUTPUTS];
  for (uint64_t seed = 1; seed <= 60; seed++) {
    subject s;
    bool open = open_subject(&s, seed, false);
    if (open) s.plant->ops->edges(s.plant, s.x, at_edge);
    for (int j = 0; open && j < s.nx; j++) {
      double x[MOST_STATES];
      memcpy(x, s.x, sizeof x);
      // Large enough to cross the edge of pressures; small for all other states.
      double step = j < 2 * s.plant->nz ? 1e-5 : fmax(1e-5 * s.plant->scale[j - s.plant->nz], 1e-8);
      x[j] = s.x[j] + step;
      bool ok = set_copy(&s, s.x, NULL, y) && set_copy(&s, x, NULL, up);
      x[j] = s.x[j] - step;
      ok = ok && set_copy(&s, x, NULL, down);
      for (int i = 0; ok && i < s.ny; i++) {
        bool edge = shows_edge(up[i] - y[i], down[i] - y[i], y[i]);
        if (edge && !at_edge[i])
          fail_msg("seed %d: %s has an edge along state %d: %g, %g and %g away", (int)seed,
                   od_model_text(s.m, s.m->output[i].name), j, y[i], up[i] - y[i], down[i] - y[i]);
        seen += edge;
        smooth += !at_edge[i];
      }
    }
    close_subject(&s);
  }
  print_message("%ld edges, %ld differences without\n", seen, smooth);
  assert_true(seen > 50 && smooth > 1000);
}

// The difference of two pressures has an edge where one of the two volumes cavitates.
static void differences(void **state) {
  (void)state;
  od_test_run run = od_test_begin(
      od_test_machine_text(
          "oil: {density: 870 kg/m^3, law: constant, modulus: 1.2 GPa}\n"
          "volumes: {A: {volume: 0.1 L}, B: {volume: 0.1 L}, C: {volume: 0.1 L}}\npressure_differences: {d: {between: [A, B]}, e: {between: [C, A]}}\n"
          "leaks: {l: {between: [A, B], slope: 1e-12 m^3/(s Pa)}, k: {between: [B, C], slope: 1e-12 m^3/(s Pa)}}\n"
          "initial: {A.pressure: 1 bar, B.pressure: 1 bar, C.pressure: 1 bar}\n"),
      "d.pressure", "e.pressure", "A.pressure", "C.pressure", NULL);
  const od_plant *plant = run.plant;
  assert_int_equal(od_plant_nx(plant), 3);
  for (int i = 0; i < 8; i++) {
    const bool below[] = {i & 1, i & 2, i & 4};
    double x[3];
    unsigned char edge[4];
    for (int k = 0; k < 3; k++) x[k] = below[k] ? -1e-3 : 1e5;
    plant->ops->edges(plant, x, edge);
    assert_int_equal(edge[0] != 0, below[0] || below[1]);
    assert_int_equal(edge[1] != 0, below[2] || below[0]);
    assert_int_equal(edge[2] != 0, below[0]);
    assert_int_equal(edge[3] != 0, below[2]);
  }
  od_test_end(&run);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(elsewhere), cmocka_unit_test(placed_elsewhere),
                                     cmocka_unit_test(edges_are_told), cmocka_unit_test(differences)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
