// Reads MATLAB files of level 4, 5 and 7.3 as tables.
//
// A file may be a whole workspace. Columns of the table are its real numeric vectors, and the columns and rows of its matrices.
// Vectors and matrices in structures are included. MATLAB objects (mat_objects.h) are columns without numbers.
#include <math.h>
#include <matio.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/helper.h"
#include "io/mat_matrices.h"
#include "io/table.h"
#include "io/wording.h"
#include "mat/mat_arrays.h"
#include "mat/mat_files.h"
#include "mat/mat_objects.h"

enum { DEEPEST = 8, LONGEST_NAME = OD_ARRAY_NAME, BLOCK = 2048 };

// --- Variables of the file ----------------------------------------------------------------------------------------

// Returns whether a name is the name of an object. The first g->objects arrays are objects.
static bool is_object(const od_arrays *g, const char *name) {
  for (int i = 0; i < g->objects; i++)
    if (!strcmp(g->item[i].name, name)) return true;
  return false;
}

static void gather(od_arrays *g, matvar_t *v, const char *name, int depth);

// Adds the fields of a structure, or of an array of structures: "log.p", "log(2).p".
static void gather_fields(od_arrays *g, matvar_t *v, const char *name, int depth) {
  size_t elements = v->data && v->dims ? 1 : 0;
  for (int i = 0; i < v->rank && elements > 0; i++) elements *= v->dims[i];
  unsigned fields = Mat_VarGetNumberOfFields(v);
  char *const *names = Mat_VarGetStructFieldnames(v);
  for (size_t e = 0; e < elements && names && g->count < OD_ARRAYS_MOST; e++)
    for (unsigned f = 0; f < fields; f++) {
      matvar_t *field = Mat_VarGetStructFieldByIndex(v, f, e);
      char path[LONGEST_NAME], index[32] = "";
      if (elements > 1) snprintf(index, sizeof index, "(%zu)", e + 1);
      if (snprintf(path, sizeof path, "%s%s.%s", name, index, names[f]) >= (int)sizeof path) continue;
      if (field) gather(g, field, path, depth + 1);
    }
}

static void gather(od_arrays *g, matvar_t *v, const char *name, int depth) {
  size_t rows, columns;
  if (depth > DEEPEST || is_object(g, name)) return;
  if (v->class_type == MAT_C_STRUCT) gather_fields(g, v, name, depth);
  bool is_numeric = v->class_type >= MAT_C_DOUBLE && v->class_type <= MAT_C_UINT64 && !v->isComplex;
  if (!is_numeric || !v->data || !v->dims || !od_arrays_shape(v->dims, v->rank, &rows, &columns, NULL)) return;
  od_array *a = od_arrays_add(g, name, rows, columns);
  if (a) a->source = v;
}

// Returns number i of a variable, in MATLAB's order (column by column).
static double value_at(const matvar_t *f, size_t i) {
  switch (f->class_type) {
    case MAT_C_DOUBLE: return ((const double *)f->data)[i];
    case MAT_C_SINGLE: return (double)((const float *)f->data)[i];
    case MAT_C_INT8: return ((const int8_t *)f->data)[i];
    case MAT_C_UINT8: return ((const uint8_t *)f->data)[i];
    case MAT_C_INT16: return ((const int16_t *)f->data)[i];
    case MAT_C_UINT16: return ((const uint16_t *)f->data)[i];
    case MAT_C_INT32: return ((const int32_t *)f->data)[i];
    case MAT_C_UINT32: return ((const uint32_t *)f->data)[i];
    case MAT_C_INT64: return (double)((const int64_t *)f->data)[i];
    case MAT_C_UINT64: return (double)((const uint64_t *)f->data)[i];
    default: return NAN;
  }
}

// --- Names and units of files written by this program ---------------------------------------------------------------

static void copy_text(const matvar_t *cell, char *to, size_t size) {
  size_t n = cell && cell->class_type == MAT_C_CHAR && cell->data ? cell->nbytes : 0;
  bool wide = cell && (cell->data_type == MAT_T_UINT16 || cell->data_type == MAT_T_UTF16);
  size_t used = 0;
  for (size_t i = 0; i < n && used + 1 < size; i += wide ? 2 : 1) {
    uint16_t character = (unsigned char)((const char *)cell->data)[i];
    if (wide) memcpy(&character, (const char *)cell->data + i, sizeof character);
    to[used++] = wide && character > 0x7e ? '?' : (char)character;
  }
  to[used] = '\0';
}

// Returns the index of the label of a variable, or -1 if the variable has no label. The index usually equals the index of the
// variable, unless the file was rewritten in another order.
static int find_label(matvar_t *labels, int columns, int at, const char *variable) {
  for (int k = 0; k < columns; k++) {
    int label = (at + k) % columns;
    char name[LONGEST_NAME], valid[OD_MAT_NAME_SIZE];
    copy_text(Mat_VarGetCell(labels, label), name, sizeof name);
    od_mat_name(valid, name);
    // If label and variable have the same index, the variable may have a suffix that distinguishes equal names.
    if (!strncmp(variable, valid, k == 0 ? strlen(valid) : sizeof valid)) return label;
  }
  return -1;
}

