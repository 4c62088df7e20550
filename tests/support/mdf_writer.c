// Writes small MDF 4 files for tests. Layout: ASAM MDF 4.1 and 4.2, from public descriptions.
#include "support/mdf_writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { HEAD = 24, MOST_PIECES = 4000 };

static void require(bool is_true, const char *what) {
  if (is_true) return;
  fprintf(stderr, "mdf_writer: %s\n", what);
  abort();
}

// ---- Bytes

unsigned char *mdf_more(mdf_bytes *b, size_t n) {
  if (b->size + n > b->capacity) {
    b->capacity = 2 * (b->size + n) + 64;
    b->at = realloc(b->at, b->capacity);
    require(b->at != NULL, "out of memory");
  }
  unsigned char *at = b->at + b->size;
  memset(at, 0, n);
  b->size += n;
  return at;
}

void mdf_append(mdf_bytes *b, const void *bytes, size_t n) {
  unsigned char *at = mdf_more(b, n);
  if (n > 0) memcpy(at, bytes, n);
}

void mdf_bytes_free(mdf_bytes *b) {
  free(b->at);
  *b = (mdf_bytes){0};
}

void mdf_put(unsigned char *at, uint64_t value, int n, bool big_endian) {
  for (int i = 0; i < n; i++) at[big_endian ? n - 1 - i : i] = (unsigned char)(value >> 8 * i);
}

void mdf_put_double(unsigned char *at, double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  mdf_put(at, bits, 8, false);
}

void mdf_put_bits(unsigned char *record, int byte, int bit, int bits, bool big_endian, uint64_t value) {
  int n = (bit + bits + 7) / 8;
  for (int i = 0; i < bits; i++) {
    int place = bit + i;
    unsigned char *at = record + byte + (big_endian ? n - 1 - place / 8 : place / 8);
    unsigned char mask = (unsigned char)(1u << place % 8);
    *at = (unsigned char)((value >> i & 1) ? *at | mask : *at & ~mask);
  }
}

uint64_t mdf_put_variable(mdf_bytes *b, const void *bytes, size_t n) {
  uint64_t offset = b->size;
  mdf_put(mdf_more(b, 4), n, 4, false);
  mdf_append(b, bytes, n);
  return offset;
}

// ---- Files

mdf_file *mdf_begin(const mdf_header *h) {
  static const mdf_header usual = {0};
  unsigned char head[32] = {0};
  const uint64_t links[6] = {0};
  mdf_file *f = calloc(1, sizeof *f);
  require(f != NULL, "out of memory");
  if (!h) h = &usual;
  int version = h->version ? h->version : 410;
  // ID: file identifier, version as text, program, 4 reserved bytes, version, 30 reserved bytes, 2 x 2 flags.
  unsigned char *id = mdf_more(&f->b, 64);
  char text[16];
  snprintf(text, sizeof text, "%d.%02d    ", version / 100 % 10, version % 100);
  memcpy(id, h->is_unfinalized ? "UnFinMF " : "MDF     ", 8);
  memcpy(id + 8, text, 8);
  memcpy(id + 16, "odtests ", 8);
  mdf_put(id + 28, (uint64_t)version, 2, false);
  mdf_put(id + 60, (uint64_t)h->unfinalized, 2, false);
  // HD: start time, time zone, daylight saving, flags and class of the time, flags, start angle, start distance.
  mdf_put(head, h->start_ns, 8, false);
  mdf_put(head + 8, (uint64_t)(int64_t)h->zone, 2, false);
  mdf_put(head + 10, (uint64_t)(int64_t)h->daylight, 2, false);
  head[12] = (unsigned char)h->time_flags;
  require(mdf_block(f, "HD", links, 6, head, sizeof head) == MDF_HD, "HD is not the first block");
  return f;
}

void mdf_end(mdf_file *f, const uint64_t *data_groups) {
  mdf_set_link(f, MDF_HD, MDF_HD_DG, mdf_chain(f, data_groups));
}

void mdf_free(mdf_file *f) {
  mdf_bytes_free(&f->b);
  free(f);
}

void mdf_save(const mdf_file *f, const char *path) {
  FILE *file = fopen(path, "wb");
  require(file != NULL, "cannot create the file");
  require(fwrite(f->b.at, 1, f->b.size, file) == f->b.size, "cannot write the file");
  require(fclose(file) == 0, "cannot write the file");
}

// ---- Blocks

