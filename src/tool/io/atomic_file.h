// A file that appears under its name only after all data are written. The file is written under a temporary name in the same
// folder, flushed to disk, and renamed at the end.
#ifndef OD_ATOMIC_FILE_H
#define OD_ATOMIC_FILE_H

#include <stdio.h>

#include "oleodyn/status.h"

typedef struct od_atomic_file {
  FILE *file;       // the stream to write to
  char *path;       // the final path, with links resolved
  char *temporary;  // the temporary path; NULL for devices and pipes, which are written directly
} od_atomic_file;

// Opens the file. After success call od_atomic_commit() or od_atomic_discard(); both release all memory. Fails with OD_IO or
// OD_NO_MEMORY.
od_status od_atomic_open(od_atomic_file *f, const char *path, od_error *err);
// Checks whether od_atomic_open() would succeed; otherwise returns its failure. Call this function before long work. No file
// remains.
od_status od_atomic_probe(const char *path, od_error *err);
// Closes the file, checks that all data were written, and renames the file. Fails with OD_IO; then the temporary file is removed, and
// an older file with the final path is unchanged.
od_status od_atomic_commit(od_atomic_file *f, od_error *err);
void od_atomic_discard(od_atomic_file *f);

// Removes the files that this process has begun and not completed. Use this function if the program must end at once, without
// returning through its callers. A forked child does not remove files of its parent.
void od_unfinished_remove_all(void);

#endif
