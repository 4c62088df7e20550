// The view has this order: facts, findings, parameters, shares of the parts of a run, measured and fitted values, residuals.
#include "report/friction_result.h"

#include <math.h>
#include <stdlib.h>

#include "io/json.h"
#include "io/wording.h"
#include "report/machine_facts.h"
#include "report/page_values.h"

static bool is_of_points(const od_friction_fitted *f) {
  return f->plan->method == OD_FRICTION_STEADY;
}

// --- Facts and findings -----------------------------------------------------------------------------------------------

static void add_facts(const od_friction_fitted *f, od_result *r) {
  const od_friction_plan *plan = f->plan;
  const od_friction_points *p = &plan->points;
  od_result_audience(r, OD_FOR_PAGE);
  od_result_fact(r, "File", "%s", plan->path);
  od_result_fact(r, "Law", "%s%s, method %s", f->law.law->name,
                 f->law.two_sided ? ", separate numbers for each direction" : "", od_friction_methods[plan->method]);
  if (is_of_points(f))
    od_result_fact(r, "Points", "%d, %s", f->rows,
                   p->given && p->log ? p->log
                   : p->given         ? "simulated"
                                      : "from the settled parts of a run");
  if (f->data->samples > 0)
    od_result_fact(r, "Run", "%s, %d samples from %.4g s to %.4g s",
                   plan->log.experiment ? plan->log.experiment->path
                   : plan->log.file     ? plan->log.file
                                        : "simulated",
                   f->data->samples, f->data->t[0], f->data->t[f->data->samples - 1]);
  od_add_replaced_fact(r, "Set in the file", &plan->file->numbers);
  od_result_audience(r, OD_FOR_TERMINAL);
  char points[120] = "";
  if (!is_of_points(f) && f->data->points.count > 0)
    snprintf(points, sizeof points, "%s, ", od_count(f->data->points.count, "point").text);
  od_result_line(r, "%s, method %s, %s%s", f->law.law->name, od_friction_methods[plan->method], points,
                 od_count(f->rows, is_of_points(f) ? "point" : "sample").text);
  od_result_audience(r, OD_FOR_ALL);
}

static void add_data(const od_friction_fitted *f, od_result *r) {
  const od_force_budget *b = &f->data->budget;
  od_result_text(r, "title", f->plan->title);
  od_result_text(r, "law", f->law.law->name);
  od_result_text(r, "method", od_friction_methods[f->plan->method]);
  od_result_whole(r, "rows", f->rows);
  od_result_whole(r, "points", f->data->points.count);
  od_result_number(r, "mean_abs_residual", f->mean_abs);
  od_result_number(r, "rms_residual", f->rms);
  od_result_number(r, "max_residual", f->largest);
  od_result_whole(r, "iterations", f->iterations);
  od_result_whole(r, "evaluations", f->evaluations);
  od_result_whole(r, "searches", f->searches);
  od_result_flag(r, "accepted", f->accepted);
  if (!b->known) return;
  od_result_set(r, "force_budget",
                json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "pressure", od_json_number(b->pressure), "load",
                          od_json_number(b->load), "acceleration", od_json_number(b->acceleration), "area",
                          od_json_number(b->area), "mass", od_json_number(b->mass), "total", od_json_number(b->total)));
}

static void add_findings(const od_friction_fitted *f, od_result *r) {
  od_result_audience(r, OD_FOR_PAGE);
  od_result_section(r, "Findings");
  od_result_verdict(r, &f->verdict);
  for (int i = 0; i < f->parameters; i++) {
    const od_friction_parameter *p = &f->parameter[i];
    char truth[120] = "";
    double size = od_larger(p->value, p->truth);
    if (p->known == OD_PARAMETER_UNKNOWN) continue;
    if (!isnan(p->truth))
      snprintf(truth, sizeof truth, " (true: %s)", od_quantity_alone(p->truth, NAN, p->unit, size).text);
    od_result_finding(r, OD_SOUND, p->key, "is %s%s.", od_quantity(p->value, p->sigma, p->unit, size).text, truth);
  }
  od_result_audience(r, OD_FOR_ALL);
}

// --- Parameters -------------------------------------------------------------------------------------------------------

