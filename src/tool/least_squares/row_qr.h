// QR of a tall matrix, row block by row block: what least squares needs of a Jacobian of thousands of rows is its small
// triangle R and the part of the residuals that lies in its range.
//
//   [J r] = Q [R q; 0 rest]      J: m x k, R: k x k upper triangular
//
// Written by hand: a block of rows stays in the first cache from its first to its last reflection, the triangle above
// it is known to be one, and J is read once in the caller's row-major order and never copied as a whole.
#ifndef OD_ROW_QR_H
#define OD_ROW_QR_H

#include <stddef.h>

typedef struct od_row_qr {
  int k;
  int rows;       // of a block
  int filled;     // rows of the present block
  double *R;      // k x (k + 1), row-major: the triangle and q beside it
  double rest;    // square of the norm of what is left of r
  double *block;  // (k + 1) columns of `rows` entries
} od_row_qr;

// Doubles of memory that a factorization with k columns wants.
size_t od_row_qr_size(int k);
void od_row_qr_begin(od_row_qr *qr, int k, double *memory);
// Room for one more row: its entry of column j belongs to row[j * stride], the residual is entry k.
double *od_row_qr_next(od_row_qr *qr, int *stride);
// The same for up to `wanted` rows side by side: entry j of row i belongs to (*to)[j * stride + i]. Tells for how many there is
// room.
int od_row_qr_rows(od_row_qr *qr, int wanted, double **to, int *stride);
// Takes in what is left of the last block.
void od_row_qr_end(od_row_qr *qr);

#endif
