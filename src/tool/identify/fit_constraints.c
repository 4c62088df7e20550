// Functions of the parameters that a file defines: combinations, and constraints with their description in the result.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "identify/fit_work.h"

// --- Combinations: prod p_i^power_i * sum weight_i p_i ------------------------------------------------------------

// Returns the product of all p_i^power_i (k < 0), or the derivative of this product with respect to parameter k. Parameter
// k may be zero; its power must not be zero.
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

// --- Constraints --------------------------------------------------------------------------------------------------

// Returns the value of a constraint, and its gradient with respect to the parameters (may be NULL). A satisfied constraint
// has the value zero (equalities) or at least zero (inequalities). scratch: one number per parameter.
static double constraint_value(const od_fit_constraint *c, int parameters, const double *p, double *gradient,
                               double *scratch) {
  double left = od_expression_value(&c->left, p, parameters, gradient);
  double right = od_expression_value(&c->right, p, parameters, gradient ? scratch : NULL);
  double sign = c->kind == OD_AT_MOST ? -1 : 1;
  for (int i = 0; gradient && i < parameters; i++) gradient[i] = sign * (gradient[i] - scratch[i]);
  return sign * (left - right);
}

int od_fit_constraints(void *user, const double *x, double *c, double *C) {
  const od_fit_work *w = user;
  for (int i = 0; i < w->plan->constraints; i++) {
    double *gradient = C ? C + (size_t)i * (size_t)w->n : NULL;
    c[i] = constraint_value(&w->plan->constraint[i], w->np, x, gradient, w->constraint_scratch);
  }
  return 0;
}

bool od_fit_is_fixed(const od_fitted *f, int i) {
  return f->search->constraints > 0 && !f->search->at_bound[i] && f->search->sigma[i] == 0;
}

int od_fit_active_rows(const od_fitted *f, double *rows) {
  const od_ls_result *r = f->search;
  int np = f->plan->e->parameters, count = 0;
  for (int i = 0; i < r->constraints; i++) {
    if (!r->active[i]) continue;
    for (int j = 0; rows && j < np; j++) rows[count * np + j] = r->slope[i * r->n + j];
    count++;
  }
  return count;
}

// Writes a value with its unit: "0.12 kg s-2".
static void write_amount(char *text, size_t size, double value, const od_expression *e) {
  char unit[120];
  od_unit_text(e->power, unit);
  snprintf(text, size, "%.3g%s%s", value, *unit ? " " : "", unit);
}

bool od_fit_constraint_is_doubtful(const od_fitted *f, int i) {
  const od_ls_result *r = f->search;
  return r->active[i] && fabs(r->beyond[i]) > 3 * r->beyond_sigma[i];
}

// The text states whether the constraint is active. For an inactive constraint, the text contains the margin. For an active
// constraint, the text contains the difference between both sides at the optimum without the constraint.
void od_fit_constraint_text(const od_fitted *f, int i, char *text, size_t size) {
  const od_fit_constraint *c = &f->plan->constraint[i];
  const od_ls_result *r = f->search;
  const od_expression *unit = c->left.any_unit ? &c->right : &c->left;
  double beyond = (c->kind == OD_AT_MOST ? -1 : 1) * r->beyond[i];
  char amount[160], sigma[160];
  if (!r->active[i]) {
    write_amount(amount, sizeof amount, fabs(r->constraint[i]), unit);
    snprintf(text, size, "not active, with a margin of %s", amount);
  } else if (isnan(beyond)) {
    snprintf(text, size, "active; without this constraint, the data do not determine '%s'", c->left_text);
  } else {
    write_amount(amount, sizeof amount, fabs(beyond), unit);
    write_amount(sigma, sizeof sigma, r->beyond_sigma[i], unit);
    snprintf(text, size, "active; without this constraint, '%s' would be %s than '%s' by %s (standard deviation %s)",
             c->left_text, beyond > 0 ? "larger" : "smaller", c->right_text, amount, sigma);
  }
}
