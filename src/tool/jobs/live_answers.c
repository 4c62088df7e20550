// A line is composed in memory and written with one call, so that the reader receives complete lines.
#include "jobs/live_answers.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "jobs/job.h"
#include "base/allocate.h"
#include "io/csv_writer.h"
#include "io/json.h"
#include "io/number.h"
#include "memory/scoped.h"

struct od_answers {
  od_job *job;
  od_arena arena;  // owns the arrays below
  bool json;
  bool closed;  // whether the reader has closed the pipe
  int *column;  // indices of the written columns in the table of the run
  char **key;   // name of each written column, as a JSON text
  int columns;
  long refused;  // number of input lines that were not samples
  char *line;    // text of the current line
};

// Words for the results of samples, indexed by od_sample_fate.
static const char *const words[] = {"ok", "failed", "held", "bad"};

od_answers *od_answers_new(od_job *job, bool json) {
  od_answers *a = od_calloc(1, sizeof *a);
  if (a) a->job = job, a->json = json;
  return a;
}

void od_answers_free(od_answers *a) {
  od_arena_free(&a->arena);
  od_free(a);
}

// --- Lines --------------------------------------------------------------------------------------------------------

static bool write_text(od_answers *a, const char *text, size_t length) {
  for (size_t done = 0; done < length && !a->closed;) {
    ssize_t n = write(a->job->output, text + done, length - done);
    if (n > 0) done += (size_t)n;
    a->closed = n < 0 && errno != EINTR && errno != EAGAIN;
  }
  return !a->closed;
}

// Appends a number to a text. Returns the new end of the text.
static char *put_number(char *to, double value, bool json) {
  if (!isfinite(value)) return stpcpy(to, json ? "null" : "nan");
  return to + od_number_format(to, value);
}

// Writes the line of a sample. values NULL: only the time. Returns false if the reader has closed the pipe.
static bool answer(od_answers *a, double t, const double *values, od_sample_fate fate) {
  char *to = a->line;
  if (a->json) to = stpcpy(to, "{");
  for (int i = 0; i < a->columns; i++) {
    if (a->json) to = stpcpy(stpcpy(to, a->key[i]), ":");
    to = put_number(to, i == 0 ? t : values ? values[a->column[i]] : (double)NAN, a->json);
    to = stpcpy(to, ",");
  }
  if (a->json) to = stpcpy(to, "\"status\":\"");
  to = stpcpy(to, words[fate]);
  to = stpcpy(to, a->json ? "\"}\n" : "\n");
  return write_text(a, a->line, (size_t)(to - a->line));
}

// --- The header ---------------------------------------------------------------------------------------------------

// Chooses the columns: time, estimates and their standard deviations, NIS, and whether the filter has settled or was
// replaced by a simpler filter. Returns false if out of memory.
static bool choose(od_answers *a, const od_observed *o) {
  const od_columns *c = &o->columns;
  size_t room = 0;
  int more = 1 + c->fell_back - c->nis;
  a->columns = 1 + c->innovation - c->watched + more;
  a->column = OD_TAKE(&a->arena, int, a->columns);
  a->key = OD_TAKE(&a->arena, char *, a->columns);
  if (od_arena_status(&a->arena) != OD_OK) return false;
  for (int i = 1; i < a->columns - more; i++) a->column[i] = c->watched + i - 1;
  for (int i = 0; i < more; i++) a->column[a->columns - more + i] = c->nis + i;
  for (int i = 0; i < a->columns; i++) {
    json_t *text = od_json_text(o->table->name[a->column[i]]);
    char *quoted = text ? json_dumps(text, JSON_ENCODE_ANY) : NULL;
    a->key[i] = quoted ? od_arena_text(&a->arena, quoted) : NULL;
    od_json_text_free(quoted);
    json_decref(text);
    if (!a->key[i]) return false;
    room += strlen(a->key[i]) + OD_NUMBER_SIZE + 2;
  }
  a->line = OD_TAKE(&a->arena, char, room + 64);
  return od_arena_status(&a->arena) == OD_OK;
}

// Writes the names and units of the columns, as in a CSV file. Returns false if the reader has closed the pipe, or if
// out of memory.
static bool write_header(od_answers *a, const od_observed *o) {
  OD_OWNED(od_table_free) od_table *header = od_table_new(a->columns + 1);
  if (!header) return false;
  bool ok = true;
  for (int i = 0; i < a->columns; i++)
    ok = od_table_label(header, i, o->table->name[a->column[i]], o->table->unit[a->column[i]]) == OD_OK && ok;
  ok = od_table_label(header, a->columns, "status", "") == OD_OK && ok;
  char *text = ok ? od_table_csv_header(header) : NULL;
  ok = text && write_text(a, text, strlen(text));
  od_free(text);
  return ok;
}

bool od_answers_begin(void *answers, const od_observed *o) {
  od_answers *a = answers;
  if (!choose(a, o)) return false;
  return a->json || write_header(a, o);
}

bool od_answers_sample(void *answers, const od_observed *o, const double *row, od_sample_fate fate, const char *why) {
  od_answers *a = answers;
  (void)o;
  if (fate != OD_TAKEN) od_job_warning(a->job, "%s", why);
  return answer(a, row[0], fate == OD_TAKEN ? row : NULL, fate);
}

void od_answers_refuse(void *answers, double t, const char *why) {
  od_answers *a = answers;
  od_job_warning(a->job, "%s", why);
  a->refused++;
  if (a->line) answer(a, t, NULL, OD_REFUSED);
}

long od_answers_refused(const od_answers *a) {
  return a->refused;
}