// Reads the labels from "columns", a cell array of a name and a unit for each variable.
static void take_labels(matvar_t *labels, od_series_label *column, int columns) {
  if (!labels || labels->class_type != MAT_C_CELL || labels->rank != 2 || labels->dims[1] != 2 ||
      labels->dims[0] != (size_t)columns)
    return;
  for (int c = 0; c < columns; c++) {
    char name[LONGEST_NAME];
    int label = find_label(labels, columns, c, column[c].name);
    if (label < 0) continue;
    copy_text(Mat_VarGetCell(labels, label), name, sizeof name);
    if (!name[0]) continue;
    strcpy(column[c].name, name);
    copy_text(Mat_VarGetCell(labels, columns + label), column[c].unit, sizeof column[c].unit);
  }
}

// --- The answer ---------------------------------------------------------------------------------------------------

// The first error message of matio.
static char complaint[200];
static void keep_complaint(int level, char *message) {
  bool serious = level & (MATIO_LOG_LEVEL_ERROR | MATIO_LOG_LEVEL_CRITICAL);
  if (serious && !complaint[0]) snprintf(complaint, sizeof complaint, "%s", message);
  complaint[strcspn(complaint, "\r\n")] = '\0';
}

static void put_series(od_channel *to, const od_series *s, size_t rows) {
  double block[BLOCK];
  const od_array *a = s->array;
  size_t first = od_array_is_vector(a) ? 0 : s->is_row ? s->index : s->index * a->rows;
  size_t stride = s->is_row ? a->rows : 1;
  for (size_t row = 0; row < rows;) {
    size_t n = 0;
    for (; n < BLOCK && row < rows; row++) block[n++] = value_at(a->source, first + row * stride);
    od_channel_put(to, block, n * sizeof *block);
  }
}

// Fails with OD_BAD_INPUT if the file has no numbers, or if the table has at most one row and the file has objects, because the objects
// then contain the numbers.
static od_status check_numbers(const od_arrays *g, size_t rows, od_error *err) {
  int numbers = 0, objects = 0;
  const char *first = NULL;
  for (int i = 0; i < g->count; i++) {
    const char *flaw = g->item[i].flaw;
    numbers += !flaw;
    objects += flaw != NULL;
    if (!first) first = flaw;
  }
  if (objects > 0 && (numbers == 0 || rows <= 1))
    return od_fail(err, OD_BAD_INPUT, "the file contains no vectors or matrices of numbers, but %s: %s",
                   od_count(objects, "MATLAB object").text, first);
  if (numbers > 0) return OD_OK;
  return od_fail(err, OD_BAD_INPUT,
                 "the file contains no vectors or matrices of numbers; expected vectors of equal length");
}

// Reads all variables. The variables are not freed, because the program ends afterward. Fails with OD_BAD_INPUT or OD_NO_MEMORY.
static od_status read_open(mat_t *mat, const char *path, long long bytes, const od_mat_wish *wish, od_channel *to,
                           od_error *err) {
  OD_SCRATCH(scratch);
  od_arrays g = {.arena = &scratch};
  matvar_t *labels = NULL;
  od_mat_find_objects(path, &g);
  g.objects = g.count;
  for (matvar_t *v; (v = Mat_VarReadNext(mat));) {
    // Objects store their contents in a variable without a name.
    if (!v->name || !v->name[0]) continue;
    if (!strcmp(v->name, "columns")) labels = v;
    gather(&g, v, v->name, 0);
  }
  const char *header = Mat_GetHeader(mat);
  if (od_arena_status(&scratch) != OD_OK) return OD_NO_MEMORY;
  if (complaint[0]) return od_fail(err, OD_BAD_INPUT, "the file is damaged: %.200s; write the file again", complaint);
  if (!labels && header && strstr(header, OD_MAT_WRITTEN))
    return od_fail(err, OD_BAD_INPUT,
                   "the file is damaged: the last variable, 'columns', is missing; write the file again");
  od_series_list c = {0};
  od_status status = check_numbers(&g, 2, err);
  if (status == OD_OK) status = od_series_select(&g, wish, &c, err);
  if (status == OD_OK) status = check_numbers(&g, c.rows, err);
  if (status != OD_OK) return status;
  if ((double)c.count * (double)c.rows > (double)od_helper_most_numbers(bytes))
    return od_fail(err, OD_BAD_INPUT,
                   "%s of %zu rows %s %.3g MB of memory, which is too much for a file with %.3g MB; "
                   "write the file again with fewer numbers",
                   od_count(c.count, "column").text, c.rows, od_form(c.count, "needs", "need"),
                   8e-6 * (double)c.count * (double)c.rows, (double)bytes / 1e6);
  od_series_label *label = OD_TAKE(&scratch, od_series_label, c.count);
  if (!label) return OD_NO_MEMORY;
  for (int i = 0; i < c.count; i++) od_series_describe(&c.item[i], &label[i]);
  take_labels(labels, label, c.count);
  od_series_put_head(to, &c, label, NULL);
  for (int i = 0; i < c.count; i++)
    if (!c.item[i].array->flaw) put_series(to, &c.item[i], c.rows);
  return OD_OK;
}

od_status od_mat_read_file(const char *path, long long bytes, const od_mat_wish *wish, od_channel *to, od_error *err) {
  Mat_LogInitFunc("oleodyn-mat", keep_complaint);
  mat_t *mat = Mat_Open(path, MAT_ACC_RDONLY);
  if (!mat)
    return od_fail(err, OD_BAD_INPUT, "the file has another format or is damaged; save the file as MATLAB 5 or 7.3");
  return read_open(mat, path, bytes, wish, to, err);
}
