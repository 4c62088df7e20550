// Errors: a status for programs and a message for users. No function of the library exits, prints or aborts.
#ifndef OLEODYN_STATUS_H
#define OLEODYN_STATUS_H

#include "oleodyn/export.h"

OD_BEGIN_C

// The list of statuses and their texts. This header expands the list to the enum; status.c expands the list to the texts.
#define OD_STATUS_LIST(X)                                                                   \
  X(OD_OK, "ok")                                                                            \
  X(OD_BAD_INPUT, "the input is wrong; see the messages")                                   \
  X(OD_BAD_ARGUMENT, "a function was called with an invalid argument")                      \
  X(OD_NO_MEMORY, "out of memory")                                                          \
  X(OD_IO, "a file could not be read or written")                                           \
  X(OD_NOT_CONVERGED, "an iteration did not converge within its limit")                     \
  X(OD_NOT_FINITE, "a value became infinite or not a number")                               \
  X(OD_SINGULAR, "a matrix is singular, for example in a singular position of the machine") \
  X(OD_INTERRUPTED, "interrupted; the results computed so far are kept")                    \
  X(OD_NOT_AVAILABLE, "the plant does not support this operation")                          \
  X(OD_DIVERGED, "the motion left all bounds: it is unstable with these parameters")        \
  X(OD_TIME_STANDS, "time cannot advance: the step is shorter than the round-off of the time")

#define OD_STATUS_ENUM(name, text) name,
typedef enum od_status { OD_STATUS_LIST(OD_STATUS_ENUM) OD_STATUS_COUNT } od_status;
#undef OD_STATUS_ENUM

// Returns the text of a status, a constant string.
OD_API const char *od_status_text(od_status status);

// A status with its explanation. Functions with an argument of this type fill the struct when they fail.
typedef struct od_error {
  od_status status;
  char text[512];
} od_error;

// Fills err (may be NULL) with the status and a text, truncated to the size of err->text. Returns the status, so that a failing
// function can end with `return od_fail(...)`. The format supports these conversions of printf: %s %c %d %ld %lld %u %lu %llu %zu
// %g %e %f %%. A precision is allowed; flags and widths are not.
OD_API od_status(od_fail)(od_error *err, od_status status, const char *format, ...) OD_PRINTF_FORMAT(3, 4);

OD_END_C

#endif
