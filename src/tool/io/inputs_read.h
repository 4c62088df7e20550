// The list of files that have been read, so that results do not replace them. Functions that open a file for reading register
// the file here; writers of files check the list. A file is identified by device and inode, not by its path.
//
// The list is empty before od_inputs_begin(): only a program that writes files needs the list.
#ifndef OD_IO_INPUTS_READ_H
#define OD_IO_INPUTS_READ_H

#include <stdbool.h>
#include <stdint.h>

void od_inputs_begin(void);
// Registers a file that is read, by its path or as an open file with a name for messages. False: out of memory.
bool od_inputs_note(const char *path);
bool od_inputs_note_open(int fd, const char *name);
// The name under which the regular file at `path` was read; NULL: the file was not read, or does not exist.
const char *od_inputs_find(const char *path);

// The number of files, and the name under which each file was first read.
int od_inputs_count(void);
const char *od_inputs_name(int i);
// Computes a hash of the contents of all files, in the order of reading. False if a file can no longer be read.
bool od_inputs_fingerprint(uint64_t *fingerprint);
// Returns the hash combined with a text.
uint64_t od_fingerprint_with(uint64_t fingerprint, const char *text);

#endif
