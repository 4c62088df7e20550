#include "support/response.h"

#include <math.h>
#include <stdlib.h>

od_test_linear od_test_linearize(od_sim *sim, const od_plant *plant, int input, int output) {
  int n = od_plant_nx(plant), nu = plant->nu, ny = plant->ny;
  size_t rows = (size_t)n;
  od_test_linear l = {
      .n = n, .A = calloc(rows * rows, sizeof *l.A), .B = calloc(rows, sizeof *l.B), .C = calloc(rows, sizeof *l.C)};
  double *fu = calloc(rows * (size_t)nu + 1, sizeof *fu), *hx = calloc((size_t)ny * rows + 1, sizeof *hx),
         *hu = calloc((size_t)(ny * nu) + 1, sizeof *hu);
  if (!l.A || !l.B || !l.C || !fu || !hx || !hu) abort();
  if (od_sim_derivatives(sim, NULL, l.A, fu, NULL) != OD_OK) abort();
  if (od_sim_output_jacobians(sim, hx, hu, NULL) != OD_OK) abort();
  for (int i = 0; i < n; i++) l.B[i] = fu[i * nu + input], l.C[i] = hx[output * n + i];
  l.D = hu[output * nu + input];
  free(fu), free(hx), free(hu);
  return l;
}

void od_test_linear_free(od_test_linear *l) {
  free(l->A), free(l->B), free(l->C);
}

// Gaussian elimination with row pivoting on s - A, rows scaled to their largest entries.
double complex od_test_response(const od_test_linear *l, double complex s) {
  int n = l->n;
  double complex *M = calloc((size_t)(n * (n + 1)) + 1, sizeof *M);
  if (!M) abort();
  for (int i = 0; i < n; i++) {
    double size = cabs(s - l->A[i * n + i]) + 1e-300;
    for (int j = 0; j < n; j++)
      if (fabs(l->A[i * n + j]) > size) size = fabs(l->A[i * n + j]);
    for (int j = 0; j < n; j++) M[i * (n + 1) + j] = ((i == j ? s : 0) - l->A[i * n + j]) / size;
    M[i * (n + 1) + n] = l->B[i] / size;
  }
  for (int c = 0; c < n; c++) {
    int best = c;
    for (int i = c + 1; i < n; i++)
      if (cabs(M[i * (n + 1) + c]) > cabs(M[best * (n + 1) + c])) best = i;
    for (int j = 0; j <= n; j++) {
      double complex swap = M[c * (n + 1) + j];
      M[c * (n + 1) + j] = M[best * (n + 1) + j], M[best * (n + 1) + j] = swap;
    }
    for (int i = c + 1; i < n; i++) {
      double complex factor = M[i * (n + 1) + c] / M[c * (n + 1) + c];
      for (int j = c; j <= n; j++) M[i * (n + 1) + j] -= factor * M[c * (n + 1) + j];
    }
  }
  double complex y = l->D;
  for (int i = n - 1; i >= 0; i--) {
    double complex x = M[i * (n + 1) + n];
    for (int j = i + 1; j < n; j++) x -= M[i * (n + 1) + j] * M[j * (n + 1) + n];
    M[i * (n + 1) + n] = x / M[i * (n + 1) + i];
    y += l->C[i] * M[i * (n + 1) + n];
  }
  free(M);
  return y;
}
