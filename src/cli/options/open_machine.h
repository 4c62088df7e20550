// Loads the machine of a command, with the shared options.
#ifndef OD_OPTIONS_OPEN_MACHINE_H
#define OD_OPTIONS_OPEN_MACHINE_H

#include "options/options.h"
#include "oleodyn/machine.h"

typedef struct od_load_arguments {
  od_words set;
  const char *variant;
  bool spatial;
} od_load_arguments;

// The entries for a command's option table.
#define OD_LOAD_OPTIONS(target)                                                                              \
  {"set", OD_OPTION_LIST, "PATH=VALUE", "replace a number of the file, with or without a unit (repeatable)", \
   &(target)->set},                                                                                          \
      {"variant", OD_OPTION_TEXT, "NAME", "variant of the file; default: the file without a variant",        \
       &(target)->variant},                                                                                  \
  {                                                                                                          \
    "spatial", OD_OPTION_FLAG, NULL, "compute a planar machine in three dimensions", &(target)->spatial      \
  }

// Loads a machine into *machine, which the caller frees. Messages go to standard error. Returns OD_GO_ON, or the exit code.
int od_cli_load(const char *path, const od_load_arguments *arguments, od_machine **machine);
// Same as od_cli_load(), but the machine may lack a valid initial state.
int od_cli_load_without_state(const char *path, const od_load_arguments *arguments, od_machine **machine);
// Returns the options of the loader, which refer to the texts of the arguments.
od_load_options od_load_options_of(const od_load_arguments *arguments);

// Prints the messages of a loader on standard error and frees the messages. Returns OD_GO_ON, or the exit code for `status`.
int od_cli_loaded(od_messages *messages, od_status status);

#endif
