// The covariance of an augmented filter, in one of two forms with the same operations (od_covariance_form). The
// augmented state is [x, p] with constant parameters, so that the transition is F = [A B; 0 1]: only the blocks that it
// touches are computed. Hand-written: runs inside steps on a controller, allocates nothing.
#ifndef OD_COVARIANCE_H
#define OD_COVARIANCE_H

#include <stdbool.h>

#include "oleodyn/observer.h"

enum { OD_MOST_WAITING = 4 };  // measurements

typedef struct od_covariance {  // sizes and memory of one filter's covariance
  int nx, np;
  od_covariance_form form;
  double *P;        // n x n: the covariance, or an upper triangle U with covariance U'U, parameters before states
  double *scratch;  // od_covariance_scratch() doubles
  double *kept;     // od_covariance_kept() doubles, zero at first: the last noise and its root; NULL: it is not kept
  int waiting;      // measurements that wait to be taken in; see od_covariance_take()
  double variance[OD_MOST_WAITING];  // of each, with noise
} od_covariance;
static inline int od_covariance_scratch(int nx, int np) {
  int n = nx + np, rows = n * (2 * n + 8) + 20, waiting = 4 * OD_MOST_WAITING * (n + 3) + OD_MOST_WAITING;
  return rows > waiting ? rows : waiting;
}
static inline int od_covariance_kept(int nx, int np) {
  int n = nx + np;
  return 2 * n * n + 4;
}

// Sets the covariance to P; false when P is not positive semidefinite (square-root form).
bool od_covariance_set(od_covariance *b, const double *P);
// Multiplies out the covariance (n x n).
void od_covariance_get(const od_covariance *b, double *P);
double od_covariance_variance(const od_covariance *b, int i);

// P <- F P F' + Q; A is nx x nx, B nx x np. Noise as a full matrix Q, or its diagonal q, or none (NULL).
// Also for a change of the states' coordinates, with A and B the derivatives of the new ones.
bool od_covariance_predict(od_covariance *b, const double *A, const double *B, const double *Q, const double *q);
// P <- P + Q, or + diag(q).
bool od_covariance_add(od_covariance *b, const double *Q, const double *q);

// Rows (n x n) with P = rows' rows; false where a covariance has lost its positivity.
bool od_covariance_rows(const od_covariance *b, double *rows);
// P <- rows' rows, of any number of them (count x n). They are destroyed, and there must be room for one more.
bool od_covariance_gather(od_covariance *b, int count, double *rows);

// P <- D P D with D = factor for the states, 1 for the parameters.
void od_covariance_scale(od_covariance *b, double factor);

// A measurement with row h (n): returns its variance h P h. The next one is about the one projected last.
double od_covariance_project(const od_covariance *b, const double *h);
// The same where h is zero except at so many places.
double od_covariance_project_at(const od_covariance *b, const double *h, int count, const int *at);
// g (n) = P h; nothing may wait.
void od_covariance_along(const od_covariance *b, double *g);

// Measurements are taken in one after the other, several of them in one go over the covariance: each is projected and told to be taken in,
// with noise of variance r, and waits. What is projected next sees the covariance without those that wait; nothing else may be asked
// before they are settled.
void od_covariance_take(od_covariance *b, double r);
// Whether no more may wait.
bool od_covariance_is_full(const od_covariance *b);
// h' gain of the one projected last with one that waits.
double od_covariance_seen(const od_covariance *b, int waiting);
// Takes in all that wait. gains (n each): P h / (h P h + r), with P as the ones before leave it.
void od_covariance_settle(od_covariance *b, double *gains);
// The same for a single one.
void od_covariance_correct(od_covariance *b, double r, double *gain);

#endif
