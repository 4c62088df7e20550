#include "frequency/transfer_result.h"

#include <math.h>
#include <string.h>

#include "frequency/bode_plot.h"
#include "frequency/transfer_block.h"
#include "io/json.h"
#include "io/wording.h"

static const double two_pi = 6.283185307179586;

// Returns the name of a method in words: "relaxed vector fitting".
static const char *method_text(od_transfer_method method) {
  static const char *const texts[] = {"scaled Levy", "Sanathanan-Koerner", "relaxed vector fitting"};
  return texts[method];
}

// Returns the gain at frequency zero; infinite for an integrator.
static double gain(const od_transfer *t, int output) {
  return t->numerator[output][0] / t->denominator[0];
}

// Judges the error on held-out points, relative to the response. Above the first limit the model is doubtful, above the second
// limit unsound.
static void judge(od_fitted_transfer *f) {
  static const double doubtful_limit = 0.5, unsound_limit = 1;
  double error = f->error[f->t->order - f->low];
  od_verdict *v = &f->verdict;
  if (f->t->unstable > 0)
    od_verdict_add(v, OD_DOUBTFUL, "model.unstable",
                   "Unstable:", "%d of %d poles have a real part of zero or more. Use --method vf for stable poles.",
                   f->t->unstable, f->t->order);
  if (!isfinite(error))
    od_verdict_add(
        v, OD_DOUBTFUL, "validation.none", "Not validated:",
        "no model of this order could be fitted to every second of the %d points. Use more frequencies, or a lower order.",
        f->r->frf->points);
  else if (error > doubtful_limit)
    od_verdict_add(
        v, error < unsound_limit ? OD_DOUBTFUL : OD_UNSOUND, "validation.fit",
        error < unsound_limit ? "Weak model:" : "Wrong model:",
        "the error at held-out points is %.3g %% of the response. Use another order, or a response with more points or less noise.",
        100 * error);
}

od_status od_fitted_transfer_find(od_fitted_transfer *f, bool direct, bool by_size, od_error *err) {
  const od_response *r = f->r;
  od_transfer_options o = {.method = f->method, .by_size = by_size, .order = f->low};
  for (int k = 0; k < r->outputs; k++)
    if (r->output[k].is_constant)
      return od_fail(
          err, OD_BAD_INPUT,
          "output '%s' has the same value in all rows; expected an output that changes. Choose outputs with --output",
          r->output[k].name);
  o.zeros = direct ? o.order : o.order - 1;
  od_status status = od_transfer_choose(r->frf, &o, f->low, f->high, f->error, &o.order, err);
  // A given order needs no choice, so it does not matter whether the fits to every second point fail.
  if (f->high == f->low && status != OD_OK && status != OD_NO_MEMORY)
    status = OD_OK, f->error[0] = NAN, *err = (od_error){0};
  o.zeros = direct ? o.order : o.order - 1;
  if (status == OD_OK) status = od_transfer_fit(r->frf, &o, &f->t, err);
  if (status != OD_OK) return status;
  judge(f);
  return od_verdict_is_complete(&f->verdict) ? OD_OK : od_fail(err, OD_NO_MEMORY, "out of memory");
}

void od_fitted_transfer_free(od_fitted_transfer *f) {
  od_transfer_free(f->t);
  od_verdict_free(&f->verdict);
}

// --- Result -------------------------------------------------------------------------------------------------------------

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

