// Reads whole files.
//
// Devices are refused, for example /dev/zero, which never ends. A pipe is read if a program writes to the pipe. The wait for
// the writer of a named pipe is at most half a second. A pipe and some files of /proc may have no end, so callers give a limit.
#ifndef OD_IO_INPUT_FILE_H
#define OD_IO_INPUT_FILE_H

#include <stddef.h>

#include "oleodyn/status.h"

// Reads the bytes of a file, followed by a zero byte. The caller frees *bytes. On failure `why` contains the reason without the
// path. OD_IO: the file cannot be read. OD_BAD_INPUT: the file has more than `most` bytes. OD_NO_MEMORY.
od_status od_input_read(const char *path, size_t most, char **bytes, size_t *length, od_error *why);

#endif
