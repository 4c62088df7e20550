#include "io/csv_writer.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/allocate.h"
#include "io/atomic_file.h"
#include "io/number.h"
#include "io/text_stream.h"

enum { BLOCK = 1 << 15 };

// Cells are collected in a block, because a C library call for each cell would take longer than formatting its digits.
struct od_csv_writer {
  od_atomic_file file;
  FILE *to;  // standard output, or the stream of the file
  int columns;
  int reason;  // errno of the first failed write; 0: none
  size_t used;
  char block[BLOCK];
};

static void write_quoted(FILE *to, const char *text) {
  for (; *text; text++) {
    if (*text == '"') fputc('"', to);
    fputc(*text, to);
  }
}

// Writes "name [unit]". Adds quotes if the text contains a separator, a quote or a line end, or would be read as a comment.
static void write_label(FILE *to, const char *name, const char *unit) {
  static const char special[] = ",;\t\"\r\n";
  // The unit "1" of a dimensionless output is omitted.
  bool plain = unit[0] == '\0' || !strcmp(unit, "1");
  bool quote = strpbrk(name, special) || strpbrk(unit, special) || name[0] == '#';
  if (quote) fputc('"', to);
  write_quoted(to, name);
  if (!plain) {
    fputs(" [", to);
    write_quoted(to, unit);
    fputc(']', to);
  }
  if (quote) fputc('"', to);
}

static void write_header(FILE *to, const od_table *head) {
  for (int c = 0; c < head->columns; c++) {
    if (c > 0) fputc(',', to);
    write_label(to, head->name[c], head->unit[c]);
  }
  fputc('\n', to);
}

char *od_table_csv_header(const od_table *head) {
  od_text_stream s;
  od_text_stream_open(&s);
  if (s.to) write_header(s.to, head);
  return od_text_stream_close(&s);
}

static void write_block(od_csv_writer *w) {
  errno = 0;
  bool ok = fwrite(w->block, 1, w->used, w->to) == w->used;
  if (!ok && w->reason == 0) w->reason = errno ? errno : EIO;
  w->used = 0;
}

od_status od_csv_writer_open(const char *path, const od_table *head, od_csv_writer **out, od_error *err) {
  od_csv_writer *w = *out = od_malloc(sizeof *w);
  if (!w) return od_fail(err, OD_NO_MEMORY, "out of memory");
  *w = (od_csv_writer){.to = stdout, .columns = head->columns};
  od_status status = strcmp(path, "-") ? od_atomic_open(&w->file, path, err) : OD_OK;
  if (status != OD_OK) {
    od_free(w);
    *out = NULL;
    return status;
  }
  if (w->file.file) w->to = w->file.file;
  write_header(w->to, head);
  return OD_OK;
}

void od_csv_writer_row(od_csv_writer *w, const double *row) {
  for (int c = 0; c < w->columns; c++) {
    if (w->used + OD_NUMBER_SIZE + 1 > BLOCK) write_block(w);
    // A missing value is an empty cell, unless the whole line would be empty.
    if (!isnan(row[c]) || w->columns == 1) w->used += (size_t)od_number_format(w->block + w->used, row[c]);
    w->block[w->used++] = c + 1 < w->columns ? ',' : '\n';
  }
}

od_status od_csv_writer_commit(od_csv_writer *w, od_error *err) {
  od_status status = OD_OK;
  write_block(w);
  if (!w->file.file) {
    errno = 0;
    bool flushed = fflush(stdout) == 0 && !ferror(stdout);
    if (!flushed || w->reason)
      status = od_fail(err, OD_IO, "cannot write to standard output: %s", strerror(w->reason ? w->reason : errno));
  } else if (w->reason) {
    status = od_fail(err, OD_IO, "cannot write %s: %s", w->file.path, strerror(w->reason));
    od_atomic_discard(&w->file);
  } else {
    status = od_atomic_commit(&w->file, err);
  }
  od_free(w);
  return status;
}

void od_csv_writer_discard(od_csv_writer *w) {
  if (!w) return;
  if (w->file.file) od_atomic_discard(&w->file);
  od_free(w);
}

od_status od_table_write_csv(const od_table *table, const char *path, od_error *err) {
  od_csv_writer *w = NULL;
  od_status status = od_csv_writer_open(path, table, &w, err);
  if (status != OD_OK) return status;
  for (long row = 0; row < table->rows; row++) od_csv_writer_row(w, table->data + row * table->columns);
  return od_csv_writer_commit(w, err);
}
