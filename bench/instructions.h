// How many instructions a step takes: less noisy than time, and the same on a busy machine.
#ifndef BENCH_INSTRUCTIONS_H
#define BENCH_INSTRUCTIONS_H

#include "measure.h"

// How to ask callgrind: the script, this program, and what stands behind `--steps COUNT` for this subject.
typedef struct bench_callgrind {
  const char *script, *program;
  const char *arguments[3];  // up to a NULL
  int few, many;             // steps of the two runs
} bench_callgrind;

// Instructions per step in user mode, by the processor's counter (perf_event_open) where the system lets us, else by
// callgrind; negative where neither works, 0 when none are wanted.
double bench_instructions(const bench_subject *subject, const bench_callgrind *how);
// How the last ones were counted.
const char *bench_instructions_source(void);

#endif
