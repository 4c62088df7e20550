// The files that a job has read. Results must not replace these files. Functions that open a file for reading register the file
// here; writers of files check the list. A file is identified by device and inode, not by its path.
#ifndef OD_IO_INPUTS_READ_H
#define OD_IO_INPUTS_READ_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct od_read_file {
  dev_t device;
  ino_t number;
  char *name;  // the name under which the file was first read
} od_read_file;
// A list of files, in the order of reading. Initialize with zeros.
typedef struct od_inputs {
  od_read_file *input;
  int count, capacity;
} od_inputs;
void od_inputs_free(od_inputs *inputs);

// Sets the list in which the files that the calling thread reads are registered; NULL: no list. Returns the previous
// list. Other threads of a job read only files that the job has already registered.
od_inputs *od_inputs_collect(od_inputs *inputs);
// Registers a file that is read, by its path or as an open file with a name for messages. Returns false if an allocation fails.
bool od_inputs_note(const char *path);
bool od_inputs_note_open(int fd, const char *name);

// Returns the name under which the regular file at `path` was read; NULL: the file was not read, or does not exist.
const char *od_inputs_find(const od_inputs *inputs, const char *path);
// Computes a hash of the contents of all files, in the order of reading. Returns false if a file can no longer be read.
bool od_inputs_fingerprint(const od_inputs *inputs, uint64_t *fingerprint);
// Returns a hash of a fingerprint and a text.
uint64_t od_fingerprint_with(uint64_t fingerprint, const char *text);

#endif
