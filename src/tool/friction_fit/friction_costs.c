// The sum of squared residuals as a function of one parameter at a time (Figure 6.14 of source 28 in docs/theory.md). This curve
// shows whether searches can end in other minima.
#include <math.h>

#include "friction_fit/friction_fit.h"
#include "friction_fit/law_fit.h"

enum { FACTORS = 121 };
static const double widest = 5;  // largest factor; factors from 1/5 to 5 are evenly spaced in logarithms

// Returns the sum of squared residuals, N^2; NAN if the law cannot be evaluated.
static double squares_of(od_law_rows *rows, const od_law_numbers *n, double *force) {
  double sum = 0;
  if (od_law_predict(rows, n, 0, NULL, force, NULL) != OD_OK) return NAN;
  for (int i = 0; i < rows->count; i++) sum += pow(force[i] - rows->force[i], 2);
  return sum;
}

// The fitted rows, and the numbers around which parameters vary.
typedef struct costs {
  od_arena arena;
  od_law_numbers center;
  od_law_rows rows;
  double *force;
} costs;

static od_status begin(const od_friction_plan *plan, const od_friction_data *d, costs *c) {
  c->force = OD_TAKE(&c->arena, double, d->samples + d->points.count);
  if (!c->force) return OD_NO_MEMORY;
  if (!od_friction_truth(plan, &c->center)) c->center = plan->start;
  if (plan->method != OD_FRICTION_STEADY)
    return od_law_rows_of_run(d, plan->substeps, plan->log.skip, INFINITY, &c->rows);
  c->rows = (od_law_rows){.count = d->points.count, .v = d->points.v, .force = d->points.force};
  return OD_OK;
}

static void end(costs *c) {
  od_law_rows_free(&c->rows);
  od_arena_free(&c->arena);
}

od_status od_friction_costs(const od_friction_plan *plan, const od_friction_data *d, od_table **out, od_error *err) {
  OD_OWNED(od_table_free) od_table *table = od_table_new(1 + plan->parameters);
  OD_SCOPED(end) costs c = {0};
  double row[1 + OD_MOST_LAW_NUMBERS];
  od_status status = table ? OD_OK : OD_NO_MEMORY;
  if (status == OD_OK) status = od_table_label(table, 0, "factor", "1");
  for (int i = 0; i < plan->parameters && status == OD_OK; i++)
    status = od_table_label(table, 1 + i, od_law_field(plan->start.law, plan->parameter[i])->key, "N2");
  if (status == OD_OK) status = begin(plan, d, &c);
  for (int k = 0; k < FACTORS && status == OD_OK; k++) {
    double factor = pow(widest, 2.0 * k / (FACTORS - 1) - 1);
    row[0] = factor;
    for (int i = 0; i < plan->parameters; i++) {
      od_law_numbers n = c.center;
      for (int other = 0; other < plan->parameters; other++) n.q[plan->parameter[other]] *= plan->start_factor;
      n.q[plan->parameter[i]] = c.center.q[plan->parameter[i]] * factor;
      row[1 + i] = squares_of(&c.rows, &n, c.force);
    }
    status = od_table_append(table, row);
  }
  *out = NULL;
  if (status != OD_OK) return od_fail(err, status, "%s: %s", plan->path, od_status_text(status));
  *out = OD_GIVE(table);
  return OD_OK;
}

od_status od_friction_cost_field(const od_friction_plan *plan, const od_friction_data *d, const int parameter[2],
                                 od_table **out, od_error *err) {
  OD_OWNED(od_table_free) od_table *table = od_table_new(3);
  OD_SCOPED(end) costs c = {0};
  od_status status = table ? OD_OK : OD_NO_MEMORY;
  if (status == OD_OK) status = od_table_label(table, 2, "squares", "1");
  for (int i = 0; i < 2 && status == OD_OK; i++)
    status = od_table_label(table, i, od_law_field(plan->start.law, parameter[i])->key, "1");
  if (status == OD_OK) status = begin(plan, d, &c);
  for (int k = 0; k < OD_COST_STEPS * OD_COST_STEPS && status == OD_OK; k++) {
    const int at[2] = {k % OD_COST_STEPS, k / OD_COST_STEPS};
    double row[3];
    od_law_numbers n = c.center;
    for (int other = 0; other < plan->parameters; other++) n.q[plan->parameter[other]] *= plan->start_factor;
    for (int i = 0; i < 2; i++) {
      row[i] = log10(widest) * (2.0 * at[i] / (OD_COST_STEPS - 1) - 1);
      n.q[parameter[i]] = c.center.q[parameter[i]] * pow(10, row[i]);
    }
    // The accepted sum is a lower limit, because a sum of zero has no logarithm.
    row[2] = log10(fmax(squares_of(&c.rows, &n, c.force), c.rows.count * pow(plan->accept, 2)));
    status = od_table_append(table, row);
  }
  *out = NULL;
  if (status != OD_OK) return od_fail(err, status, "%s: %s", plan->path, od_status_text(status));
  *out = OD_GIVE(table);
  return OD_OK;
}
