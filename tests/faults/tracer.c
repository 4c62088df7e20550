#define _GNU_SOURCE
#include "tracer.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

// --- What a machine's registers are ---------------------------------------------------------------------------------

#if defined __x86_64__
static void poke(pid_t task, size_t offset, long value) {
  ptrace(PTRACE_POKEUSER, task, (void *)offset, (void *)value);
}
static void set_call(pid_t task, long number) {
  poke(task, offsetof(struct user_regs_struct, orig_rax), number);
}
static void set_third(pid_t task, long value) {
  poke(task, offsetof(struct user_regs_struct, rdx), value);
}
static void set_result(pid_t task, long value) {
  poke(task, offsetof(struct user_regs_struct, rax), value);
}
enum { KNOWN_MACHINE = 1 };
#elif defined __aarch64__
static void set_register(pid_t task, int index, long value) {
  struct user_regs_struct registers;
  struct iovec room = {&registers, sizeof registers};
  ptrace(PTRACE_GETREGSET, task, (void *)NT_PRSTATUS, &room);
  registers.regs[index] = (unsigned long)value;
  ptrace(PTRACE_SETREGSET, task, (void *)NT_PRSTATUS, &room);
}
static void set_call(pid_t task, long number) {
  int call = (int)number;
  struct iovec room = {&call, sizeof call};
  ptrace(PTRACE_SETREGSET, task, (void *)0x404, &room);  // NT_ARM_SYSTEM_CALL
}
static void set_third(pid_t task, long value) {
  set_register(task, 2, value);
}
static void set_result(pid_t task, long value) {
  set_register(task, 0, value);
}
enum { KNOWN_MACHINE = 1 };
#else
static void set_call(pid_t task, long number) {
  (void)task, (void)number;
}
static void set_third(pid_t task, long value) {
  (void)task, (void)value;
}
static void set_result(pid_t task, long value) {
  (void)task, (void)value;
}
enum { KNOWN_MACHINE = 0 };
#endif

// --- Starting -------------------------------------------------------------------------------------------------------

static double seconds_of(clockid_t clock) {
  struct timespec now = {0};
  clock_gettime(clock, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void pause_for(double seconds) {
  struct timespec pause = {(time_t)seconds, (long)(1e9 * (seconds - (double)(time_t)seconds))};
  nanosleep(&pause, NULL);
}

static void redirect(const char *path, int flags, int to) {
  int fd = open(path, flags, 0600);
  if (fd < 0 || dup2(fd, to) < 0) _exit(126);
  if (fd != to) close(fd);
}

static bool catch_calls(void);

static _Noreturn void be_program(const char *folder, const char *arguments, const char *input, bool traced) {
  enum { MOST = 64 };
  char text[2048], *word[MOST + 2] = {"oleodyn"}, *rest = NULL;
  int count = 1;
  snprintf(text, sizeof text, "%s", arguments);
  for (char *at = strtok_r(text, " ", &rest); at && count < MOST; at = strtok_r(NULL, " ", &rest)) word[count++] = at;
  if (chdir(folder) != 0) _exit(126);
  redirect(input ? input : "/dev/null", O_RDONLY, STDIN_FILENO);
  redirect(".out", O_WRONLY | O_CREAT | O_TRUNC, STDOUT_FILENO);
  redirect(".err", O_WRONLY | O_CREAT | O_TRUNC, STDERR_FILENO);
  // A program that does not end is a fault; the test does not wait for it.
  setrlimit(RLIMIT_CPU, &(struct rlimit){60, 60});
  setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
  setenv("LD_PRELOAD", OD_PRELOAD, 1);
  // Checks of the sanitizers that do not work under a tracer.
  setenv("ASAN_OPTIONS", "verify_asan_link_order=0:detect_leaks=0", 1);
  static const int endings[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE};
  for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) signal(endings[i], SIG_DFL);
  if (traced && ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0) _exit(126);
  if (traced) raise(SIGSTOP);
  if (traced && !catch_calls()) _exit(126);
  execv(OD_BINARY, word);
  _exit(126);
}

static pid_t start(const char *folder, const char *arguments, const char *input, bool traced) {
  fflush(NULL);
  pid_t program = fork();
  if (program == 0) be_program(folder, arguments, input, traced);
  if (program < 0) {
    perror("fork");
    exit(1);
  }
  return program;
}

static void keep_end(ended *e, int status) {
  e->code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  e->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

// --- At a moment ----------------------------------------------------------------------------------------------------

static ended run_timed(pid_t program, const char *folder, const disturbance *d) {
  ended e = {0};
  char mark[300];
  snprintf(mark, sizeof mark, "%s/" OD_SIGNALLED, folder);
  clockid_t clock;
  double used = 0;
  if (d && d->signal) {
    pause_for(d->after);
    if (clock_getcpuclockid(program, &clock) == 0) used = seconds_of(clock);
    kill(program, d->signal);
    int made = open(mark, O_WRONLY | O_CREAT, 0600);
    if (made >= 0) close(made);
    // Two simultaneous signals count as one.
    for (int i = 1; i < d->times; i++) pause_for(0.02), kill(program, d->signal);
  }
  int status = 0;
  struct rusage usage = {0};
  wait4(program, &status, 0, &usage);
  unlink(mark);
  keep_end(&e, status);
  e.late = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) - used;
  return e;
}

// --- At a call ------------------------------------------------------------------------------------------------------

typedef struct tracing {
  pid_t program;
  const disturbance *d;
  bool begun;
  long calls;
} tracing;

static const struct {
  int number;
  unsigned kind;
} caught[] = {
    {SYS_write, CALL_WRITE},     {SYS_writev, CALL_WRITE}, {SYS_pwrite64, CALL_WRITE},   {SYS_read, CALL_READ},
    {SYS_readv, CALL_READ},      {SYS_pread64, CALL_READ}, {SYS_fsync, CALL_SYNC},       {SYS_fdatasync, CALL_SYNC},
    {SYS_close, CALL_CLOSE},     {SYS_openat, CALL_OPEN},  {SYS_renameat2, CALL_RENAME},
#ifdef SYS_open
    {SYS_open, CALL_OPEN},
#endif
#ifdef SYS_rename
    {SYS_rename, CALL_RENAME},
#endif
#ifdef SYS_renameat
    {SYS_renameat, CALL_RENAME},
#endif
};
enum { CAUGHT = sizeof caught / sizeof *caught };

// In the program, before it begins: the kernel stops it at these calls and at no others.
static bool catch_calls(void) {
  struct sock_filter filter[CAUGHT + 3] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))};
  for (int i = 0; i < CAUGHT; i++)
    filter[1 + i] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)caught[i].number,
                                                 (unsigned char)(CAUGHT - i), 0);
  filter[CAUGHT + 1] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  filter[CAUGHT + 2] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE);
  struct sock_fprog program = {CAUGHT + 3, filter};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

