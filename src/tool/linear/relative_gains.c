#include "linear/relative_gains.h"

#include <lapacke.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/json.h"
#include "linear/linear_result.h"

// Computes the relative gain array G .* inv(G)' of a square G (n x n). Fails with OD_SINGULAR if G has no inverse, and with
// OD_NO_MEMORY.
static od_status find_relative_gains(int n, const od_complex *G, od_complex *out) {
  OD_SCRATCH(scratch);
  od_complex *copy = OD_TAKE_MATRIX(&scratch, od_complex, n, n), *inverse = OD_TAKE_MATRIX(&scratch, od_complex, n, n);
  lapack_int *pivot = OD_TAKE(&scratch, lapack_int, n);
  double *row = OD_TAKE(&scratch, double, n), *column = OD_TAKE(&scratch, double, n);
  if (od_arena_status(&scratch) != OD_OK) return OD_NO_MEMORY;
  // Relative gains do not depend on units. For the inverse, rows and columns are scaled to equal sizes.
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) row[i] = fmax(row[i], cabs(G[i * n + j]));
    if (!(row[i] > 0)) return OD_SINGULAR;
  }
  for (int j = 0; j < n; j++) {
    for (int i = 0; i < n; i++) column[j] = fmax(column[j], cabs(G[i * n + j]) / row[i]);
    if (!(column[j] > 0)) return OD_SINGULAR;
  }
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) copy[i * n + j] = G[i * n + j] / row[i] / column[j];
    inverse[i * n + i] = 1;
  }
  if (LAPACKE_zgesv(LAPACK_ROW_MAJOR, n, n, copy, n, pivot, inverse, n) != 0) return OD_SINGULAR;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) out[i * n + j] = G[i * n + j] / row[i] / column[j] * inverse[j * n + i];
  return OD_OK;
}

enum { ALL_PAIRINGS = 8 };

typedef struct pairing_search {
  int n;
  const od_complex *gain;
  int *best, now[ALL_PAIRINGS];
  bool taken[ALL_PAIRINGS];
  double least;
} pairing_search;

// Tries all inputs for the outputs starting at `output`. `cost`: the cost of the previous outputs.
static void try_pairings(pairing_search *p, int output, double cost) {
  if (cost >= p->least) return;
  if (output == p->n) {
    p->least = cost;
    memcpy(p->best, p->now, (size_t)p->n * sizeof *p->best);
    return;
  }
  for (int j = 0; j < p->n; j++) {
    if (p->taken[j]) continue;
    p->taken[j] = true;
    p->now[output] = j;
    try_pairings(p, output + 1, cost + cabs(p->gain[output * p->n + j] - 1));
    p->taken[j] = false;
  }
}

// Computes the pairing of inputs and outputs whose relative gains are nearest to 1: the smallest sum |gain - 1|. For up to eight
// outputs all pairings are tried. For more outputs the nearest gain is chosen first.
static void pair_gains(int n, const od_complex *gain, int *input_of_output) {
  for (int i = 0; i < n; i++) input_of_output[i] = -1;
  if (n <= ALL_PAIRINGS) {
    pairing_search p = {.n = n, .gain = gain, .best = input_of_output, .least = INFINITY};
    try_pairings(&p, 0, 0);
    return;
  }
  for (int round = 0; round < n; round++) {
    int output = -1, input = -1;
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n && input_of_output[i] < 0; j++) {
        bool taken = false;
        for (int k = 0; k < n; k++) taken = taken || input_of_output[k] == j;
        if (!taken && (output < 0 || cabs(gain[i * n + j] - 1) < cabs(gain[output * n + input] - 1)))
          output = i, input = j;
      }
    if (output >= 0) input_of_output[output] = input;
  }
}

// --- Gains over frequency -------------------------------------------------------------------------------------------------

void od_gain_arrays_free(od_gain_arrays *r) {
  od_arena_free(&r->arena);
  od_table_free(r->table);
  *r = (od_gain_arrays){0};
}

od_status od_gain_arrays_find(od_gain_arrays *r, od_error *err) {
  OD_SCRATCH(scratch);
  int square = r->n * r->n;
  OD_OWNED(od_linear_response_free) od_linear_response *response = od_linear_response_new(r->model);
  od_complex *G = OD_TAKE(&scratch, od_complex, square);
  double *row = OD_TAKE(&scratch, double, 1 + square);
  r->gains = OD_TAKE_MATRIX(&r->arena, od_complex, square, r->count);
  r->pair = OD_TAKE_MATRIX(&r->arena, int, r->n, r->count);
  r->table = od_table_new(1 + square);
  bool memory = response && r->table && od_arena_status(&scratch) == OD_OK && od_arena_status(&r->arena) == OD_OK;
  od_status status = memory ? od_table_label(r->table, 0, "frequency", "Hz") : OD_NO_MEMORY;
  for (int i = 0; i < square && status == OD_OK; i++) {
    const od_linear_model *m = r->model;
    char text[600];
    snprintf(text, sizeof text, "%.250s.to.%.250s.relative", m->input[i % r->n].name, m->output[i / r->n].name);
    status = od_table_label(r->table, 1 + i, text, "1");
  }
  for (int k = 0; k < r->count && status == OD_OK; k++) {
    od_complex *gains = r->gains + k * square;
    od_status found = od_linear_response_at(response, r->frequency[k], G);
    if (found == OD_OK) found = find_relative_gains(r->n, G, gains);
    if (found == OD_NO_MEMORY) status = found;
    for (int i = 0; i < square; i++) {
      if (found != OD_OK) gains[i] = NAN;
      row[1 + i] = creal(gains[i]);
    }
    for (int i = 0; i < r->n; i++) r->pair[k * r->n + i] = -1;
    if (found == OD_OK) pair_gains(r->n, gains, r->pair + k * r->n);
    row[0] = r->frequency[k];
    if (status == OD_OK) status = od_table_append(r->table, row);
  }
  return status == OD_OK ? OD_OK : od_fail(err, status, "%s", od_status_text(status));
}

