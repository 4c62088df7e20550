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
      {"variant", OD_OPTION_TEXT, "NAME", "choose a variant of the file", &(target)->variant}, {             \
    "spatial", OD_OPTION_FLAG, NULL, "compute a planar machine in three dimensions", &(target)->spatial      \
  }

// Loads a machine into *machine, which the caller frees. Messages go to standard error. Returns OD_GO_ON, or the exit code.
int od_cli_load(const char *path, const od_load_arguments *arguments, od_machine **machine);
// The options of the loader.
od_load_options od_load_options_of(const od_load_arguments *arguments);

// Shows the messages of a load of another kind of file and frees them. Returns OD_GO_ON, or the exit code.
int od_cli_loaded(od_messages *messages, od_status status);

#endif
