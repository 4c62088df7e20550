#define _GNU_SOURCE  // posix_spawn_file_actions_addchdir_np(), environ
#include "export/compile_library.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "memory/scoped.h"

extern char **environ;

enum { MOST_WORDS = 32, MOST_PROCESSES = 64, WAIT_NANOSECONDS = 5000000 };

// The numbers of a run do not depend on the level of optimization: there are no fused operations and no reordering.
static const char *const linux_flags[] = {"-std=c11",
                                          "-DOD_API=",
                                          "-O2",
                                          "-fPIC",
                                          "-fvisibility=hidden",
                                          "-ffunction-sections",
                                          "-fdata-sections",
                                          "-fno-math-errno",
                                          "-ffp-contract=off",
                                          NULL};
static const char *const linux_libraries[] = {"-shared", "-Wl,--gc-sections", "-Wl,-z,defs", "-lm", NULL};
static const char *const windows_flags[] = {
    "-std=c11",        "-DOD_API=",         "-O2", "-ffunction-sections", "-fdata-sections",
    "-fno-math-errno", "-ffp-contract=off", NULL};
static const char *const windows_libraries[] = {"-shared",
                                                "-static-libgcc",
                                                "-Wl,--no-insert-timestamp",
                                                "-Wl,--disable-auto-image-base",
                                                "-Wl,--gc-sections",
                                                "-s",
                                                NULL};
const od_compiler od_compiler_linux = {"CC", "cc", "gcc", linux_flags, linux_libraries};
const od_compiler od_compiler_windows = {"OLEODYN_WINDOWS_CC", "x86_64-w64-mingw32-gcc", "gcc-mingw-w64-x86-64",
                                         windows_flags, windows_libraries};

// The words of a command, which end with NULL.
typedef struct command {
  char *word[MOST_WORDS + 1];
  int count;
} command;

static void add_words(command *k, const char *const *word) {
  for (; *word && k->count < MOST_WORDS; word++) k->word[k->count++] = (char *)*word;
}

// Begins a command with the words of the compiler. Returns false if there is no word or an allocation fails.
static bool begin(const od_compiler *c, od_arena *arena, command *k) {
  const char *given = getenv(c->variable);
  char *text = od_arena_text(arena, given && *given ? given : c->command), *rest = NULL;
  if (!text) return false;
  for (char *word = strtok_r(text, " ", &rest); word && k->count < MOST_WORDS; word = strtok_r(NULL, " ", &rest))
    k->word[k->count++] = word;
  return k->count > 0;
}

// Starts a command in a folder. Its messages go to the file `log` there. Returns 0, or the error number.
static int start(const command *k, const char *folder, const char *log, pid_t *process) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addchdir_np(&actions, folder);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log, O_WRONLY | O_CREAT | O_APPEND, 0666);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  int failed = posix_spawnp(process, k->word[0], &actions, NULL, k->word, environ);
  posix_spawn_file_actions_destroy(&actions);
  return failed;
}

