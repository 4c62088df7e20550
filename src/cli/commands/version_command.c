// oleodyn version
#include "commands/command.h"
#include "options/options.h"
#include "oleodyn/oleodyn.h"
#include "terminal/show_result.h"

int od_command_version(int argc, char **argv) {
  bool json = false;
  const od_usage usage = {"version", "", "show the version", NULL, NULL, 0, .shared = {.as_json = &json}};
  od_words arguments = {0};
  int code = od_options_parse_counted(&usage, argc, argv, 0, 0, &arguments);
  od_words_free(&arguments);
  if (code >= 0) return code;

  od_result r = od_result_new("Version", "oleodyn");
  od_result_text(&r, "name", "oleodyn");
  od_result_text(&r, "version", OD_VERSION);
  od_result_line(&r, "oleodyn " OD_VERSION);
  code = od_show_either(&r, json);
  od_result_free(&r);
  return code;
}
