// Shows the progress of a long run. Also reports whether the user has requested its end.
#ifndef OD_TERMINAL_PROGRESS_H
#define OD_TERMINAL_PROGRESS_H

#include <stdbool.h>

typedef struct od_progress {
  bool shown;          // whether the bar may be drawn: not quiet, and standard error is a terminal
  bool drawn;          // whether the bar is on the terminal now
  double start, last;  // time of the start and of the last drawing, s
} od_progress;

// Starts the clock of a run. quiet: the bar is never drawn.
od_progress od_progress_start(bool quiet);
// Draws the bar after the first second; done: from 0 to 1, or NAN if unknown. Returns false if the end of the run was
// requested (od_signals_interrupted()).
bool od_progress_tick(od_progress *progress, double done);
// Removes the bar from the terminal.
void od_progress_end(od_progress *progress);

#endif
