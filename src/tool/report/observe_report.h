// The report of `oleodyn observe`: what the observer found, how sure it is, and whether it may be.
#ifndef OD_REPORT_OBSERVE_H
#define OD_REPORT_OBSERVE_H

#include "experiment/observe.h"

// Writes the page. message: what stopped the run early, or NULL. True values that are not known are left out.
od_status od_observe_report_write(const od_experiment *e, const od_observed *o, const char *message, const char *path,
                                  od_error *err);

#endif
