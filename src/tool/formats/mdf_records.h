// The records of the groups of an MDF 4 file, one group after the other or mixed.
//
// The cursor of a group reads the records of the group in their order. Cursors of groups with mixed records share a scan, which
// reads all records once and queues the records of each group. If the queues become long, because a group has few records, the
// cursor of this group gets its own scan.
#ifndef OD_FORMATS_MDF_RECORDS_H
#define OD_FORMATS_MDF_RECORDS_H

#include "formats/mdf_channels.h"
#include "formats/mdf_data.h"

typedef struct od_mdf_scan od_mdf_scan;

typedef struct od_mdf_cursor {
  const od_mdf_file *file;
  const od_mdf_contents *contents;
  od_mdf_budget *budget;
  int group;
  size_t capacity;               // size of the buffers, bytes
  const unsigned char *record;   // the data of the current record
  const unsigned char *invalid;  // invalidation bits of the current record
  size_t length;                 // number of bytes of the data of the current record
  uint64_t index;                // index of the current record in the group, from 0
  uint64_t count;                // number of records read so far
  uint64_t most;                 // number of records that the file states; UINT64_MAX: not stated
  bool is_cut;                   // whether the data end before the last record
  // A group whose records are not mixed:
  size_t id_size, bytes, invalid_bytes;
  bool has_columns;  // whether invalidation bits are separate from the data (LD lists)
  od_mdf_data data, bits;
  // A group whose records are mixed:
  od_mdf_scan *scan;
  unsigned char *queue;  // queued records; the first record is the current record
  size_t begin, end, room;
  bool has_record;  // whether the queue begins with the current record
} od_mdf_cursor;

// Prepares the cursor of a group. shared: a cursor of the same data group, whose scan the cursor shares; NULL: none. is_again: whether
// another cursor reads the same records. The addresses of the cursors must not change. Fails with OD_NO_MEMORY, OD_BAD_INPUT or OD_IO.
od_status od_mdf_cursor_init(od_mdf_cursor *c, const od_mdf_file *file, const od_mdf_contents *contents, int group,
                             od_mdf_budget *budget, size_t capacity, od_mdf_cursor *shared, bool is_again,
                             od_error *err);
void od_mdf_cursor_free(od_mdf_cursor *c);
// Reads the next record. *more: whether a record was read. The record is valid until the next call for this cursor. Fails with
// OD_BAD_INPUT, OD_IO or OD_NO_MEMORY.
od_status od_mdf_cursor_next(od_mdf_cursor *c, bool *more, od_error *err);

// Texts that are not in the records: blocks SD, or the records of a group of variable-length values.
typedef struct od_mdf_texts {
  od_mdf_data data;       // blocks SD
  od_mdf_cursor *values;  // records
  uint64_t at;            // position of the current text
  bool has_text;
  const unsigned char *text;
  size_t length;
  int rewinds;
} od_mdf_texts;

// Prepares the texts of a channel. Fails with OD_BAD_INPUT, OD_IO or OD_NO_MEMORY.
od_status od_mdf_texts_init(od_mdf_texts *t, const od_mdf_file *file, const od_mdf_contents *contents,
                            const od_mdf_channel *channel, od_mdf_budget *budget, size_t capacity, od_error *err);
void od_mdf_texts_free(od_mdf_texts *t);
// Finds the text at a position. *found false: there is no text. Fails with OD_BAD_INPUT, OD_IO or OD_NO_MEMORY.
od_status od_mdf_texts_find(od_mdf_texts *t, uint64_t at, bool *found, od_error *err);

#endif
