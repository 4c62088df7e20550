// The program oleodyn-twin: runs the twin of a file until its sources end or a signal arrives. 'oleodyn twin' starts this program.
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>

#include "memory/owned.h"
#include "oleodyn/job.h"
#include "oleodyn/version.h"
#include "operation/operation.h"

static volatile sig_atomic_t interrupted;

static void note_signal(int number) {
  (void)number;
  interrupted = 1;
}

static bool goes_on(void *user) {
  (void)user;
  return !interrupted;
}

// The first signal ends the twin after all data are written; the second signal ends the program at once.
static void listen_to_signals(void) {
  static const int endings[] = {SIGINT, SIGTERM, SIGHUP};
  for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
    struct sigaction action = {.sa_handler = note_signal, .sa_flags = (int)SA_RESETHAND};
    sigaction(endings[i], &action, NULL);
  }
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);  // a file that becomes too large is an error of the history
}

static int print_help(void) {
  puts(
      "Usage: oleodyn-twin FILE [--fresh] [--quiet]\n\nRuns the twin of a file (docs/twin.md). 'oleodyn help twin' explains the options.");
  return OD_JOB_DONE;
}

int main(int argc, char **argv) {
  od_twin_options options = {.goes_on = goes_on};
  const char *path = NULL;
  for (int i = 1; i < argc; i++) {
    if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) return print_help();
    if (!strcmp(argv[i], "--version")) return puts("oleodyn-twin " OD_VERSION) < 0;
    if (!strcmp(argv[i], "--child")) {
      prctl(PR_SET_PDEATHSIG, SIGTERM);  // this program ends if 'oleodyn twin' crashes
    } else if (!strcmp(argv[i], "--fresh")) {
      options.fresh = true;
    } else if (!strcmp(argv[i], "--quiet")) {
      options.quiet = true;
    } else if (argv[i][0] == '-' || path) {
      fprintf(stderr, "oleodyn-twin: error: unexpected argument '%s'; expected one file, --fresh or --quiet\n",
              argv[i]);
      return OD_JOB_BAD_INPUT;
    } else {
      path = argv[i];
    }
  }
  if (!path) {
    fprintf(stderr, "oleodyn-twin: error: a twin file is missing\n");
    return OD_JOB_BAD_INPUT;
  }
  OD_OWNED(od_twin_free) od_twin *twin = NULL;
  OD_OWNED(od_messages_free) od_messages *messages = od_messages_new();
  od_error err = {0};
  if (!messages) return OD_JOB_FAILED;
  od_status status = od_twin_load(path, (od_content){0}, &twin, messages);
  od_messages_print(messages, stderr, false);
  if (status != OD_OK) return status == OD_NO_MEMORY ? OD_JOB_FAILED : OD_JOB_BAD_INPUT;
  listen_to_signals();
  status = od_twin_operate(twin, &options, &err);
  if (status == OD_OK) return interrupted ? OD_JOB_INTERRUPTED : OD_JOB_DONE;
  fprintf(stderr, "oleodyn-twin: error: %s\n", err.text);
  return status == OD_BAD_INPUT ? OD_JOB_BAD_INPUT : OD_JOB_FAILED;
}
