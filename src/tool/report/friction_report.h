// The report of `oleodyn friction-fit`: what was found, how sure it is, which part of the run tells which parameter, and how well the law
// describes the data.
#ifndef OD_REPORT_FRICTION_H
#define OD_REPORT_FRICTION_H

#include "friction_fit/friction_fit.h"

// Writes the page; the fit must have been judged.
od_status od_friction_report_write(const od_friction_fitted *f, const char *path, od_error *err);

#endif
