// Functions of parameters that people want to know: value = prod p_i^power_i * sum weight_i p_i.
#include <math.h>

#include "identify/fit.h"

static double product(const od_combination *c, int parameters, const double *p) {
  double value = 1;
  for (int i = 0; i < parameters; i++)
    if (c->power[i] != 0) value *= pow(p[i], c->power[i]);
  return value;
}

double od_combination_value(const od_combination *c, int parameters, const double *p, double *gradient) {
  double sum = 0, powers = product(c, parameters, p);
  bool weighted = false;
  for (int i = 0; i < parameters; i++) {
    sum += c->weight[i] * p[i];
    weighted = weighted || c->weight[i] != 0;
  }
  if (!weighted) sum = 1;
  for (int i = 0; gradient && i < parameters; i++)
    gradient[i] = (c->power[i] != 0 ? sum * powers * c->power[i] / p[i] : 0) + powers * c->weight[i];
  return powers * sum;
}
