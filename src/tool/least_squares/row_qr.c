// Householder reflections of a block of rows below the triangle. The reflector of column c changes row c of the triangle and
// the whole block.
//
//   v = (1, b_c / (R_cc - beta)),  beta = -sign(R_cc) |(R_cc, b_c)|,  tau = (beta - R_cc) / beta,  H = 1 - tau v v^T
#include "least_squares/row_qr.h"

#include <math.h>
#include <string.h>

#include "base/wide.h"
#include "math/dense.h"
#include "memory/scoped.h"

enum {
  LANES = 8,             // number of partial sums of a dot product: a fixed order for any vector width of the processor
  BLOCK_DOUBLES = 3072,  // 24 kB
  LEAST_ROWS = 32,
  MOST_ROWS = 256,
};

static int block_rows(int k) {
  int rows = BLOCK_DOUBLES / (k + 1) / LANES * LANES;
  return rows < LEAST_ROWS ? LEAST_ROWS : rows > MOST_ROWS ? MOST_ROWS : rows;
}

size_t od_row_qr_size(int k) {
  return (size_t)(k + 1) * (size_t)(k + block_rows(k));
}

void od_row_qr_begin(od_row_qr *qr, int k, double *memory) {
  *qr = (od_row_qr){.k = k, .rows = block_rows(k), .R = memory, .block = memory + k * (k + 1)};
  memset(qr->R, 0, (size_t)(k * (k + 1)) * sizeof *qr->R);
}

OD_INTO_WIDE double dot(int n, const double *restrict a, const double *restrict b) {
  double s[LANES] = {0};
  for (int i = 0; i < n; i += LANES)
    for (int l = 0; l < LANES; l++) s[l] += a[i + l] * b[i + l];
  return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
}

// Applies H to one column: to its entry in row c of the triangle, and to the block.
OD_INTO_WIDE void reflect(int n, const double *restrict v, double tau, double *top, double *restrict b) {
  double w = tau * (*top + dot(n, v, b));
  *top -= w;
  for (int i = 0; i < n; i++) b[i] -= w * v[i];
}

OD_WIDE static void take_in_block(od_row_qr *qr) {
  int k = qr->k, n = (qr->filled + LANES - 1) / LANES * LANES, width = k + 1;
  for (int i = qr->filled; i < n; i++)
    for (int c = 0; c < width; c++) qr->block[c * qr->rows + i] = 0;
  for (int c = 0; c < k; c++) {
    double *v = qr->block + c * qr->rows, *row = qr->R + c * width;
    double below = dot(n, v, v), square = row[c] * row[c] + below;
    if (below == 0 || square < OD_LEAST_SQUARE) continue;
    double beta = -copysign(sqrt(square), row[c]), tau = (beta - row[c]) / beta;
    double factor = 1 / (row[c] - beta);
    for (int i = 0; i < n; i++) v[i] *= factor;
    row[c] = beta;
    for (int j = c + 1; j <= k; j++) reflect(n, v, tau, row + j, qr->block + j * qr->rows);
  }
  const double *r = qr->block + k * qr->rows;
  qr->rest += dot(n, r, r);
  qr->filled = 0;
}

double *od_row_qr_next(od_row_qr *qr, int *stride) {
  double *to;
  od_row_qr_rows(qr, 1, &to, stride);
  return to;
}

int od_row_qr_rows(od_row_qr *qr, int wanted, double **to, int *stride) {
  if (qr->filled == qr->rows) take_in_block(qr);
  int count = qr->rows - qr->filled < wanted ? qr->rows - qr->filled : wanted;
  *stride = qr->rows;
  *to = qr->block + qr->filled;
  qr->filled += count;
  return count;
}

void od_row_qr_end(od_row_qr *qr) {
  if (qr->filled) take_in_block(qr);
}

bool od_row_qr_triangle(int m, int n, const double *J, int k, const int *column, double *triangle) {
  OD_SCRATCH(scratch);
  double *memory = OD_TAKE(&scratch, double, od_row_qr_size(k));
  if (!memory) return false;
  od_row_qr qr;
  int stride;
  od_row_qr_begin(&qr, k, memory);
  for (int i = 0; i < m; i++) {
    const double *from = J + (size_t)i * (size_t)n;
    double *to = od_row_qr_next(&qr, &stride);
    for (int j = 0; j < k; j++) to[j * stride] = from[column[j]];
    to[k * stride] = 0;
  }
  od_row_qr_end(&qr);
  for (int i = 0; i < k; i++)
    for (int j = 0; j < k; j++) triangle[j * k + i] = j >= i ? qr.R[i * (k + 1) + j] : 0;
  return true;
}
