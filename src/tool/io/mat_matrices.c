#include "io/mat_matrices.h"

#include <math.h>
#include <matio.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "io/atomic_file.h"
#include "io/child_process.h"
#include "io/mat_integrity.h"
#include "io/table.h"
#include "memory/scoped.h"
#include "oleodyn/oleodyn.h"

static double number_at(const od_mat_variable *v, long row, int column) {
  return v->data[row * (v->stride ? v->stride : v->columns) + column];
}

// Makes a variable of the library. MATLAB stores matrices by columns. NULL: out of memory.
static matvar_t *make_matrix(const od_mat_variable *v, od_arena *arena) {
  size_t dims[2] = {(size_t)v->rows, (size_t)v->columns};
  double *data = OD_TAKE(arena, double, v->rows * v->columns);
  if (!data) return NULL;
  for (int j = 0; j < v->columns; j++)
    for (long i = 0; i < v->rows; i++) data[j * v->rows + i] = number_at(v, i, j);
  return Mat_VarCreate(v->name, MAT_C_DOUBLE, MAT_T_DOUBLE, 2, dims, data, MAT_F_DONT_COPY_DATA);
}

static matvar_t *make_texts(const od_mat_variable *v) {
  size_t dims[2] = {(size_t)v->rows, (size_t)v->columns};
  matvar_t *cells = Mat_VarCreate(v->name, MAT_C_CELL, MAT_T_CELL, 2, dims, NULL, 0);
  for (long i = 0; cells && i < v->rows * v->columns; i++) {
    const char *text = v->text[i];
    size_t size[2] = {text[0] ? 1 : 0, strlen(text)};
    matvar_t *cell = Mat_VarCreate(NULL, MAT_C_CHAR, MAT_T_UTF8, 2, size, (void *)(uintptr_t)text, 0);
    if (!cell) {
      Mat_VarFree(cells);
      return NULL;
    }
    Mat_VarSetCell(cells, (int)(i % v->columns * v->rows + i / v->columns), cell);
  }
  return cells;
}

// --- Check of the written file --------------------------------------------------------------------------------------

typedef struct written {
  const char *path;
  const od_mat_variable *variable;
  int count;
} written;

static bool is_same(matvar_t *found, const od_mat_variable *v) {
  if (!found || !found->name || strcmp(found->name, v->name) != 0 || found->rank != 2) return false;
  if (found->dims[0] != (size_t)v->rows || found->dims[1] != (size_t)v->columns) return false;
  if (found->class_type != (v->data ? MAT_C_DOUBLE : MAT_C_CELL)) return false;
  bool empty = v->rows == 0 || v->columns == 0;
  if (!empty && !found->data) return false;
  for (int j = 0; j < v->columns; j++)
    for (long i = 0; i < v->rows; i++) {
      long at = j * v->rows + i;
      if (v->data) {
        double a = ((const double *)found->data)[at], b = number_at(v, i, j);
        if (a != b && !(isnan(a) && isnan(b))) return false;
      } else {
        const matvar_t *cell = Mat_VarGetCell(found, (int)at);
        bool has_text = v->text[i * v->columns + j][0];
        if (!cell || cell->class_type != MAT_C_CHAR || (has_text && !cell->data)) return false;
      }
    }
  return true;
}

static void compare(void *user, FILE *to) {
  const written *w = user;
  mat_t *mat = Mat_Open(w->path, MAT_ACC_RDONLY);
  bool same = mat != NULL;
  for (int i = 0; i < w->count && same; i++) {
    matvar_t *found = Mat_VarReadNext(mat);
    same = is_same(found, &w->variable[i]);
    Mat_VarFree(found);
  }
  fputc(same ? 'y' : 'n', to);
}

static bool take_answer(void *user, FILE *from) {
  (void)user;
  return fgetc(from) == 'y';
}

static bool is_written(const char *path, const od_mat_variable *variable, int count) {
  written w = {path, variable, count};
  od_child_process work = {.work = compare, .take = take_answer, .user = &w};
  return od_mat_check_integrity(path, &work.bytes, NULL) == OD_OK && od_child_process_run(&work, NULL) == OD_OK;
}

static od_status write_mat(const od_mat_variable *variable, int count, const char *header, const char *path,
                           od_error *err) {
  od_atomic_file f;
  od_status status = od_atomic_open(&f, path, err);
  if (status != OD_OK) return status;
  if (!f.temporary) {
    od_atomic_discard(&f);
    return od_fail(err, OD_IO, "cannot write %s: a MATLAB file must be a file on disk", path);
  }
  const char *temporary = od_atomic_hand_over(&f);
  mat_t *mat = Mat_CreateVer(temporary, header, MAT_FT_MAT5);
  bool ok = mat != NULL;
  for (int i = 0; i < count && ok; i++) {
    OD_SCRATCH(scratch);
    matvar_t *made = variable[i].data ? make_matrix(&variable[i], &scratch) : make_texts(&variable[i]);
    ok = made && Mat_VarWrite(mat, made, MAT_COMPRESSION_ZLIB) == 0;
    Mat_VarFree(made);
  }
  if (mat && Mat_Close(mat) != 0) ok = false;
  if (ok && is_written(temporary, variable, count)) return od_atomic_commit(&f, err);
  od_atomic_discard(&f);
  return od_fail(err, OD_IO, "cannot write %s: the written file is incomplete; the disk may be full", path);
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

// Makes the names of the variables. Equal names get the suffixes _2, _3, ...
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

// Writes one variable per column, and a cell array "columns" of names and units.
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
