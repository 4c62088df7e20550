// Work in a child process, for libraries that may crash, hang or ask for all memory when a file is damaged. What the child
// has found comes back through a pipe; whatever becomes of the child, the caller goes on.
#ifndef OD_IO_CHILD_PROCESS_H
#define OD_IO_CHILD_PROCESS_H

#include <stdbool.h>
#include <stdio.h>

#include "oleodyn/status.h"

typedef struct od_child_process {
  // In the child: does the work and writes what it found. It must not change anything that is to be seen outside.
  void (*work)(void *user, FILE *to);
  // In the caller's process: reads that; false if it is not complete.
  bool (*take)(void *user, FILE *from);
  void *user;
  long long bytes;  // size of the file the work is about: time and memory are limited in proportion to it
} od_child_process;

// OD_OK if take() got all. Else OD_BAD_INPUT with what happened to the child ("crashed", "took longer than 1 s"), or OD_IO
// if there could be no child.
od_status od_child_process_run(const od_child_process *isolated, od_error *err);

#endif
