// The templates of exported files: the folder src/tool/export/files, which the build converts to C (scripts/embed.cmake).
#ifndef OD_EXPORT_FILES_H
#define OD_EXPORT_FILES_H

#include <stddef.h>

typedef struct od_export_file {
  const char *folder,
      *name;  // the kind of the export; the file `name.h.in` is the template of PROGRAM.h
  const unsigned char *bytes;
  size_t size;
} od_export_file;
extern const od_export_file od_export_files[];  // the last entry has no name

#endif
