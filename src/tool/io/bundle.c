#define _GNU_SOURCE  // memfd_create()
#include "io/bundle.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static _Thread_local const od_bundle *used;
static _Thread_local od_bundle *recorded;

static const od_bundled *find_in(const od_bundle *b, const char *path) {
  for (int i = 0; i < b->files; i++)
    if (strcmp(b->file[i].path, path) == 0) return &b->file[i];
  return NULL;
}

bool od_bundle_add(od_bundle *b, const char *path, const char *bytes, size_t size, bool copies) {
  if (find_in(b, path)) return true;
  od_bundled *longer = od_arena_extend(&b->arena, b->file, b->files, sizeof *longer);
  const char *name = od_arena_text(&b->arena, path);
  char *copy = copies ? od_arena_take(&b->arena, size + 1) : NULL;
  if (!longer || !name || (copies && !copy)) return false;
  if (copies && size) memcpy(copy, bytes, size);
  b->file = longer;
  b->file[b->files++] = (od_bundled){.path = name, .bytes = copies ? copy : bytes, .size = size};
  return true;
}

const od_bundle *od_bundle_use(const od_bundle *b) {
  const od_bundle *before = used;
  used = b;
  return before;
}
od_bundle *od_bundle_record(od_bundle *b) {
  od_bundle *before = recorded;
  recorded = b;
  return before;
}

bool od_bundle_is_used(void) {
  return used != NULL;
}
bool od_bundle_is_recorded(void) {
  return recorded != NULL;
}
const od_bundled *od_bundle_find(const char *path) {
  return used ? find_in(used, path) : NULL;
}
bool od_bundle_note(const char *path, const char *bytes, size_t size) {
  return !recorded || od_bundle_add(recorded, path, bytes, size, true);
}
void od_bundle_note_yaml(const char *path) {
  for (int i = 0; recorded && i < recorded->files; i++)
    if (strcmp(recorded->file[i].path, path) == 0) recorded->file[i].is_yaml = true;
}

int od_bundle_stat(const char *path, struct stat *facts) {
  if (!used) return stat(path, facts);
  const od_bundled *f = od_bundle_find(path);
  if (!f) {
    errno = ENOENT;
    return -1;
  }
  memset(facts, 0, sizeof *facts);
  facts->st_mode = S_IFREG;
  facts->st_size = (off_t)f->size;
  facts->st_ino = (ino_t)(f - used->file + 1);
  return 0;
}

int od_bundle_open(const char *path) {
  const od_bundled *f = od_bundle_find(path);
  int fd = f ? memfd_create("oleodyn", 0) : -1;
  for (size_t done = 0; fd >= 0 && done < f->size;) {
    ssize_t written = write(fd, f->bytes + done, f->size - done);
    if (written > 0) done += (size_t)written;
    if (written > 0 || errno == EINTR) continue;
    close(fd);
    return -1;
  }
  return fd;
}
