// Where a machine is linearised: a simulation that stands at a state, with its inputs held.
#ifndef OD_LINEAR_OPERATING_POINT_H
#define OD_LINEAR_OPERATING_POINT_H

#include "machine/saved_state.h"
#include "oleodyn/machine.h"
#include "oleodyn/sim.h"

// An output that is to have a value.
typedef struct od_held_output {
  int output;    // of the machine
  double value;  // SI
} od_held_output;

typedef struct od_point_options {
  double time;         // s: the state of a run at that time; zero: the initial state
  double step;         // of that run; zero: the machine file's, else 1 ms
  const int *outputs;  // indices of outputs of the machine
  int output_count;
  // From there, what holds these outputs: states, and the inputs that are free to choose (see linear/hold.h).
  const od_held_output *hold;
  int holds;
  const int *free_inputs;
  int free_count;
  bool balance;                               // even with nothing to hold: where everything rests
  bool (*progress)(void *user, double done);  // of the run; NULL: nobody asks
  void *user;
} od_point_options;

typedef struct od_operating_point {
  const od_machine *machine;
  od_plant *plant;  // its outputs: those that were asked for, then those that states may be called after
  od_sim *sim;
  int outputs;  // that were asked for
  int *output;  // indices of all outputs of the plant
  bool
      *undecided;  // where outputs are held: of each state, then each input, whether it is only nearest to where it was
  bool samples;    // blocks sample: between samples what they put out is constant
} od_operating_point;

// On failure err says why, and there is nothing to free.
od_status od_operating_point_find(const od_machine *machine, const od_point_options *options, od_operating_point *out,
                                  od_error *err);
void od_operating_point_free(od_operating_point *point);

// The state of an operating point by names, for a state file.
typedef struct od_point_state {
  od_state_names names;
  double *value;
} od_point_state;
od_status od_point_state_take(const od_operating_point *point, od_point_state *out, od_error *err);
void od_point_state_free(od_point_state *state);  // NULL is allowed

// A typical size of a state: of positions and speeds 1, of others what the plant says.
double od_typical_state(const od_plant *plant, int state);

#endif
