// Discrete-time models of a log: polynomials of the shift operator with a noise model, and state-space models by subspace
// methods.
//
// A log may begin during a motion. No method assumes rest before the first row: rows whose past is not in the log are not
// fitted. The states of recursive filters at the first fitted row and a constant offset of the output are estimated.
#ifndef OD_DISCRETE_MODEL_H
#define OD_DISCRETE_MODEL_H

#include <stdbool.h>

#include "memory/scoped.h"
#include "oleodyn/status.h"

enum {
  OD_DISCRETE_MOST = 16,                         // largest order, and largest delay
  OD_DISCRETE_INPUTS = 8,                        // largest number of inputs
  OD_DISCRETE_TERMS = 2 * OD_DISCRETE_MOST + 2,  // largest number of coefficients of a polynomial
};

// The signals, uniformly sampled.
typedef struct od_discrete_data {
  long rows;
  int outputs;
  const double *u;  // rows x inputs
  const double *y;  // rows x outputs
  int inputs;       // number of inputs; 0 means 1
} od_discrete_data;

// A(q) y = sum_j B_j(q)/F(q) u_j + C(q)/D(q) e + constant, with white e. q^-1 delays a signal by one row. Coefficients
// belong to q^-0, q^-1, ...; all polynomials except B begin with 1. B of input j is OD_POLY_B + j.
typedef enum od_polynomial {
  OD_POLY_A,
  OD_POLY_C,
  OD_POLY_D,
  OD_POLY_F,
  OD_POLY_B,
  OD_POLYNOMIALS = OD_POLY_B + OD_DISCRETE_INPUTS
} od_polynomial;

typedef enum od_discrete_kind { OD_DISCRETE_ARX, OD_DISCRETE_ARMAX, OD_DISCRETE_OE, OD_DISCRETE_BJ } od_discrete_kind;
extern const char *const od_discrete_kinds[];  // "arx", "armax", "oe", "bj"; terminated by NULL

typedef struct od_discrete_options {
  od_discrete_kind kind;
  int order;        // number of poles
  int noise_order;  // order of C and D; 0: the number of poles
  int delay;        // number of samples from the inputs to the first response
  bool direct;      // whether B has order + 1 coefficients instead of `order`
} od_discrete_options;

typedef struct od_discrete {
  int inputs;
  int degree[OD_POLYNOMIALS];  // degree of each polynomial in q^-1, of B with the delay; -1: no such input
  int delay;
  double coefficient[OD_POLYNOMIALS][OD_DISCRETE_TERMS];
  double sigma[OD_POLYNOMIALS][OD_DISCRETE_TERMS];  // standard deviations; 0: fixed, infinite: not determined
  double noise;                                     // standard deviation of e
  double whiteness;  // rows times the sum of the squared autocorrelations of e (Box and Pierce)
  int lags;          // number of lags of the sum `whiteness`
  long rows;         // number of fitted rows
  long iterations;
  bool is_minimum;  // whether the search ended at a minimum
} od_discrete;

// Fits the output of data with one output: minimizes the squared one-step prediction errors. For ARX this problem is linear. The
// start values of all kinds come from linear least squares. Fails with OD_NOT_CONVERGED if there are no
// start values, with OD_BAD_INPUT for too few or too many rows or options out of range, with OD_NOT_FINITE if the errors at the start
// overflow, and with OD_NO_MEMORY.
od_status od_discrete_fit(const od_discrete_data *data, const od_discrete_options *options, od_discrete *model,
                          od_error *err);

// The deterministic part of a model: N(z)/D(z) per output and input with common poles. Coefficients start with z^0.
// od_discrete_transfer() fails with OD_NOT_CONVERGED if the poles cannot be computed, and with OD_NO_MEMORY. The caller frees *out.
typedef struct od_z_transfer {
  int order, outputs, inputs;
  double denominator[OD_DISCRETE_TERMS];
  double radius;    // the largest magnitude of a pole; 1 or more: unstable
  double mirrored;  // subspace models: radius before unstable poles were replaced; 0: no pole was replaced
  double numerator[][OD_DISCRETE_TERMS];  // index: output * inputs + input
} od_z_transfer;
void od_z_transfer_free(od_z_transfer *z);
OD_OWNED_POINTER(od_z_transfer, od_z_transfer_free);
od_status od_discrete_transfer(const od_discrete *model, od_z_transfer **out, od_error *err);
// Simulates an output (`rows` values in y) from the initial state and offset that best fit rows 0 to `known` - 1 of the
// data. If these rows do not determine state and offset, both are zero. Values of an unstable model may be
// infinite. Fails with OD_NO_MEMORY.
od_status od_z_transfer_simulate(const od_z_transfer *z, const od_discrete_data *data, int output, long known,
                                 double *y, od_error *err);
// Quality of the simulation of an output from row `from` to the last row. The first `known` rows give the initial state and the
// offset. od_z_transfer_judge() fails with OD_NO_MEMORY.
typedef struct od_z_quality {
  // Explained part of the output's variation in percent: 100 (1 - |y - model| / |y - mean(y)|). NaN: the output is
  // constant; negative infinity: the simulation diverges.
  double percent;
  double rms;  // root mean square of y - model
} od_z_quality;
od_status od_z_transfer_judge(const od_z_transfer *z, const od_discrete_data *data, int output, long known, long from,
                              od_z_quality *out, od_error *err);

// Identifies a state-space model with `order` states by a subspace method. `weight` selects the weight of the directions of the
// future output (subspace.c). `singular` (2 * order; may be NULL) receives the singular values, of which `order` should be
// dominant. For CVA these values are correlations. Fails with OD_BAD_INPUT for too few rows or an order or number
// of inputs out of range, and with OD_NOT_CONVERGED or OD_NO_MEMORY. The caller frees *out.
typedef enum od_subspace_weight { OD_SUBSPACE_MOESP, OD_SUBSPACE_N4SID, OD_SUBSPACE_CVA } od_subspace_weight;
extern const char *const od_subspace_weights[];  // "moesp", "n4sid", "cva"; terminated by NULL
od_status od_subspace_fit(const od_discrete_data *data, int order, od_subspace_weight weight, double *singular,
                          od_z_transfer **out, od_error *err);

// --- Functions for the files of this module -----------------------------------------------------------------------

// Computes y = N/D x, starting at rest. Coefficients start with q^-0; D begins with 1. x and y may be the same array.
void od_discrete_filter(const double *n, int n_degree, const double *d, int d_degree, const double *x, double *y,
                        long rows);
// Returns whether all roots of a polynomial 1 + c1 q^-1 + ... are inside the unit circle.
bool od_is_stable(const double *c, int degree);
od_z_transfer *od_z_transfer_new(int order, int outputs, int inputs);
// Computes the radius from the denominator. Returns false if the poles cannot be computed.
bool od_z_transfer_find_radius(od_z_transfer *z);
int od_discrete_inputs(const od_discrete_data *data);

#endif
