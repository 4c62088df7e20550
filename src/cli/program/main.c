// The program oleodyn: finds and runs the command. Nearly all commands are jobs (oleodyn/job.h); the program passes the arguments
// to the job and shows messages, progress and results.
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "program/show_job.h"
#include "terminal/interrupts.h"
#include "terminal/terminal.h"

// --- Commands ---------------------------------------------------------------------------------------------------------

// Commands that are not jobs.
static const struct command {
  const char *name, *summary;
  int (*run)(int argc, char **argv);
} own_commands[] = {
    {"completion", "print a script that completes commands, options and files in a shell", od_command_completion},
    {"help", "list all commands, or explain one command", od_command_help},
    {"version", "show the version", od_command_version}};
enum { OWN_COMMANDS = sizeof own_commands / sizeof *own_commands, MOST_COMMANDS = 100 };

int od_command_count(void) {
  return od_job_kind_count() + OWN_COMMANDS;
}

const char *od_command_name(int i) {
  return i < od_job_kind_count() ? od_job_kind_name(i) : own_commands[i - od_job_kind_count()].name;
}

const char *od_command_summary(int i) {
  return i < od_job_kind_count() ? od_job_kind_summary(i) : own_commands[i - od_job_kind_count()].summary;
}

// Earlier names of commands, which are accepted but not listed.
static const char *const earlier_names[][2] = {{"optimise", "optimize"}};

int od_command_find(const char *name) {
  const char *names[MOST_COMMANDS];
  for (size_t i = 0; i < sizeof earlier_names / sizeof *earlier_names; i++)
    if (!strcmp(name, earlier_names[i][0])) name = earlier_names[i][1];
  int count = od_command_count();
  for (int i = 0; i < count && i < MOST_COMMANDS; i++) {
    names[i] = od_command_name(i);
    if (!strcmp(names[i], name)) return i;
  }
  const char *nearest = od_nearest_name(name, names, count);
  od_cli_error("unknown command '%s'%s%s%s", name, nearest ? "; did you mean '" : "; 'oleodyn help' lists the commands",
               nearest ? nearest : "", nearest ? "'?" : "");
  return -1;
}

// Runs a command with its arguments. Returns the exit code.
static int run_command(int i, int argc, char **argv) {
  if (i >= od_job_kind_count()) return own_commands[i - od_job_kind_count()].run(argc, argv);
  od_job *job = od_job_new(od_command_name(i));
  if (!job) {
    od_cli_error("out of memory");
    return OD_JOB_FAILED;
  }
  int code = od_arguments_parse(job, od_command_name(i), od_command_summary(i), argc, argv);
  if (code == OD_CONTINUE) code = od_run_job(job);
  od_job_free(job);
  return code;
}

// --- The program ------------------------------------------------------------------------------------------------------

// Opens /dev/null for each standard descriptor that is closed. Otherwise a result file could get the descriptor of
// standard output, and the program would print into the file.
static void open_standard_descriptors(void) {
  for (int fd = 0; fd <= 2; fd++)
    if (fcntl(fd, F_GETFD) < 0) open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY);
}

// Returns the final exit code: OD_JOB_INTERRUPTED if a job that ended normally was interrupted; OD_JOB_FAILED if `code` is OD_JOB_DONE or
// OD_JOB_UNSOUND and standard output cannot be written; else `code`.
static int end(int code) {
  bool is_done = code == OD_JOB_DONE || code == OD_JOB_UNSOUND || code == OD_JOB_UNMET;
  if (is_done && od_signals_interrupted()) {
    fprintf(stderr, "oleodyn: interrupted; the result may be incomplete\n");
    code = OD_JOB_INTERRUPTED;
  }
  errno = 0;
  bool written = !ferror(stdout) && fflush(stdout) == 0;
  if (written || (code != OD_JOB_DONE && code != OD_JOB_UNSOUND)) return code;
  od_cli_error("cannot write to standard output%s%s", errno ? ": " : "", errno ? strerror(errno) : "");
  return OD_JOB_FAILED;
}

int main(int argc, char **argv) {
  open_standard_descriptors();
  od_signals_begin();
  signal(SIGXFSZ, SIG_IGN);  // a write beyond the file size limit fails with an error instead of ending the program
  const char *name = argc < 2 ? "help" : argv[1];
  if (!strcmp(name, "--help") || !strcmp(name, "-h")) name = "help";
  if (!strcmp(name, "--version") || !strcmp(name, "-V")) name = "version";
  int command = od_command_find(name), skipped = argc < 2 ? argc : 2;
  return end(command >= 0 ? run_command(command, argc - skipped, argv + skipped) : OD_JOB_BAD_INPUT);
}
