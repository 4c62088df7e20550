#include "discrete/discrete_log.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "frequency/transfer_block.h"
#include "io/json.h"
#include "io/plot.h"

enum { FIRST_SUBSPACE = OD_DISCRETE_BJ + 1 };

static const double negligible_gain = 0.05;  // largest relative difference of the unexplained part that is negligible

static const double divergence = -1e4;  // fit in percent at which the error is 100 times the output's variation
static const double poor_fit = 50;      // fit in percent; a smaller fit is doubtful, a fit of zero or less is unsound
static const double color_threshold = 4.5;  // limit of the whiteness test: standard deviations above the expected sum
                                            // of squared autocorrelations
static const double round_off = 1e-9;       // largest residuals that are round-off, relative to the output's variation
// Largest distance from the unit circle of a pole outside the circle that may be an integrator (pole 1) shifted by
// noise.
static const double integrator_tolerance = 1e-3;

static int find(const char *const *names, const char *name) {
  for (int i = 0; name && names[i]; i++)
    if (!strcmp(name, names[i])) return i;
  return -1;
}

int od_discrete_log_kind(const char *name) {
  int polynomials = find(od_discrete_kinds, name), weight = find(od_subspace_weights, name);
  return polynomials >= 0 ? polynomials : weight >= 0 ? FIRST_SUBSPACE + weight : -1;
}

static bool is_subspace(const od_discrete_log *w) {
  return w->o.kind >= FIRST_SUBSPACE;
}

static const od_signal_label *output_label(const od_discrete_log *w, int output) {
  return &w->c.label[w->data.inputs + output];
}

// Returns whether column `at` (inputs first) has the same value in all rows before `end`.
static bool is_constant(const od_discrete_log *w, int at, long end) {
  bool is_input = at < w->data.inputs;
  int stride = is_input ? w->data.inputs : w->data.outputs;
  const double *x = is_input ? w->u + at : w->y + at - w->data.inputs;
  for (long k = 1; k < end; k++)
    if (x[k * stride] != x[0]) return false;
  return true;
}

// Reads the signals and subtracts their means over the fitted part, because small numbers keep more digits. Fails with
// OD_BAD_INPUT, OD_IO, OD_INTERRUPTED or OD_NO_MEMORY.
static od_status take_signals(od_discrete_log *w, od_error *err) {
  od_log_columns *c = &w->c;
  int m = c->inputs, n = c->count - m;
  OD_SCRATCH(scratch);
  double *value = OD_TAKE(&scratch, double, c->count);
  w->is_held_out = w->o.hold_out > 0;
  w->judged = w->is_held_out ? c->rows - lround(w->o.hold_out * (double)c->rows) : c->rows / 3 * 2;
  long fitted = w->is_held_out ? w->judged : c->rows;
  w->u = OD_TAKE_MATRIX(&w->arena, double, c->rows, m);
  w->y = OD_TAKE_MATRIX(&w->arena, double, c->rows, n);
  w->mean = OD_TAKE(&w->arena, double, c->count);
  if (!value || od_arena_status(&w->arena) != OD_OK) return od_fail(err, OD_NO_MEMORY, "out of memory");
  bool end = false;
  for (long k = 0; k < c->rows; k++) {
    od_status status = od_log_columns_next(c, value, &end, err);
    if (status != OD_OK) return status;
    memcpy(w->u + k * m, value, (size_t)m * sizeof *value);
    memcpy(w->y + k * n, value + m, (size_t)n * sizeof *value);
    for (int i = 0; i < c->count; i++) {
      if (k < fitted) w->mean[i] += value[i] / (double)fitted;
      if (!isfinite(value[i]))
        return od_fail(err, OD_BAD_INPUT, "'%s' has no value in row %ld; expected a value in each row",
                       c->label[i].name, k + 1);
    }
  }
  w->data = (od_discrete_data){c->rows, n, w->u, w->y, m};
  for (int i = 0; i < c->count; i++)
    if (is_constant(w, i, fitted))
      return od_fail(err, OD_BAD_INPUT, "the %s '%s' is %g in all %ld fitted rows; expected a signal that changes",
                     i < m ? "input" : "output", c->label[i].name, i < m ? w->u[i] : w->y[i - m], fitted);
  for (long k = 0; k < c->rows; k++) {
    for (int i = 0; i < m; i++) w->u[k * m + i] -= w->mean[i];
    for (int i = 0; i < n; i++) w->y[k * n + i] -= w->mean[m + i];
  }
  return OD_OK;
}

