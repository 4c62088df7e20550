// User-defined functions of parameters: value = prod p_i^power_i * sum weight_i p_i.
#include <math.h>

#include "identify/fit.h"

// The product of the powers; for k >= 0 divided by parameter k, which also works at zero.
static double product(const od_combination *c, int parameters, const double *p, int k) {
  double value = 1;
  for (int i = 0; i < parameters; i++) {
    double power = c->power[i];
    if (power != 0) value *= i == k ? power * pow(p[i], power - 1) : pow(p[i], power);
  }
  return value;
}

double od_combination_value(const od_combination *c, int parameters, const double *p, double *gradient) {
  double sum = 0, powers = product(c, parameters, p, -1);
  bool weighted = false;
  for (int i = 0; i < parameters; i++) {
    sum += c->weight[i] * p[i];
    weighted = weighted || c->weight[i] != 0;
  }
  if (!weighted) sum = 1;
  for (int i = 0; gradient && i < parameters; i++)
    gradient[i] = (c->power[i] != 0 ? sum * product(c, parameters, p, i) : 0) + powers * c->weight[i];
  return powers * sum;
}
