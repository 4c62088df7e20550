#include "output/friction_summary.h"

#include <math.h>
#include <stdlib.h>

#include "terminal/print_verdict.h"
#include "terminal/terminal.h"
#include "io/display.h"
#include "io/json.h"

static const char *const known_words[] = {"", "weak", "not told"};

static bool has_truth(const od_friction_fitted *f) {
  for (int i = 0; i < f->parameters; i++)
    if (!isnan(f->parameter[i].truth)) return true;
  return false;
}

static void print_parameters(const od_friction_fitted *f, FILE *to) {
  int width = 0;
  bool truth = has_truth(f);
  for (int i = 0; i < f->parameters; i++) width = od_text_widest(width, f->parameter[i].key);
  fprintf(to, "  ");
  od_print_padded(to, "", width);
  fprintf(to, "  %12s %12s %12s%s\n", "value", "+-", "start", truth ? "        error" : "");
  for (int i = 0; i < f->parameters; i++) {
    const od_friction_parameter *p = &f->parameter[i];
    char value[OD_NUMBER_SIZE], sigma[OD_NUMBER_SIZE];
    od_display shown = od_display_unit(p->unit, isnan(p->truth) ? p->value : fmax(fabs(p->value), fabs(p->truth)));
    od_display_value(value, p->value * shown.factor, p->sigma * shown.factor);
    od_display_uncertainty(sigma, p->sigma * shown.factor);
    fprintf(to, "  ");
    od_print_padded(to, p->key, width);
    fprintf(to, "  %12s %12s %12.6g", value, isfinite(p->sigma) ? sigma : "-",
            f->plan->start.q[p->number] * shown.factor);
    if (truth && !isnan(p->truth)) fprintf(to, " %10.4f %%", 100 * (p->value / p->truth - 1));
    fprintf(to, "  %s%s%s\n", shown.unit, *known_words[p->known] ? "  " : "", known_words[p->known]);
  }
}

static bool has_shares(const od_friction_fitted *f, int parameter) {
  for (int part = 0; f->share && part < f->data->parts; part++)
    if (f->share[part * f->parameters + parameter] > 0) return true;
  return false;
}

// Parts of the run in percent of what is known about each parameter.
static void print_shares(const od_friction_fitted *f, FILE *to) {
  const od_friction_data *d = f->data;
  int width[OD_MOST_LAW_NUMBERS], shown = 0;
  for (int i = 0; i < f->parameters; i++) {
    width[i] = has_shares(f, i) ? od_text_widest(5, f->parameter[i].key) : 0;
    shown += width[i] > 0;
  }
  if (shown == 0 || d->parts < 2) return;
  fprintf(to, "Where it comes from: percent of what each part of the run tells about a parameter\n  %16s", "part");
  for (int i = 0; i < f->parameters; i++)
    if (width[i] > 0) fprintf(to, " %*s", width[i], f->parameter[i].key);
  fprintf(to, "\n");
  for (int part = 0; part < d->parts; part++) {
    double from = NAN, until = NAN;
    for (int i = 0; i < d->samples; i++) {
      if (d->part[i] != part) continue;
      if (isnan(from)) from = d->t[i];
      until = d->t[i];
    }
    if (isnan(from)) continue;
    fprintf(to, "  %6.2f - %5.2f s", from, until);
    for (int i = 0; i < f->parameters; i++)
      if (width[i] > 0) fprintf(to, " %*.0f", width[i], 100 * f->share[part * f->parameters + i]);
    fprintf(to, "\n");
  }
}

static void print_budget(const od_force_budget *b, FILE *to) {
  if (!b->known) return;
  fprintf(
      to,
      "Force from pressures: off by %.3g N in all: pressures %.3g N, load %.3g N, acceleration %.3g N, areas %.3g N,"
      " mass %.3g N\n",
      b->total, b->pressure, b->load, b->acceleration, b->area, b->mass);
}

void od_friction_fitted_print(const od_friction_fitted *f, FILE *to) {
  od_heading(to, f->plan->title);
  fprintf(to, "%s, method %s, %d %s\n", f->law.law->name, od_friction_methods[f->plan->method], f->rows,
          f->plan->method == OD_FRICTION_STEADY ? "points" : "samples");
  print_parameters(f, to);
  fprintf(to, "Residuals: %.4g N mean absolute, %.4g N root mean square, %.4g N at most\n", f->mean_abs, f->rms,
          f->largest);
  fprintf(to, "Search: %ld iterations, %ld evaluations", f->iterations, f->evaluations);
  if (f->searches > 0) fprintf(to, ", %d start%s", f->searches, f->searches == 1 ? "" : "s");
  fprintf(to, "\n");
  print_budget(&f->data->budget, to);
  print_shares(f, to);
  od_cli_verdict(&f->verdict, to);
}

