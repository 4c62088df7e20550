// Files in memory. While a thread uses a bundle, od_input_read() and od_bundle_stat() use the files of the bundle instead of the disk.
// Files have the paths under which they were recorded. While a thread records a bundle, od_input_read() adds every file that it reads
// to the bundle.
#ifndef OD_IO_BUNDLE_H
#define OD_IO_BUNDLE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "base/arena.h"

typedef struct od_bundled {
  const char *path, *bytes;
  size_t size;
  bool is_yaml;  // whether the file was parsed as YAML while the bundle was recorded
} od_bundled;
typedef struct od_bundle {
  od_arena arena;  // owns the list of files, and the files that were recorded
  od_bundled *file;
  int files;
} od_bundle;

// Adds a file unless the bundle has a file with this path. If `copies` is true, copies the bytes; otherwise the bytes
// must outlive the bundle. Returns false if an allocation fails.
bool od_bundle_add(od_bundle *b, const char *path, const char *bytes, size_t size, bool copies);

// Set the bundle that this thread uses or records; NULL: none. Return the previous bundle.
const od_bundle *od_bundle_use(const od_bundle *b);
od_bundle *od_bundle_record(od_bundle *b);

// Return whether this thread uses or records a bundle.
bool od_bundle_is_used(void);
bool od_bundle_is_recorded(void);
// Returns the file with this path in the used bundle; NULL if no bundle is used or the bundle has no such file.
const od_bundled *od_bundle_find(const char *path);
// Adds a file that was read to the recorded bundle, if any. Returns false if an allocation fails.
bool od_bundle_note(const char *path, const char *bytes, size_t size);
// Notes that a file of the recorded bundle, if any, is parsed as YAML.
void od_bundle_note_yaml(const char *path);
// Same as stat(), for a file of the used bundle or, if no bundle is used, on disk. Returns -1 and sets errno if there is no such
// file.
int od_bundle_stat(const char *path, struct stat *facts);
// Opens a file of the used bundle as an unnamed temporary file. Returns its descriptor, which the caller closes, or -1
// on failure.
int od_bundle_open(const char *path);

#endif
