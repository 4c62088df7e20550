// Reads MATLAB files of level 4, 5 and 7.3 as tables.
//
// A file may be a whole workspace. Columns of the table are its real numeric vectors, and the columns and rows of its matrices.
// Vectors and matrices in structures are included. Each column has its MATLAB name: "p", "X(:,2)", "Xt(3,:)", "log.p". All columns
// of a table are as long as the time column.
#include <math.h>
#include <matio.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/mat_matrices.h"
#include "io/table.h"
#include "io/wording.h"
#include "mat/mat_files.h"

enum {
  DEEPEST = 8,
  MOST_ARRAYS = 100000,
  MOST_COLUMNS = 100000,
  LONGEST_NAME = 256,
  COLUMN_NAME = LONGEST_NAME + 40,
  BLOCK = 2048
};

// A matrix of numbers; vectors have one row or one column.
typedef struct array {
  char name[LONGEST_NAME];
  const void *data;
  enum matio_classes class_type;
  size_t rows, columns;
} array;

typedef struct gathering {
  array *item;
  int count;
  od_arena *arena;
} gathering;

// --- Variables of the file ----------------------------------------------------------------------------------------

// Adds an array. If memory runs out, the arena records the failure.
static void add(gathering *g, const char *name, const matvar_t *v, size_t rows, size_t columns) {
  if (g->count >= MOST_ARRAYS) return;
  array *list = od_arena_extend(g->arena, g->item, g->count, sizeof *list);
  if (!list) return;
  g->item = list;
  array *a = &g->item[g->count++];
  *a = (array){.data = v->data, .class_type = v->class_type, .rows = rows, .columns = columns};
  snprintf(a->name, sizeof a->name, "%s", name);
}

// Computes the shape of an array. Dimensions of length one are ignored: 1 x 1 x 500 is a vector. Returns false if more than two
// other dimensions remain or the array is empty.
static bool find_shape(const matvar_t *v, size_t *rows, size_t *columns) {
  *rows = v->rank > 0 ? v->dims[0] : 0;
  *columns = 1;
  for (int i = 1; i < v->rank; i++) {
    if (v->dims[i] == 1) continue;
    if (*columns != 1 && *rows != 1) return false;
    if (*columns != 1) *rows = *columns;
    *columns = v->dims[i];
  }
  return *rows > 0 && *columns > 0;
}

static void gather(gathering *g, matvar_t *v, const char *name, int depth);

// Adds the fields of a structure, or of an array of structures: "log.p", "log(2).p".
static void gather_fields(gathering *g, matvar_t *v, const char *name, int depth) {
  size_t elements = v->data && v->dims ? 1 : 0;
  for (int i = 0; i < v->rank && elements > 0; i++) elements *= v->dims[i];
  unsigned fields = Mat_VarGetNumberOfFields(v);
  char *const *names = Mat_VarGetStructFieldnames(v);
  for (size_t e = 0; e < elements && names && g->count < MOST_ARRAYS; e++)
    for (unsigned f = 0; f < fields; f++) {
      matvar_t *field = Mat_VarGetStructFieldByIndex(v, f, e);
      char path[LONGEST_NAME], index[32] = "";
      if (elements > 1) snprintf(index, sizeof index, "(%zu)", e + 1);
      if (snprintf(path, sizeof path, "%s%s.%s", name, index, names[f]) >= (int)sizeof path) continue;
      if (field) gather(g, field, path, depth + 1);
    }
}

static void gather(gathering *g, matvar_t *v, const char *name, int depth) {
  size_t rows, columns;
  if (depth > DEEPEST) return;
  if (v->class_type == MAT_C_STRUCT) gather_fields(g, v, name, depth);
  bool is_numeric = v->class_type >= MAT_C_DOUBLE && v->class_type <= MAT_C_UINT64 && !v->isComplex;
  if (is_numeric && v->data && v->dims && find_shape(v, &rows, &columns)) add(g, name, v, rows, columns);
}

