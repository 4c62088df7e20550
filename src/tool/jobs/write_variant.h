// Writes estimates as a variant: a file that includes the machine file and has a variant with the estimated numbers. The machine
// file itself is not changed. In the same way, tuned noise is a variant of an experiment file.
#ifndef OD_JOBS_WRITE_VARIANT_H
#define OD_JOBS_WRITE_VARIANT_H

#include "jobs/job_options.h"
#include "experiment/experiment.h"
#include "io/verdict.h"
#include "tune/tune.h"

typedef struct od_variant_arguments {
  const char *name, *file;  // file NULL: NAME.yaml
  char own_file[300];
} od_variant_arguments;

// Entries of the option table for variants.
#define OD_VARIANT_OPTIONS(v)                                                                         \
  {"write-variant", OD_OPTION_TEXT, "NAME",                                                           \
   "write the estimates as this variant into a new file that includes the machine file", &(v)->name}, \
  {                                                                                                   \
    "variant-file", OD_OPTION_TEXT, "FILE", "file of --write-variant; default: NAME.yaml", &(v)->file \
  }

// Checks the options and sets *path to the path of the file (NULL: nothing to write). Returns OD_GO_ON, or the outcome
// after reporting an error. An existing file is replaced only if --write-variant wrote it.
int od_variant_check(od_job *job, od_variant_arguments *v, const char **path);

// An estimated number of a machine. A negative sigma means that sigma is not known.
typedef struct od_variant_number {
  const char *path, *unit;
  double value, sigma;
} od_variant_number;
typedef struct od_variant_numbers {
  const od_machine *machine;
  const od_variant_arguments *arguments;
  const char *verdict;
  od_variant_number *number;
  int count;
} od_variant_numbers;
// Writer for od_file_contents. `numbers` is an od_variant_numbers. Fails with OD_IO or OD_NO_MEMORY.
od_status od_variant_write_numbers(const void *numbers, const char *path, od_error *err);

// The estimates of an experiment; sigma may be NULL.
typedef struct od_variant_contents {
  const od_experiment *e;
  const od_variant_arguments *arguments;
  const double *estimate, *sigma;
  const od_verdict *verdict;
} od_variant_contents;
// Writer for od_file_contents. `contents` is an od_variant_contents. Fails with OD_IO or OD_NO_MEMORY.
od_status od_variant_write(const void *contents, const char *path, od_error *err);

// The tuned noise of an experiment, as a variant of the experiment file; set: the values of --set, which the file lists as comments.
typedef struct od_variant_noise {
  const od_experiment *e;
  const od_variant_arguments *arguments;
  const od_tuned *tuned;
  const od_words *set;
} od_variant_noise;
// Writer for od_file_contents. `contents` is an od_variant_noise. Fails with OD_IO or OD_NO_MEMORY.
od_status od_variant_write_noise(const void *contents, const char *path, od_error *err);

#endif
