// oleodyn info: the contents of a machine.
#include "commands/command.h"
#include "machine/machine_info.h"
#include "options/open_machine.h"
#include "options/options.h"
#include "options/result_files.h"
#include "terminal/show_result.h"

static int show(const od_machine *machine, bool as_json, bool ranges) {
  od_result r = ranges && !as_json ? od_machine_ranges(machine) : od_machine_info(machine);
  od_result_set(&r, "files_read", od_files_read_json());
  int code = od_show_either(&r, as_json);
  od_result_free(&r);
  return code;
}

int od_command_info(int argc, char **argv) {
  bool json = false, ranges = false, si = false;
  od_load_arguments load = {0};
  const od_option options[] = {
      OD_LOAD_OPTIONS(&load),
      {"ranges", OD_OPTION_FLAG, NULL, "only the possible and the usual range of each number", &ranges},
  };
  const od_usage usage = {"info",
                          "MACHINE",
                          "show what a machine has: elements, degrees of freedom, inputs, outputs and every number",
                          "Outputs can be chosen with 'simulate --output', numbers replaced with '--set'.\n",
                          options,
                          (int)(sizeof options / sizeof *options),
                          .shared = {.as_json = &json, .si = &si}};
  od_words files = {0};
  od_machine *machine = NULL;
  int code = od_options_parse_counted(&usage, argc, argv, 1, 1, &files);
  if (code < 0) code = od_cli_load(files.text[0], &load, &machine);
  if (code < 0) code = show(machine, json, ranges);
  od_machine_free(machine);
  od_words_free(&files);
  od_load_arguments_free(&load);
  return code;
}
