// Values of options: "5 ms", "1e-10", "10".
#ifndef OD_JOBS_OPTION_VALUES_H
#define OD_JOBS_OPTION_VALUES_H

#include <stdbool.h>
#include <stddef.h>

#include "oleodyn/job.h"

// Reads a positive quantity and converts the value to an SI unit ("s"; "1": only a plain number is allowed). A NULL
// text leaves *value unchanged. Returns false after reporting an error with the name of the option.
bool od_setting_quantity(od_job *job, const char *option, const char *text, const char *si_unit, double *value);
// Same as od_setting_quantity(), for a quantity that may be zero or negative.
bool od_setting_any_quantity(od_job *job, const char *option, const char *text, const char *si_unit, double *value);
// Reads an integer from 1 to 1e9. A NULL text leaves *value unchanged. Returns false after reporting an error.
bool od_setting_count(od_job *job, const char *option, const char *text, int *value);
// Reads the option --threads: an integer from 1 to OD_MOST_THREADS. A NULL text leaves *threads unchanged. Returns false after reporting
// an error.
bool od_setting_threads(od_job *job, const char *text, int *threads);
// Reads an integer of at least 0 with at most 18 digits. A NULL text leaves *value unchanged. Returns false after
// reporting an error.
bool od_setting_whole(od_job *job, const char *option, const char *text, unsigned long long *value);

#endif
