// The NIST Statistical Reference Datasets for nonlinear regression: their models, and a reader of their files.
#ifndef OD_TEST_NIST_H
#define OD_TEST_NIST_H

#include <complex.h>
#include <stdbool.h>

#include "oleodyn/least_squares.h"

enum { NIST_DATA = 300, NIST_PARAMETERS = 9 };

typedef struct nist_model {
  const char *name;
  double (*real)(const double *b, const double *x);
  long double (*extended)(const long double *b, const long double *x);
  complex double (*complex_)(const complex double *b, const double *x);
} nist_model;

typedef struct nist_set {
  const nist_model *model;
  bool extended;  // residuals are computed in extended precision and then rounded
  int m, n;
  double y[NIST_DATA], x[NIST_DATA][2];
  long double y_long[NIST_DATA], x_long[NIST_DATA][2];
  double start[2][NIST_PARAMETERS];
  double value[NIST_PARAMETERS], sigma[NIST_PARAMETERS], squares;  // certified, to 11 digits
} nist_set;

extern const nist_model nist_models[];
extern const int nist_model_count;

// Reads folder/NAME.dat. Returns 1 after success, 0 if there is no such file, -1 if the file cannot be read.
int nist_read(const char *folder, const nist_model *model, nist_set *set);

// Residuals, model minus datum, with complex ones for derivatives; the start is the first.
od_ls_problem nist_problem(nist_set *set);
double nist_squares(nist_set *set, const double *b);

// Digits in which a value agrees with a certified one, at most 11.
double nist_digits(double value, double certified);

// Fits from a start and prints a line. Returns whether parameters and standard deviations have the required digits.
bool nist_fit(nist_set *set, int start, const od_ls_options *options, const char *label, double digits,
              double sigma_digits);

#endif
