// Phases of a run: phases with names from the section 'run', and segments of inputs that are sequences.
#ifndef OD_MACHINE_PHASES_H
#define OD_MACHINE_PHASES_H

#include "oleodyn/machine.h"

typedef struct od_machine_phase {
  const char *name;
  double from;  // s
} od_machine_phase;

// Returns the phases of the section 'run', by increasing time. The machine owns the phases.
const od_machine_phase *od_machine_phases(const od_machine *machine, int *count);

// A segment of a sequence. Times are times of the run.
typedef struct od_input_segment {
  const char *kind;  // key in files: "hold", "ramp" ...
  double from, to;   // s
  double end;        // value at the end of the segment, in SI
} od_input_segment;
// Returns the number of segments of an input; 0: the input is not a sequence.
int od_machine_segment_count(const od_machine *machine, int input);
od_input_segment od_machine_segment(const od_machine *machine, int input, int i);

#endif
