// Number of instructions of a step: less noisy than time, and the same on a busy computer.
#ifndef BENCH_INSTRUCTIONS_H
#define BENCH_INSTRUCTIONS_H

#include "measure.h"

// Arguments for callgrind: the script, this program, and the words after `--steps COUNT` for this subject.
typedef struct bench_callgrind {
  const char *script, *program;
  const char *arguments[3];  // up to a NULL
  int few, many;             // steps of the two runs
} bench_callgrind;

// Instructions per step in user mode, by the processor's counter (perf_event_open) if the system permits, else by
// callgrind; negative if neither works, 0 if instructions are not requested.
double bench_instructions(const bench_subject *subject, const bench_callgrind *how);
// Method of the last count.
const char *bench_instructions_source(void);

#endif