static json_t *shares_json(const od_friction_fitted *f, int parameter) {
  json_t *list = json_array();
  for (int part = 0; part < f->data->parts; part++)
    json_array_append_new(list, od_json_number(f->share[part * f->parameters + parameter]));
  return list;
}

json_t *od_friction_fitted_json(const od_friction_fitted *f) {
  json_t *parameters = json_object();
  for (int i = 0; i < f->parameters; i++) {
    const od_friction_parameter *p = &f->parameter[i];
    json_t *item = json_pack("{s:o, s:o, s:o, s:o, s:o, s:b}", "value", od_json_number(p->value), "sigma",
                             od_json_number(p->sigma), "unit", od_json_text(p->unit), "start",
                             od_json_number(f->plan->start.q[p->number]), "truth", od_json_number(p->truth), "told",
                             p->known != OD_PARAMETER_UNKNOWN);
    if (f->data->speed_noise > 0) json_object_set_new(item, "speed_shift", od_json_number(p->shift));
    if (f->share) json_object_set_new(item, "shares", shares_json(f, i));
    json_object_set_new(parameters, p->key, item);
  }
  json_t *all = json_pack("{s:o, s:s, s:s, s:o, s:i, s:o, s:o, s:o, s:I, s:I, s:i, s:b}", "title",
                          od_json_text(f->plan->title), "law", f->law.law->name, "method",
                          od_friction_methods[f->plan->method], "parameters", parameters, "rows", f->rows,
                          "mean_abs_residual", od_json_number(f->mean_abs), "rms_residual", od_json_number(f->rms),
                          "max_residual", od_json_number(f->largest), "iterations", (json_int_t)f->iterations,
                          "evaluations", (json_int_t)f->evaluations, "searches", f->searches, "accepted", f->accepted);
  const od_force_budget *b = &f->data->budget;
  if (b->known)
    json_object_set_new(
        all, "force_budget",
        json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "pressure", od_json_number(b->pressure), "load",
                  od_json_number(b->load), "acceleration", od_json_number(b->acceleration), "area",
                  od_json_number(b->area), "mass", od_json_number(b->mass), "total", od_json_number(b->total)));
  json_object_set_new(all, "verdict", od_verdict_json(&f->verdict));
  return all;
}

typedef struct point {
  double row[4];  // velocity, measured, fitted, residual
} point;

static int by_velocity(const void *a, const void *b) {
  double x = ((const point *)a)->row[0], y = ((const point *)b)->row[0];
  return (x > y) - (x < y);
}

static od_table *table_of_points(const od_friction_fitted *f) {
  const od_steady_points *p = &f->data->points;
  point *sorted = malloc(((size_t)f->rows + 1) * sizeof *sorted);
  od_table *t = sorted ? od_table_new(4) : NULL;
  bool ok = t && od_table_label(t, 0, "velocity", "m/s") == OD_OK && od_table_label(t, 1, "measured", "N") == OD_OK &&
            od_table_label(t, 2, "fitted", "N") == OD_OK && od_table_label(t, 3, "residual", "N") == OD_OK;
  for (int i = 0; ok && i < f->rows; i++)
    sorted[i] = (point){{p->v[i], p->force[i], f->model[i], p->force[i] - f->model[i]}};
  if (ok) qsort(sorted, (size_t)f->rows, sizeof *sorted, by_velocity);
  for (int i = 0; ok && i < f->rows; i++) ok = od_table_append(t, sorted[i].row) == OD_OK;
  free(sorted);
  if (ok) return t;
  od_table_free(t);
  return NULL;
}

// Where the film is found from the force, it is beside it.
od_table *od_friction_fitted_table(const od_friction_fitted *f) {
  static const struct {
    const char *name, *unit;
  } labels[] = {{"time", "s"},     {"velocity", "m/s"}, {"measured", "N"},    {"fitted", "N"},
                {"residual", "N"}, {"film", "1"},       {"settled_film", "1"}};
  const od_friction_data *d = f->data;
  if (f->plan->method == OD_FRICTION_STEADY) return table_of_points(f);
  int columns = f->plan->method == OD_FRICTION_SEQUENTIAL && f->law.law->has_film ? 7 : 5;
  double *film = calloc(2 * (size_t)f->rows + 1, sizeof *film);
  od_table *t = od_table_new(columns);
  bool ok = t && film;
  for (int i = 0; ok && i < columns; i++) ok = od_table_label(t, i, labels[i].name, labels[i].unit) == OD_OK;
  if (ok && columns > 5) od_friction_film(&f->law, f->rows, d->v, d->force, film, film + f->rows);
  for (int i = 0; ok && i < f->rows; i++) {
    const double row[] = {d->t[i], d->v[i],          d->force[i], f->model[i], d->force[i] - f->model[i],
                          film[i], film[f->rows + i]};
    ok = od_table_append(t, row) == OD_OK;
  }
  free(film);
  if (ok) return t;
  od_table_free(t);
  return NULL;
}
