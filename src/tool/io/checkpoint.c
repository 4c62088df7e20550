#include "io/checkpoint.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/allocate.h"
#include "io/atomic_file.h"

void od_checkpoint_free(od_checkpoint *c) {
  od_free(c->bytes);
  *c = (od_checkpoint){0};
}

od_status od_checkpoint_take(od_checkpoint *c, const od_saved_owner *owner, void *self, od_pieces_function *transfer) {
  size_t size = od_saved_size(self, transfer);
  void *bytes = c->size == size ? c->bytes : od_malloc(size);
  if (!bytes) return OD_NO_MEMORY;
  if (bytes != c->bytes) od_free(c->bytes);
  *c = (od_checkpoint){bytes, size};
  od_saved_write(owner, self, transfer, bytes);
  return OD_OK;
}

static od_status read_all(od_checkpoint *c, FILE *file, const char *path, od_error *err) {
  static const size_t most = (size_t)4 << 30;
  for (size_t room = 1 << 16; c->size < most; room *= 2) {
    void *bytes = od_realloc(c->bytes, room);
    if (!bytes) return od_fail(err, OD_NO_MEMORY, "out of memory");
    c->bytes = bytes;
    size_t got = fread((char *)bytes + c->size, 1, room - c->size, file);
    c->size += got;
    if (ferror(file)) return od_fail(err, OD_IO, "cannot read %s: %s", path, strerror(errno));
    if (c->size < room) return OD_OK;
  }
  return od_fail(err, OD_IO, "%s is larger than 4 GB; expected a checkpoint of at most 4 GB", path);
}

od_status od_checkpoint_read(od_checkpoint *c, const char *path, od_error *err) {
  *c = (od_checkpoint){0};
  FILE *file = fopen(path, "rb");
  if (!file) return od_fail(err, OD_IO, "cannot read %s: %s", path, strerror(errno));
  od_status status = read_all(c, file, path, err);
  fclose(file);
  if (status != OD_OK) od_checkpoint_free(c);
  return status;
}

od_status od_checkpoint_write(const od_checkpoint *c, const char *path, od_error *err) {
  od_atomic_file file;
  od_status status = od_atomic_open(&file, path, err);
  if (status != OD_OK) return status;
  fwrite(c->bytes, 1, c->size, file.file);
  return od_atomic_commit(&file, err);
}
