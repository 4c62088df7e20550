// Least squares with your own residuals: flow through an orifice, Q = a (dp)^n + leak dp, fitted to eight readings.
//
// Write the residuals twice, for double and for double complex: the second gives exact derivatives. The exponent has
// bounds; the factor `a` is searched as a logarithm. Build: cc fit_curve.c $(pkg-config --cflags --libs oleodyn)
#include <complex.h>
#include <math.h>
#include <stdio.h>

#include <oleodyn/oleodyn.h>

enum { READINGS = 8 };
static const double dp[READINGS] = {0.5, 1, 2, 3, 5, 8, 12, 20};                              // bar
static const double flow[READINGS] = {5.80, 8.26, 11.55, 14.25, 18.32, 23.18, 28.50, 36.68};  // l/min
static const double sigma = 0.05;                                                             // l/min, of a reading

// x = [a, n, leak]; returns 0, or another value if the residuals cannot be evaluated at x.
static int residuals(void *user, const double *x, double *r) {
  (void)user;
  for (int i = 0; i < READINGS; i++) r[i] = (x[0] * pow(dp[i], x[1]) + x[2] * dp[i] - flow[i]) / sigma;
  return 0;
}

// The same in complex numbers, which are pairs (real, imaginary) as in C's memory layout.
static int residuals_complex(void *user, const double *x, double *r) {
  (void)user;
  const double complex *X = (const double complex *)x;
  double complex *R = (double complex *)r;
  for (int i = 0; i < READINGS; i++) R[i] = (X[0] * cpow(dp[i], X[1]) + X[2] * dp[i] - flow[i]) / sigma;
  return 0;
}

int main(void) {
  const double start[3] = {1, 1, 0}, low[3] = {0, 0.3, 0}, high[3] = {INFINITY, 1, 1};
  const od_ls_transform transform[3] = {OD_TRANSFORM_LOG, OD_TRANSFORM_LINEAR, OD_TRANSFORM_LINEAR};
  const od_ls_problem problem = {.m = READINGS,
                                 .n = 3,
                                 .residuals = residuals,
                                 .residuals_complex = residuals_complex,
                                 .start = start,
                                 .low = low,
                                 .high = high,
                                 .transform = transform};
  const od_ls_options options = {.unit_variance = true};  // residuals are divided by sigma
  od_ls_result *result = NULL;
  od_error err = {0};
  od_status status = od_least_squares(&problem, &options, &result, &err);
  if (status != OD_OK) return fprintf(stderr, "%s\n", err.text), od_ls_result_free(result), 1;

  const char *names[3] = {"a", "n", "leak"};
  for (int i = 0; i < 3; i++)
    printf("%-5s %8.4f +- %.4f%s\n", names[i], result->x[i], result->sigma[i],
           result->at_bound[i] ? " (at its bound)" : "");
  printf("%s; sum of squares %.3g with %d degrees of freedom, after %ld steps\n", od_ls_reason_text(result->reason),
         2 * result->cost, result->freedom, result->iterations);
  // Readings were made with a = 8.2, n = 0.5, no leak.
  int good = fabs(result->x[0] - 8.2) < 3 * result->sigma[0] && fabs(result->x[1] - 0.5) < 3 * result->sigma[1];
  od_ls_result_free(result);
  return good ? 0 : 1;
}