static od_status fit(od_discrete_log *w, long rows, int order, od_z_transfer **z, od_error *err) {
  od_discrete_data data = w->data;
  data.rows = rows;
  *z = NULL;
  if (is_subspace(w))
    return od_subspace_fit(&data, order, (od_subspace_weight)(w->o.kind - FIRST_SUBSPACE), NULL, z, err);
  const od_discrete_options o = {(od_discrete_kind)w->o.kind, order, w->o.noise_order, w->o.delay, w->o.direct};
  od_status status = od_discrete_fit(&data, &o, &w->model, err);
  return status == OD_OK ? od_discrete_transfer(&w->model, z, err) : status;
}

// Chooses the lowest order whose unexplained percentage of the judged part is at most 1 + negligible_gain times the smallest one.
// Qualities are averages over the outputs. Orders with too few rows, or with failed fits, are omitted.
static od_status choose(od_discrete_log *w, od_error *err) {
  const od_discrete_log_options *t = &w->o;
  double best = -INFINITY;
  od_status first = OD_OK;
  bool any = false;
  for (int order = t->low; order <= t->high; order++) {
    OD_OWNED(od_z_transfer_free) od_z_transfer *z = NULL;
    od_z_quality mean = {0}, one = {0};
    od_error failure = {0};
    od_status status = fit(w, w->judged, order, &z, &failure);
    for (int i = 0; status == OD_OK && i < w->data.outputs; i++) {
      status = od_z_transfer_judge(z, &w->data, i, w->judged, w->judged, &one, &failure);
      mean.percent += one.percent / w->data.outputs;
      mean.rms += one.rms / w->data.outputs;
    }
    if (order == t->low || status == OD_NO_MEMORY) first = status, *err = failure;
    if (status == OD_NO_MEMORY) return status;
    any = any || status == OD_OK;
    w->tried[order] = status == OD_OK ? mean : (od_z_quality){(double)NAN, (double)NAN};
    if (w->tried[order].percent > best) best = w->tried[order].percent;
  }
  if (!any) return first;
  *err = (od_error){0};
  if (isinf(best)) return OD_OK;  // no order has a finite quality: the lowest order is used
  for (w->order = t->low; !(100 - w->tried[w->order].percent <= (1 + negligible_gain) * (100 - best) + 1e-6);
       w->order++)
    continue;
  return OD_OK;
}

// Fits the model without the judged part. If the fit is not possible, writes the reason into w->why_no_part. With held-out
// rows, the failure is an error.
static od_status fit_part(od_discrete_log *w, od_error *err) {
  od_error failure = {0};
  od_status status = OD_OK;
  for (int i = 0; i < w->c.count && !w->is_held_out && !w->why_no_part[0]; i++)
    if (is_constant(w, i, w->judged))
      snprintf(w->why_no_part, sizeof w->why_no_part,
               "'%.80s' is constant in the first %ld rows; expected a signal that changes", w->c.label[i].name,
               w->judged);
  if (!w->why_no_part[0]) status = fit(w, w->judged, w->order, &w->part, &failure);
  if (status == OD_OK) return OD_OK;
  if (w->is_held_out || status == OD_NO_MEMORY) {
    *err = failure;
    return status;
  }
  snprintf(w->why_no_part, sizeof w->why_no_part, "%.140s (in the first %ld rows)", failure.text, w->judged);
  return OD_OK;
}

static const char *kind_name(int kind) {
  return kind >= FIRST_SUBSPACE ? od_subspace_weights[kind - FIRST_SUBSPACE] : od_discrete_kinds[kind];
}

