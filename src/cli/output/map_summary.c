// What a map of friction parameters over pressures says.
#include <math.h>
#include <string.h>

#include "output/friction_summary.h"
#include "terminal/print_verdict.h"
#include "terminal/terminal.h"
#include "io/display.h"
#include "io/json.h"

static const char *const forms[] = {"linear", "saturating", "table"};
static const double bar = 1e5;

void od_pressure_map_print(const od_pressure_map *m, FILE *to) {
  const od_map_plan *map = &m->plan->map;
  od_heading(to, m->plan->title);
  fprintf(to, "%s at %d pairs of pressures, %s dependence; normal pressures %g and %g bar\n", m->plan->start.law->name,
          m->pairs, forms[map->form], map->normal[0] / bar, map->normal[1] / bar);
  int width = 0;
  for (int i = 0; i < m->parameters; i++) width = od_text_widest(width, m->parameter[i].key);
  if (map->form != OD_MAP_TABLE) {
    fprintf(to, "  ");
    od_print_padded(to, "", width);
    fprintf(to, "  %12s %10s   %9s %9s   %9s %9s%s   chi2\n", "value", "+-", "%/bar p1", "+-", "%/bar p2", "+-",
            map->form == OD_MAP_SATURATING ? "   limit bar        +-" : "");
  }
  for (int i = 0; i < m->parameters && map->form != OD_MAP_TABLE; i++) {
    const od_map_parameter *p = &m->parameter[i];
    double percent = 100 * bar / p->value[0];
    fprintf(to, "  ");
    od_print_padded(to, p->key, width);
    fprintf(to, "  %12.6g %10.2g   %9.4f %9.2g   %9.4f %9.2g", p->value[0], p->sigma[0], percent * p->value[1],
            fabs(percent) * p->sigma[1], percent * p->value[2], fabs(percent) * p->sigma[2]);
    if (map->form == OD_MAP_SATURATING && p->coefficients > 3)
      fprintf(to, "   %9.4g %9.2g", p->value[3] / bar, p->sigma[3] / bar);
    else if (map->form == OD_MAP_SATURATING)
      fprintf(to, "   %9s %9s", "-", "-");
    fprintf(to, "   %.3g%s%s\n", p->chi_squared, strcmp(p->unit, "1") ? "  " : "", strcmp(p->unit, "1") ? p->unit : "");
  }
  od_cli_verdict(&m->verdict, to);
}

static json_t *numbers_json(const double *x, int count) {
  json_t *list = json_array();
  for (int i = 0; i < count; i++) json_array_append_new(list, od_json_number(x[i]));
  return list;
}

json_t *od_pressure_map_json(const od_pressure_map *m) {
  const od_map_plan *map = &m->plan->map;
  json_t *parameters = json_object(), *pressures = json_array();
  for (int i = 0; i < m->pairs; i++) json_array_append_new(pressures, numbers_json(m->pressure[i], 2));
  for (int i = 0; i < m->parameters; i++) {
    const od_map_parameter *p = &m->parameter[i];
    json_object_set_new(
        parameters, p->key,
        json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "unit", od_json_text(p->unit), "coefficients",
                  numbers_json(p->value, p->coefficients), "sigma", numbers_json(p->sigma, p->coefficients), "truth",
                  numbers_json(p->truth, p->coefficients), "chi_squared", od_json_number(p->chi_squared), "estimates",
                  numbers_json(p->estimate, m->pairs), "errors", numbers_json(p->error, m->pairs)));
  }
  return json_pack("{s:o, s:s, s:s, s:o, s:o, s:o, s:i, s:o}", "title", od_json_text(m->plan->title), "law",
                   m->plan->start.law->name, "form", forms[map->form], "normal", numbers_json(map->normal, 2),
                   "pressures", pressures, "parameters", parameters, "left_out", m->failed, "verdict",
                   od_verdict_json(&m->verdict));
}

od_table *od_pressure_map_table(const od_pressure_map *m) {
  od_table *t = od_table_new(2 + 2 * m->parameters);
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
  if (ok) return t;
  od_table_free(t);
  return NULL;
}
