// The commands of the program, one file each.
#ifndef OD_COMMANDS_COMMAND_H
#define OD_COMMANDS_COMMAND_H

#include "terminal/exit_codes.h"  // commands return exit codes

// A command receives its arguments without its own name.
typedef struct od_command {
  const char *name, *summary;
  int (*run)(int argc, char **argv);
} od_command;

int od_command_simulate(int argc, char **argv);
int od_command_optimize(int argc, char **argv);
int od_command_signals(int argc, char **argv);
int od_command_equilibrium(int argc, char **argv);
int od_command_linearize(int argc, char **argv);
int od_command_bode(int argc, char **argv);
int od_command_rga(int argc, char **argv);
int od_command_inverse(int argc, char **argv);
int od_command_observe(int argc, char **argv);
int od_command_fit(int argc, char **argv);
int od_command_frf(int argc, char **argv);
int od_command_tf(int argc, char **argv);
int od_command_study(int argc, char **argv);
int od_command_compare(int argc, char **argv);
int od_command_check(int argc, char **argv);
int od_command_compile(int argc, char **argv);
int od_command_info(int argc, char **argv);
int od_command_components(int argc, char **argv);
int od_command_schema(int argc, char **argv);
int od_command_friction(int argc, char **argv);
int od_command_friction_fit(int argc, char **argv);
int od_command_help(int argc, char **argv);
int od_command_version(int argc, char **argv);

// Runs a command with arguments. Returns the exit code.
int od_command_run(const od_command *command, int argc, char **argv);

// All commands. The last entry has no name.
extern const od_command od_commands[];
// Finds a command by name. Returns NULL after a message with a suggestion.
const od_command *od_command_find(const char *name);

#endif
