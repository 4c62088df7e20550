#include "options/open_machine.h"

#include <stdio.h>

#include "terminal/exit_codes.h"
#include "terminal/terminal.h"
#include "machine/machine.h"

void od_load_arguments_free(od_load_arguments *arguments) {
  od_words_free(&arguments->set);
}

static int code_of(od_status status) {
  if (status == OD_OK) return -1;
  return status == OD_NO_MEMORY ? OD_EXIT_FAILED : OD_EXIT_BAD_INPUT;
}

int od_cli_loaded(od_messages *messages, od_status status) {
  if (messages)
    od_messages_print(messages, stderr, od_terminal_colour(stderr));
  else
    od_cli_error("memory ran out");
  od_messages_free(messages);
  return code_of(messages ? status : OD_NO_MEMORY);
}

static od_status load_into(const char *path, od_content content, const od_load_arguments *arguments,
                           od_machine **machine, od_messages *messages) {
  const od_load_options options = {.set = arguments->set.text,
                                   .set_count = arguments->set.count,
                                   .spatial = arguments->spatial,
                                   .variant = arguments->variant,
                                   .content = content};
  return od_machine_load(path, &options, machine, messages);
}

int od_cli_load(const char *path, const od_load_arguments *arguments, od_machine **machine) {
  *machine = NULL;
  od_messages *messages = od_messages_new();
  return od_cli_loaded(messages,
                       messages ? load_into(path, (od_content){0}, arguments, machine, messages) : OD_NO_MEMORY);
}

int od_cli_load_content(const char *path, od_content content, const od_load_arguments *arguments, od_machine **machine,
                        od_messages *messages) {
  *machine = NULL;
  return code_of(load_into(path, content, arguments, machine, messages));
}
