#include "observe/covariance.h"

#include <string.h>

#include "base/parts.h"
#include "math/dense.h"
#include "observe/covariance_form.h"

static const od_covariance_operations *form_of(const od_covariance *b) {
  return OD_WITH_JOSEPH && b->form == OD_FORM_JOSEPH ? &od_covariance_joseph : &od_covariance_root;
}

bool od_covariance_set(od_covariance *b, const double *P) {
  return form_of(b)->set(b, P);
}
void od_covariance_get(const od_covariance *b, double *P) {
  form_of(b)->get(b, P);
}
double od_covariance_variance(const od_covariance *b, int i) {
  return form_of(b)->variance(b, i);
}

bool od_covariance_predict(od_covariance *b, const double *A, const double *B, const double *Q, const double *q) {
  form_of(b)->transform(b, A, B);
  return form_of(b)->add(b, Q, q);
}
bool od_covariance_predict_rows(od_covariance *b, const double *A, const double *B, int count, const double *rows) {
  form_of(b)->transform(b, A, B);
  return form_of(b)->add_rows(b, count, rows);
}
bool od_covariance_add_rows(od_covariance *b, int count, const double *rows) {
  return form_of(b)->add_rows(b, count, rows);
}
bool od_covariance_add(od_covariance *b, const double *Q, const double *q) {
  return form_of(b)->add(b, Q, q);
}
bool od_covariance_rows(const od_covariance *b, double *rows) {
  return form_of(b)->rows(b, rows);
}
bool od_covariance_gather(od_covariance *b, int count, double *rows) {
  form_of(b)->gather(b, count, rows);
  return form_of(b)->add(b, NULL, NULL);
}
void od_covariance_keep(const od_covariance *b, double *upper) {
  int n = b->nx + b->np;
  for (int i = 0; i < n; upper += n - i, i++) memcpy(upper, b->P + i * (n + 1), (size_t)(n - i) * sizeof *upper);
}
// The lower triangle of a root is zero. The lower triangle of a covariance mirrors its upper triangle.
void od_covariance_restore(od_covariance *b, const double *upper) {
  int n = b->nx + b->np;
  for (int i = 0; i < n; upper += n - i, i++) {
    memcpy(b->P + i * (n + 1), upper, (size_t)(n - i) * sizeof *upper);
    for (int j = i + 1; OD_WITH_JOSEPH && b->form == OD_FORM_JOSEPH && j < n; j++) b->P[j * n + i] = upper[j - i];
  }
}
void od_covariance_scale(od_covariance *b, double factor) {
  form_of(b)->scale(b, factor);
}

// Stores the indices of nonzero entries at the end of the scratch memory, which the forms do not use in project().
double od_covariance_project(const od_covariance *b, const double *h) {
  int n = b->nx + b->np, *at = (int *)(b->scratch + (b->room ? b->room : od_covariance_scratch(b->nx, b->np)) - n);
  return form_of(b)->project(b, h, od_places(n, h, at), at);
}
double od_covariance_project_at(const od_covariance *b, const double *h, int count, const int *at) {
  return form_of(b)->project(b, h, count, at);
}
void od_covariance_along(const od_covariance *b, double *g) {
  form_of(b)->along(b, g);
}

void od_covariance_take(od_covariance *b, double r) {
  b->variance[b->waiting] = form_of(b)->take(b, r);
  b->waiting++;
}
bool od_covariance_is_full(const od_covariance *b) {
  return b->waiting == form_of(b)->most_waiting;
}
double od_covariance_seen(const od_covariance *b, int waiting) {
  return b->scratch[waiting] / b->variance[waiting];
}
void od_covariance_settle(od_covariance *b, double *gains) {
  form_of(b)->settle(b, gains);
  b->waiting = 0;
}
void od_covariance_change(const od_covariance *b, const double *value, double *g, double *change) {
  form_of(b)->change(b, value, g, change);
}
void od_covariance_correct(od_covariance *b, double r, double *gain) {
  od_covariance_take(b, r);
  od_covariance_settle(b, gain);
}
