#include "formats/mdf_data.h"

#include <string.h>

#include "base/allocate.h"
#include "io/unpacked.h"

enum { MOST_CUT = 64, MOST_SEEN = 1 << 20, PACKED = 1 << 16, MOST_INFLATION = 1040, DZ_FIXED = 24, TILE = 64 };

size_t od_mdf_most_memory(const od_mdf_file *file) {
  const uint64_t base = 144 << 20, most = 1 << 30, half = file->size / 2;
  return (size_t)(base + (half < most ? half : most));
}

void *od_mdf_allocate(const od_mdf_file *file, od_mdf_budget *budget, size_t size, od_error *err) {
  size_t most = od_mdf_most_memory(file);
  if (size > most - budget->memory) {
    od_fail(
        err, OD_BAD_INPUT,
        "%s: reading needs more than %d MB of memory at once; read fewer channels, or store the data in smaller blocks",
        file->path, (int)(most >> 20));
    return NULL;
  }
  void *block = od_malloc(size);
  if (block)
    budget->memory += size;
  else
    od_mdf_no_memory(file, err);
  return block;
}

void od_mdf_release(od_mdf_budget *budget, void *block, size_t size) {
  if (block) budget->memory -= size;
  od_free(block);
}

static void *z_allocate(void *user, unsigned count, unsigned size) {
  (void)user;
  return od_calloc(count, size);
}

static void z_release(void *user, void *block) {
  (void)user;
  od_free(block);
}

void od_mdf_data_init(od_mdf_data *d, const od_mdf_file *file, od_mdf_budget *budget, uint64_t link, size_t capacity) {
  *d = (od_mdf_data){.file = file, .budget = budget, .first = link, .capacity = capacity, .is_counted = true};
}

static void end_block(od_mdf_data *d) {
  if (d->is_inflating) inflateEnd(&d->z);
  d->is_inflating = false;
  d->left = d->plain_left = 0;
}

void od_mdf_data_free(od_mdf_data *d) {
  end_block(d);
  od_mdf_release(d->budget, d->buffer, d->capacity);
  od_mdf_release(d->budget, d->packed, PACKED);
  od_mdf_release(d->budget, d->matrix, d->matrix_room);
  d->buffer = d->packed = d->matrix = NULL;
  od_mdf_set_free(&d->seen);
}

void od_mdf_data_rewind(od_mdf_data *d) {
  end_block(d);
  d->next_list = d->links_left = d->length = 0;
  od_mdf_set_free(&d->seen);
  d->begin = d->end = 0;
  d->position = 0;
  d->is_started = d->has_ended = d->is_cut = false;
}

// Reports a wrong block of the data. Fails with OD_BAD_INPUT.
static od_status damaged(const od_mdf_data *d, const od_mdf_block *b, const char *what, od_error *err) {
  return od_mdf_damaged(d->file, b, what, err);
}

// Reads bytes. Bytes beyond the end of the file are 0. Fails with OD_IO.
static od_status read_all(const od_mdf_data *d, uint64_t at, void *to, size_t count, od_error *err) {
  size_t got;
  od_status status = od_mdf_read_at(d->file, at, to, count, &got, err);
  if (status == OD_OK) memset((char *)to + got, 0, count - got);
  return status;
}

// --- Blocks ------------------------------------------------------------------------------------------------------

static bool is(const od_mdf_block *b, const char *id) {
  return memcmp(b->id + 2, id, 2) == 0;
}

// Fails with OD_BAD_INPUT if the sequence already contains the block: compares the addresses of the first million blocks, and limits the
// total length of all blocks. Also fails with OD_NO_MEMORY.
static od_status check_new(od_mdf_data *d, const od_mdf_block *b, od_error *err) {
  bool is_new = true;
  if (d->seen.count < MOST_SEEN && !od_mdf_set_add(&d->seen, b->at, &is_new)) return od_mdf_no_memory(d->file, err);
  d->length += b->length;
  bool fits = d->length >= b->length && d->length <= d->file->size + MOST_CUT;
  return is_new && fits ? OD_OK : damaged(d, b, "is in a list twice", err);
}

