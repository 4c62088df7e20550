// Folders for temporary files.
#ifndef OD_IO_TEMPORARY_FOLDER_H
#define OD_IO_TEMPORARY_FOLDER_H

#include "oleodyn/status.h"

// Makes a folder in $TMPDIR if this is an absolute path, otherwise in /tmp. *path: its path, which begins with the name and is freed
// with od_free(). Fails with OD_IO or OD_NO_MEMORY.
od_status od_temporary_folder_make(const char *name, char **path, od_error *err);
// Removes a folder with all files in it.
void od_folder_remove(const char *path);

#endif
