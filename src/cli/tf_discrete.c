// Discrete-time models of a log: fitted to its first two thirds where an order is to be chosen, by how well the last third is then
// simulated; in the end to all of it, or to all but what is held out.
#include "cli/tf_discrete.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/log_columns.h"
#include "cli/terminal.h"
#include "frequency/transfer_block.h"
#include "io/json.h"
#include "io/plot.h"

enum { FIRST_SUBSPACE = OD_DISCRETE_BJ + 1 };

static const double about_as_good = 0.05;  // of what is not explained

typedef struct work {
  const od_tf_discrete *t;
  od_log_columns c;
  double *u, *y, *mean;
  od_discrete_data data;
  long judged;                               // the first row of the part that orders are judged by
  bool is_held_out;                          // that part is not fitted in the end either
  od_z_quality tried[OD_DISCRETE_MOST + 1];  // of orders, on that part
  int order;
  od_discrete model;  // of polynomials
  od_z_transfer *z;
  od_table *table;
} work;

static int find(const char *const *names, const char *name) {
  for (int i = 0; name && names[i]; i++)
    if (!strcmp(name, names[i])) return i;
  return -1;
}

int od_tf_discrete_find(const char *name) {
  int polynomials = find(od_discrete_kinds, name), weight = find(od_subspace_weights, name);
  return polynomials >= 0 ? polynomials : weight >= 0 ? FIRST_SUBSPACE + weight : -1;
}

static bool is_subspace(const work *w) {
  return w->t->kind >= FIRST_SUBSPACE;
}

// Signals without their means, which are those of the fitted part: what models say is about movements.
static od_status take_signals(work *w, od_error *err) {
  od_log_columns *c = &w->c;
  int n = c->count - 1;
  size_t rows = (size_t)c->rows;
  double *value = calloc((size_t)c->count, sizeof *value);
  w->is_held_out = w->t->hold_out > 0;
  w->judged = w->is_held_out ? c->rows - lround(w->t->hold_out * (double)c->rows) : c->rows / 3 * 2;
  long fitted = w->is_held_out ? w->judged : c->rows;
  w->u = calloc(rows, sizeof *w->u);
  w->y = calloc(rows * (size_t)n, sizeof *w->y);
  w->mean = calloc((size_t)c->count, sizeof *w->mean);
  bool end = false;
  od_status status = value && w->u && w->y && w->mean ? OD_OK : od_fail(err, OD_NO_MEMORY, "memory ran out");
  for (long k = 0; status == OD_OK && k < c->rows; k++) {
    if ((status = od_log_columns_next(c, value, &end, err)) != OD_OK) break;
    w->u[k] = value[0];
    memcpy(w->y + k * n, value + 1, (size_t)n * sizeof *value);
    for (int i = 0; i < c->count && status == OD_OK; i++) {
      if (k < fitted) w->mean[i] += value[i] / (double)fitted;
      if (!isfinite(value[i]))
        status = od_fail(err, OD_BAD_INPUT, "'%s' has no value in row %ld, expected one in every row", c->label[i].name,
                         k + 1);
    }
  }
  for (long k = 0; status == OD_OK && k < c->rows; k++) {
    w->u[k] -= w->mean[0];
    for (int i = 0; i < n; i++) w->y[k * n + i] -= w->mean[i + 1];
  }
  w->data = (od_discrete_data){c->rows, n, w->u, w->y};
  free(value);
  return status;
}

static od_status fit(work *w, long rows, int order, od_z_transfer **z, od_error *err) {
  const od_discrete_data data = {rows, w->data.outputs, w->u, w->y};
  if (is_subspace(w))
    return od_subspace_fit(&data, order, (od_subspace_weight)(w->t->kind - FIRST_SUBSPACE), NULL, z, err);
  const od_discrete_options o = {(od_discrete_kind)w->t->kind, order, w->t->noise_order, w->t->delay};
  od_status status = od_discrete_fit(&data, &o, &w->model, err);
  return status == OD_OK ? od_discrete_transfer(&w->model, z, err) : status;
}

