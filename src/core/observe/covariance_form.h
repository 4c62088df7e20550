// Operations of a form of the covariance, one for each operation of covariance.h, and functions that the forms share.
#ifndef OD_COVARIANCE_FORM_H
#define OD_COVARIANCE_FORM_H

#include "base/wide.h"
#include "math/dense.h"
#include "observe/covariance.h"

typedef struct od_covariance_operations {
  bool (*set)(od_covariance *b, const double *P);
  void (*get)(const od_covariance *b, double *P);
  double (*variance)(const od_covariance *b, int i);
  void (*transform)(od_covariance *b, const double *A, const double *B);  // P <- F P F'
  bool (*add)(od_covariance *b, const double *Q, const double *q);
  bool (*add_rows)(od_covariance *b, int count, const double *rows);
  bool (*rows)(const od_covariance *b, double *rows);
  void (*gather)(od_covariance *b, int count, double *rows);  // destroys the rows
  void (*scale)(od_covariance *b, double factor);
  int most_waiting;  // largest number of pending measurements

  // Stores the data for the functions below in scratch. The first OD_MOST_WAITING numbers of scratch receive the
  // covariance of this measurement with each pending measurement.
  double (*project)(const od_covariance *b, const double *h, int count, const int *at);
  void (*along)(const od_covariance *b, double *g);
  double (*take)(od_covariance *b, double r);  // returns h P h + r
  void (*settle)(od_covariance *b, double *gains);
  void (*change)(const od_covariance *b, const double *value, double *g, double *change);  // NULL if most_waiting is 1
} od_covariance_operations;
extern const od_covariance_operations od_covariance_joseph, od_covariance_root;

// Computes rows (n x n) of a square root of P, P = rows' rows. Returns false if P is not positive semidefinite.
bool od_covariance_factor(const od_covariance *b, const double *P, double *rows);

// Adds the sum of a_l times row l of M (count x m) to `row` (m), several rows at a time. Transitions have many zeros (closed ports,
// spools without dynamics), so groups of four zeros are skipped.
OD_INTO_WIDE void od_add_rows(int m, int count, const double *restrict a, const double *restrict M,
                              double *restrict row) {
  int l = 0;
  for (; l + 4 <= count; l += 4) {
    double a0 = a[l], a1 = a[l + 1], a2 = a[l + 2], a3 = a[l + 3];
    if (a0 == 0 && a1 == 0 && a2 == 0 && a3 == 0) continue;
    const double *M0 = M + l * m, *M1 = M0 + m, *M2 = M1 + m, *M3 = M2 + m;
    for (int j = 0; j < m; j++) row[j] += (a0 * M0[j] + a1 * M1[j]) + (a2 * M2[j] + a3 * M3[j]);
  }
  if (count - l == 3) {
    double a0 = a[l], a1 = a[l + 1], a2 = a[l + 2];
    const double *M0 = M + l * m, *M1 = M0 + m, *M2 = M1 + m;
    for (int j = 0; j < m; j++) row[j] += (a0 * M0[j] + a1 * M1[j]) + a2 * M2[j];
    return;
  }
  for (; l < count; l++)
    if (a[l] != 0) od_add_scaled(m, a[l], M + l * m, row);
}

OD_INTO_WIDE double od_inner(int n, const double *restrict a, const double *restrict b) {
  od_quad sum = {0};
  int i = 0;
  for (; i + 4 <= n; i += 4) sum += OD_QUAD_AT(a + i) * OD_QUAD_AT(b + i);
  double rest = 0;
  for (; i < n; i++) rest += a[i] * b[i];
  return ((sum[0] + sum[1]) + (sum[2] + sum[3])) + rest;
}

#endif
