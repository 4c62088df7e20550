// A fitted transfer function for people and for programs.
#ifndef OD_OUTPUT_TF_SUMMARY_H
#define OD_OUTPUT_TF_SUMMARY_H

#include <jansson.h>

#include "options/response_source.h"
#include "frequency/transfer.h"

typedef struct od_fitted_transfer {
  const od_response *r;
  const od_transfer *t;
  const char *path;
  od_transfer_method method;
  int low, high;        // orders that were tried; alike: one was given
  const double *error;  // of each on points that it was not fitted to; NaN: unknown
  const struct od_verdict *verdict;
} od_fitted_transfer;

// "relaxed vector fitting"
const char *od_transfer_method_text(od_transfer_method method);
void od_fitted_transfer_print(const od_fitted_transfer *f, FILE *to);
json_t *od_fitted_transfer_json(const od_fitted_transfer *f);
// Data and model at each frequency; NULL: memory ran out.
od_table *od_fitted_transfer_table(const od_fitted_transfer *f);

#endif