// The lowest order that explains the judged part about as well as the best; means over the outputs.
static od_status choose(work *w, od_error *err) {
  const od_tf_discrete *t = w->t;
  double best = -INFINITY;
  od_status status = OD_OK;
  for (int order = t->low; order <= t->high; order++) {
    od_z_transfer *z = NULL;
    od_z_quality mean = {0}, one = {0};
    status = fit(w, w->judged, order, &z, err);
    for (int i = 0; status == OD_OK && i < w->data.outputs; i++) {
      status = od_z_transfer_judge(z, &w->data, i, w->judged, &one, err);
      mean.percent += one.percent / w->data.outputs;
      mean.rms += one.rms / w->data.outputs;
    }
    od_z_transfer_free(z);
    if (status == OD_NO_MEMORY || status == OD_BAD_INPUT) return status;
    w->tried[order] = status == OD_OK ? mean : (od_z_quality){(double)NAN, (double)NAN};
    if (w->tried[order].percent > best) best = w->tried[order].percent;
  }
  if (isinf(best)) return status;
  for (w->order = t->low; !(100 - w->tried[w->order].percent <= (1 + about_as_good) * (100 - best) + 1e-6); w->order++)
    continue;
  return OD_OK;
}

// --- What came of it ----------------------------------------------------------------------------------------------

static void print_polynomials(const od_discrete *m, FILE *to) {
  static const char names[OD_POLYNOMIALS] = {'A', 'B', 'C', 'D', 'F'};
  for (int p = 0; p < OD_POLYNOMIALS; p++)
    for (int i = p == OD_POLY_B ? m->delay : 1; i <= m->degree[p]; i++)
      fprintf(to, "  %c%-3d %14.6g +- %.2g\n", names[p], i, m->coefficient[p][i], 1.96 * m->sigma[p][i]);
  fprintf(to, "  standard deviation of one-step predictions %.4g\n", m->noise);
}

static const char *kind_name(int kind) {
  return kind >= FIRST_SUBSPACE ? od_subspace_weights[kind - FIRST_SUBSPACE] : od_discrete_kinds[kind];
}

// Of an output: all of the log, and of what is held out.
typedef struct found {
  od_z_quality all, held_out;
} found;

static void print(const work *w, const found *f, FILE *to) {
  const od_tf_discrete *t = w->t;
  bool one = w->data.outputs == 1;
  od_heading(to, t->path);
  fprintf(to, "%ld samples of %g s; input %s\n", w->data.rows, w->c.step, w->c.label[0].name);
  for (int n = t->low; n <= t->high && t->high > t->low; n++) {
    fprintf(to, "  order %2d explains %8.3f %% of the %s", n, w->tried[n].percent,
            w->is_held_out ? "part held out" : "last third");
    if (one) fprintf(to, ", error %.4g", w->tried[n].rms);
    fprintf(to, "%s\n", n == w->order ? "  <- chosen" : "");
  }
  fprintf(to, "%s of order %d\n", kind_name(t->kind), w->order);
  if (!is_subspace(w)) print_polynomials(&w->model, to);
  for (int i = 0; i < w->data.outputs; i++) {
    const char *name = w->c.label[i + 1].name;
    fprintf(to, "  %s: simulated fit %.2f %%, error %.4g (root mean square)\n", name, f[i].all.percent, f[i].all.rms);
    if (w->is_held_out)
      fprintf(to, "  %s: of the %ld samples held out %.2f %%, error %.4g\n", name, w->data.rows - w->judged,
              f[i].held_out.percent, f[i].held_out.rms);
  }
}

static json_t *list_json(const double *value, int from, int to, int by) {
  json_t *list = json_array();
  for (int i = from; i != to + by; i += by) json_array_append_new(list, od_json_number(value[i]));
  return list;
}