od_status od_gain_arrays_sweep_row(const od_linear_model *model, double low, double high, od_sweep_row *row,
                                   od_error *err) {
  double frequency[2] = {low, high};
  OD_SCOPED(od_gain_arrays_free)
  od_gain_arrays r = {.model = model, .n = model->inputs, .count = 2, .frequency = frequency};
  od_status status = od_gain_arrays_find(&r, err);
  for (int i = 0; i < 2 * r.n * r.n && status == OD_OK; i++) {
    char name[700];
    snprintf(name, sizeof name, "%.600s.%s", r.table->name[1 + i % (r.n * r.n)], i < r.n * r.n ? "low" : "high");
    if (!od_sweep_add(row, name, "1", creal(r.gains[i]))) status = od_fail(err, OD_NO_MEMORY, "out of memory");
  }
  return status;
}

// --- Result -------------------------------------------------------------------------------------------------------------

static void add_data(const od_gain_arrays *r, od_result *to) {
  const od_linear_model *m = r->model;
  json_t *points = json_array(), *inputs = json_array(), *outputs = json_array();
  for (int i = 0; i < r->n; i++) {
    json_array_append_new(inputs, od_json_text(m->input[i].name));
    json_array_append_new(outputs, od_json_text(m->output[i].name));
  }
  for (int k = 0; k < r->count; k++) {
    const double *gains = (const double *)(r->gains + k * r->n * r->n);  // real and imaginary parts alternate
    json_t *pairing = json_array();
    for (int i = 0; i < r->n; i++) {
      int input = r->pair[k * r->n + i];
      json_array_append_new(pairing, od_json_text(input < 0 ? NULL : m->input[input].name));
    }
    json_array_append_new(points, json_pack("{s:o, s:o, s:o, s:o}", "frequency", od_json_number(r->frequency[k]),
                                            "real", od_json_numbers(gains, r->n * r->n, 2), "imaginary",
                                            od_json_numbers(gains + 1, r->n * r->n, 2), "pairing", pairing));
  }
  od_result_set(to, "inputs", inputs);
  od_result_set(to, "outputs", outputs);
  od_result_set(to, "points", points);
}

// Adds the relative gains at a frequency: a row for each output, a column for each input.
static void add_array(const od_gain_arrays *r, int k, od_result *to) {
  char heading[40];
  od_result_column *column = od_arena_take(&to->arena, (size_t)(r->n + 1) * sizeof *column);
  if (!column) {
    to->is_short_of_memory = true;
    return;
  }
  snprintf(heading, sizeof heading, "at %.6g Hz", r->frequency[k]);
  column[0] = (od_result_column){NULL, heading, OD_CELL_TEXT};
  for (int j = 0; j < r->n; j++) column[1 + j] = (od_result_column){NULL, r->model->input[j].name, OD_CELL_PLAIN, 5};
  od_result_table *t = od_result_add_table(to, NULL, column, r->n + 1);
  for (int i = 0; i < r->n; i++) {
    od_result_add_row(t, NULL, NAN);
    od_result_cell_text(t, r->model->output[i].name);
    for (int j = 0; j < r->n; j++) od_result_cell(t, creal(r->gains[(k * r->n + i) * r->n + j]));
  }
}

// Adds the pairing that all frequencies from k to `last` have in common.
static void add_pairing(const od_gain_arrays *r, int k, int last, od_result *to) {
  char range[100];
  size_t size = 16, used = 0;
  for (int i = 0; i < r->n; i++) size += strlen(r->model->output[i].name) + strlen(r->model->input[i].name) + 8;
  char *text = od_arena_take(&to->arena, size);
  snprintf(range, sizeof range, "%.6g to %.6g Hz:", r->frequency[k], r->frequency[last]);
  for (int i = 0; text && i < r->n && r->pair[k * r->n] >= 0; i++)
    used += (size_t)snprintf(text + used, size - used, "%s%s by %s", i ? ", " : "", r->model->output[i].name,
                             r->model->input[r->pair[k * r->n + i]].name);
  od_result_finding(
      to, OD_SOUND, range, "%s",
      used > 0 ? text : "the gain matrix is infinite or has no inverse; choose other inputs, outputs or frequencies");
}

od_result od_gain_arrays_result(const od_gain_arrays *found) {
  od_result r = od_linear_result_new(found->machine, found->model, "relative gains");
  add_data(found, &r);
  add_array(found, 0, &r);
  if (found->count > 1) add_array(found, found->count - 1, &r);
  for (int k = 0, last; k < found->count; k = last + 1) {
    const int *pair = found->pair + k * found->n;
    for (last = k; last + 1 < found->count; last++)
      if (memcmp(pair, found->pair + (last + 1) * found->n, (size_t)found->n * sizeof *pair) != 0) break;
    add_pairing(found, k, last, &r);
  }
  od_add_linear_warnings(&r, found->model);
  return r;
}
