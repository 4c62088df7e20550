// Files with secrets: only their owner may read them, and no message contains their content.
#ifndef OD_IO_PRIVATE_FILE_H
#define OD_IO_PRIVATE_FILE_H

#include "base/arena.h"
#include "oleodyn/status.h"

// Reads a file that only its owner may read; the owner is this user or root. Fails with OD_BAD_INPUT or OD_IO; messages do not contain the content.
// *size: without the final zero. The content is at most 64 kB.
od_status od_private_file_read(const char *path, const char *what, od_arena *memory, char **content, size_t *size,
                               od_error *err);

#endif
