#include "io/inputs_read.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/allocate.h"

static _Thread_local od_inputs *collecting;

od_inputs *od_inputs_collect(od_inputs *inputs) {
  od_inputs *before = collecting;
  collecting = inputs;
  return before;
}

void od_inputs_free(od_inputs *inputs) {
  for (int i = 0; i < inputs->count; i++) od_free(inputs->input[i].name);
  od_free(inputs->input);
  *inputs = (od_inputs){0};
}

static const od_read_file *find(const od_inputs *inputs, const struct stat *facts) {
  for (int i = 0; i < inputs->count; i++)
    if (inputs->input[i].device == facts->st_dev && inputs->input[i].number == facts->st_ino) return &inputs->input[i];
  return NULL;
}

static bool append(od_inputs *inputs, const struct stat *facts, const char *name) {
  if (inputs->count == inputs->capacity) {
    int larger = inputs->capacity ? 2 * inputs->capacity : 16;
    od_read_file *moved = od_realloc(inputs->input, (size_t)larger * sizeof *moved);
    if (!moved) return false;
    inputs->input = moved;
    inputs->capacity = larger;
  }
  char *copy = od_strdup(name);
  if (copy) inputs->input[inputs->count++] = (od_read_file){facts->st_dev, facts->st_ino, copy};
  return copy != NULL;
}

static bool note(const struct stat *facts, const char *name) {
  return !S_ISREG(facts->st_mode) || find(collecting, facts) || append(collecting, facts, name);
}

bool od_inputs_note(const char *path) {
  struct stat facts;
  return !collecting || stat(path, &facts) != 0 || note(&facts, path);
}

bool od_inputs_note_open(int fd, const char *name) {
  struct stat facts;
  return !collecting || fstat(fd, &facts) != 0 || note(&facts, name);
}

const char *od_inputs_find(const od_inputs *inputs, const char *path) {
  struct stat facts;
  const od_read_file *known = stat(path, &facts) == 0 ? find(inputs, &facts) : NULL;
  return known ? known->name : NULL;
}

// Continues a hash (FNV-1a) with some bytes and returns the new hash. Callers also hash the lengths of files and texts,
// so that bytes moved from one file to the next change the hash.
static uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t length) {
  const unsigned char *b = bytes;
  for (size_t i = 0; i < length; i++) hash = (hash ^ b[i]) * UINT64_C(1099511628211);
  return hash;
}

static bool hash_file(const char *path, uint64_t *hash) {
  FILE *f = fopen(path, "rb");
  if (!f) return false;
  unsigned char block[1 << 14];
  uint64_t length = 0;
  for (size_t got; (got = fread(block, 1, sizeof block, f)) > 0; length += got) *hash = hash_bytes(*hash, block, got);
  bool ok = !ferror(f);
  fclose(f);
  *hash = hash_bytes(*hash, &length, sizeof length);
  return ok;
}

bool od_inputs_fingerprint(const od_inputs *inputs, uint64_t *fingerprint) {
  *fingerprint = UINT64_C(14695981039346656037);
  for (int i = 0; i < inputs->count; i++)
    if (!hash_file(inputs->input[i].name, fingerprint)) return false;
  return true;
}

uint64_t od_fingerprint_with(uint64_t fingerprint, const char *text) {
  uint64_t length = strlen(text);
  return hash_bytes(hash_bytes(fingerprint, text, length), &length, sizeof length);
}
