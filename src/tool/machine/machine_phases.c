#include "machine/machine_phases.h"

#include "machine/machine_loader.h"
#include "signals/sequence.h"

const od_machine_phase *od_machine_phases(const od_machine *machine, int *count) {
  *count = machine->phases;
  return machine->phase;
}

int od_machine_segment_count(const od_machine *machine, int input) {
  int count;
  od_signal_segments(machine->signals, machine->input[input].signal, &count);
  return count;
}

od_input_segment od_machine_segment(const od_machine *machine, int input, int i) {
  static const char *const kinds[OD_SEGMENT_KINDS] = {
      [OD_SEGMENT_HOLD] = "hold", [OD_SEGMENT_STEP] = "step",
      [OD_SEGMENT_RAMP] = "ramp", [OD_SEGMENT_HALF_COSINE] = "half_cosine",
      [OD_SEGMENT_SINE] = "sine", [OD_SEGMENT_LAGGED_STEP] = "lagged_step"};
  int signal = machine->input[input].signal, count;
  const double *start = od_signal_segments(machine->signals, signal, &count);
  return (od_input_segment){.kind = kinds[od_signal_segment_kind(machine->signals, signal, i)],
                            .from = start[i] - machine->start,
                            .to = start[i + 1] - machine->start,
                            .end = od_signal_segment_end(machine->signals, signal, i)};
}
