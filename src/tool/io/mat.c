// Tables as MATLAB files (version 5): one variable per column, and a cell array "columns" of names and units.
//
// The library that writes them does not report a full disk, so the file is read again and compared.
#include <math.h>
#include <matio.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/atomic_file.h"
#include "io/child_process.h"
#include "io/mat_integrity.h"
#include "io/mat_name.h"
#include "io/table.h"
#include "oleodyn/oleodyn.h"

enum { name_size = OD_MAT_NAME_SIZE };
typedef struct variable_name {
  char text[name_size];
} variable_name;

static bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

void od_mat_name(char to[OD_MAT_NAME_SIZE], const char *from) {
  size_t n = 0;
  if (!is_letter(from[0])) to[n++] = 'x';
  for (; *from && n < name_size - 1; from++) {
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

// Equal names get the suffixes _2, _3, ...
static void make_names(const od_table *table, variable_name *names) {
  for (int c = 0; c < table->columns; c++) {
    char *name = names[c].text;
    od_mat_name(name, table->name[c]);
    size_t stem = strlen(name);
    for (int n = 2; is_taken(name, names, c); n++) {
      char suffix[16];
      int length = snprintf(suffix, sizeof suffix, "_%d", n);
      size_t keep = stem + (size_t)length < name_size ? stem : name_size - 1 - (size_t)length;
      strcpy(name + keep, suffix);
    }
  }
}

static matvar_t *text_variable(char *text) {
  size_t dims[2] = {text[0] ? 1 : 0, strlen(text)};
  return Mat_VarCreate(NULL, MAT_C_CHAR, MAT_T_UTF8, 2, dims, text, 0);
}

// columns x 2 cells: the original name, the unit.
static matvar_t *label_cells(const od_table *table) {
  size_t n = (size_t)table->columns, dims[2] = {n, 2};
  matvar_t *cells = Mat_VarCreate("columns", MAT_C_CELL, MAT_T_CELL, 2, dims, NULL, 0);
  for (size_t c = 0; cells && c < n; c++) {
    matvar_t *name = text_variable(table->name[c]), *unit = text_variable(table->unit[c]);
    if (name) Mat_VarSetCell(cells, (int)c, name);
    if (unit) Mat_VarSetCell(cells, (int)(n + c), unit);
    if (name && unit) continue;
    Mat_VarFree(cells);
    return NULL;
  }
  return cells;
}

static bool write_variable(mat_t *mat, matvar_t *variable) {
  bool ok = variable && Mat_VarWrite(mat, variable, MAT_COMPRESSION_ZLIB) == 0;
  Mat_VarFree(variable);
  return ok;
}

static bool write_all(mat_t *mat, const od_table *table, const variable_name *names, double *column) {
  size_t dims[2] = {(size_t)table->rows, 1};
  for (int c = 0; c < table->columns; c++) {
    for (long row = 0; row < table->rows; row++) column[row] = table->data[row * table->columns + c];
    matvar_t *variable =
        Mat_VarCreate(names[c].text, MAT_C_DOUBLE, MAT_T_DOUBLE, 2, dims, column, MAT_F_DONT_COPY_DATA);
    if (!write_variable(mat, variable)) return false;
  }
  return write_variable(mat, label_cells(table));
}

// --- Check of the written file --------------------------------------------------------------------------------------

typedef struct written {
  const char *path;
  const od_table *table;
  const variable_name *names;
} written;

static bool is_column(const matvar_t *v, const written *w, int column) {
  const od_table *t = w->table;
  size_t rows = (size_t)t->rows;
  bool same = v && v->name && !strcmp(v->name, w->names[column].text) && v->class_type == MAT_C_DOUBLE &&
              v->rank == 2 && v->dims[0] == rows && v->dims[1] == 1 && (rows == 0 || v->data);
  for (size_t row = 0; same && row < rows; row++) {
    double a = ((const double *)v->data)[row], b = t->data[row * (size_t)t->columns + (size_t)column];
    same = a == b || (isnan(a) && isnan(b));
  }
  return same;
}

static bool are_labels(matvar_t *v, const written *w) {
  size_t n = (size_t)w->table->columns;
  bool same = v && v->name && !strcmp(v->name, "columns") && v->class_type == MAT_C_CELL && v->rank == 2 &&
              v->dims[0] == n && v->dims[1] == 2;
  for (size_t i = 0; same && i < 2 * n; i++) {
    const char *text = i < n ? w->table->name[i] : w->table->unit[i - n];
    const matvar_t *cell = Mat_VarGetCell(v, (int)i);
    same = cell && cell->class_type == MAT_C_CHAR && (!text[0] || cell->data);
  }
  return same;
}

static void compare(void *user, FILE *to) {
  const written *w = user;
  mat_t *mat = Mat_Open(w->path, MAT_ACC_RDONLY);
  bool same = mat != NULL;
  for (int c = 0; c <= w->table->columns && same; c++) {
    matvar_t *v = Mat_VarReadNext(mat);
    same = c < w->table->columns ? is_column(v, w, c) : are_labels(v, w);
    Mat_VarFree(v);
  }
  fputc(same ? 'y' : 'n', to);
}

static bool take_answer(void *user, FILE *from) {
  (void)user;
  return fgetc(from) == 'y';
}

static bool is_written(const char *path, const od_table *table, const variable_name *names) {
  written w = {path, table, names};
  od_child_process work = {.work = compare, .take = take_answer, .user = &w};
  return od_mat_check_integrity(path, &work.bytes, NULL) == OD_OK && od_child_process_run(&work, NULL) == OD_OK;
}

od_status od_table_write_mat(const od_table *table, const char *path, od_error *err) {
  od_atomic_file f;
  od_status status = od_atomic_open(&f, path, err);
  if (status != OD_OK) return status;
  if (!f.temporary) {
    od_atomic_discard(&f);
    return od_fail(err, OD_IO, "cannot write %s: a MATLAB file must be a file on disk", path);
  }
  variable_name *names = calloc((size_t)table->columns + 1, sizeof *names);
  double *column = malloc(((size_t)table->rows + 1) * sizeof *column);
  const char *wrong = names && column ? NULL : "memory ran out";
  if (!wrong) {
    const char *temporary = od_atomic_hand_over(&f);
    make_names(table, names);
    mat_t *mat = Mat_CreateVer(temporary, "MATLAB 5.0 MAT-file, " OD_MAT_WRITTEN " " OD_VERSION, MAT_FT_MAT5);
    bool ok = mat && write_all(mat, table, names, column);
    if (mat && Mat_Close(mat) != 0) ok = false;
    if (!ok || !is_written(temporary, table, names)) wrong = "what was written is not complete; is the disk full?";
  }
  free(names);
  free(column);
  if (!wrong) return od_atomic_commit(&f, err);
  od_atomic_discard(&f);
  return od_fail(err, OD_IO, "cannot write %s: %s", path, wrong);
}
