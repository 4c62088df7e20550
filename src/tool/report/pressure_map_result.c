// The result of fits at several pressures: numbers of a friction law over pressures.
#include <math.h>
#include <string.h>

#include "io/json.h"
#include "report/friction_result.h"

static const char *const forms[] = {"linear", "saturating", "table"};
static const double bar = 1e5;

static json_t *numbers_json(const double *x, int count) {
  json_t *list = json_array();
  for (int i = 0; i < count; i++) json_array_append_new(list, od_json_number(x[i]));
  return list;
}

static void add_parameters(const od_pressure_map *m, od_result *r) {
  bool saturates = m->plan->map.form == OD_MAP_SATURATING, is_shown = m->plan->map.form != OD_MAP_TABLE;
  const od_result_column columns[] = {{NULL, is_shown ? "parameter" : NULL, OD_CELL_TEXT},
                                      {"unit", NULL, OD_CELL_TEXT},
                                      {NULL, is_shown ? "value, SI" : NULL, OD_CELL_PLAIN},
                                      {NULL, is_shown ? "sigma" : NULL, OD_CELL_PLAIN, 2},
                                      {NULL, is_shown ? "p1, %/bar" : NULL, OD_CELL_PLAIN, .decimals = 4},
                                      {NULL, is_shown ? "sigma" : NULL, OD_CELL_PLAIN, 2},
                                      {NULL, is_shown ? "p2, %/bar" : NULL, OD_CELL_PLAIN, .decimals = 4},
                                      {NULL, is_shown ? "sigma" : NULL, OD_CELL_PLAIN, 2},
                                      {NULL, saturates ? "limit, bar" : NULL, OD_CELL_PLAIN, 4},
                                      {NULL, saturates ? "sigma" : NULL, OD_CELL_PLAIN, 2},
                                      {"chi_squared", is_shown ? "chi2" : NULL, OD_CELL_PLAIN, 3},
                                      {NULL, is_shown ? "unit" : NULL, OD_CELL_TEXT}};
  od_result_table *t = od_result_add_map(r, "parameters", columns, (int)(sizeof columns / sizeof *columns));
  for (int i = 0; i < m->parameters; i++) {
    const od_map_parameter *p = &m->parameter[i];
    double percent = 100 * bar / p->value[0];
    bool has_limit = saturates && p->coefficients > 3;
    od_result_add_row(t, NULL, NAN);
    od_result_cell_text(t, p->key);
    od_result_cell_text(t, p->unit);
    od_result_cell(t, p->value[0]);
    od_result_cell(t, p->sigma[0]);
    for (int k = 1; k < 3; k++) {
      od_result_cell(t, percent * p->value[k]);
      od_result_cell(t, fabs(percent) * p->sigma[k]);
    }
    od_result_cell(t, has_limit ? p->value[3] / bar : (double)NAN);
    od_result_cell(t, has_limit ? p->sigma[3] / bar : (double)NAN);
    od_result_cell(t, p->chi_squared);
    od_result_cell_text(t, strcmp(p->unit, "1") == 0 ? "" : p->unit);
    od_result_row_set(t, "coefficients", numbers_json(p->value, p->coefficients));
    od_result_row_set(t, "sigma", numbers_json(p->sigma, p->coefficients));
    od_result_row_set(t, "truth", numbers_json(p->truth, p->coefficients));
    od_result_row_set(t, "estimates", numbers_json(p->estimate, m->pairs));
    od_result_row_set(t, "errors", numbers_json(p->error, m->pairs));
  }
}

od_result od_pressure_map_result(const od_pressure_map *m) {
  const od_map_plan *map = &m->plan->map;
  json_t *pressures = json_array();
  for (int i = 0; i < m->pairs; i++) json_array_append_new(pressures, numbers_json(m->pressure[i], 2));
  od_result r = od_result_new("Friction over pressures", m->plan->title);
  od_result_heading(&r, "%s", m->plan->title);
  od_result_line(&r, "%s at %d pairs of pressures, %s dependence; normal pressures %g and %g bar",
                 m->plan->start.law->name, m->pairs, forms[map->form], map->normal[0] / bar, map->normal[1] / bar);
  od_result_text(&r, "title", m->plan->title);
  od_result_text(&r, "law", m->plan->start.law->name);
  od_result_text(&r, "form", forms[map->form]);
  od_result_set(&r, "normal", numbers_json(map->normal, 2));
  od_result_set(&r, "pressures", pressures);
  od_result_whole(&r, "left_out", m->failed);
  add_parameters(m, &r);
  od_result_verdict(&r, &m->verdict);
  return r;
}

od_table *od_pressure_map_table(const od_pressure_map *m) {
  OD_OWNED(od_table_free) od_table *t = od_table_new(2 + 2 * m->parameters);
  double row[2 + 2 * OD_MOST_LAW_NUMBERS];
  bool ok = t && od_table_label(t, 0, "p1", "Pa") == OD_OK && od_table_label(t, 1, "p2", "Pa") == OD_OK;
  for (int i = 0; ok && i < m->parameters; i++) {
    char name[100];
    snprintf(name, sizeof name, "%.80s sd", m->parameter[i].key);
    ok = od_table_label(t, 2 + 2 * i, m->parameter[i].key, m->parameter[i].unit) == OD_OK &&
         od_table_label(t, 3 + 2 * i, name, m->parameter[i].unit) == OD_OK;
  }
  for (int k = 0; ok && k < m->pairs; k++) {
    row[0] = m->pressure[k][0], row[1] = m->pressure[k][1];
    for (int i = 0; i < m->parameters; i++)
      row[2 + 2 * i] = m->parameter[i].estimate[k], row[3 + 2 * i] = m->parameter[i].error[k];
    ok = od_table_append(t, row) == OD_OK;
  }
  return ok ? OD_GIVE(t) : NULL;
}
