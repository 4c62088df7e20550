#include "options/open_machine.h"

#include <stdio.h>

#include "machine/machine.h"
#include "terminal/exit_codes.h"
#include "terminal/terminal.h"

int od_cli_loaded(od_messages *messages, od_status status) {
  od_messages_print(messages, stderr, od_terminal_color(stderr));
  od_messages_free(messages);
  if (status == OD_OK) return OD_GO_ON;
  return status == OD_NO_MEMORY ? OD_EXIT_FAILED : OD_EXIT_BAD_INPUT;
}

od_load_options od_load_options_of(const od_load_arguments *a) {
  return (od_load_options){.set = a->set.text, .set_count = a->set.count, .spatial = a->spatial, .variant = a->variant};
}

static int load(const char *path, const od_load_options *options, od_machine **machine) {
  od_messages *messages = od_messages_new();
  return od_cli_loaded(messages, od_machine_load(path, options, machine, messages));
}

int od_cli_load(const char *path, const od_load_arguments *arguments, od_machine **machine) {
  const od_load_options options = od_load_options_of(arguments);
  return load(path, &options, machine);
}

int od_cli_load_without_state(const char *path, const od_load_arguments *arguments, od_machine **machine) {
  od_load_options options = od_load_options_of(arguments);
  options.may_lack_initial_state = true;
  return load(path, &options, machine);
}
