// Handling of signals that end the program: Ctrl-C, kill(1), a closed terminal.
#ifndef OD_TERMINAL_INTERRUPTS_H
#define OD_TERMINAL_INTERRUPTS_H

#include <stdbool.h>

// After this call, a signal that ends the program also removes unfinished files (io/atomic_file.h). Signals that were ignored at
// the start of the program remain ignored.
void od_signals_begin(void);
// After this call, the first SIGINT, SIGTERM or SIGHUP requests the end of the run. The program then writes the results computed so
// far. A second signal ends the program at once.
void od_signals_listen(void);
// After this call, the first SIGINT, SIGTERM or SIGHUP ends the program at once.
void od_signals_end_at_once(void);
// Returns whether the end of the run was requested.
bool od_signals_interrupted(void);

#endif
