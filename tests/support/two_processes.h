// Tests that save states in one process and go on from them in another: the test program runs itself with "--continue FILE".
//
//   parent: makes every subject, saves it, goes on and notes a hash of all later results
//   child:  makes every subject again, restores it from the file, goes on and prints the hashes
//
// The states are in one file, in the order of the subjects. Oracle: the parent, which goes on without a restored state.
#ifndef OD_TEST_TWO_PROCESSES_H
#define OD_TEST_TWO_PROCESSES_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/byte_hash.h"
#include "support/scratch.h"

typedef struct two_processes {
  FILE *states;
  bool is_child;
  uint64_t *hash;  // parent: results of all subjects
  int count;
} two_processes;

// The program's path, from /proc.
static inline const char *own_path(void) {
  static char path[512];
  ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
  path[length > 0 ? length : 0] = '\0';
  return path;
}

// Writes the state of a subject.
static inline void put_state(two_processes *p, const void *saved, size_t size) {
  fwrite(&size, sizeof size, 1, p->states);
  fwrite(saved, 1, size, p->states);
}
// Reads the state of the next subject; the caller frees it.
static inline void *get_state(two_processes *p, size_t *size) {
  if (fread(size, sizeof *size, 1, p->states) != 1) exit(3);
  void *saved = malloc(*size);
  if (fread(saved, 1, *size, p->states) != *size) exit(3);
  return saved;
}
// Ends a subject with the hash of its results.
static inline void put_hash(two_processes *p, uint64_t hash) {
  if (p->is_child) {
    printf("%016llx\n", (unsigned long long)hash);
    return;
  }
  p->hash = realloc(p->hash, (size_t)(p->count + 1) * sizeof *p->hash);
  p->hash[p->count++] = hash;
}

// Runs all subjects in this process, then in a child, and compares the hashes. Returns the number of subjects.
static inline int compare_processes(void (*all)(two_processes *p)) {
  char folder[] = "/tmp/oleodyn-states-XXXXXX", path[100], command[1200], line[64];
  assert_non_null(mkdtemp(folder));
  snprintf(path, sizeof path, "%s/states", folder);
  two_processes p = {.states = fopen(path, "wb")};
  all(&p);
  fclose(p.states);
  snprintf(command, sizeof command, "'%s' --continue '%s'", own_path(), path);
  FILE *child = popen(command, "r");
  int count = 0, different = 0;
  for (; fgets(line, sizeof line, child); count++) {
    bool same = count < p.count && strtoull(line, NULL, 16) == p.hash[count];
    if (!same && different++ < 10) print_error("subject %d: the results differ\n", count);
  }
  assert_int_equal(pclose(child), 0);
  unlink(path);
  rmdir(folder);
  free(p.hash);
  assert_int_equal(count, p.count);
  assert_int_equal(different, 0);
  return count;
}

// The child: goes on from the states in a file. Returns the exit code.
static inline int continue_here(void (*all)(two_processes *p), const char *path) {
  two_processes p = {.states = fopen(path, "rb"), .is_child = true};
  if (!p.states) return 3;
  all(&p);
  bool ended = fgetc(p.states) == EOF;
  fclose(p.states);
  return ended ? 0 : 3;
}

#endif
