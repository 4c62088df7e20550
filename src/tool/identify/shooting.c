// Segments of a set: predictions from nodes, gaps of continuity, and the elimination of the nodes.
#include "identify/shooting.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "least_squares/loss.h"
#include "least_squares/row_qr.h"

// ---- memory

static void set_rows(od_shooting *s, const od_shooting_of *of) {
  for (int k = 0; k < s->nodes; k++) s->row[k] = (int)(of->fitted * k / s->nodes);
  s->row[s->nodes] = (int)of->rows;  // the last segment extends to the end
}

static bool take_memory(od_shooting *s, long rows) {
  size_t nodes = (size_t)s->nodes, nx = (size_t)s->nx, np = (size_t)s->np, ny = (size_t)s->ny, all = (size_t)rows * ny;
  size_t chain = od_chain_memory(s->nodes, s->nx, s->np + 1), per_node = nx * (np + 1);
  double *at = calloc(3 * nodes * nx + np + 2 * nx + nodes * nx * (nx + np) + all * (np + nx) + all * np + all +
                          2 * nodes * per_node + ny * (1 + np + nx) + nx * (1 + np + nx) +
                          nodes * (2 * nx * nx + 3 * per_node) + nx * (np + 1) + chain + 1,
                      sizeof *at);
  if (!at) return false;
  s->node = at, at += nodes * nx;
  s->trial = at, at += nodes * nx;
  s->gap = at, at += nodes * nx;
  s->x = at, at += np;
  s->size = at, at += nx;
  s->weight = at, at += nx;
  s->F = at, at += nodes * nx * nx;
  s->G = at, at += nodes * nx * np;
  s->dy = at, at += all * (np + nx);
  s->projected = at, at += all * np;
  s->shift = at, at += all;
  s->response = at, at += nodes * per_node;
  s->trial_response = at, at += nodes * per_node;
  s->y_end = at, at += ny;
  s->dy_end = at, at += ny * (np + nx);
  s->end = at, at += nx;
  s->S = at, at += nx * (np + nx);
  s->chain = (od_chain){.nodes = s->nodes, .nx = s->nx, .columns = s->np + 1, .free_start = s->free_start};
  s->chain.R = at, at += nodes * nx * nx;
  s->chain.F = at, at += nodes * nx * nx;
  s->chain.c = at, at += nodes * per_node;
  s->chain.h = at, at += nodes * per_node;
  s->chain.z = at, at += nodes * per_node + nx * (np + 1);
  s->chain.memory = at;
  return true;
}

od_status od_shooting_new(const od_shooting_of *of, od_shooting **out, od_error *err) {
  od_shooting *s = *out = calloc(1, sizeof *s);
  if (s) {
    *s = (od_shooting){.nodes = of->segments,
                       .nx = of->nx,
                       .np = of->np,
                       .ny = of->ny,
                       .fitted = of->fitted,
                       .first = of->first,
                       .next = of->next,
                       .free_start = of->free_start,
                       .y = of->y};
    s->row = calloc((size_t)s->nodes + 1, sizeof *s->row);
    if (s->row && take_memory(s, of->rows)) {
      set_rows(s, of);
      s->at = s->node;
      return OD_OK;
    }
    s->next = NULL;  // the predictor remains the caller's
  }
  od_shooting_free(s);
  *out = NULL;
  return od_fail(err, OD_NO_MEMORY, "memory ran out");
}

void od_shooting_free(od_shooting *s) {
  if (!s) return;
  od_predictor_free(s->next);
  free(s->row);
  free(s->node);  // the start of the allocation that holds all arrays
  free(s);
}

// ---- predictions

// Columns of the derivatives in segment k: parameters, then the states of its node if they are free.
static int columns_of(const od_shooting *s, int k) {
  return k > 0 || s->free_start ? s->np + s->nx : s->np;
}
static double *dy_row(const od_shooting *s, long row) {
  return s->dy + row * s->ny * (s->np + s->nx);
}

