// The sum of squared residuals over one parameter at a time, as in Figure 6.14 of source 28: whether searches can get lost.
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

od_status od_friction_costs(const od_friction_plan *plan, const od_friction_data *d, od_table **out, od_error *err) {
  bool points = plan->method == OD_FRICTION_STEADY;
  od_law_numbers centre;
  od_run_model *m = NULL;
  od_law_target t = {0};
  double row[1 + OD_MOST_LAW_NUMBERS], *force = malloc(((size_t)(d->samples + d->points.count) + 1) * sizeof *force);
  od_table *table = new_table(plan);
  od_status status = table && force ? OD_OK : OD_NO_MEMORY;
  if (!od_friction_truth(plan, &centre)) centre = plan->start;
  if (status == OD_OK && points)
    t = od_law_target_points(d->points.count, d->points.v, d->points.force, NULL);
  else if (status == OD_OK)
    status = od_friction_data_model(d, plan->substeps, &m);
  if (status == OD_OK && !points && !od_law_target_run(d, m, plan->log.skip, INFINITY, 1, &t)) status = OD_NO_MEMORY;
  for (int k = 0; k < FACTORS && status == OD_OK; k++) {
    double factor = pow(widest, 2.0 * k / (FACTORS - 1) - 1);
    row[0] = factor;
    for (int i = 0; i < plan->parameters; i++) {
      od_law_numbers n = centre;
      for (int other = 0; other < plan->parameters; other++) n.q[plan->parameter[other]] *= plan->start_factor;
      n.q[plan->parameter[i]] = centre.q[plan->parameter[i]] * factor;
      row[1 + i] = squares_of(&t, &n, force);
    }
    status = od_table_append(table, row);
  }
  od_law_target_free(&t);
  od_run_model_free(m);
  free(force);
  *out = status == OD_OK ? table : NULL;
  if (status == OD_OK) return OD_OK;
  od_table_free(table);
  return od_fail(err, status, "%s: %s", plan->path, od_status_text(status));
}
