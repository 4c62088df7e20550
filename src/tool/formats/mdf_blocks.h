// Blocks of an MDF 4 file: headers, links, texts.
//
// A file is a graph of blocks. A block has a header of 24 bytes (identification "##CN", length, number of links), links (addresses of
// other blocks; 0: none), and data. All numbers outside of the records are little-endian. Source of the layout: ASAM MDF 4.2.
//
// No length, count or link of a file is trusted. A block must be inside of the file. No block may be part of two lists, and all
// described blocks together are not larger than the file. Thus damaged files cause neither endless loops nor large allocations.
#ifndef OD_FORMATS_MDF_BLOCKS_H
#define OD_FORMATS_MDF_BLOCKS_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "base/arena.h"
#include "oleodyn/status.h"

enum { OD_MDF_HEADER = 24, OD_MDF_LONGEST_NAME = 4096, OD_MDF_LONGEST_COMMENT = 1024 };

// Flags of a file that was not finalized. Each flag stands for a part of the file that is missing or not up to date.
enum {
  OD_MDF_UNFINISHED_CYCLES = 1,       // numbers of records
  OD_MDF_UNFINISHED_DATA = 4,         // the length of the last data block
  OD_MDF_UNFINISHED_LIST = 16,        // the last list of data blocks
  OD_MDF_UNFINISHED_VLSD_BYTES = 32,  // lengths of the groups of variable-length values
  OD_MDF_UNFINISHED_OFFSETS = 64      // positions of variable-length values
};

// A set of addresses. Initialize with zeros.
typedef struct od_mdf_set {
  uint64_t *place;  // hash table; 0: a free place
  size_t capacity, count;
} od_mdf_set;
void od_mdf_set_free(od_mdf_set *set);
// Adds an address, which is not 0. *is_new: whether the set did not have the address. Returns false if an allocation fails.
bool od_mdf_set_add(od_mdf_set *set, uint64_t address, bool *is_new);

typedef struct od_mdf_file {
  const char *path;
  int fd;
  uint64_t size;            // size of the file when it was opened, bytes
  struct timespec written;  // modification time when the file was opened
  int version;              // such as 410 for 4.10
  unsigned unfinished;      // flags OD_MDF_UNFINISHED_...; 0: the file is finalized
  bool is_unfinalized;
  // The blocks that describe the data:
  unsigned char *window;  // bytes of the file, starting at position window_at
  uint64_t window_at;
  size_t window_length;
  od_mdf_set seen;     // addresses of the blocks of lists that have been read
  uint64_t described;  // total length of these blocks
} od_mdf_file;

typedef struct od_mdf_block {
  char id[5];  // such as "##CN"
  uint64_t at, length, links;
} od_mdf_block;

static inline uint16_t od_mdf_u16(const unsigned char *b) {
  return (uint16_t)(b[0] | b[1] << 8);
}
static inline uint32_t od_mdf_u32(const unsigned char *b) {
  return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}
static inline uint64_t od_mdf_u64(const unsigned char *b) {
  return od_mdf_u32(b) | (uint64_t)od_mdf_u32(b + 4) << 32;
}
double od_mdf_f64(const unsigned char *bytes);

// Returns whether a file begins like an MDF file of any version.
bool od_mdf_is_mdf(const unsigned char *start, size_t length);

// Opens a file and checks its first block. path: not copied. The caller closes the file, also after a failure. Fails with OD_IO,
// OD_BAD_INPUT or OD_NO_MEMORY.
od_status od_mdf_file_open(const char *path, od_mdf_file *file, od_error *err);
void od_mdf_file_close(od_mdf_file *file);

// Reads at most `count` bytes at a position. *got is smaller only at the end of the file. Fails with OD_IO.
od_status od_mdf_read_at(const od_mdf_file *file, uint64_t at, void *to, size_t count, size_t *got, od_error *err);

// Reads the header of the block at an address. The block may end beyond the end of the file. Fails with OD_BAD_INPUT or OD_IO.
od_status od_mdf_block_head(const od_mdf_file *file, uint64_t at, od_mdf_block *block, od_error *err);
// Reads the header of a block that describes data, and checks the block. id: the expected block, such as "##CN". Fails with
// OD_BAD_INPUT or OD_IO.
od_status od_mdf_block_open(od_mdf_file *file, uint64_t at, const char *id, od_mdf_block *block, od_error *err);
// Same as od_mdf_block_open(), for a block that is part of a list. Also fails with OD_BAD_INPUT if the block has already been
// read, because the list would have no end, or if all described blocks together are larger than the file. Also fails with OD_NO_MEMORY.
od_status od_mdf_block_once(od_mdf_file *file, uint64_t at, const char *id, od_mdf_block *block, od_error *err);
// Reads `count` links from number `first`. Links that the block does not have are 0. Fails with OD_IO.
od_status od_mdf_links(od_mdf_file *file, const od_mdf_block *block, uint64_t first, size_t count, uint64_t *link,
                       od_error *err);
// Reads `count` bytes of the data of a block, from a position in these data. Bytes that the block does not have are 0. Fails with
// OD_IO.
od_status od_mdf_block_data(od_mdf_file *file, const od_mdf_block *block, uint64_t from, size_t count, void *to,
                            od_error *err);
// Returns the number of bytes of the data of a block.
uint64_t od_mdf_block_room(const od_mdf_block *block);

// Reads the text of a block TX or MD: of an MD block, the content of its first element TX. Without a block (at = 0),
// the text is "". The text belongs to the arena and has at most `most` bytes. Bytes that are not UTF-8 are replaced by
// "?". Fails with OD_BAD_INPUT if the block is damaged or of another kind, with OD_IO or with OD_NO_MEMORY.
od_status od_mdf_text(od_mdf_file *file, uint64_t at, size_t most, od_arena *memory, const char **text, od_error *err);
// Same as od_mdf_text(), for a comment. The comment is "" if the block is damaged. Fails with OD_IO or OD_NO_MEMORY.
od_status od_mdf_comment(od_mdf_file *file, uint64_t at, od_arena *memory, const char **text, od_error *err);

// Reports a wrong block. what: the predicate of a sentence about the block. Returns OD_BAD_INPUT.
od_status od_mdf_damaged(const od_mdf_file *file, const od_mdf_block *block, const char *what, od_error *err);
od_status od_mdf_no_memory(const od_mdf_file *file, od_error *err);

#endif
