// The equations between the nodes of multiple shooting, solved in forward and backward passes. If the first node is fixed, continuity
// alone determines the other nodes (follow_start()). The following applies to a free first node.
//
// Elimination of nodes by continuity alone would multiply transition matrices. An unstable machine amplifies changes by exp(20)
// forward, and a stiff machine by exp(20) backward. Hydraulic machines are both unstable and stiff. Therefore continuity is added
// as further rows of the least-squares problem, with a large weight 1/e. Nodes are eliminated by orthogonal transformations from
// the first to the last node (the square-root information filter and smoother of Bierman). The remaining gaps are corrected by
// repeated passes with the gaps added to the right-hand side (method of multipliers). Each pass multiplies the gaps by e^2.
#include <float.h>
#include <math.h>
#include <string.h>

#include "identify/shooting.h"

static const double heavy = 1e5;   // weight 1/e of continuity, relative to the heaviest row of the data
static const double weak = 1e-10;  // weight that fixes an undetermined first node, relative to the heaviest row
enum { MOST_PASSES = 8 };
static const double closed = 1e-13;  // fraction of the largest change of any node; smaller gaps count as closed

// Returns the number of entries of a row: coefficients of a node, coefficients of the next node, and right-hand sides.
// For each node, nx rows are kept for the backward pass; scratch memory follows.
static int width_of(const od_chain *c) {
  return 2 * c->nx + c->columns;
}
size_t od_chain_memory(int nodes, int nx, int columns) {
  size_t width = (size_t)(2 * nx + columns), states = (size_t)nx;
  return (size_t)nodes * states * width + 4 * states * width + (size_t)nodes * states * (size_t)columns + 1;
}

// Reduces the first `columns` columns of a `rows` x `width` matrix to a triangle by Householder reflections.
static void triangle(int rows, int width, int columns, double *A) {
  for (int c = 0; c < columns && c < rows; c++) {
    double norm = 0;
    for (int i = c; i < rows; i++) norm = hypot(norm, A[i * width + c]);
    if (norm == 0) continue;
    double head = A[c * width + c], alpha = head > 0 ? -norm : norm, beta = 1 / (alpha * (alpha - head));
    A[c * width + c] = head - alpha;
    for (int j = c + 1; j < width; j++) {
      double sum = 0;
      for (int i = c; i < rows; i++) sum += A[i * width + c] * A[i * width + j];
      sum *= beta;
      for (int i = c; i < rows; i++) A[i * width + j] -= sum * A[i * width + c];
    }
    A[c * width + c] = alpha;
    for (int i = c + 1; i < rows; i++) A[i * width + c] = 0;
  }
}

// Stacks the rows in descending order of weight, for the stability of weighted least squares: continuity, then the
// information about the node, then the data. block: 3 nx rows.
static void stack(const od_chain *c, int k, const double *known, const double *h, double *block) {
  int nx = c->nx, width = width_of(c), first = 2 * nx;
  memset(block, 0, (size_t)(3 * nx * width) * sizeof *block);
  for (int i = 0; i < nx; i++) {
    double *tie = block + i * width, *before = tie + nx * width, *data = before + nx * width;
    for (int j = 0; j < nx; j++) {
      tie[j] = -c->F[(k * nx + i) * nx + j] * c->tightness;
      before[j] = known[i * (nx + c->columns) + j];
      data[j] = c->R[(k * nx + i) * nx + j];
    }
    tie[nx + i] = c->tightness;
    for (int b = 0; b < c->columns; b++) {
      tie[first + b] = -h[(k * nx + i) * c->columns + b] * c->tightness;
      before[first + b] = known[i * (nx + c->columns) + nx + b];
      data[first + b] = c->c[(k * nx + i) * c->columns + b];
    }
  }
}

