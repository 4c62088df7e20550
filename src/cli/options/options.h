// Options of a command: one table says what there is, and both the parsing and the help follow from it.
#ifndef OD_OPTIONS_OPTIONS_H
#define OD_OPTIONS_OPTIONS_H

#include <stdbool.h>

typedef enum od_option_kind {
  OD_OPTION_FLAG,  // target: bool
  OD_OPTION_TEXT,  // target: const char *
  OD_OPTION_LIST,  // target: od_words; may be given several times
} od_option_kind;

typedef struct od_option {
  const char *name;  // without the dashes
  od_option_kind kind;
  const char *argument;  // what the help calls its argument; NULL for flags
  const char *help;
  void *target;
} od_option;

// The entry of the commands that show numbers to people.
#define OD_SI_OPTION(target) \
  { "si", OD_OPTION_FLAG, NULL, "show SI units instead of bar, mm, l/min and deg (files are in SI always)", target }

// Texts in the order they were given; they belong to argv.
typedef struct od_words {
  const char **text;
  int count, capacity;
} od_words;
void od_words_free(od_words *texts);

// How a command is called.
typedef struct od_usage {
  const char *command, *arguments, *summary;
  const char *details;  // paragraphs for the end of the help, or NULL
  const od_option *options;
  int option_count;
} od_usage;

// Fills the targets and collects what is no option. Accepts "--name value" and "--name=value"; "--" ends the options.
// Returns -1 to go on, or the exit code: after --help, or after a message.
int od_options_parse(const od_usage *usage, int argc, char **argv, od_words *arguments);
// The same for a command that takes between least and most arguments.
int od_options_parse_counted(const od_usage *usage, int argc, char **argv, int least, int most, od_words *arguments);

// The whole number that an option was given as; -1 to go on, or the exit code after a message.
int od_option_whole(const char *option, const char *text, unsigned long long *value);

#endif
