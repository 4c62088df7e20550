// Arrays of a file, and the columns of a table that consist of these arrays. Readers of all formats of this program
// list the arrays of a file; then the same rules choose the number of rows and the columns.
//
// Columns of the table are vectors, and columns and rows of matrices, with their names in MATLAB's form: "p", "X(:,2)", "Xt(3,:)",
// "log.p". All columns of a table are as long as the time column.
#ifndef OD_MAT_ARRAYS_H
#define OD_MAT_ARRAYS_H

#include <stdbool.h>
#include <stddef.h>

#include "mat/mat_files.h"
#include "memory/scoped.h"

enum { OD_ARRAY_NAME = 256, OD_ARRAYS_MOST = 100000 };

// A matrix; vectors have one row or one column.
typedef struct od_array {
  char name[OD_ARRAY_NAME];
  size_t rows, columns;
  const void *source;  // data of the reader that listed the array
  // Reason why the array has no numbers, a sentence without the path of the file; NULL: the array has numbers. A flawed array is one
  // column. If the flawed array has no rows, the column belongs to tables of every length.
  const char *flaw;
  const char *unit;             // NULL: none
  const char *const *label;     // names of the columns; NULL: names in MATLAB's form
  const char *const *own_unit;  // units of the columns; NULL: `unit`
  bool is_time;                 // whether an attribute of the file marks the vector as the time
} od_array;

typedef struct od_arrays {
  od_array *item;
  int count;
  int objects;  // number of MATLAB objects, which are the first arrays
  od_arena *arena;
} od_arrays;

// A column of the table: a vector, or the column or row `index` of a matrix.
typedef struct od_series {
  const od_array *array;
  size_t index;
  bool is_row;
} od_series;

typedef struct od_series_list {
  od_series *item;
  int count;
  size_t rows;
} od_series_list;

typedef struct od_series_label {
  char name[OD_ARRAY_NAME + 40], unit[OD_ARRAY_NAME];
} od_series_label;

// Adds an array of this shape, without a source. Returns NULL if the list is full or memory runs out, which the arena records.
od_array *od_arrays_add(od_arrays *a, const char *name, size_t rows, size_t columns);
// Computes the numbers of rows and columns of an array from its dimensions. Dimensions of length one are ignored: 1 x 1
// x 500 is a vector. Returns false if more than two other dimensions remain or the array is empty. at: the two
// dimensions that are rows and columns; -1: none; may be NULL.
bool od_arrays_shape(const size_t *dimension, int rank, size_t *rows, size_t *columns, int at[2]);
bool od_array_is_vector(const od_array *a);

// Chooses the number of rows, and all columns of this length. The number of rows is the first of these lengths that exists: the
// length of the time column named in `wish`; of the vector with a time-like name; of the vector that the file marks as the time; of
// another column named in `wish`; the most frequent length. Fails with OD_BAD_INPUT if a column named in `wish` has another length,
// or is an array with a flaw and without rows. Also fails with OD_NO_MEMORY.
od_status od_series_select(const od_arrays *a, const od_mat_wish *wish, od_series_list *out, od_error *err);
// Sets name and unit of a column.
void od_series_describe(const od_series *s, od_series_label *to);
// Returns the index of the column that an attribute of the file marks as the time; -1: no such column, or the name of another column
// is a name of time.
int od_series_time(const od_series_list *s, const od_series_label *label);

// Sends the head of a table (OD_HELPER_TABLE). start_time: date and time of the time zero; NULL: unknown.
void od_series_put_head(od_channel *to, const od_series_list *s, const od_series_label *label, const char *start_time);

#endif