static unsigned kind_of(long number, const uint64_t *argument) {
  unsigned kind = 0;
  for (int i = 0; i < CAUGHT; i++)
    if (caught[i].number == number) kind = caught[i].kind;
  int flags = (int)argument[number == SYS_openat ? 2 : 1];
  if (kind == CALL_WRITE && argument[0] == STDERR_FILENO) return 0;
  if (kind == CALL_CLOSE && argument[0] <= STDERR_FILENO) return 0;
  if (kind == CALL_OPEN && !(flags & (O_WRONLY | O_RDWR))) return 0;
  return kind;
}

// A suppressed call returns the value set here.
static void enter(tracing *t, pid_t task) {
  const disturbance *d = t->d;
  struct __ptrace_syscall_info info = {0};
  if (ptrace(PTRACE_GET_SYSCALL_INFO, task, (void *)sizeof info, &info) <= 0) return;
  long number = (long)info.seccomp.nr;
  const uint64_t *argument = info.seccomp.args;
  if (number == SYS_close && (int)argument[0] == OD_MARK) t->begun = true;
  if (!t->begun || !(kind_of(number, argument) & d->calls)) return;
  t->calls++;
  if (d->at == 0 || (d->on ? t->calls < d->at : t->calls != d->at)) return;
  if (d->signal) kill(t->program, d->signal);
  if (d->half && argument[2] > 1) set_third(task, (long)argument[2] / 2);
  if (!d->error) return;
  set_call(task, -1);
  set_result(task, -d->error);
}

// The signal that a stopped task gets when it continues.
static int look(tracing *t, pid_t task, int status) {
  int signal = WSTOPSIG(status), event = status >> 16;
  if (event == PTRACE_EVENT_SECCOMP) enter(t, task);
  return event || signal == SIGTRAP || signal == SIGSTOP ? 0 : signal;  // a new task begins with SIGSTOP
}

static ended run_traced(pid_t program, const disturbance *d) {
  tracing t = {.program = program, .d = d};
  ended e = {.code = 126};
  int status = 0;
  if (waitpid(program, &status, 0) != program || !WIFSTOPPED(status)) return e;
  const long options = PTRACE_O_EXITKILL | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE |
                       PTRACE_O_TRACEEXEC | PTRACE_O_TRACESECCOMP;
  ptrace(PTRACE_SETOPTIONS, program, NULL, (void *)options);
  ptrace(PTRACE_CONT, program, NULL, NULL);
  for (;;) {
    pid_t task = waitpid(-1, &status, __WALL);
    if (task < 0 && errno == EINTR) continue;
    if (task < 0) break;
    if (WIFSTOPPED(status))
      ptrace(PTRACE_CONT, task, NULL, (void *)(long)look(&t, task, status));
    else if (task == program)
      keep_end(&e, status);
  }
  e.calls = t.calls;
  return e;
}

ended program_run(const char *folder, const char *arguments, const char *input, const disturbance *d) {
  bool traced = d && d->calls;
  pid_t program = start(folder, arguments, input, traced);
  return traced ? run_traced(program, d) : run_timed(program, folder, d);
}

bool tracer_works(const char *folder) {
  if (!KNOWN_MACHINE) return false;
  const disturbance count = {.calls = CALL_WRITE};
  ended e = program_run(folder, "version", NULL, &count);
  return e.code == 0 && e.calls > 0;
}