static json_t *model_json(const work *w, const found *f) {
  static const char *const names[OD_POLYNOMIALS] = {"A", "B", "C", "D", "F"};
  json_t *root = json_pack("{s:o, s:o, s:i, s:f}", "file", od_json_text(w->t->path), "method",
                           od_json_text(kind_name(w->t->kind)), "order", w->order, "sample", w->c.step);
  if (w->c.doubt.text[0]) json_object_set_new(root, "warnings", json_pack("[o]", od_json_text(w->c.doubt.text)));
  json_t *outputs = json_array();
  for (int p = 0; p < OD_POLYNOMIALS && !is_subspace(w); p++)
    json_object_set_new(root, names[p],
                        json_pack("{s:o, s:o}", "value", list_json(w->model.coefficient[p], 0, w->model.degree[p], 1),
                                  "sigma", list_json(w->model.sigma[p], 0, w->model.degree[p], 1)));
  if (!is_subspace(w)) json_object_set_new(root, "noise", od_json_number(w->model.noise));
  json_object_set_new(root, "denominator", list_json(w->z->denominator, w->z->order, 0, -1));
  for (int i = 0; i < w->data.outputs; i++) {
    json_t *item = json_pack("{s:o, s:o, s:o, s:o}", "output", od_json_text(w->c.label[i + 1].name), "fit_percent",
                             od_json_number(f[i].all.percent), "error", od_json_number(f[i].all.rms), "numerator",
                             list_json(w->z->numerator[i], w->z->order, 0, -1));
    if (w->is_held_out)
      json_object_set_new(item, "held_out",
                          json_pack("{s:i, s:o, s:o}", "samples", (int)(w->data.rows - w->judged), "fit_percent",
                                    od_json_number(f[i].held_out.percent), "error", od_json_number(f[i].held_out.rms)));
    json_array_append_new(outputs, item);
  }
  json_object_set_new(root, "outputs", outputs);
  return root;
}

// Time, and of each output what was measured and what is simulated.
static od_status make_table(work *w, od_error *err) {
  int n = w->data.outputs, columns = 1 + 2 * n;
  size_t rows = (size_t)w->data.rows;
  double *model = calloc(rows * (size_t)n, sizeof *model), *row = calloc((size_t)columns, sizeof *row);
  w->table = od_table_new(columns);
  bool ok = model && row && w->table && od_table_label(w->table, 0, "time", "s") == OD_OK;
  for (int i = 0; ok && i < n; i++) {
    char name[300];
    snprintf(name, sizeof name, "model.%.200s", w->c.label[i + 1].name);
    ok = od_table_label(w->table, 1 + 2 * i, w->c.label[i + 1].name, w->c.label[i + 1].unit) == OD_OK &&
         od_table_label(w->table, 2 + 2 * i, name, w->c.label[i + 1].unit) == OD_OK;
    if (ok) od_z_transfer_simulate(w->z, i, w->u, w->data.rows, model + (size_t)i * rows);
  }
  for (long k = 0; ok && k < w->data.rows; k++) {
    row[0] = (double)k * w->c.step;
    for (int i = 0; i < n; i++) {
      row[1 + 2 * i] = w->y[k * n + i] + w->mean[i + 1];
      row[2 + 2 * i] = model[(size_t)i * rows + (size_t)k] + w->mean[i + 1];
    }
    ok = od_table_append(w->table, row) == OD_OK;
  }
  free(model);
  free(row);
  return ok ? OD_OK : od_fail(err, OD_NO_MEMORY, "memory ran out");
}

static od_status write_plot(const void *user, const char *path, od_error *err) {
  const work *w = user;
  int *panel = calloc((size_t)w->table->columns, sizeof *panel);
  if (!panel) return od_fail(err, OD_NO_MEMORY, "memory ran out");
  for (int i = 1; i < w->table->columns; i++) panel[i] = (i + 1) / 2;
  od_status status = od_plot_write(w->table, panel, w->t->path, kind_name(w->t->kind), path, err);
  free(panel);
  return status;
}