bool od_compiler_is_there(const od_compiler *c) {
  OD_SCRATCH(scratch);
  command k = {0};
  pid_t process;
  int result = -1;
  if (!begin(c, &scratch, &k)) return false;
  add_words(&k, (const char *const[]){"--version", NULL});
  if (start(&k, "/", "/dev/null", &process) != 0) return false;
  while (waitpid(process, &result, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(result) && WEXITSTATUS(result) == 0;
}

// Several compilations at the same time.
typedef struct team {
  pid_t process[MOST_PROCESSES];
  int running, most, failed;  // failed: whether a process failed
  bool stopped;
  bool (*progress)(void *user, double done);
  void *user;
} team;

// Waits until at most `most` processes run. done: the progress, 0 to 1. If the caller stops the work, ends all processes.
static void await(team *t, int most, double done) {
  while (t->running > most) {
    int result, before = t->running;
    for (int i = t->running - 1; i >= 0; i--) {
      pid_t ended = waitpid(t->process[i], &result, WNOHANG);
      if (ended == 0 || (ended < 0 && errno == EINTR)) continue;
      t->failed |= ended < 0 || !WIFEXITED(result) || WEXITSTATUS(result) != 0;
      t->process[i] = t->process[--t->running];
    }
    if (!t->stopped && t->progress && !t->progress(t->user, done)) {
      t->stopped = true;
      for (int i = 0; i < t->running; i++) kill(t->process[i], SIGTERM);
    }
    if (t->running == before) nanosleep(&(struct timespec){.tv_nsec = WAIT_NANOSECONDS}, NULL);
  }
}

// Starts a command as soon as a place in the team is free.
static void run(team *t, const command *k, const char *folder, double done) {
  await(t, t->most - 1, done);
  if (t->failed || t->stopped) return;
  pid_t process;
  if (start(k, folder, "log.txt", &process) != 0)
    t->failed = true;
  else
    t->process[t->running++] = process;
}

// Fails with OD_IO and the first line of the compiler's messages that contains an error, else the first line.
static od_status explain(const od_compiler *c, const char *log, od_error *err) {
  char line[300] = "", first[300] = "";
  FILE *file = fopen(log, "r");
  while (file && fgets(line, sizeof line, file)) {
    line[strcspn(line, "\n")] = '\0';
    if (!*first) memcpy(first, line, sizeof first);
    if (strstr(line, "error")) break;
  }
  if (file) fclose(file);
  const char *given = getenv(c->variable);
  return od_fail(err, OD_IO, "the compiler '%s' failed: %s", given && *given ? given : c->command,
                 strstr(line, "error") ? line
                 : *first              ? first
                                       : "no message");
}

// Returns the name of the object file of a source: base/arena.c gives base_arena.o.
static char *object_of(od_arena *arena, const char *source) {
  char *name = od_arena_format(arena, "%.*s.o", (int)strlen(source) - 2, source);
  for (char *c = name; c && *c; c++)
    if (*c == '/') *c = '_';
  return name;
}

od_status od_compile_library(const od_compiler *c, const char *folder, const char *const *source, const char *library,
                             bool (*progress)(void *user, double done), void *user, od_error *err) {
  OD_SCRATCH(scratch);
  long cores = sysconf(_SC_NPROCESSORS_ONLN);
  team t = {.most = cores < 1                ? 1
                    : cores > MOST_PROCESSES ? MOST_PROCESSES
                                             : (int)cores,
            .progress = progress,
            .user = user};
  int count = 0;
  while (source[count]) count++;
  const char *log = od_arena_format(&scratch, "%s/log.txt", folder),
             *list = od_arena_format(&scratch, "%s/objects.txt", folder);
  FILE *objects = list ? fopen(list, "w") : NULL;
  bool ok = log && list;
  int unwritten = objects ? 0 : errno;  // error number of the list of objects
  for (int i = 0; i < count && ok && objects; i++) {
    command k = {0};
    char *object = object_of(&scratch, source[i]);
    ok = object && begin(c, &scratch, &k);
    if (!ok) break;
    add_words(&k, c->flags);
    add_words(&k, (const char *const[]){"-I.", "-c", source[i], "-o", object, NULL});
    if (fprintf(objects, "%s\n", object) < 0) unwritten = errno;
    run(&t, &k, folder, (double)i / count);
  }
  await(&t, 0, 1);
  if (objects && fclose(objects) != 0) unwritten = errno;
  command link = {0};
  const char *out = od_arena_format(&scratch, "%s", library);
  ok = ok && out && begin(c, &scratch, &link);
  if (ok && !unwritten && !t.failed && !t.stopped) {
    add_words(&link, (const char *const[]){"@objects.txt", "-o", out, NULL});
    add_words(&link, c->libraries);
    run(&t, &link, folder, 1);
    await(&t, 0, 1);
  }
  od_status status = OD_OK;
  if (!ok)
    status = od_fail(err, OD_NO_MEMORY, "out of memory");
  else if (t.stopped)
    status = od_fail(err, OD_INTERRUPTED, "interrupted");
  else if (unwritten)
    status = od_fail(err, OD_IO, "cannot write %s: %s", list, strerror(unwritten));
  else if (t.failed)
    status = explain(c, log, err);
  for (int i = 0; i < count && ok; i++) {
    const char *object = object_of(&scratch, source[i]);
    const char *path = object ? od_arena_format(&scratch, "%s/%s", folder, object) : NULL;
    if (path) remove(path);
  }
  if (log) remove(log);
  if (list) remove(list);
  return status;
}
