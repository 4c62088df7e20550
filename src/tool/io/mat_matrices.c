#include "io/mat_matrices.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "io/atomic_file.h"
#include "io/helper.h"
#include "io/table.h"
#include "memory/scoped.h"
#include "oleodyn/oleodyn.h"

// MATLAB stores matrices by columns.
static void put_numbers(od_channel *to, const od_mat_variable *v) {
  long stride = v->stride ? v->stride : v->columns;
  double block[2048];
  for (int j = 0; j < v->columns; j++)
    for (long i = 0; i < v->rows;) {
      size_t n = 0;
      for (; n < sizeof block / sizeof *block && i < v->rows; i++) block[n++] = v->data[i * stride + j];
      od_channel_put(to, block, n * sizeof *block);
    }
}

static void put_variable(od_channel *to, const od_mat_variable *v) {
  od_channel_put_text(to, v->name);
  od_channel_put_number(to, v->data ? OD_HELPER_NUMBERS : OD_HELPER_TEXTS);
  od_channel_put_number(to, (uint64_t)v->rows);
  od_channel_put_number(to, (uint64_t)v->columns);
  if (v->data) {
    put_numbers(to, v);
    return;
  }
  for (int j = 0; j < v->columns; j++)
    for (long i = 0; i < v->rows; i++) od_channel_put_text(to, v->text[i * v->columns + j]);
}

static long long bytes_of(const od_mat_variable *variable, int count) {
  long long bytes = 0;
  for (int i = 0; i < count; i++) bytes += (long long)sizeof(double) * variable[i].rows * variable[i].columns;
  return bytes;
}

// The helper program writes the open file and reads the file again. Its status is OD_IO if the file is not complete.
static od_status write_by_helper(const od_mat_variable *variable, int count, const char *header, int file,
                                 od_error *err) {
  od_helper h = {.name = OD_MAT_PROGRAM, .bytes = bytes_of(variable, count), .file = file};
  od_error answered = {0}, failed = {0};
  od_status status = od_helper_start(&h, OD_HELPER_WRITE, OD_HELPER_FILE, err);
  if (status != OD_OK) return status;
  od_channel_put_text(&h.channel, header);
  od_channel_put_number(&h.channel, (uint64_t)count);
  for (int i = 0; i < count; i++) put_variable(&h.channel, &variable[i]);
  status = od_helper_end(&h, od_helper_ask(&h), &answered, &failed);
  if (status == OD_BAD_INPUT)
    return od_fail(err, OD_IO, "the written file is incomplete, because the program " OD_MAT_PROGRAM " %s",
                   failed.text);
  return status == OD_OK ? od_fail(err, answered.status, "%s", answered.text) : od_fail(err, status, "%s", failed.text);
}

static od_status write_mat(const od_mat_variable *variable, int count, const char *header, const char *path,
                           od_error *err) {
  od_atomic_file f;
  od_error reason = {0};
  od_status status = od_atomic_open(&f, path, err);
  if (status != OD_OK) return status;
  if (!f.temporary) {
    od_atomic_discard(&f);
    return od_fail(err, OD_IO, "cannot write %s: a MATLAB file must be a file on disk", path);
  }
  status = write_by_helper(variable, count, header, fileno(f.file), &reason);
  if (status == OD_OK) return od_atomic_commit(&f, err);
  od_atomic_discard(&f);
  return od_fail(err, status, "cannot write %s: %s", path, reason.text);
}

// Writes a header without OD_MAT_WRITTEN, which marks tables.
od_status od_matrices_write_mat(const od_mat_variable *variable, int count, const char *path, od_error *err) {
  return write_mat(variable, count, "MATLAB 5.0 MAT-file, matrices of oleodyn " OD_VERSION, path, err);
}

// --- Tables -------------------------------------------------------------------------------------------------------

typedef struct variable_name {
  char text[OD_MAT_NAME_SIZE];
} variable_name;

static bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

void od_mat_name(char to[OD_MAT_NAME_SIZE], const char *from) {
  size_t n = 0;
  if (!is_letter(from[0])) to[n++] = 'x';
  for (; *from && n < OD_MAT_NAME_SIZE - 1; from++) {
    bool fine = is_letter(*from) || (*from >= '0' && *from <= '9');
    to[n++] = fine ? *from : '_';
  }
  to[n] = '\0';
}

static bool is_taken(const char *name, const variable_name *names, int count) {
  if (!strcmp(name, "columns")) return true;
  for (int i = 0; i < count; i++)
    if (!strcmp(names[i].text, name)) return true;
  return false;
}

// Computes the names of the variables. Equal names get the suffixes _2, _3, ...
static void make_names(const od_table *table, variable_name *names) {
  for (int c = 0; c < table->columns; c++) {
    char *name = names[c].text;
    od_mat_name(name, table->name[c]);
    size_t stem = strlen(name);
    for (int n = 2; is_taken(name, names, c); n++) {
      char suffix[16];
      int length = snprintf(suffix, sizeof suffix, "_%d", n);
      size_t keep = stem + (size_t)length < OD_MAT_NAME_SIZE ? stem : OD_MAT_NAME_SIZE - 1 - (size_t)length;
      strcpy(name + keep, suffix);
    }
  }
}

// Writes one variable per column, and a cell array "columns" of names and units. Fails with OD_IO, OD_INTERRUPTED or OD_NO_MEMORY.
od_status od_table_write_mat(const od_table *table, const char *path, od_error *err) {
  OD_SCRATCH(scratch);
  static const double none = 0;
  int n = table->columns;
  variable_name *names = OD_TAKE(&scratch, variable_name, n);
  const char **labels = OD_TAKE(&scratch, const char *, 2L * n);
  od_mat_variable *variable = OD_TAKE(&scratch, od_mat_variable, n + 1);
  if (od_arena_status(&scratch) != OD_OK) return od_fail(err, OD_NO_MEMORY, "out of memory while writing %s", path);
  make_names(table, names);
  for (int c = 0; c < n; c++) {
    variable[c] = (od_mat_variable){names[c].text, .columns = 1, .rows = table->rows, .stride = n};
    variable[c].data = table->rows > 0 ? table->data + c : &none;
    labels[2 * c] = table->name[c];
    labels[2 * c + 1] = table->unit[c];
  }
  variable[n] = (od_mat_variable){"columns", .columns = 2, .rows = n, .text = labels};
  return write_mat(variable, n + 1, "MATLAB 5.0 MAT-file, " OD_MAT_WRITTEN " " OD_VERSION, path, err);
}
