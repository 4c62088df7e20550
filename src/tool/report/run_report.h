// The report of a run: what was required and what came of it, and all recorded outputs over time.
#ifndef OD_REPORT_RUN_REPORT_H
#define OD_REPORT_RUN_REPORT_H

#include "requirements/judge.h"
#include "simulate/run.h"

typedef struct od_run_page {
  const od_machine *machine;
  const od_table *table;
  const int *panel;  // of each column: outputs with the same number share a chart; NULL: none do
  const od_run_report *report;
  const od_judge *judge;  // NULL: nothing was judged
  const char *how;        // "5 s in steps of 1 ms, trapezoid"
  const char *message;    // what stopped the run early, or NULL
} od_run_page;

od_status od_run_report_write(const od_run_page *run, const char *path, od_error *err);

#endif
