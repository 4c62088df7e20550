// The covariance of an augmented filter, in one of two forms with the same operations (od_covariance_form). The augmented state is
// [x, p] with constant parameters, so the transition is F = [A B; 0 1]. Only the blocks that F changes are computed. These
// functions run inside steps on a controller and allocate no memory.
#ifndef OD_COVARIANCE_H
#define OD_COVARIANCE_H

#include <stdbool.h>

#include "oleodyn/observer.h"

enum { OD_MOST_WAITING = 4 };  // largest number of pending measurements

typedef struct od_covariance {  // sizes and memory of one filter's covariance
  int nx, np;
  od_covariance_form form;
  double *P;        // n x n: the covariance, or an upper triangle U with covariance U'U, parameters before states
  double *scratch;  // `room` doubles
  int room;         // 0: od_covariance_scratch()
  double *kept;     // od_covariance_kept() doubles, initially zero: the last process noise and its root; NULL: the
                    // noise is not stored
  int waiting;      // number of pending measurements; see od_covariance_take()
  double variance[OD_MOST_WAITING];  // variance of each pending measurement, including noise
} od_covariance;
// Returns the size of the scratch memory in doubles.
static inline int od_covariance_scratch(int nx, int np) {
  int n = nx + np, rows = n * (2 * n + 8) + 20, waiting = 4 * OD_MOST_WAITING * (n + 3) + OD_MOST_WAITING;
  return rows > waiting ? rows : waiting;
}
// Returns the size, in doubles, of the scratch memory of a root to which only single rows and at most `rows` rows of noise are added.
static inline int od_covariance_small_scratch(int nx, int np, int rows) {
  int n = nx + np, transform = n * (nx + 4) + 4 * (nx + 4) + n,
      waiting = 4 * OD_MOST_WAITING * (n + 3) + OD_MOST_WAITING + n, added = (rows < 1 ? 2 : rows + 1) * n,
      most = transform > waiting ? transform : waiting;
  return most > added ? most : added;
}
static inline int od_covariance_kept(int nx, int np) {
  int n = nx + np;
  return 2 * n * n + 4;
}

// Sets the covariance to P. Returns false if P is not positive semidefinite (square-root form).
bool od_covariance_set(od_covariance *b, const double *P);
// Computes the covariance P (n x n) from its stored form.
void od_covariance_get(const od_covariance *b, double *P);
double od_covariance_variance(const od_covariance *b, int i);

// P <- F P F' + Q; A is nx x nx, B nx x np. The noise is a full matrix Q, or its diagonal q, or zero (both NULL). Returns false if
// a variance of the result is negative or not finite, or, in the square-root form, if Q is not positive semidefinite. For a
// change of the states' coordinates, pass the derivatives of the new coordinates as A and B.
bool od_covariance_predict(od_covariance *b, const double *A, const double *B, const double *Q, const double *q);
// Like od_covariance_predict() and od_covariance_add() with the noise rows' rows; rows: count x n. Among the entries of the parameters, no
// row may have a nonzero entry before the first nonzero entry of the first row. The rows of od_covariance_noise() have this property.
bool od_covariance_predict_rows(od_covariance *b, const double *A, const double *B, int count, const double *rows);
bool od_covariance_add_rows(od_covariance *b, int count, const double *rows);
// Computes the rows of the noise Q (n x n) for the functions above; rows: n x n numbers. Returns the number of rows, or -1 if Q is not
// positive semidefinite.
int od_covariance_noise(int nx, int np, const double *Q, double *rows);
// Copies the upper triangle of the stored form, n (n + 1) / 2 numbers, to `upper`, or back.
void od_covariance_keep(const od_covariance *b, double *upper);
void od_covariance_restore(od_covariance *b, const double *upper);
// Computes P <- P + Q, or P + diag(q). Returns false in the cases of od_covariance_predict().
bool od_covariance_add(od_covariance *b, const double *Q, const double *q);

// Computes rows (n x n) with P = rows' rows. Returns false if the covariance is no longer positive semidefinite.
bool od_covariance_rows(const od_covariance *b, double *rows);
// Computes P <- rows' rows for any number of rows (count x n). Overwrites the rows; the memory must have space for one more row.
// Returns false if a variance of the result is negative or not finite.
bool od_covariance_gather(od_covariance *b, int count, double *rows);

// Computes P <- D P D, where D is `factor` for the states and 1 for the parameters.
void od_covariance_scale(od_covariance *b, double factor);

// Projects a measurement with row h (n). Returns its variance h P h. The next functions refer to the measurement projected last.
double od_covariance_project(const od_covariance *b, const double *h);
// Projects a measurement with a sparse row h, whose nonzero indices are given. Returns its variance.
double od_covariance_project_at(const od_covariance *b, const double *h, int count, const int *at);
// Computes g (n) = P h for the measurement projected last. No measurement may be pending.
void od_covariance_along(const od_covariance *b, double *g);

// Measurements are applied in sequence, but several measurements in one pass over the covariance. Project each measurement, then
// call od_covariance_take() with its noise variance r; the measurement is then pending. The next projection uses the covariance
// without the pending measurements. Apply all pending measurements before calling any other function.
void od_covariance_take(od_covariance *b, double r);
// Returns whether no more measurements may be pending.
bool od_covariance_is_full(const od_covariance *b);
// Returns h' gain, with the row h of the measurement projected last and the gain of a pending measurement.
double od_covariance_seen(const od_covariance *b, int waiting);
// Applies all pending measurements. gains (n each): P h / (h P h + r), where P includes the preceding measurements.
void od_covariance_settle(od_covariance *b, double *gains);
// Computes the sum of gain times value over all pending measurements, without applying them: change (n). At least one is pending. g: n
// numbers of scratch memory. Only for the square-root form.
void od_covariance_change(const od_covariance *b, const double *value, double *g, double *change);
// Applies the measurement projected last, with noise variance r, at once; gain (n) receives its gain. No other
// measurement may be pending.
void od_covariance_correct(od_covariance *b, double r, double *gain);

#endif
