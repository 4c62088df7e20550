// Completion for shells: prints scripts for bash, zsh and fish, made from the tables of jobs and options.
#include <stdio.h>
#include <string.h>

#include "oleodyn/oleodyn.h"
#include "program/show_job.h"
#include "terminal/terminal.h"

// --- Kinds of arguments ------------------------------------------------------------------------------------------------

// Returns the endings of the files that a value or an argument can name, separated by spaces; "": any file; NULL: the
// value is not a file.
static const char *endings(const char *argument) {
  static const char *const table[][2] = {{"MACHINE", "yaml yml odm"},
                                         {"EXPERIMENT", "yaml yml"},
                                         {"STUDY", "yaml yml"},
                                         {"FILE.svg", "svg"},
                                         {"FILE.html", "html"},
                                         {"FILE.yaml", "yaml yml"},
                                         {"FILE", ""},
                                         {"FILE...", ""},
                                         {"FOLDER", ""},
                                         {"NAME", NULL}};
  for (size_t i = 0; argument && i < sizeof table / sizeof *table; i++)
    if (!strcmp(argument, table[i][0])) return table[i][1];
  return NULL;
}

// Calls `print` for each kind of job, with a job of this kind, its name and its summary.
static void each_job(void (*print)(const od_job *job, const char *name, const char *summary)) {
  for (int i = 0; i < od_job_kind_count(); i++) {
    od_job *job = od_job_new(od_job_kind_name(i));
    if (job) print(job, od_job_kind_name(i), od_job_kind_summary(i));
    od_job_free(job);
  }
}

static void print_names(void) {
  for (int i = 0; i < od_command_count(); i++) printf("%s%s", i ? " " : "", od_command_name(i));
}

// Prints the first line of a help text without the characters that a quoted text of a shell cannot contain.
static void print_plain(const char *text, const char *without) {
  for (const char *c = text; *c && *c != '\n'; c++)
    if (!strchr(without, *c)) putchar(*c);
}

// --- bash -------------------------------------------------------------------------------------------------------------

static void print_bash_values(const od_job *job, const char *name, const char *summary) {
  (void)summary;
  for (int i = 0; i < od_job_option_count(job); i++) {
    const od_job_option o = od_job_option_at(job, i);
    if (o.type == OD_JOB_FLAG || o.type == OD_JOB_OPTIONAL) continue;
    printf("    '%s --%s') ", name, o.name);
    const char *files = endings(o.argument);
    if (o.values)
      printf("_oleodyn_words \"%s\"; return ;;\n", o.values);
    else if (files)
      printf("_oleodyn_files %s; return ;;\n", files);
    else
      printf("return ;;\n");
  }
}

static void print_bash_options(const od_job *job, const char *name, const char *summary) {
  (void)summary;
  printf("    %s) options=\"", name);
  for (int i = 0; i < od_job_option_count(job); i++) printf("--%s ", od_job_option_at(job, i).name);
  printf("--help\" ;;\n");
}

static void print_bash_arguments(const od_job *job, const char *name, const char *summary) {
  (void)summary;
  const char *files = endings(od_job_arguments(job));
  if (files) printf("    %s) _oleodyn_files %s ;;\n", name, files);
}

static void print_bash(void) {
  printf(
      "# Completion of oleodyn for bash; made by 'oleodyn completion bash'.\n"
      "_oleodyn_words() {\n"
      "  local word\n"
      "  while IFS= read -r word; do COMPREPLY+=(\"$word\"); done < <(compgen -W \"$1\" -- \"$current\")\n"
      "}\n"
      "# Files with one of the given endings, and folders; without endings all files.\n"
      "_oleodyn_files() {\n"
      "  local word ending\n"
      "  compopt -o filenames 2>/dev/null\n"
      "  [ $# -gt 0 ] || while IFS= read -r word; do COMPREPLY+=(\"$word\"); done < <(compgen -f -- \"$current\")\n"
      "  [ $# -eq 0 ] || while IFS= read -r word; do COMPREPLY+=(\"$word\"); done < <(compgen -d -- \"$current\")\n"
      "  for ending; do\n"
      "    while IFS= read -r word; do COMPREPLY+=(\"$word\"); done < <(compgen -f -X \"!*.$ending\" -- \"$current\")\n"
      "  done\n"
      "}\n"
      "_oleodyn() {\n"
      "  local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]} options\n"
      "  COMPREPLY=()\n"
      "  if [ \"$COMP_CWORD\" -eq 1 ]; then _oleodyn_words \"");
  print_names();
  printf("\"; return; fi\n  case \"$command $before\" in\n");
  each_job(print_bash_values);
  printf("    'help help') _oleodyn_words \"");
  print_names();
  printf(
      "\"; return ;;\n    'completion completion') _oleodyn_words \"bash zsh fish\"; return ;;\n  esac\n"
      "  case \"$current\" in -*)\n    case \"$command\" in\n");
  each_job(print_bash_options);
  printf("    esac\n    _oleodyn_words \"$options\"\n    return ;;\n  esac\n  case \"$command\" in\n");
  each_job(print_bash_arguments);
  printf("  esac\n}\ncomplete -F _oleodyn oleodyn\n");
}

// --- zsh --------------------------------------------------------------------------------------------------------------

// Prints the completion of a value for zsh: words, files or a message.
static void print_zsh_value(const char *argument, const char *values) {
  const char *files = endings(argument);
  if (values)
    printf(":%s:(%s)", argument, values);
  else if (files && files[0]) {
    printf(":%s:_files -g \"*.(", argument);
    for (const char *c = files; *c; c++) putchar(*c == ' ' ? '|' : *c);
    printf(")(-.)\"");
  } else if (files)
    printf(":%s:_files", argument);
  else
    printf(":%s: ", argument);
}

