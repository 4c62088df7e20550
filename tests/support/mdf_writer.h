// Writes small MDF 4 files for tests, byte by byte from the published layout of ASAM MDF 4.1 and 4.2. Shares no code with the reader.
//
// A function for a kind of block appends one block and returns its address in the file. A block's links point to blocks that were
// appended before. Chains (channels of a group, groups of a data group) are lists of addresses that end with 0. Failures of
// allocation and wrong calls end the program.
//
// Every block: "##" and two letters, 4 reserved bytes, length (8 bytes), number of links (8 bytes), links (8 bytes each), data.
// Numbers are little-endian.
#ifndef OD_SUPPORT_MDF_WRITER_H
#define OD_SUPPORT_MDF_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// ---- Bytes

typedef struct mdf_bytes {
  unsigned char *at;
  size_t size, capacity;
} mdf_bytes;

// Appends n zero bytes and returns their place, valid until the next call.
unsigned char *mdf_more(mdf_bytes *b, size_t n);
void mdf_append(mdf_bytes *b, const void *bytes, size_t n);
void mdf_bytes_free(mdf_bytes *b);
// Writes the lowest `n` bytes of a number.
void mdf_put(unsigned char *at, uint64_t value, int n, bool big_endian);
void mdf_put_double(unsigned char *at, double value);
// Writes a number of `bits` bits as a channel of a record. The channel occupies the (bit + bits + 7) / 8 bytes from `byte`. They are one
// integer in the given byte order, and the number begins at the integer's bit `bit` (0: lowest). Other bits are unchanged.
void mdf_put_bits(unsigned char *record, int byte, int bit, int bits, bool big_endian, uint64_t value);
// Appends a value of variable length, as in an SD block: 4 bytes of length, then the bytes. Returns the offset of the value.
uint64_t mdf_put_variable(mdf_bytes *b, const void *bytes, size_t n);

// ---- Files

enum { MDF_MOST_BLOCKS = 400000 };

typedef struct mdf_file {
  mdf_bytes b;                      // the file
  uint64_t block[MDF_MOST_BLOCKS];  // addresses of all blocks after the ID block, ascending
  int blocks;
} mdf_file;

typedef struct mdf_header {
  int version;          // such as 410; 0: 410
  bool is_unfinalized;  // "UnFinMF " instead of "MDF     "
  int unfinalized;      // flags of an unfinalized file (MDF_DIRTY_*)
  uint64_t start_ns;    // start of the measurement, in ns after 1970-01-01
  int zone, daylight;   // offsets of time zone and daylight saving in minutes
  int time_flags;       // 1: start is local time, 2: offsets are valid
} mdf_header;

// Flags of an unfinalized file: values that the writer has not updated.
enum { MDF_DIRTY_COUNTS = 1, MDF_DIRTY_LAST_DT = 4, MDF_DIRTY_LAST_LIST = 16, MDF_DIRTY_VLSD_BYTES = 32 };

// Starts a file with its ID and HD blocks. h may be NULL.
mdf_file *mdf_begin(const mdf_header *h);
// Links the data groups, in this order, to the HD block. Zero ends the list.
void mdf_end(mdf_file *f, const uint64_t *data_groups);
void mdf_free(mdf_file *f);
// Writes the file to a path.
void mdf_save(const mdf_file *f, const char *path);

enum { MDF_HD = 64 };  // address of the HD block
// Links of the HD block.
enum { MDF_HD_DG, MDF_HD_FH, MDF_HD_CH, MDF_HD_AT, MDF_HD_EV, MDF_HD_COMMENT };

// ---- Blocks

// A block of any kind. id: two letters.
uint64_t mdf_block(mdf_file *f, const char *id, const uint64_t *links, int link_count, const void *data, size_t size);
void mdf_set_link(mdf_file *f, uint64_t block, int link, uint64_t target);
// Links each block to its successor by link 0. Returns the first block.
uint64_t mdf_chain(mdf_file *f, const uint64_t *blocks);

uint64_t mdf_text(mdf_file *f, const char *text);  // TX; 0 for NULL
uint64_t mdf_xml(mdf_file *f, const char *text);   // MD; 0 for NULL
uint64_t mdf_source(mdf_file *f, const char *name, const char *path, int type, int bus);
uint64_t mdf_history(mdf_file *f, const char *comment_xml, uint64_t time_ns);

enum {
  MDF_CC_IDENTITY,
  MDF_CC_LINEAR,
  MDF_CC_RATIONAL,
  MDF_CC_ALGEBRAIC,
  MDF_CC_INTERPOLATED,
  MDF_CC_TABLE,
  MDF_CC_RANGES,
  MDF_CC_TEXTS,
  MDF_CC_RANGE_TEXTS,
  MDF_CC_TEXT_VALUES,
  MDF_CC_TEXT_TEXTS,
  MDF_CC_BITFIELD
};