// Runs one forward and one backward pass with the right-hand sides h of continuity. Writes the solution to c->z.
static void pass(od_chain *c, const double *h) {
  int nx = c->nx, width = width_of(c), narrow = nx + c->columns;
  double *kept = c->memory, *block = kept + c->nodes * nx * width, *known = block + 3 * nx * width;
  memset(known, 0, (size_t)(nx * narrow) * sizeof *known);
  for (int i = 0; i < nx; i++) known[i * narrow + i] = weak * c->tightness / heavy;
  for (int k = 0; k + 1 < c->nodes; k++) {
    stack(c, k, known, h, block);
    triangle(3 * nx, width, 2 * nx, block);
    memcpy(kept + k * nx * width, block, (size_t)(nx * width) * sizeof *kept);
    for (int i = 0; i < nx; i++)
      memcpy(known + i * narrow, block + (nx + i) * width + nx, (size_t)narrow * sizeof *known);
  }
  // No continuity equation follows the last node.
  int last = c->nodes - 1;
  for (int i = 0; i < nx; i++) {
    double *data = block + (nx + i) * narrow;
    memcpy(block + i * narrow, known + i * narrow, (size_t)narrow * sizeof *block);
    memcpy(data, c->R + (last * nx + i) * nx, (size_t)nx * sizeof *data);
    memcpy(data + nx, c->c + (last * nx + i) * c->columns, (size_t)c->columns * sizeof *data);
  }
  triangle(2 * nx, narrow, nx, block);
  for (int k = last; k >= 0; k--) {
    const double *rows = k == last ? block : kept + k * nx * width;
    int wide = k == last ? narrow : width, next = k == last ? 0 : nx;
    const double *behind = c->z + (k + 1) * nx * c->columns;
    for (int i = nx - 1; i >= 0; i--)
      for (int b = 0; b < c->columns; b++) {
        double sum = -rows[i * wide + nx + next + b];
        for (int j = i + 1; j < nx; j++) sum -= rows[i * wide + j] * c->z[(k * nx + j) * c->columns + b];
        for (int j = 0; j < next; j++) sum -= rows[i * wide + nx + j] * behind[j * c->columns + b];
        c->z[(k * nx + i) * c->columns + b] = rows[i * wide + i] != 0 ? sum / rows[i * wide + i] : 0;
      }
  }
}

// Adds the remaining gaps to the right-hand sides of continuity. Returns the largest gap relative to the changes in its
// column; 0: all gaps are closed; infinite: a change is not finite.
static double correct(const od_chain *c, double *h) {
  int nx = c->nx, nb = c->columns;
  double worst = 0;
  for (int b = 0; b < nb; b++) {
    double largest = 0, missing = 0;
    for (int i = 0; i < c->nodes * nx; i++) largest = fmax(largest, fabs(c->z[i * nb + b]));
    for (int k = 0; k + 1 < c->nodes; k++)
      for (int i = 0; i < nx; i++) {
        double off = c->h[(k * nx + i) * nb + b] - c->z[((k + 1) * nx + i) * nb + b];
        for (int j = 0; j < nx; j++) off += c->F[(k * nx + i) * nx + j] * c->z[(k * nx + j) * nb + b];
        h[(k * nx + i) * nb + b] += off;
        missing = fmax(missing, fabs(off));
      }
    if (missing > closed * largest) worst = fmax(worst, largest > 0 ? missing / largest : 1);
    if (!isfinite(largest)) return INFINITY;
  }
  return worst;
}

// Computes all nodes from the first node, which is zero, by continuity alone. Returns false if a node is not finite.
static bool follow_start(od_chain *c) {
  int nx = c->nx, nb = c->columns;
  bool finite = true;
  memset(c->z, 0, (size_t)(nx * nb) * sizeof *c->z);
  for (int k = 0; k + 1 < c->nodes; k++)
    for (int i = 0; i < nx; i++)
      for (int b = 0; b < nb; b++) {
        double sum = c->h[(k * nx + i) * nb + b];
        for (int j = 0; j < nx; j++) sum += c->F[(k * nx + i) * nx + j] * c->z[(k * nx + j) * nb + b];
        c->z[((k + 1) * nx + i) * nb + b] = sum;
        finite = finite && isfinite(sum);
      }
  return finite;
}

bool od_chain_solve(od_chain *c) {
  if (!c->free_start) return follow_start(c);
  int nx = c->nx, nb = c->columns, width = width_of(c);
  double *h = c->memory + c->nodes * nx * width + 4 * nx * width;
  memcpy(h, c->h, (size_t)(c->nodes * nx * nb) * sizeof *h);
  double before = INFINITY, most = 0;
  for (int i = 0; i < c->nodes * nx * nx; i++) most = fmax(most, fabs(c->R[i]));
  c->tightness = heavy * (most > 0 ? most : 1);
  for (int passes = 0; passes < MOST_PASSES; passes++) {
    pass(c, h);
    double missing = correct(c, h);
    if (!isfinite(missing)) return false;
    if (missing == 0 || !(missing < 0.5 * before)) break;
    before = missing;
  }
  return true;
}