// Returns the number of rows from which the initial state and the offsets of the simulation are estimated.
static long known_rows(const od_discrete_log *w) {
  return w->is_held_out ? w->judged : w->data.rows;
}

// Fills the table: time, and for each output the measured and the simulated value. Fails with OD_NO_MEMORY.
static od_status make_table(od_discrete_log *w, od_error *err) {
  OD_SCRATCH(scratch);
  int n = w->data.outputs, columns = 1 + 2 * n;
  long rows = w->data.rows;
  double *model = OD_TAKE_MATRIX(&scratch, double, rows, n), *row = OD_TAKE(&scratch, double, columns);
  const double *mean = w->mean + w->data.inputs;
  w->table = od_table_new(columns);
  if (!w->table || od_arena_status(&scratch) != OD_OK) return od_fail(err, OD_NO_MEMORY, "out of memory");
  od_status status = od_table_label(w->table, 0, "time", "s");
  for (int i = 0; i < n && status == OD_OK; i++) {
    char name[300];
    const od_signal_label *label = output_label(w, i);
    snprintf(name, sizeof name, "model.%.200s", label->name);
    status = od_table_label(w->table, 1 + 2 * i, label->name, label->unit);
    if (status == OD_OK) status = od_table_label(w->table, 2 + 2 * i, name, label->unit);
    if (status == OD_OK) status = od_z_transfer_simulate(w->z, &w->data, i, known_rows(w), model + i * rows, err);
  }
  for (long k = 0; k < rows && status == OD_OK; k++) {
    row[0] = (double)k * w->c.step;
    for (int i = 0; i < n; i++) {
      row[1 + 2 * i] = w->y[k * n + i] + mean[i];
      row[2 + 2 * i] = model[i * rows + k] + mean[i];
    }
    status = od_table_append(w->table, row);
  }
  return status == OD_OK ? OD_OK : od_fail(err, OD_NO_MEMORY, "out of memory");
}

// Writes the quality of a simulation, "93.41 %, error 0.0131", and returns the text.
static const char *quality_text(const od_z_quality *q, char text[80]) {
  if (isnan(q->percent) && isnan(q->rms))
    snprintf(text, 80, "cannot be fitted");
  else if (isnan(q->percent))
    snprintf(text, 80, "constant output, error %.4g", q->rms);
  else if (q->percent < divergence)
    snprintf(text, 80, "none: the simulation diverges");
  else
    snprintf(text, 80, "%.2f %%, error %.4g", q->percent, q->rms);
  return text;
}

// --- Verdict ------------------------------------------------------------------------------------------------------

static void judge_coefficients(od_discrete_log *w) {
  const od_discrete *m = &w->model;
  od_verdict *v = &w->verdict;
  bool determined = true;
  double variance = 0;  // variance of the output
  for (long k = 0; k < w->data.rows; k++) variance += w->y[k] * w->y[k] / (double)w->data.rows;
  for (int p = 0; p < OD_POLYNOMIALS; p++)
    for (int i = 0; i <= m->degree[p]; i++) determined = determined && isfinite(m->sigma[p][i]);
  if (!m->is_minimum)
    od_verdict_add(v, OD_DOUBTFUL, "search.stuck",
                   "No minimum:", "the search for the coefficients ended before a minimum%s.",
                   m->degree[OD_POLY_F] > 0 && w->z->radius > 1 - 1e-6
                       ? ", at the stability limit; use the method arx or armax for unstable models"
                       : "; try a lower order");
  if (!determined)
    od_verdict_add(v, OD_DOUBTFUL, "parameters.undetermined",
                   "Coefficients not determined:", "the log does not determine all coefficients; try a lower order.");
  double freedom = fmax(m->lags - m->degree[OD_POLY_C] - m->degree[OD_POLY_D] - m->degree[OD_POLY_A], 1);
  if (m->whiteness > freedom + color_threshold * sqrt(2 * freedom) && m->noise > round_off * sqrt(variance))
    od_verdict_add(
        v, OD_DOUBTFUL, "residuals.colored", "Residuals are not white:",
        "the sum of %d squared autocorrelations times the number of rows is %.3g; expected about %.3g for white residuals. "
        "Intervals are too narrow or too wide. Try a higher order or another noise model.",
        m->lags, m->whiteness, freedom);
}