static void print_zsh_command(const od_job *job, const char *name, const char *summary) {
  (void)summary;
  printf("      %s) _arguments", name);
  for (int i = 0; i < od_job_option_count(job); i++) {
    const od_job_option o = od_job_option_at(job, i);
    printf(" \\\n        '%s--%s[", o.type == OD_JOB_LIST ? "*" : "", o.name);
    print_plain(o.help, "'[]\\:");
    printf("]");
    char argument[80] = "";
    for (const char *c = o.argument; c && *c && strlen(argument) < 78; c++)
      if (!strchr(":'[]\\", *c)) argument[strlen(argument)] = *c;
    if (o.type == OD_JOB_TEXT || o.type == OD_JOB_LIST) print_zsh_value(argument, o.values);
    printf("'");
  }
  printf(" \\\n        '--help[show the help]'");
  const char *files = endings(od_job_arguments(job));
  if (files) {
    printf(" \\\n        '*");
    print_zsh_value(od_job_arguments(job), NULL);
    printf("'");
  }
  printf(" ;;\n");
}

static void print_zsh(void) {
  printf(
      "#compdef oleodyn\n# Completion of oleodyn for zsh; made by 'oleodyn completion zsh'.\n"
      "_oleodyn() {\n  local state line\n  local -a commands\n  commands=(\n");
  for (int i = 0; i < od_command_count(); i++) {
    printf("    '%s:", od_command_name(i));
    print_plain(od_command_summary(i), "':\\");
    printf("'\n");
  }
  printf(
      "  )\n"
      "  _arguments -C '1:command:->command' '*::argument:->argument'\n"
      "  case $state in\n"
      "    command) _describe command commands ;;\n"
      "    argument)\n      case $line[1] in\n");
  each_job(print_zsh_command);
  printf(
      "      help) _describe command commands ;;\n      completion) _values shell bash zsh fish ;;\n"
      "      esac ;;\n  esac\n}\n"
      "if [ \"$funcstack[1]\" = _oleodyn ]; then _oleodyn \"$@\"; else compdef _oleodyn oleodyn; fi\n");
}

// --- fish -------------------------------------------------------------------------------------------------------------

static void print_fish_command(const od_job *job, const char *name, const char *summary) {
  (void)summary;
  for (int i = 0; i < od_job_option_count(job); i++) {
    const od_job_option o = od_job_option_at(job, i);
    printf("complete -c oleodyn -n '__fish_seen_subcommand_from %s' -l %s -d '", name, o.name);
    print_plain(o.help, "'\\");
    printf("'");
    bool has_value = o.type == OD_JOB_TEXT || o.type == OD_JOB_LIST;
    if (o.values)
      printf(" -x -a '%s'", o.values);
    else if (has_value && endings(o.argument))
      printf(" -r -F");
    else if (has_value)
      printf(" -x");
    printf("\n");
  }
  const char *files = endings(od_job_arguments(job));
  if (!files) return;
  printf("complete -c oleodyn -n '__fish_seen_subcommand_from %s' ", name);
  if (!files[0]) {
    printf("-F\n");
    return;
  }
  printf("-k -a '(__fish_complete_suffix");
  char list[80];
  snprintf(list, sizeof list, "%s", files);
  char *rest = NULL;
  for (char *word = strtok_r(list, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) printf(" .%s", word);
  printf(")'\n");
}

static void print_fish(void) {
  printf("# Completion of oleodyn for fish; made by 'oleodyn completion fish'.\ncomplete -c oleodyn -f\n");
  for (int i = 0; i < od_command_count(); i++) {
    printf("complete -c oleodyn -n __fish_use_subcommand -a %s -d '", od_command_name(i));
    print_plain(od_command_summary(i), "'\\");
    printf("'\n");
  }
  printf("complete -c oleodyn -n '__fish_seen_subcommand_from help' -a '");
  print_names();
  printf("'\ncomplete -c oleodyn -n '__fish_seen_subcommand_from completion' -a 'bash zsh fish'\n");
  each_job(print_fish_command);
}

// --- The command ------------------------------------------------------------------------------------------------------

int od_command_completion(int argc, char **argv) {
  static const struct {
    const char *name;
    void (*print)(void);
  } shells[] = {{"bash", print_bash}, {"zsh", print_zsh}, {"fish", print_fish}};
  if (argc == 1 && (!strcmp(argv[0], "--help") || !strcmp(argv[0], "-h"))) {
    printf(
        "oleodyn completion: print a script that completes commands, options and files in a shell\n\n"
        "  oleodyn completion bash|zsh|fish\n\n"
        "Examples\n"
        "  source <(oleodyn completion bash)\n"
        "  oleodyn completion zsh > ~/.zsh/_oleodyn\n"
        "  oleodyn completion fish > ~/.config/fish/completions/oleodyn.fish\n");
    return OD_JOB_DONE;
  }
  for (size_t i = 0; argc == 1 && i < sizeof shells / sizeof *shells; i++) {
    if (strcmp(argv[0], shells[i].name) != 0) continue;
    shells[i].print();
    return OD_JOB_DONE;
  }
  od_cli_error("completion: found %s%s%s, expected bash, zsh or fish", argc == 1 ? "'" : "",
               argc == 1 ? argv[0]
               : argc    ? "several shells"
                         : "no shell",
               argc == 1 ? "'" : "");
  return OD_JOB_BAD_INPUT;
}