// Stores the derivatives of the state at the end: by the node, by the parameters.
static void keep_end_slopes(od_shooting *s, int k) {
  int nx = s->nx, np = s->np, columns = columns_of(s, k);
  for (int i = 0; i < nx; i++) {
    for (int j = 0; j < np; j++) s->G[(k * nx + i) * np + j] = s->S[i * columns + j];
    for (int j = 0; j < nx; j++) s->F[(k * nx + i) * nx + j] = columns > np ? s->S[i * columns + np + j] : 0;
  }
}

// Predicts a segment. The outputs at its end belong to the next segment, which overwrites them.
static od_status predict_segment(od_shooting *s, int k, const double *p, bool derivatives) {
  bool last = k + 1 == s->nodes;
  int first = s->row[k], count = s->row[k + 1] - first + !last;
  od_predictor *predictor = k > 0 ? s->next : s->first;
  // A start at rest computes its own state.
  const double *from = s->at + k * s->nx;
  od_predictor_window(predictor, first, count);
  od_status status =
      od_predict(predictor, s->np ? p : NULL, from, s->y + (long)first * s->ny, derivatives ? dy_row(s, first) : NULL);
  if (status != OD_OK) return status;
  if (!od_predictor_end(predictor, s->end, derivatives ? s->S : NULL)) return OD_NOT_AVAILABLE;
  if (derivatives) keep_end_slopes(s, k);
  for (int i = 0; i < s->nx && !last; i++) s->gap[k * s->nx + i] = s->end[i] - s->at[(k + 1) * s->nx + i];
  return OD_OK;
}

od_status od_shooting_predict(od_shooting *s, const double *p, bool derivatives) {
  od_status status = OD_OK;
  for (int k = 0; k < s->nodes && status == OD_OK; k++) status = predict_segment(s, k, p, derivatives);
  od_predictor_window(s->first, 0, s->row[s->nodes]);
  return status;
}

double od_shooting_gap(const od_shooting *s) {
  double sum = 0;
  for (int k = 0; k + 1 < s->nodes; k++)
    for (int i = 0; i < s->nx; i++) sum += s->weight[i] * fabs(s->gap[k * s->nx + i]);
  return sum;
}

// ---- elimination

// The triangle of a segment's rows by its node, in units of the sizes of states, with right-hand sides. `change` replaces the
// residuals (rows x ny); NULL: residuals.
static bool compress(od_shooting *s, int k, const od_shooting_data *data, const double *change) {
  int nx = s->nx, np = s->np, columns = columns_of(s, k), all = nx + np, stride;
  long end = s->row[k + 1] < s->fitted ? s->row[k + 1] : s->fitted;
  double *memory = malloc(od_row_qr_size(all) * sizeof *memory);
  if (!memory) return false;
  od_row_qr qr;
  od_row_qr_begin(&qr, all, memory);
  for (long row = s->row[k]; row < end; row++)
    for (int i = 0; i < s->ny; i++) {
      double said = data->y[row * s->ny + i], part = 1 / data->sigma[i];
      if (isnan(said)) continue;
      const double *from = s->dy + (row * s->ny + i) * (np + nx);
      if (columns == np) from = dy_row(s, s->row[k]) + ((row - s->row[k]) * s->ny + i) * np;
      double r = (s->y[row * s->ny + i] - said) * part, *to = od_row_qr_next(&qr, &stride);
      od_loss_weight weight = od_loss_row(data->loss, data->loss_scale, r);
      for (int j = 0; j < nx; j++) to[j * stride] = columns > np ? weight.row * part * from[np + j] * s->size[j] : 0;
      for (int j = 0; j < np; j++) to[(nx + j) * stride] = weight.row * part * from[j];
      to[all * stride] = change ? weight.row * part * change[row * s->ny + i] : weight.residual;
    }
  od_row_qr_end(&qr);
  for (int i = 0; i < nx; i++) {
    const double *from = qr.R + i * (all + 1);
    for (int j = 0; j < nx; j++) s->chain.R[(k * nx + i) * nx + j] = j >= i ? from[j] : 0;
    for (int j = 0; j <= np; j++) s->chain.c[(k * nx + i) * (np + 1) + j] = from[nx + j];
  }
  free(memory);
  return true;
}

