// Formats of log files. A format is one file of this module with an od_log_format, and a line in log_formats.c. The first bytes of a file
// determine its format; for MATLAB and HDF5 files also the ending of the name.
//
// All formats deliver rows: a time, and one value per column. A file may contain groups of channels, each with its own times. Such a
// file delivers the rows of all groups in the order of time. In each row, the columns of the other groups are NAN. Rows of different
// groups with the same time may be one row.
#ifndef OD_FORMATS_LOG_FORMAT_H
#define OD_FORMATS_LOG_FORMAT_H

#include <stdbool.h>
#include <stddef.h>

#include "formats/read_table.h"

enum { OD_LOG_START = 4096 };  // number of bytes at the beginning of a file that od_log_format.recognizes() receives

// The origin of a column, for `oleodyn log`. Every text may be NULL. The texts belong to the stream.
typedef struct od_log_origin {
  const char *group;    // name of the group or CAN message
  const char *comment;  // description in the file or in its database
} od_log_origin;

// The change of a file since all of its rows were read.
typedef enum od_log_growth {
  OD_LOG_SAME,
  OD_LOG_LONGER,   // next() may return further rows
  OD_LOG_REPLACED  // the path names another file, and the open file has no further rows
} od_log_growth;

// Reads a whole file as a table. wish: not NULL.
typedef od_status od_table_reader(const char *path, const od_table_wish *wish, od_table **out, od_error *err);

// The functions have the stream of an open file as their first argument. Functions marked as optional may be NULL.
typedef struct od_log_format {
  const char *name;  // such as "MDF 4", for messages
  // Returns whether a file has this format. start: the first bytes of the file, at most OD_LOG_START.
  bool (*recognizes)(const char *path, const unsigned char *start, size_t length);
  // Opens a regular file and reads names and units. The function registers the file (io/inputs_read.h). wish: not NULL; its contents
  // outlive the stream. Fails with OD_BAD_INPUT, OD_IO, OD_NO_MEMORY or (formats with a helper program) OD_INTERRUPTED; the message
  // contains the path. With wish->follow, *out is NULL if the file does not contain its first row yet.
  od_status (*open)(const char *path, const od_table_wish *wish, void **out, od_error *err);
  // Opens another stream of the same file, at its first row, for the same columns. `stream` outlives the new stream.
  od_status (*again)(const void *stream, void **out, od_error *err);
  void (*close)(void *stream);
  // Returns names and units of the columns. The rows of this table are not used. The stream owns the table.
  const od_table *(*head)(const void *stream);
  // Selects the columns to read, by one flag per column, which outlives the stream. Called before the first row. Values of other
  // columns are undefined.
  void (*want)(void *stream, const bool *wanted);
  // Reads the next row, one value per column. *end: whether there is no further row. With wish->follow, a row that is not complete yet
  // is not a row, and OD_BAD_INPUT concerns only one row: the next call reads the following row.
  od_status (*next)(void *stream, double *values, bool *end, od_error *err);
  void (*rewind)(void *stream);

  // ---- Optional

  od_table_reader *read_whole;              // reads a file as a table; NULL: od_table_read() reads all rows of a stream
  bool (*holds)(const void *stream);        // whether all rows are in memory; NULL: the rows are not in memory
  int (*line)(const void *stream);          // line number of the last row; NULL: the file is not a text file
  bool (*is_cut)(const void *stream);       // after all rows were read: returns whether the file ends within a row
  bool (*has_changed)(const void *stream);  // whether the rows in the file have changed since they were first read
  od_log_origin (*origin)(const void *stream, int column);
  // Looks for rows that were appended since next() has set *end, without waiting. Only for streams with wish->follow. Fails with OD_IO if
  // the file has become shorter or its length cannot be read. NULL: such files cannot be followed.
  od_status (*grow)(void *stream, od_log_growth *out, od_error *err);
  const char *(*start_time)(const void *stream);  // date and time of the time zero, as in ISO 8601; NULL: unknown
  // Returns sentence number `index` about parts of the file that are not read, or NULL after the last sentence.
  const char *(*remark)(const void *stream, int index);
} od_log_format;

// The formats, in the order of their recognition, terminated by NULL. The last format, CSV, recognizes every file.
extern const od_log_format *const od_log_formats[];
extern const od_log_format od_csv_format, od_mat_format, od_hdf5_format, od_mdf_format;
extern const od_log_format od_candump_format, od_asc_format, od_blf_format;  // CAN traces (can_frames.h)
extern const od_log_format od_csv_pipe_format;  // CSV from a pipe, which is read as a whole

// Returns the format of a file. Fails with OD_IO if the file cannot be read. The contents of a pipe must be CSV.
od_status od_log_format_of(const char *path, const od_log_format **out, od_error *err);

// ---- Formats whose files are read as a whole (table_stream.c): functions of an od_log_format

// Reads the whole file with `read` and opens a stream over the rows of its table. Fails as `read` does, or with OD_NO_MEMORY.
od_status od_table_stream_open(od_table_reader *read, const char *path, const od_table_wish *wish, void **out,
                               od_error *err);
od_status od_table_stream_again(const void *stream, void **out, od_error *err);
void od_table_stream_close(void *stream);
const od_table *od_table_stream_head(const void *stream);
void od_table_stream_want(void *stream, const bool *wanted);
od_status od_table_stream_next(void *stream, double *values, bool *end, od_error *err);
void od_table_stream_rewind(void *stream);
bool od_table_stream_holds(const void *stream);
int od_table_stream_line(const void *stream);
bool od_table_stream_is_cut(const void *stream);

// All functions of a table stream except `open` and `recognizes`, for the initializer of an od_log_format.
#define OD_TABLE_STREAM                                                                         \
  .again = od_table_stream_again, .close = od_table_stream_close, .head = od_table_stream_head, \
  .want = od_table_stream_want, .next = od_table_stream_next, .rewind = od_table_stream_rewind, \
  .holds = od_table_stream_holds, .line = od_table_stream_line, .is_cut = od_table_stream_is_cut

#endif
