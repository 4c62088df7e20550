// What data can tell about parameters, and what not: from the sensitivities dy/dp of a prediction.
//
// With noise of standard deviation sigma on every row, J = dy/dp tells a change dp of the parameters to the precision
// (J'J / sigma^2)^-1 at best (Cramer-Rao). Changes are counted in units of the parameters' scales. Singular values of
// the scaled J say how well each direction is identifiable: one over its standard deviation. There are directions
//   - that leave the data unchanged at all (null): found without regard to scales, and written so that people can read
//     them: few parameters, simple ratios;
//   - that the noise hides (weak): their standard deviation exceeds 100 % of their scale.
#ifndef OD_IDENTIFY_IDENTIFIABILITY_H
#define OD_IDENTIFY_IDENTIFIABILITY_H

#include <stddef.h>

#include "oleodyn/status.h"

typedef struct od_sensitivities {
  int rows, columns;    // samples times outputs, parameters
  const double *J;      // rows x columns, row-major; rows of unequal noise must have been divided by theirs
  const double *value;  // of the parameters; always needed, for what is said about factors
  const double *scale;  // sizes that changes are counted in; NULL: the parameters' own sizes, 1 where a value is zero
  double sigma;         // standard deviation of the noise of a row
  int tied;             // constraints that the parameters satisfy whatever the data say,
  const double *tie;    // and their gradients, tied x columns
} od_sensitivities;

// How a null direction is best said.
typedef enum od_null_form {
  OD_NULL_SCALES,  // parameters times powers of one factor; coefficients are the exponents
  OD_NULL_ADDS,    // parameters up and down by multiples of one amount; coefficients are those multiples
  OD_NULL_LOCAL,   // small relative changes; coefficients are their ratios
} od_null_form;

typedef struct od_null {
  od_null_form form;
  double *coefficient;  // columns; exactly zero for parameters that do not take part
} od_null;

typedef struct od_identifiability {
  int columns, nulls, weak, tied;
  // Columns, descending; the first `tied` are infinite: constraints fix them. The last `nulls` are null, the `weak` before
  // them below 1.
  double *singular;
  double *direction;  // columns x columns: row k belongs to singular value k, in units of the scales
  double *sigma;      // columns: Cramer-Rao standard deviations of the parameters; infinite where a null takes part
  od_null *null;      // nulls
  double *scale;      // columns
  double *basis, *strength, *weight;  // singular vectors and values of J with columns of length 1, and those lengths
} od_identifiability;

od_status od_identifiability_new(const od_sensitivities *s, od_identifiability **out, od_error *err);
void od_identifiability_free(od_identifiability *id);

// Standard deviation of a function of the parameters with the given gradient (columns); infinite where data cannot tell.
double od_identifiability_sigma(const od_identifiability *id, const double *gradient);

// Null direction k in words ("scaling a and b by lambda and c by 1/lambda leaves the data unchanged"). Returns the
// length it wants, as snprintf() does.
int od_identifiability_null_text(const od_identifiability *id, int k, const char *const *names, char *text,
                                 size_t size);
// Weak direction k (0 .. weak - 1) in words.
int od_identifiability_weak_text(const od_identifiability *id, int k, const char *const *names, char *text,
                                 size_t size);

#endif
