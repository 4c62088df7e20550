// Matrices and texts as a MATLAB file (version 5).
#ifndef OD_IO_MAT_MATRICES_H
#define OD_IO_MAT_MATRICES_H

#include "oleodyn/status.h"

#define OD_MAT_PROGRAM "oleodyn-mat"  // the program that reads and writes MATLAB files (io/helper.h)

enum { OD_MAT_NAME_SIZE = 64 };  // a MATLAB name has at most 63 characters

// Text in the headers of the MATLAB files of tables. Files of matrices do not contain this text.
#define OD_MAT_WRITTEN "written by oleodyn"

// Converts the name of a column to a valid MATLAB name: "crank.end.x" becomes "crank_end_x".
void od_mat_name(char to[OD_MAT_NAME_SIZE], const char *from);

// A variable of the file: a matrix of numbers, or of texts (cells), row-major.
typedef struct od_mat_variable {
  const char *name;
  long rows;
  int columns;
  const double *data;  // NULL: texts
  const char **text;
  long stride;  // distance between two rows of `data`; 0: `columns`
} od_mat_variable;

// Writes the variables. The file appears under its name when it is complete. matio does not report a full disk, so the helper reads
// the file again and compares the contents. od_table_write_mat() does the same. Fails with OD_IO, OD_INTERRUPTED or OD_NO_MEMORY.
od_status od_matrices_write_mat(const od_mat_variable *variable, int count, const char *path, od_error *err);

#endif
