// Reading MATLAB files of level 4, 5 and 7.3 as tables.
//
// A file may hold anything. Columns are its real numeric vectors, the columns of its matrices and what of that kind is in
// its structures, each under the name it has in MATLAB; of the lengths that occur the most frequent one counts (of two
// equally frequent ones the greater), for a table has one.
#include <math.h>
#include <matio.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/mat_name.h"
#include "io/table.h"

enum { DEEPEST = 8, MOST_COLUMNS = 100000, LONGEST_NAME = 256 };

typedef struct found {
  char name[LONGEST_NAME];
  const void *data;  // of the whole variable
  enum matio_classes class_type;
  size_t first, rows;
} found;

typedef struct gathering {
  found *item;
  int count, capacity;
  bool no_memory;
} gathering;

// --- What is there ------------------------------------------------------------------------------------------------

static void add(gathering *g, const char *name, const matvar_t *v, size_t first, size_t rows) {
  if (g->count >= MOST_COLUMNS) return;
  if (g->count == g->capacity) {
    int larger = g->capacity ? 2 * g->capacity : 32;
    found *moved = realloc(g->item, (size_t)larger * sizeof *moved);
    if (!moved) {
      g->no_memory = true;
      return;
    }
    g->item = moved;
    g->capacity = larger;
  }
  found *f = &g->item[g->count++];
  *f = (found){.data = v->data, .class_type = v->class_type, .first = first, .rows = rows};
  snprintf(f->name, sizeof f->name, "%s", name);
}

static bool is_numeric(const matvar_t *v) {
  return v->class_type >= MAT_C_DOUBLE && v->class_type <= MAT_C_UINT64 && !v->isComplex && v->data && v->rank == 2;
}

static void gather(gathering *g, matvar_t *v, const char *name, int depth);

// A structure, or an array of them: "log.p", "log(2).p".
static void gather_fields(gathering *g, matvar_t *v, const char *name, int depth) {
  size_t elements = 1;
  for (int i = 0; i < v->rank; i++) elements *= v->dims[i];
  unsigned fields = Mat_VarGetNumberOfFields(v);
  char *const *names = Mat_VarGetStructFieldnames(v);
  for (size_t e = 0; e < elements && names && g->count < MOST_COLUMNS; e++)
    for (unsigned f = 0; f < fields; f++) {
      matvar_t *field = Mat_VarGetStructFieldByIndex(v, f, e);
      char path[LONGEST_NAME], index[32] = "";
      if (elements > 1) snprintf(index, sizeof index, "(%zu)", e + 1);
      if (snprintf(path, sizeof path, "%s%s.%s", name, index, names[f]) >= (int)sizeof path) continue;
      if (field) gather(g, field, path, depth + 1);
    }
}

static void gather(gathering *g, matvar_t *v, const char *name, int depth) {
  if (depth > DEEPEST) return;
  if (v->class_type == MAT_C_STRUCT) gather_fields(g, v, name, depth);
  if (!is_numeric(v)) return;
  size_t rows = v->dims[0], columns = v->dims[1];
  if (rows == 1 || columns == 1) {
    add(g, name, v, 0, rows * columns);
    return;
  }
  for (size_t c = 0; c < columns && g->count < MOST_COLUMNS; c++) {
    char path[LONGEST_NAME];
    if (snprintf(path, sizeof path, "%s(:,%zu)", name, c + 1) < (int)sizeof path) add(g, path, v, c * rows, rows);
  }
}