static json_t *shares_data(const od_friction_fitted *f, int parameter) {
  json_t *list = json_array();
  for (int part = 0; part < f->data->parts; part++)
    json_array_append_new(list, od_json_number(f->share[part * f->parameters + parameter]));
  return list;
}

static void add_parameters(const od_friction_fitted *f, od_result *r) {
  static const char *const remark[] = {"", "weak", "not determined"};
  bool has_truth = false, has_shift = f->data->speed_noise > 0;
  for (int i = 0; i < f->parameters; i++) has_truth = has_truth || !isnan(f->parameter[i].truth);
  const od_result_column columns[] = {
      {NULL, "parameter", OD_CELL_TEXT},
      {"unit", "unit", OD_CELL_UNIT},
      {"start", "start", OD_CELL_NUMBER},
      {"value", "estimate", OD_CELL_NUMBER},
      {NULL, "\u00b1 95 %", OD_CELL_NUMBER},
      {NULL, "\u00b1 in percent", OD_CELL_PLAIN, 2},
      {NULL, has_shift && !is_of_points(f) ? "shift due to speed noise, sigmas" : NULL, OD_CELL_PLAIN, 2},
      {"truth", has_truth ? "true" : NULL, OD_CELL_NUMBER},
      {NULL, has_truth ? "error, %" : NULL, OD_CELL_PLAIN, .decimals = 4},
      {"sigma", NULL, OD_CELL_NUMBER},
      {NULL, NULL, OD_CELL_REMARK}};
  od_result_section(r, "Parameters");
  od_result_table *t = od_result_add_map(r, "parameters", columns, (int)(sizeof columns / sizeof *columns));
  for (int i = 0; i < f->parameters; i++) {
    const od_friction_parameter *p = &f->parameter[i];
    double half = p->known == OD_PARAMETER_UNKNOWN ? (double)NAN : OD_NORMAL95 * p->sigma;
    od_result_add_row(t, p->unit, od_larger(p->value, p->truth));
    od_result_cell_text(t, p->key);
    od_result_cell(t, f->plan->start.q[p->number]);
    od_result_cell_value(t, p->value, half);
    od_result_cell_uncertainty(t, half);
    od_result_cell(t, 100 * half / fabs(p->value));
    od_result_cell(t, p->shift / p->sigma);
    od_result_mark(t, fabs(p->shift) > 0.5 * p->sigma);
    od_result_cell_value(t, p->truth, NAN);
    od_result_cell(t, 100 * (p->value / p->truth - 1));
    od_result_cell(t, p->sigma);
    od_result_cell_text(t, remark[p->known]);
    od_result_mark(t, p->known != OD_PARAMETER_KNOWN);
    od_result_row_set(t, "told", json_boolean(p->known != OD_PARAMETER_UNKNOWN));
    if (has_shift) od_result_row_set(t, "speed_shift", od_json_number(p->shift));
    if (f->share) od_result_row_set(t, "shares", shares_data(f, i));
  }
}

// --- Shares -----------------------------------------------------------------------------------------------------------

static void name_part(const od_friction_data *d, int part, char *text, size_t size) {
  double from = NAN, until = NAN;
  for (int i = 0; i < d->samples; i++) {
    if (d->part[i] != part) continue;
    if (isnan(from)) from = d->t[i];
    until = d->t[i];
  }
  snprintf(text, size, isnan(from) ? "" : "%.2f to %.2f s", from, until);
}

static bool has_shares(const od_friction_fitted *f, int parameter) {
  for (int part = 0; f->share && part < f->data->parts; part++)
    if (f->share[part * f->parameters + parameter] > 0) return true;
  return false;
}

