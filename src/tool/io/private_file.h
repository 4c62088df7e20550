// Files with secrets: only their owner may read them, and no message contains their content.
#ifndef OD_IO_PRIVATE_FILE_H
#define OD_IO_PRIVATE_FILE_H

#include "base/arena.h"
#include "oleodyn/status.h"

// Reads a file of at most 64 kB that only its owner may read; the owner is this user or root. what: the kind of file, for messages. The
// arena owns *content, which ends with a zero. *size: number of bytes without this zero. Fails with OD_BAD_INPUT, OD_IO or OD_NO_MEMORY;
// messages do not contain the content.
od_status od_private_file_read(const char *path, const char *what, od_arena *memory, char **content, size_t *size,
                               od_error *err);

#endif
