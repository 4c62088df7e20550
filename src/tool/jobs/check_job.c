// oleodyn check: checks machine, experiment, fit, friction and study files.
#include <limits.h>
#include <stdio.h>

#include "commands/command.h"
#include "io/json.h"
#include "memory/scoped.h"
#include "options/open_machine.h"
#include "options/options.h"
#include "report/check_file.h"
#include "terminal/show_result.h"
#include "terminal/terminal.h"

// Checks one file and shows its messages, or appends its data to `list` (JSON). Returns the exit code.
static int check_file(const char *path, const od_load_options *load, json_t *list) {
  od_messages *messages = od_messages_new();
  od_result r;
  od_status status = od_check_file(path, load, &messages, &r);
  if (list) {
    json_array_append(list, r.data);
  } else {
    fflush(stdout);
    od_messages_print(messages, stderr, od_terminal_color(stderr));
    od_show_result(&r, stdout);
  }
  od_result_free(&r);
  od_messages_free(messages);
  return od_exit_code(status);
}

static const char details[] =
    "The sections of a file determine its kind: files with 'sensors' are experiments, or fits if they have 'fit'; files with\n"
    "'cases' are studies. The exit code is 0 if all files are correct, else 2.\n";

int od_command_check(int argc, char **argv) {
  bool as_json = false;
  od_load_arguments load = {0};
  const od_option options[] = {
      OD_LOAD_OPTIONS(&load),
  };
  const od_usage usage = {"FILE...", details, OD_OPTIONS(options), .shared = {.as_json = &as_json}};
  od_words files = {0};
  OD_TRY(od_options_parse_counted(&usage, argc, argv, 1, INT_MAX, &files));
  const od_load_options how = od_load_options_of(&load);
  OD_SCOPED(od_result_free) od_result all = od_result_new("Check", "");
  json_t *list = json_array();
  int code = OD_EXIT_OK;
  od_result_set(&all, "machines", list);
  for (int i = 0; i < files.count; i++) {
    int of_file = check_file(files.text[i], &how, as_json ? list : NULL);
    if (of_file != OD_EXIT_OK && code != OD_EXIT_BAD_INPUT) code = of_file;
  }
  od_result_flag(&all, "ok", code == OD_EXIT_OK);
  int written = as_json ? od_show_either(&all, true) : OD_EXIT_OK;
  return written != OD_EXIT_OK ? written : code;
}
