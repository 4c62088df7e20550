#include "io/unfinished.h"

#include <stddef.h>
#include <sys/types.h>
#include <unistd.h>

enum { MOST = 64 };  // number of files written at the same time

static struct unfinished {
  const char *path;
  pid_t writer;
} unfinished[MOST];

void od_unfinished_add(const char *path) {
  for (int i = 0; i < MOST; i++) {
    if (unfinished[i].path) continue;
    unfinished[i] = (struct unfinished){path, getpid()};
    return;
  }
}

void od_unfinished_forget(const char *path) {
  for (int i = 0; i < MOST; i++)
    if (path && unfinished[i].path == path) unfinished[i].path = NULL;
}

void od_unfinished_remove_all(void) {
  for (int i = 0; i < MOST; i++)
    if (unfinished[i].path && unfinished[i].writer == getpid()) unlink(unfinished[i].path);
}
