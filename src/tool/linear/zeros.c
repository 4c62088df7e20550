// Zeros of a system with the equations 0 = C x + D u. Zeros at infinity are removed in rounds. While D does not have full row
// rank, some combination of the equations does not contain the inputs directly. This combination fixes some states at zero. The
// new equations are that the rates of these states are zero. The remaining system has an invertible D, and its zeros are the
// eigenvalues of A - B D^-1 C.
//
// The states (dgebal) and the equations (largest number 1) are scaled. Numbers that are then small relative to the largest number
// in their row count as zero. Neither scaling changes the zeros.
#include <lapacke.h>
#include <math.h>
#include <string.h>

#include "linear/poles.h"

static const double negligible = 1e-12;

// [A B; C D]: n + p rows, n + m columns. The row stride is always `width`, although n decreases.
typedef struct pencil {
  int n, p, m, width;
  double *a, *next;
  double *u, *v, *s, *copy, *superdiagonal;  // memory of singular value decompositions
  lapack_int *pivot;                         // one per equation
} pencil;

static double *at(const pencil *z, int row, int column) {
  return z->a + row * z->width + column;
}

// Computes the singular value decomposition of a block: U (rows x rows) in u, V' (columns x columns) in v. Returns the rank of
// the block; -1: LAPACK failed.
static int decompose(const pencil *z, int row, int column, int rows, int columns) {
  if (rows == 0 || columns == 0) return 0;
  for (int i = 0; i < rows; i++)
    memcpy(z->copy + i * columns, at(z, row + i, column), (size_t)columns * sizeof *z->copy);
  if (LAPACKE_dgesvd(LAPACK_ROW_MAJOR, 'A', 'A', rows, columns, z->copy, columns, z->s, z->u, rows, z->v, columns,
                     z->superdiagonal) != 0)
    return -1;
  int rank = 0;
  while (rank < rows && rank < columns && z->s[rank] > negligible) rank++;
  return rank;
}

// Multiplies the rows starting at `first` by U'.
static void combine_rows(const pencil *z, int first, int rows) {
  for (int j = 0; j < z->n + z->m; j++) {
    for (int i = 0; i < rows; i++) {
      z->copy[i] = 0;
      for (int k = 0; k < rows; k++) z->copy[i] += z->u[k * rows + i] * *at(z, first + k, j);
    }
    for (int i = 0; i < rows; i++) *at(z, first + i, j) = z->copy[i];
  }
}

// Transforms the states to V' x. The states in the decomposed rows come first.
static void rotate_states(const pencil *z) {
  int n = z->n;
  for (int i = 0; i < n + z->p; i++) {
    for (int j = 0; j < n; j++) {
      z->copy[j] = 0;
      for (int k = 0; k < n; k++) z->copy[j] += *at(z, i, k) * z->v[j * n + k];
    }
    memcpy(at(z, i, 0), z->copy, (size_t)n * sizeof *z->copy);
  }
  for (int j = 0; j < n + z->m; j++) {
    for (int i = 0; i < n; i++) {
      z->copy[i] = 0;
      for (int k = 0; k < n; k++) z->copy[i] += z->v[i * n + k] * *at(z, k, j);
    }
    for (int i = 0; i < n; i++) *at(z, i, j) = z->copy[i];
  }
}

// Scales every equation so that its largest number is 1.
static void scale_equations(const pencil *z) {
  for (int i = z->n; i < z->n + z->p; i++) {
    double largest = 0;
    for (int j = 0; j < z->n + z->m; j++) largest = fmax(largest, fabs(*at(z, i, j)));
    for (int j = 0; j < z->n + z->m && largest > 0; j++) *at(z, i, j) /= largest;
  }
}

// Removes zeros at infinity in one round. Returns 1 if more rounds are needed, 0 if D has full row rank, or -1 on
// failure.
static int reduce(pencil *z) {
  int n = z->n, width = z->width, rank = decompose(z, n, n, z->p, z->m);
  if (rank < 0 || rank == z->p) return rank < 0 ? -1 : 0;
  if (z->m > 0) combine_rows(z, n, z->p);
  int seen = decompose(z, n + rank, 0, z->p - rank, n);
  if (seen < 0) return -1;
  if (seen > 0) rotate_states(z);
  // Rows: the remaining states, the equations with inputs, the rates of the fixed states.
  int left = n - seen, rows = left + rank + seen;
  for (int i = 0; i < rows; i++) {
    int from = i < left ? seen + i : i < left + rank ? n + i - left : i - left - rank;
    memcpy(z->next + i * width, at(z, from, seen), (size_t)(left + z->m) * sizeof *z->next);
  }
  memcpy(z->a, z->next, (size_t)rows * (size_t)width * sizeof *z->a);
  z->n = left, z->p = rank + seen;
  scale_equations(z);
  return 1;
}

