// Scaling and squaring with the Pade approximant of order 7, and the derivative of each of its operations. The method is the paired
// recursion of Al-Mohy and Higham, Computing the Frechet derivative of the matrix exponential (SIAM J. Matrix Anal. Appl. 30,
// 2009). Their bound on the norm for this order holds for the exponential and its derivative.
#include "predict/exponential.h"

#include <math.h>
#include <string.h>

#include "math/dense.h"

static const double largest_norm = 0.783;
static const double b[8] = {17297280, 8648640, 1995840, 277200, 25200, 1512, 56, 1};

// Computes c = a m, or c += a m if `add` is not zero.
static void multiply(int n, const double *a, const double *m, double *c, int add) {
  if (!add) memset(c, 0, (size_t)(n * n) * sizeof *c);
  for (int i = 0; i < n; i++)
    for (int k = 0; k < n; k++) {
      double factor = a[i * n + k];
      for (int j = 0; j < n; j++) c[i * n + j] += factor * m[k * n + j];
    }
}

static double norm(int n, const double *a) {
  double largest = 0;
  for (int j = 0; j < n; j++) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += fabs(a[i * n + j]);
    if (!(sum <= largest)) largest = sum;  // keeps a NaN
  }
  return largest;
}

// Computes the even and odd parts of the approximant: V = sum b[2k] P_k, W = sum b[2k+1] P_k, where P_k are the powers of
// A^2. first: the first power of the sum (derivatives have no constant part).
static void parts(int n, const double *const P[4], int first, double *V, double *W) {
  for (int i = 0; i < n * n; i++) {
    V[i] = W[i] = 0;
    for (int k = first; k < 4; k++) V[i] += b[2 * k] * P[k][i], W[i] += b[2 * k + 1] * P[k][i];
  }
}

od_status od_exponential(int n, const double *A, int count, const double *E, double *X, double *L, double *scratch,
                         int *pivot) {
  int nn = n * n;
  double *As = scratch, *I = As + nn, *A2 = I + nn, *A4 = A2 + nn, *A6 = A4 + nn, *W = A6 + nn, *Q = W + nn;
  double *t1 = Q + nn, *t2 = t1 + nn, *Es = t2 + nn;  // Es: `count` consecutive matrices
  double size = norm(n, A);
  if (!(size < 1e300)) return OD_NOT_FINITE;
  int squarings = size > largest_norm ? (int)ceil(log2(size / largest_norm)) : 0;
  double factor = ldexp(1, -squarings);
  for (int i = 0; i < nn; i++) As[i] = factor * A[i], I[i] = i % (n + 1) == 0;
  for (int i = 0; i < count * nn; i++) Es[i] = factor * E[i];

  // X = (V - U)^-1 (V + U), U = A W.
  multiply(n, As, As, A2, 0);
  multiply(n, A2, A2, A4, 0);
  multiply(n, A2, A4, A6, 0);
  const double *const powers[4] = {I, A2, A4, A6};
  parts(n, powers, 0, t1, W);
  multiply(n, As, W, t2, 0);
  for (int i = 0; i < nn; i++) Q[i] = t1[i] - t2[i], X[i] = t1[i] + t2[i];
  od_status status = od_lu_factor(n, Q, pivot);
  if (status != OD_OK) return status;
  od_lu_solve(n, Q, pivot, X, n);

  // Derivatives: (V - U) dX = dU + dV + (dU - dV) X. From here on, I and L are scratch memory.
  for (int c = 0; c < count; c++) {
    const double *e = Es + c * nn;
    double *dX = L + c * nn, *dA2 = t1, *dA4 = t2, *dA6 = I, *dV = dX;
    multiply(n, As, e, dA2, 0), multiply(n, e, As, dA2, 1);
    multiply(n, A2, dA2, dA4, 0), multiply(n, dA2, A2, dA4, 1);
    multiply(n, A2, dA4, dA6, 0), multiply(n, dA2, A4, dA6, 1);
    for (int i = 0; i < nn; i++) {
      dV[i] = b[2] * dA2[i] + b[4] * dA4[i] + b[6] * dA6[i];
      dA2[i] = b[3] * dA2[i] + b[5] * dA4[i] + b[7] * dA6[i];  // now dW
    }
    double *dU = dA4;
    multiply(n, As, dA2, dU, 0), multiply(n, e, W, dU, 1);
    for (int i = 0; i < nn; i++) I[i] = dU[i] - dV[i], dX[i] += dU[i];
    multiply(n, I, X, dX, 1);
    od_lu_solve(n, Q, pivot, dX, n);
  }

  for (int s = 0; s < squarings; s++) {
    for (int c = 0; c < count; c++) {
      double *dX = L + c * nn;
      multiply(n, X, dX, t1, 0), multiply(n, dX, X, t1, 1);
      memcpy(dX, t1, (size_t)nn * sizeof *dX);
    }
    multiply(n, X, X, t1, 0);
    memcpy(X, t1, (size_t)nn * sizeof *X);
  }
  return isfinite(norm(n, X)) ? OD_OK : OD_NOT_FINITE;
}
