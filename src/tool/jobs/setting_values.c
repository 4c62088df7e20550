#include "jobs/setting_values.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "jobs/job.h"
#include "document/units.h"
#include "io/number.h"
#include "io/workers.h"

// Converts *value to SI. Returns false after reporting an error.
static bool convert(od_job *job, const char *option, const char *unit, const char *si_unit, double *value) {
  od_error err = {0};
  OD_OWNED(od_units_free) od_units *units = od_units_new(&err);
  if (!units) {
    od_job_error(job, "%s", err.text);
    return false;
  }
  od_unit_verdict verdict = od_units_convert(units, unit, si_unit, *value, value);
  if (verdict == OD_UNIT_UNKNOWN)
    od_job_error(job, "--%s: unknown unit '%s'; expected a unit that can be converted to %s", option, unit, si_unit);
  if (verdict == OD_UNIT_MISFITS)
    od_job_error(job, "--%s: the unit '%s' cannot be converted to %s; expected a unit of the same quantity", option,
                 unit, si_unit);
  return verdict == OD_UNIT_FITS;
}

bool od_setting_any_quantity(od_job *job, const char *option, const char *text, const char *si_unit, double *value) {
  if (!text) return true;
  text += strspn(text, " ");
  double x = NAN;
  size_t length = od_number_prefix(text, strlen(text), &x);
  const char *unit = text + length;
  unit += strspn(unit, " ");
  bool plain = !strcmp(si_unit, "1");
  if (length == 0 || (plain && *unit)) {
    od_job_error(job, "--%s: found '%s', expected a number%s", option, text, plain ? "" : ", with or without a unit");
    return false;
  }
  if (*unit && !convert(job, option, unit, si_unit, &x)) return false;
  *value = x;
  return true;
}

bool od_setting_quantity(od_job *job, const char *option, const char *text, const char *si_unit, double *value) {
  double x = 1;
  if (!od_setting_any_quantity(job, option, text, si_unit, &x)) return false;
  if (!(x > 0) || !isfinite(x)) {
    od_job_error(job, "--%s: found '%s', expected a positive number", option, text + strspn(text, " "));
    return false;
  }
  if (text) *value = x;
  return true;
}

// Reads an integer from 1 to `most`. Returns false after reporting an error.
static bool read_count(od_job *job, const char *option, const char *text, int most, int *value) {
  double x;
  if (!text) return true;
  if (od_number_parse(text, strlen(text), false, &x) && x >= 1 && x <= most && x == floor(x)) {
    *value = (int)x;
    return true;
  }
  od_job_error(job, "--%s: found '%s', expected a whole number from 1 to %d", option, text, most);
  return false;
}

bool od_setting_count(od_job *job, const char *option, const char *text, int *value) {
  return read_count(job, option, text, 1000000000, value);
}

bool od_setting_threads(od_job *job, const char *text, int *threads) {
  return read_count(job, "threads", text, OD_MOST_THREADS, threads);
}

bool od_setting_whole(od_job *job, const char *option, const char *text, unsigned long long *value) {
  if (!text) return true;
  size_t digits = strspn(text, "0123456789");
  if (digits > 0 && digits <= 18 && !text[digits]) {
    *value = strtoull(text, NULL, 10);
    return true;
  }
  od_job_error(job, "--%s: found '%s', expected a whole number of at most 18 digits", option, text);
  return false;
}