// Starts reading a list of blocks (DL or LD). Fails with OD_BAD_INPUT, OD_IO or OD_NO_MEMORY.
static od_status open_list(od_mdf_data *d, const od_mdf_block *b, od_error *err) {
  unsigned char fixed[8], next[8];
  uint64_t most = (b->length - OD_MDF_HEADER) / 8;
  bool is_ld = is(b, "LD");
  if (b->length < OD_MDF_HEADER || b->links < 1 || b->links > most || b->length > d->file->size - b->at)
    return damaged(d, b, "is too short for its links", err);
  od_status status = check_new(d, b, err);
  if (status == OD_OK) status = read_all(d, b->at + OD_MDF_HEADER, next, sizeof next, err);
  if (status == OD_OK) status = read_all(d, b->at + OD_MDF_HEADER + 8 * b->links, fixed, sizeof fixed, err);
  if (status != OD_OK) return status;
  uint64_t count = od_mdf_u32(fixed + 4), columns = 1;
  if (is_ld && od_mdf_u32(fixed) >> 31) columns = 2;
  if (count * columns > b->links - 1) {
    if (!(d->file->unfinished & OD_MDF_UNFINISHED_LIST)) return damaged(d, b, "has fewer links than blocks", err);
    count = (b->links - 1) / columns;
  }
  d->next_list = od_mdf_u64(next);
  d->links_at = b->at + OD_MDF_HEADER + 8;
  d->links_left = d->list_count = count;
  d->has_bits = columns == 2;
  return OD_OK;
}

// Starts reading a deflated block. Fails with OD_BAD_INPUT, OD_IO or OD_NO_MEMORY.
static od_status open_deflated(od_mdf_data *d, const od_mdf_block *b, od_error *err) {
  unsigned char f[DZ_FIXED];
  uint64_t at = b->at + OD_MDF_HEADER + 8 * b->links;
  od_status status = read_all(d, at, f, sizeof f, err);
  if (status != OD_OK) return status;
  if (f[2] > 1)
    return od_fail(
        err, OD_BAD_INPUT,
        "%s: block %s at byte %llu has compression type %d; expected 0 (deflate) or 1 (transposed and deflated)",
        d->file->path, b->id, (unsigned long long)b->at, f[2]);
  uint64_t plain = od_mdf_u64(f + 8), packed = od_mdf_u64(f + 16);
  d->at = at + DZ_FIXED;
  uint64_t room = d->file->size > d->at ? d->file->size - d->at : 0;
  d->left = packed < room ? packed : room;
  if (plain / MOST_INFLATION > packed + 1) return damaged(d, b, "states a size that deflated data cannot have", err);
  d->budget->unpacked += d->is_counted ? (double)plain : 0;
  status = od_check_unpacked(d->file->path, (double)d->file->size, d->budget->unpacked, err);
  if (status != OD_OK) return status;
  d->plain_left = plain;
  d->storage = f[2] ? OD_MDF_TRANSPOSED : OD_MDF_DEFLATED;
  d->matrix_columns = od_mdf_u32(f + 4);
  d->matrix_size = d->matrix_at = 0;
  if (d->matrix_columns < 2 || d->matrix_columns > plain) d->storage = OD_MDF_DEFLATED;
  if (plain == 0) return OD_OK;
  if (!d->packed && !(d->packed = od_mdf_allocate(d->file, d->budget, PACKED, err)))
    return err ? err->status : OD_NO_MEMORY;
  d->z = (z_stream){.zalloc = z_allocate, .zfree = z_release};
  if (inflateInit(&d->z) != Z_OK) return od_mdf_no_memory(d->file, err);
  d->is_inflating = true;
  return OD_OK;
}

// Starts reading a block, which may be a list unless the block is an entry of a list (is_entry). Fails with OD_BAD_INPUT, OD_IO
// or OD_NO_MEMORY.
static od_status open_block(od_mdf_data *d, uint64_t at, bool is_entry, od_error *err) {
  od_mdf_block b;
  bool is_last = d->links_left == 0 && d->next_list == 0;
  od_status status = od_mdf_block_head(d->file, at, &b, err);
  if (status != OD_OK) return status;
  if (is(&b, "HL") && !is_entry) {
    unsigned char first[8];
    status = read_all(d, at + OD_MDF_HEADER, first, sizeof first, err);
    if (status != OD_OK || od_mdf_u64(first) == 0) return status;
    at = od_mdf_u64(first);
    status = od_mdf_block_head(d->file, at, &b, err);
    if (status != OD_OK) return status;
    if (!is(&b, "DL") && !is(&b, "LD")) return damaged(d, &b, "is not the expected list of blocks", err);
  }
  if ((is(&b, "DL") || is(&b, "LD")) && !is_entry) return open_list(d, &b, err);
  bool is_data = is(&b, "DT") || is(&b, "SD") || is(&b, "RD") || is(&b, "DV") || is(&b, "DI");
  if (!is_data && !is(&b, "DZ")) return damaged(d, &b, "is not the expected block of data", err);
  uint64_t room = d->file->size - at;
  // The length of the last block of an unfinalized file may be the length of an empty block.
  if (is_data && is_last && d->goes_on && b.length <= OD_MDF_HEADER) b.length = room;
  if (b.length < OD_MDF_HEADER) return damaged(d, &b, "is shorter than its header", err);
  if (b.length > room) {
    b.length = room;
    d->is_cut = true;
  }
  status = check_new(d, &b, err);
  if (status != OD_OK) return status;
  d->budget->read += d->is_counted ? b.length : 0;
  if (d->budget->read > d->file->size) return damaged(d, &b, "occurs twice in the data", err);
  if (!is_data) return open_deflated(d, &b, err);
  d->storage = OD_MDF_PLAIN;
  d->at = at + OD_MDF_HEADER;
  d->left = d->plain_left = b.length - OD_MDF_HEADER;
  return OD_OK;
}