static void judge_stability(od_discrete_log *w) {
  const od_z_transfer *z = w->z;
  od_verdict *v = &w->verdict;
  bool useless = false;
  for (int i = 0; i < w->data.outputs; i++) useless = useless || !(w->quality[i].all.percent > 0);
  if (z->mirrored > 0)
    od_verdict_add(
        v, OD_SOUND, "model.stabilized", "Model made stable:",
        "the subspace model had a pole of magnitude %.5g, outside the unit circle; a stable pole replaces this pole.",
        z->mirrored);
  else if (z->radius >= 1 && useless)
    od_verdict_add(
        v, OD_UNSOUND, "model.unstable", "Unstable:",
        "the largest pole has the magnitude %.7g, and the simulation explains no part of the log. Try the method oe or another order.",
        z->radius);
  else if (z->radius >= 1)
    od_verdict_add(v, z->radius < 1 + integrator_tolerance ? OD_SOUND : OD_DOUBTFUL, "model.unstable",
                   "Unstable:", "the largest pole has the magnitude %.7g; expected less than 1 (1 for an integrator).",
                   z->radius);
}

static void judge_output(od_discrete_log *w, int i) {
  od_verdict *v = &w->verdict;
  const char *name = output_label(w, i)->name;
  const od_z_quality *all = &w->quality[i].all, *held_out = &w->quality[i].held_out;
  char text[80];
  if (all->percent <= 0 && w->z->radius < 1)
    od_verdict_add(v, OD_UNSOUND, "fit.nothing", "Wrong model:", "explained part of '%s' in the log: %s.", name,
                   quality_text(all, text));
  if (!w->part || held_out->percent >= poor_fit) return;
  bool some = held_out->percent > 0;
  if (isnan(held_out->percent))
    od_verdict_add(v, OD_DOUBTFUL, "validation.constant", "Model not validated:",
                   "'%s' is constant in the held-out rows; the error of the simulation in these rows is %.4g.", name,
                   held_out->rms);
  else
    od_verdict_add(v, some ? OD_DOUBTFUL : OD_UNSOUND, "validation.fit",
                   some ? "Weak model:" : "Wrong model:", "explained part of '%s' in the held-out rows: %s%s.", name,
                   quality_text(held_out, text),
                   some || held_out->percent < divergence ? "" : "; the mean is a better prediction");
}

static od_status judge(od_discrete_log *w, od_error *err) {
  od_output_quality *f = w->quality = OD_TAKE(&w->arena, od_output_quality, w->data.outputs);
  if (!f) return od_fail(err, OD_NO_MEMORY, "out of memory");
  od_status status = OD_OK;
  for (int i = 0; status == OD_OK && i < w->data.outputs; i++) {
    status = od_z_transfer_judge(w->z, &w->data, i, known_rows(w), 0, &f[i].all, err);
    if (status == OD_OK && w->part)
      status = od_z_transfer_judge(w->part, &w->data, i, w->judged, w->judged, &f[i].held_out, err);
  }
  if (status != OD_OK) return status;
  if (!is_subspace(w)) judge_coefficients(w);
  judge_stability(w);
  if (!w->part)
    od_verdict_add(&w->verdict, OD_DOUBTFUL, "validation.none",
                   "Model not validated:", "no rows could be held out: %s.", w->why_no_part);
  for (int i = 0; i < w->data.outputs; i++) judge_output(w, i);
  return od_verdict_is_complete(&w->verdict) ? OD_OK : od_fail(err, OD_NO_MEMORY, "out of memory");
}