uint64_t mdf_block(mdf_file *f, const char *id, const uint64_t *links, int link_count, const void *data, size_t size) {
  while (f->b.size % 8) mdf_more(&f->b, 1);
  require(f->blocks < MDF_MOST_BLOCKS, "too many blocks");
  uint64_t address = f->b.size;
  f->block[f->blocks++] = address;
  unsigned char *at = mdf_more(&f->b, HEAD);
  memcpy(at, "##", 2);
  memcpy(at + 2, id, 2);
  mdf_put(at + 8, HEAD + 8 * (uint64_t)link_count + size, 8, false);
  mdf_put(at + 16, (uint64_t)link_count, 8, false);
  for (int i = 0; i < link_count; i++) mdf_put(mdf_more(&f->b, 8), links[i], 8, false);
  mdf_append(&f->b, data, size);
  return address;
}

void mdf_set_link(mdf_file *f, uint64_t block, int link, uint64_t target) {
  mdf_put(f->b.at + block + HEAD + 8 * link, target, 8, false);
}

uint64_t mdf_chain(mdf_file *f, const uint64_t *blocks) {
  if (!blocks) return 0;
  for (int i = 0; blocks[i]; i++) mdf_set_link(f, blocks[i], 0, blocks[i + 1]);
  return blocks[0];
}

// A text ends with a zero byte and fills its block to a multiple of 8 bytes.
static uint64_t text_block(mdf_file *f, const char *id, const char *text) {
  if (!text) return 0;
  size_t size = (strlen(text) + 8) / 8 * 8;
  char *padded = calloc(1, size);
  require(padded != NULL, "out of memory");
  memcpy(padded, text, strlen(text));
  uint64_t block = mdf_block(f, id, NULL, 0, padded, size);
  free(padded);
  return block;
}

uint64_t mdf_text(mdf_file *f, const char *text) {
  return text_block(f, "TX", text);
}
uint64_t mdf_xml(mdf_file *f, const char *text) {
  return text_block(f, "MD", text);
}

uint64_t mdf_source(mdf_file *f, const char *name, const char *path, int type, int bus) {
  const uint64_t links[3] = {mdf_text(f, name), mdf_text(f, path)};
  const unsigned char data[8] = {(unsigned char)type, (unsigned char)bus};
  return mdf_block(f, "SI", links, 3, data, sizeof data);
}

uint64_t mdf_history(mdf_file *f, const char *comment_xml, uint64_t time_ns) {
  const uint64_t links[2] = {0, mdf_xml(f, comment_xml)};
  unsigned char data[16] = {0};  // time, time zone, daylight saving, flags
  mdf_put(data, time_ns, 8, false);
  return mdf_block(f, "FH", links, 2, data, sizeof data);
}

uint64_t mdf_conversion(mdf_file *f, const mdf_cc *c) {
  enum { FIXED = 4 };  // name, unit, comment, inverse
  uint64_t links[FIXED + 64] = {0, mdf_text(f, c->unit)};
  unsigned char data[24 + 8 * 128] = {0};
  require(c->ref_count <= 64 && c->value_count <= 128, "too many parameters of a conversion");
  for (int i = 0; i < c->ref_count; i++) links[FIXED + i] = c->refs[i];
  // Type, precision, flags, numbers of references and of values, range of physical values, values.
  data[0] = (unsigned char)c->type;
  mdf_put(data + 4, (uint64_t)c->ref_count, 2, false);
  mdf_put(data + 6, (uint64_t)c->value_count, 2, false);
  for (int i = 0; i < c->value_count; i++) {
    if (c->masks)
      mdf_put(data + 24 + 8 * i, c->masks[i], 8, false);
    else
      mdf_put_double(data + 24 + 8 * i, c->values[i]);
  }
  return mdf_block(f, "CC", links, FIXED + c->ref_count, data, 24 + 8 * (size_t)c->value_count);
}

uint64_t mdf_linear(mdf_file *f, double offset, double factor) {
  return mdf_conversion(f, &(mdf_cc){.type = MDF_CC_LINEAR, .values = (double[]){offset, factor}, .value_count = 2});
}

uint64_t mdf_formula(mdf_file *f, const char *formula) {
  return mdf_conversion(
      f, &(mdf_cc){.type = MDF_CC_ALGEBRAIC, .refs = (uint64_t[]){mdf_text(f, formula)}, .ref_count = 1});
}