// Computes the eigenvalues of A - B D^-1 C. Returns their number; -1: failure.
static int solve(const pencil *z, od_pole *zero) {
  int n = z->n, m = z->m, width = z->width;
  for (int i = 0; i < m; i++) {
    memcpy(z->u + i * m, at(z, n + i, n), (size_t)m * sizeof *z->u);
    memcpy(z->next + i * n, at(z, n + i, 0), (size_t)n * sizeof *z->next);
  }
  if (n == 0) return 0;
  if (LAPACKE_dgesv(LAPACK_ROW_MAJOR, m, n, z->u, m, z->pivot, z->next, n) != 0) return -1;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      double sum = z->a[i * width + j];
      for (int k = 0; k < m; k++) sum -= z->a[i * width + n + k] * z->next[k * n + j];
      z->v[i * n + j] = sum;
    }
  double none;
  if (LAPACKE_dgeev(LAPACK_ROW_MAJOR, 'N', 'N', n, z->v, n, z->s, z->superdiagonal, &none, 1, &none, 1) != 0) return -1;
  for (int i = 0; i < n; i++) zero[i] = (od_pole){z->s[i], z->superdiagonal[i]};
  return n;
}

// Sets the pencil to the chosen rows and columns of the model, scaled.
static void fill(pencil *z, const od_linear_model *m, const int *inputs, const int *outputs) {
  int n = z->n;
  lapack_int low, high;
  for (int i = 0; i < n; i++) {
    memcpy(at(z, i, 0), m->A + i * n, (size_t)n * sizeof *z->a);
    for (int j = 0; j < z->m; j++) *at(z, i, n + j) = m->B[i * m->inputs + inputs[j]];
  }
  for (int i = 0; i < z->p; i++) {
    memcpy(at(z, n + i, 0), m->C + outputs[i] * n, (size_t)n * sizeof *z->a);
    for (int j = 0; j < z->m; j++) *at(z, n + i, n + j) = m->D[outputs[i] * m->inputs + inputs[j]];
  }
  LAPACKE_dgebal(LAPACK_ROW_MAJOR, 'S', z->width, z->a, z->width, &low, &high, z->s);
  scale_equations(z);
}

od_status od_zeros_find(const od_linear_model *m, const int *inputs, const int *outputs, int pairs, od_arena *arena,
                        od_pole **zero, int *count, od_error *err) {
  OD_SCRATCH(scratch);
  long side = m->states + pairs + 1, square = side * side;
  pencil z = {.n = m->states,
              .p = pairs,
              .m = pairs,
              .width = m->states + pairs,
              .a = OD_TAKE(&scratch, double, square),
              .next = OD_TAKE(&scratch, double, square),
              .u = OD_TAKE(&scratch, double, square),
              .v = OD_TAKE(&scratch, double, square),
              .copy = OD_TAKE(&scratch, double, square),
              .s = OD_TAKE(&scratch, double, side),
              .superdiagonal = OD_TAKE(&scratch, double, side),
              .pivot = OD_TAKE(&scratch, lapack_int, side)};
  *zero = OD_TAKE(arena, od_pole, m->states);
  *count = -1;
  if (!*zero || od_arena_status(&scratch) != OD_OK) return od_fail(err, OD_NO_MEMORY, "out of memory");
  fill(&z, m, inputs, outputs);
  int more = 1;
  // Every round removes a state or an equation.
  for (int round = 0; more > 0 && round <= m->states + pairs; round++) more = reduce(&z);
  if (more == 0 && z.p == z.m) more = *count = solve(&z, *zero);
  return more < 0 ? od_fail(err, OD_NOT_CONVERGED,
                            "cannot compute the zeros: LAPACK did not converge; choose another operating point")
                  : OD_OK;
}
