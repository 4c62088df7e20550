// Transfer functions with common poles for one or several outputs, and their fits to frequency responses.
#ifndef OD_FREQUENCY_TRANSFER_H
#define OD_FREQUENCY_TRANSFER_H

#include "frequency/frequency_response.h"

enum { OD_TRANSFER_MOST = 16 };  // largest degree; equal to the limit of blocks in machine files

typedef enum od_transfer_method { OD_TRANSFER_LEVY, OD_TRANSFER_SK, OD_TRANSFER_VF } od_transfer_method;
// Names of the methods, in the order of the enumeration. The last entry is NULL.
extern const char *const od_transfer_methods[];

// N(x)/D(x) with x = s / scale, and as poles and residues: sum r/(s - p) + d.
typedef struct od_transfer {
  int order, outputs;
  double scale;                               // rad/s
  double denominator[OD_TRANSFER_MOST + 1];   // coefficients of powers of x, starting with the constant
  double (*numerator)[OD_TRANSFER_MOST + 1];  // per output
  double _Complex pole[OD_TRANSFER_MOST];     // rad/s, pairs adjacent, the positive imaginary part first

  // Only for vector fitting; else NULL. residue[output * order + pole].
  double _Complex *residue;
  double *direct;  // per output
  int unstable;    // number of poles with a real part of zero or more
  int iterations;
  od_arena arena;
} od_transfer;

void od_transfer_free(od_transfer *t);
OD_OWNED_POINTER(od_transfer, od_transfer_free);
// Returns the value of the transfer function of an output at a frequency in Hz.
double _Complex od_transfer_value(const od_transfer *t, int output, double frequency);
// Returns the explained part of the variation of the amplitudes in percent: 100 (1 - |a - model| / |a - mean(a)|), where a are the
// amplitudes of the data. NAN: the amplitudes are constant.
double od_transfer_amplitude_fit(const od_transfer *t, const od_frf *f, int output);
// Returns the norm of the errors divided by the norm of the data; root mean square over the outputs.
double od_transfer_error(const od_transfer *t, const od_frf *f);

typedef struct od_transfer_options {
  od_transfer_method method;
  int order;
  int zeros;       // degree of the numerators: order - 1, or order
  bool by_size;    // whether errors are relative to the magnitude of the response
  int iterations;  // largest number of iterations; 0: the default of the method
} od_transfer_options;

// Fits a transfer function. Minimizes the sum of squares over all outputs, each in units of its own root mean square. Fails with
// OD_BAD_INPUT, OD_NOT_CONVERGED or OD_NO_MEMORY.
od_status od_transfer_fit(const od_frf *f, const od_transfer_options *options, od_transfer **out, od_error *err);

// Chooses among the orders low to high: each order is fitted to every second point and judged by the other points, and vice versa. *chosen is the
// lowest order with an error at most 5 % above the smallest error; errors below 1e-9 count as 1e-9. error[order - low] receives the errors (NAN: the
// fit failed). Fails with OD_BAD_INPUT, OD_NOT_CONVERGED or OD_NO_MEMORY.
od_status od_transfer_choose(const od_frf *f, const od_transfer_options *options, int low, int high, double *error,
                             int *chosen, od_error *err);

// --- For levy.c and vector_fit.c ---------------------------------------------------------------------------------------

// Creates a transfer function with zero coefficients. scale: see od_transfer, rad/s. Returns NULL if an allocation fails.
od_transfer *od_transfer_new(int order, int outputs, double scale);
// Computes the roots of a polynomial (constant first), times `scale`. Returns false if the roots cannot be found.
bool od_transfer_roots(int degree, const double *coefficient, double scale, double _Complex *root);
// Sorts the poles by magnitude, with pairs adjacent, and counts unstable poles.
void od_transfer_order_poles(od_transfer *t);
// Fills the polynomials from poles and residues.
void od_transfer_expand(od_transfer *t);
// Solves least squares by singular values, with scaled columns: x (columns) for the rows x columns matrix a
// (column-major, overwritten) and right-hand side b (rows, at least columns, overwritten). Returns false if out of
// memory, if a number is not finite, or if LAPACK fails.
bool od_scaled_least_squares(int rows, int columns, double *a, double *b, double *x);
// Returns the weight of a point of an output: 1 / |value| if options.by_size is set, else 1.
double od_transfer_weight(const od_frf *f, const od_transfer_options *o, int output, int point);

// Fit a transfer function of od_transfer_new() to a response whose outputs have the root mean square 1, by the methods levy and sk
// (levy.c) and by vector fitting (vector_fit.c). Fail with OD_NOT_CONVERGED or OD_NO_MEMORY.
od_status od_levy_fit(const od_frf *f, const od_transfer_options *options, od_transfer *t, od_error *err);
od_status od_vector_fit(const od_frf *f, const od_transfer_options *options, od_transfer *t, od_error *err);

#endif
