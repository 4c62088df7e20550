// Expressions and relations as in files. Oracles: the same formulas in C, their derivatives by complex steps; units by
// hand; the texts of messages.
#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"
#include "document/expression.h"

static const char *const names[] = {"a", "b", "k1", "spool.mass", "curve.values[3]", "lead-lag.gain"};
static const char *const units[] = {"1", "1", "N/m", "kg", "m3/s", "1"};
enum { NAMES = 6 };
static const char *name_of(const void *user, int i) {
  (void)user;
  return names[i];
}
static const char *unit_of(const void *user, int i) {
  (void)user;
  return units[i];
}

static od_expression_names known(void **state) {
  return (od_expression_names){NAMES, name_of, unit_of, NULL, *state};
}

static int setup(void **state) {
  *state = od_units_new(NULL);
  return *state == NULL;
}
static int teardown(void **state) {
  od_units_free(*state);
  return 0;
}

typedef double complex (*formula)(const double complex *v);
static double complex f0(const double complex *v) {
  return v[0] + 2 * v[1] - 3;
}
static double complex f1(const double complex *v) {
  return -v[0] * v[0] / (v[1] - 0.25) + csqrt(v[0] * v[1]) * cexp(-v[0]);
}
static double complex f2(const double complex *v) {
  return cpow(v[0], -1.5) - cpow(v[0], v[1]) + cpow(2, cpow(v[0], 2));
}
static double complex f3(const double complex *v) {
  return csin(v[0]) * ccos(v[1]) - ctan(v[0] / 3) + catan(v[1]) + ctanh(v[0]) + clog(v[1]);
}
static double complex f4(const double complex *v) {
  return 2 * v[2] * (v[3] + 1.5) / v[4];
}
static double complex f5(const double complex *v) {
  return v[0] - v[5] - (v[0] - v[1]);
}
static double complex f6(const double complex *v) {
  bool less = creal(v[0]) < creal(v[1]);
  return (less ? v[0] : v[1]) + 2 * v[0] - (less ? v[0] : v[1] * v[1]) + (less ? 3 : 2);
}
static double complex f7(const double complex *v) {
  double complex d = v[0] - v[1];
  return casin(v[0] / 5) + cacos(v[1] / 5) + csinh(v[0]) - ccosh(v[1]) + d / csqrt(csqrt(d * d + 0.25)) + 144;
}
static const struct pair {
  const char *text;
  formula f;
} pairs[] = {
    {"a + 2*b - 3", f0},
    {"-a^2 / (b - 0.25) + sqrt(a * b) * exp(-a)", f1},
    {"a^-1.5 - a^b + 2^a^2", f2},
    {"sin(a)*cos(b) - tan(a/3) + atan(b) + tanh(a) + log(b)", f3},
    {"2 * k1 * (spool.mass + 1500 g) / curve.values[3]", f4},
    {"a - lead-lag.gain - (a-b)", f5},
    {"min(a, b) + max(2*a, 0.1) - if(a < b, a, b^2) + sign(b) * if(a >= b, 2,3)", f6},
    {"asin(a/5) + acos(b/5) + sinh(a) - cosh(b) + smooth_root(a - b, 0.5) + (12 1/s)^2 / 1 s-2", f7},
};

static void test_values(void **state) {
  const od_expression_names all = known(state);
  const double at[][NAMES] = {{0.7, 1.3, 200, 3, 0.4, 5}, {2.1, 0.6, -3, 0.2, 7, -1}};
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
    od_expression e;
    od_expression_problem problem;
    if (!od_expression_parse(pairs[i].text, &all, &e, &problem)) fail_msg("%s: %s", pairs[i].text, problem.text);
    for (int point = 0; point < 2; point++) {
      double complex v[NAMES];
      double gradient[NAMES];
      for (int j = 0; j < NAMES; j++) v[j] = at[point][j];
      double value = od_expression_value(&e, at[point], NAMES, gradient), expected = creal(pairs[i].f(v));
      if (!(fabs(value - expected) <= 1e-13 * fabs(expected)))
        fail_msg("%s: %g, not %g", pairs[i].text, value, expected);
      for (int j = 0; j < NAMES; j++) {
        v[j] += 1e-40 * I;
        double slope = cimag(pairs[i].f(v)) / 1e-40;
        v[j] = at[point][j];
        if (!(fabs(gradient[j] - slope) <= 1e-12 * fmax(1, fabs(slope))))
          fail_msg("%s by %s: %.15g, not %.15g", pairs[i].text, names[j], gradient[j], slope);
      }
    }
  }
}

// If a power of a negative base has a value, it has a derivative; if it has no value, the result is not finite.
static void test_edges(void **state) {
  const od_expression_names all = known(state);
  od_expression e;
  od_expression_problem problem;
  const double at[NAMES] = {-2, 0};
  double gradient[NAMES];
  assert_true(od_expression_parse("a^3 + b^2", &all, &e, &problem));
  assert_true(od_expression_value(&e, at, NAMES, gradient) == -8 && gradient[0] == 12 && gradient[1] == 0);
  assert_true(od_expression_parse("abs(a) + abs(b)", &all, &e, &problem));
  assert_true(od_expression_value(&e, at, NAMES, gradient) == 2 && gradient[0] == -1);
  assert_true(od_expression_parse("sqrt(a)", &all, &e, &problem));
  assert_true(isnan(od_expression_value(&e, at, NAMES, NULL)));
}

