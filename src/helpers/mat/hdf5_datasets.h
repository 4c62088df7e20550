// The datasets of an open HDF5 file (hdf5_file.c), for the reader of their numbers (hdf5_rows.c).
#ifndef OD_MAT_HDF5_DATASETS_H
#define OD_MAT_HDF5_DATASETS_H

#include "mat/hdf5_file.h"
#include "mat/hdf5_texts.h"

enum { OD_HDF5_REASON = 120 };

// The type to which HDF5 converts values: no type, double, or 64 bits, which this program reads as an integer.
typedef enum od_hdf5_kind { OD_HDF5_NOTHING, OD_HDF5_NUMBERS, OD_HDF5_BITS } od_hdf5_kind;

typedef struct od_hdf5_dataset od_hdf5_dataset;

// A leaf: a field of a compound type, or the whole type of a dataset that has no fields.
typedef struct od_hdf5_leaf {
  const od_hdf5_dataset *set;
  int index;  // index of the leaf in the order of the type
  od_hdf5_kind kind;
  size_t slots;       // number of values in one row
  const char *words;  // description of the values, for messages
  char name[OD_ARRAY_NAME];
} od_hdf5_leaf;

struct od_hdf5_dataset {
  char *path;  // path of the dataset within the file
  int rank;
  int at[2];             // the dimensions that are rows and columns; -1: none
  size_t rows, columns;  // vectors have one row or one column
  size_t chunk[2];       // length of a chunk along these dimensions; 0: not chunked
  double chunk_bytes;
  double logical, stored;  // bytes of the numbers, and bytes in the file
  double scale, offset;    // number = scale * stored number + offset, except for compound types
  double missing[2];       // stored numbers that mean a missing value
  int missing_count;
  bool is_compound;  // whether every row is a record of leaves
  int leaves;
  od_hdf5_leaf *leaf;
};

typedef struct od_hdf5_file {
  hid_t id;
  od_arrays *list;         // arrays of the file; the source of each array is an od_hdf5_leaf
  od_series_list columns;  // the columns of the table
  od_series_label *label;
  const char *start_time;  // date of the time zero; NULL: unknown
  int visited;
} od_hdf5_file;

// Opens a file and lists the columns of its table, in memory of the arena. The program never closes the file, because it ends after
// one request. Fails with OD_BAD_INPUT or OD_NO_MEMORY.
od_status od_hdf5_open(const char *path, const od_mat_wish *wish, od_arena *arena, od_hdf5_file *f, od_error *err);

// Returns whether a type is a compound type whose members are processed. At the largest depth of nesting the result is
// false: a compound type there is one leaf without numbers.
bool od_hdf5_has_members(hid_t type, int depth);

// Fails with OD_BAD_INPUT; the message contains the reason that the library reports.
od_status od_hdf5_damaged(const char *what, od_error *err);

#endif
