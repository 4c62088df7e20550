#define _XOPEN_SOURCE 700
#include "export/fmu_zip.h"

#ifdef OD_LIBZIP
#include <dirent.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zip.h>

#include "base/arena.h"
#include "io/atomic_file.h"
#include "memory/scoped.h"

// 1 January 2000, a date that all readers of ZIP files accept. The date does not depend on the time of the export.
static const zip_uint16_t dos_date = 20 << 9 | 1 << 5 | 1;

// The functions of libzip, loaded on demand: libzip loads several libraries for compression and encryption.
#define LIBZIP_FUNCTIONS(X) \
  X(zip_open)               \
  X(zip_close)              \
  X(zip_discard)            \
  X(zip_source_file)        \
  X(zip_source_free)        \
  X(zip_file_add)           \
  X(zip_file_set_dostime)   \
  X(zip_file_set_external_attributes)
static struct {
#define MEMBER(name) __typeof__(&(name)) name;
  LIBZIP_FUNCTIONS(MEMBER)
} lib;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool is_loaded;

static void load(void) {
  void *handle = dlopen(OD_LIBZIP, RTLD_NOW | RTLD_LOCAL), *found;
  if (!handle) return;
#define FIND(name)                         \
  found = dlsym(handle, #name);            \
  memcpy(&lib.name, &found, sizeof found); \
  if (!found) return;
  LIBZIP_FUNCTIONS(FIND)
  is_loaded = true;
}

od_status od_zip_load(od_error *err) {
  pthread_once(&once, load);
  if (is_loaded) return OD_OK;
  return od_fail(err, OD_NOT_AVAILABLE, "FMUs need the library %s, which cannot be loaded; install the package libzip4",
                 OD_LIBZIP);
}

typedef struct names {
  od_arena arena;
  char **path;  // relative to the folder
  int count;
} names;

static int by_text(const void *a, const void *b) {
  return strcmp(*(char *const *)a, *(char *const *)b);
}

// Lists all files below a folder. `below` is the path within the folder, "" or ending with a slash. Returns false if a folder
// cannot be read or an allocation fails.
static bool list_files(names *n, const char *folder, const char *below) {
  const char *here = od_arena_format(&n->arena, "%s/%s", folder, below);
  DIR *d = here ? opendir(here) : NULL;
  bool ok = d != NULL;
  for (struct dirent *e; ok && (e = readdir(d)) != NULL;) {
    if (e->d_name[0] == '.') continue;
    char *path = od_arena_format(&n->arena, "%s%s", below, e->d_name);
    const char *full = path ? od_arena_format(&n->arena, "%s/%s", folder, path) : NULL;
    struct stat facts;
    ok = full && stat(full, &facts) == 0;
    if (ok && S_ISDIR(facts.st_mode)) {
      const char *deeper = od_arena_format(&n->arena, "%s/", path);
      ok = deeper && list_files(n, folder, deeper);
    } else if (ok) {
      n->path = od_arena_extend(&n->arena, n->path, n->count, sizeof *n->path);
      ok = n->path != NULL;
      if (ok) n->path[n->count++] = path;
    }
  }
  if (d) closedir(d);
  return ok;
}

static bool add_file(zip_t *z, names *n, const char *folder, const char *path) {
  const char *full = od_arena_format(&n->arena, "%s/%s", folder, path);
  zip_source_t *source = full ? lib.zip_source_file(z, full, 0, -1) : NULL;
  zip_int64_t index = source ? lib.zip_file_add(z, path, source, ZIP_FL_ENC_UTF_8) : -1;
  if (source && index < 0) lib.zip_source_free(source);
  return index >= 0 && lib.zip_file_set_dostime(z, (zip_uint64_t)index, 0, dos_date, 0) == 0 &&
         lib.zip_file_set_external_attributes(z, (zip_uint64_t)index, 0, ZIP_OPSYS_UNIX, 0100644u << 16) == 0;
}

// Copies the complete archive to the file of the caller. Returns false if a file cannot be read or written.
static bool copy(const char *from, FILE *to) {
  FILE *file = fopen(from, "rb");
  char buffer[65536];
  size_t count;
  bool ok = file != NULL;
  while (ok && (count = fread(buffer, 1, sizeof buffer, file)) > 0) ok = fwrite(buffer, 1, count, to) == count;
  ok = ok && !ferror(file);
  if (file) fclose(file);
  return ok;
}

static void free_names(names *n) {
  od_arena_free(&n->arena);
}

od_status od_zip_folder(const char *folder, const char *path, long long *bytes, od_error *err) {
  OD_SCOPED(free_names) names n = {0};
  od_atomic_file file;
  od_status status = od_atomic_open(&file, path, err);
  if (status != OD_OK) return status;
  bool ok = list_files(&n, folder, "");
  if (ok && n.count) qsort(n.path, (size_t)n.count, sizeof *n.path, by_text);
  // libzip writes through a temporary file of its own beside the archive, so the archive is made in the folder.
  const char *archive = ok ? od_arena_format(&n.arena, "%s/.archive.zip", folder) : NULL;
  int error = 0;
  zip_t *z = archive ? lib.zip_open(archive, ZIP_CREATE | ZIP_TRUNCATE, &error) : NULL;
  for (int i = 0; i < n.count && z && ok; i++) ok = add_file(z, &n, folder, n.path[i]);
  if (z && (!ok || lib.zip_close(z) != 0)) {
    lib.zip_discard(z);
    ok = false;
  }
  ok = ok && z && copy(archive, file.file);
  if (archive) remove(archive);
  *bytes = ok ? ftell(file.file) : 0;
  if (ok) return od_atomic_commit(&file, err);
  od_atomic_discard(&file);
  return od_fail(err, OD_IO, "%s cannot be written; check the folder and the free space", path);
}

#else

od_status od_zip_load(od_error *err) {
  return od_fail(
      err, OD_NOT_AVAILABLE,
      "this build of oleodyn has no libzip, which writes FMUs; install the package libzip-dev and build again");
}

od_status od_zip_folder(const char *folder, const char *path, long long *bytes, od_error *err) {
  (void)folder, (void)path, (void)bytes;
  return od_zip_load(err);
}

#endif
