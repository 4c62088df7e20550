// A folder for the files of one test, empty at the start and removed at the end.
#ifndef OD_TEST_SCRATCH_H
#define OD_TEST_SCRATCH_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct scratch {
  char folder[64];
  char path[512];
} scratch;

static inline int scratch_setup(void **state) {
  scratch *s = calloc(1, sizeof *s);
  strcpy(s->folder, "/tmp/oleodyn-test-XXXXXX");
  *state = s;
  return mkdtemp(s->folder) ? 0 : -1;
}

// The path of a file in the folder; valid until the next call.
static inline const char *scratch_path(scratch *s, const char *name) {
  snprintf(s->path, sizeof s->path, "%s/%s", s->folder, name);
  return s->path;
}

static inline int scratch_count(const scratch *s) {
  DIR *d = opendir(s->folder);
  int n = 0;
  for (struct dirent *e; (e = readdir(d));) n += e->d_name[0] != '.';
  closedir(d);
  return n;
}

static inline const char *scratch_write(scratch *s, const char *name, const char *text, size_t length) {
  const char *path = scratch_path(s, name);
  FILE *f = fopen(path, "wb");
  fwrite(text, 1, length, f);
  fclose(f);
  return path;
}

static inline const char *scratch_put(scratch *s, const char *name, const char *text) {
  return scratch_write(s, name, text, strlen(text));
}

// The whole text of a file. The caller frees it.
static inline char *scratch_read(const char *path) {
  FILE *f = fopen(path, "rb");
  if (!f) return NULL;
  size_t used = 0, capacity = 1 << 16;
  char *text = malloc(capacity + 1);
  for (size_t got; (got = fread(text + used, 1, capacity - used, f)) > 0;) {
    used += got;
    if (used == capacity) text = realloc(text, (capacity *= 2) + 1);
  }
  fclose(f);
  text[used] = '\0';
  return text;
}

static inline int scratch_teardown(void **state) {
  scratch *s = *state;
  DIR *d = opendir(s->folder);
  for (struct dirent *e; (e = readdir(d));) unlink(scratch_path(s, e->d_name));
  closedir(d);
  int result = rmdir(s->folder);
  free(s);
  return result;
}

#endif
