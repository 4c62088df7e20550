// QR factorization of a tall matrix in blocks of rows. A least-squares problem may have a Jacobian with thousands of rows. The
// solution needs only the small triangle R and the part of the residuals in the range of J.
//
//   [J r] = Q [R q; 0 rest]      J: m x k, R: k x k upper triangular
//
// LAPACK is not used. In this code, a block of rows stays in the first-level cache for all its reflections. The code also uses the
// triangular form of R. J is read once in the caller's row-major order and never copied as a whole.
#ifndef OD_ROW_QR_H
#define OD_ROW_QR_H

#include <stdbool.h>
#include <stddef.h>

typedef struct od_row_qr {
  int k;
  int rows;       // number of rows of a block
  int filled;     // number of rows in the current block
  double *R;      // k x (k + 1), row-major: the triangle and, as last column, q
  double rest;    // squared norm of the part of r outside the range
  double *block;  // (k + 1) columns of `rows` entries
} od_row_qr;

// Returns the number of doubles that a factorization with k columns requires.
size_t od_row_qr_size(int k);
void od_row_qr_begin(od_row_qr *qr, int k, double *memory);
// Returns memory for one more row: its entry in column j is row[j * stride], and the residual is entry k.
double *od_row_qr_next(od_row_qr *qr, int *stride);
// Sets *to to memory for up to `wanted` rows: entry j of row i is (*to)[j * stride + i]. Returns the number of these rows.
int od_row_qr_rows(od_row_qr *qr, int wanted, double **to, int *stride);
// Factors the last, partially filled block.
void od_row_qr_end(od_row_qr *qr);

// Computes the triangle (k x k, stored by columns) of the columns column[0 .. k) of J (m x n, stored by rows). Returns
// false if out of memory.
bool od_row_qr_triangle(int m, int n, const double *J, int k, const int *column, double *triangle);

#endif
