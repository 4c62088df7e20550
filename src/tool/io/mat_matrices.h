// Matrices and texts as a MATLAB file (version 5). MATLAB files of tables are written here, too.
#ifndef OD_IO_MAT_MATRICES_H
#define OD_IO_MAT_MATRICES_H

#include "oleodyn/status.h"

// A variable of the file: a matrix of numbers, or of texts (cells), row-major.
typedef struct od_mat_variable {
  const char *name;
  long rows;
  int columns;
  const double *data;  // NULL: texts
  const char **text;
  long stride;  // distance between two rows of `data`; 0: `columns`
} od_mat_variable;

// Writes the variables after a header text. The file appears under its name when it is complete. The library that writes it does
// not report a full disk, so the file is read again and compared.
od_status od_mat_write(const od_mat_variable *variable, int count, const char *header, const char *path, od_error *err);
// The same with the header text of matrices.
od_status od_matrices_write_mat(const od_mat_variable *variable, int count, const char *path, od_error *err);

#endif