static const struct wrong {
  const char *text, *message;
  int at;
} wrongs[] = {
    {"a +", "found the end, expected a number, a name or '('", 3},
    {"(a + b", "found the end, expected ')'", 6},
    {"a b", "found 'b', expected an operator or the end", 2},
    {"spool.mas + 1 kg", "'spool.mas' is not defined here; did you mean 'spool.mass'?", 0},
    {"2 k1", "'k1' is not a unit; to multiply, write '*' after the number", 2},
    {"k1 + spool.mass", "the units on both sides of '+' differ: kg s-2 on the left, kg on the right; expected one unit",
     3},
    {"a + 5 mm", "the units on both sides of '+' differ: a plain number on the left, m on the right; expected one unit",
     2},
    {"exp(k1)", "the argument of exp() is in kg s-2; expected a plain number", 0},
    {"a^k1", "the exponent is in kg s-2; expected a plain number", 1},
    {"k1^a", "the exponent of a quantity with a unit (kg s-2) must be a literal number", 2},
    {"sqr(a)", "'sqr' is not defined here; did you mean 'sqrt'?", 0},
    {"1..2", "this is not a number; a number is written like 12, 1.5 or 2e-3", 0},
    {"a / (1 - 1)", "division by zero; expected a divisor other than zero", 2},
    {"sqrt(1 - 2)",
     "the expression up to this place has no finite value; check for a division by zero or a root of a negative number",
     11},
    {"max(a)", "found ')', expected ',': max() has 2 arguments", 5},
    {"min(a, k1)", "the arguments of min() have different units, a plain number and kg s-2; expected one unit", 0},
    {"if(a, 1, 2)", "found ', 1, 2)', expected '<', '<=', '>' or '>='", 4},
    {"a $ b", "found '$ b', expected an operator or the end", 2},
};

static void test_messages(void **state) {
  const od_expression_names all = known(state);
  for (size_t i = 0; i < sizeof wrongs / sizeof *wrongs; i++) {
    od_expression e;
    od_expression_problem problem;
    if (od_expression_parse(wrongs[i].text, &all, &e, &problem)) fail_msg("%s is no error", wrongs[i].text);
    assert_string_equal(problem.text, wrongs[i].message);
    assert_int_equal(problem.at, wrongs[i].at);
  }
}

// Texts of any length and depth end with a message.
static void test_bounds(void **state) {
  const od_expression_names all = known(state);
  char *text = calloc(100000, 1);
  od_expression e;
  od_expression_problem problem;
  memset(text, '(', 90000);
  assert_false(od_expression_parse(text, &all, &e, &problem));
  memset(text, '-', 90000);
  assert_false(od_expression_parse(text, &all, &e, &problem));
  for (int i = 0; i < 10000; i++) memcpy(text + 9 * i, "a ^ a  + ", 9);
  assert_false(od_expression_parse(text, &all, &e, &problem));
  for (int i = 0; i < 30000; i++) memcpy(text + 3 * i, "2^a", 3);
  text[1 + 2 * 30000] = '\0';
  assert_false(od_expression_parse(text, &all, &e, &problem));
  free(text);
}

static void test_relations(void **state) {
  const od_expression_names all = known(state);
  od_relation r;
  od_expression_problem problem;
  assert_true(od_relation_parse("0 <= a <= 2*b", &all, &r, &problem));
  assert_int_equal(r.sides, 3);
  assert_true(r.kind[0] == OD_AT_MOST && r.kind[1] == OD_AT_MOST);
  assert_true(od_relation_parse("k1 = 3 kN/m", &all, &r, &problem));
  assert_true(r.kind[0] == OD_EQUAL && r.side[1].operation[0].value == 3000);
  assert_true(od_relation_parse("k1 >= 2", &all, &r, &problem));
  assert_false(od_relation_parse("a < b", &all, &r, &problem));
  assert_string_equal(problem.text, "found '<', expected '<='; bounds are inclusive");
  assert_int_equal(problem.at, 2);
  assert_false(od_relation_parse("a == b", &all, &r, &problem));
  assert_string_equal(problem.text, "found '==', expected '='");
  assert_false(od_relation_parse("a + b", &all, &r, &problem));
  assert_string_equal(problem.text, "found the end, expected '<=', '>=' or '='");
  assert_false(od_relation_parse("k1 <= 5 kg", &all, &r, &problem));
  assert_string_equal(problem.text,
                      "the units on both sides of '<=' differ: kg s-2 on the left, kg on the right; expected one unit");
  // Stiffness over mass is compatible with the square of an angular rate; in a sum units must agree exactly.
  assert_true(od_relation_parse("k1 / spool.mass <= (150 rad/s)^2", &all, &r, &problem));
  assert_false(od_relation_parse("k1 / spool.mass + (150 rad/s)^2 <= 3", &all, &r, &problem));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_values), cmocka_unit_test(test_edges),     cmocka_unit_test(test_messages),
      cmocka_unit_test(test_bounds), cmocka_unit_test(test_relations),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
