// Loading of a command's machine, with the shared options.
#ifndef OD_OPTIONS_OPEN_MACHINE_H
#define OD_OPTIONS_OPEN_MACHINE_H

#include "options/options.h"
#include "oleodyn/machine.h"

typedef struct od_load_arguments {
  od_words set;
  const char *variant;
  bool spatial;
} od_load_arguments;

// The entries for a command's table of options.
#define OD_LOAD_OPTIONS(target)                                                                              \
  {"set", OD_OPTION_LIST, "PATH=VALUE", "replace a number of the file, with or without a unit (repeatable)", \
   &(target)->set},                                                                                          \
      {"variant", OD_OPTION_TEXT, "NAME", "choose a variant of the file", &(target)->variant}, {             \
    "spatial", OD_OPTION_FLAG, NULL, "compute a planar machine in three dimensions", &(target)->spatial      \
  }
void od_load_arguments_free(od_load_arguments *arguments);

// Loads into *machine. Messages go to standard error. Returns -1 to go on, or the exit code.
int od_cli_load(const char *path, const od_load_arguments *arguments, od_machine **machine);
// The same for a file that has already been read, with a list for the messages.
int od_cli_load_content(const char *path, od_content content, const od_load_arguments *arguments, od_machine **machine,
                        od_messages *messages);

// For files of other kinds: shows the messages of a load and frees them. Returns -1 to go on, or the exit code.
int od_cli_loaded(od_messages *messages, od_status status);

#endif