static double value_at(const found *f, size_t row) {
  size_t i = f->first + row;
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

// --- The table ----------------------------------------------------------------------------------------------------

static int by_length(const void *a, const void *b) {
  size_t x = *(const size_t *)a, y = *(const size_t *)b;
  return (x > y) - (x < y);
}

static size_t usual_length(const gathering *g) {
  size_t *length = malloc(((size_t)g->count + 1) * sizeof *length), best = 0;
  if (!length) return 0;
  for (int i = 0; i < g->count; i++) length[i] = g->item[i].rows;
  qsort(length, (size_t)g->count, sizeof *length, by_length);
  for (int i = 0, most = 0, same = 0; i < g->count; i++) {
    same = i > 0 && length[i] == length[i - 1] ? same + 1 : 1;
    if (same >= most && length[i] > 0) most = same, best = length[i];
  }
  free(length);
  return best;
}

static od_status make_table(const gathering *g, const char *const *missing, od_table **out) {
  size_t rows = usual_length(g);
  int columns = 0;
  for (int i = 0; i < g->count; i++) columns += g->item[i].rows == rows;
  *out = od_table_new(columns);
  double *row = malloc(((size_t)columns + 1) * sizeof *row);
  od_status status = *out && row ? OD_OK : OD_NO_MEMORY;
  for (int i = 0, c = 0; i < g->count && status == OD_OK; i++)
    if (g->item[i].rows == rows) status = od_table_label(*out, c++, g->item[i].name, "");
  for (size_t r = 0; r < rows && status == OD_OK; r++) {
    for (int i = 0, c = 0; i < g->count; i++) {
      if (g->item[i].rows != rows) continue;
      double value = value_at(&g->item[i], r);
      row[c++] = od_is_missing(missing, NULL, 0, value) ? (double)NAN : value;
    }
    status = od_table_append(*out, row);
  }
  free(row);
  return status;
}

// --- Names and units of files that this program wrote ---------------------------------------------------------------

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

// Which label a variable has: the one in its place, unless the file was written anew in another order.
static int find_label(matvar_t *labels, int columns, int at, const char *variable) {
  for (int k = 0; k < columns; k++) {
    int label = (at + k) % columns;
    char name[LONGEST_NAME], valid[OD_MAT_NAME_SIZE];
    copy_text(Mat_VarGetCell(labels, label), name, sizeof name);
    od_mat_name(valid, name);
    // In its own place a variable may have a suffix that tells it from another of the same name.
    if (!strncmp(variable, valid, k == 0 ? strlen(valid) : sizeof valid)) return label;
  }
  return -1;
}

// "columns", a cell array of a name and a unit for each variable.
static od_status take_labels(matvar_t *labels, od_table *table) {
  if (!labels || labels->class_type != MAT_C_CELL || labels->rank != 2 || labels->dims[1] != 2 ||
      labels->dims[0] != (size_t)table->columns)
    return OD_OK;
  od_status status = OD_OK;
  for (int c = 0; c < table->columns && status == OD_OK; c++) {
    char name[LONGEST_NAME], unit[LONGEST_NAME];
    int label = find_label(labels, table->columns, c, table->name[c]);
    if (label < 0) continue;
    copy_text(Mat_VarGetCell(labels, label), name, sizeof name);
    copy_text(Mat_VarGetCell(labels, table->columns + label), unit, sizeof unit);
    if (name[0]) status = od_table_label(table, c, name, unit);
  }
  return status;
}

// --- The file -----------------------------------------------------------------------------------------------------

typedef struct variables {
  matvar_t **item;
  int count, capacity;
} variables;

static od_status read_variables(mat_t *mat, variables *all) {
  for (matvar_t *v; (v = Mat_VarReadNext(mat));) {
    if (all->count == all->capacity) {
      int larger = all->capacity ? 2 * all->capacity : 32;
      matvar_t **moved = realloc(all->item, (size_t)larger * sizeof *moved);
      if (!moved) {
        Mat_VarFree(v);
        return OD_NO_MEMORY;
      }
      all->item = moved;
      all->capacity = larger;
    }
    all->item[all->count++] = v;
  }
  return OD_OK;
}

od_status od_table_read_mat(const char *path, const char *const *missing, od_table **out, od_error *err) {
  *out = NULL;
  mat_t *mat = Mat_Open(path, MAT_ACC_RDONLY);
  if (!mat) return od_fail(err, OD_BAD_INPUT, "cannot read %s as a MATLAB file", path);
  variables all = {0};
  gathering g = {0};
  matvar_t *labels = NULL;
  od_status status = read_variables(mat, &all);
  for (int i = 0; i < all.count; i++) {
    const char *name = all.item[i]->name ? all.item[i]->name : "";
    if (!strcmp(name, "columns")) labels = all.item[i];
    gather(&g, all.item[i], name, 0);
  }
  if (g.no_memory) status = OD_NO_MEMORY;
  if (status == OD_OK && g.count == 0)
    status = od_fail(err, OD_BAD_INPUT, "%s has no vectors or matrices of numbers", path);
  else if (status == OD_OK)
    status = make_table(&g, missing, out);
  if (status == OD_OK) status = take_labels(labels, *out);
  if (status == OD_NO_MEMORY) od_fail(err, status, "memory ran out while reading %s", path);
  free(g.item);
  for (int i = 0; i < all.count; i++) Mat_VarFree(all.item[i]);
  free(all.item);
  Mat_Close(mat);
  if (status == OD_OK) return OD_OK;
  od_table_free(*out);
  *out = NULL;
  return status;
}
