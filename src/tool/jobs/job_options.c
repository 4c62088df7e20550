#include "jobs/job_options.h"

#include <stdio.h>
#include <string.h>

#include "io/display.h"
#include "jobs/job.h"

bool od_words_append(od_words *words, od_arena *arena, const char *text) {
  const char **list = od_arena_extend(arena, words->text, words->count, sizeof *list);
  if (!list) return false;
  words->text = list;
  words->text[words->count++] = text;
  return true;
}

// --- List of options --------------------------------------------------------------------------------------------------

enum { FLAGS = 2, MOST_OPTIONS = 64 };

// An option of a kind, with its help. `contents` replaces %s in the help.
typedef struct offered {
  od_option option;
  const char *contents;
  bool is_optional;  // whether the value may be left out
} offered;

// Returns the phrase for the contents of a file; NULL: not offered.
static const char *contents_of(const od_shared_options *s, od_result_file kind) {
  if (s->file[kind]) return s->file[kind];
  return od_file_formats[kind].write_table ? s->table : NULL;
}

// Lists the options of a kind: its own options, then the shared options that it offers. Returns their number.
static int list_options(od_job *job, const od_usage *usage, offered list[MOST_OPTIONS]) {
  const od_shared_options *s = &usage->shared;
  const od_option flags[FLAGS] = {
      {"si", OD_OPTION_FLAG, NULL, "show SI units instead of bar, mm, l/min and deg; files are always in SI", &job->si},
      {"quiet", OD_OPTION_FLAG, NULL, "print only errors and warnings", &job->quiet},
  };
  const bool offers[FLAGS] = {s->si, s->quiet};
  int count = 0;
  for (int i = 0; i < usage->option_count; i++) list[count++] = (offered){usage->options[i], "", false};
  for (int i = 0; i < OD_FILE_KINDS; i++) {
    const od_file_format *f = &od_file_formats[i];
    const char *contents = contents_of(s, (od_result_file)i);
    if (!contents) continue;
    bool is_alone = i == OD_FILE_JSON && s->is_json_alone;
    list[count++] =
        (offered){{f->option, OD_OPTION_TEXT, f->argument, f->help, &job->files.path[i]}, contents, is_alone};
  }
  for (int i = 0; i < FLAGS; i++)
    if (offers[i]) list[count++] = (offered){flags[i], "", false};
  return count;
}

// --- Description ------------------------------------------------------------------------------------------------------

// Returns the help of an option in memory of the arena, with the contents inserted; NULL if out of memory.
static const char *help_of(od_arena *arena, const offered *o) {
  const char *place = strstr(o->option.help, "%s");
  if (!place) return od_arena_text(arena, o->option.help);
  return od_arena_format(arena, "%.*s%s%s", (int)(place - o->option.help), o->option.help, o->contents, place + 2);
}

static void describe(od_job *job, const od_usage *usage) {
  static const od_job_option_type types[] = {
      [OD_OPTION_FLAG] = OD_JOB_FLAG, [OD_OPTION_TEXT] = OD_JOB_TEXT, [OD_OPTION_LIST] = OD_JOB_LIST};
  offered list[MOST_OPTIONS];
  int count = list_options(job, usage, list);
  job->option = OD_TAKE(&job->arena, od_job_option, count);
  job->arguments = od_arena_text(&job->arena, usage->arguments);
  job->details = usage->details ? od_arena_text(&job->arena, usage->details) : NULL;
  if (!job->option) return;
  for (int i = 0; i < count; i++) {
    const od_option *o = &list[i].option;
    job->option[i] = (od_job_option){.name = od_arena_text(&job->arena, o->name),
                                     .argument = o->argument ? od_arena_text(&job->arena, o->argument) : NULL,
                                     .help = help_of(&job->arena, &list[i]),
                                     .values = o->values ? od_arena_text(&job->arena, o->values) : NULL,
                                     .type = list[i].is_optional ? OD_JOB_OPTIONAL : types[o->kind]};
  }
  job->options = count;
  job->is_described = true;
}

// --- Settings ---------------------------------------------------------------------------------------------------------

// Writes a setting into the target of its option. Returns false if out of memory.
static bool store(od_job *job, const od_option *o, const char *value) {
  switch (o->kind) {
    case OD_OPTION_FLAG: *(bool *)o->target = true; return true;
    case OD_OPTION_TEXT: *(const char **)o->target = value; return true;
    case OD_OPTION_LIST: return od_words_append(o->target, &job->arena, value);
  }
  return true;
}

int od_job_begin(od_job *job, const od_usage *usage, int least, int most, od_words *arguments) {
  if (!job->is_described) {
    describe(job, usage);
    return OD_JOB_DONE;
  }
  offered list[MOST_OPTIONS];
  int count = list_options(job, usage, list);
  bool ok = true;
  for (int i = 0; i < job->settings; i++)
    for (int k = 0; k < count; k++)
      if (!strcmp(list[k].option.name, job->setting[i].name))
        ok = store(job, &list[k].option, job->setting[i].value) && ok;
  if (!ok) return od_job_has_memory(job, &job->arena);
  for (int i = 0; i < job->settings; i++) {
    const od_setting *s = &job->setting[i];
    bool is_repeated = false;
    for (int k = 0; k < i; k++) is_repeated = is_repeated || (job->setting[k].old && job->setting[k].name == s->name);
    if (s->old && !is_repeated)
      od_job_warning(job, "the option --%s is now called --%s; use the new name", s->old, s->name);
  }
  if (job->si) od_display_choose_si(true);
  const char *name = job->kind->name;
  *arguments = job->given;
  if (arguments->count < least)
    od_job_error(job, "%s: an argument is missing; usage: oleodyn %s %s [options]", name, name, usage->arguments);
  else if (arguments->count > most)
    od_job_error(job, "%s: unexpected argument '%s'; usage: oleodyn %s %s [options]", name, arguments->text[most], name,
                 usage->arguments);
  else
    return OD_GO_ON;
  return OD_JOB_BAD_INPUT;
}
