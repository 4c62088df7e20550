// Runs a job for a user at the terminal.
#ifndef OD_PROGRAM_SHOW_JOB_H
#define OD_PROGRAM_SHOW_JOB_H

#include "oleodyn/job.h"

// A step of the program returns OD_CONTINUE, or the exit code with which the program ends.
enum { OD_CONTINUE = -1 };

// Passes the arguments of a command to the job: files, "--name value" and "--name=value"; "--" ends the options. --help prints the
// help. Returns OD_CONTINUE, or the exit code.
int od_arguments_parse(od_job *job, const char *command, const char *summary, int argc, char **argv);

// Runs the job, and shows messages, progress and results. Returns the exit code.
int od_run_job(od_job *job);

// Print the help of a command, and its section of the manual page.
void od_print_help(const od_job *job, const char *command, const char *summary);
void od_print_manual(const od_job *job, const char *command, const char *summary);

// Run the commands that are not jobs: completion, help and version. They return the exit code.
int od_command_completion(int argc, char **argv);
int od_command_help(int argc, char **argv);
int od_command_version(int argc, char **argv);

// Commands: all kinds of jobs, then the other commands. Return the number of commands, and name and summary of command i.
int od_command_count(void);
const char *od_command_name(int i);
const char *od_command_summary(int i);
// Returns the index of a command. If there is no such command, prints an error with a suggestion and returns -1.
int od_command_find(const char *name);

#endif
