// Runs an exported observer in single precision on all samples of its experiment, on this computer, and compares the estimates
// with the estimates in double precision. The export is compiled by the C compiler of the computer (`cc`, or the environment
// variable CC).
#ifndef OD_EXPORT_TRIAL_H
#define OD_EXPORT_TRIAL_H

#include "export/program.h"

// The largest difference of the estimates in single precision, in standard deviations in double precision.
typedef struct od_trial {
  double difference, time;  // time of this difference, s
  const char *name, *unit;  // the output or parameter
  double single, expected, sigma;
  long samples;
} od_trial;

// The largest difference that is accepted, in standard deviations.
#define OD_TRIAL_LIMIT 0.1

// Runs the export in `folder`. Fails with OD_IO if the export cannot be compiled or run, and with OD_BAD_INPUT if the difference is larger than
// OD_TRIAL_LIMIT or a step fails; also with OD_INTERRUPTED, OD_NO_MEMORY or the status of a failed step in double precision. err has the reason. Sets
// p->run.memory to the memory in single precision. Removes its own files from the folder.
od_status od_trial_run(od_export_program *p, const od_experiment *e, const char *folder, od_trial *out, od_error *err);

#endif
