// A line is composed in memory and written with one call, so that the reader receives complete lines.
#include "output/live_answers.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "terminal/terminal.h"
#include "io/json.h"
#include "io/number.h"

struct od_answers {
  bool json;
  bool closed;  // the reader has closed the pipe
  int *column;  // the columns of the table that are written
  char **key;   // their names in JSON
  int columns;
  long refused;
  char *line;
};

// Indexed by od_sample_fate.
static const char *const words[] = {"ok", "failed", "held", "bad"};

od_answers *od_answers_new(bool json) {
  od_answers *a = calloc(1, sizeof *a);
  if (a) a->json = json;
  return a;
}

void od_answers_free(od_answers *a) {
  if (!a) return;
  for (int i = 0; a->key && i < a->columns; i++) free(a->key[i]);
  free(a->key);
  free(a->column);
  free(a->line);
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

static char *put(char *to, const char *text) {
  return stpcpy(to, text);
}

static char *put_number(char *to, double value, bool json) {
  if (!isfinite(value)) return put(to, json ? "null" : "nan");
  return to + od_number_format(to, value);
}

// Writes a line. values NULL: only the time.
static bool tell(od_answers *a, double t, const double *values, od_sample_fate fate) {
  char *to = a->line;
  if (a->json) to = put(to, "{");
  for (int i = 0; i < a->columns; i++) {
    if (a->json) to = put(put(to, a->key[i]), ":");
    to = put_number(to, i == 0 ? t : values ? values[a->column[i]] : (double)NAN, a->json);
    to = put(to, ",");
  }
  if (a->json) to = put(to, "\"status\":\"");
  to = put(to, words[fate]);
  to = put(to, a->json ? "\"}\n" : "\n");
  return write_line(a, (size_t)(to - a->line));
}

// --- The header ---------------------------------------------------------------------------------------------------

// Chooses the columns: time, estimates and their standard deviations, NIS, and whether the filter has settled.
static bool choose(od_answers *a, const od_observed *o) {
  const od_columns *c = &o->columns;
  size_t room = 0;
  int more = 1 + c->settled - c->nis;
  a->columns = 1 + c->innovation - c->watched + more;
  a->column = calloc((size_t)a->columns, sizeof *a->column);
  a->key = calloc((size_t)a->columns, sizeof *a->key);
  if (!a->column || !a->key) return false;
  for (int i = 1; i < a->columns - more; i++) a->column[i] = c->watched + i - 1;
  for (int i = 0; i < more; i++) a->column[a->columns - more + i] = c->nis + i;
  for (int i = 0; i < a->columns; i++) {
    json_t *text = od_json_text(o->table->name[a->column[i]]);
    a->key[i] = json_dumps(text, JSON_ENCODE_ANY);
    json_decref(text);
    if (!a->key[i]) return false;
    room += strlen(a->key[i]) + OD_NUMBER_SIZE + 2;
  }
  a->line = malloc(room + 64);
  return a->line != NULL;
}

static bool write_header(const od_answers *a, const od_observed *o) {
  od_table *header = od_table_new(a->columns + 1);
  od_error err = {0};
  bool ok = header != NULL;
  for (int i = 0; ok && i < a->columns; i++)
    ok = od_table_label(header, i, o->table->name[a->column[i]], o->table->unit[a->column[i]]) == OD_OK;
  ok = ok && od_table_label(header, a->columns, "status", "") == OD_OK;
  ok = ok && od_table_write_csv(header, "-", &err) == OD_OK;
  od_table_free(header);
  return ok;
}

bool od_answers_begin(void *answers, const od_observed *o) {
  od_answers *a = answers;
  return choose(a, o) && (a->json || write_header(a, o));
}

bool od_answers_sample(void *answers, const od_observed *o, const double *row, od_sample_fate fate, const char *why) {
  (void)o;
  if (fate != OD_TAKEN) od_cli_warning("%s", why);
  return tell(answers, row[0], fate == OD_TAKEN ? row : NULL, fate);
}

void od_answers_refuse(void *answers, double t, const char *why) {
  od_answers *a = answers;
  od_cli_warning("%s", why);
  a->refused++;
  if (a->line) tell(a, t, NULL, OD_REFUSED);
}

long od_answers_refused(const od_answers *a) {
  return a->refused;
}