uint64_t mdf_channel(mdf_file *f, const mdf_cn *c) {
  // Next channel, composition, name, source, conversion, data, unit, comment.
  const uint64_t links[8] = {0,
                             c->composition,
                             mdf_text(f, c->name),
                             c->source,
                             c->conversion,
                             c->data,
                             c->unit_xml ? mdf_xml(f, c->unit_xml) : mdf_text(f, c->unit),
                             c->comment_xml ? mdf_xml(f, c->comment_xml) : mdf_text(f, c->comment)};
  // Types, bit offset, byte offset, number of bits, flags, place of the invalidation bit, precision, reserved, number of
  // attachments, and three ranges of two numbers each.
  unsigned char data[72] = {(unsigned char)c->type, (unsigned char)c->sync, (unsigned char)c->data_type,
                            (unsigned char)c->bit};
  mdf_put(data + 4, (uint64_t)c->byte, 4, false);
  mdf_put(data + 8, (uint64_t)c->bits, 4, false);
  mdf_put(data + 12, c->flags, 4, false);
  mdf_put(data + 16, c->invalid_bit, 4, false);
  return mdf_block(f, "CN", links, 8, data, sizeof data);
}

uint64_t mdf_array(mdf_file *f, const mdf_ca *a) {
  const uint64_t links[1] = {0};
  unsigned char data[16 + 24] = {(unsigned char)a->type, (unsigned char)a->storage};
  mdf_put(data + 2, (uint64_t)a->dimensions, 2, false);
  mdf_put(data + 4, a->flags, 4, false);
  mdf_put(data + 8, (uint64_t)(int64_t)a->byte_step, 4, false);
  mdf_put(data + 12, (uint64_t)(int64_t)a->invalid_step, 4, false);
  for (int i = 0; i < a->dimensions; i++) mdf_put(data + 16 + 8 * i, a->size[i], 8, false);
  return mdf_block(f, "CA", links, 1, data, 16 + 8 * (size_t)a->dimensions);
}

uint64_t mdf_group(mdf_file *f, const mdf_cg *g) {
  bool is_remote = g->flags & MDF_CG_REMOTE_MASTER;
  // Next group, first channel, acquisition name, source, sample reductions, comment, and the group of the master.
  const uint64_t links[7] = {
      0, mdf_chain(f, g->channels), mdf_text(f, g->name), g->source, g->reductions, mdf_text(f, g->comment), g->master};
  unsigned char data[32] = {0};
  mdf_put(data, g->record_id, 8, false);
  mdf_put(data + 8, g->records, 8, false);
  mdf_put(data + 16, g->flags, 2, false);
  mdf_put(data + 18, g->flags & MDF_CG_BUS ? '.' : 0, 2, false);  // separator of paths in names
  mdf_put(data + 24, g->data_bytes, 4, false);
  mdf_put(data + 28, g->invalid_bytes, 4, false);
  return mdf_block(f, "CG", links, is_remote ? 7 : 6, data, sizeof data);
}

uint64_t mdf_data_group(mdf_file *f, const uint64_t *groups, uint64_t data, int record_id_size) {
  const uint64_t links[4] = {0, mdf_chain(f, groups), data};
  const unsigned char rest[8] = {(unsigned char)record_id_size};
  return mdf_block(f, "DG", links, 4, rest, sizeof rest);
}

// ---- Data

// Bytes as a matrix of rows with `columns` bytes: the columns one after the other, then the bytes of the incomplete row.
static unsigned char *transposed(const unsigned char *bytes, size_t size, unsigned columns) {
  unsigned char *out = malloc(size + 1);
  require(out != NULL && columns > 0, "no columns of a transposition");
  size_t rows = size / columns;
  for (size_t r = 0; r < rows; r++)
    for (size_t c = 0; c < columns; c++) out[c * rows + r] = bytes[r * columns + c];
  memcpy(out + rows * columns, bytes + rows * columns, size - rows * columns);
  return out;
}

// One data block, or a DZ block of its contents.
static uint64_t piece_block(mdf_file *f, const char *id, const unsigned char *bytes, size_t size, int zip,
                            unsigned columns) {
  if (zip == MDF_PLAIN) return mdf_block(f, id, NULL, 0, bytes, size);
  unsigned char *turned = zip == MDF_TRANSPOSED ? transposed(bytes, size, columns) : NULL;
  uLongf length = compressBound((uLong)size);
  unsigned char *data = calloc(1, 24 + length);
  require(data != NULL, "out of memory");
  require(compress2(data + 24, &length, turned ? turned : bytes, (uLong)size, 6) == Z_OK, "cannot deflate");
  // Original kind, method (0: deflate, 1: transposed), reserved, parameter, original length, length.
  memcpy(data, id, 2);
  data[2] = zip == MDF_TRANSPOSED;
  mdf_put(data + 4, zip == MDF_TRANSPOSED ? columns : 0, 4, false);
  mdf_put(data + 8, size, 8, false);
  mdf_put(data + 16, length, 8, false);
  uint64_t block = mdf_block(f, "DZ", NULL, 0, data, 24 + length);
  free(data);
  free(turned);
  return block;
}

