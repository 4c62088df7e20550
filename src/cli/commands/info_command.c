// oleodyn info: shows the contents of a machine.
#include "commands/command.h"
#include "machine/machine_info.h"
#include "memory/owned.h"
#include "options/open_machine.h"
#include "options/options.h"
#include "options/result_files.h"
#include "terminal/show_result.h"

int od_command_info(int argc, char **argv) {
  bool as_json = false, ranges = false, si = false;
  od_load_arguments load = {0};
  const od_option options[] = {
      OD_LOAD_OPTIONS(&load),
      {"ranges", OD_OPTION_FLAG, NULL, "show only the possible and the usual range of each number", &ranges},
  };
  const od_usage usage = {
      "MACHINE",
      "'simulate --output' selects outputs by name; '--set' replaces numbers by path.\n"
      "JSON also describes geometry, circuit and initial positions. A machine without an initial state is described as well.\n",
      OD_OPTIONS(options), .shared = {.as_json = &as_json, .si = &si}};
  od_words files = {0};
  OD_OWNED(od_machine_free) od_machine *machine = NULL;
  OD_TRY(od_options_parse_counted(&usage, argc, argv, 1, 1, &files));
  // The description does not need an initial state.
  OD_TRY(od_cli_load_without_state(files.text[0], &load, &machine));
  OD_SCOPED(od_result_free)
  od_result r = ranges && !as_json ? od_machine_ranges(machine) : od_machine_info(machine);
  od_result_set(&r, "files_read", od_files_read_json());
  return od_show_either(&r, as_json);
}
