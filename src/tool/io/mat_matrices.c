#include "io/mat_matrices.h"

#include <math.h>
#include <matio.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "io/atomic_file.h"
#include "io/child_process.h"
#include "io/mat_integrity.h"
#include "oleodyn/oleodyn.h"

// MATLAB stores matrices by columns.
static matvar_t *make_matrix(const od_mat_variable *v) {
  size_t dims[2] = {(size_t)v->rows, (size_t)v->columns};
  double *data = malloc((dims[0] * dims[1] + 1) * sizeof *data);
  if (!data) return NULL;
  for (int i = 0; i < v->rows; i++)
    for (int j = 0; j < v->columns; j++) data[j * v->rows + i] = v->data[i * v->columns + j];
  matvar_t *made = Mat_VarCreate(v->name, MAT_C_DOUBLE, MAT_T_DOUBLE, 2, dims, data, 0);
  free(data);
  return made;
}

static matvar_t *make_texts(const od_mat_variable *v) {
  size_t dims[2] = {(size_t)v->rows, 1};
  matvar_t *cells = Mat_VarCreate(v->name, MAT_C_CELL, MAT_T_CELL, 2, dims, NULL, 0);
  for (int i = 0; cells && i < v->rows; i++) {
    size_t size[2] = {v->text[i][0] ? 1 : 0, strlen(v->text[i])};
    matvar_t *text = Mat_VarCreate(NULL, MAT_C_CHAR, MAT_T_UTF8, 2, size, (void *)v->text[i], 0);
    if (text) {
      Mat_VarSetCell(cells, i, text);
      continue;
    }
    Mat_VarFree(cells);
    return NULL;
  }
  return cells;
}

// --- Check of the written file --------------------------------------------------------------------------------------

typedef struct written {
  const char *path;
  const od_mat_variable *variable;
  int count;
} written;

static bool is_same(const matvar_t *found, const od_mat_variable *v) {
  bool empty = v->data && (v->rows == 0 || v->columns == 0);
  bool same = found && found->name && !strcmp(found->name, v->name) && found->rank == 2 &&
              found->class_type == (v->data ? MAT_C_DOUBLE : MAT_C_CELL) && found->dims[0] == (size_t)v->rows &&
              found->dims[1] == (size_t)(v->data ? v->columns : 1) && (empty || !v->data || found->data);
  for (int i = 0; same && v->data && i < v->rows; i++)
    for (int j = 0; same && j < v->columns; j++) {
      double a = ((const double *)found->data)[j * v->rows + i], b = v->data[i * v->columns + j];
      same = a == b || (isnan(a) && isnan(b));
    }
  return same;
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

od_status od_matrices_write_mat(const od_mat_variable *variable, int count, const char *path, od_error *err) {
  od_atomic_file f;
  od_status status = od_atomic_open(&f, path, err);
  if (status != OD_OK) return status;
  if (!f.temporary) {
    od_atomic_discard(&f);
    return od_fail(err, OD_IO, "cannot write %s: a MATLAB file must be a file on disk", path);
  }
  const char *temporary = od_atomic_hand_over(&f);
  // Not OD_MAT_WRITTEN, which marks tables.
  mat_t *mat = Mat_CreateVer(temporary, "MATLAB 5.0 MAT-file, matrices of oleodyn " OD_VERSION, MAT_FT_MAT5);
  bool ok = mat != NULL;
  for (int i = 0; i < count && ok; i++) {
    matvar_t *made = variable[i].data ? make_matrix(&variable[i]) : make_texts(&variable[i]);
    ok = made && Mat_VarWrite(mat, made, MAT_COMPRESSION_ZLIB) == 0;
    Mat_VarFree(made);
  }
  if (mat && Mat_Close(mat) != 0) ok = false;
  if (ok && is_written(temporary, variable, count)) return od_atomic_commit(&f, err);
  od_atomic_discard(&f);
  return od_fail(err, OD_IO, "cannot write %s: what was written is not complete; is the disk full?", path);
}
