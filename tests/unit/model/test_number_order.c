// The order in which a program adds the numbers of a machine has no effect: each group of numbers is once the first one, with the index 0.
// Oracle: the machine with the first order. Compared are the motion, its derivatives with respect to every number, and the image.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"

#include "model/image_form.h"
#include "oleodyn/oleodyn.h"

enum { GRAVITY, BODY, AXIS, LOAD, OIL, VISCOSITY, SOURCE, VOLUME, TANK, FIRST, SECOND, CYLINDER, GROUPS, MOST = 64 };

static int add(od_build *b, const char *path, int count, const double *value) {
  int first = -1;
  for (int i = 0; i < count; i++) {
    char name[64];
    snprintf(name, sizeof name, "%s.%d", path, i);
    int place = od_build_number(b, name, value[i], "1");
    if (i == 0) first = place;
  }
  return first;
}

static int add_group(od_build *b, int group) {
  static const struct {
    const char *path;
    int count;
    double value[8];
  } groups[GROUPS] = {
      [GRAVITY] = {"gravity", 3, {0.3, -9.81, 0.1}},
      [BODY] = {"body", 4, {80, 0, 0, 0}},
      [AXIS] = {"axis", 3, {1, 0.2, 0.1}},
      [LOAD] = {"load", 4, {3e3, -1, 0, 0}},
      [OIL] = {"oil", 3, {870, 1e4, 1.4e9}},
      [VISCOSITY] = {"viscosity", 8, {40e-6, 313, 320, 0.02, 1e-8, 7e-4, 0, 0}},
      [SOURCE] = {"P", 1, {120e5}},
      [VOLUME] = {"A", 1, {1e-4}},
      [TANK] = {"T", 1, {1e5}},
  };
  if (group == FIRST || group == SECOND)
    return od_build_element_numbers(b, group == FIRST ? "first" : "second", "orifice",
                                    (od_keyed_number[]){{"area", group == FIRST ? 4e-6 : 2e-6}, {"discharge", 0.7}}, 2);
  if (group == CYLINDER)
    return od_build_element_numbers(
        b, "cylinder", "cylinder",
        (od_keyed_number[]){{"areas[0]", 2e-3}, {"areas[1]", 1e-3}, {"closed", 0.5}, {"stroke", 1}}, 4);
  return add(b, groups[group].path, groups[group].count, groups[group].value);
}

// The machine whose group `start` is added first: a slide with a load and a cylinder between a volume and a tank.
static od_model *model_with(int start) {
  od_build *b = od_build_new();
  int number[GROUPS];
  for (int i = 0; i < GROUPS; i++) number[(start + i) % GROUPS] = add_group(b, (start + i) % GROUPS);
  assert_int_equal(number[start], 0);
  od_build_gravity(b, number[GRAVITY]);
  int body = od_build_body(b, "body", OD_SHAPE_POINT, number[BODY]);
  int base = od_build_point(b, "base", OD_GROUND, OD_UNUSED, OD_UNUSED, 0),
      rod = od_build_point(b, "rod", body, OD_UNUSED, OD_UNUSED, 0);
  od_joint_spec slide = od_joint_spec_of(OD_PRISMATIC, base, rod);
  slide.axis_a = number[AXIS];
  od_build_joint(b, "slide", &slide);
  od_build_force(b, "load", rod, number[LOAD], OD_UNUSED, false);
  od_build_oil(b, OD_OIL_CONSTANT, number[OIL]);
  od_build_oil_viscosity(b, number[VISCOSITY]);
  int P = od_build_node(b, "P", OD_NODE_SOURCE, number[SOURCE], OD_UNUSED),
      A = od_build_node(b, "A", OD_NODE_VOLUME, number[VOLUME], OD_UNUSED),
      T = od_build_node(b, "T", OD_NODE_TANK, number[TANK], OD_UNUSED);
  for (int i = 0; i < 2; i++) {
    od_element_spec orifice = od_element_spec_of("orifice");
    orifice.first_number = number[i ? SECOND : FIRST];
    orifice.end[0] = i ? A : P, orifice.end[1] = i ? T : A;
    od_build_element(b, i ? "second" : "first", &orifice);
  }
  od_element_spec cylinder = od_element_spec_of("cylinder");
  cylinder.first_number = number[CYLINDER];
  cylinder.point_a = base, cylinder.point_b = rod;
  cylinder.end[0] = A, cylinder.end[1] = T;
  od_build_element(b, "cylinder", &cylinder);
  od_build_initial(b, "slide.position", 0.8, true);
  od_build_initial(b, "A.pressure", 20e5, true);
  od_model *m = NULL;
  od_error err = {0};
  if (od_build_finish(b, &m, &err) != OD_OK) {
    for (int i = 0; i < od_build_problem_count(b); i++) print_message("%s\n", od_build_problem(b, i).text);
    fail_msg("%s", err.text);
  }
  od_build_free(b);
  return m;
}

