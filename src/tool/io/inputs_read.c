#include "io/inputs_read.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/allocate.h"

typedef struct input {
  dev_t device;
  ino_t number;
  char *name;
} input;

static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static bool begun;
static input *inputs;
static int count, capacity;

void od_inputs_begin(void) {
  begun = true;
}

static const input *find(const struct stat *facts) {
  for (int i = 0; i < count; i++)
    if (inputs[i].device == facts->st_dev && inputs[i].number == facts->st_ino) return &inputs[i];
  return NULL;
}

static bool append(const struct stat *facts, const char *name) {
  if (count == capacity) {
    int larger = capacity ? 2 * capacity : 16;
    input *moved = od_realloc(inputs, (size_t)larger * sizeof *moved);
    if (!moved) return false;
    inputs = moved;
    capacity = larger;
  }
  char *copy = od_strdup(name);
  if (copy) inputs[count++] = (input){facts->st_dev, facts->st_ino, copy};
  return copy != NULL;
}

static bool note(const struct stat *facts, const char *name) {
  if (!S_ISREG(facts->st_mode)) return true;
  pthread_mutex_lock(&guard);
  bool ok = find(facts) || append(facts, name);
  pthread_mutex_unlock(&guard);
  return ok;
}

bool od_inputs_note(const char *path) {
  struct stat facts;
  return !begun || stat(path, &facts) != 0 || note(&facts, path);
}

bool od_inputs_note_open(int fd, const char *name) {
  struct stat facts;
  return !begun || fstat(fd, &facts) != 0 || note(&facts, name);
}

const char *od_inputs_find(const char *path) {
  struct stat facts;
  if (stat(path, &facts) != 0) return NULL;
  pthread_mutex_lock(&guard);
  const input *known = find(&facts);
  pthread_mutex_unlock(&guard);
  return known ? known->name : NULL;
}

int od_inputs_count(void) {
  pthread_mutex_lock(&guard);
  int known = count;
  pthread_mutex_unlock(&guard);
  return known;
}

const char *od_inputs_name(int i) {
  pthread_mutex_lock(&guard);
  const char *name = i >= 0 && i < count ? inputs[i].name : NULL;
  pthread_mutex_unlock(&guard);
  return name;
}

// Computes FNV-1a over all bytes, and over the lengths of files and texts, so that bytes moved from one file to the next change
// the hash.
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

bool od_inputs_fingerprint(uint64_t *fingerprint) {
  *fingerprint = UINT64_C(14695981039346656037);
  for (int i = 0; i < od_inputs_count(); i++)
    if (!hash_file(od_inputs_name(i), fingerprint)) return false;
  return true;
}

uint64_t od_fingerprint_with(uint64_t fingerprint, const char *text) {
  uint64_t length = strlen(text);
  return hash_bytes(hash_bytes(fingerprint, text, length), &length, sizeof length);
}
