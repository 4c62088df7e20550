#include "export/folder.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/allocate.h"
#include "io/temporary_folder.h"

// Returns a copy of `path` without slashes at its end, followed by `suffix`. The caller frees the text; NULL: an allocation
// failed.
static char *with_suffix(const char *path, const char *suffix) {
  size_t length = strlen(path), more = strlen(suffix) + 1;
  while (length > 1 && path[length - 1] == '/') length--;
  char *text = od_malloc(length + more);
  if (!text) return NULL;
  memcpy(text, path, length);
  memcpy(text + length, suffix, more);
  return text;
}

static bool is_export(const char *path) {
  char *mark = with_suffix(path, "/" OD_FOLDER_MARK);
  bool is = mark && access(mark, F_OK) == 0;
  od_free(mark);
  return is;
}

static void release(od_folder *f) {
  od_free(f->path);
  od_free(f->temporary);
  *f = (od_folder){0};
}

od_status od_folder_begin(od_folder *f, const char *path, od_error *err) {
  struct stat facts;
  *f = (od_folder){with_suffix(path, ""), with_suffix(path, ".XXXXXX")};
  od_status status = OD_OK;
  if (!f->path || !f->temporary)
    status = od_fail(err, OD_NO_MEMORY, "out of memory");
  else if (lstat(f->path, &facts) == 0 && !is_export(f->path))
    status = od_fail(err, OD_BAD_INPUT, "%s exists already and is not an earlier export; give the name of a new folder",
                     path);
  else if (!mkdtemp(f->temporary) || chmod(f->temporary, 0755) != 0)
    status = od_fail(err, OD_IO, "cannot make the folder %s: %s", path, strerror(errno));
  if (status != OD_OK) release(f);
  return status;
}

od_status od_folder_commit(od_folder *f, od_error *err) {
  char *mark = with_suffix(f->temporary, "/" OD_FOLDER_MARK), *old = with_suffix(f->temporary, ".old");
  FILE *file = mark ? fopen(mark, "w") : NULL;
  bool ok = old && file && fclose(file) == 0;
  bool replaces = ok && rename(f->path, old) == 0;
  if (ok && !replaces) ok = errno == ENOENT;
  if (ok && rename(f->temporary, f->path) != 0) {
    ok = false;
    if (replaces) rename(old, f->path);
  }
  od_status status = ok ? OD_OK : od_fail(err, OD_IO, "cannot write the folder %s: %s", f->path, strerror(errno));
  if (ok && replaces) od_folder_remove(old);
  od_free(mark);
  od_free(old);
  if (ok)
    release(f);
  else
    od_folder_discard(f);
  return status;
}

void od_folder_discard(od_folder *f) {
  if (f->temporary) od_folder_remove(f->temporary);
  release(f);
}
