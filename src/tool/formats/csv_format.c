// CSV and other text files as a format of logs. Files are read in blocks (csv_stream.h), pipes as a whole (csv_read.c).
#include "formats/csv_stream.h"
#include "formats/log_format.h"

static bool recognizes(const char *path, const unsigned char *start, size_t length) {
  (void)path, (void)start, (void)length;
  return true;
}

static od_status open_file(const char *path, const od_table_wish *wish, void **out, od_error *err) {
  return od_csv_stream_open(path, wish, 0, out, err);
}

const od_log_format od_csv_format = {
    .name = "CSV", .recognizes = recognizes, .open = open_file, OD_CSV_STREAM, .read_whole = od_table_read_csv_with};

static od_status open_pipe(const char *path, const od_table_wish *wish, void **out, od_error *err) {
  return od_table_stream_open(od_table_read_csv_with, path, wish, out, err);
}

const od_log_format od_csv_pipe_format = {
    .name = "CSV", .recognizes = recognizes, .open = open_pipe, OD_TABLE_STREAM, .read_whole = od_table_read_csv_with};
