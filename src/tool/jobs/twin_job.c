// The job twin: runs a twin file by the program oleodyn-twin, which contains the libraries of a server.
#define _DEFAULT_SOURCE

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "io/helper.h"
#include "jobs/job.h"

extern char **environ;

// Waits for the program. If the job is stopped, the program ends in order: it writes its last data.
static int wait_for(od_job *job, pid_t child) {
  bool is_stopped = false;
  int status = 0;
  for (pid_t ended = 0; ended != child;) {
    ended = waitpid(child, &status, WNOHANG);
    if (ended < 0 && errno != EINTR) return OD_JOB_FAILED;
    if (ended == child) break;
    if (!is_stopped && !od_job_progress(job, (double)NAN)) is_stopped = kill(child, SIGTERM) == 0;
    nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
  }
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  od_job_error(job, "oleodyn-twin was ended by signal %d; start the twin again", WTERMSIG(status));
  return OD_JOB_FAILED;
}

static int run(od_job *job, const char *path, bool fresh) {
  char program[OD_HELPER_PATH_SIZE];
  if (!od_helper_find_file(program, "oleodyn-twin")) {
    od_job_error(
        job,
        "the program oleodyn-twin is missing; it is built where the package libsqlite3-dev is installed ('make twin')");
    return OD_JOB_FAILED;
  }
  char *arguments[6] = {"oleodyn-twin", "--child", (char *)path};
  int count = 3;
  if (fresh) arguments[count++] = "--fresh";
  if (job->quiet) arguments[count++] = "--quiet";
  pid_t child;
  const int failure = posix_spawn(&child, program, NULL, NULL, arguments, environ);
  if (failure == 0) return wait_for(job, child);
  od_job_error(job, "cannot start %s: %s", program, strerror(failure));
  return OD_JOB_FAILED;
}

static const char details[] =
    "The twin file contains machines with their experiments, the sources of their samples, the history and the outputs.\n"
    "For each machine an observer runs on the samples as they arrive. The history is a database with samples,\n"
    "estimates, events and checkpoints. After an interruption, also by kill -9 or a power failure, the observers continue\n"
    "from their last checkpoints; sources that send again what follows give the same estimates, bit for bit.\n\n"
    "The twin ends with its sources, or in order after Ctrl-C or SIGTERM. 'oleodyn check FILE' only checks the file.\n\n"
    "Examples\n"
    "  logger | oleodyn twin yard.yaml\n"
    "  oleodyn twin yard.yaml --fresh\n";

int od_kind_twin(od_job *job) {
  bool fresh = false;
  const od_option options[] = {
      {"fresh", OD_OPTION_FLAG, NULL,
       "start the observers from the beginning, not from their checkpoints; the history remains", &fresh}};
  const od_usage usage = {"FILE", details, OD_OPTIONS(options), .shared = {.quiet = true}};
  od_words files = {0};
  OD_TRY(od_job_begin(job, &usage, 1, 1, &files));
  OD_TRY(od_job_prepare_files(job));
  od_job_begin_stage(job, OD_STAGE_COMPUTE);
  return run(job, files.text[0], fresh);
}
