// The input signals of a machine as C source: a constant table of the core's own types (signals/signal_table.h).
#ifndef OD_EXPORT_C_SIGNALS_H
#define OD_EXPORT_C_SIGNALS_H

#include <stdio.h>

#include "oleodyn/machine.h"

// Prints the table `signals`, and `signal` with the index of each input in the table.
void od_c_signals(FILE *to, const od_machine *machine);

#endif