static void add_orders(const od_fitted_transfer *f, od_result *r) {
  static const od_result_column columns[] = {{"order", "order", OD_CELL_WHOLE},
                                             {"validation_error", NULL, OD_CELL_PLAIN},
                                             {NULL, "error at held-out points, %", OD_CELL_PLAIN, 4},
                                             {NULL, NULL, OD_CELL_REMARK}};
  bool is_chosen = f->high > f->low;  // with a single given order, the list `orders` of the data is empty
  od_result_table *t = od_result_add_table(r, is_chosen ? "orders" : NULL, columns, 4);
  if (!is_chosen) od_result_set(r, "orders", json_array());
  for (int n = f->low; n <= f->high; n++) {
    double error = f->error[n - f->low];
    od_result_add_row(t, NULL, NAN);
    od_result_cell(t, n);
    od_result_cell(t, error);
    od_result_cell(t, isfinite(error) ? 100 * error : (double)NAN);
    od_result_cell_text(t, is_chosen && n == f->t->order   ? "<- chosen"
                           : is_chosen && !isfinite(error) ? "cannot be fitted"
                                                           : "");
  }
}

static void add_outputs(const od_fitted_transfer *f, od_result *r) {
  static const od_result_column columns[] = {{"output", "output", OD_CELL_TEXT},
                                             {"amplitude_fit_percent", "amplitude fit, %", OD_CELL_PLAIN, 0, 2},
                                             {"gain", "gain", OD_CELL_PLAIN, 5},
                                             {"unit", "unit", OD_CELL_TEXT},
                                             {NULL, NULL, OD_CELL_REMARK}};
  const od_transfer *t = f->t;
  od_result_table *to = od_result_add_table(r, "outputs", columns, 5);
  for (int k = 0; k < t->outputs; k++) {
    char unit[160];
    double fit = od_transfer_amplitude_fit(t, f->r->frf, k);
    od_response_unit(f->r, k, unit, sizeof unit);
    od_result_add_row(to, NULL, NAN);
    od_result_cell_text(to, f->r->output[k].name);
    od_result_cell(to, isfinite(fit) ? fit : (double)NAN);
    od_result_cell(to, isfinite(gain(t, k)) ? gain(t, k) : (double)NAN);
    od_result_cell_text(to, unit);
    od_result_cell_text(to, !isfinite(gain(t, k)) ? "integrator: infinite gain"
                            : isfinite(fit)       ? ""
                                                  : "constant amplitude");
    od_result_row_set(to, "numerator", polynomial_json(t->numerator[k], t->order, t->scale));
    if (!t->residue) continue;
    od_result_row_set(to, "residues", complex_json(t->residue + k * t->order, t->order));
    od_result_row_set(to, "direct", od_json_number(t->direct[k]));
  }
}

// Adds one row for each real pole and each pair of poles.
static void add_poles(const od_transfer *t, od_result *r) {
  static const od_result_column columns[] = {{NULL, "pole", OD_CELL_TEXT},
                                             {NULL, "frequency, Hz", OD_CELL_PLAIN, 5},
                                             {NULL, "damping", OD_CELL_PLAIN, 4},
                                             {NULL, NULL, OD_CELL_REMARK}};
  od_result_table *to = od_result_add_table(r, NULL, columns, 4);
  for (int i = 0; i < t->order; i++) {
    double _Complex p = t->pole[i];
    bool is_pair = cimag(p) != 0;
    od_result_add_row(to, NULL, NAN);
    od_result_cell_text(to, is_pair ? "pair" : "real");
    od_result_cell(to, cabs(p) / two_pi);
    od_result_cell(to, -creal(p) / cabs(p));
    od_result_cell_text(to, creal(p) >= 0 ? "unstable" : "");
    i += is_pair;
  }
  od_result_set(r, "poles", complex_json(t->pole, t->order));
}