// Starts reading zeros: the invalidation bits of a block of values that are all valid. Fails with OD_BAD_INPUT or OD_IO.
static od_status open_zeros(od_mdf_data *d, uint64_t values, od_error *err) {
  od_mdf_block b;
  unsigned char size[8];
  od_status status = od_mdf_block_head(d->file, values, &b, err);
  if (status != OD_OK || b.length < OD_MDF_HEADER || d->record_bytes == 0) return status;
  uint64_t bytes = b.length - OD_MDF_HEADER;
  if (is(&b, "DZ")) {
    status = read_all(d, values + OD_MDF_HEADER + 8, size, sizeof size, err);
    bytes = od_mdf_u64(size);
  }
  if (bytes / MOST_INFLATION > d->file->size) return damaged(d, &b, "does not end within the file", err);
  d->storage = OD_MDF_ZEROS;
  d->plain_left = bytes / d->record_bytes * d->invalid_bytes;
  return status;
}

// Starts reading the next block of a list. Fails with OD_BAD_INPUT, OD_IO or OD_NO_MEMORY.
static od_status open_entry(od_mdf_data *d, od_error *err) {
  unsigned char values[8], bits[8] = {0};
  od_status status = read_all(d, d->links_at, values, sizeof values, err);
  if (status == OD_OK && d->is_invalid && d->has_bits)
    status = read_all(d, d->links_at + 8 * d->list_count, bits, sizeof bits, err);
  d->links_at += 8;
  d->links_left--;
  uint64_t link = od_mdf_u64(d->is_invalid ? bits : values);
  if (status != OD_OK || od_mdf_u64(values) == 0) return status;
  if (link == 0) return open_zeros(d, od_mdf_u64(values), err);
  return open_block(d, link, true, err);
}

// Starts reading the next block that has bytes. Sets has_ended after the last block. Fails with OD_BAD_INPUT, OD_IO or
// OD_NO_MEMORY.
static od_status next_block(od_mdf_data *d, od_error *err) {
  end_block(d);
  while (d->plain_left == 0) {
    od_status status = OD_OK;
    if (!d->is_started) {
      d->is_started = true;
      if (d->first) status = open_block(d, d->first, false, err);
    } else if (d->links_left > 0) {
      status = open_entry(d, err);
    } else if (d->next_list) {
      od_mdf_block b;
      status = od_mdf_block_head(d->file, d->next_list, &b, err);
      if (status == OD_OK && !is(&b, "DL") && !is(&b, "LD"))
        status = damaged(d, &b, "is not the expected list of blocks", err);
      if (status == OD_OK) status = open_list(d, &b, err);
    } else {
      d->has_ended = true;
      return OD_OK;
    }
    if (status != OD_OK) {
      bool is_lost =
          status == OD_BAD_INPUT && d->is_started && d->file->unfinished & OD_MDF_UNFINISHED_LIST && d->position > 0;
      if (!is_lost) return status;
      d->has_ended = d->is_cut = true;  // the last list of an unfinalized file may be wrong
      return OD_OK;
    }
  }
  return OD_OK;
}

// --- Bytes -------------------------------------------------------------------------------------------------------

// Reads more deflated bytes of the current block, if there are any. Fails with OD_IO.
static od_status read_packed(od_mdf_data *d, od_error *err) {
  size_t part = d->left < PACKED ? (size_t)d->left : PACKED, there;
  od_status status = od_mdf_read_at(d->file, d->at, d->packed, part, &there, err);
  if (status != OD_OK) return status;
  d->z.next_in = d->packed;
  d->z.avail_in = (unsigned)there;
  d->at += there;
  d->left = there < part ? 0 : d->left - there;
  return OD_OK;
}