static double value_at(const array *f, size_t i) {
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

// --- The length ---------------------------------------------------------------------------------------------------

static bool is_vector(const array *a) {
  return a->rows == 1 || a->columns == 1;
}

// Returns the length of the vector, column or row with a name such as "p", "X(:,2)" or "Xt(3,:)"; 0: there is none. If no array has
// this name, uses an array whose name ends in this name.
static size_t named_length(const gathering *g, const char *text) {
  char base[LONGEST_NAME];
  unsigned long index;
  int end = 0;
  if (snprintf(base, sizeof base, "%s", text) >= (int)sizeof base) return 0;
  char *open = strrchr(base, '(');
  bool column = open && sscanf(open, "(:,%lu)%n", &index, &end) == 1 && end > 0 && !open[end];
  bool row = open && !column && (end = 0, sscanf(open, "(%lu,:)%n", &index, &end) == 1) && end > 0 && !open[end];
  if (column || row) *open = '\0';
  for (int loose = 0; loose < 2; loose++)
    for (int i = 0; i < g->count; i++) {
      const array *a = &g->item[i];
      if (loose ? !od_name_ends_in(a->name, base) : strcmp(a->name, base) != 0) continue;
      if (column && index >= 1 && index <= a->columns) return a->rows;
      if (row && index >= 1 && index <= a->rows) return a->columns;
      if (!column && !row && is_vector(a)) return a->rows * a->columns;
    }
  return 0;
}

// Returns the length of the vector whose name is most similar to a name of time; 0: no such vector.
static size_t length_of_time(const gathering *g) {
  size_t found = 0;
  for (int i = 0, best = 0; i < g->count; i++) {
    const array *a = &g->item[i];
    int likeness = is_vector(a) && a->rows * a->columns > 1 ? od_name_is_time(a->name) : 0;
    if (likeness > best) best = likeness, found = a->rows * a->columns;
  }
  return found;
}

static int by_length(const void *a, const void *b) {
  size_t x = *(const size_t *)a, y = *(const size_t *)b;
  return (x > y) - (x < y);
}

// Returns the most frequent length of the longer side of all arrays except scalars. If two lengths are equally frequent, returns
// the greater length.
static size_t usual_length(const gathering *g) {
  size_t *length = OD_TAKE(g->arena, size_t, g->count), best = 1;
  if (!length) return 0;
  int votes = 0;
  for (int i = 0; i < g->count; i++) {
    size_t longer = g->item[i].rows > g->item[i].columns ? g->item[i].rows : g->item[i].columns;
    if (longer > 1) length[votes++] = longer;
  }
  qsort(length, (size_t)votes, sizeof *length, by_length);
  for (int i = 0, most = 0, same = 0; i < votes; i++) {
    same = i > 0 && length[i] == length[i - 1] ? same + 1 : 1;
    if (same >= most) most = same, best = length[i];
  }
  return best;
}

// Chooses the number of rows, in this order: the length of the time column that the wish names; of the vector with a time-like
// name; of another column that the wish names; the most frequent length.
static size_t choose_length(const gathering *g, const od_mat_wish *wish) {
  size_t length = wish->time[0] ? named_length(g, wish->time) : 0;
  if (length == 0 && !wish->no_time) length = length_of_time(g);
  for (int i = 0; length <= 1 && i < wish->count; i++) length = named_length(g, wish->columns[i]);
  return length > 1 ? length : usual_length(g);
}

// --- The table ----------------------------------------------------------------------------------------------------

// A column of the table: every stride-th number of an array.
typedef struct series {
  const array *array;
  size_t first, stride;
} series;

typedef struct choice {
  series *item;
  int count;
} choice;

// Adds a series. If memory runs out, the arena records the failure.
static void choose(choice *c, od_arena *arena, const array *a, size_t first, size_t stride) {
  if (c->count >= MOST_COLUMNS) return;
  series *list = od_arena_extend(arena, c->item, c->count, sizeof *list);
  if (!list) return;
  c->item = list;
  c->item[c->count++] = (series){a, first, stride};
}

// Chooses all vectors, columns and rows of this length.
static choice choose_all(const gathering *g, size_t length) {
  choice c = {0};
  for (int i = 0; i < g->count; i++) {
    const array *a = &g->item[i];
    if (is_vector(a)) {
      if (a->rows * a->columns == length) choose(&c, g->arena, a, 0, 1);
      continue;
    }
    for (size_t k = 0; a->rows == length && k < a->columns && k < MOST_COLUMNS; k++)
      choose(&c, g->arena, a, k * a->rows, 1);
    for (size_t k = 0; a->columns == length && k < a->rows && k < MOST_COLUMNS; k++)
      choose(&c, g->arena, a, k, a->rows);
  }
  return c;
}

typedef struct column_label {
  char name[COLUMN_NAME], unit[LONGEST_NAME];
} column_label;

// Sets the label of a column: the MATLAB name of its series, without a unit.
static void make_label(const series *s, column_label *to) {
  if (is_vector(s->array))
    snprintf(to->name, sizeof to->name, "%s", s->array->name);
  else if (s->stride == 1)
    snprintf(to->name, sizeof to->name, "%s(:,%zu)", s->array->name, s->first / s->array->rows + 1);
  else
    snprintf(to->name, sizeof to->name, "%s(%zu,:)", s->array->name, s->first + 1);
  to->unit[0] = '\0';
}

// Chooses the series of the table.
static od_status select_series(const gathering *g, const od_mat_wish *wish, choice *out, size_t *rows, od_error *err) {
  *rows = choose_length(g, wish);
  for (int i = 0; i < wish->count; i++) {
    size_t own = named_length(g, wish->columns[i]);
    if (own != 0 && own != *rows)
      return od_fail(err, OD_BAD_INPUT, "'%.100s' has %s, but the log has %s; expected equal lengths", wish->columns[i],
                     od_count((long long)own, "value").text, od_count((long long)*rows, "row").text);
  }
  *out = choose_all(g, *rows);
  return od_arena_status(g->arena);
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
    // At its own index a variable may have a suffix that distinguishes equal names.
    if (!strncmp(variable, valid, k == 0 ? strlen(valid) : sizeof valid)) return label;
  }
  return -1;
}

