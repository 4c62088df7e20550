// MATLAB files as a format of logs. The helper program oleodyn-mat reads the files (mat_read.c).
#include <string.h>

#include "formats/log_format.h"

// Files of level 4 have no signature, so the name of the file is also tested.
static bool recognizes(const char *path, const unsigned char *start, size_t length) {
  return od_table_is_matlab(path) || (length >= 128 && memcmp(start, "MATLAB ", 7) == 0 && start[124] == 0);
}

static od_status open_file(const char *path, const od_table_wish *wish, void **out, od_error *err) {
  return od_table_stream_open(od_table_read_mat, path, wish, out, err);
}

const od_log_format od_mat_format = {
    .name = "MATLAB", .recognizes = recognizes, .open = open_file, OD_TABLE_STREAM, .read_whole = od_table_read_mat};
