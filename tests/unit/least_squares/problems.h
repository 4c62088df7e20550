// Problems that several tests of the least-squares engine solve.
#ifndef OD_LEAST_SQUARES_PROBLEMS_H
#define OD_LEAST_SQUARES_PROBLEMS_H

#include <math.h>

#include "support/test.h"
#include "oleodyn/least_squares.h"

static inline od_ls_result *solve(const od_ls_problem *problem, const od_ls_options *options) {
  od_ls_result *r;
  od_error err = {0};
  if (od_least_squares(problem, options, &r, &err) != OD_OK) fail_msg("%s", err.text);
  return r;
}

// log(x0) + x1 - 1, x1 - 3: minimum at x0 = exp(-2), near the edge of what can be evaluated.
static inline int logarithm(void *user, const double *x, double *r) {
  int how = user ? *(int *)user : 0;
  if (how == 1 && x[0] <= 0) return 1;
  r[0] = log(x[0]) + x[1] - 1, r[1] = x[1] - 3;
  return 0;
}

#endif
