// The state of a machine at the end of a run, in a file. The file stores the values of named outputs.
#ifndef OD_MACHINE_SAVED_STATE_H
#define OD_MACHINE_SAVED_STATE_H

#include "base/arena.h"
#include "oleodyn/machine.h"

// Outputs that determine the state: coordinates of joints and their rates, pressures, spool positions, states of blocks and
// elements. In a machine with loops, coordinates that the file gives exactly are exact. The other coordinates are approximate,
// because the loops determine their values.
typedef struct od_state_names {
  od_arena arena;
  int *output;
  bool *approximate;
  int count;
} od_state_names;

// Lists the outputs that determine the state; the caller frees the list. Returns OD_NOT_AVAILABLE if a state has no name, and
// OD_NO_MEMORY if an allocation fails.
od_status od_state_names_list(const od_machine *machine, od_state_names *out, od_error *err);
void od_state_names_free(od_state_names *names);

// Writes a file for 'initial: {file: ...}': the values (SI units, all digits) and the time of the state. Fails with OD_IO or
// OD_NO_MEMORY.
od_status od_state_write(const od_machine *machine, const od_state_names *names, const double *value, double time,
                         const char *path, od_error *err);

// Returns the time of the inputs at the start of the run, s: the time of the saved state, or 0 without a saved state.
double od_machine_start_time(const od_machine *machine);

#endif
