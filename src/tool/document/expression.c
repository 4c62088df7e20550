// The functions of expressions, and the values of expressions, which are formulas of the core.
#include "document/expression.h"

#include <math.h>
#include <stdio.h>

#include "base/formula.h"

const char *od_expression_unit(const od_expression *e, char text[120]) {
  int at = 0;
  text[0] = '\0';
  for (int i = 0; i < OD_UNIT_BASES; i++) {
    if (e->power[i] == 0) continue;
    at += snprintf(text + at, 120 - (size_t)at, at ? " %s" : "%s", od_unit_base(i));
    if (e->power[i] != 1) at += snprintf(text + at, 120 - (size_t)at, "%g", e->power[i]);
  }
  return text;
}

const od_expression_function od_expression_functions[] = {
    {"sqrt", OD_OPERATION_SQRT, 1, OD_HALVES_UNIT},
    {"exp", OD_OPERATION_EXP, 1, OD_OF_PLAIN},
    {"log", OD_OPERATION_LOG, 1, OD_OF_PLAIN},
    {"sin", OD_OPERATION_SIN, 1, OD_OF_PLAIN},
    {"cos", OD_OPERATION_COS, 1, OD_OF_PLAIN},
    {"tan", OD_OPERATION_TAN, 1, OD_OF_PLAIN},
    {"asin", OD_OPERATION_ASIN, 1, OD_OF_PLAIN},
    {"acos", OD_OPERATION_ACOS, 1, OD_OF_PLAIN},
    {"atan", OD_OPERATION_ATAN, 1, OD_OF_PLAIN},
    {"sinh", OD_OPERATION_SINH, 1, OD_OF_PLAIN},
    {"cosh", OD_OPERATION_COSH, 1, OD_OF_PLAIN},
    {"tanh", OD_OPERATION_TANH, 1, OD_OF_PLAIN},
    {"abs", OD_OPERATION_ABS, 1, OD_KEEPS_UNIT},
    {"sign", OD_OPERATION_SIGN, 1, OD_DROPS_UNIT},
    {"min", OD_OPERATION_MIN, 2, OD_KEEPS_UNIT},
    {"max", OD_OPERATION_MAX, 2, OD_KEEPS_UNIT},
    {"smooth_root", OD_OPERATION_SMOOTH_ROOT, 2, OD_HALVES_UNIT},
    {"if", OD_OPERATION_IF_NEGATIVE, 3, OD_KEEPS_UNIT},
    {.name = NULL},
};

double od_expression_value(const od_expression *e, const double *variable, int variables, double *gradient) {
  const od_formula f = {e->count, e->operation};
  if (e->count < 1) return NAN;
  return gradient ? od_formula_slopes(&f, variable, variables, NULL, 0, NULL, gradient)
                  : od_formula_value(&f, variable, variables, NULL, NULL);
}
