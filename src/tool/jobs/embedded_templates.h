// The files of the folder templates, which the build embeds (scripts/embed.cmake).
#ifndef OD_JOBS_EMBEDDED_TEMPLATES_H
#define OD_JOBS_EMBEDDED_TEMPLATES_H

#include <stddef.h>

typedef struct od_template_file {
  const char *folder, *name;   // the template, and the name of the file
  const unsigned char *bytes;  // the content; a zero byte follows
  size_t size;
} od_template_file;
// All files, sorted by template; the last entry has no folder.
extern const od_template_file od_template_files[];
extern const char *const od_template_default;  // the template that is used if none is chosen

#endif
