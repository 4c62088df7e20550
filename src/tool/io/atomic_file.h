// A file that appears complete or not at all: written under a temporary name in the same folder, put on disk, and renamed at
// the end.
#ifndef OD_ATOMIC_FILE_H
#define OD_ATOMIC_FILE_H

#include <stdio.h>

#include "oleodyn/status.h"

typedef struct od_atomic_file {
  FILE *file;       // write here
  char *path;       // where the file is to appear, links followed
  char *temporary;  // where it is written; NULL for devices and pipes, which are written directly
} od_atomic_file;

// Opens. On success end with od_atomic_commit() or od_atomic_discard(); both release everything.
od_status od_atomic_open(od_atomic_file *f, const char *path, od_error *err);
// Whether od_atomic_open() would succeed: worth asking before hours of work. Leaves nothing behind.
od_status od_atomic_probe(const char *path, od_error *err);
// The name to give to a library that opens files itself; closes f->file.
const char *od_atomic_hand_over(od_atomic_file *f);
// Closes, checks that all was written, and renames. On failure nothing is left behind.
od_status od_atomic_commit(od_atomic_file *f, od_error *err);
void od_atomic_discard(od_atomic_file *f);

#endif
