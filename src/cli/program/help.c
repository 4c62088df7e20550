// Help: the overview, the help of one command, and the manual page, from the tables of the jobs.
#include <stdio.h>
#include <string.h>

#include "oleodyn/oleodyn.h"
#include "program/manual_text.h"
#include "program/show_job.h"
#include "terminal/terminal.h"

// --- Help of a command ------------------------------------------------------------------------------------------------

// Writes the label of an option: "--name ARG".
static void write_label(const od_job_option *o, char *text, size_t size) {
  const char *form = o->type == OD_JOB_FLAG ? "--%s" : o->type == OD_JOB_OPTIONAL ? "--%s[=%s]" : "--%s %s";
  snprintf(text, size, form, o->name, o->argument);
}

// Prints the label and the help text of an option. Further lines of the help text are printed below its first line.
static void print_option(const od_job_option *o, int width) {
  char label[80];
  write_label(o, label, sizeof label);
  printf("  %-*s  ", width, label);
  for (const char *c = o->help; *c; c++) {
    if (*c == '\n')
      printf("\n  %*s  ", width, "");
    else
      putchar(*c);
  }
  putchar('\n');
}

void od_print_help(const od_job *job, const char *command, const char *summary) {
  int count = od_job_option_count(job), width = (int)strlen("--help");
  const char *arguments = od_job_arguments(job), *details = od_job_details(job);
  char label[80];
  printf("oleodyn %s: %s\n\n", command, summary);
  od_heading(stdout, "Usage");
  printf("  oleodyn %s %s%s[options]\n\n", command, arguments, arguments[0] ? " " : "");
  od_heading(stdout, "Options");
  for (int i = 0; i < count; i++) {
    const od_job_option o = od_job_option_at(job, i);
    write_label(&o, label, sizeof label);
    if ((int)strlen(label) > width) width = (int)strlen(label);
  }
  for (int i = 0; i < count; i++) {
    const od_job_option o = od_job_option_at(job, i);
    print_option(&o, width);
  }
  printf("  %-*s  show this help\n", width, "--help");
  if (details) printf("\n%s", details);
}

// --- Manual page ------------------------------------------------------------------------------------------------------

// Prints a text in roff, the language of manual pages: escapes hyphens and backslashes, and prevents control characters at the
// beginning of lines.
static void print_roff(const char *text) {
  bool begins = true;
  for (const char *c = text; *c; c++) {
    if (begins && (*c == '.' || *c == '\'')) printf("\\&");
    if (*c == '-')
      printf("\\-");
    else if (*c == '\\')
      printf("\\e");
    else
      putchar(*c);
    begins = *c == '\n';
  }
}

static void print_option_manual(const od_job_option *o) {
  printf(".TP\n.B \"\\-\\-");
  print_roff(o->name);
  if (o->argument) {
    printf(o->type == OD_JOB_OPTIONAL ? "[=\\fI" : " \\fI");
    print_roff(o->argument);
    printf(o->type == OD_JOB_OPTIONAL ? "\\fP]" : "\\fP");
  }
  printf("\"\n");
  print_roff(o->help);
  putchar('\n');
}

// Prints the section of a command: its options, then its details, whose lines keep their ends.
void od_print_manual(const od_job *job, const char *command, const char *summary) {
  const char *arguments = od_job_arguments(job), *details = od_job_details(job);
  printf(".SS \"");
  print_roff(command);
  printf(" %s%s[options]\"\n", arguments, arguments[0] ? " " : "");
  print_roff(summary);
  printf(".\n");
  for (int i = 0; i < od_job_option_count(job); i++) {
    const od_job_option o = od_job_option_at(job, i);
    print_option_manual(&o);
  }
  if (!details) return;
  printf(".PP\n.nf\n");
  print_roff(details);
  printf(".fi\n");
}

// --- help and version -------------------------------------------------------------------------------------------------

static void print_overview(void) {
  static const char *const steps[][2] = {
      {"oleodyn new my-crane --template crane", "write a machine, an experiment and a fit"},
      {"oleodyn check crane.yaml", "check the file"},
      {"oleodyn info crane.yaml", "list elements, inputs, outputs and numbers of the machine"},
      {"oleodyn simulate crane.yaml --plot crane.svg", "run the machine and draw the results"},
      {"oleodyn observe experiment.yaml", "estimate states and parameters"},
  };
  printf("oleodyn " OD_VERSION ": simulates, observes and identifies hydraulically driven machines\n\n");
  od_heading(stdout, "Usage");
  printf("  oleodyn COMMAND [arguments] [options]\n\n");
  od_heading(stdout, "Commands");
  for (int i = 0; i < od_command_count(); i++) printf("  %-13s %s\n", od_command_name(i), od_command_summary(i));
  putchar('\n');
  od_heading(stdout, "First steps");
  for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) printf("  %-45s %s\n", steps[i][0], steps[i][1]);
  printf("\n'oleodyn help COMMAND' or 'oleodyn COMMAND --help' explains a command.\n");
}

