#include "io/child_process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MEGABYTE = 1 << 20 };

// The limit of processor time in s, far above the time for an undamaged file: reading takes milliseconds per megabyte.
static rlim_t processor_seconds(long long bytes) {
  return (rlim_t)(1 + bytes / MEGABYTE);
}

// The current address space of the process in bytes, which tools such as sanitizers enlarge. RLIM_INFINITY: unknown.
static rlim_t address_space(void) {
  unsigned long long pages = 0;
  FILE *f = fopen("/proc/self/statm", "r");
  int found = f ? fscanf(f, "%llu", &pages) : 0;
  if (f) fclose(f);
  return found == 1 ? (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) : RLIM_INFINITY;
}

static void limit(int resource, rlim_t soft, rlim_t hard) {
  struct rlimit old;
  if (getrlimit(resource, &old) != 0) return;
  if (hard > old.rlim_max) hard = old.rlim_max;
  if (soft > hard) soft = hard;
  setrlimit(resource, &(struct rlimit){soft, hard});
}

static void restrict_child(long long bytes) {
  rlim_t seconds = processor_seconds(bytes), present = address_space();
  rlim_t most = present + ((rlim_t)2048 * MEGABYTE) + 32 * (rlim_t)bytes;
  limit(RLIMIT_CORE, 0, 0);
  limit(RLIMIT_CPU, seconds, seconds + 1);
  if (present != RLIM_INFINITY) limit(RLIMIT_AS, most, most);
  // Unblocks the signal of the alarm below. The alarm limits elapsed time, because a waiting child uses no processor time. The
  // limit is long enough for slow disks.
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_UNBLOCK, &all, NULL);
  // Removes the caller's signal handlers from the child.
  static const int signals[] = {SIGALRM, SIGXCPU, SIGPIPE, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGINT, SIGTERM};
  for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) signal(signals[i], SIG_DFL);
  alarm((unsigned)(10 + 10 * seconds));
}

static void be_child(const od_child_process *isolated, int to) {
  // Discards the output of libraries about damaged files; the caller writes the messages.
  int nowhere = open("/dev/null", O_RDWR);
  if (nowhere >= 0) {
    dup2(nowhere, STDOUT_FILENO);
    dup2(nowhere, STDERR_FILENO);
  }
  restrict_child(isolated->bytes);
  FILE *f = fdopen(to, "wb");
  if (!f) _exit(1);
  isolated->work(isolated->user, f);
  _exit(fflush(f) == 0 && !ferror(f) ? 0 : 1);
}

static od_status what_happened(const od_child_process *isolated, int end, od_error *err) {
  int signal = WIFSIGNALED(end) ? WTERMSIG(end) : 0;
  if (signal == SIGXCPU || signal == SIGALRM)
    return od_fail(err, OD_BAD_INPUT, "took longer than %lld s", (long long)processor_seconds(isolated->bytes));
  // A child that exits without an answer ran out of memory or reached its memory limit.
  if (WIFEXITED(end)) return od_fail(err, OD_BAD_INPUT, "ran out of memory");
  return od_fail(err, OD_BAD_INPUT, signal == SIGKILL ? "was killed" : "crashed");
}

od_status od_child_process_run(const od_child_process *isolated, od_error *err) {
  int ends[2];
  if (pipe(ends) != 0) return od_fail(err, OD_IO, "cannot create a pipe: %s", strerror(errno));
  fcntl(ends[0], F_SETFD, FD_CLOEXEC);
  fcntl(ends[1], F_SETFD, FD_CLOEXEC);
  pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    be_child(isolated, ends[1]);
  }
  int reason = errno;
  close(ends[1]);
  FILE *from = child > 0 ? fdopen(ends[0], "rb") : NULL;
  bool complete = from && isolated->take(isolated->user, from);
  if (from)
    fclose(from);
  else
    close(ends[0]);
  if (child < 0) return od_fail(err, OD_IO, "cannot start a child process: %s", strerror(reason));
  int end = 0;
  while (waitpid(child, &end, 0) < 0 && errno == EINTR) continue;
  return complete ? OD_OK : what_happened(isolated, end, err);
}
