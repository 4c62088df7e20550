// Matrices and lists of texts as a MATLAB file.
#ifndef OD_IO_MAT_MATRICES_H
#define OD_IO_MAT_MATRICES_H

#include "oleodyn/status.h"

// A variable of the file: a row-major matrix, or a column of texts.
typedef struct od_mat_variable {
  const char *name;
  int rows, columns;
  const double *data;  // NULL: texts
  const char **text;   // rows of them
} od_mat_variable;

// Written like od_table_write_mat(): complete or not at all, and read again for comparison.
od_status od_matrices_write_mat(const od_mat_variable *variable, int count, const char *path, od_error *err);

#endif
