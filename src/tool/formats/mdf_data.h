// The data of a group as one sequence of bytes: a data block, a deflated block, or lists of such blocks (blocks DT, SD, RD, DV, DI,
// DZ, DL, LD, HL). The sequence is read in parts, forward.
#ifndef OD_FORMATS_MDF_DATA_H
#define OD_FORMATS_MDF_DATA_H

#include <zlib.h>

#include "formats/mdf_blocks.h"

// Memory and file bytes that all sequences of a stream of rows share.
typedef struct od_mdf_budget {
  size_t memory;    // bytes in use
  uint64_t read;    // bytes of the file in data blocks that were opened
  double unpacked;  // uncompressed size of the deflated blocks among these data blocks, bytes
} od_mdf_budget;

// Returns the memory limit for reading a file, bytes: 144 MB plus half the size of the file, but at most 144 MB plus 1 GB.
// Large files may have large blocks.
size_t od_mdf_most_memory(const od_mdf_file *file);
// Allocates memory of the budget. Returns NULL and fails with OD_NO_MEMORY, or with OD_BAD_INPUT if the budget is
// exceeded.
void *od_mdf_allocate(const od_mdf_file *file, od_mdf_budget *budget, size_t size, od_error *err);
void od_mdf_release(od_mdf_budget *budget, void *block, size_t size);

typedef enum od_mdf_storage { OD_MDF_PLAIN, OD_MDF_ZEROS, OD_MDF_DEFLATED, OD_MDF_TRANSPOSED } od_mdf_storage;

typedef struct od_mdf_data {
  const od_mdf_file *file;
  od_mdf_budget *budget;
  bool is_counted;  // whether data blocks count in budget->read
  uint64_t first;   // link to the data
  bool is_invalid;  // whether this is the sequence of invalidation bits of an LD list
  uint32_t record_bytes,
      invalid_bytes;  // for invalidation bits: length of the data and of the invalidation bits of a record
  bool goes_on;       // whether the last data block of an unfinalized file ends with the file
  // The list of blocks:
  uint64_t next_list;  // address of the next list; 0: none
  uint64_t links_at;   // position in the file of the next link to a block
  uint64_t links_left;
  uint64_t list_count;  // number of blocks of the list
  bool has_bits;        // whether the list has links to invalidation bits
  od_mdf_set seen;      // addresses of the lists and blocks so far
  uint64_t length;      // total length of these lists and blocks
  bool is_started;
  // The current block:
  od_mdf_storage storage;
  uint64_t at, left;    // position in the file, and number of bytes that have not been read
  uint64_t plain_left;  // number of uncompressed bytes that are not in the buffer yet
  z_stream z;
  bool is_inflating;
  unsigned char *packed;  // deflated bytes
  unsigned char *matrix;  // the content of a transposed block
  size_t matrix_size, matrix_room, matrix_at;
  uint32_t matrix_columns;
  // The bytes:
  unsigned char *buffer;
  size_t begin, end, capacity;
  uint64_t position;  // position of buffer[begin] in the sequence
  bool has_ended, is_cut;
} od_mdf_data;

// Initializes a sequence at a link; link 0: the sequence is empty. capacity: bytes to read at once. Allocates no
// memory.
void od_mdf_data_init(od_mdf_data *d, const od_mdf_file *file, od_mdf_budget *budget, uint64_t link, size_t capacity);
void od_mdf_data_free(od_mdf_data *d);
void od_mdf_data_rewind(od_mdf_data *d);
// Reads until `count` bytes are in the buffer, or until the end of the sequence. Moves the bytes in the buffer. Fails with
// OD_BAD_INPUT, OD_IO or OD_NO_MEMORY.
od_status od_mdf_data_fill(od_mdf_data *d, size_t count, od_error *err);
// Skips bytes, or moves to the end of the sequence. Fails with OD_BAD_INPUT, OD_IO or OD_NO_MEMORY.
od_status od_mdf_data_skip(od_mdf_data *d, uint64_t count, od_error *err);

// Makes `count` bytes available. *bytes is NULL at the end of the sequence, also if the sequence has fewer bytes.
static inline od_status od_mdf_data_take(od_mdf_data *d, size_t count, const unsigned char **bytes, od_error *err) {
  if (d->end - d->begin < count) {
    od_status status = od_mdf_data_fill(d, count, err);
    if (status != OD_OK) return status;
    if (d->end - d->begin < count) {
      *bytes = NULL;
      return OD_OK;
    }
  }
  *bytes = d->buffer + d->begin;
  d->begin += count;
  d->position += count;
  return OD_OK;
}

#endif
