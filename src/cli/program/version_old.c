// oleodyn version: prints the version of the program.
#include "commands/command.h"
#include "memory/scoped.h"
#include "oleodyn/oleodyn.h"
#include "options/options.h"
#include "terminal/show_result.h"

int od_command_version(int argc, char **argv) {
  bool as_json = false;
  const od_usage usage = {"", NULL, NULL, 0, .shared = {.as_json = &as_json}};
  od_words arguments = {0};
  OD_TRY(od_options_parse_counted(&usage, argc, argv, 0, 0, &arguments));
  OD_SCOPED(od_result_free) od_result r = od_result_new("Version", "oleodyn");
  od_result_text(&r, "name", "oleodyn");
  od_result_text(&r, "version", OD_VERSION);
  od_result_line(&r, "oleodyn " OD_VERSION);
  return od_show_either(&r, as_json);
}
