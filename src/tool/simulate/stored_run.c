// Kinds of records, in addition to the kinds of machine/machine_records.c: V version of the program, i integrator, r numbers of
// the run as text, o name of an output, w name of a watched output. The first record is the version, because programs of
// different versions may compute different numbers.
#include "simulate/stored_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/table.h"
#include "machine/method_names.h"
#include "oleodyn/version.h"

bool od_stored_run_offers(const od_number *number) {
  return strncmp(number->path, "run.", 4) != 0 && strncmp(number->path, "requirements.", 13) != 0;
}

od_status od_stored_run_check(const od_bundle *files, const od_run_options *o, od_error *err) {
  if (o->integrator && strcmp(o->integrator, OD_CVODES) == 0)
    return od_fail(err, OD_NOT_AVAILABLE, "the integrator '%s' is not available in a page; choose another integrator",
                   OD_CVODES);
  for (int i = 0; i < files->files; i++)
    if (od_table_is_matlab(files->file[i].path))
      return od_fail(err, OD_NOT_AVAILABLE, "a page cannot read the MATLAB file %.200s; convert it to CSV",
                     files->file[i].path);
  return OD_OK;
}

static void append_names(od_records *r, char kind, const od_machine *machine, const int *outputs, int count) {
  for (int i = 0; i < count; i++) {
    const char *name = od_machine_output_name(machine, outputs[i]);
    od_records_append(r, kind, name, strlen(name));
  }
}

void od_stored_run_append(od_records *r, const od_machine *machine, const od_bundle *files, const od_run_options *o,
                          const int *watched, int watched_count) {
  char numbers[200];
  od_records_append(r, 'V', OD_VERSION, strlen(OD_VERSION));
  snprintf(numbers, sizeof numbers, "%.17g %.17g %.17g %.17g %d %d", o->time, o->step, o->tolerance, o->longest,
           o->adaptive, o->every);
  od_records_append(r, 'r', numbers, strlen(numbers));
  if (o->integrator) od_records_append(r, 'i', o->integrator, strlen(o->integrator));
  append_names(r, 'o', machine, o->outputs, o->output_count);
  append_names(r, 'w', machine, watched, watched_count);
  od_machine_records_append(r, machine, files, OD_RECORDS_TREES);
}

static void take_numbers(od_run_options *o, const char *text) {
  char *end;
  o->time = strtod(text, &end);
  o->step = strtod(end, &end);
  o->tolerance = strtod(end, &end);
  o->longest = strtod(end, &end);
  o->adaptive = strtol(end, &end, 10) != 0;
  o->every = (int)strtol(end, &end, 10);
}

// Returns a copy of a text; "" if an allocation fails.
static const char *copy(od_stored_run *s, const char *bytes, size_t count) {
  char *text = od_arena_take(&s->source.files.arena, count + 1);
  if (text && count) memcpy(text, bytes, count);
  return text ? text : "";
}

// Appends the name of an output to the list of a stored run.
static bool take_name(od_stored_run *s, int *number, const char *bytes, size_t count) {
  const char **longer = od_arena_extend(&s->source.files.arena, s->output, s->outputs + s->watched, sizeof *longer);
  if (!longer) return true;  // the status of the arena reports the failure
  s->output = longer;
  s->output[s->outputs + s->watched] = copy(s, bytes, count);
  (*number)++;
  return true;
}

// Copies the content of a record to the settings of the run. Returns false if the kind is unknown, or if an output follows a watched
// output.
static bool take(od_stored_run *s, char kind, const char *bytes, size_t count) {
  switch (kind) {
    case 'r': take_numbers(&s->options, copy(s, bytes, count)); return true;
    case 'i': s->options.integrator = copy(s, bytes, count); return true;
    case 'o': return s->watched == 0 && take_name(s, &s->outputs, bytes, count);
    case 'w': return take_name(s, &s->watched, bytes, count);
    default: return false;
  }
}

od_status od_stored_run_read(od_stored_run *s, const char *bytes, size_t size, od_error *err) {
  const char *path = NULL, *content;
  char kind;
  size_t count;
  bool sound = od_records_take(&bytes, &size, &kind, &content, &count) && kind == 'V';
  if (sound && (count != strlen(OD_VERSION) || memcmp(content, OD_VERSION, count) != 0))
    return od_fail(err, OD_BAD_INPUT,
                   "the machine was stored by oleodyn %.*s, and this is oleodyn %s; write the page again", (int)count,
                   content, OD_VERSION);
  while (sound && size > 0)
    sound = od_records_take(&bytes, &size, &kind, &content, &count) &&
            (take(s, kind, content, count) || od_machine_source_take(&s->source, &path, kind, content, count));
  if (od_arena_status(&s->source.files.arena) != OD_OK) return od_fail(err, OD_NO_MEMORY, "out of memory");
  return sound && s->source.files.files > 0
             ? OD_OK
             : od_fail(err, OD_BAD_INPUT, "the stored machine is damaged; write the page again");
}

void od_stored_run_free(od_stored_run *s) {
  od_machine_source_free(&s->source);
  *s = (od_stored_run){0};
}
