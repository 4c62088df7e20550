// Segments of a set: predictions from nodes, gaps between segments, and the elimination of the nodes.
#include "identify/shooting.h"

#include <lapacke.h>
#include <math.h>
#include <string.h>

#include "base/allocate.h"
#include "least_squares/loss.h"
#include "least_squares/row_qr.h"

// ---- Memory

static od_status take_memory(od_shooting *s, long rows) {
  int nodes = s->nodes, nx = s->nx, np = s->np, ny = s->ny, per_node = nx * (np + 1);
  long long all = (long long)rows * ny;
  od_arena *arena = &s->arena;
  s->row = OD_TAKE(arena, int, nodes + 1);
  s->node = OD_TAKE_MATRIX(arena, double, nodes, nx), s->trial = OD_TAKE_MATRIX(arena, double, nodes, nx);
  s->gap = OD_TAKE_MATRIX(arena, double, nodes, nx);
  s->x = OD_TAKE(arena, double, np), s->size = OD_TAKE(arena, double, nx), s->weight = OD_TAKE(arena, double, nx);
  s->F = OD_TAKE(arena, double, nodes *nx *nx), s->G = OD_TAKE(arena, double, nodes *nx *np);
  s->dy = OD_TAKE_MATRIX(arena, double, all, np + nx), s->projected = OD_TAKE_MATRIX(arena, double, all, np);
  s->shift = OD_TAKE(arena, double, all);
  s->response = OD_TAKE_MATRIX(arena, double, nodes, per_node),
  s->trial_response = OD_TAKE_MATRIX(arena, double, nodes, per_node);
  s->end = OD_TAKE(arena, double, nx), s->S = OD_TAKE_MATRIX(arena, double, nx, np + nx);
  s->chain = (od_chain){.nodes = nodes,
                        .nx = nx,
                        .columns = np + 1,
                        .free_start = s->free_start,
                        .R = OD_TAKE(arena, double, nodes *nx *nx),
                        .F = OD_TAKE(arena, double, nodes *nx *nx),
                        .c = OD_TAKE_MATRIX(arena, double, nodes, per_node),
                        .h = OD_TAKE_MATRIX(arena, double, nodes, per_node),
                        .z = OD_TAKE_MATRIX(arena, double, nodes + 1, per_node),
                        .memory = OD_TAKE(arena, double, od_chain_memory(nodes, nx, np + 1))};
  return od_arena_status(arena);
}

od_status od_shooting_new(const od_shooting_of *of, od_shooting **out, od_error *err) {
  od_shooting *s = *out = od_calloc(1, sizeof *s);
  if (!s) return od_fail(err, OD_NO_MEMORY, "out of memory");
  *s = (od_shooting){.nodes = of->segments,
                     .nx = of->nx,
                     .np = of->np,
                     .ny = of->ny,
                     .fitted = of->fitted,
                     .first = of->first,
                     .free_start = of->free_start,
                     .y = of->y};
  if (take_memory(s, of->rows) != OD_OK) {
    od_shooting_free(s);
    *out = NULL;
    return od_fail(err, OD_NO_MEMORY, "out of memory");
  }
  s->next = of->next;
  for (int k = 0; k < s->nodes; k++) s->row[k] = (int)(of->fitted * k / s->nodes);
  s->row[s->nodes] = (int)of->rows;  // the last segment includes the rows that are not fitted
  s->at = s->node;
  return OD_OK;
}

void od_shooting_free(od_shooting *s) {
  if (!s) return;
  od_predictor_free(s->next);
  od_arena_free(&s->arena);
  od_free(s);
}

// ---- Predictions

// Returns the number of columns of the derivatives in segment k: parameters, then the states of its node if these states are free.
static int columns_of(const od_shooting *s, int k) {
  return k > 0 || s->free_start ? s->np + s->nx : s->np;
}
static double *dy_row(const od_shooting *s, long row) {
  return s->dy + row * s->ny * (s->np + s->nx);
}

// Stores the derivatives of the state at the end of segment k: with respect to its node, and with respect to the parameters.
static void keep_end_slopes(od_shooting *s, int k) {
  int nx = s->nx, np = s->np, columns = columns_of(s, k);
  for (int i = 0; i < nx; i++) {
    for (int j = 0; j < np; j++) s->G[(k * nx + i) * np + j] = s->S[i * columns + j];
    for (int j = 0; j < nx; j++) s->F[(k * nx + i) * nx + j] = columns > np ? s->S[i * columns + np + j] : 0;
  }
}

