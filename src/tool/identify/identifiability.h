// Identifiability of parameters from data, computed from the sensitivities dy/dp of a prediction.
//
// Each row has noise with the standard deviation sigma. With J = dy/dp, the covariance of a parameter change dp is at best
// (J'J / sigma^2)^-1 (Cramer-Rao). Changes are in units of the parameters' scales. Each singular value of the scaled J is
// one over the standard deviation along its direction. There are two kinds of directions that are not identifiable:
// - null: the data do not change at all. Null directions are found independently of the scales and written in readable form:
// few parameters, simple ratios.
// - weak: noise hides the change of the data. The standard deviation along the direction exceeds 100 % of its scale.
#ifndef OD_IDENTIFY_IDENTIFIABILITY_H
#define OD_IDENTIFY_IDENTIFIABILITY_H

#include <stddef.h>

#include "memory/scoped.h"
#include "oleodyn/status.h"

typedef struct od_sensitivities {
  int rows, columns;    // number of samples times number of outputs; number of parameters
  const double *J;      // rows x columns, row-major; rows of unequal noise must have been divided by their noise
  const double *value;  // values of the parameters, for descriptions with factors; not NULL
  const double *scale;  // unit of changes; NULL: the magnitudes of the parameters, 1 for a value of zero
  double sigma;         // standard deviation of the noise of a row
  int tied;             // number of constraints that the parameters satisfy independently of the data
  const double *tie;    // gradients of the constraints, tied x columns
} od_sensitivities;

// The form in which a null direction is described.
typedef enum od_null_form {
  OD_NULL_SCALES,  // parameters multiplied by powers of one factor; coefficients are the exponents
  OD_NULL_ADDS,    // multiples of one amount are added to parameters; coefficients are the multiples
  OD_NULL_LOCAL,   // small relative changes of parameters; coefficients are the ratios of the changes
} od_null_form;

typedef struct od_null {
  od_null_form form;
  double *coefficient;  // one per parameter; exactly zero for parameters that are not involved
} od_null;

typedef struct od_identifiability {
  od_arena arena;
  int columns, nulls, weak, tied;
  // Singular values, one per parameter, in descending order. The first `tied` values are infinite: constraints fix these
  // directions. The last `nulls` values are zero within round-off. The `weak` values before these zeros are below 1.
  double *singular;
  double *direction;         // columns x columns: row k belongs to singular value k, in units of the scales
  double *sigma;             // columns: Cramer-Rao standard deviations of the parameters; infinite if a null direction
                             // involves the parameter
  od_null *null;             // `nulls` null directions
  double *scale;             // unit of changes of each parameter
  double *basis, *strength;  // singular vectors and values of J with columns scaled to length 1
  double *weight;            // lengths of the columns of J / sigma; 1 for a column of zeros
} od_identifiability;

// Computes the identifiability from sensitivities, which are copied. On success the caller frees *out. Returns OD_BAD_ARGUMENT if
// rows, columns, sigma or a scale is not positive; OD_NO_MEMORY; or OD_NOT_FINITE if a sensitivity is not finite or the decomposition
// fails.
od_status od_identifiability_new(const od_sensitivities *s, od_identifiability **out, od_error *err);
void od_identifiability_free(od_identifiability *id);

// Computes the identifiability of the parameters. J: m x n, derivatives of residuals in units of their noise; the first np
// columns belong to parameters, the other columns to initial states. size: the unit of each parameter's changes; 0: the
// parameter has no size, and the unit is ten of its standard deviations. tie: gradients of constraints that the parameters
// satisfy, tied x np. The caller frees *out. Fails with the statuses of od_identifiability_new().
od_status od_identifiability_without_states(int m, int n, int np, const double *J, const double *parameters,
                                            const double *size, int tied, const double *tie, od_identifiability **out,
                                            od_error *err);

// Returns the standard deviation of a function of the parameters with the given gradient (columns); infinite if the function
// is not identifiable.
double od_identifiability_sigma(const od_identifiability *id, const double *gradient);

// Describes null direction k in words ("scaling a and b by lambda and c by 1/lambda leaves the data unchanged"). Returns the
// required length, as snprintf() does.
int od_identifiability_null_text(const od_identifiability *id, int k, const char *const *names, char *text,
                                 size_t size);
// Describes weak direction k (0 .. weak - 1) in words. Returns the required length; 0: out of memory.
int od_identifiability_weak_text(const od_identifiability *id, int k, const char *const *names, char *text,
                                 size_t size);

#endif
