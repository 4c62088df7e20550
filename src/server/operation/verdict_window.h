// The verdict on an observer in operation. The tests of runs (experiment/observe_verdict.c) are applied to the innovations of successive windows of
// time, so that a fault that begins after weeks is found in the window in which it begins.
#ifndef OD_OPERATION_VERDICT_WINDOW_H
#define OD_OPERATION_VERDICT_WINDOW_H

#include "experiment/observe.h"
#include "operation/operation.h"

typedef struct od_verdict_window {
  const od_experiment *e;
  const od_row_head *head;
  double length;  // s
  od_innovation_record *record;
  od_arena memory;
  int first, parameter;   // columns of the first innovation, and of the first parameter
  int *measured, *input;  // columns of the measurements and of the inputs; -1: none
  double *y, *u;
  od_innovation *innovation;
  od_sensor_counts *counts;
  double begin, end;  // times of the first and the last row, s
  long rows;
  bool has_verdict;
  od_trust trust;  // trust of the last verdict
} od_verdict_window;

// Prepares windows of a machine with these columns, which must outlive the windows. Fails with OD_NO_MEMORY.
od_status od_verdict_window_init(od_verdict_window *w, const od_experiment *e, const od_row_head *head, double length);
void od_verdict_window_end(od_verdict_window *w);
// Adds a row. If the row is the first one after a window, *verdict receives the verdict on this window as JSON, which the caller releases, and
// `event` a text if the trust differs from the trust of the previous window, or if the trust of the first window is not OD_SOUND; else the text is
// empty. For all other rows, and if an allocation fails, *verdict is NULL.
void od_verdict_window_take(od_verdict_window *w, const double *row, json_t **verdict, char event[400]);

#endif
