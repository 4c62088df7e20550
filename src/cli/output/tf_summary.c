#include "output/tf_summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "terminal/terminal.h"
#include "io/json.h"
#include "io/verdict.h"

static const double two_pi = 6.283185307179586;

const char *od_transfer_method_text(od_transfer_method method) {
  static const char *const texts[] = {"scaled Levy", "Sanathanan-Koerner", "relaxed vector fitting"};
  return texts[method];
}

// The gain at zero; infinite for an integrator.
static double gain(const od_transfer *t, int output) {
  return t->numerator[output][0] / t->denominator[0];
}

// --- For people ---------------------------------------------------------------------------------------------------

void od_fitted_transfer_print(const od_fitted_transfer *f, FILE *to) {
  const od_transfer *t = f->t;
  od_heading(to, f->path);
  fprintf(to, "%s; input %s; %d points\n", f->r->how, f->r->input.name, f->r->frf->points);
  if (f->high > f->low) {
    od_heading(to, "orders");
    for (int n = f->low; n <= f->high; n++)
      fprintf(to,
              isfinite(f->error[n - f->low]) ? "  %2d  error of points not fitted to %8.3f %%%s\n"
                                             : "  %2d  cannot be fitted\n",
              n, 100 * f->error[n - f->low], n == t->order ? "  <- chosen" : "");
  }
  od_heading(to, od_transfer_method_text(f->method));
  fprintf(to, "  order %d, %d iteration%s, error %.4g %% of the response\n", t->order, t->iterations,
          t->iterations == 1 ? "" : "s", 100 * od_transfer_error(t, f->r->frf));
  if (isfinite(f->error[t->order - f->low]))
    fprintf(to, "  error of points not fitted to %.4g %%\n", 100 * f->error[t->order - f->low]);
  for (int k = 0; k < t->outputs; k++) {
    char unit[160];
    od_response_unit(f->r, k, unit, sizeof unit);
    double fit = od_transfer_amplitude_fit(t, f->r->frf, k);
    fprintf(to, "  %s: ", f->r->output[k].name);
    if (isfinite(fit))
      fprintf(to, "amplitude fit %.2f %%, ", fit);
    else
      fprintf(to, "amplitude constant, ");
    fprintf(to, isfinite(gain(t, k)) ? "gain %.5g %s\n" : "gain infinite (integrator)\n", gain(t, k),
            strcmp(unit, "1") ? unit : "");
  }
  fprintf(to, "  %-4s %12s %10s\n", "pole", "frequency Hz", "damping");
  for (int i = 0; i < t->order; i++) {
    double _Complex p = t->pole[i];
    bool pair = cimag(p) != 0;
    fprintf(to, "  %-4s %12.5g %10.4g%s\n", pair ? "pair" : "real", cabs(p) / two_pi, -creal(p) / cabs(p),
            creal(p) >= 0 ? "  unstable" : "");
    i += pair;
  }
}

// --- For programs -------------------------------------------------------------------------------------------------

static json_t *polynomial_json(const double *coefficient, int degree, double scale) {
  json_t *list = json_array();
  while (degree > 0 && coefficient[degree] == 0) degree--;
  for (int i = degree; i >= 0; i--) json_array_append_new(list, od_json_number(coefficient[i] / pow(scale, i)));
  return list;
}

static json_t *complex_json(const double _Complex *value, int count) {
  json_t *list = json_array();
  for (int i = 0; i < count; i++)
    json_array_append_new(list, json_pack("[o, o]", od_json_number(creal(value[i])), od_json_number(cimag(value[i]))));
  return list;
}

static json_t *output_json(const od_fitted_transfer *f, int k) {
  const od_transfer *t = f->t;
  char unit[160];
  od_response_unit(f->r, k, unit, sizeof unit);
  json_t *item = json_pack("{s:o, s:o}", "output", od_json_text(f->r->output[k].name), "unit", od_json_text(unit));
  json_object_set_new(item, "amplitude_fit_percent", od_json_number(od_transfer_amplitude_fit(t, f->r->frf, k)));
  json_object_set_new(item, "gain", od_json_number(gain(t, k)));
  json_object_set_new(item, "numerator", polynomial_json(t->numerator[k], t->order, t->scale));
  if (t->residue) {
    json_object_set_new(item, "residues", complex_json(t->residue + k * t->order, t->order));
    json_object_set_new(item, "direct", od_json_number(t->direct[k]));
  }
  return item;
}

json_t *od_fitted_transfer_json(const od_fitted_transfer *f) {
  const od_transfer *t = f->t;
  json_t *outputs = json_array(), *orders = json_array();
  for (int k = 0; k < t->outputs; k++) json_array_append_new(outputs, output_json(f, k));
  for (int n = f->low; n <= f->high && f->high > f->low; n++)
    json_array_append_new(
        orders, json_pack("{s:i, s:o}", "order", n, "validation_error", od_json_number(f->error[n - f->low])));
  json_t *root = json_pack("{s:o, s:o, s:o, s:o*}", "file", od_json_text(f->path), "response", od_json_text(f->r->how),
                           "input", od_json_text(f->r->input.name), "warnings", od_response_warnings_json(f->r));
  json_object_set_new(root, "method", od_json_text(od_transfer_methods[f->method]));
  json_object_set_new(root, "order", json_integer(t->order));
  json_object_set_new(root, "orders", orders);
  json_object_set_new(root, "error", od_json_number(od_transfer_error(t, f->r->frf)));
  json_object_set_new(root, "validation_error", od_json_number(f->error[t->order - f->low]));
  json_object_set_new(root, "unstable", json_integer(t->unstable));
  json_object_set_new(root, "poles", complex_json(t->pole, t->order));
  json_object_set_new(root, "denominator", polynomial_json(t->denominator, t->order, t->scale));
  json_object_set_new(root, "outputs", outputs);
  json_object_set_new(root, "verdict", od_verdict_json(f->verdict));
  return root;
}

od_table *od_fitted_transfer_table(const od_fitted_transfer *f) {
  static const char *const kinds[] = {"real",       "imaginary",       "amplitude",
                                      "model.real", "model.imaginary", "model.amplitude"};
  enum { KINDS = sizeof kinds / sizeof *kinds };
  const od_frf *frf = f->r->frf;
  int columns = 1 + KINDS * frf->outputs;
  od_table *table = od_table_new(columns);
  double *row = calloc((size_t)columns, sizeof *row);
  bool ok = table && row && od_table_label(table, 0, "frequency", "Hz") == OD_OK;
  for (int i = 1; ok && i < columns; i++) {
    char name[300], unit[160];
    od_response_unit(f->r, (i - 1) / KINDS, unit, sizeof unit);
    snprintf(name, sizeof name, "%.200s.%s", f->r->output[(i - 1) / KINDS].name, kinds[(i - 1) % KINDS]);
    ok = od_table_label(table, i, name, unit) == OD_OK;
  }
  for (int i = 0; ok && i < frf->points; i++) {
    row[0] = frf->frequency[i];
    for (int k = 0; k < frf->outputs; k++) {
      double _Complex data = frf->value[k * frf->points + i], model = od_transfer_value(f->t, k, row[0]);
      const double values[KINDS] = {creal(data), cimag(data), cabs(data), creal(model), cimag(model), cabs(model)};
      memcpy(row + 1 + k * KINDS, values, sizeof values);
    }
    ok = od_table_append(table, row) == OD_OK;
  }
  free(row);
  if (ok) return table;
  od_table_free(table);
  return NULL;
}
