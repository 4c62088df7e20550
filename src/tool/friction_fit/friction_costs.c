// The sum of squared residuals over one parameter at a time, as in Figure 6.14 of source 28. It shows whether searches can end
// in other minima.
#include <math.h>
#include <stdlib.h>

#include "friction_fit/friction_fit.h"
#include "friction_fit/law_search.h"

enum { FACTORS = 121 };
static const double widest = 5;  // factors from 1/5 to 5, evenly in logarithms

static double squares_of(const od_law_target *t, const od_law_numbers *n, double *force) {
  double sum = 0;
  if (t->evaluate(t, n, 0, NULL, force, NULL) != OD_OK) return NAN;
  for (int i = 0; i < t->rows; i++) sum += pow(force[i] - t->measured[i], 2);
  return sum;
}

static od_table *new_table(const od_friction_plan *plan) {
  od_table *table = od_table_new(1 + plan->parameters);
  bool ok = table && od_table_label(table, 0, "factor", "1") == OD_OK;
  for (int i = 0; ok && i < plan->parameters; i++)
    ok = od_table_label(table, 1 + i, od_law_field(plan->start.law, plan->parameter[i])->key, "N2") == OD_OK;
  if (ok) return table;
  od_table_free(table);
  return NULL;
}

// The target of the law, and the center of its numbers.
typedef struct costs {
  od_law_numbers centre;
  od_law_target target;
  od_run_model *model;
  double *force;
} costs;

static od_status begin(const od_friction_plan *plan, const od_friction_data *d, costs *c) {
  bool points = plan->method == OD_FRICTION_STEADY;
  c->force = malloc(((size_t)(d->samples + d->points.count) + 1) * sizeof *c->force);
  if (!c->force) return OD_NO_MEMORY;
  if (!od_friction_truth(plan, &c->centre)) c->centre = plan->start;
  if (points) {
    c->target = od_law_target_points(d->points.count, d->points.v, d->points.force, NULL);
    return OD_OK;
  }
  od_status status = od_friction_data_model(d, plan->substeps, &c->model);
  if (status == OD_OK && !od_law_target_run(d, c->model, plan->log.skip, INFINITY, 1, &c->target))
    status = OD_NO_MEMORY;
  return status;
}

static void end(costs *c) {
  od_law_target_free(&c->target);
  od_run_model_free(c->model);
  free(c->force);
}

static od_status hand_over(const od_friction_plan *plan, od_status status, od_table *table, od_table **out,
                           od_error *err) {
  *out = status == OD_OK ? table : NULL;
  if (status == OD_OK) return OD_OK;
  od_table_free(table);
  return od_fail(err, status, "%s: %s", plan->path, od_status_text(status));
}

od_status od_friction_costs(const od_friction_plan *plan, const od_friction_data *d, od_table **out, od_error *err) {
  costs c = {0};
  double row[1 + OD_MOST_LAW_NUMBERS];
  od_table *table = new_table(plan);
  od_status status = table ? begin(plan, d, &c) : OD_NO_MEMORY;
  for (int k = 0; k < FACTORS && status == OD_OK; k++) {
    double factor = pow(widest, 2.0 * k / (FACTORS - 1) - 1);
    row[0] = factor;
    for (int i = 0; i < plan->parameters; i++) {
      od_law_numbers n = c.centre;
      for (int other = 0; other < plan->parameters; other++) n.q[plan->parameter[other]] *= plan->start_factor;
      n.q[plan->parameter[i]] = c.centre.q[plan->parameter[i]] * factor;
      row[1 + i] = squares_of(&c.target, &n, c.force);
    }
    status = od_table_append(table, row);
  }
  end(&c);
  return hand_over(plan, status, table, out, err);
}

od_status od_friction_cost_field(const od_friction_plan *plan, const od_friction_data *d, const int parameter[2],
                                 od_table **out, od_error *err) {
  costs c = {0};
  od_table *table = od_table_new(3);
  bool ok = table != NULL;
  for (int i = 0; i < 2 && ok; i++)
    ok = od_table_label(table, i, od_law_field(plan->start.law, parameter[i])->key, "1") == OD_OK;
  ok = ok && od_table_label(table, 2, "squares", "1") == OD_OK;
  od_status status = ok ? begin(plan, d, &c) : OD_NO_MEMORY;
  for (int k = 0; k < OD_COST_STEPS * OD_COST_STEPS && status == OD_OK; k++) {
    const int at[2] = {k % OD_COST_STEPS, k / OD_COST_STEPS};
    double row[3];
    od_law_numbers n = c.centre;
    for (int other = 0; other < plan->parameters; other++) n.q[plan->parameter[other]] *= plan->start_factor;
    for (int i = 0; i < 2; i++) {
      row[i] = log10(widest) * (2.0 * at[i] / (OD_COST_STEPS - 1) - 1);
      n.q[parameter[i]] = c.centre.q[parameter[i]] * pow(10, row[i]);
    }
    // A smaller sum is replaced by the accepted one, because of the logarithm.
    row[2] = log10(fmax(squares_of(&c.target, &n, c.force), c.target.rows * pow(plan->accept, 2)));
    status = od_table_append(table, row);
  }
  end(&c);
  return hand_over(plan, status, table, out, err);
}
