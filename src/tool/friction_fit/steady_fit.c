// A law fitted to points of steady motion.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "friction_fit/fit_stages.h"

int od_friction_select(const od_friction_plan *plan, int which, int *number) {
  const od_friction_law *law = plan->start.law;
  int count = 0, base = law->sided + law->common;
  for (int i = 0; i < plan->parameters; i++) {
    int k = plan->parameter[i], side = k >= base ? 1 : k < law->sided && plan->start.two_sided ? 0 : 2;
    if (side == which) number[count++] = k;
  }
  return count;
}

// Numbers that the force of steady motion at some speed depends on.
static int keep_steady(const od_law_numbers *n, int count, const double *v, int columns, int *number) {
  int kept = 0;
  for (int k = 0; k < columns; k++) {
    bool matters = false;
    for (int i = 0; i < count && !matters; i++) matters = od_law_steady_slope(n, v[i], number[k]) != 0;
    if (matters) number[kept++] = number[k];
  }
  return kept;
}

void od_point_groups_free(od_point_group group[2]) {
  for (int g = 0; g < 2; g++) free(group[g].v), free(group[g].force), free(group[g].weight);
}

// Points of one direction (side 0, 1) or all (2). Weights are relative, so that residuals stay in newtons.
static bool fill_group(const od_friction_plan *plan, const od_steady_points *p, int side, od_point_group *g) {
  size_t size = (size_t)p->count + 1;
  double sum = 0;
  bool known = p->count > 0;
  g->v = calloc(size, sizeof *g->v), g->force = calloc(size, sizeof *g->v), g->weight = calloc(size, sizeof *g->v);
  if (!g->v || !g->force || !g->weight) return false;
  for (int i = 0; i < p->count; i++) {
    if (side < 2 && (p->v[i] < 0) != (side == 1)) continue;
    g->v[g->count] = p->v[i], g->force[g->count] = p->force[i], g->weight[g->count++] = p->sigma[i];
    known = known && p->sigma[i] > 0;
    sum += p->sigma[i];
  }
  g->noise = known && g->count > 0 ? sum / g->count : 0;
  for (int i = 0; i < g->count; i++) g->weight[i] = known ? g->noise / fmax(g->weight[i], 0.05 * g->noise) : 1;
  g->columns = od_friction_select(plan, side, g->number);
  g->columns = keep_steady(&plan->start, g->count, g->v, g->columns, g->number);
  return true;
}

int od_point_groups(const od_friction_plan *plan, const od_steady_points *p, od_point_group group[2]) {
  int number[OD_MOST_LAW_NUMBERS];
  int groups = od_friction_select(plan, 1, number) > 0 ? 2 : 1;
  memset(group, 0, 2 * sizeof *group);
  for (int g = 0; g < groups; g++)
    if (!fill_group(plan, p, groups == 2 ? g : 2, &group[g])) return 0;
  return groups;
}

od_status od_friction_fit_points(od_friction_fitted *f, const od_friction_run_options *options, od_error *err) {
  const od_friction_plan *plan = f->plan;
  od_point_group group[2];
  od_law_options o = od_friction_law_options(plan, options);
  int groups = od_point_groups(plan, &f->data->points, group);
  od_status status = groups > 0 ? OD_OK : od_fail(err, OD_NO_MEMORY, "memory ran out");
  for (int g = 0; g < groups && status == OD_OK; g++) {
    od_law_found found = {0};
    if (group[g].count == 0 || group[g].columns == 0) continue;
    od_law_target t = od_law_target_points(group[g].count, group[g].v, group[g].force, group[g].weight);
    status = od_law_search(&t, &o, group[g].columns, group[g].number, &f->law, &found, err);
    od_friction_count(f, &found);
    if (status == OD_NOT_CONVERGED) f->converged = false, status = OD_OK;
  }
  od_point_groups_free(group);
  return status;
}