// The continuity equations, in units of the sizes of states.
static void tie(od_shooting *s, int k) {
  int nx = s->nx, np = s->np;
  for (int i = 0; i < nx; i++) {
    double unit = 1 / s->size[i];
    for (int j = 0; j < nx; j++) s->chain.F[(k * nx + i) * nx + j] = unit * s->F[(k * nx + i) * nx + j] * s->size[j];
    for (int j = 0; j < np; j++) s->chain.h[(k * nx + i) * (np + 1) + j] = unit * s->G[(k * nx + i) * np + j];
    s->chain.h[(k * nx + i) * (np + 1) + np] = unit * s->gap[k * nx + i];
  }
}

// The effect of the changes of node k on row `row`: derivatives with nodes eliminated, and the shift by closing the gaps.
static void project_row(const od_shooting *s, int k, long row, int i, double *projected, double *shift) {
  int nx = s->nx, np = s->np, columns = columns_of(s, k);
  const double *from = s->dy + (row * s->ny + i) * (np + nx);
  if (columns == np) from = dy_row(s, s->row[k]) + ((row - s->row[k]) * s->ny + i) * np;
  const double *response = s->trial_response + k * nx * (np + 1);
  for (int j = 0; j < np && projected; j++) {
    projected[j] = from[j];
    for (int l = 0; l < nx && columns > np; l++) projected[j] += from[np + l] * response[l * (np + 1) + j];
  }
  *shift = 0;
  for (int l = 0; l < nx && columns > np; l++) *shift += from[np + l] * response[l * (np + 1) + np];
}

static od_status solve(od_shooting *s, const od_shooting_data *data, const double *change) {
  int nx = s->nx, np = s->np;
  for (int k = 0; k < s->nodes; k++) {
    if (!compress(s, k, data, change)) return OD_NO_MEMORY;
    tie(s, k);
  }
  if (!od_chain_solve(&s->chain)) return OD_NOT_FINITE;
  for (int k = 0; k < s->nodes; k++)
    for (int i = 0; i < nx; i++)
      for (int b = 0; b <= np; b++) {
        int entry = (k * nx + i) * (np + 1) + b;
        s->trial_response[entry] = s->size[i] * s->chain.z[entry];
      }
  return OD_OK;
}

od_status od_shooting_eliminate(od_shooting *s, const od_shooting_data *data) {
  od_status status = solve(s, data, NULL);
  for (int k = 0; k < s->nodes && status == OD_OK; k++)
    for (long row = s->row[k]; row < s->row[k + 1]; row++)
      for (int i = 0; i < s->ny; i++) {
        long entry = row * s->ny + i;
        project_row(s, k, row, i, s->projected + entry * s->np, s->shift + entry);
      }
  return status;
}

od_status od_shooting_change(od_shooting *s, const od_shooting_data *data, const double *before, double *change) {
  for (long i = 0; i < (long)s->row[s->nodes] * s->ny; i++) change[i] = s->y[i] - before[i];
  od_status status = solve(s, data, change);
  for (int k = 0; k < s->nodes && status == OD_OK; k++)
    for (long row = s->row[k]; row < s->row[k + 1]; row++)
      for (int i = 0; i < s->ny; i++) {
        double shift;
        project_row(s, k, row, i, NULL, &shift);
        change[row * s->ny + i] += shift;
      }
  return status;
}

// ---- moving

void od_shooting_move(od_shooting *s, const double *p, double part) {
  int nx = s->nx, np = s->np;
  for (int entry = 0; entry < s->nodes * nx; entry++) {
    const double *response = s->response + entry * (np + 1);
    double change = part * response[np];
    for (int j = 0; j < np; j++) change += response[j] * (p[j] - s->x[j]);
    s->trial[entry] = s->node[entry] + change;
  }
  s->at = s->trial;
}

void od_shooting_accept(od_shooting *s, const double *p) {
  size_t nodes = (size_t)(s->nodes * s->nx);
  if (s->at == s->trial) memcpy(s->node, s->trial, nodes * sizeof *s->node);
  memcpy(s->response, s->trial_response, nodes * (size_t)(s->np + 1) * sizeof *s->response);
  memcpy(s->x, p, (size_t)s->np * sizeof *s->x);
  s->at = s->node;
}