// Reads the end of the deflated data of a block after all plain bytes have been read. result: result of the last
// inflate(). Fails with OD_BAD_INPUT if there are more bytes or if the checksum is wrong, with OD_IO or with OD_NO_MEMORY.
static od_status end_inflation(od_mdf_data *d, int result, od_error *err) {
  unsigned char more[1];
  bool is_longer = false;
  while (result == Z_OK || result == Z_BUF_ERROR) {
    od_status status = d->z.avail_in == 0 ? read_packed(d, err) : OD_OK;
    if (status != OD_OK) return status;
    if (d->z.avail_in == 0) break;
    d->z.next_out = more;
    d->z.avail_out = sizeof more;
    result = inflate(&d->z, Z_NO_FLUSH);
    is_longer = d->z.avail_out == 0;
    if (is_longer) break;
  }
  if (result == Z_MEM_ERROR) return od_mdf_no_memory(d->file, err);
  if (result == Z_STREAM_END && !is_longer) return OD_OK;
  return od_fail(err, OD_BAD_INPUT,
                 is_longer
                     ? "%s: the deflated data before byte %llu are longer than their block states; the file is damaged"
                     : "%s: the deflated data before byte %llu are damaged: their checksum or end is wrong",
                 d->file->path, (unsigned long long)d->at);
}

// Inflates at most `count` bytes of the current block. *got is smaller only at the end of a cut file. Fails with OD_BAD_INPUT,
// OD_IO or OD_NO_MEMORY.
static od_status inflate_to(od_mdf_data *d, unsigned char *to, size_t count, size_t *got, od_error *err) {
  *got = 0;
  while (*got < count) {
    od_status status = d->z.avail_in == 0 ? read_packed(d, err) : OD_OK;
    if (status != OD_OK) return status;
    size_t room = count - *got < (1u << 30) ? count - *got : 1u << 30;
    bool had_input = d->z.avail_in > 0;
    d->z.next_out = to + *got;
    d->z.avail_out = (unsigned)room;
    int result = inflate(&d->z, Z_NO_FLUSH);
    *got += room - d->z.avail_out;
    if (result == Z_MEM_ERROR) return od_mdf_no_memory(d->file, err);
    if (*got == count && count == d->plain_left && !d->is_cut) return end_inflation(d, result, err);
    bool is_over = result == Z_STREAM_END || (!had_input && d->z.avail_out == room);
    if (*got == count || (is_over && d->is_cut)) return OD_OK;
    if (is_over || (result != Z_OK && result != Z_BUF_ERROR))
      return od_fail(err, OD_BAD_INPUT, "%s: the deflated data before byte %llu are damaged", d->file->path,
                     (unsigned long long)d->at);
  }
  return OD_OK;
}

// Inflates a transposed block as a whole. Fails with OD_BAD_INPUT, OD_IO or OD_NO_MEMORY.
static od_status load_matrix(od_mdf_data *d, od_error *err) {
  size_t size = d->plain_left < SIZE_MAX ? (size_t)d->plain_left : SIZE_MAX, got;
  if (d->matrix_room < size) {
    od_mdf_release(d->budget, d->matrix, d->matrix_room);
    d->matrix_room = 0;
    d->matrix = od_mdf_allocate(d->file, d->budget, size, err);
    if (!d->matrix) return err ? err->status : OD_NO_MEMORY;
    d->matrix_room = size;
  }
  od_status status = inflate_to(d, d->matrix, size, &got, err);
  if (status != OD_OK) return status;
  // If the file ends within a matrix, the rows of the matrix are not complete.
  if (got < size) d->plain_left = 0, d->is_cut = true;
  d->matrix_size = size;
  d->matrix_at = 0;
  return OD_OK;
}

// Copies `rows` rows, from row `first`, of a matrix that is stored by columns. Works on tiles, which fit into the cache.
static void transpose(const unsigned char *matrix, size_t all_rows, size_t columns, size_t first, size_t rows,
                      unsigned char *to) {
  for (size_t r0 = 0; r0 < rows; r0 += TILE) {
    size_t r1 = r0 + TILE < rows ? r0 + TILE : rows;
    for (size_t c = 0; c < columns; c++) {
      const unsigned char *from = matrix + c * all_rows + first;
      unsigned char *out = to + c;
      for (size_t r = r0; r < r1; r++) out[r * columns] = from[r];
    }
  }
}

