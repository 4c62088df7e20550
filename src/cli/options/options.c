#include "options/options.h"

#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "document/suggest.h"
#include "io/display.h"
#include "terminal/exit_codes.h"
#include "terminal/terminal.h"

static od_arena words_arena;  // owns the lists of all od_words

static const char *command, *summary;  // name and summary of the running command

void od_options_name(const char *name, const char *purpose) {
  command = name;
  summary = purpose;
}

static void append(od_words *words, const char *text) {
  words->text = od_arena_extend(&words_arena, words->text, words->count, sizeof *words->text);
  words->text[words->count++] = text;
}

// --- List of options --------------------------------------------------------------------------------------------------

enum { FLAGS = 3, MOST_OPTIONS = 64 };

// An option as used by the help and the parser. `contents` replaces %s in the help.
typedef struct offered {
  od_option option;
  const char *contents;
} offered;

// Lists the options of a command: its own options, then the shared options that it offers. Returns their number.
static int list_options(const od_usage *usage, offered list[MOST_OPTIONS]) {
  const od_shared_options *s = &usage->shared;
  const od_option flags[FLAGS] = {
      {"json", OD_OPTION_FLAG, NULL, "print JSON", s->as_json},
      {"si", OD_OPTION_FLAG, NULL, "show SI units instead of bar, mm, l/min and deg; files are always in SI", s->si},
      {"quiet", OD_OPTION_FLAG, NULL, "print only errors and warnings", s->quiet},
  };
  int count = 0;
  for (int i = 0; i < usage->option_count; i++) list[count++] = (offered){usage->options[i], ""};
  for (int i = 0; i < OD_FILE_KINDS; i++) {
    const od_file_format *f = &od_file_formats[i];
    if (!s->file[i]) continue;
    list[count++] = (offered){{f->option, OD_OPTION_TEXT, f->argument, f->help, &s->files->path[i]}, s->file[i]};
  }
  for (int i = 0; i < FLAGS; i++)
    if (flags[i].target) list[count++] = (offered){flags[i], ""};
  return count;
}

// --- Help -------------------------------------------------------------------------------------------------------------

// Writes the label of an option: "--name ARG".
static void option_label(const od_option *o, char *text, size_t size) {
  snprintf(text, size, o->argument ? "--%s %s" : "--%s", o->name, o->argument);
}

// Prints an option. Further lines of a long help are printed below the first line.
static void print_option(const od_option *o, const char *contents, int width) {
  char label[80];
  option_label(o, label, sizeof label);
  printf("  %-*s  ", width, label);
  for (const char *c = o->help; *c; c++) {
    if (c[0] == '%' && c[1] == 's') {
      printf("%s", contents);
      c++;
    } else if (*c == '\n') {
      printf("\n  %*s  ", width, "");
    } else {
      putchar(*c);
    }
  }
  putchar('\n');
}

static void print_help(const od_usage *usage) {
  offered list[MOST_OPTIONS];
  char label[80];
  int count = list_options(usage, list), width = (int)strlen("--help");
  printf("oleodyn %s: %s\n\n", command, summary);
  od_heading(stdout, "Usage");
  printf("  oleodyn %s %s%s[options]\n\n", command, usage->arguments, usage->arguments[0] ? " " : "");
  od_heading(stdout, "Options");
  for (int i = 0; i < count; i++) {
    option_label(&list[i].option, label, sizeof label);
    if ((int)strlen(label) > width) width = (int)strlen(label);
  }
  for (int i = 0; i < count; i++) print_option(&list[i].option, list[i].contents, width);
  printf("  %-*s  show this help\n", width, "--help");
  if (usage->details) printf("\n%s", usage->details);
}

// --- Manual page ------------------------------------------------------------------------------------------------------

