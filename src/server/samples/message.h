// Messages of a source: CSV lines or JSON objects. The columns have the names of the configuration, or of the first message.
#ifndef OD_SAMPLES_MESSAGE_H
#define OD_SAMPLES_MESSAGE_H

#include <stdbool.h>

#include "formats/csv_lines.h"
#include "twin/twin.h"

typedef enum od_message_use {
  OD_USE_NONE,    // empty, or a comment
  OD_USE_HEAD,    // names or units of the columns
  OD_USE_SAMPLE,  // a value for each column; NAN: missing
  OD_USE_BAD      // cannot be used
} od_message_use;

typedef struct od_message_reader {
  const od_twin_source *source;
  od_csv_lines lines;     // reader of CSV lines; JSON objects also use its line number and its table of names and units
  bool units_may_follow;  // whether the next message may have the units of the columns
} od_message_reader;

// Prepares a reader. Fails with OD_BAD_INPUT if the names of the columns in the configuration are not valid, and with
// OD_NO_MEMORY.
od_status od_message_begin(od_message_reader *r, const od_twin_source *source, const char *const *missing,
                           od_error *err);
void od_message_end(od_message_reader *r);
// Returns the table with names and units; NULL: the columns are not known yet. Names and units are final when the first sample
// has been read.
static inline const od_table *od_message_columns(const od_message_reader *r) {
  return r->lines.table;
}
// Reads the next message. cells: one per column; OD_MOST_CELLS entries while the columns are not known. If the message cannot be
// used, err contains the reason.
enum { OD_MOST_CELLS = 4096 };
od_message_use od_message_read(od_message_reader *r, const char *text, size_t length, double *cells, od_error *err);

#endif
