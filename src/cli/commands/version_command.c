// oleodyn version
#include <stdio.h>

#include "commands/command.h"
#include "options/options.h"
#include "terminal/terminal.h"
#include "io/json.h"
#include "oleodyn/oleodyn.h"

int od_command_version(int argc, char **argv) {
  bool json = false;
  const od_usage usage = {"version", "", "show the version", NULL, NULL, 0, .shared = {.as_json = &json}};
  od_words arguments = {0};
  int code = od_options_parse_counted(&usage, argc, argv, 0, 0, &arguments);
  od_words_free(&arguments);
  if (code >= 0) return code;

  if (!json) {
    printf("oleodyn " OD_VERSION "\n");
    return OD_EXIT_OK;
  }
  json_t *object = json_pack("{s:s, s:s}", "name", "oleodyn", "version", OD_VERSION);
  od_error err = {0};
  od_status status = od_json_write(object, "-", &err);
  json_decref(object);
  if (status != OD_OK) od_cli_error("%s", err.text);
  return od_exit_code(status);
}
