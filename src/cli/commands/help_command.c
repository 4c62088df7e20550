// oleodyn help: the overview, or the help of one command.
#include <math.h>

#include "commands/command.h"
#include "options/options.h"
#include "output/manual_text.h"
#include "oleodyn/oleodyn.h"
#include "terminal/exit_codes.h"
#include "terminal/show_result.h"

// Adds a command line and its purpose.
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
  add_step(t, "oleodyn check crane.yaml", "is the file right?");
  add_step(t, "oleodyn info crane.yaml", "what is in it, and what can be observed?");
  add_step(t, "oleodyn simulate crane.yaml --plot crane.svg", "run it and look at it");
  add_step(t, "oleodyn observe experiment.yaml", "what can be found out while it works?");
  od_result_line(&r, "\n'oleodyn help COMMAND' or 'oleodyn COMMAND --help' explains a command.");
  return r;
}

static int show_overview(bool as_json) {
  od_result r = overview();
  int code = od_show_either(&r, as_json);
  od_result_free(&r);
  return code;
}

static int ask(const od_command *command, const char *option) {
  char text[16], *only[] = {text, NULL};
  snprintf(text, sizeof text, "%s", option);
  return command->run(1, only);
}

// Prints the manual page. The build writes it to oleodyn.1.
static int print_manual_page(void) {
  printf(".\\\" Made by 'oleodyn help --manual-page'.\n.TH OLEODYN 1 \"\" \"oleodyn " OD_VERSION
         "\" \"User Commands\"\n%s%s",
         od_manual_begin, ".SH COMMANDS\n");
  for (const od_command *c = od_commands; c->name; c++) ask(c, "--man");
  printf("%s", od_manual_end);
  return OD_EXIT_OK;
}

int od_command_help(int argc, char **argv) {
  bool json = false, manual = false;
  const od_option options[] = {
      {"manual-page", OD_OPTION_FLAG, NULL, "print the manual page, in the language of man(1)", &manual}};
  const od_usage usage = {"help",  "[COMMAND]", "show all commands, or explain one", NULL,
                          options, 1,           .shared = {.as_json = &json}};
  od_words arguments = {0};
  int code = od_options_parse_counted(&usage, argc, argv, 0, 1, &arguments);
  const char *topic = arguments.count > 0 ? arguments.text[0] : NULL;
  od_words_free(&arguments);
  if (code >= 0) return code;
  if (manual) return print_manual_page();
  if (json || !topic) return show_overview(json);
  const od_command *command = od_command_find(topic);
  if (!command) return OD_EXIT_BAD_INPUT;
  return ask(command, "--help");
}
