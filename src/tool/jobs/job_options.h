// Options of a command: its own table and the shared options that it offers. Parsing and help are loops over both.
#ifndef OD_OPTIONS_OPTIONS_H
#define OD_OPTIONS_OPTIONS_H

#include <stdbool.h>

#include "options/result_files.h"

typedef enum od_option_kind {
  OD_OPTION_FLAG,  // target: bool
  OD_OPTION_TEXT,  // target: const char *
  OD_OPTION_LIST,  // target: od_words; may be given several times
} od_option_kind;

typedef struct od_option {
  const char *name;  // without the dashes
  od_option_kind kind;
  const char *argument;  // the name of the argument in the help; NULL for flags
  const char *help;
  void *target;
} od_option;

// Texts in the order of the command line. argv owns the texts; the lists exist until the program ends.
typedef struct od_words {
  const char **text;
  int count;
} od_words;

// Options that commands share. Their names and helps are in od_file_formats and in a table in options.c. A command offers an
// option by a target, or, for a file, by a phrase for its contents ("the rows"), which the help shows. NULL: not offered.
typedef struct od_shared_options {
  od_files *files;                  // targets of all files below
  const char *file[OD_FILE_KINDS];  // phrase for the contents of each file
  bool *as_json;                    // --json without a file: the output of the command itself is JSON
  bool *si, *quiet;
} od_shared_options;

// The usage of a command.
typedef struct od_usage {
  const char *arguments;  // "FILE"
  const char *details;    // paragraphs at the end of the help, or NULL
  const od_option *options;
  int option_count;
  od_shared_options shared;
} od_usage;
// The fields `options` and `option_count` of an array of options.
#define OD_OPTIONS(array) array, (int)(sizeof(array) / sizeof *(array))

// Sets the name and the summary of the running command, for its help and for messages. Call before od_options_parse().
void od_options_name(const char *command, const char *summary);

// Sets the targets and collects the arguments that are not options. Accepts "--name value" and "--name=value"; "--" ends the
// options. Returns OD_GO_ON, or the exit code (after --help or a message).
int od_options_parse(const od_usage *usage, int argc, char **argv, od_words *arguments);
// Same as od_options_parse(), for a command that takes `least` to `most` arguments.
int od_options_parse_counted(const od_usage *usage, int argc, char **argv, int least, int most, od_words *arguments);

#endif