static void add_shares(const od_friction_fitted *f, od_result *r) {
  od_result_column columns[1 + OD_MOST_LAW_NUMBERS] = {{NULL, "part of the run", OD_CELL_TEXT}};
  int count = 1;
  for (int i = 0; i < f->parameters; i++)
    if (has_shares(f, i)) columns[count++] = (od_result_column){NULL, f->parameter[i].key, OD_CELL_HEAT, .decimals = 2};
  if (count == 1 || f->data->parts < 2) return;
  od_result_section(r, "Information by part of the run");
  od_result_line(r,
                 "Share of each part of the run in the information about a parameter; 1 means all information. If one "
                 "short part determines a parameter, a longer part reduces the uncertainty of the parameter.");
  od_result_table *t = od_result_add_table(r, NULL, columns, count);
  for (int part = 0; part < f->data->parts; part++) {
    char name[60];
    name_part(f->data, part, name, sizeof name);
    if (!name[0]) continue;
    od_result_add_row(t, NULL, NAN);
    od_result_cell_text(t, name);
    for (int i = 0; i < f->parameters; i++)
      if (has_shares(f, i)) od_result_cell(t, f->share[part * f->parameters + i]);
  }
}

// --- The whole result -------------------------------------------------------------------------------------------------

od_result od_friction_result(const od_friction_fitted *f) {
  const od_force_budget *b = &f->data->budget;
  char starts[128] = "";
  od_result r = od_result_new("Friction report", f->plan->title);
  r.doubtful_means = "errors may be larger than the reported intervals";
  od_result_audience(&r, OD_FOR_TERMINAL);
  od_result_heading(&r, "%s", f->plan->title);
  add_data(f, &r);
  add_facts(f, &r);
  add_findings(f, &r);
  add_parameters(f, &r);
  if (f->searches > 0) snprintf(starts, sizeof starts, ", %s", od_count(f->searches, "start").text);
  od_result_line(&r, "Residuals: %.4g N mean absolute, %.4g N root mean square, %.4g N at most.", f->mean_abs, f->rms,
                 f->largest);
  od_result_line(&r, "Search: %s, %s%s.", od_count(f->iterations, "iteration").text,
                 od_count(f->evaluations, "evaluation").text, starts);
  if (b->known)
    od_result_line(&r,
                   "Force from pressures: standard deviation %.3g N in total; pressures %.3g N, load %.3g N, "
                   "acceleration %.3g N, areas %.3g N, mass %.3g N.",
                   b->total, b->pressure, b->load, b->acceleration, b->area, b->mass);
  add_shares(f, &r);
  od_result_audience(&r, OD_FOR_PAGE);
  if (f->rows > 0) {
    od_result_charts(&r, od_friction_draw_data, f);
    od_result_figures(&r, od_friction_draw_whiteness, f);
  }
  od_result_audience(&r, OD_FOR_TERMINAL);
  od_result_verdict(&r, &f->verdict);
  return r;
}

// --- Tables of measured and fitted forces -----------------------------------------------------------------------------

static int by_first_number(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

od_table *od_friction_fitted_table(const od_friction_fitted *f) {
  static const struct {
    const char *name, *unit;
  } labels[] = {{"time", "s"},     {"velocity", "m/s"}, {"measured", "N"},    {"fitted", "N"},
                {"residual", "N"}, {"film", "1"},       {"settled_film", "1"}};
  OD_SCRATCH(scratch);
  const od_friction_data *d = f->data;
  // Points have no time. If the film is computed from the force, the table has additional columns for the film.
  bool has_film = f->plan->method == OD_FRICTION_SEQUENTIAL && f->law.law->has_film;
  int first = is_of_points(f), columns = (has_film ? 7 : 5) - first;
  const double *v = is_of_points(f) ? d->points.v : d->v, *force = is_of_points(f) ? d->points.force : d->force;
  double *film = OD_TAKE(&scratch, double, 2 * f->rows);
  OD_OWNED(od_table_free) od_table *t = od_table_new(columns);
  bool ok = t && film;
  for (int i = 0; ok && i < columns; i++)
    ok = od_table_label(t, i, labels[first + i].name, labels[first + i].unit) == OD_OK;
  if (ok && has_film) od_friction_film(&f->law, f->rows, v, force, film, film + f->rows);
  for (int i = 0; ok && i < f->rows; i++) {
    const double row[] = {first ? 0 : d->t[i],    v[i],    force[i],         f->model[i],
                          force[i] - f->model[i], film[i], film[f->rows + i]};
    ok = od_table_append(t, row + first) == OD_OK;
  }
  if (ok && is_of_points(f)) qsort(t->data, (size_t)t->rows, (size_t)columns * sizeof *t->data, by_first_number);
  return ok ? OD_GIVE(t) : NULL;
}