// A chain of list blocks. DL: flags (1 byte), 3 reserved bytes. LD: flags (4 bytes). Then both: count, common length or offsets.
static uint64_t list_blocks(mdf_file *f, const char *id, const uint64_t *pieces, const uint64_t *more,
                            const uint64_t *offsets, size_t count, uint64_t equal, const mdf_storage *how) {
  size_t per_list = how->per_list ? (size_t)how->per_list : count;
  uint64_t first = 0, last = 0;
  size_t from = 0;
  do {
    size_t n = count - from < per_list ? count - from : per_list;
    mdf_bytes data = {0};
    uint64_t *links = calloc(1 + 2 * n, sizeof *links);
    require(links != NULL, "out of memory");
    for (size_t i = 0; i < n; i++) links[1 + i] = pieces[from + i];
    for (size_t i = 0; more && i < n; i++) links[1 + n + i] = more[from + i];
    unsigned flags = (how->list == MDF_LIST_EQUAL ? 1 : 0) | (how->has_times ? 2 : 0) | (more ? 1u << 31 : 0);
    mdf_put(mdf_more(&data, 4), flags, 4, false);
    mdf_put(mdf_more(&data, 4), n, 4, false);
    if (how->list == MDF_LIST_EQUAL) mdf_put(mdf_more(&data, 8), equal, 8, false);
    for (size_t i = 0; how->list != MDF_LIST_EQUAL && i < n; i++)
      mdf_put(mdf_more(&data, 8), offsets[from + i], 8, false);
    for (size_t i = 0; how->has_times && i < n; i++) mdf_put(mdf_more(&data, 8), 12345, 8, false);
    uint64_t block = mdf_block(f, id, links, (int)(1 + n + (more ? n : 0)), data.at, data.size);
    if (last) mdf_set_link(f, last, 0, block);
    if (!first) first = block;
    last = block;
    from += n;
    free(links);
    mdf_bytes_free(&data);
  } while (from < count);
  return first;
}

uint64_t mdf_data(mdf_file *f, const char *id, const void *bytes, size_t size, const mdf_storage *how) {
  static const mdf_storage plain = {0};
  uint64_t piece[MOST_PIECES], offset[MOST_PIECES];
  size_t count = 0;
  if (!how) how = &plain;
  size_t step = how->piece ? how->piece : size ? size : 1;
  if (how->list == MDF_ONE_BLOCK) step = size ? size : 1;
  for (size_t from = 0; from < size || count == 0; from += step) {
    size_t n = size - from < step ? size - from : step;
    int zip = how->zip == MDF_MIXED ? (int)(count % 3) : (int)how->zip;
    require(count + 2 < MOST_PIECES, "too many data blocks");
    offset[count] = from;
    piece[count++] = piece_block(f, id, (const unsigned char *)bytes + from, n, zip, how->columns);
    if (how->has_empty && count == 1) {
      offset[count] = from + n;
      piece[count++] = mdf_block(f, id, NULL, 0, NULL, 0);
    }
  }
  if (how->list == MDF_ONE_BLOCK && !how->has_header) return piece[0];
  uint64_t list = list_blocks(f, "DL", piece, NULL, offset, count, step, how);
  if (!how->has_header) return list;
  unsigned char data[8] = {0};  // flags of the lists, method, reserved
  mdf_put(data, how->list == MDF_LIST_EQUAL ? 1 : 0, 2, false);
  data[2] = how->zip == MDF_TRANSPOSED;
  return mdf_block(f, "HL", &list, 1, data, sizeof data);
}

uint64_t mdf_sample_list(mdf_file *f, const void *values, unsigned value_bytes, const void *invalid,
                         unsigned invalid_bytes, size_t samples, const mdf_storage *how) {
  uint64_t piece[MOST_PIECES], more[MOST_PIECES], offset[MOST_PIECES];
  size_t count = 0, step = how->piece ? how->piece : samples;
  for (size_t from = 0; from < samples; from += step) {
    size_t n = samples - from < step ? samples - from : step;
    int zip = how->zip == MDF_MIXED ? (int)(count % 3) : (int)how->zip;
    require(count + 1 < MOST_PIECES, "too many data blocks");
    offset[count] = from;
    piece[count] = piece_block(f, "DV", (const unsigned char *)values + from * value_bytes, n * value_bytes, zip,
                               how->columns ? how->columns : value_bytes);
    if (invalid)
      more[count] = piece_block(f, "DI", (const unsigned char *)invalid + from * invalid_bytes, n * invalid_bytes, zip,
                                invalid_bytes);
    count++;
  }
  return list_blocks(f, "LD", piece, invalid ? more : NULL, offset, count, step, how);
}