static od_status write_block(const void *user, const char *path, od_error *err) {
  const work *w = user;
  int n = w->data.outputs;
  if (w->z->order > OD_TRANSFER_MOST)
    return od_fail(err, OD_BAD_INPUT, "a block of order %d is not possible, %d at most: take less delay or order",
                   w->z->order, OD_TRANSFER_MOST);
  od_transfer *t = od_transfer_new(w->z->order, n, 1);
  const char **text = calloc(2 * (size_t)n + 1, sizeof *text);
  char title[300], note[100];
  od_status status = t && text ? OD_OK : od_fail(err, OD_NO_MEMORY, "memory ran out");
  if (status == OD_OK) {
    memcpy(t->denominator, w->z->denominator, sizeof t->denominator);
    for (int i = 0; i < n; i++) {
      memcpy(t->numerator[i], w->z->numerator[i], sizeof t->numerator[i]);
      text[i] = w->c.label[i + 1].name;
      text[n + i] = w->c.label[i + 1].unit;
    }
    snprintf(title, sizeof title, "Discrete-time model fitted to %.200s", w->t->path);
    snprintf(note, sizeof note, "%s of order %d; signals are without their means", kind_name(w->t->kind), w->order);
    const od_transfer_names names = {title, note, w->c.label[0].name, w->c.label[0].unit, text, text + n, w->c.step};
    status = od_transfer_write_block(t, &names, path, err);
  }
  od_transfer_free(t);
  free(text);
  return status;
}

static od_status write_all(work *w, bool *written, od_error *err) {
  const od_files *files = w->t->files;
  FILE *notes = od_files_notes(files, w->t->quiet);
  found *f = calloc((size_t)w->data.outputs, sizeof *f);
  od_status status = f ? OD_OK : od_fail(err, OD_NO_MEMORY, "memory ran out");
  for (int i = 0; status == OD_OK && i < w->data.outputs; i++) {
    status = od_z_transfer_judge(w->z, &w->data, i, 0, &f[i].all, err);
    if (status == OD_OK) status = od_z_transfer_judge(w->z, &w->data, i, w->judged, &f[i].held_out, err);
  }
  if (status == OD_OK) status = make_table(w, err);
  if (status == OD_OK) {
    if (notes) print(w, f, notes);
    const od_file_contents contents = {.table = w->table,
                                       .summary = files->json ? model_json(w, f) : NULL,
                                       .plot = write_plot,
                                       .block = write_block,
                                       .user = w};
    *written = od_files_write(files, &contents, notes);
  }
  free(f);
  return status;
}

int od_tf_discrete_run(const od_tf_discrete *t) {
  work w = {.t = t, .order = t->low};
  od_error err = {0};
  bool written = true;
  int code = od_log_columns_open(t->path, &t->wish, &w.c);
  if (code < 0) code = od_files_spare(t->files);
  if (code < 0) {
    od_status status = take_signals(&w, &err);
    if (status == OD_OK && !is_subspace(&w) && w.data.outputs != 1)
      status =
          od_fail(&err, OD_BAD_INPUT, "%s has %d outputs, expected one; choose it with --output, or take --method %s",
                  kind_name(t->kind), w.data.outputs, od_subspace_weights[0]);
    if (status == OD_OK && t->high > t->low) status = choose(&w, &err);
    if (status == OD_OK) status = fit(&w, w.is_held_out ? w.judged : w.data.rows, w.order, &w.z, &err);
    if (status == OD_OK) status = write_all(&w, &written, &err);
    if (status != OD_OK) od_cli_error("%s: %s", t->path, err.text);
    code = status != OD_OK ? od_exit_code(status) : written ? OD_EXIT_OK : OD_EXIT_FAILED;
  }
  od_table_free(w.table);
  od_z_transfer_free(w.z);
  free(w.u), free(w.y), free(w.mean);
  od_log_columns_free(&w.c);
  return code;
}
