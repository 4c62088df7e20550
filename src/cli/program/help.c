// oleodyn help: prints the overview, or the help of one command.
#include <math.h>

#include "commands/command.h"
#include "memory/scoped.h"
#include "oleodyn/oleodyn.h"
#include "options/options.h"
#include "output/manual_text.h"
#include "terminal/show_result.h"

// Adds a row with a command line and its purpose.
static void add_step(od_result_table *t, const char *line, const char *purpose) {
  od_result_add_row(t, NULL, NAN);
  od_result_cell_text(t, line);
  od_result_cell_text(t, purpose);
}

static od_result overview(void) {
  static const od_result_column commands[] = {{"name", "", OD_CELL_TEXT}, {"summary", "", OD_CELL_TEXT}};
  static const od_result_column steps[] = {{NULL, "", OD_CELL_TEXT}, {NULL, "", OD_CELL_TEXT}};
  od_result r = od_result_new("Overview", "oleodyn");
  od_result_text(&r, "version", OD_VERSION);
  od_result_line(&r, "oleodyn " OD_VERSION ": simulates, observes and identifies hydraulically driven machines");
  od_result_heading(&r, "Usage");
  od_result_line(&r, "  oleodyn COMMAND [arguments] [options]");
  od_result_heading(&r, "Commands");
  od_result_table *t = od_result_add_table(&r, "commands", commands, 2);
  for (const od_command *c = od_commands; c->name; c++) add_step(t, c->name, c->summary);
  od_result_heading(&r, "First steps");
  t = od_result_add_table(&r, NULL, steps, 2);
  add_step(t, "oleodyn check crane.yaml", "check the file");
  add_step(t, "oleodyn info crane.yaml", "list elements, inputs, outputs and numbers of the machine");
  add_step(t, "oleodyn simulate crane.yaml --plot crane.svg", "run the machine and draw the results");
  add_step(t, "oleodyn observe experiment.yaml", "estimate states and parameters");
  od_result_line(&r, "\n'oleodyn help COMMAND' or 'oleodyn COMMAND --help' explains a command.");
  return r;
}

// Runs a command with one option. Returns the exit code.
static int run_with(const od_command *command, const char *option) {
  char text[16], *only[] = {text, NULL};
  snprintf(text, sizeof text, "%s", option);
  return od_command_run(command, 1, only);
}

// Prints the manual page. The build writes the page to oleodyn.1. Returns the exit code.
static int print_manual_page(void) {
  printf(".\\\" Made by 'oleodyn help --manual-page'.\n.TH OLEODYN 1 \"\" \"oleodyn " OD_VERSION
         "\" \"User Commands\"\n%s%s",
         od_manual_begin, ".SH COMMANDS\n");
  for (const od_command *c = od_commands; c->name; c++) run_with(c, "--man");
  printf("%s", od_manual_end);
  return OD_EXIT_OK;
}

int od_command_help(int argc, char **argv) {
  bool as_json = false, manual = false;
  const od_option options[] = {
      {"manual-page", OD_OPTION_FLAG, NULL, "print the manual page in the format of man(1)", &manual}};
  const od_usage usage = {"[COMMAND]", NULL, options, 1, .shared = {.as_json = &as_json}};
  od_words arguments = {0};
  OD_TRY(od_options_parse_counted(&usage, argc, argv, 0, 1, &arguments));
  if (manual) return print_manual_page();
  if (as_json || arguments.count == 0) {
    OD_SCOPED(od_result_free) od_result r = overview();
    return od_show_either(&r, as_json);
  }
  const od_command *command = od_command_find(arguments.text[0]);
  return command ? run_with(command, "--help") : OD_EXIT_BAD_INPUT;
}
