// The report of `oleodyn fit`: what was found, how sure it is, what is not identifiable, and how well the fitted model
// predicts.
#ifndef OD_REPORT_FIT_H
#define OD_REPORT_FIT_H

#include "identify/fit.h"

// Writes the page. The table of all samples must be there. message: what stopped the search early, or NULL.
od_status od_fit_report_write(const od_fitted *f, const char *message, const char *path, od_error *err);

#endif
