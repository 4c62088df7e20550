// CSV and other text files as a format of logs. Files are read in blocks (csv_stream.h), pipes as a whole (csv_read.c).
#include "formats/csv_stream.h"
#include "formats/log_format.h"

static bool recognizes(const char *path, const unsigned char *start, size_t length) {
  (void)path, (void)start, (void)length;
  return true;
}

static od_status open_file(const char *path, const od_table_wish *wish, void **out, od_error *err) {
  od_csv_stream *stream;
  od_status status = od_csv_stream_open(path, wish, 0, &stream, err);
  *out = stream;
  return status;
}

static od_status again(const void *stream, void **out, od_error *err) {
  od_csv_stream *other;
  od_status status = od_csv_stream_again(stream, &other, err);
  *out = other;
  return status;
}

static void close_file(void *stream) {
  od_csv_stream_close(stream);
}

static const od_table *head(const void *stream) {
  return od_csv_stream_head(stream);
}

static void want(void *stream, const bool *wanted) {
  od_csv_stream_want(stream, wanted);
}

static od_status next(void *stream, double *values, bool *end, od_error *err) {
  return od_csv_stream_next(stream, values, end, err);
}

static void rewind_file(void *stream) {
  od_csv_stream_rewind(stream);
}

static int line(const void *stream) {
  return od_csv_stream_line(stream);
}

static bool is_cut(const void *stream) {
  return od_csv_stream_is_cut(stream);
}

static bool has_changed(const void *stream) {
  return od_csv_stream_has_changed(stream);
}

static od_status grow(void *stream, od_log_growth *out, od_error *err) {
  return od_csv_stream_grow(stream, out, err);
}

static const char *start_time(const void *stream) {
  return od_csv_stream_start_time(stream);
}

const od_log_format od_csv_format = {.name = "CSV",
                                     .recognizes = recognizes,
                                     .open = open_file,
                                     .again = again,
                                     .close = close_file,
                                     .head = head,
                                     .want = want,
                                     .next = next,
                                     .rewind = rewind_file,
                                     .read_whole = od_table_read_csv_with,
                                     .line = line,
                                     .is_cut = is_cut,
                                     .has_changed = has_changed,
                                     .grow = grow,
                                     .start_time = start_time};

static od_status open_pipe(const char *path, const od_table_wish *wish, void **out, od_error *err) {
  return od_table_stream_open(od_table_read_csv_with, path, wish, out, err);
}

const od_log_format od_csv_pipe_format = {
    .name = "CSV", .recognizes = recognizes, .open = open_pipe, OD_TABLE_STREAM, .read_whole = od_table_read_csv_with};
