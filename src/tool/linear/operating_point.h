// The operating point of a linearization: a simulation at a state, with constant inputs.
#ifndef OD_LINEAR_OPERATING_POINT_H
#define OD_LINEAR_OPERATING_POINT_H

#include "base/arena.h"
#include "machine/saved_state.h"
#include "oleodyn/machine.h"
#include "oleodyn/sim.h"

// An output whose value at the operating point is prescribed.
typedef struct od_held_output {
  int output;    // index of an output of the machine
  double value;  // SI
} od_held_output;

typedef struct od_point_options {
  double time;         // time at which a run gives the state, s; zero: the initial state is used
  double step;         // step of the run to `time`, s; zero: the step in the machine file, else 1 ms
  const int *outputs;  // indices of the requested outputs of the machine
  int output_count;
  // Outputs that are held by adjusting states and free inputs, starting from the state at `time` (see linear/hold.h).
  const od_held_output *hold;
  int holds;
  const int *free_inputs;
  int free_count;
  bool balance;                               // whether to find a point with all rates zero even without held outputs
  bool (*progress)(void *user, double done);  // progress of the run; NULL: none
  void *user;
} od_point_options;

typedef struct od_operating_point {
  const od_machine *machine;
  od_plant *plant;  // outputs of the plant: the requested outputs, then outputs that may name states, held and
                    // limited outputs
  od_sim *sim;
  int outputs;  // number of requested outputs
  int *output;  // indices of all outputs of the plant

  // Per state and then per input: whether its value is not determined and stays near the start. NULL: the point is not
  // balanced.
  bool *undecided;
  od_arena arena;  // owns the lists
  bool samples;    // whether blocks are sampled: their outputs are constant between samples
} od_operating_point;

// Finds the point. On failure err contains the reason, and there is nothing to free. Fails with OD_BAD_INPUT, OD_IO,
// OD_NOT_CONVERGED, OD_DIVERGED, OD_INTERRUPTED, OD_NO_MEMORY, or a status of the simulation.
od_status od_operating_point_find(const od_machine *machine, const od_point_options *options, od_operating_point *out,
                                  od_error *err);
void od_operating_point_free(od_operating_point *point);

// The values of all states of an operating point with their names, for a state file. od_point_state_take() fails with
// OD_NOT_AVAILABLE if a state has no name, and with OD_NO_MEMORY.
typedef struct od_point_state {
  od_state_names names;
  double *value;
} od_point_state;
od_status od_point_state_take(const od_operating_point *point, od_point_state *out, od_error *err);
void od_point_state_free(od_point_state *state);  // NULL is allowed

// Returns the typical size of a state: 1 for positions and speeds; for other states the size in the plant.
double od_typical_state(const od_plant *plant, int state);

#endif
