// Groups and channels of an MDF 4 file (blocks DG, CG, CN, CA), and the decoding of their values.
//
// A data group has data and one or more channel groups. The records of several channel groups are mixed ("unsorted") and begin with
// the identifier of their group. A channel is a field of the records of its group.
#ifndef OD_FORMATS_MDF_CHANNELS_H
#define OD_FORMATS_MDF_CHANNELS_H

#include "formats/mdf_blocks.h"
#include "formats/mdf_conversions.h"

// The largest record, bytes, and the largest number of elements of an array. A larger array is left out.
enum { OD_MDF_LONGEST_RECORD = 1 << 24, OD_MDF_MOST_ELEMENTS = 1024 };

// How the raw value is stored.
typedef enum od_mdf_raw {
  OD_MDF_U8,
  OD_MDF_U16,
  OD_MDF_U32,
  OD_MDF_U64,
  OD_MDF_I8,
  OD_MDF_I16,
  OD_MDF_I32,
  OD_MDF_I64,
  OD_MDF_F32,
  OD_MDF_F64,
  OD_MDF_BITS,            // any number of bits at any position: see od_mdf_channel.number
  OD_MDF_INDEX,           // no field: the raw value is the number of the record
  OD_MDF_DATE,            // CANopen date
  OD_MDF_TIME_OF_DAY,     // CANopen time
  OD_MDF_TEXT,            // a text in the record
  OD_MDF_TEXT_ELSEWHERE,  // the record has the position of a text in other data
  OD_MDF_NOTHING          // the file marks all values as invalid
} od_mdf_raw;

typedef enum od_mdf_number { OD_MDF_UNSIGNED, OD_MDF_SIGNED, OD_MDF_REAL } od_mdf_number;
typedef enum od_mdf_master {
  OD_MDF_NO_MASTER,
  OD_MDF_TIME,
  OD_MDF_ANGLE,
  OD_MDF_DISTANCE,
  OD_MDF_RECORD
} od_mdf_master;

typedef struct od_mdf_channel {
  const char *name, *unit, *comment;  // name, unit and comment of the channel; "" if there is none
  const char *parent;                 // name of the structure with this channel; "" if there is none
  int group;                          // index of the group
  od_mdf_master master;
  od_mdf_raw raw;
  od_mdf_number number;  // of OD_MDF_BITS
  bool is_big_endian;    // of OD_MDF_BITS
  bool is_integer;
  uint8_t type;     // the data type of the file (cn_data_type)
  uint8_t bit;      // number of the first bit in the first byte
  uint32_t byte;    // position of the first byte in the record
  uint32_t bits;    // number of bits
  uint32_t bytes;   // number of bytes with these bits
  int64_t invalid;  // number of the bit that marks invalid values; -1: none
  const od_mdf_conversion *conversion;
  uint64_t data;    // link to the texts of OD_MDF_TEXT_ELSEWHERE
  bool has_length;  // whether `data` is the address of the channel with the length of a text in the record
  int length;       // index of that channel; -1: there is no such channel
  bool is_text;     // whether the channel has no numbers
  uint64_t block;   // address of the block CN
} od_mdf_channel;

typedef struct od_mdf_group {
  const char *name, *comment;  // name of the group; "" if the group has no name
  const char *source;          // name of the source, such as the name of a bus; "" if there is none
  int part;                    // index of the data group
  uint64_t block;              // address of the block CG
  uint64_t id, cycles;
  unsigned flags;
  uint32_t bytes, invalid_bytes;  // length of the data of a record, and of its invalidation bits
  uint64_t master_block;          // address of the group with the master channel; 0: this group
  int master;                     // index of the group with the master channel; -1: none
  int first, channels;            // the channels
  int time;                       // index of the time channel of this group; -1: none
  bool is_vlsd;                   // whether the records are values of variable length
  uint8_t bus;                    // type of the bus of the source; 2: CAN
} od_mdf_group;

typedef struct od_mdf_part {
  uint64_t data;  // link to the data
  int id_size;    // bytes of the identifier of a record
  int first, groups;
} od_mdf_part;

// All groups of a file.
typedef struct od_mdf_contents {
  od_mdf_part *part;
  int parts;
  od_mdf_group *group;
  int groups;
  od_mdf_channel *channel;
  int channels;
  const char *start_time;  // ISO 8601; NULL: unknown
  const char **remark;     // sentences about parts of the file that are not used
  int remarks;
  long more_remarks;  // number of further remarks
} od_mdf_contents;

// Reads the description of all groups. The arena owns the contents. Fails with OD_BAD_INPUT, OD_IO or OD_NO_MEMORY.
od_status od_mdf_contents_read(od_mdf_file *file, od_arena *memory, od_mdf_contents *c, od_error *err);

// Adds a sentence to the remarks. Returns OD_NO_MEMORY if an allocation fails.
od_status od_mdf_remark(od_mdf_contents *c, od_arena *memory, const char *format, ...) OD_PRINTF_FORMAT(3, 4);

// Returns the raw number of a channel that is not a text. data: the bytes of a record. index: the number of the record in its group.
double od_mdf_raw_value(const od_mdf_channel *c, const unsigned char *data, uint64_t index);
// Returns the unsigned integer of a field of at most 64 bits.
uint64_t od_mdf_bits(const od_mdf_channel *c, const unsigned char *data);
// Converts the text at `bytes`, of the data type `type`, to UTF-8, up to its first zero character. text:
// at most `size` bytes, including its end; a longer text is cut.
void od_mdf_decode_text(uint8_t type, const unsigned char *bytes, size_t count, char *text, size_t size);

static inline bool od_mdf_is_invalid(const od_mdf_channel *c, const unsigned char *invalid) {
  return c->invalid >= 0 && (invalid[c->invalid >> 3] >> (c->invalid & 7) & 1) != 0;
}

#endif
