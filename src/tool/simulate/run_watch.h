// Watchers of a run: functions that receive outputs at every step. Several runs may be compared, and one run is
// delivered. Therefore a watcher has one record for each run that may be delivered. The record of the delivered run is passed on, and
// all other records are dropped.
#ifndef OD_SIMULATE_RUN_WATCH_H
#define OD_SIMULATE_RUN_WATCH_H

typedef struct od_run_watcher {
  void *user;          // argument of begin, deliver and drop
  const int *outputs;  // indices of the outputs that `row` and `step` receive. These outputs need not be recorded
  int output_count;
  const int *final_outputs;  // indices of the outputs that `end` receives
  int final_count;
  // Creates the record of a run. NULL: out of memory.
  void *(*begin)(void *user);
  // Receives the outputs at every row of the run, also at rows that the table omits, in the order of time. NULL: not called.
  void (*row)(void *record, double t, const double *y);
  // Receives the outputs at both ends of every step and of every part of a step. These times need not be times of rows. Called
  // again after every jump of the inputs or of the state, with the same time. NULL: not called.
  void (*step)(void *record, double t, const double *y);
  // Receives the outputs at the last step of a run, also if the run ended early. NULL: not called.
  void (*end)(void *record, double t, const double *y);
  // Takes the record of the delivered run. Called once, before od_run() returns.
  void (*deliver)(void *user, void *record);
  // Frees the record of a run that is not delivered.
  void (*drop)(void *user, void *record);
} od_run_watcher;

#endif
