// oleodyn help: the overview, or the help of one command.
#include <stdio.h>

#include "commands/command.h"
#include "options/options.h"
#include "output/manual_text.h"
#include "terminal/terminal.h"
#include "io/json.h"
#include "oleodyn/oleodyn.h"

static void print_overview(void) {
  printf("oleodyn " OD_VERSION ": simulates, observes and identifies hydraulically driven machines\n\n");
  od_heading(stdout, "Usage");
  printf("  oleodyn COMMAND [arguments] [options]\n\n");
  od_heading(stdout, "Commands");
  for (const od_command *c = od_commands; c->name; c++) printf("  %-11s  %s\n", c->name, c->summary);
  printf("\n");
  od_heading(stdout, "First steps");
  printf(
      "  oleodyn check crane.yaml                          is the file right?\n"
      "  oleodyn info crane.yaml                           what is in it, and what can be observed?\n"
      "  oleodyn simulate crane.yaml --plot crane.svg      run it and look at it\n"
      "  oleodyn observe experiment.yaml                   what can be found out while it works?\n"
      "\n'oleodyn help COMMAND' or 'oleodyn COMMAND --help' explains a command.\n");
}

static int print_json(void) {
  json_t *commands = json_array();
  for (const od_command *c = od_commands; c->name; c++)
    json_array_append_new(commands, json_pack("{s:s, s:s}", "name", c->name, "summary", c->summary));
  json_t *object = json_pack("{s:s, s:o}", "version", OD_VERSION, "commands", commands);
  od_error err = {0};
  od_status status = od_json_write(object, "-", &err);
  json_decref(object);
  if (status != OD_OK) od_cli_error("%s", err.text);
  return od_exit_code(status);
}

static int ask(const od_command *command, const char *option) {
  char text[16], *only[] = {text, NULL};
  snprintf(text, sizeof text, "%s", option);
  return command->run(1, only);
}

// The manual page. The build writes it to oleodyn.1.
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
  if (json) return print_json();
  if (manual) return print_manual_page();
  if (!topic) {
    print_overview();
    return OD_EXIT_OK;
  }
  const od_command *command = od_command_find(topic);
  if (!command) return OD_EXIT_BAD_INPUT;
  return ask(command, "--help");
}
