// Mistakes of programs that build a model, at the limits of what is allowed: the last index and the index after it, zero and a negative
// number. Oracles: the texts of the messages and the number of problems.
#include <string.h>

#include "support/test.h"
#include "oleodyn/oleodyn.h"

// Returns how many problems of this kind have this text; `all` receives the number of all problems.
static int count_problems(od_build *b, od_culprit_kind kind, const char *text, int *all) {
  od_model *model = NULL;
  od_error err = {0};
  int count = 0;
  if (od_build_finish(b, &model, &err) == OD_OK) od_model_free(model);
  *all = od_build_problem_count(b);
  for (int i = 0; i < *all; i++) {
    od_problem p = od_build_problem(b, i);
    count += p.kind == kind && strstr(p.text, text) != NULL;
  }
  return count;
}

typedef struct chain {
  od_build *b;
  int joint[2];
} chain;

// Two bodies on parallel hinges.
static chain build_chain(void) {
  chain c = {.b = od_build_new()};
  static const char *const names[][3] = {{"a", "P", "A"}, {"b", "Q", "B"}};
  for (int i = 0; i < 2; i++) {
    int mass = od_build_number(c.b, i ? "b.mass" : "a.mass", 2, "kg");
    for (int k = 0; k < 3; k++) od_build_number(c.b, (const char *[]){"x", "y", "z"}[k], 0, "m");
    int body = od_build_body(c.b, names[i][0], OD_SHAPE_POINT, mass);
    int axis = od_build_number(c.b, "axis", 0, "1");
    od_build_number(c.b, "axis", 0, "1");
    od_build_number(c.b, "axis", 1, "1");
    int ground = od_build_point(c.b, i ? "G" : "F", OD_GROUND, OD_UNUSED, OD_UNUSED, 0);
    int place = od_build_number(c.b, "place", 1, "m");
    od_build_number(c.b, "place", 0, "m");
    od_build_number(c.b, "place", 0, "m");
    od_joint_spec joint =
        od_joint_spec_of(OD_REVOLUTE, ground, od_build_point(c.b, names[i][1], body, place, OD_UNUSED, 0));
    joint.axis_a = axis;
    c.joint[i] = od_build_joint(c.b, names[i][2], &joint);
  }
  return c;
}

static void test_gears(void **state) {
  (void)state;
  const struct {
    int a, b;  // joints
    double ratio;
    const char *text;
    int problems;
  } cases[] = {{0, 1, 2, "gear", 0},
               {0, 1, -2, "gear", 0},
               {0, 0, 2, "gear 'G' couples a joint with itself; expected two joints", 1},
               {1, 1, 2, "gear 'G' couples a joint with itself; expected two joints", 1},
               {0, 1, 0, "the ratio of gear 'G' is zero; expected a nonzero ratio", 1},
               {0, 2, 2, "gear 'G' refers to joint 2; expected an index from 0 to 1", 1},
               {-1, 1, 2, "gear 'G' refers to joint -1; expected an index from 0 to 1", 1}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    chain c = build_chain();
    int ratio = od_build_number(c.b, "ratio", cases[i].ratio, "1"), all;
    od_build_number(c.b, "offset", 0, "1");
    od_build_gear(c.b, "G", cases[i].a, cases[i].b, ratio);
    int count = count_problems(c.b, OD_ABOUT_GEAR, cases[i].text, &all);
    if (count != cases[i].problems) print_error("case %zu: %d of %d problems\n", i, count, all);
    assert_int_equal(count, cases[i].problems);
    od_build_free(c.b);
  }
  // A gear needs two numbers: the last two are allowed, the last one alone is not.
  for (int missing = 0; missing < 2; missing++) {
    chain c = build_chain();
    int ratio = od_build_number(c.b, "ratio", 2, "1"), all;
    if (!missing) od_build_number(c.b, "offset", 0, "1");
    od_build_gear(c.b, "G", 0, 1, ratio);
    assert_int_equal(count_problems(c.b, OD_ABOUT_GEAR, "gear 'G' needs 2 numbers from index", &all), missing);
    od_build_free(c.b);
  }
}

// A reference to a part of which there is none.
static void test_nothing_to_refer_to(void **state) {
  (void)state;
  od_build *b = od_build_new();
  int all, number = od_build_number(b, "ratio", 2, "1");
  od_build_number(b, "offset", 0, "1");
  od_build_gear(b, "G", 0, 1, number);
  assert_int_equal(count_problems(b, OD_ABOUT_GEAR, "gear 'G' refers to joint 1, but the model has no joint", &all), 1);
  assert_int_equal(count_problems(b, OD_ABOUT_GEAR, "gear 'G' refers to joint 0, but the model has no joint", &all), 1);
  od_build_free(b);
}

static void test_nodes_and_oil(void **state) {
  (void)state;
  const struct {
    od_node_kind kind;
    double value;
    const char *text;
  } cases[] = {{OD_NODE_VOLUME, -1e-3, "node 'N' has a volume of -0.001 m3; expected zero or more"},
               {OD_NODE_TANK, -5, "node 'N' has a pressure of -5 Pa; expected zero or more"},
               {OD_NODE_SOURCE, -5, "node 'N' has a pressure of -5 Pa; expected zero or more"},
               {OD_NODE_VOLUME, 0, NULL},
               {OD_NODE_TANK, 0, NULL}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    chain c = build_chain();
    int all, oil = od_build_number(c.b, "density", 870, "kg/m^3");
    od_build_number(c.b, "smoothing", 1e4, "Pa");
    od_build_number(c.b, "modulus", 1e9, "Pa");
    od_build_oil(c.b, OD_OIL_CONSTANT, oil);
    od_build_node(c.b, "N", cases[i].kind, od_build_number(c.b, "N", cases[i].value, "1"), OD_UNUSED);
    int count = count_problems(c.b, OD_ABOUT_NODE, cases[i].text ? cases[i].text : "expected zero or more", &all);
    assert_int_equal(count, cases[i].text != NULL);
    od_build_free(c.b);
  }
  for (int missing = 0; missing < 2; missing++) {
    chain c = build_chain();
    int all, oil = od_build_number(c.b, "density", 870, "kg/m^3");
    od_build_number(c.b, "smoothing", 1e4, "Pa");
    if (!missing) od_build_number(c.b, "modulus", 1e9, "Pa");
    od_build_oil(c.b, OD_OIL_CONSTANT, oil);
    assert_int_equal(count_problems(c.b, OD_ABOUT_MACHINE, "oil", &all), missing);
    od_build_free(c.b);
  }
  chain c = build_chain();
  int all, oil = od_build_number(c.b, "density", 870, "kg/m^3");
  od_build_oil(c.b, (od_oil_law)3, oil);
  assert_int_equal(count_problems(c.b, OD_ABOUT_MACHINE, "the oil has the unknown law 3; expected an od_oil_law", &all),
                   1);
  od_build_free(c.b);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_gears), cmocka_unit_test(test_nothing_to_refer_to),
                                     cmocka_unit_test(test_nodes_and_oil)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
