// Compiles C sources to a shared library with a compiler of this computer.
#ifndef OD_EXPORT_COMPILE_LIBRARY_H
#define OD_EXPORT_COMPILE_LIBRARY_H

#include <stdbool.h>

#include "base/arena.h"
#include "oleodyn/status.h"

typedef struct od_compiler {
  const char *variable, *command;  // environment variable with the command, and the command without it
  const char *package;             // the Debian package, for messages
  const char *const *flags;        // of compilations, ended by NULL
  const char *const *libraries;    // flags and libraries of the linker, ended by NULL
} od_compiler;
extern const od_compiler od_compiler_linux, od_compiler_windows;

// Returns whether the compiler can be started. Also returns false if an allocation fails.
bool od_compiler_is_there(const od_compiler *c);

// Compiles `source` (paths below `folder`, ended by NULL), on all cores, and links them to the file `library`, whose folder exists. `folder` is the
// include folder, and receives the object files, which are removed. Fails with OD_IO if the compiler cannot be started or fails; err has the first
// error of the compiler. progress may be NULL; if it returns false, the function fails with OD_INTERRUPTED. Fails with OD_NO_MEMORY if an allocation
// fails or the list of object files cannot be written.
od_status od_compile_library(const od_compiler *c, const char *folder, const char *const *source, const char *library,
                             bool (*progress)(void *user, double done), void *user, od_error *err);

#endif
