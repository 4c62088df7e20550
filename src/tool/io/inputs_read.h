// Which files have been read, so that results do not take their place. Whatever opens a file for reading notes it here;
// writers of files ask. A file is the same whatever it is called: device and number count, not the path.
//
// Nothing is kept before od_inputs_begin(): only a program that writes files needs to know.
#ifndef OD_IO_INPUTS_READ_H
#define OD_IO_INPUTS_READ_H

#include <stdbool.h>
#include <stdint.h>

void od_inputs_begin(void);
// Notes a file that is read, by its path or as an open one with a name for messages. False: memory ran out.
bool od_inputs_note(const char *path);
bool od_inputs_note_open(int fd, const char *name);
// The name under which the regular file at `path` was read; NULL: it was not, or does not exist.
const char *od_inputs_find(const char *path);

// All of them, by the names under which they were read first.
int od_inputs_count(void);
const char *od_inputs_name(int i);
// A number for the contents of all of them, in the order in which they were read; false when one cannot be read any more.
bool od_inputs_fingerprint(uint64_t *fingerprint);
// The same with a text that counts, too.
uint64_t od_fingerprint_with(uint64_t fingerprint, const char *text);

#endif
