// A folder that appears under its name only after all its files are written. Its files are written to a temporary folder beside
// it, which is renamed at the end.
#ifndef OD_EXPORT_FOLDER_H
#define OD_EXPORT_FOLDER_H

#include "oleodyn/status.h"

// A file with this name marks folders that may be replaced: earlier exports.
#define OD_FOLDER_MARK ".oleodyn-export"

typedef struct od_folder {
  char *path, *temporary;  // the final and the temporary folder
} od_folder;

// Makes the temporary folder. Fails with OD_BAD_INPUT if the final folder exists and is not an earlier export, and with OD_IO if
// no folder can be made. Also fails with OD_NO_MEMORY. After success call od_folder_commit() or od_folder_discard(); both release
// all memory.
od_status od_folder_begin(od_folder *f, const char *path, od_error *err);
// Replaces the final folder by the temporary folder. Fails with OD_IO; the temporary folder is then removed.
od_status od_folder_commit(od_folder *f, od_error *err);
// Removes the temporary folder; after od_folder_commit() nothing happens.
void od_folder_discard(od_folder *f);

#endif
