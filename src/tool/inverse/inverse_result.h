// The result of inverse dynamics: peaks of all quantities, the computation of rates of samples, the pressure rule, the verdict.
#ifndef OD_INVERSE_INVERSE_RESULT_H
#define OD_INVERSE_INVERSE_RESULT_H

#include "inverse/inverse_run.h"
#include "result/result.h"

typedef struct od_inverse_findings {
  const od_machine *machine;
  const od_inverse_options *options;
  const od_inverse_result *run;  // its table has rows
  const char *message;           // the reason of an early stop, or NULL
} od_inverse_findings;

// The findings must outlive the result.
od_result od_inverse_findings_result(const od_inverse_findings *f);
// Draws the table. user: od_inverse_findings.
od_status od_inverse_findings_write_plot(const void *user, const char *path, od_error *err);

#endif
