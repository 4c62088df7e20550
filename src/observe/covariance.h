// The covariance of an augmented filter, in two forms with the same operations. The augmented state is [x, p] with
// constant parameters, so that the transition is F = [A B; 0 1]: only the blocks that it touches are computed.
// Hand-written: runs inside steps on a controller, allocates nothing.
#ifndef OD_COVARIANCE_H
#define OD_COVARIANCE_H

#include <stdbool.h>

typedef struct od_block {  // sizes and memory of one filter's covariance
  int nx, np;
  bool square_root;
  double *P;        // n x n: the covariance, or a factor S with P = S S'
  double *scratch;  // 2 n x n + 3 n
} od_block;

// Sets the covariance to P; false when P is not positive semidefinite (square-root form).
bool od_covariance_set(od_block *b, const double *P);
// Multiplies out the covariance (n x n).
void od_covariance_get(const od_block *b, double *P);
double od_covariance_variance(const od_block *b, int i);

// P <- F P F' + Q; A is nx x nx, B nx x np. Noise as a full matrix Q, or its diagonal q, or none (NULL).
bool od_covariance_predict(od_block *b, const double *A, const double *B, const double *Q, const double *q);
// P <- P + Q, or + diag(q).
bool od_covariance_add(od_block *b, const double *Q, const double *q);
// P <- T P T' for a change of the states' coordinates; T is nx x nx.
void od_covariance_map(od_block *b, const double *T);

// P <- D P D with D = factor for the states, 1 for the parameters.
void od_covariance_scale(od_block *b, double factor);

// g = P h for a row h (n); returns h P h.
double od_covariance_project(const od_block *b, const double *h, double *g);
// Takes in the measurement just projected, of variance r: g = P h, s = h P h + r. gain (n) = g / s.
void od_covariance_correct(od_block *b, const double *g, double s, double r, double *gain);

#endif
