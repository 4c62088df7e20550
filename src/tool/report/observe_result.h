// The result of an observer: parameters, characteristic curves of valves, outputs, consistency, verdict, and figures over time.
#ifndef OD_REPORT_OBSERVE_RESULT_H
#define OD_REPORT_OBSERVE_RESULT_H

#include "experiment/observe.h"
#include "result/result.h"

typedef struct od_observe_findings {
  const od_experiment *experiment;
  const od_observed *observed;
  const char *message;                   // reason for an early end of the run, or NULL
  const struct od_observe_views *views;  // pictures for a page; NULL: not wanted
} od_observe_findings;

// Describes the samples: "truth 6-S1, in steps of 1 ms, seed 1", "log run.csv, 501 samples from 0 s to 0.5 s, 1 ms apart".
void od_observe_describe(const od_observe_findings *f, char *text, size_t size);
// Creates the result. The findings must outlive the result.
od_result od_observe_result(const od_observe_findings *f);

// Returns the standard deviation of a parameter at the end, divided by the standard deviation at the start.
double od_kept_uncertainty(const od_observe_findings *f, int parameter);
// Returns the last value of the column "what.name"; NAN: no such column or value.
double od_observe_last(const od_observed *o, const char *what, const char *name);

// Draw figures for od_result_figures() (observe_figures.c); `findings` is an od_observe_findings with at least one row.
void od_observe_draw_machines(struct od_page *page, const void *findings);
void od_observe_draw_inputs(struct od_page *page, const void *findings);
void od_observe_draw_sensors(struct od_page *page, const void *findings);
void od_observe_draw_hidden(struct od_page *page, const void *findings);  // outputs without a sensor
void od_observe_draw_comparisons(struct od_page *page, const void *findings);
void od_observe_draw_curves(struct od_page *page, const void *findings);
void od_observe_draw_bands(struct od_page *page, const void *findings);  // intervals around the curves
void od_observe_draw_parameters(struct od_page *page, const void *findings);
void od_observe_draw_innovations(struct od_page *page, const void *findings);
// Plots the estimates of outputs and parameters, and the errors of outputs. Compared columns have charts with the estimate and its
// 95 % band. Fails with OD_IO or OD_NO_MEMORY.
od_status od_observe_plot(const od_observe_findings *f, const char *path, od_error *err);

#endif