// Predicts segment k from its node, including the first row of the next segment. The prediction of the next segment
// overwrites this row. Returns OD_NOT_AVAILABLE if the machine has changed its coordinates.
static od_status predict_segment(od_shooting *s, int k, const double *p, bool derivatives) {
  bool last = k + 1 == s->nodes;
  int first = s->row[k], count = s->row[k + 1] - first + !last;
  od_predictor *predictor = k > 0 ? s->next : s->first;
  // If the predictor starts at rest, `from` is only the start of the search for the equilibrium.
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

// ---- Elimination of nodes

// Computes the triangular factor R (QR factorization) of the derivatives of a segment's rows with respect to the segment's node, and
// the transformed right-hand sides: derivatives with respect to parameters, and residuals. The unit of a state is its size. `change`
// replaces the residuals (rows x ny); NULL: the residuals are used. Fails with OD_NO_MEMORY.
static od_status compress(od_shooting *s, int k, const od_shooting_data *data, const double *change) {
  int nx = s->nx, np = s->np, columns = columns_of(s, k), all = nx + np, stride;
  long end = s->row[k + 1] < s->fitted ? s->row[k + 1] : s->fitted;
  OD_SCRATCH(scratch);
  double *memory = OD_TAKE(&scratch, double, od_row_qr_size(all));
  if (!memory) return OD_NO_MEMORY;
  od_row_qr qr;
  od_row_qr_begin(&qr, all, memory);
  for (long row = s->row[k]; row < end; row++)
    for (int i = 0; i < s->ny; i++) {
      double measured = data->y[row * s->ny + i], part = 1 / data->sigma[i];
      if (isnan(measured)) continue;
      const double *from = s->dy + (row * s->ny + i) * (np + nx);
      if (columns == np) from = dy_row(s, s->row[k]) + ((row - s->row[k]) * s->ny + i) * np;
      double r = (s->y[row * s->ny + i] - measured) * part, *to = od_row_qr_next(&qr, &stride);
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
  return OD_OK;
}

// Writes the continuity equations of segment k, in units of the sizes of states.
static void tie(od_shooting *s, int k) {
  int nx = s->nx, np = s->np;
  for (int i = 0; i < nx; i++) {
    double unit = 1 / s->size[i];
    for (int j = 0; j < nx; j++) s->chain.F[(k * nx + i) * nx + j] = unit * s->F[(k * nx + i) * nx + j] * s->size[j];
    for (int j = 0; j < np; j++) s->chain.h[(k * nx + i) * (np + 1) + j] = unit * s->G[(k * nx + i) * np + j];
    s->chain.h[(k * nx + i) * (np + 1) + np] = unit * s->gap[k * nx + i];
  }
}

// Computes the effect of the changes of node k on row `row`: derivatives with the nodes eliminated, and the shift by closing
// the gaps.
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
    if (compress(s, k, data, change) != OD_OK) return OD_NO_MEMORY;
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

// ---- Movement of nodes

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

// ---- Initial nodes
// Initial nodes are computed along the log, one segment after another, as in an observer. A node starts at the end of the
// previous segment. The node is then moved to bring its own segment closer to the data. The node moves only along directions
// whose singular value, for columns of length 1, is not small compared with `shown`. Other directions, such as a pressure that no
// sensor of the segment depends on, keep their simulated values.

enum { ROUNDS = 4 };
static const double shown = 0.03;     // damping of directions, for columns of length 1
static const double smallest = 1e-6;  // smallest size of a state, as a fraction of the state's largest value

// Computes the step -V diag(s/(s^2 + shown^2)) U'r, which reduces the residuals of one segment. J (rows x nx, by rows):
// derivatives with respect to the node; overwritten. r: residuals. Returns false if there are fewer rows than states, if the
// factorization fails, or if out of memory.
static bool damped_step(int rows, int nx, double *J, const double *r, double *step) {
  OD_SCRATCH(scratch);
  double *length = OD_TAKE(&scratch, double, nx), *value = OD_TAKE(&scratch, double, nx);
  double *V = OD_TAKE_MATRIX(&scratch, double, nx, nx), *work = OD_TAKE(&scratch, double, rows);
  if (od_arena_status(&scratch) != OD_OK || rows < nx) return false;
  for (int j = 0; j < nx; j++) {
    for (int i = 0; i < rows; i++) length[j] = hypot(length[j], J[i * nx + j]);
    for (int i = 0; i < rows && length[j] > 0; i++) J[i * nx + j] /= length[j];
  }
  bool found = LAPACKE_dgesvd(LAPACK_ROW_MAJOR, 'O', 'S', rows, nx, J, nx, value, NULL, 1, V, nx, work) == 0;
  memset(step, 0, (size_t)nx * sizeof *step);
  for (int v = 0; v < nx && found; v++) {
    double along = 0;
    for (int i = 0; i < rows; i++) along += J[i * nx + v] * r[i];
    along *= -value[v] / (value[v] * value[v] + shown * shown);
    for (int j = 0; j < nx; j++)
      if (length[j] > 0) step[j] += along * V[v * nx + j] / length[j];
  }
  return found;
}

// Collects the residuals of a segment and their derivatives with respect to its node. Returns the number of rows.
static int gather(const od_shooting *s, int first, int count, const od_shooting_data *data, double *J, double *r) {
  int rows = 0, columns = s->np + s->nx;
  for (int row = first; row < first + count && row < s->fitted; row++)
    for (int i = 0; i < s->ny; i++) {
      long entry = (long)row * s->ny + i;
      if (isnan(data->y[entry])) continue;
      r[rows] = (s->y[entry] - data->y[entry]) / data->sigma[i];
      for (int j = 0; J && j < s->nx; j++) J[rows * s->nx + j] = s->dy[entry * columns + s->np + j] / data->sigma[i];
      rows++;
    }
  return rows;
}

static double squares(int rows, const double *r) {
  double sum = 0;
  for (int i = 0; i < rows; i++) sum += r[i] * r[i];
  return sum;
}

// Moves a node toward the data of its segment. Fails only if the first prediction fails. memory: J and r of the longest
// segment, and 2 nx numbers.
static od_status follow(od_shooting *s, int k, const double *p, const od_shooting_data *data, double *memory) {
  int nx = s->nx, first = s->row[k], last = s->row[k + 1] < s->fitted ? s->row[k + 1] : (int)s->fitted;
  int count = last - first;
  od_predictor *predictor = k > 0 ? s->next : s->first;
  double *r = memory, *step = r + (long)count * s->ny, *best = step + nx, *J = best + nx, least = INFINITY, part = 1;
  double *at = s->node + k * nx;
  od_predictor_window(predictor, first, count);
  for (int round = 0; round < 2 * ROUNDS; round++) {
    od_status status = od_predict(predictor, s->np ? p : NULL, at, s->y + (long)first * s->ny,
                                  s->dy + (long)first * s->ny * (s->np + nx));
    int rows = status == OD_OK ? gather(s, first, count, data, J, r) : 0;
    double now = status == OD_OK ? squares(rows, r) : INFINITY;
    if (status != OD_OK && !isfinite(least)) return status;
    if (now < least) {
      bool enough = now > 0.99 * least || round >= ROUNDS;
      least = now, part = 1;
      memcpy(best, at, (size_t)nx * sizeof *best);
      if (enough || !damped_step(rows, nx, J, r, step)) break;
    } else {
      part /= 4;
    }
    for (int i = 0; i < nx; i++) at[i] = best[i] + part * step[i];
  }
  memcpy(at, best, (size_t)nx * sizeof *at);
  return OD_OK;
}

// Computes the sizes of states, which are the ranges of the nodes. Also computes the weights of gaps, in units of residuals,
// from the derivatives of all segments except the first.
static void measure(od_shooting *s, const od_shooting_data *data) {
  int nx = s->nx, columns = s->np + nx;
  for (int i = 0; i < nx; i++) {
    double low = INFINITY, high = -INFINITY, largest = 0, seen = 0;
    for (int k = 0; k < s->nodes; k++) {
      double value = s->node[k * nx + i];
      low = fmin(low, value), high = fmax(high, value), largest = fmax(largest, fabs(value));
    }
    s->size[i] = fmax(high - low, smallest * largest);
    if (!(s->size[i] > 0)) s->size[i] = 1;
    for (int k = 1; k < s->nodes; k++) {
      double norm = 0;
      for (long row = s->row[k]; row < s->row[k + 1] && row < s->fitted; row++)
        for (int j = 0; j < s->ny; j++)
          norm = hypot(norm, s->dy[(row * s->ny + j) * columns + s->np + i] / data->sigma[j]);
      seen = fmax(seen, norm);
    }
    s->weight[i] = fmax(seen, 1 / s->size[i]);
  }
}

od_status od_shooting_begin(od_shooting *s, const double *p, const double *x0, const od_shooting_data *data) {
  int longest = 0, nx = s->nx;
  for (int k = 0; k < s->nodes; k++)
    longest = longest > s->row[k + 1] - s->row[k] ? longest : s->row[k + 1] - s->row[k];
  OD_SCRATCH(scratch);
  double *memory = OD_TAKE(&scratch, double, (long long)longest * s->ny * (nx + 1) + 2 * nx);
  if (!memory) return OD_NO_MEMORY;
  od_status status = OD_OK;
  memcpy(s->node, x0, (size_t)nx * sizeof *x0);
  for (int k = 0; k < s->nodes && status == OD_OK; k++) {
    if (k > 0 || s->free_start) status = follow(s, k, p, data, memory);
    if (status != OD_OK || k + 1 == s->nodes) break;
    od_predictor *predictor = k > 0 ? s->next : s->first;
    od_predictor_window(predictor, s->row[k], s->row[k + 1] - s->row[k] + 1);
    status = od_predict(predictor, s->np ? p : NULL, s->node + k * nx, s->y + (long)s->row[k] * s->ny, NULL);
    if (status == OD_OK && !od_predictor_end(predictor, s->node + (k + 1) * nx, NULL)) status = OD_NOT_AVAILABLE;
  }
  od_predictor_window(s->first, 0, s->row[s->nodes]);
  if (status != OD_OK) return status;
  measure(s, data);
  s->at = s->node;
  memset(s->response, 0, (size_t)(s->nodes * nx * (s->np + 1)) * sizeof *s->response);
  memcpy(s->x, p, (size_t)s->np * sizeof *s->x);
  return OD_OK;
}
