// What an observer found: as tables for people, as JSON for programs.
#ifndef OD_OUTPUT_OBSERVE_SUMMARY_H
#define OD_OUTPUT_OBSERVE_SUMMARY_H

#include <jansson.h>
#include <stdio.h>

#include "output/row_file.h"
#include "experiment/observe.h"

typedef struct od_findings {
  const od_experiment *experiment;
  const od_observed *observed;
  const char *message;  // what stopped the run early, or NULL
  od_row_file *rows;    // the CSV file of the run
} od_findings;

// Where the samples came from, in words.
void od_findings_describe(const od_findings *f, char *text, size_t size);
// Warnings about what looks wrong in a log (NULL: there is none), on standard error.
void od_log_warn(const od_log *log);
void od_findings_print(const od_findings *f, FILE *to);
json_t *od_findings_json(const od_findings *f);

#endif
