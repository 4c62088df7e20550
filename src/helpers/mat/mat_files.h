// The program oleodyn-mat: reads and writes MATLAB files, and reads HDF5 files (hdf5_file.h), for liboleodyn (io/helper.h). Only
// this program contains matio and HDF5, because they load many other libraries and crash on damaged files. One program reads both
// formats, because matio loads HDF5, and MATLAB files of level 7.3 are HDF5 files.
#ifndef OD_MAT_FILES_H
#define OD_MAT_FILES_H

#include <stdbool.h>

#include "io/channel.h"
#include "oleodyn/status.h"

// Expected contents of a file to be read, as in od_table_wish.
typedef struct od_mat_wish {
  const char *time;  // "": unknown
  char **columns;
  int count;
  bool no_time;
} od_mat_wish;

// Reads the file and sends its table (OD_HELPER_TABLE). The caller sends the returned status (OD_BAD_INPUT or OD_NO_MEMORY on
// failure) and the message.
od_status od_mat_read_file(const char *path, long long bytes, const od_mat_wish *wish, od_channel *to, od_error *err);

// Receives the variables of a request and writes the file. Then compares the file with hashes of the received data. Fails with
// OD_IO.
od_status od_mat_write_file(const char *path, od_channel *from, od_error *err);

#endif
