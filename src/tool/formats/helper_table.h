// Requests to the helper program oleodyn-mat about files to read, and its answers (io/channel.h).
#ifndef OD_FORMATS_HELPER_TABLE_H
#define OD_FORMATS_HELPER_TABLE_H

#include "formats/read_table.h"
#include "io/helper.h"

// The errors of a request: the error that the helper reports, and the error of ending the helper.
typedef struct od_helper_errors {
  od_status end;  // status of od_helper_end()
  od_error answered, ended;
  bool no_memory;  // whether this program ran out of memory
} od_helper_errors;

// Sends the part of a request that describes the expected contents of a file.
void od_helper_put_wish(od_channel *to, const od_table_wish *wish);
// Receives the head of a table: names, units, flaws and time. A flaw begins with the path. The table has no rows.
// start_time: a text in memory of the table; may be NULL. If the channel breaks, the table must not be used. Fails with
// OD_NO_MEMORY.
od_status od_helper_take_head(od_channel *from, const char *path, uint64_t most_numbers, od_table **out, long *rows,
                              const char **start_time);
// Returns the status of a request with a message about the file. format: such as "a MATLAB file". The status is OD_BAD_INPUT,
// OD_IO, OD_INTERRUPTED or OD_NO_MEMORY.
od_status od_helper_outcome(const od_helper_errors *e, const char *path, const char *format, od_error *err);

#endif
