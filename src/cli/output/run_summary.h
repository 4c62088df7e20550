// What a run gave: as a table for people, as JSON for programs.
#ifndef OD_OUTPUT_RUN_SUMMARY_H
#define OD_OUTPUT_RUN_SUMMARY_H

#include <jansson.h>
#include <stdio.h>

#include "requirements/judge.h"
#include "simulate/run.h"

typedef struct od_results {
  const od_machine *machine;
  const od_table *table;
  const int *panel;  // of a plot, for each column; see od_plot_write()
  const od_run_report *report;
  double step;  // zero: they were adaptive
  const char *integrator;
  const char *message;    // what stopped the run early, or NULL
  const od_judge *judge;  // NULL: the machine has no requirements, or nobody wants to know
} od_results;

// The simulated time that the table covers.
double od_results_time(const od_results *r);
void od_results_print(const od_results *r, FILE *to);
json_t *od_results_json(const od_results *r);
// "5 s in steps of 1 ms, trapezoid", "5 s in 812 adaptive steps, tr-bdf2"
void od_results_describe(const od_results *r, char *text, size_t size);

#endif
