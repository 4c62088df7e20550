// oleodyn check: are machine files right?
#include <limits.h>
#include <stdio.h>

#include "cli/command.h"
#include "cli/load.h"
#include "cli/options.h"
#include "cli/terminal.h"
#include "io/json.h"

static json_t *messages_json(const od_messages *messages) {
  json_t *list = json_array();
  for (int i = 0; i < od_messages_count(messages); i++) {
    const od_message *m = od_messages_get(messages, i);
    json_array_append_new(list, json_pack("{s:o, s:i, s:i, s:o}", "file", od_json_text(m->file), "line", m->line,
                                          "column", m->column, "text", od_json_text(m->text)));
  }
  return list;
}

// One file: a line for people, or an object for programs. Returns its exit code.
static int check_file(const char *path, const od_load_arguments *load, json_t *results) {
  od_messages *messages = od_messages_new();
  od_machine *machine = NULL;
  if (!messages) {
    od_cli_error("memory ran out");
    return OD_EXIT_FAILED;
  }
  int code = od_cli_load(path, load, &machine, messages);
  if (results) {
    json_t *result = json_pack("{s:o, s:b}", "file", od_json_text(path), "ok", code < 0);
    if (machine) {
      od_model_facts facts = od_cli_facts(machine);
      od_facts_json(&facts, result);
    }
    json_object_set_new(result, "messages", messages_json(messages));
    json_array_append_new(results, result);
  } else {
    fflush(stdout);
    od_messages_print(messages, stderr, od_terminal_colour(stderr));
  }
  if (machine && !results) {
    char text[128];
    od_model_facts facts = od_cli_facts(machine);
    od_facts_text(&facts, text, sizeof text);
    printf("%s: ok: %s\n", path, text);
  }
  od_machine_free(machine);
  od_messages_free(messages);
  return code < 0 ? OD_EXIT_OK : code;
}

int od_command_check(int argc, char **argv) {
  bool json = false;
  od_load_arguments load = {0};
  const od_option options[] = {OD_LOAD_OPTIONS(&load), {"json", OD_OPTION_FLAG, NULL, "as JSON", &json}};
  const od_usage usage = {"check",
                          "MACHINE...",
                          "say whether machine files are right, and everything that is wrong with them",
                          "It ends with 0 when all files are right, else with 2.\n",
                          options,
                          (int)(sizeof options / sizeof *options)};
  od_words files = {0};
  int code = od_options_parse_counted(&usage, argc, argv, 1, INT_MAX, &files);
  if (code < 0) {
    json_t *results = json ? json_array() : NULL;
    code = OD_EXIT_OK;
    for (int i = 0; i < files.count; i++) {
      int one = check_file(files.text[i], &load, results);
      if (one != OD_EXIT_OK && code != OD_EXIT_BAD_INPUT) code = one;
    }
    if (results) {
      json_t *object = json_pack("{s:b, s:o}", "ok", code == OD_EXIT_OK, "machines", results);
      od_error err = {0};
      od_status status = od_json_write(object, "-", &err);
      if (status != OD_OK) {
        od_cli_error("%s", err.text);
        code = od_exit_code(status);
      }
      json_decref(object);
    }
  }
  od_words_free(&files);
  od_load_arguments_free(&load);
  return code;
}
