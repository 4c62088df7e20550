// oleodyn check: checks machine, experiment, fit, friction and study files.
#include <limits.h>
#include <stdio.h>

#include "commands/command.h"
#include "io/json.h"
#include "options/open_machine.h"
#include "options/options.h"
#include "report/check_file.h"
#include "terminal/exit_codes.h"
#include "terminal/show_result.h"
#include "terminal/terminal.h"

// Checks one file and shows its messages, or appends its data to `list` (JSON). Returns the exit code.
static int check_file(const char *path, const od_load_options *load, json_t *list) {
  od_messages *messages = od_messages_new();
  if (!messages) {
    od_cli_error("memory ran out");
    return OD_EXIT_FAILED;
  }
  od_result r;
  od_status status = od_check_file(path, load, &messages, &r);
  if (list) {
    json_array_append(list, r.data);
  } else {
    fflush(stdout);
    od_messages_print(messages, stderr, od_terminal_colour(stderr));
    od_show_result(&r, stdout);
  }
  od_result_free(&r);
  od_messages_free(messages);
  return od_exit_code(status);
}

// Checks all files and shows the findings file by file, or as one JSON object. Returns the exit code.
static int check_files(const od_words *files, const od_load_options *load, bool as_json) {
  od_result all = od_result_new("Check", "");
  json_t *list = json_array();
  int code = OD_EXIT_OK;
  od_result_set(&all, "machines", list);
  for (int i = 0; i < files->count; i++) {
    int one = check_file(files->text[i], load, as_json ? list : NULL);
    if (one != OD_EXIT_OK && code != OD_EXIT_BAD_INPUT) code = one;
  }
  od_result_flag(&all, "ok", code == OD_EXIT_OK);
  int written = as_json ? od_show_either(&all, true) : OD_EXIT_OK;
  od_result_free(&all);
  return written != OD_EXIT_OK ? written : code;
}

int od_command_check(int argc, char **argv) {
  bool json = false;
  od_load_arguments load = {0};
  const od_option options[] = {
      OD_LOAD_OPTIONS(&load),
  };
  const od_usage usage = {
      "check",
      "FILE...",
      "say whether machine, experiment, fit and study files are right, and everything that is wrong with them",
      "Files with sensors are experiments, or fits where they say how to fit, those with cases studies, all others machines.\n"
      "It ends with 0 when all files are right, else with 2.\n",
      options,
      (int)(sizeof options / sizeof *options),
      .shared = {.as_json = &json}};
  od_words files = {0};
  int code = od_options_parse_counted(&usage, argc, argv, 1, INT_MAX, &files);
  if (code < 0) {
    const od_load_options how = {
        .set = load.set.text, .set_count = load.set.count, .spatial = load.spatial, .variant = load.variant};
    code = check_files(&files, &how, json);
  }
  od_words_free(&files);
  od_load_arguments_free(&load);
  return code;
}
