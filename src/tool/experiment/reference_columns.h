// Channels of a log that no sensor uses, compared with the estimates of the same outputs: a check of virtual sensors. The section
// 'compare' of an experiment lists these channels.
//
// The difference of a measured value and the estimate has the variance s^2 + r^2: s is the standard deviation that the filter gives, r is
// the noise of the sensor. The normalized differences z of a consistent filter have the mean square 1, but neighboring differences are
// correlated, even over the whole run if a parameter is wrong. The test therefore uses the effective number of independent differences
//
//   f = m^2 / (sum over i, j of rho_ij^2),   rho_ij: correlation of z_i and z_j about zero, over m kept samples
//
// Then f times the mean square of z has about the distribution of chi-squared with f degrees of freedom (Satterthwaite). A constant
// difference over the whole run is one degree of freedom: it is significant from about 3.5 standard deviations on.
#ifndef OD_EXPERIMENT_REFERENCE_COLUMNS_H
#define OD_EXPERIMENT_REFERENCE_COLUMNS_H

#include <stdbool.h>

#include "base/saved.h"
#include "experiment/experiment.h"

// The result of a reference column. NAN: there are fewer than 3 values.
typedef struct od_reference_result {
  long count;      // number of measured values
  double rms;      // root mean square of measured value minus estimate
  double bias;     // mean of measured value minus estimate
  double noise;    // standard deviation of the sensor's noise: given, or estimated from second differences
  double band;     // root mean square of the half width of the 95 % band, with the noise of the sensor
  double share;    // fraction of the values within the band; if the noise is estimated, of the kept samples only
  double square;   // mean square of the normalized differences of the kept samples
  double freedom;  // effective number of independent differences
  double chance;   // probability of a mean square at least as far from 1, on the same side, for a consistent filter
} od_reference_result;

typedef struct od_reference_record od_reference_record;
// Creates an empty record of all reference columns of an experiment. Returns NULL if out of memory. At most 2048
// samples of a run are kept.
od_reference_record *od_reference_record_new(const od_experiment *e);
void od_reference_record_free(od_reference_record *r);
OD_OWNED_POINTER(od_reference_record, od_reference_record_free);
// Saves or restores a record as pieces of a saved state.
void od_reference_record_transfer(od_reference_record *r, od_pieces *t);
// Adds a sample: measured values, one per reference column (NAN: missing); estimates and standard deviations of the plant's outputs.
void od_reference_record_take(od_reference_record *r, const double *measured, const double *estimate,
                              const double *sigma);
// Computes the result of a reference column. Returns false if out of memory.
bool od_reference_record_result(const od_reference_record *r, int reference, od_reference_result *out);

#endif
