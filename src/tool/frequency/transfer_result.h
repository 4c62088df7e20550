// A transfer function fitted to a frequency response: the choice of its order, its verdict, and its result.
#ifndef OD_FREQUENCY_TRANSFER_RESULT_H
#define OD_FREQUENCY_TRANSFER_RESULT_H

#include "frequency/named_response.h"
#include "frequency/transfer.h"

typedef struct od_fitted_transfer {
  const od_response *r;
  const char *path;  // path of the log or the machine
  od_transfer_method method;
  int low, high;                   // range of orders; equal: a given order
  double error[OD_TRANSFER_MOST];  // error of each order at held-out points, relative to the response; NAN: unknown
  od_transfer *t;
  od_verdict verdict;
} od_fitted_transfer;

// Chooses the order, fits and judges. r, path, method, low and high must be set. direct: the model has as many zeros as
// poles. by_size: errors are relative to the magnitude of the response. Free the result in all cases. Fails with OD_BAD_INPUT,
// OD_NOT_CONVERGED or OD_NO_MEMORY.
od_status od_fitted_transfer_find(od_fitted_transfer *f, bool direct, bool by_size, od_error *err);
void od_fitted_transfer_free(od_fitted_transfer *f);

// Returns the result of the command: order, coefficients, gains, poles, errors and verdict. *f must outlive the result.
od_result od_fitted_transfer_result(const od_fitted_transfer *f);
// Creates a table of data and model at each frequency. Returns NULL if out of memory.
od_table *od_fitted_transfer_table(const od_fitted_transfer *f);
// Write a plot of data and model, and a machine file with the transfer functions as blocks. `user` points to an
// od_fitted_transfer. Fail with OD_IO or OD_NO_MEMORY.
od_status od_fitted_transfer_write_plot(const void *user, const char *path, od_error *err);
od_status od_fitted_transfer_write_block(const void *user, const char *path, od_error *err);

#endif
