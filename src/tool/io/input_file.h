// Reads whole files.
//
// Reading a device is an error: /dev/zero, for example, never ends. A pipe is read if a program writes to the pipe. od_input_read()
// waits for the writer of a named pipe for at most half a second. Pipes and some files of /proc may be endless, so callers set a
// limit.
#ifndef OD_IO_INPUT_FILE_H
#define OD_IO_INPUT_FILE_H

#include <stddef.h>

#include "oleodyn/status.h"

// Reads the bytes of a file, followed by a zero byte, and registers the file (io/inputs_read.h). If the thread uses a bundle, reads the file
// of the bundle; if the thread records a bundle, adds the file (io/bundle.h). The caller frees *bytes with od_free().
// On failure `why` contains the reason without the path. Fails with OD_IO if the file cannot be read, with OD_BAD_INPUT if the file has more
// than `most` bytes, and with OD_NO_MEMORY.
od_status od_input_read(const char *path, size_t most, char **bytes, size_t *length, od_error *why);

#endif
