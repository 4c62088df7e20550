// HDF5 files as tables. Vectors are columns, matrices are columns "name(:,k)" or "name(k,:)", and the fields of compound types are
// columns "name.field". Groups are prefixes: "group.name". Only hard links are followed, so other files are not read.
#ifndef OD_MAT_HDF5_FILE_H
#define OD_MAT_HDF5_FILE_H

#include "mat/mat_arrays.h"

// Sends the head of the table of a file (OD_HELPER_TABLE): names, units, flaws and number of rows. bytes: the size of the file.
// Fails with OD_BAD_INPUT, also if the numbers need more bytes than od_most_unpacked() allows for the size of the file, or with
// OD_NO_MEMORY.
od_status od_hdf5_read_head(const char *path, long long bytes, const od_mat_wish *wish, od_channel *to, od_error *err);

// Sends the rows of some columns in blocks (OD_HELPER_BLOCK). wanted: indices of columns of the head, ascending. Fails with
// OD_BAD_INPUT, also if the chunks of the columns need too much memory for the size of the file, or with OD_NO_MEMORY.
od_status od_hdf5_read_rows(const char *path, long long bytes, const od_mat_wish *wish, const int *wanted, int count,
                            od_channel *to, od_error *err);

// Adds the MATLAB objects of a MATLAB file of level 7.3 to a list of arrays, as arrays with flaws (mat_objects.h).
void od_hdf5_find_objects(const char *path, od_arrays *to);

#endif
