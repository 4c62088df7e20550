// A line is composed in memory and written with one call, so that the reader receives complete lines.
#include "output/live_answers.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/json.h"
#include "io/number.h"
#include "memory/scoped.h"
#include "terminal/terminal.h"

struct od_answers {
  od_arena arena;  // owns the lists
  bool json;
  bool closed;  // whether the reader has closed the pipe
  int *column;  // indices of the written columns in the table of the run
  char **key;   // name of each written column, as a JSON text
  int columns;
  long refused;  // number of input lines that were not samples
  char *line;    // text of the current line
};

// Indexed by od_sample_fate.
static const char *const words[] = {"ok", "failed", "held", "bad"};

od_answers *od_answers_new(bool json) {
  od_answers *a = calloc(1, sizeof *a);
  a->json = json;
  return a;
}

void od_answers_free(od_answers *a) {
  od_arena_free(&a->arena);
  free(a);
}

// --- Lines --------------------------------------------------------------------------------------------------------

static bool write_line(od_answers *a, size_t length) {
  for (size_t done = 0; done < length && !a->closed;) {
    ssize_t n = write(STDOUT_FILENO, a->line + done, length - done);
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

// Writes the line of a sample. values NULL: only the time. False: the reader has closed the pipe.
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
  return write_line(a, (size_t)(to - a->line));
}

// --- The header ---------------------------------------------------------------------------------------------------

// Chooses the columns: time, estimates and their standard deviations, NIS, and whether the filter has settled.
static void choose(od_answers *a, const od_observed *o) {
  const od_columns *c = &o->columns;
  size_t room = 0;
  int more = 1 + c->settled - c->nis;
  a->columns = 1 + c->innovation - c->watched + more;
  a->column = OD_TAKE(&a->arena, int, a->columns);
  a->key = OD_TAKE(&a->arena, char *, a->columns);
  for (int i = 1; i < a->columns - more; i++) a->column[i] = c->watched + i - 1;
  for (int i = 0; i < more; i++) a->column[a->columns - more + i] = c->nis + i;
  for (int i = 0; i < a->columns; i++) {
    json_t *text = od_json_text(o->table->name[a->column[i]]);
    char *quoted = json_dumps(text, JSON_ENCODE_ANY);
    a->key[i] = od_arena_text(&a->arena, quoted);
    od_json_text_free(quoted);
    json_decref(text);
    room += strlen(a->key[i]) + OD_NUMBER_SIZE + 2;
  }
  a->line = OD_TAKE(&a->arena, char, room + 64);
}

static bool write_header(const od_answers *a, const od_observed *o) {
  OD_OWNED(od_table_free) od_table *header = od_table_new(a->columns + 1);
  od_error err = {0};
  for (int i = 0; i < a->columns; i++)
    od_table_label(header, i, o->table->name[a->column[i]], o->table->unit[a->column[i]]);
  od_table_label(header, a->columns, "status", "");
  return od_table_write_csv(header, "-", &err) == OD_OK;
}

bool od_answers_begin(void *answers, const od_observed *o) {
  od_answers *a = answers;
  choose(a, o);
  return a->json || write_header(a, o);
}

bool od_answers_sample(void *answers, const od_observed *o, const double *row, od_sample_fate fate, const char *why) {
  (void)o;
  if (fate != OD_TAKEN) od_cli_warning("%s", why);
  return answer(answers, row[0], fate == OD_TAKEN ? row : NULL, fate);
}

void od_answers_refuse(void *answers, double t, const char *why) {
  od_answers *a = answers;
  od_cli_warning("%s", why);
  a->refused++;
  if (a->line) answer(a, t, NULL, OD_REFUSED);
}

long od_answers_refused(const od_answers *a) {
  return a->refused;
}