// Prints a text in the language of manual pages: hyphens and backslashes are escaped, and no line begins with a control
// character.
static void print_roff(const char *text, const char *contents) {
  bool begins = true;
  for (const char *c = text; *c; c++) {
    if (c[0] == '%' && c[1] == 's') {
      print_roff(contents, "");
      c++;
      begins = false;
      continue;
    }
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

static void print_option_manual(const od_option *o, const char *contents) {
  printf(".TP\n.B \"\\-\\-");
  print_roff(o->name, "");
  if (o->argument) {
    printf(" \\fI");
    print_roff(o->argument, "");
    printf("\\fP");
  }
  printf("\"\n");
  print_roff(o->help, contents);
  putchar('\n');
}

// Prints the section of a command: options, then the paragraphs of its help. Lines that begin with blanks are examples and keep
// their line ends.
static void print_manual(const od_usage *usage) {
  offered list[MOST_OPTIONS];
  int count = list_options(usage, list);
  printf(".SS \"");
  print_roff(command, "");
  printf(" %s%s[options]\"\n", usage->arguments, usage->arguments[0] ? " " : "");
  print_roff(summary, "");
  printf(".\n");
  for (int i = 0; i < count; i++) print_option_manual(&list[i].option, list[i].contents);
  if (!usage->details) return;
  printf(".PP\n.nf\n");
  print_roff(usage->details, "");
  printf(".fi\n");
}

// --- Parsing ----------------------------------------------------------------------------------------------------------

// Finds an option by its name, the first `length` characters of `given`, and copies the option to *out. Returns OD_GO_ON, or
// the exit code after a message with a suggestion.
static int find(const od_usage *usage, const char *given, size_t length, od_option *out) {
  offered list[MOST_OPTIONS];
  int count = list_options(usage, list);
  char name[64];
  snprintf(name, sizeof name, "%.*s", (int)(length < 60 ? length : 60), given);
  od_nearest nearest = od_nearest_to(name);
  od_nearest_try(&nearest, "help");
  for (int i = 0; i < count; i++) {
    *out = list[i].option;
    if (strcmp(out->name, name) == 0) return OD_GO_ON;
    od_nearest_try(&nearest, out->name);
  }
  if (nearest.best)
    od_cli_error("unknown option '--%s'; did you mean '--%s'?", name, nearest.best);
  else
    od_cli_error("unknown option '--%s'; 'oleodyn %s --help' lists the options", name, command);
  return OD_EXIT_BAD_INPUT;
}

// Stores a value in an option's target. `value` is NULL for an option without a value. Returns OD_GO_ON, or the exit code after
// a message.
static int store(const od_option *o, const char *value) {
  if (o->kind == OD_OPTION_FLAG) {
    if (value) {
      od_cli_error("--%s takes no value; found '%s'; remove the value", o->name, value);
      return OD_EXIT_BAD_INPUT;
    }
    *(bool *)o->target = true;
    return OD_GO_ON;
  }
  if (!value) {
    od_cli_error("--%s requires a value: --%s %s", o->name, o->name, o->argument);
    return OD_EXIT_BAD_INPUT;
  }
  if (o->kind == OD_OPTION_LIST)
    append(o->target, value);
  else
    *(const char **)o->target = value;
  return OD_GO_ON;
}

int od_options_parse(const od_usage *usage, int argc, char **argv, od_words *arguments) {
  bool options_ended = false;
  for (int i = 0; i < argc; i++) {
    const char *text = argv[i];
    if (options_ended || text[0] != '-' || !strcmp(text, "-")) {
      append(arguments, text);
      continue;
    }
    if (!strcmp(text, "--")) {
      options_ended = true;
      continue;
    }
    if (!strcmp(text, "--help") || !strcmp(text, "-h")) {
      print_help(usage);
      return OD_EXIT_OK;
    }
    if (!strcmp(text, "--man")) {  // for `oleodyn help --manual-page`, which calls all commands
      print_manual(usage);
      return OD_EXIT_OK;
    }
    if (text[1] != '-') {
      od_cli_error("unknown option '%s'; options begin with two dashes; 'oleodyn %s --help' lists the options", text,
                   command);
      return OD_EXIT_BAD_INPUT;
    }
    const char *name = text + 2, *equals = strchr(name, '=');
    size_t length = equals ? (size_t)(equals - name) : strlen(name);
    od_option o;
    OD_TRY(find(usage, name, length, &o));
    const char *value = equals ? equals + 1 : NULL;
    if (!value && o.kind != OD_OPTION_FLAG && i + 1 < argc) value = argv[++i];
    OD_TRY(store(&o, value));
  }
  if (usage->shared.si && *usage->shared.si) od_display_choose_si();
  return OD_GO_ON;
}

int od_options_parse_counted(const od_usage *usage, int argc, char **argv, int least, int most, od_words *arguments) {
  OD_TRY(od_options_parse(usage, argc, argv, arguments));
  if (arguments->count < least)
    od_cli_error("%s: an argument is missing; usage: oleodyn %s %s [options]", command, command, usage->arguments);
  else if (arguments->count > most)
    od_cli_error("%s: unexpected argument '%s'; usage: oleodyn %s %s [options]", command, arguments->text[most],
                 command, usage->arguments);
  else
    return OD_GO_ON;
  return OD_EXIT_BAD_INPUT;
}