od_status od_discrete_log_fit(od_discrete_log *w, od_error *err) {
  w->order = w->o.low;
  od_status status = take_signals(w, err);
  if (status == OD_OK && !is_subspace(w) && w->data.outputs != 1)
    status = od_fail(
        err, OD_BAD_INPUT,
        "the method %s fits 1 output, but the log has %d outputs; select an output with --output, or use --method %s",
        kind_name(w->o.kind), w->data.outputs, od_subspace_weights[0]);
  if (status == OD_OK && w->o.high > w->o.low) status = choose(w, err);
  if (status == OD_OK) status = fit_part(w, err);
  // The final model is fitted to all rows, or to all except the held-out rows.
  if (status == OD_OK && w->is_held_out)
    w->z = w->part;
  else if (status == OD_OK)
    status = fit(w, w->data.rows, w->order, &w->z, err);
  if (status == OD_OK) status = judge(w, err);
  if (status == OD_OK) status = make_table(w, err);
  return status;
}

void od_discrete_log_free(od_discrete_log *w) {
  od_table_free(w->table);
  if (w->part != w->z) od_z_transfer_free(w->part);
  od_z_transfer_free(w->z);
  od_verdict_free(&w->verdict);
  od_arena_free(&w->arena);
  od_log_columns_free(&w->c);
}

// --- Result of the fit --------------------------------------------------------------------------------------------------

// Returns the coefficients, starting with the highest power.
static json_t *falling_json(const double *value, int degree) {
  return od_json_numbers(value + degree, degree + 1, -1);
}

static json_t *polynomial_json(const od_discrete *m, int p) {
  int degree = m->degree[p] < 0 ? 0 : m->degree[p];
  return json_pack("{s:o, s:o}", "value", od_json_numbers(m->coefficient[p], degree + 1, 1), "sigma",
                   od_json_numbers(m->sigma[p], degree + 1, 1));
}

// Returns one item, or a list with one item for each input.
static json_t *of_inputs(const od_discrete_log *w, json_t *(*item)(const od_discrete_log *w, int output, int input),
                         int output) {
  if (w->data.inputs == 1) return item(w, output, 0);
  json_t *list = json_array();
  for (int j = 0; j < w->data.inputs; j++) json_array_append_new(list, item(w, output, j));
  return list;
}
static json_t *numerator_json(const od_discrete_log *w, int output, int input) {
  return falling_json(w->z->numerator[output * w->data.inputs + input], w->z->order);
}
static json_t *b_json(const od_discrete_log *w, int output, int input) {
  (void)output;
  return polynomial_json(&w->model, OD_POLY_B + input);
}
static json_t *input_json(const od_discrete_log *w, int output, int input) {
  (void)output;
  return od_json_text(w->c.label[input].name);
}

static void add_data(const od_discrete_log *w, od_result *r) {
  static const char *const names[OD_POLY_B] = {"A", "C", "D", "F"};
  od_result_text(r, "file", w->path);
  od_result_text(r, "method", kind_name(w->o.kind));
  od_result_whole(r, "order", w->order);
  od_result_number(r, "sample", w->c.step);
  od_result_set(r, "input", of_inputs(w, input_json, 0));
  for (int p = 0; p < OD_POLY_B && !is_subspace(w); p++) od_result_set(r, names[p], polynomial_json(&w->model, p));
  if (!is_subspace(w)) od_result_set(r, "B", of_inputs(w, b_json, 0));
  if (!is_subspace(w)) od_result_number(r, "noise", w->model.noise);
  od_result_set(r, "denominator", falling_json(w->z->denominator, w->z->order));
  od_result_number(r, "largest_pole", w->z->radius);
}

static void add_orders(const od_discrete_log *w, od_result *r) {
  const od_result_column columns[] = {
      {NULL, "order", OD_CELL_WHOLE},
      {NULL, w->is_held_out ? "explained part of the held-out rows" : "explained part of the last third", OD_CELL_TEXT},
      {NULL, NULL, OD_CELL_REMARK}};
  if (w->o.high == w->o.low) return;
  od_result_table *t = od_result_add_table(r, NULL, columns, 3);
  for (int n = w->o.low; n <= w->o.high; n++) {
    char text[80];
    od_result_add_row(t, NULL, NAN);
    od_result_cell(t, n);
    od_result_cell_text(t, quality_text(&w->tried[n], text));
    od_result_cell_text(t, n == w->order ? "<- chosen" : "");
  }
}