// Reads the labels from "columns", a cell array of a name and a unit for each variable.
static void take_labels(matvar_t *labels, column_label *column, int columns) {
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

static void put_series(od_channel *to, const series *s, size_t rows) {
  double block[BLOCK];
  for (size_t row = 0; row < rows;) {
    size_t n = 0;
    for (; n < BLOCK && row < rows; row++) block[n++] = value_at(s->array, s->first + row * s->stride);
    od_channel_put(to, block, n * sizeof *block);
  }
}

static void put_table(od_channel *to, const choice *c, const column_label *label, size_t rows) {
  od_channel_put_number(to, OD_HELPER_TABLE);
  od_channel_put_number(to, (uint64_t)c->count);
  od_channel_put_number(to, rows);
  for (int i = 0; i < c->count; i++) {
    od_channel_put_text(to, label[i].name);
    od_channel_put_text(to, label[i].unit);
  }
  for (int i = 0; i < c->count; i++) put_series(to, &c->item[i], rows);
}

// Reads all variables. The variables are not freed, because the program ends afterwards.
static od_status read_open(mat_t *mat, const od_mat_wish *wish, od_channel *to, od_error *err) {
  OD_SCRATCH(scratch);
  gathering g = {.arena = &scratch};
  matvar_t *labels = NULL;
  for (matvar_t *v; (v = Mat_VarReadNext(mat));) {
    const char *name = v->name ? v->name : "";
    if (!strcmp(name, "columns")) labels = v;
    gather(&g, v, name, 0);
  }
  const char *header = Mat_GetHeader(mat);
  if (od_arena_status(&scratch) != OD_OK) return OD_NO_MEMORY;
  if (complaint[0]) return od_fail(err, OD_BAD_INPUT, "the file is damaged: %.200s; write the file again", complaint);
  if (!labels && header && strstr(header, OD_MAT_WRITTEN))
    return od_fail(err, OD_BAD_INPUT,
                   "the file is damaged: the last variable, 'columns', is missing; write the file again");
  if (g.count == 0)
    return od_fail(err, OD_BAD_INPUT,
                   "the file contains no vectors or matrices of numbers; "
                   "expected vectors of equal length");
  choice c = {0};
  size_t rows = 0;
  od_status status = select_series(&g, wish, &c, &rows, err);
  column_label *label = OD_TAKE(&scratch, column_label, c.count);
  if (status != OD_OK || !label) return status != OD_OK ? status : OD_NO_MEMORY;
  for (int i = 0; i < c.count; i++) make_label(&c.item[i], &label[i]);
  take_labels(labels, label, c.count);
  put_table(to, &c, label, rows);
  return OD_OK;
}

od_status od_mat_read_file(const char *path, const od_mat_wish *wish, od_channel *to, od_error *err) {
  Mat_LogInitFunc("oleodyn-mat", keep_complaint);
  mat_t *mat = Mat_Open(path, MAT_ACC_RDONLY);
  if (!mat)
    return od_fail(err, OD_BAD_INPUT, "the file has another format or is damaged; save the file as MATLAB 5 or 7.3");
  return read_open(mat, wish, to, err);
}
