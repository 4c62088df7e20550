// The state of a machine at the end of a run, by names, as files keep it: what it is made of, and writing it.
#ifndef OD_MACHINE_SAVED_STATE_H
#define OD_MACHINE_SAVED_STATE_H

#include "oleodyn/machine.h"

// Outputs that tell the state: coordinates of joints and their rates, pressures, spools, states of blocks and elements. In a machine with
// loops those coordinates are exact that its file gives exactly; the others are rough, since the loops decide them.
typedef struct od_state_names {
  int *output;
  bool *rough;
  int count;
} od_state_names;

// OD_NOT_AVAILABLE where some state has no name.
od_status od_state_names_list(const od_machine *machine, od_state_names *out, od_error *err);
void od_state_names_free(od_state_names *names);

// Writes a file that 'initial: {file: ...}' reads: the values (SI, all digits) and the time of them.
od_status od_state_write(const od_machine *machine, const od_state_names *names, const double *value, double time,
                         const char *path, od_error *err);

// When the machine starts on the time scale of its inputs: the time of the state that it starts from; 0: it starts anew.
double od_machine_start_time(const od_machine *machine);

#endif