// Prints the list of commands as JSON. Names and summaries contain no characters that need escapes.
static void print_overview_json(void) {
  printf("{\n  \"version\": \"" OD_VERSION "\",\n  \"commands\": [");
  for (int i = 0; i < od_command_count(); i++)
    printf("%s\n    {\n      \"name\": \"%s\",\n      \"summary\": \"%s\"\n    }", i ? "," : "", od_command_name(i),
           od_command_summary(i));
  printf("\n  ]\n}\n");
}

// Prints the manual page. The build writes the page to oleodyn.1.
static void print_manual_page(void) {
  printf(".\\\" Made by 'oleodyn help --manual-page'.\n.TH OLEODYN 1 \"\" \"oleodyn " OD_VERSION
         "\" \"User Commands\"\n%s%s",
         od_manual_begin, ".SH COMMANDS\n");
  for (int i = 0; i < od_job_kind_count(); i++) {
    od_job *job = od_job_new(od_job_kind_name(i));
    if (job) od_print_manual(job, od_job_kind_name(i), od_job_kind_summary(i));
    od_job_free(job);
  }
  printf(
      ".SS \"completion bash|zsh|fish\"\nprint a script that completes commands, options and files in a shell.\n"
      ".SS \"help [COMMAND]\"\nlist all commands, or explain one command.\n"
      ".TP\n.B \"\\-\\-manual\\-page\"\nprint the manual page in the format of man(1)\n"
      ".TP\n.B \"\\-\\-json\"\nprint the list of commands as JSON\n"
      ".SS \"version\"\nshow the version.\n.TP\n.B \"\\-\\-json\"\nprint JSON\n%s",
      od_manual_end);
}

// Prints the help of a command. Returns the exit code.
static int explain(const char *name) {
  int i = od_command_find(name);
  if (i < 0) return OD_JOB_BAD_INPUT;
  od_job *job = od_job_new(od_command_name(i));
  if (job)
    od_print_help(job, od_command_name(i), od_command_summary(i));
  else
    printf("oleodyn %s: %s\n", od_command_name(i), od_command_summary(i));
  od_job_free(job);
  return OD_JOB_DONE;
}

int od_command_help(int argc, char **argv) {
  const char *command = NULL;
  bool as_json = false;
  for (int i = 0; i < argc; i++) {
    if (!strcmp(argv[i], "--manual-page")) {
      print_manual_page();
      return OD_JOB_DONE;
    }
    if (!strcmp(argv[i], "--json")) {
      as_json = true;
    } else if (argv[i][0] == '-' && strcmp(argv[i], "--help") != 0 && strcmp(argv[i], "-h") != 0) {
      od_cli_error("unknown option '%s'; help has the options --json and --manual-page", argv[i]);
      return OD_JOB_BAD_INPUT;
    } else if (command) {
      od_cli_error("help: unexpected argument '%s'; usage: oleodyn help [COMMAND] [options]", argv[i]);
      return OD_JOB_BAD_INPUT;
    } else if (argv[i][0] != '-') {
      command = argv[i];
    }
  }
  if (command && !as_json) return explain(command);
  if (as_json)
    print_overview_json();
  else
    print_overview();
  return OD_JOB_DONE;
}

int od_command_version(int argc, char **argv) {
  for (int i = 0; i < argc; i++) {
    if (!strcmp(argv[i], "--json")) {
      printf("{\n  \"name\": \"oleodyn\",\n  \"version\": \"%s\"\n}\n", od_version());
      return OD_JOB_DONE;
    }
    if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) {
      printf("oleodyn version: show the version\n\n  --json  print JSON\n");
      return OD_JOB_DONE;
    }
    od_cli_error("version: unexpected argument '%s'; usage: oleodyn version [--json]", argv[i]);
    return OD_JOB_BAD_INPUT;
  }
  printf("oleodyn %s\n", od_version());
  return OD_JOB_DONE;
}
