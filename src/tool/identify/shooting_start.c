// Initial nodes of a multiple shooting, found along the log in the manner of an observer. A node starts at the end of the
// segment before it. It is moved to bring its own segment closer to the data, but only along directions that are clearly
// visible in the segment's sensors. Other directions, such as a pressure far from any sensor, keep their simulated values.
#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "identify/shooting.h"

enum { ROUNDS = 4 };
static const double shown = 0.03;     // of the most visible direction: less visible directions are not changed
static const double smallest = 1e-6;  // of a state's largest value: the size of a nearly constant state

// Rows of one segment by its node, columns scaled to length 1: the step -V diag(s/(s^2 + shown^2)) U'r reduces the residuals.
// False: the factorization failed. J: rows x nx by rows, r: rows.
static bool damped_step(int rows, int nx, double *J, const double *r, double *step) {
  size_t m = (size_t)rows, n = (size_t)nx;
  double *memory = calloc(2 * n + n * n + m + 1, sizeof *memory);
  if (!memory || rows < nx) {
    free(memory);
    return false;
  }
  double *length = memory, *value = length + nx, *V = value + nx, *work = V + nx * nx;
  for (int j = 0; j < nx; j++) {
    for (int i = 0; i < rows; i++) length[j] = hypot(length[j], J[i * nx + j]);
    for (int i = 0; i < rows && length[j] > 0; i++) J[i * nx + j] /= length[j];
  }
  bool found = LAPACKE_dgesvd(LAPACK_ROW_MAJOR, 'O', 'S', rows, nx, J, nx, value, NULL, 1, V, nx, work) == 0;
  memset(step, 0, n * sizeof *step);
  for (int v = 0; v < nx && found; v++) {
    double along = 0;
    for (int i = 0; i < rows; i++) along += J[i * nx + v] * r[i];
    along *= -value[v] / (value[v] * value[v] + shown * shown);
    for (int j = 0; j < nx; j++)
      if (length[j] > 0) step[j] += along * V[v * nx + j] / length[j];
  }
  free(memory);
  return found;
}

// Residuals of a segment and their derivatives by its node. Returns the number of rows.
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

// Moves a node towards the data of its segment. memory: J and r of the longest segment, 2 nx.
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

// Sizes of states from the distances between nodes; weights of gaps in residuals from the derivatives of all segments.
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
  double *memory = malloc(((size_t)longest * (size_t)s->ny * (size_t)(nx + 1) + 2 * (size_t)nx + 1) * sizeof *memory);
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
  free(memory);
  if (status != OD_OK) return status;
  measure(s, data);
  s->at = s->node;
  memset(s->response, 0, (size_t)(s->nodes * nx * (s->np + 1)) * sizeof *s->response);
  memcpy(s->x, p, (size_t)s->np * sizeof *s->x);
  return OD_OK;
}