typedef struct results {
  int count, states;
  char path[MOST][64];
  double x[8], slope[MOST][8];  // slope: derivatives of the states after the last step with respect to a number
} results;

static results run(const od_model *m) {
  enum { STEPS = 20 };
  const double h = 2e-4;
  results r = {0};
  int output = od_model_output_find(m, "A.pressure");
  for (int i = 0; i < m->numbers; i++) {
    od_plant *plant = NULL;
    double F[64], Gp[8], S[8] = {0}, next[8];
    if (od_model_plant(m, &output, 1, &i, 1, &plant, NULL) != OD_OK) continue;
    int nx = od_plant_nx(plant);
    assert_true(nx <= 8 && r.count < MOST);
    od_sim *sim = od_sim_new(plant);
    assert_int_equal(od_sim_start(sim, 0, NULL), OD_OK);
    for (int k = 0; k < STEPS; k++) {
      assert_int_equal(od_sim_step_with_jacobians(sim, h, NULL, F, NULL, NULL, Gp), OD_OK);
      for (int a = 0; a < nx; a++) {
        next[a] = Gp[a];
        for (int c = 0; c < nx; c++) next[a] += F[a * nx + c] * S[c];
      }
      memcpy(S, next, sizeof S);
    }
    r.states = nx;
    snprintf(r.path[r.count], sizeof r.path[0], "%s", od_number_path(m, i));
    memcpy(r.x, od_sim_state(sim), (size_t)nx * sizeof *r.x);
    memcpy(r.slope[r.count++], S, sizeof S);
    od_sim_free(sim);
    od_plant_free(plant);
  }
  return r;
}

static void orders(void **state) {
  (void)state;
  od_model *m = model_with(0);
  const results first = run(m);
  od_model_free(m);
  assert_true(first.count > 25 && first.states == 3);
  for (int start = 1; start < GROUPS; start++) {
    m = model_with(start);
    size_t size = od_image_size(m, NULL);
    void *image = malloc(size);
    od_error err = {0};
    assert_int_equal(od_image_write(m, NULL, image, size, NULL), OD_OK);
    if (od_image_check(image, size, &err) != OD_OK) fail_msg("order %d: %s", start, err.text);
    const results other = run(m);
    assert_int_equal(other.count, first.count);
    for (int i = 0; i < first.states; i++) near_relative(other.x[i], first.x[i], 1e-12);
    for (int i = 0; i < first.count; i++) {
      int k = 0;
      while (k < other.count && strcmp(first.path[i], other.path[k]) != 0) k++;
      assert_true(k < other.count);
      for (int a = 0; a < first.states; a++)
        if (!(fabs(other.slope[k][a] - first.slope[i][a]) <= 1e-9 * fabs(first.slope[i][a]) + 1e-18))
          fail_msg("order %d, %s: %.12g and %.12g", start, first.path[i], other.slope[k][a], first.slope[i][a]);
    }
    free(image);
    od_model_free(m);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(orders)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
