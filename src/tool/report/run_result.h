// The result of a run: the extreme values of each output, the verdict, requirements with their results, figures of all outputs
// over time.
#ifndef OD_REPORT_RUN_RESULT_H
#define OD_REPORT_RUN_RESULT_H

#include "findings/findings.h"
#include "report/interactive.h"
#include "report/run_views.h"
#include "requirements/judge.h"
#include "result/result.h"
#include "simulate/run.h"

typedef struct od_run_findings {
  const od_machine *machine;
  const od_table *table;
  const int *panel;  // for each column: number of its chart; columns with the same number share a chart; NULL: no
                     // shared charts
  const od_run_report *report;
  double step;  // length of a step, s; zero: adaptive steps
  const char *integrator;
  const char *message;                // reason for an early stop, or NULL
  const od_judge *judge;              // NULL: no requirements were judged
  const od_findings *found;           // findings, phases and events; NULL: not wanted
  const od_run_views *views;          // pictures for a page; NULL: not wanted
  const od_interactive *interactive;  // engine and machine for a page that computes; NULL: not wanted
} od_run_findings;

// Describes the run: "5 s in steps of 1 ms, trapezoid", "5 s in 812 adaptive steps, tr-bdf2".
void od_run_describe(const od_run_findings *run, char *text, size_t size);
// Creates the result. The findings must outlive the result.
od_result od_run_result(const od_run_findings *run);

// Draw figures for od_result_figures() (run_figures.c); `run` is an od_run_findings.
void od_run_draw_views(struct od_page *page, const void *run);
void od_run_draw_bounds(struct od_page *page, const void *run);
void od_run_draw_outputs(struct od_page *page, const void *run);
// Returns whether a requirement has bounds that can be drawn.
bool od_run_has_bounds(const od_run_findings *run);

#endif
