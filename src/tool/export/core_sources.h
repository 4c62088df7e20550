// The sources of the core that a program needs, found in the installed copy of the core (libexec/oleodyn/core).
#ifndef OD_EXPORT_CORE_SOURCES_H
#define OD_EXPORT_CORE_SOURCES_H

#include <stdbool.h>

#include "base/arena.h"
#include "memory/scoped.h"

typedef struct od_core_sources {
  od_arena arena;
  const char *const *headers;  // set by the caller: headers that the program includes, ended by NULL; NULL: none
  const char *folder;          // the copy of the core
  char **path;  // paths of the needed files, relative to the folder: src/observe/filter_ekf.c, include/oleodyn/sim.h
  int count;
} od_core_sources;

// The role of a symbol that a source of the core defines, in one program.
typedef enum od_symbol_role {
  OD_SYMBOL_USED,      // contained if another source uses the symbol
  OD_SYMBOL_ROOT,      // contained
  OD_SYMBOL_LEFT_OUT,  // not contained
} od_symbol_role;
typedef od_symbol_role od_find_role(const void *user, const char *path, const char *symbol);

// Finds the sources that define the roots, the sources whose symbols these sources use, directly or indirectly, and all headers that they include.
// Fails with OD_IO if the copy of the core is missing or damaged, and with OD_NO_MEMORY.
od_status od_core_sources_find(od_core_sources *s, od_find_role *role, const void *user, od_error *err);
void od_core_sources_free(od_core_sources *s);

#endif