// Adds a table of the coefficients of A, B, C, D and F, each polynomial by increasing power of q^-1. The name of a coefficient is
// "B1" or, with several inputs, "B1 of u".
static void add_polynomials(const od_discrete_log *w, od_result *r) {
  static const od_result_column columns[] = {{NULL, "coefficient", OD_CELL_TEXT},
                                             {NULL, "value", OD_CELL_PLAIN},
                                             {NULL, "\u00b1 95 %", OD_CELL_PLAIN, 2},
                                             {NULL, NULL, OD_CELL_REMARK}};
  static const struct {
    char letter;
    int from, to;
  } list[] = {{'A', OD_POLY_A, OD_POLY_A},
              {'B', OD_POLY_B, OD_POLYNOMIALS - 1},
              {'C', OD_POLY_C, OD_POLY_C},
              {'D', OD_POLY_D, OD_POLY_D},
              {'F', OD_POLY_F, OD_POLY_F}};
  const od_discrete *m = &w->model;
  od_result_table *t = od_result_add_table(r, NULL, columns, 4);
  for (size_t l = 0; l < sizeof list / sizeof *list; l++)
    for (int p = list[l].from; p <= list[l].to; p++)
      for (int i = p >= OD_POLY_B ? m->delay : 1; i <= m->degree[p]; i++) {
        char name[300];
        bool is_of_input = p >= OD_POLY_B && m->inputs > 1, is_determined = isfinite(m->sigma[p][i]);
        snprintf(name, sizeof name, "%c%d%s%.250s", list[l].letter, i, is_of_input ? " of " : "",
                 is_of_input ? w->c.label[p - OD_POLY_B].name : "");
        od_result_add_row(t, NULL, NAN);
        od_result_cell_text(t, name);
        od_result_cell(t, m->coefficient[p][i]);
        od_result_cell(t, is_determined ? 1.96 * m->sigma[p][i] : (double)NAN);
        od_result_cell_text(t, is_determined ? "" : "not determined");
      }
  od_result_line(r, "standard deviation of one-step predictions %.4g", m->noise);
}

static void add_outputs(const od_discrete_log *w, od_result *r) {
  char heading[120];
  snprintf(heading, sizeof heading,
           w->is_held_out ? "for %ld held-out samples" : "for the last %ld samples, not fitted",
           w->data.rows - w->judged);
  const od_result_column columns[] = {{"output", "output", OD_CELL_TEXT},
                                      {"fit_percent", NULL, OD_CELL_PLAIN},
                                      {"error", NULL, OD_CELL_PLAIN},
                                      {NULL, "simulated fit, error (rms)", OD_CELL_TEXT},
                                      {NULL, w->part ? heading : NULL, OD_CELL_TEXT}};
  od_result_table *t = od_result_add_table(r, "outputs", columns, 5);
  for (int i = 0; i < w->data.outputs; i++) {
    const od_output_quality *q = &w->quality[i];
    char text[80];
    od_result_add_row(t, NULL, NAN);
    od_result_cell_text(t, output_label(w, i)->name);
    od_result_cell(t, q->all.percent);
    od_result_cell(t, q->all.rms);
    od_result_cell_text(t, quality_text(&q->all, text));
    od_result_row_set(t, "numerator", of_inputs(w, numerator_json, i));
    if (!w->part) continue;
    od_result_cell_text(t, quality_text(&q->held_out, text));
    od_result_row_set(t, "held_out",
                      json_pack("{s:i, s:o, s:o}", "samples", (int)(w->data.rows - w->judged), "fit_percent",
                                od_json_number(q->held_out.percent), "error", od_json_number(q->held_out.rms)));
  }
}

