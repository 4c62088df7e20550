// Work in a child process, for libraries that may crash, hang or allocate all memory when a file is damaged. The result comes
// back through a pipe. The caller continues even if the child crashes.
#ifndef OD_IO_CHILD_PROCESS_H
#define OD_IO_CHILD_PROCESS_H

#include <stdbool.h>
#include <stdio.h>

#include "oleodyn/status.h"

typedef struct od_child_process {
  // In the child: does the work and writes the result. Must not change anything visible outside the child.
  void (*work)(void *user, FILE *to);
  // In the caller's process: reads the result. Returns false if the result is not complete.
  bool (*take)(void *user, FILE *from);
  void *user;
  long long bytes;  // size of the file that is read; the limits of time and memory grow with this size
} od_child_process;

// Runs the child. OD_OK: take() read the complete result. OD_BAD_INPUT, with the reason ("crashed", "took longer than 1 s"):
// the result is not complete. OD_IO: no child could be started.
od_status od_child_process_run(const od_child_process *isolated, od_error *err);

#endif
