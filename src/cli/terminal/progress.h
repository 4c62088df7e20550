// The progress of a long run, and Ctrl-C.
#ifndef OD_TERMINAL_PROGRESS_H
#define OD_TERMINAL_PROGRESS_H

#include <stdbool.h>

typedef struct od_progress {
  bool shown;  // whether standard error is a terminal
  bool drawn;
  double start, last;
} od_progress;

// Starts the clock and listens to Ctrl-C: the first asks the run to stop, a second one ends the program at once.
od_progress od_progress_start(bool quiet);
// To be given to od_run: draws a bar once a second has passed; false after Ctrl-C.
bool od_progress_tick(void *progress, double done);
// Takes the bar away.
void od_progress_end(od_progress *progress);

#endif
