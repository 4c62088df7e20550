// Values and derivatives of expressions: one pass forwards for the value, one backwards for all derivatives.
#include "document/expression.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>

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

static double slope_sqrt(double x) {
  return 0.5 / sqrt(x);
}
static double slope_log(double x) {
  return 1 / x;
}
static double slope_cos(double x) {
  return -sin(x);
}
static double slope_tan(double x) {
  return 1 + tan(x) * tan(x);
}
static double slope_atan(double x) {
  return 1 / (1 + x * x);
}
static double slope_tanh(double x) {
  return 1 - tanh(x) * tanh(x);
}
static double slope_abs(double x) {
  return x < 0 ? -1 : x > 0 ? 1 : 0;
}

const od_expression_function od_expression_functions[] = {
    {"sqrt", sqrt, slope_sqrt}, {"exp", exp, exp},       {"log", log, slope_log},    {"sin", sin, cos},
    {"cos", cos, slope_cos},    {"tan", tan, slope_tan}, {"atan", atan, slope_atan}, {"tanh", tanh, slope_tanh},
    {"abs", fabs, slope_abs},   {.name = NULL},
};

static double apply(const od_operation *o, const double *value, const double *variable) {
  double a = o->kind > OD_OPERATION_VARIABLE ? value[o->a] : 0;
  switch (o->kind) {
    case OD_OPERATION_NUMBER: return o->value;
    case OD_OPERATION_VARIABLE: return variable[o->a];
    case OD_OPERATION_ADD: return a + value[o->b];
    case OD_OPERATION_SUBTRACT: return a - value[o->b];
    case OD_OPERATION_MULTIPLY: return a * value[o->b];
    case OD_OPERATION_DIVIDE: return a / value[o->b];
    case OD_OPERATION_POWER: return pow(a, value[o->b]);
    case OD_OPERATION_NEGATE: return -a;
    case OD_OPERATION_FUNCTION: return od_expression_functions[o->b].value(a);
  }
  return NAN;
}

// By the exponent only where it is not a number: a power of a negative number has none.
static void power_slopes(const od_expression *e, const od_operation *o, const double *value, double by, double *part) {
  double a = value[o->a], b = value[o->b];
  if (b != 0) part[o->a] += by * b * pow(a, b - 1);
  if (e->operation[o->b].kind != OD_OPERATION_NUMBER) part[o->b] += by * pow(a, b) * log(a);
}

// part: what the result changes by for a change of 1 of each operation's value.
static void spread(const od_expression *e, int i, const double *value, double *part, double *gradient) {
  const od_operation *o = &e->operation[i];
  double by = part[i];
  if (by == 0) return;
  switch (o->kind) {
    case OD_OPERATION_NUMBER: return;
    case OD_OPERATION_VARIABLE: gradient[o->a] += by; return;
    case OD_OPERATION_ADD: part[o->a] += by, part[o->b] += by; return;
    case OD_OPERATION_SUBTRACT: part[o->a] += by, part[o->b] -= by; return;
    case OD_OPERATION_MULTIPLY: part[o->a] += by * value[o->b], part[o->b] += by * value[o->a]; return;
    case OD_OPERATION_DIVIDE:
      part[o->a] += by / value[o->b];
      part[o->b] -= by * value[o->a] / (value[o->b] * value[o->b]);
      return;
    case OD_OPERATION_POWER: power_slopes(e, o, value, by, part); return;
    case OD_OPERATION_NEGATE: part[o->a] -= by; return;
    case OD_OPERATION_FUNCTION: part[o->a] += by * od_expression_functions[o->b].slope(value[o->a]); return;
  }
}

double od_expression_value(const od_expression *e, const double *variable, int variables, double *gradient) {
  double value[OD_EXPRESSION_LONGEST], part[OD_EXPRESSION_LONGEST] = {0};
  if (e->count < 1) return NAN;
  for (int i = 0; i < e->count; i++) value[i] = apply(&e->operation[i], value, variable);
  for (int i = 0; gradient && i < variables; i++) gradient[i] = 0;
  part[e->count - 1] = 1;
  for (int i = e->count - 1; gradient && i >= 0; i--) spread(e, i, value, part, gradient);
  return value[e->count - 1];
}
