// Expressions and relations of formulas, constants and constraints. Oracles: the value of the same operations in complex numbers,
// and its change with a complex step for each derivative.
#include "document/expression.h"

#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/formula.h"
#include "fuzz/fuzz.h"

enum { NAMES = 4 };

static const char *const names[NAMES] = {"x", "v", "p_a", "arm.mass"}, *const units[NAMES] = {"m", "m s-1", "Pa", "kg"};
static const double values[NAMES] = {0.7, -1.3, 2.5, 3.1};

static const char *name_of(const void *user, int i) {
  (void)user;
  return names[i];
}
static const char *unit_of(const void *user, int i) {
  (void)user;
  return units[i];
}

// Whether all intermediate results are numbers of a size at which no digits are lost.
static bool is_tame(const od_formula *f) {
  double result[OD_EXPRESSION_LONGEST];
  od_formula_results_r(f, values, NAMES, NULL, f->count, result);
  for (int i = 0; i < f->count; i++)
    if (!(fabs(result[i]) < 1e4 && (result[i] == 0 || fabs(result[i]) > 1e-4))) return false;
  return true;
}

static void judge(const od_expression *e) {
  const od_formula f = {e->count, e->operation};
  double by[NAMES], value = od_expression_value(e, values, NAMES, by);
  char text[120];
  od_unit_text(e->power, text);
  if (od_formula_problem(&f, NAMES) || strlen(text) >= sizeof text) abort();
  double alone = od_expression_value(e, values, NAMES, NULL);
  if (value != alone && !(isnan(value) && isnan(alone))) abort();
  if (!is_tame(&f)) return;
  const double step = 1e-30;
  for (int i = 0; i < NAMES; i++) {
    double _Complex moved[NAMES];
    for (int k = 0; k < NAMES; k++) moved[k] = values[k];
    moved[i] += step * I;
    double _Complex result = od_formula_value_complex(&f, moved, NAMES, NULL, NULL);
    double slope = cimag(result) / step;
    if (!(fabs(creal(result) - value) <= 1e-8 * (1 + fabs(value)))) abort();
    if (fabs(by[i]) < 1e4 && !(fabs(slope - by[i]) <= 1e-6 * (1 + fabs(by[i])))) abort();
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static od_units *known;
  od_error err = {0};
  fuzz_file(data, 0, "input", "tests/fuzz/lag");  // the small database of units
  if (!known && !(known = od_units_new(&err))) abort();
  const od_expression_names all = {NAMES, name_of, unit_of, NULL, known};
  char *text = fuzz_text(data, size);
  int length = (int)strlen(text);
  od_expression e;
  od_relation r;
  od_expression_problem problem = {0};
  if (od_expression_parse(text, &all, &e, &problem))
    judge(&e);
  else if (!problem.text[0] || problem.at < 0 || problem.at > length)
    abort();
  problem = (od_expression_problem){0};
  if (od_relation_parse(text, &all, &r, &problem))
    for (int i = 0; i < r.sides; i++) judge(&r.side[i]);
  else if (!problem.text[0] || problem.at < 0 || problem.at > length)
    abort();
  free(text);
  return 0;
}
