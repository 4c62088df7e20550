#define _XOPEN_SOURCE 700  // nftw()
#include "io/temporary_folder.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/allocate.h"

enum { OPEN_FOLDERS = 8 };

od_status od_temporary_folder_make(const char *name, char **path, od_error *err) {
  static const char form[] = "%s/%s.XXXXXX";
  const char *given = getenv("TMPDIR"), *place = given && given[0] == '/' ? given : "/tmp";
  size_t size = strlen(place) + strlen(name) + sizeof form;
  *path = od_malloc(size);
  if (!*path) return od_fail(err, OD_NO_MEMORY, "out of memory");
  snprintf(*path, size, form, place, name);
  if (mkdtemp(*path)) return OD_OK;
  od_status status = od_fail(err, OD_IO, "cannot make a folder in %s: %s", place, strerror(errno));
  od_free(*path);
  *path = NULL;
  return status;
}

static int remove_one(const char *path, const struct stat *facts, int kind, struct FTW *place) {
  (void)facts, (void)kind, (void)place;
  remove(path);
  return 0;
}

void od_folder_remove(const char *path) {
  nftw(path, remove_one, OPEN_FOLDERS, FTW_DEPTH | FTW_PHYS);
}
