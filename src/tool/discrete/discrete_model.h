// Discrete-time models of a log with one input: polynomials of the shift with a model of the noise, and state space by subspaces.
#ifndef OD_DISCRETE_MODEL_H
#define OD_DISCRETE_MODEL_H

#include <stdbool.h>

#include "oleodyn/status.h"

enum { OD_DISCRETE_MOST = 16 };  // degree

// The signals, equally spaced; those that say nothing about a frequency of zero have their means removed by who has them.
typedef struct od_discrete_data {
  long rows;
  int outputs;
  const double *u;  // rows
  const double *y;  // rows x outputs
} od_discrete_data;

// A(q) y = B(q)/F(q) u + C(q)/D(q) e, e white. Coefficients belong to q^-0, q^-1, ...; all but B begin with 1.
typedef enum od_polynomial { OD_POLY_A, OD_POLY_B, OD_POLY_C, OD_POLY_D, OD_POLY_F, OD_POLYNOMIALS } od_polynomial;

typedef enum od_discrete_kind { OD_DISCRETE_ARX, OD_DISCRETE_ARMAX, OD_DISCRETE_OE, OD_DISCRETE_BJ } od_discrete_kind;
extern const char *const od_discrete_kinds[];  // "arx", "armax", "oe", "bj"; a NULL at the end

typedef struct od_discrete_options {
  od_discrete_kind kind;
  int order;        // poles
  int noise_order;  // of C and D; 0: as the poles
  int delay;        // samples from the input to the first answer; at least 1
} od_discrete_options;

typedef struct od_discrete {
  int degree[OD_POLYNOMIALS];  // B: delay + order - 1
  int delay;
  double coefficient[OD_POLYNOMIALS][2 * OD_DISCRETE_MOST + 2];
  double sigma[OD_POLYNOMIALS][2 * OD_DISCRETE_MOST + 2];  // standard deviations; 0: fixed
  double noise;                                            // standard deviation of e
  long iterations;
} od_discrete;

// One output. ARX is linear least squares; the others minimise the squared one-step prediction errors from starts that linear steps find.
od_status od_discrete_fit(const od_discrete_data *data, const od_discrete_options *options, od_discrete *model,
                          od_error *err);

// What remains of a model without noise: N(z)/D(z) per output with common poles, coefficients of z^0 up.
typedef struct od_z_transfer {
  int order, outputs;
  double denominator[2 * OD_DISCRETE_MOST + 2];
  double (*numerator)[2 * OD_DISCRETE_MOST + 2];
} od_z_transfer;
void od_z_transfer_free(od_z_transfer *z);
od_status od_discrete_transfer(const od_discrete *model, od_z_transfer **out, od_error *err);
// An output from rest (rows).
void od_z_transfer_simulate(const od_z_transfer *z, int output, const double *u, long rows, double *y);
// How well a model that is simulated from rest at the first row predicts an output, from row `from` on.
typedef struct od_z_quality {
  double percent;  // of the output's movement there that it explains: 100 (1 - |y - model| / |y - mean(y)|)
  double rms;      // of y - model
} od_z_quality;
od_status od_z_transfer_judge(const od_z_transfer *z, const od_discrete_data *data, int output, long from,
                              od_z_quality *out, od_error *err);

// Subspace identification of a state-space model of so many states, by one of several weights, which differ in how much each
// direction of the future output counts (subspace.c). The singular values, of which as many as there are states should stand out, go to
// `singular` (2 * order; NULL: not wanted); those of CVA are correlations.
typedef enum od_subspace_weight { OD_SUBSPACE_MOESP, OD_SUBSPACE_N4SID, OD_SUBSPACE_CVA } od_subspace_weight;
extern const char *const od_subspace_weights[];  // "moesp", "n4sid", "cva"; a NULL at the end
od_status od_subspace_fit(const od_discrete_data *data, int order, od_subspace_weight weight, double *singular,
                          od_z_transfer **out, od_error *err);

// --- For the files of this room -----------------------------------------------------------------------------------

// y = N/D x from rest: coefficients of q^-0 up, D begins with 1. x and y may be the same.
void od_discrete_filter(const double *n, int n_degree, const double *d, int d_degree, const double *x, double *y,
                        long rows);
// Whether all roots of a polynomial 1 + c1 q^-1 + ... are within the unit circle.
bool od_is_stable(const double *c, int degree);
od_z_transfer *od_z_transfer_new(int order, int outputs);

#endif
