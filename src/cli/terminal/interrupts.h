// What the program does when it is asked to end: by Ctrl-C, by kill(1), by a terminal that is closed.
#ifndef OD_TERMINAL_INTERRUPTS_H
#define OD_TERMINAL_INTERRUPTS_H

#include <stdbool.h>

// From now on no signal that ends the program leaves unfinished files behind (io/unfinished.h). Signals that whoever started the
// program wants ignored stay ignored.
void od_signals_begin(void);
// From now on the first SIGINT, SIGTERM or SIGHUP only asks the run to stop, so that what was computed can be written; a second
// one ends the program at once.
void od_signals_listen(void);
// From now on the first one ends the program again.
void od_signals_end_at_once(void);
// Whether the run was asked to stop.
bool od_signals_interrupted(void);

#endif
