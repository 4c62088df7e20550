#define _GNU_SOURCE  // dladdr(), SOCK_CLOEXEC
#include "io/helper.h"

#include <assert.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/helper_limits.h"

extern char **environ;

// --- Search -------------------------------------------------------------------------------------------------------

// Folders of helpers, relative to the folder of the file that contains this code. First: in the build folder. Second: for an
// installed library. Third: for an installed program, or a program in a subfolder of the build folder.
static const char *const relative[] = {"libexec/oleodyn", OD_HELPERS_FROM_LIBRARY, OD_HELPERS_FROM_PROGRAM};

// The file to find: its name, and the mode for access() (X_OK for a program, R_OK for a file to read).
typedef struct wanted {
  const char *name;
  int mode;
} wanted;

// Writes FOLDER/BELOW/NAME to `path`. Returns whether this file exists and can be accessed with the mode of `w`.
static bool is_there(char path[PATH_MAX], const char *folder, int length, const char *below, wanted w) {
  return snprintf(path, PATH_MAX, "%.*s/%s/%s", length, folder, below, w.name) < PATH_MAX && access(path, w.mode) == 0;
}

static bool is_beside(char path[PATH_MAX], const char *file, wanted w) {
  const char *slash = strrchr(file, '/');
  for (size_t i = 0; slash && i < sizeof relative / sizeof *relative; i++)
    if (is_there(path, file, (int)(slash - file), relative[i], w)) return true;
  return false;
}

static bool find(char path[PATH_MAX], wanted w) {
  const char *folder = getenv("OLEODYN_HELPERS");
  if (folder) return is_there(path, folder, (int)strlen(folder), ".", w);
  static const char here = 0;  // an address within the library, or within the program if it is linked statically
  Dl_info library = {0};
  if (dladdr(&here, &library) && library.dli_fname && is_beside(path, library.dli_fname, w)) return true;
  char program[PATH_MAX];
  ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
  program[length > 0 ? length : 0] = '\0';
  if (is_beside(path, program, w)) return true;
  return is_there(path, OD_HELPERS_INSTALLED, (int)strlen(OD_HELPERS_INSTALLED), ".", w);
}

bool od_helper_find_file(char path[OD_HELPER_PATH_SIZE], const char *name) {
  static_assert((int)OD_HELPER_PATH_SIZE >= (int)PATH_MAX, "a path fits");
  return find(path, (wanted){name, R_OK});
}

static bool find_program(char path[PATH_MAX], const char *name, od_error *err) {
  if (find(path, (wanted){name, X_OK})) return true;
  const char *folder = getenv("OLEODYN_HELPERS");
  if (folder) {
    od_fail(err, OD_IO,
            "the program %s is missing in %.300s, the folder of OLEODYN_HELPERS; correct or unset this variable", name,
            folder);
    return false;
  }
  od_fail(err, OD_IO,
          "the program %s is missing; it is part of oleodyn and is usually in %.200s; install oleodyn again, or set "
          "OLEODYN_HELPERS to the folder of the program",
          name, OD_HELPERS_INSTALLED);
  return false;
}

// --- Start and end ------------------------------------------------------------------------------------------------

// Starts the helper with the socket as its standard input. Returns 0, or an error number as in errno. Its standard
// output and standard error, such as messages of libraries about damaged files, are discarded; the caller writes the
// messages. All signals have their default actions in the helper.
static int spawn(od_helper *h, char *path, int socket) {
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  int reason = posix_spawn_file_actions_init(&files);
  if (reason != 0) return reason;
  reason = posix_spawnattr_init(&attributes);
  if (reason != 0) {
    posix_spawn_file_actions_destroy(&files);
    return reason;
  }
  sigset_t none, usual;
  sigemptyset(&none);
  sigfillset(&usual);
  if (!reason) reason = posix_spawn_file_actions_adddup2(&files, socket, STDIN_FILENO);
  if (!reason) reason = posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  if (!reason) reason = posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO);
  if (!reason && h->file) reason = posix_spawn_file_actions_adddup2(&files, h->file, 3);
  if (!reason) reason = posix_spawnattr_setsigmask(&attributes, &none);
  if (!reason) reason = posix_spawnattr_setsigdefault(&attributes, &usual);
  if (!reason) reason = posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  char bytes[32], *arguments[] = {path, bytes, NULL};
  snprintf(bytes, sizeof bytes, "%lld", h->bytes);
  if (!reason) reason = posix_spawn(&h->process, path, &files, &attributes, arguments, environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  return reason;
}

od_status od_helper_start(od_helper *h, od_helper_task task, const char *path, od_error *err) {
  char program[PATH_MAX];
  int ends[2];
  if (!find_program(program, h->name, err)) return OD_IO;
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return od_fail(err, OD_IO, "cannot create a socket: %s", strerror(errno));
  int reason = spawn(h, program, ends[1]);
  close(ends[1]);
  if (reason != 0) {
    close(ends[0]);
    return od_fail(err, OD_IO, "cannot start %.300s: %s", program, strerror(reason));
  }
  od_channel_init(&h->channel, ends[0]);
  od_channel_put_number(&h->channel, OD_HELPER_PROTOCOL);
  od_channel_put_number(&h->channel, task);
  od_channel_put_text(&h->channel, path);
  return OD_OK;
}

od_helper_part od_helper_ask(od_helper *h) {
  od_channel *c = &h->channel;
  od_channel_flush(c);
  shutdown(c->socket, SHUT_WR);
  c->broken = false;  // a helper that ended early may have sent an answer
  uint64_t protocol = od_channel_take_number(c, UINT64_MAX);
  h->is_other = !c->broken && protocol != OD_HELPER_PROTOCOL;
  return h->is_other ? 0 : (od_helper_part)od_channel_take_number(c, OD_HELPER_BLOCK);
}

static od_status what_happened(const od_helper *h, int end, od_error *err) {
  if (h->is_other)
    return od_fail(err, OD_IO, "the program %s belongs to another version of oleodyn; install oleodyn again", h->name);
  int signal = WIFSIGNALED(end) ? WTERMSIG(end) : 0;
  if (signal == SIGXCPU)
    return od_fail(err, OD_BAD_INPUT, "took longer than %lld s of processor time, the limit",
                   od_helper_seconds(h->bytes));
  if (signal == SIGALRM) return od_fail(err, OD_BAD_INPUT, "took longer than the limit of elapsed time");
  if (signal == SIGINT || signal == SIGTERM || signal == SIGHUP) return od_fail(err, OD_INTERRUPTED, "was interrupted");
  // A helper that exits without an answer ran out of memory or reached its memory limit.
  if (WIFEXITED(end)) return od_fail(err, OD_BAD_INPUT, "ran out of memory");
  return od_fail(err, OD_BAD_INPUT, signal == SIGKILL ? "was killed" : "crashed");
}

od_status od_helper_end(od_helper *h, od_helper_part part, od_error *answered, od_error *err) {
  od_channel *c = &h->channel;
  bool complete = false;
  if (part == OD_HELPER_STATUS && !c->broken) {
    answered->status = (od_status)od_channel_take_number(c, OD_STATUS_COUNT - 1);
    complete = od_channel_take_text(c, answered->text, sizeof answered->text);
  }
  close(c->socket);
  int end = 0;
  while (waitpid(h->process, &end, 0) < 0 && errno == EINTR) continue;
  return complete ? OD_OK : what_happened(h, end, err);
}
