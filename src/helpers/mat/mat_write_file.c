// Writes MATLAB files of level 5. matio does not report a full disk. Therefore the program reads the file again and
// compares the shape and a hash of the content of every variable. The data of a variable are freed before the next
// variable is received.
#include <math.h>
#include <matio.h>
#include <stdint.h>
#include <string.h>

#include "io/mat_integrity.h"
#include "mat/mat_files.h"
#include "memory/scoped.h"

enum { MOST_VARIABLES = OD_HELPER_COLUMNS + 1, MOST_TEXT = 1 << 20, MANY = 1 << 17, CHANGING = 10 };
static const uint64_t most_numbers = UINT64_C(1) << 40;

// The properties that a variable must have in the written file.
typedef struct expected {
  char name[OD_HELPER_TEXT];
  enum matio_classes class_type;
  enum matio_compression packed;
  size_t rows, columns;
  uint64_t hash;
} expected;

static uint64_t hash_with(uint64_t hash, uint64_t word) {
  hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
  return hash ^ hash >> 29;
}

// Returns a hash of numbers. All NaN are equal.
static uint64_t hash_numbers(const double *data, size_t count) {
  uint64_t hash = count;
  for (size_t i = 0; i < count; i++) {
    uint64_t word = 0x7ff8;
    if (!isnan(data[i])) memcpy(&word, &data[i], sizeof word);
    hash = hash_with(hash, word);
  }
  return hash;
}

// Returns a hash of which cells have a text. The texts are not compared, because matio may change their encoding.
static uint64_t hash_cells(const matvar_t *cells, size_t count) {
  uint64_t hash = count;
  for (size_t i = 0; i < count; i++) {
    const matvar_t *cell = Mat_VarGetCell((matvar_t *)(uintptr_t)cells, (int)i);
    if (!cell || cell->class_type != MAT_C_CHAR) return 0;
    hash = hash_with(hash, cell->data && cell->nbytes > 0);
  }
  return hash;
}

static bool is_expected(const matvar_t *found, const expected *e) {
  if (!found || !found->name || strcmp(found->name, e->name) != 0 || found->rank != 2) return false;
  if (found->dims[0] != e->rows || found->dims[1] != e->columns || found->class_type != e->class_type) return false;
  size_t count = e->rows * e->columns;
  if (count > 0 && !found->data) return false;
  return (e->class_type == MAT_C_DOUBLE ? hash_numbers(found->data, count) : hash_cells(found, count)) == e->hash;
}

static bool is_written(const char *path, const expected *e, int count) {
  long long bytes;
  if (od_mat_check_integrity(path, INFINITY, &bytes, NULL) != OD_OK) return false;
  mat_t *mat = Mat_Open(path, MAT_ACC_RDONLY);
  bool same = mat != NULL;
  for (int i = 0; i < count && same; i++) {
    matvar_t *found = Mat_VarReadNext(mat);
    same = is_expected(found, &e[i]);
    Mat_VarFree(found);
  }
  if (mat) Mat_Close(mat);
  return same;
}

// Returns the compression of a matrix. Long matrices whose values rarely change are not compressed, because the reader
// rejects a small file that describes very many numbers.
static enum matio_compression packing(const double *data, size_t count) {
  size_t changes = 0;
  for (size_t i = 1; i < count; i++) changes += memcmp(&data[i], &data[i - 1], sizeof *data) != 0;
  return count < MANY || changes > count / CHANGING ? MAT_COMPRESSION_ZLIB : MAT_COMPRESSION_NONE;
}

// Receives a matrix of numbers. Returns NULL if an allocation fails or the request is invalid.
static matvar_t *take_numbers(od_channel *from, expected *e, od_arena *arena) {
  size_t count = e->rows * e->columns, dims[2] = {e->rows, e->columns};
  double *data = OD_TAKE(arena, double, count);
  if (!data || !od_channel_take(from, data, count * sizeof *data)) return NULL;
  e->hash = hash_numbers(data, count);
  e->packed = packing(data, count);
  return Mat_VarCreate(e->name, MAT_C_DOUBLE, MAT_T_DOUBLE, 2, dims, data, MAT_F_DONT_COPY_DATA);
}

static matvar_t *take_text(od_channel *from) {
  OD_SCRATCH(scratch);
  size_t length = (size_t)od_channel_take_number(from, MOST_TEXT), size[2] = {length > 0, length};
  char *text = OD_TAKE(&scratch, char, length + 1);
  if (!text || from->broken || !od_channel_take(from, text, length)) return NULL;
  return Mat_VarCreate(NULL, MAT_C_CHAR, MAT_T_UTF8, 2, size, text, 0);
}

// Receives a matrix of texts. Returns NULL if an allocation fails or the request is invalid.
static matvar_t *take_texts(od_channel *from, expected *e) {
  size_t count = e->rows * e->columns, dims[2] = {e->rows, e->columns};
  matvar_t *cells = Mat_VarCreate(e->name, MAT_C_CELL, MAT_T_CELL, 2, dims, NULL, 0);
  for (size_t i = 0; cells && i < count; i++) {
    matvar_t *cell = take_text(from);
    if (!cell) {
      Mat_VarFree(cells);
      return NULL;
    }
    Mat_VarSetCell(cells, (int)i, cell);
  }
  if (cells) e->hash = hash_cells(cells, count);
  e->packed = MAT_COMPRESSION_ZLIB;
  return cells;
}

static bool write_variable(mat_t *mat, od_channel *from, expected *e) {
  OD_SCRATCH(scratch);
  od_channel_take_text(from, e->name, sizeof e->name);
  uint64_t kind = od_channel_take_number(from, OD_HELPER_TEXTS);
  e->class_type = kind == OD_HELPER_NUMBERS ? MAT_C_DOUBLE : MAT_C_CELL;
  e->rows = (size_t)od_channel_take_number(from, most_numbers);
  e->columns = (size_t)od_channel_take_number(from, e->rows > 0 ? most_numbers / e->rows : most_numbers);
  if (from->broken || (kind == OD_HELPER_TEXTS && e->rows * e->columns > INT32_MAX)) return false;
  matvar_t *made = kind == OD_HELPER_NUMBERS ? take_numbers(from, e, &scratch) : take_texts(from, e);
  bool ok = made && Mat_VarWrite(mat, made, e->packed) == 0;
  Mat_VarFree(made);
  return ok;
}

od_status od_mat_write_file(const char *path, od_channel *from, od_error *err) {
  OD_SCRATCH(scratch);
  char header[OD_HELPER_TEXT];
  od_channel_take_text(from, header, sizeof header);
  int count = (int)od_channel_take_number(from, MOST_VARIABLES);
  expected *e = OD_TAKE(&scratch, expected, count);
  mat_t *mat = e && !from->broken ? Mat_CreateVer(path, header, MAT_FT_MAT5) : NULL;
  bool ok = mat != NULL;
  for (int i = 0; i < count && ok; i++) ok = write_variable(mat, from, &e[i]);
  if (mat && Mat_Close(mat) != 0) ok = false;
  if (ok && is_written(path, e, count)) return OD_OK;
  return od_fail(err, OD_IO, "the written file is incomplete; the disk may be full");
}
