#include "fuzz/fuzz.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[64];

static void remove_folder(void) {
  char path[512];
  DIR *d = opendir(folder);
  for (struct dirent *e; d && (e = readdir(d));) {
    snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
    unlink(path);
  }
  if (d) closedir(d);
  rmdir(folder);
}

static void make_folder(const char *example) {
  char from[512], to[512];
  strcpy(folder, "/tmp/oleodyn-fuzz-XXXXXX");
  if (!mkdtemp(folder)) abort();
  atexit(remove_folder);
  snprintf(from, sizeof from, OD_SOURCE_DIR "/%s", example);
  DIR *d = opendir(from);
  for (struct dirent *e; d && (e = readdir(d));) {
    if (e->d_name[0] == '.') continue;
    snprintf(from, sizeof from, OD_SOURCE_DIR "/%s/%s", example, e->d_name);
    snprintf(to, sizeof to, "%s/%s", folder, e->d_name);
    if (symlink(from, to) != 0) abort();
  }
  if (d) closedir(d);
}

const char *fuzz_file(const uint8_t *data, size_t size, const char *name, const char *example) {
  static char path[512];
  if (!folder[0]) make_folder(example);
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "wb");
  if (!file || (size > 0 && fwrite(data, 1, size, file) != size) || fclose(file) != 0) abort();
  return path;
}

char *fuzz_text(const uint8_t *data, size_t size) {
  char *text = malloc(size + 1);
  if (!text) abort();
  if (size > 0) memcpy(text, data, size);
  text[size] = '\0';
  return text;
}

void fuzz_judge(od_status status, const void *made, od_messages *messages) {
  static FILE *nowhere;
  if (!nowhere) nowhere = fopen("/dev/null", "w");
  od_messages_print(messages, nowhere, true);
  if ((status == OD_OK) != (made != NULL)) abort();
  if (status != OD_OK && od_messages_errors(messages) == 0) abort();
  od_messages_free(messages);
}
