#define _XOPEN_SOURCE 700  // realpath

#include "io/atomic_file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/allocate.h"

// Files that are being written and are not complete yet. A path is registered until the file is complete or discarded. Registration
// allocates nothing. Several threads may register paths at the same time. Further files than MOST_UNFINISHED are not registered.
enum { MOST_UNFINISHED = 64 };
static struct unfinished {
  _Atomic(const char *) path;
  atomic_long writer;  // process that registered the path
} unfinished[MOST_UNFINISHED];

static void add_unfinished(const char *path) {
  for (int i = 0; i < MOST_UNFINISHED; i++) {
    const char *none = NULL;
    if (!atomic_compare_exchange_strong(&unfinished[i].path, &none, path)) continue;
    atomic_store(&unfinished[i].writer, (long)getpid());
    return;
  }
}

static void forget_unfinished(const char *path) {
  for (int i = 0; i < MOST_UNFINISHED; i++) {
    const char *known = path;
    if (path) atomic_compare_exchange_strong(&unfinished[i].path, &known, NULL);
  }
}

void od_unfinished_remove_all(void) {
  for (int i = 0; i < MOST_UNFINISHED; i++) {
    const char *path = atomic_load(&unfinished[i].path);
    if (path && atomic_load(&unfinished[i].writer) == (long)getpid()) unlink(path);
  }
}

static od_status cannot(od_error *err, const char *what, const char *path) {
  return od_fail(err, OD_IO, "cannot %s %s: %s", what, path, strerror(errno));
}

static void release(od_atomic_file *f) {
  if (f->file) fclose(f->file);
  od_free(f->path);
  forget_unfinished(f->temporary);
  od_free(f->temporary);
  *f = (od_atomic_file){0};
}

// Creates a file, registers the file as unfinished and returns its descriptor; -1: failure, with the reason in errno.
// Blocks signals until the file is registered: a signal between creation and registration would end the program and
// leave the file behind.
static int create_noted(const char *path, mode_t mode) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode), reason = errno;
  if (fd >= 0) add_unfinished(path);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  errno = reason;
  return fd;
}

// Creates a new file PATH.tmp-PID-N and returns its descriptor; -1: failure, with the reason in errno.
static int create_temporary(od_atomic_file *f, mode_t mode) {
  size_t room = strlen(f->path) + 40;
  f->temporary = od_malloc(room);
  if (!f->temporary) return -1;
  for (int n = 0; n < 1000; n++) {
    snprintf(f->temporary, room, "%s.tmp-%ld-%d", f->path, (long)getpid(), n);
    int fd = create_noted(f->temporary, mode);
    if (fd >= 0 || errno != EEXIST) return fd;
  }
  return -1;
}

od_status od_atomic_open(od_atomic_file *f, const char *path, od_error *err) {
  *f = (od_atomic_file){0};
  struct stat old;
  bool exists = stat(path, &old) == 0;
  char *resolved = exists ? realpath(path, NULL) : NULL;
  f->path = resolved ? od_strdup(resolved) : exists ? NULL : od_strdup(path);
  od_libc_free(resolved);
  if (!f->path) return od_fail(err, OD_NO_MEMORY, "out of memory");

  // A device or pipe cannot be replaced by renaming, and a write-protected file must not be replaced.
  int fd = -1;
  if (exists && !S_ISREG(old.st_mode)) {
    fd = open(path, O_WRONLY | O_CLOEXEC);
  } else if (!exists || access(path, W_OK) == 0) {
    fd = create_temporary(f, exists ? old.st_mode & 0777 : 0666);
  }
  if (fd >= 0) f->file = fdopen(fd, "w");
  if (f->file) return OD_OK;

  od_status status =
      errno == ENOMEM ? od_fail(err, OD_NO_MEMORY, "out of memory while writing %s", path) : cannot(err, "write", path);
  if (fd >= 0) {
    close(fd);
    if (f->temporary) unlink(f->temporary);
  }
  release(f);
  return status;
}

od_status od_atomic_probe(const char *path, od_error *err) {
  // Does not open a pipe, because this would wake its reader.
  struct stat old;
  if (stat(path, &old) == 0 && S_ISFIFO(old.st_mode)) return OD_OK;
  od_atomic_file f;
  od_status status = od_atomic_open(&f, path, err);
  if (status == OD_OK) od_atomic_discard(&f);
  return status;
}

// Writes the buffers of an open file to disk. Returns false if the disk reports an error. A file system that does not support this
// operation is not an error.
static bool synchronize(int fd) {
  return fsync(fd) == 0 || errno == EINVAL || errno == ENOTSUP || errno == EROFS;
}

// Closes the file. Returns false if not all data were written: a full disk may be detected only when the last buffer is flushed or
// written to disk.
static bool finish(od_atomic_file *f) {
  if (!f->file) return !f->temporary;
  errno = 0;
  bool ok = !ferror(f->file) && fflush(f->file) == 0 && (!f->temporary || synchronize(fileno(f->file)));
  int reason = errno;
  if (fclose(f->file) == 0)
    errno = reason;
  else
    ok = false;
  f->file = NULL;
  return ok;
}

// Writes the folder to disk, so that the rename is permanent. Errors are ignored.
static void synchronize_folder(const char *path) {
  const char *slash = strrchr(path, '/');
  char *folder = slash ? od_strndup(path, slash == path ? 1 : (size_t)(slash - path)) : od_strdup(".");
  int fd = folder ? open(folder, O_RDONLY | O_CLOEXEC) : -1;
  if (fd >= 0) {
    synchronize(fd);
    close(fd);
  }
  od_free(folder);
}

od_status od_atomic_commit(od_atomic_file *f, od_error *err) {
  bool ok = finish(f);
  if (ok && f->temporary) {
    ok = rename(f->temporary, f->path) == 0;
    if (ok) synchronize_folder(f->path);
  }
  od_status status = OD_OK;
  if (!ok) {
    status = errno ? cannot(err, "write", f->path)
                   : od_fail(err, OD_IO, "cannot write %s completely; check the free space", f->path);
    if (f->temporary) unlink(f->temporary);
  }
  release(f);
  return status;
}

void od_atomic_discard(od_atomic_file *f) {
  if (f->file) fclose(f->file);
  f->file = NULL;
  if (f->temporary) unlink(f->temporary);
  release(f);
}
