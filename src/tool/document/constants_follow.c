// Dependence of numbers on constants: reachability, values and derivatives.
#include <string.h>

#include "document/constants.h"

static const double pi = 3.14159265358979323846;

static const od_constant_formula *formula_of(const od_document *d, int number) {
  int formula = d->numbers.item[number].formula;
  return formula >= 0 ? &d->constants.formula[formula] : NULL;
}

int od_constant_of(const od_document *d, int number) {
  for (int i = 0; i < d->constants.count; i++)
    if (d->constants.item[i].number == number) return d->constants.item[i].formula < 0 ? i : -1;
  return -1;
}

static bool is_reached(const od_constant_formula *f, const bool *reached) {
  for (int i = 0; i < f->variables; i++)
    if (f->constant[i] >= 0 && reached[f->constant[i]]) return true;
  return false;
}

void od_constants_reach(const od_document *d, bool *reached) {
  for (int i = 0; i < d->constants.ordered; i++) {
    int c = d->constants.order[i], formula = d->constants.item[c].formula;
    if (formula >= 0 && is_reached(&d->constants.formula[formula], reached)) reached[c] = true;
  }
}

bool od_number_is_reached(const od_document *d, int number, const bool *reached) {
  const od_constant_formula *f = formula_of(d, number);
  return f != NULL && is_reached(f, reached);
}

bool od_number_is_constant(const od_document *d, int number) {
  for (int i = 0; i < d->constants.count; i++)
    if (d->constants.item[i].number == number) return true;
  return false;
}

int od_number_source(const od_document *d, int number) {
  const od_constant_formula *f = formula_of(d, number);
  int source = -1;
  while (f != NULL) {
    source = -1;
    for (int i = 0; i < f->variables && source < 0; i++) source = f->constant[i];
    int inner = source >= 0 ? d->constants.item[source].formula : -1;
    f = inner >= 0 ? &d->constants.formula[inner] : NULL;
  }
  return source;
}

static double evaluate(const od_constant_formula *f, const double *value, const double *change, double *its_change) {
  enum { MOST = 64 };
  od_expression e = {.count = f->operations};
  double variable[MOST], gradient[MOST];
  memcpy(e.operation, f->operation, (size_t)f->operations * sizeof *f->operation);
  for (int i = 0; i < f->variables; i++) variable[i] = f->constant[i] >= 0 ? value[f->constant[i]] : pi;
  double result = od_expression_value(&e, variable, f->variables, change != NULL ? gradient : NULL);
  if (change == NULL) return result;
  *its_change = 0;
  for (int i = 0; i < f->variables; i++)
    if (f->constant[i] >= 0) *its_change += gradient[i] * change[f->constant[i]];
  return result;
}

void od_constants_follow(const od_document *d, const bool *wanted, double *value, double *change) {
  for (int i = 0; i < d->constants.ordered; i++) {
    int c = d->constants.order[i], formula = d->constants.item[c].formula;
    if (formula < 0 || !wanted[c]) continue;
    value[c] = evaluate(&d->constants.formula[formula], value, change, change != NULL ? &change[c] : NULL);
  }
}

double od_number_follow(const od_document *d, int number, const double *value, const double *change,
                        double *its_change) {
  return evaluate(formula_of(d, number), value, change, its_change);
}
