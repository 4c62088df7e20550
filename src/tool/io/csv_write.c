// Tables as CSV: a header "name [unit]", then one line per row.
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "io/atomic_file.h"
#include "io/number.h"
#include "io/table.h"

static void write_quoted(FILE *to, const char *text) {
  for (; *text; text++) {
    if (*text == '"') fputc('"', to);
    fputc(*text, to);
  }
}

// "name [unit]", quoted when it holds a separator, a quote or a line end, or would read as a comment.
static void write_label(FILE *to, const char *name, const char *unit) {
  static const char special[] = ",;\t\"\r\n";
  // A dimensionless output has the unit "1", which is not worth saying.
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

static void write_header(FILE *to, const od_table *table) {
  for (int c = 0; c < table->columns; c++) {
    if (c > 0) fputc(',', to);
    write_label(to, table->name[c], table->unit[c]);
  }
  fputc('\n', to);
}

// Cells are gathered in a block: a call of the C library for each would take longer than its digits.
static void write_rows(FILE *to, const od_table *table) {
  enum { BLOCK = 1 << 15 };
  char block[BLOCK];
  size_t used = 0;
  block[0] = '\0';
  const double *x = table->data;
  for (long row = 0; row < table->rows; row++) {
    for (int c = 0; c < table->columns; c++, x++) {
      if (used + OD_NUMBER_SIZE + 1 > BLOCK) {
        fwrite(block, 1, used, to);
        used = 0;
      }
      // No value: an empty cell, unless the whole line would be empty.
      if (!isnan(*x) || table->columns == 1) used += (size_t)od_number_format(block + used, *x);
      block[used++] = c + 1 < table->columns ? ',' : '\n';
    }
  }
  fwrite(block, 1, used, to);
}

static od_status write_standard_output(const od_table *table, od_error *err) {
  errno = 0;
  write_header(stdout, table);
  write_rows(stdout, table);
  if (fflush(stdout) == 0 && !ferror(stdout)) return OD_OK;
  return od_fail(err, OD_IO, "cannot write to standard output: %s", strerror(errno));
}

od_status od_table_write_csv(const od_table *table, const char *path, od_error *err) {
  if (!strcmp(path, "-")) return write_standard_output(table, err);
  od_atomic_file f;
  od_status status = od_atomic_open(&f, path, err);
  if (status != OD_OK) return status;
  write_header(f.file, table);
  write_rows(f.file, table);
  return od_atomic_commit(&f, err);
}
