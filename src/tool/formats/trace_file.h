// Reads trace files: the bytes of a file in their order, and the lines of a text file. Data appended after the file was opened are
// ignored, so that each pass reads the same bytes, unless the file is followed.
#ifndef OD_FORMATS_TRACE_FILE_H
#define OD_FORMATS_TRACE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <time.h>

#include "formats/log_format.h"
#include "io/byte_sum.h"
#include "io/date_time.h"
#include "oleodyn/status.h"

// ---- Bytes

typedef struct od_trace_file {
  char *path;
  int file;                 // file descriptor, which all readers of the same file share
  off_t at, limit;          // position of the next byte; length of the file when it was opened
  struct timespec written;  // modification time when the file was opened
  od_byte_sum sum;          // checksum of the bytes read since the beginning
  uint64_t known;           // checksum of all bytes, after all bytes were read
  bool is_known;
  bool follows;                   // whether the file may grow while it is read
  bool shares;                    // whether the descriptor belongs to another reader
  char start[OD_DATE_TIME_SIZE];  // date and time of the time zero, for the formats of traces; empty: unknown
} od_trace_file;

// Opens a regular file and registers it (io/inputs_read.h). The caller closes the file, also after a failure. Fails with OD_IO or
// OD_NO_MEMORY.
od_status od_trace_file_open(od_trace_file *f, const char *path, od_error *err);
// Opens another reader of the same file, at the beginning. `f` must outlive the new reader. The caller closes the new reader, also after
// a failure. Fails with OD_NO_MEMORY.
od_status od_trace_file_again(const od_trace_file *f, od_trace_file *other, od_error *err);
void od_trace_file_close(od_trace_file *f);
void od_trace_file_rewind(od_trace_file *f);
// Reads at most `most` bytes. *got: number of bytes; 0 at the end. Fails with OD_IO.
od_status od_trace_file_read(od_trace_file *f, void *to, size_t most, size_t *got, od_error *err);
// Returns whether the bytes have changed since they were first read. Appended data are ignored. False if the file is followed.
bool od_trace_file_has_changed(const od_trace_file *f);

// ---- Lines

typedef struct od_trace_lines {
  od_trace_file file;  // the first member
  char *buffer;
  size_t capacity, filled, at;
  int line;      // number of the last line read, from 1
  bool has_end;  // whether the last line read has a line end
  bool ended;    // whether the buffer contains the last bytes
  char last;     // the last byte of the file, after all lines were read
} od_trace_lines;

// Open a trace, and another reader of the same trace (`again`: `l` must outlive `other`), before the first line. Call
// od_trace_lines_close() in all cases. follows: whether the file may grow while it is read. Fail with OD_IO or OD_NO_MEMORY.
od_status od_trace_lines_open(od_trace_lines *l, const char *path, bool follows, od_error *err);
od_status od_trace_lines_again(const od_trace_lines *l, od_trace_lines *other, od_error *err);
void od_trace_lines_close(od_trace_lines *l);
void od_trace_lines_rewind(od_trace_lines *l);
// Reads the next line, without its line end. *text is valid until the next call; (*text)[*length] is a byte below ' '. *text is
// NULL at the end of the file. In a file that is followed, a last line without a line end is not complete, and is not read. Fails with
// OD_BAD_INPUT if the line has more than 1 MB; the next call continues within this line. Also fails with OD_IO or OD_NO_MEMORY.
od_status od_trace_lines_next(od_trace_lines *l, const char **text, size_t *length, od_error *err);
// Fails with OD_BAD_INPUT. The message contains the place in the last line, and the expected text.
od_status od_trace_lines_fail(const od_trace_lines *l, const char *text, size_t length, size_t place,
                              const char *expected, od_error *err);

// ---- Functions of an od_can_source (can_frames.h). The state of the source begins with its od_trace_file, or, for the
// last three functions, with its od_trace_lines.

bool od_trace_source_has_changed(const void *source);
const char *od_trace_source_start_time(const void *source);
int od_trace_source_line(const void *source);
bool od_trace_source_is_cut(const void *source);
od_status od_trace_source_grow(void *source, od_log_growth *out, od_error *err);

#endif
