// A pressure map of friction parameters as a case of a study. Each run has different errors at each pair of pressures. Metrics:
//
//   KEY C1, KEY C2    change of a parameter per bar of each chamber's pressure, relative to the parameter at the normal
//                     pressures; mean over the runs
//   KEY chi_squared   chi-squared of the estimates around the fitted dependence on the pressures, per degree of freedom; 1 if
//                     the form of the dependence is correct
//   coefficients_in_99    fraction of the true coefficients within their 99 % intervals
//   left_out          number of pairs of pressures without a fit
//   failed            number of runs without a map
#include <math.h>

#include "friction_fit/friction_map.h"
#include "study/cases.h"

enum { PER_PARAMETER = 3 };
static const char *const endings[PER_PARAMETER] = {" C1", " C2", " chi_squared"};

static od_status prepare(od_case *c, od_error *err) {
  const od_friction_plan *plan = c->what;
  int judged = plan->parameters * (plan->map.form == OD_MAP_SATURATING ? 4 : 3);
  for (int i = 0; i < plan->parameters && plan->map.form != OD_MAP_TABLE; i++)
    for (int k = 0; k < PER_PARAMETER; k++) {
      const char *key = od_law_field(plan->start.law, plan->parameter[i])->key;
      od_case_add(c, od_arena_format(&c->memory, "%s%s", key, endings[k]), k < 2 ? "1/bar" : "1", OD_GATHER_MEAN);
    }
  od_case_add_metric(c, (od_metric){"coefficients_in_99", "1", OD_GATHER_PART, 0.99, judged, NAN});
  od_case_add(c, "left_out", "1", OD_GATHER_MEAN);
  od_case_add(c, "failed", "runs", OD_GATHER_COUNT);
  return od_arena_status(&c->memory) == OD_OK ? OD_OK : od_fail(err, OD_NO_MEMORY, "out of memory");
}

static od_status run(const od_case *c, uint64_t seed, double *value, od_error *err) {
  const od_friction_plan *plan = c->what;
  const od_friction_run_options options = {.progress = c->progress, .user = c->user};
  od_pressure_map *m = NULL;
  od_status status = od_pressure_map_fit(plan, seed, &options, &m, err);
  value[c->metrics - 1] = !m;
  if (m) {
    int count;
    for (int i = 0; i < m->parameters && plan->map.form != OD_MAP_TABLE; i++) {
      const od_map_parameter *p = &m->parameter[i];
      for (int k = 0; k < 2; k++) *value++ = 1e5 * p->value[1 + k] / p->value[0];
      *value++ = p->chi_squared;
    }
    *value++ = od_pressure_map_inside(m, &count);
    *value = m->failed;
  }
  od_pressure_map_free(m);
  return status;
}

static void release(od_case *c) {
  od_friction_plan_free(c->what);
}

const od_case_ops od_map_case_ops = {.prepare = prepare, .run = run, .release = release};