typedef struct mdf_cc {
  int type;
  const char *unit;
  const double *values;
  int value_count;
  const uint64_t *masks;  // of a bit field, instead of values
  const uint64_t *refs;   // addresses of TX or CC blocks
  int ref_count;
} mdf_cc;

uint64_t mdf_conversion(mdf_file *f, const mdf_cc *c);
uint64_t mdf_linear(mdf_file *f, double offset, double factor);  // offset + factor * raw
uint64_t mdf_formula(mdf_file *f, const char *formula);

enum { MDF_FIXED, MDF_VLSD, MDF_MASTER, MDF_VIRTUAL_MASTER, MDF_SYNC, MDF_MLSD, MDF_VIRTUAL };
enum { MDF_NO_SYNC, MDF_TIME, MDF_ANGLE, MDF_DISTANCE, MDF_INDEX };
enum {
  MDF_UINT_LE,
  MDF_UINT_BE,
  MDF_INT_LE,
  MDF_INT_BE,
  MDF_FLOAT_LE,
  MDF_FLOAT_BE,
  MDF_LATIN1,
  MDF_UTF8,
  MDF_UTF16_LE,
  MDF_UTF16_BE,
  MDF_BYTES,
  MDF_MIME_SAMPLE,
  MDF_MIME_STREAM,
  MDF_CANOPEN_DATE,
  MDF_CANOPEN_TIME,
  MDF_COMPLEX_LE,
  MDF_COMPLEX_BE
};
enum { MDF_ALL_INVALID = 1, MDF_HAS_INVALID_BIT = 2, MDF_BUS_CHANNEL = 1 << 10 };

typedef struct mdf_cn {
  const char *name, *unit, *comment;   // texts (TX)
  const char *unit_xml, *comment_xml;  // texts (MD), instead of `unit` and `comment`
  int type, sync, data_type;
  int byte, bit, bits;
  unsigned flags, invalid_bit;
  uint64_t source, conversion, composition;
  uint64_t data;  // SD block or list of such blocks, VLSD group, or length channel of MLSD
} mdf_cn;

uint64_t mdf_channel(mdf_file *f, const mdf_cn *c);

typedef struct mdf_ca {
  int type, storage, dimensions;
  unsigned flags;
  int byte_step, invalid_step;
  uint64_t size[3];
} mdf_ca;

enum { MDF_CA_INVERSE = 1 << 6 };
uint64_t mdf_array(mdf_file *f, const mdf_ca *a);

enum { MDF_CG_VLSD = 1, MDF_CG_BUS = 2, MDF_CG_PLAIN_BUS = 4, MDF_CG_REMOTE_MASTER = 8 };

typedef struct mdf_cg {
  const char *name, *comment;
  uint64_t source, reductions;
  uint64_t master;           // group with the master channel (version 4.2), with MDF_CG_REMOTE_MASTER
  const uint64_t *channels;  // chain
  uint64_t record_id, records;
  unsigned flags, data_bytes, invalid_bytes;
} mdf_cg;

uint64_t mdf_group(mdf_file *f, const mdf_cg *g);
uint64_t mdf_data_group(mdf_file *f, const uint64_t *groups, uint64_t data, int record_id_size);

// ---- Data

typedef struct mdf_storage {
  enum { MDF_ONE_BLOCK, MDF_LIST_EQUAL, MDF_LIST_OFFSETS } list;
  size_t piece;  // bytes (of lists of samples: samples) in a block of a list; 0: all
  int per_list;  // number of blocks in one list block of a chain; 0: all
  enum { MDF_PLAIN, MDF_DEFLATE, MDF_TRANSPOSED, MDF_MIXED } zip;  // MDF_MIXED: plain, deflated and transposed in turn
  unsigned columns;                                                // of the transposition: number of bytes in a row
  bool has_header;                                                 // HL before the first DL
  bool has_times;  // the list has a time value (raw master) for each block
  bool has_empty;  // an empty block after the first one of a list with offsets
} mdf_storage;

// Data as one block or a list of blocks. id: "DT", "SD", "RD". how may be NULL: one block. Returns the address of the first.
uint64_t mdf_data(mdf_file *f, const char *id, const void *bytes, size_t size, const mdf_storage *how);
// Data of a group as version 4.2 stores them by columns: values ("DV") and invalidation bits ("DI") in lists LD. invalid may be NULL.
uint64_t mdf_sample_list(mdf_file *f, const void *values, unsigned value_bytes, const void *invalid,
                         unsigned invalid_bytes, size_t samples, const mdf_storage *how);

#endif