od_result od_discrete_log_result(const od_discrete_log *w) {
  od_result r = od_result_new("Discrete-time model", w->path);
  od_verdict warnings = {0};
  add_data(w, &r);
  od_result_heading(&r, "%s", w->path);
  char *inputs = od_arena_format(&r.arena, "%s", w->c.label[0].name);
  for (int j = 1; inputs && j < w->data.inputs; j++)
    inputs = od_arena_format(&r.arena, "%s, %s", inputs, w->c.label[j].name);
  od_result_line(&r, "%ld samples, sampling period %g s; input%s %s", w->data.rows, w->c.step,
                 w->data.inputs > 1 ? "s" : "", inputs ? inputs : "");
  add_orders(w, &r);
  od_result_heading(&r, "%s of order %d", kind_name(w->o.kind), w->order);
  if (!is_subspace(w)) add_polynomials(w, &r);
  add_outputs(w, &r);
  if (!od_log_columns_remark(&w->c, &warnings)) r.is_short_of_memory = true;
  if (warnings.count > 0) od_result_warnings(&r, &warnings);
  od_verdict_free(&warnings);
  od_result_verdict(&r, &w->verdict);
  return r;
}

// --- Output files -------------------------------------------------------------------------------------------------------

void od_picture_add_discrete(od_picture *p, const od_discrete_log *w) {
  int *panel = OD_TAKE(&p->arena, int, w->table->columns);
  if (!panel) return;
  for (int i = 1; i < w->table->columns; i++) panel[i] = (i + 1) / 2;
  od_picture_add_table(p, w->table, panel);
  if (w->o.high <= w->o.low) return;
  int orders = w->o.high - w->o.low + 1;
  double *xy = OD_TAKE(&p->arena, double, 2L * orders);
  if (!xy) return;
  for (int i = 0; i < orders; i++) xy[2 * i] = w->o.low + i, xy[2 * i + 1] = w->tried[w->o.low + i].percent;
  od_panel *tried = od_picture_add(p, (od_panel){.title = "explained part of the rows that were not fitted",
                                                 .note = "percent",
                                                 .x_name = "number of poles"});
  od_panel_add(p, tried, (od_panel_line){.as = OD_AS_POINTS, .x = {xy, orders, 2, 1}, .y = {xy + 1, orders, 2, 1}});
  od_panel_instant(p, tried, w->order, "chosen");
}

od_status od_discrete_log_write_plot(const void *user, const char *path, od_error *err) {
  const od_discrete_log *w = user;
  OD_SCRATCH(scratch);
  int *panel = OD_TAKE(&scratch, int, w->table->columns);
  if (!panel) return od_fail(err, OD_NO_MEMORY, "out of memory");
  for (int i = 1; i < w->table->columns; i++) panel[i] = (i + 1) / 2;
  return od_plot_write(w->table, panel, w->path, kind_name(w->o.kind), path, err);
}

od_status od_discrete_log_write_block(const void *user, const char *path, od_error *err) {
  const od_discrete_log *w = user;
  int n = w->data.outputs, m = w->data.inputs;
  if (w->z->order > OD_TRANSFER_MOST)
    return od_fail(err, OD_BAD_INPUT, "the block has order %d; expected at most %d. Use a smaller delay or order",
                   w->z->order, OD_TRANSFER_MOST);
  OD_SCRATCH(scratch);
  OD_OWNED(od_transfer_free) od_transfer *t = od_transfer_new(w->z->order, n * m, 1);
  const char **text = OD_TAKE(&scratch, const char *, 2 * (n + m));
  char title[300], note[100];
  if (!t || !text) return od_fail(err, OD_NO_MEMORY, "out of memory");
  memcpy(t->denominator, w->z->denominator, sizeof t->denominator);
  for (int i = 0; i < n * m; i++) memcpy(t->numerator[i], w->z->numerator[i], sizeof t->numerator[i]);
  for (int i = 0; i < n + m; i++) text[i] = w->c.label[i].name, text[n + m + i] = w->c.label[i].unit;
  snprintf(title, sizeof title, "Discrete-time model fitted to %.200s", w->path);
  snprintf(note, sizeof note, "%s of order %d; the means of the signals are subtracted", kind_name(w->o.kind),
           w->order);
  const od_transfer_names names = {title, note, m, text, text + n + m, text + m, text + n + 2 * m, w->c.step};
  return od_transfer_write_block(t, &names, path, err);
}