od_result od_fitted_transfer_result(const od_fitted_transfer *f) {
  const od_transfer *t = f->t;
  od_result r = od_result_new("Transfer function", f->path);
  double error = od_transfer_error(t, f->r->frf);
  od_result_text(&r, "file", f->path);
  od_result_text(&r, "response", f->r->how);
  od_result_text(&r, "input", f->r->input.name);
  od_result_text(&r, "method", od_transfer_methods[f->method]);
  od_result_whole(&r, "order", t->order);
  od_result_number(&r, "error", error);
  od_result_number(&r, "validation_error", f->error[t->order - f->low]);
  od_result_whole(&r, "unstable", t->unstable);
  od_result_set(&r, "denominator", polynomial_json(t->denominator, t->order, t->scale));
  od_result_heading(&r, "%s", f->path);
  od_result_line(&r, "%s; input %s; %d points", f->r->how, f->r->input.name, f->r->frf->points);
  add_orders(f, &r);
  od_result_heading(&r, "%s", method_text(f->method));
  od_result_line(&r, "order %d, %s, error %.4g %% of the response", t->order, od_count(t->iterations, "iteration").text,
                 100 * error);
  add_outputs(f, &r);
  add_poles(t, &r);
  od_add_response_warnings(&r, f->r);
  od_result_verdict(&r, &f->verdict);
  return r;
}

// --- Files --------------------------------------------------------------------------------------------------------------

static void describe(const od_fitted_transfer *f, char *text, size_t size) {
  snprintf(text, size, "order %d, %s; %.150s", f->t->order, method_text(f->method), f->r->how);
}

od_status od_fitted_transfer_write_plot(const void *user, const char *path, od_error *err) {
  OD_SCRATCH(scratch);
  const od_fitted_transfer *f = user;
  char subtitle[300];
  od_response_labels l;
  describe(f, subtitle, sizeof subtitle);
  if (!od_response_labels_make(f->r, &scratch, &l)) return od_fail(err, OD_NO_MEMORY, "out of memory");
  const od_bode bode = {f->r->frf, f->t, l.name, l.ratio, f->path, subtitle};
  return od_bode_write(&bode, path, err);
}

od_status od_fitted_transfer_write_block(const void *user, const char *path, od_error *err) {
  OD_SCRATCH(scratch);
  const od_fitted_transfer *f = user;
  char note[300], title[300];
  od_response_labels l;
  describe(f, note, sizeof note);
  snprintf(title, sizeof title, "Transfer function fitted to %.200s", f->path);
  if (!od_response_labels_make(f->r, &scratch, &l)) return od_fail(err, OD_NO_MEMORY, "out of memory");
  const char *input = f->r->input.name, *unit = f->r->input.unit;
  const od_transfer_names names = {title, note, 1, &input, &unit, l.name, l.si};
  return od_transfer_write_block(f->t, &names, path, err);
}

od_table *od_fitted_transfer_table(const od_fitted_transfer *f) {
  static const char *const kinds[] = {"real",       "imaginary",       "amplitude",
                                      "model.real", "model.imaginary", "model.amplitude"};
  enum { KINDS = sizeof kinds / sizeof *kinds };
  OD_SCRATCH(scratch);
  const od_frf *frf = f->r->frf;
  int columns = 1 + KINDS * frf->outputs;
  OD_OWNED(od_table_free) od_table *table = od_table_new(columns);
  double *row = OD_TAKE(&scratch, double, columns);
  if (!table || !row || od_table_label(table, 0, "frequency", "Hz") != OD_OK) return NULL;
  for (int i = 1; i < columns; i++) {
    char name[300], unit[160];
    od_response_unit(f->r, (i - 1) / KINDS, unit, sizeof unit);
    snprintf(name, sizeof name, "%.200s.%s", f->r->output[(i - 1) / KINDS].name, kinds[(i - 1) % KINDS]);
    if (od_table_label(table, i, name, unit) != OD_OK) return NULL;
  }
  for (int i = 0; i < frf->points; i++) {
    row[0] = frf->frequency[i];
    for (int k = 0; k < frf->outputs; k++) {
      double _Complex data = frf->value[k * frf->points + i], model = od_transfer_value(f->t, k, row[0]);
      const double values[KINDS] = {creal(data), cimag(data), cabs(data), creal(model), cimag(model), cabs(model)};
      memcpy(row + 1 + k * KINDS, values, sizeof values);
    }
    if (od_table_append(table, row) != OD_OK) return NULL;
  }
  return OD_GIVE(table);
}