// Copies at most `count` bytes of a transposed block. Bytes after the last complete row are not transposed.
static size_t take_transposed(od_mdf_data *d, unsigned char *to, size_t count) {
  size_t columns = d->matrix_columns, rows = d->matrix_size / columns, whole = rows * columns, got = 0;
  if (count > d->matrix_size - d->matrix_at) count = d->matrix_size - d->matrix_at;
  while (got < count) {
    size_t at = d->matrix_at, row = at / columns, column = at % columns, left = count - got, part;
    if (at >= whole) {
      memcpy(to + got, d->matrix + at, part = left);
    } else if (column == 0 && left >= columns) {
      size_t most = left / columns, n = rows - row < most ? rows - row : most;
      transpose(d->matrix, rows, columns, row, n, to + got);
      part = n * columns;
    } else {  // a part of a row
      part = columns - column < left ? columns - column : left;
      for (size_t c = 0; c < part; c++) to[got + c] = d->matrix[(column + c) * rows + row];
    }
    got += part;
    d->matrix_at += part;
  }
  return got;
}

// Reads at most `count` bytes of the current block. Fails with OD_BAD_INPUT, OD_IO or OD_NO_MEMORY.
static od_status read_part(od_mdf_data *d, unsigned char *to, size_t count, size_t *got, od_error *err) {
  od_status status = OD_OK;
  if (count > d->plain_left) count = (size_t)d->plain_left;
  *got = 0;
  if (d->storage == OD_MDF_PLAIN) {
    status = od_mdf_read_at(d->file, d->at, to, count, got, err);
    d->at += *got;
    d->left -= *got;
  } else if (d->storage == OD_MDF_ZEROS) {
    memset(to, 0, *got = count);
  } else if (d->storage == OD_MDF_DEFLATED) {
    status = inflate_to(d, to, count, got, err);
  } else {
    if (d->matrix_size == 0) status = load_matrix(d, err);
    if (status == OD_OK && d->plain_left > 0) *got = take_transposed(d, to, count);
  }
  if (status != OD_OK) return status;
  d->plain_left -= *got;
  if (*got < count) {  // the file ends before the end of the block
    d->is_cut = true;
    d->plain_left = 0;
  }
  return OD_OK;
}

od_status od_mdf_data_fill(od_mdf_data *d, size_t count, od_error *err) {
  if (d->has_ended || d->end - d->begin >= count) return OD_OK;
  if (!d->buffer || d->capacity < count) {
    size_t capacity = d->capacity < 2 * count ? 2 * count : d->capacity;
    unsigned char *larger = od_mdf_allocate(d->file, d->budget, capacity, err);
    if (!larger) return err ? err->status : OD_NO_MEMORY;
    if (d->buffer) {
      memcpy(larger, d->buffer + d->begin, d->end - d->begin);
      od_mdf_release(d->budget, d->buffer, d->capacity);
    }
    d->buffer = larger;
    d->capacity = capacity;
  } else if (d->begin > 0) {
    memmove(d->buffer, d->buffer + d->begin, d->end - d->begin);
  }
  d->end -= d->begin;
  d->begin = 0;
  while (d->end < count && !d->has_ended) {
    od_status status = d->plain_left == 0 ? next_block(d, err) : OD_OK;
    size_t got = 0;
    if (status == OD_OK && !d->has_ended) status = read_part(d, d->buffer + d->end, d->capacity - d->end, &got, err);
    if (status != OD_OK) return status;
    d->end += got;
  }
  return OD_OK;
}

od_status od_mdf_data_skip(od_mdf_data *d, uint64_t count, od_error *err) {
  while (count > 0) {
    if (d->begin == d->end) {
      if (!d->has_ended && d->plain_left == 0) {
        od_status status = next_block(d, err);
        if (status != OD_OK) return status;
      }
      if (!d->has_ended && d->storage == OD_MDF_PLAIN && d->plain_left > 0) {
        uint64_t part = d->plain_left < count ? d->plain_left : count;
        d->at += part, d->left -= part, d->plain_left -= part, d->position += part, count -= part;
        continue;
      }
      od_status status = od_mdf_data_fill(d, 1, err);
      if (status != OD_OK) return status;
      if (d->begin == d->end) return OD_OK;
    }
    size_t part = d->end - d->begin < count ? d->end - d->begin : (size_t)count;
    d->begin += part, d->position += part, count -= part;
  }
  return OD_OK;
}
