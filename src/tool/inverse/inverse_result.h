// The result of inverse dynamics: peaks of all quantities, how the rates of samples were computed, the pressure rule, and the
// verdict.
#ifndef OD_INVERSE_INVERSE_RESULT_H
#define OD_INVERSE_INVERSE_RESULT_H

#include "inverse/inverse_run.h"
#include "result/result.h"

typedef struct od_inverse_findings {
  const od_machine *machine;
  const od_inverse_options *options;
  const od_inverse_result *run;  // has a table with rows
  const char *message;           // reason for an early stop, or NULL
} od_inverse_findings;

// The findings must outlive the result.
od_result od_inverse_findings_result(const od_inverse_findings *f);
// Draws the table. `user` points to an od_inverse_findings.
od_status od_inverse_findings_write_plot(const void *user, const char *path, od_error *err);

#endif
