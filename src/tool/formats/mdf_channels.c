#include "formats/mdf_channels.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "formats/key_map.h"
#include "io/date_time.h"
#include "memory/scoped.h"

enum {
  MOST_NESTED = 6,           // largest nesting depth of structures and arrays
  MOST_IN_ARRAYS = 1 << 16,  // largest number of channels in a file that are elements of arrays
  MOST_CHANNELS = 1 << 20,
  MOST_REMARKS = 20,
  MOST_DIMENSIONS = 8
};

// Flags and types of the blocks CG, CN and CA.
enum {
  CG_IS_VLSD = 1,
  CG_HAS_REMOTE_MASTER = 8,
  CN_ALL_INVALID = 1,
  CN_HAS_INVALID_BIT = 2,
  CA_INVERSE = 64,
  TYPE_VLSD = 1,
  TYPE_MASTER = 2,
  TYPE_VIRTUAL_MASTER = 3,
  TYPE_WITH_LENGTH = 5,
  TYPE_VIRTUAL = 6,
  TYPE_VARIABLE = 7,
  BUS_SOURCE = 2
};

// The state of the reader of a file.
typedef struct reader {
  od_mdf_file *file;
  od_arena *memory;
  od_mdf_contents *c;
  od_mdf_conversions conversions;
  int capacity;   // capacity of the list of channels
  int in_arrays;  // number of channels that are elements of arrays
  od_error *err;
} reader;

static od_status no_memory(const reader *r) {
  return od_mdf_no_memory(r->file, r->err);
}

od_status od_mdf_remark(od_mdf_contents *c, od_arena *memory, const char *format, ...) {
  char text[600];
  va_list args;
  if (c->remarks == MOST_REMARKS) {
    c->more_remarks++;
    return OD_OK;
  }
  va_start(args, format);
  od_text_format_list(text, sizeof text, format, args);
  va_end(args);
  const char **list = od_arena_extend(memory, c->remark, c->remarks, sizeof *list);
  if (!list) return OD_NO_MEMORY;
  c->remark = list;
  list[c->remarks] = od_arena_text(memory, text);
  return list[c->remarks++] ? OD_OK : OD_NO_MEMORY;
}

// Returns the name of a group for messages.
static const char *group_name(const reader *r, int group) {
  const char *name = r->c->group[group].name;
  return name[0] ? name : "without name";
}

static od_status leave_out(reader *r, const od_mdf_channel *c, const char *why) {
  od_status status = od_mdf_remark(r->c, r->memory, "channel '%.100s' of group '%.100s' is left out: %.300s", c->name,
                                   group_name(r, c->group), why);
  return status == OD_OK ? OD_OK : no_memory(r);
}

// --- Channels ----------------------------------------------------------------------------------------------------

// Chooses how the value of a channel is decoded. Returns NULL, or the reason why decoding is not possible.
static const char *choose_raw(od_mdf_channel *c, int kind) {
  static const od_mdf_raw whole[2][4] = {{OD_MDF_U8, OD_MDF_U16, OD_MDF_U32, OD_MDF_U64},
                                         {OD_MDF_I8, OD_MDF_I16, OD_MDF_I32, OD_MDF_I64}};
  c->bytes = (uint32_t)((c->bit + (uint64_t)c->bits + 7) / 8);
  if (kind == TYPE_VIRTUAL || kind == TYPE_VIRTUAL_MASTER) {
    c->raw = OD_MDF_INDEX;
    c->is_integer = true;
    c->bytes = c->byte = 0;
    return NULL;
  }
  if (c->bit > 7) return "the offset of its first bit is above 7; expected 0 to 7";
  bool is_elsewhere = kind == TYPE_VLSD || kind == TYPE_VARIABLE;
  if ((c->type >= 6 && c->type <= 12) || c->type == 17 || is_elsewhere) {
    c->raw = is_elsewhere ? OD_MDF_TEXT_ELSEWHERE : OD_MDF_TEXT;
    c->has_length = kind == TYPE_WITH_LENGTH && c->data != 0;
    c->is_text =
        !c->conversion || c->conversion->kind != OD_MDF_TEXT_TO_VALUE || c->type >= 10 || kind == TYPE_VARIABLE;
    if (is_elsewhere && c->bits > 64) return "the position of its values has more than 64 bits";
    return NULL;
  }
  if (c->type == 13 || c->type == 14) {
    c->raw = c->type == 13 ? OD_MDF_DATE : OD_MDF_TIME_OF_DAY;
    c->bytes = c->type == 13 ? 7 : 6;
    if (!c->unit[0]) c->unit = "s";
    return NULL;
  }
  if (c->type > 5 && c->type != 15 && c->type != 16)
    return "its data type is unknown; expected a type of MDF 4.3, from 0 to 17";
  c->is_big_endian = c->type < 6 ? c->type & 1 : c->type == 16;
  c->number = c->type < 2 ? OD_MDF_UNSIGNED : c->type < 4 ? OD_MDF_SIGNED : OD_MDF_REAL;
  c->is_integer = c->number != OD_MDF_REAL;
  bool is_whole = c->bit == 0 && (c->bits == 8 || c->bits == 16 || c->bits == 32 || c->bits == 64);
  if (c->bits == 0) return "it has no bits; expected 1 to 64 bits";
  if (c->bits > 64) return "it is a number of more than 64 bits; expected 1 to 64 bits";
  if (c->number == OD_MDF_REAL && c->bits != 16 && c->bits != 32 && c->bits != 64)
    return "it is a real number with neither 16, 32 nor 64 bits";
  c->raw = OD_MDF_BITS;
  if (!is_whole || (c->is_big_endian && c->bits > 8)) return NULL;
  int size = c->bits == 8 ? 0 : c->bits == 16 ? 1 : c->bits == 32 ? 2 : 3;
  if (c->number != OD_MDF_REAL) c->raw = whole[c->number == OD_MDF_SIGNED][size];
  if (c->number == OD_MDF_REAL && size >= 2) c->raw = size == 2 ? OD_MDF_F32 : OD_MDF_F64;
  return NULL;
}

// Checks that the field of a channel is within the records of its group. Returns NULL, or the problem.
static const char *check_place(const od_mdf_group *g, const od_mdf_channel *c) {
  if ((uint64_t)c->byte + c->bytes > g->bytes) return "it is outside of the records of its group";
  if (c->invalid >= 8 * (int64_t)g->invalid_bytes) return "its invalidation bit is outside of the records of its group";
  return NULL;
}

// Appends a channel to the last group. Fails with OD_BAD_INPUT or OD_NO_MEMORY.
static od_status add_channel(reader *r, const od_mdf_channel *c) {
  od_mdf_contents *all = r->c;
  if (all->channels == MOST_CHANNELS)
    return od_fail(r->err, OD_BAD_INPUT, "%s has more than %d channels, the largest allowed number", r->file->path,
                   MOST_CHANNELS);
  if (all->channels == r->capacity) {
    int capacity = r->capacity ? 2 * r->capacity : 64;
    od_mdf_channel *list = OD_TAKE(r->memory, od_mdf_channel, capacity);
    if (!list) return no_memory(r);
    if (all->channels > 0) memcpy(list, all->channel, (size_t)all->channels * sizeof *list);
    all->channel = list;
    r->capacity = capacity;
  }
  all->channel[all->channels++] = *c;
  return OD_OK;
}

// Appends a complex number as two real channels. Fails with OD_BAD_INPUT or OD_NO_MEMORY.
static od_status add_complex(reader *r, od_mdf_channel c) {
  const char *name = c.name, *why = NULL;
  uint32_t byte = c.byte;
  c.bits /= 2;
  for (uint32_t part = 0; part < 2; part++) {
    c.name = od_arena_format(r->memory, part == 0 ? "%s.re" : "%s.im", name);
    if (!c.name) return no_memory(r);
    c.byte = byte + part * (c.bits / 8);
    why = choose_raw(&c, 0);
    if (!why) why = check_place(&r->c->group[c.group], &c);
    if (why) return leave_out(r, &c, why);
    od_status status = add_channel(r, &c);
    if (status != OD_OK) return status;
  }
  return OD_OK;
}

static od_status read_channel_list(reader *r, int group, uint64_t at, const char *parent, int depth);

// An array of channels (block CA).
typedef struct array {
  const char *name;
  long elements;
  int dimensions;
  uint64_t size[MOST_DIMENSIONS];
  bool is_inverse;  // whether the first index changes fastest
  int32_t step;     // distance between neighboring elements, bytes
  uint32_t invalid_step;
} array;

// Writes the indices of element e: "[1][0]".
static void write_indices(const array *a, long e, char text[MOST_DIMENSIONS * 24]) {
  uint64_t index[MOST_DIMENSIONS];
  size_t length = 0;
  for (int k = 0; k < a->dimensions; k++) {
    int d = a->is_inverse ? k : a->dimensions - 1 - k;
    index[d] = (uint64_t)e % a->size[d];
    e /= (long)a->size[d];
  }
  text[0] = 0;
  for (int d = 0; d < a->dimensions; d++)
    length += od_text_format(text + length, MOST_DIMENSIONS * 24 - length, "[%llu]", (unsigned long long)index[d]);
}

// Replaces the channels from index `from`, the channels of the first element, by the channels of all elements. Fails with
// OD_BAD_INPUT or OD_NO_MEMORY.
static od_status repeat_channels(reader *r, int from, const array *a) {
  OD_SCRATCH(scratch);
  int count = r->c->channels - from;
  size_t head = strlen(a->name);
  od_mdf_channel *first = OD_TAKE(&scratch, od_mdf_channel, count);
  if (!first) return no_memory(r);
  if (count > 0) memcpy(first, r->c->channel + from, (size_t)count * sizeof *first);
  r->c->channels = from;
  for (long e = 0; e < a->elements; e++) {
    char place[MOST_DIMENSIONS * 24];
    write_indices(a, e, place);
    for (int i = 0; i < count; i++) {
      od_mdf_channel c = first[i];
      bool has_head = strncmp(c.name, a->name, head) == 0;
      c.name = has_head ? od_arena_format(r->memory, "%s%s%s", a->name, place, c.name + head)
                        : od_arena_format(r->memory, "%s%s.%s", a->name, place, c.name);
      if (!c.name) return no_memory(r);
      int64_t byte = (int64_t)c.byte + e * (int64_t)a->step;
      const char *why = byte < 0 || byte > UINT32_MAX ? "it is outside of the records of its group" : NULL;
      if (!why) c.byte = (uint32_t)byte;
      if (c.invalid >= 0) c.invalid += e * (int64_t)a->invalid_step;
      if (!why) why = check_place(&r->c->group[c.group], &c);
      od_status status = why ? leave_out(r, &c, why) : add_channel(r, &c);
      if (status != OD_OK) return status;
    }
  }
  return OD_OK;
}

static od_status read_composition(reader *r, uint64_t at, const od_mdf_channel *c, int depth, bool *is_structure);

// Reads an array. Reads the channels of one element, which is a value or a structure, and repeats these channels for
// all elements. Fails with OD_BAD_INPUT, OD_IO or OD_NO_MEMORY.
static od_status read_array(reader *r, uint64_t at, const od_mdf_channel *c, int depth) {
  od_mdf_block b;
  unsigned char fixed[16], size[8];
  uint64_t link;
  array a = {.name = c->name, .elements = 1};
  od_status status = od_mdf_block_once(r->file, at, "##CA", &b, r->err);
  if (status == OD_OK) status = od_mdf_links(r->file, &b, 0, 1, &link, r->err);
  if (status == OD_OK) status = od_mdf_block_data(r->file, &b, 0, sizeof fixed, fixed, r->err);
  if (status != OD_OK) return status;
  a.dimensions = od_mdf_u16(fixed + 2);
  a.is_inverse = (od_mdf_u32(fixed + 4) & CA_INVERSE) != 0;
  a.step = (int32_t)od_mdf_u32(fixed + 8);
  a.invalid_step = od_mdf_u32(fixed + 12);
  if (fixed[1] != 0) return leave_out(r, c, "it is an array whose elements are in several groups");
  if (a.dimensions < 1 || a.dimensions > MOST_DIMENSIONS) {
    char why[80];
    snprintf(why, sizeof why, "it is an array with %d dimensions; expected 1 to %d", (int)a.dimensions,
             MOST_DIMENSIONS);
    return leave_out(r, c, why);
  }
  for (int d = 0; d < a.dimensions; d++) {
    status = od_mdf_block_data(r->file, &b, 16 + 8 * (uint64_t)d, 8, size, r->err);
    if (status != OD_OK) return status;
    a.size[d] = od_mdf_u64(size);
    if (a.size[d] == 0) return leave_out(r, c, "it is an array without elements");
    if (a.size[d] > OD_MDF_MOST_ELEMENTS / (uint64_t)a.elements)
      return leave_out(r, c, "it is an array with more than 1024 elements");
    a.elements *= (long)a.size[d];
  }
  int from = r->c->channels;
  bool is_structure = false;
  if (link) status = read_composition(r, link, c, depth, &is_structure);
  if (status == OD_OK && !link) status = add_channel(r, c);
  if (status != OD_OK) return status;
  r->in_arrays += (int)a.elements * (r->c->channels - from);
  if (r->in_arrays > MOST_IN_ARRAYS) {
    r->c->channels = from;
    r->in_arrays = MOST_IN_ARRAYS;
    return leave_out(r, c, "the arrays of the file have more than 65536 elements");
  }
  return repeat_channels(r, from, &a);
}

// Reads the composition of a channel: a structure or an array. Fails with OD_BAD_INPUT, OD_IO or OD_NO_MEMORY.
static od_status read_composition(reader *r, uint64_t at, const od_mdf_channel *c, int depth, bool *is_structure) {
  od_mdf_block b;
  if (depth > MOST_NESTED) {
    char why[64];
    snprintf(why, sizeof why, "its structures are nested deeper than %d levels", MOST_NESTED);
    return leave_out(r, c, why);
  }
  *is_structure = od_mdf_block_open(r->file, at, "##CA", &b, NULL) != OD_OK;
  return *is_structure ? read_channel_list(r, c->group, at, c->name, depth + 1) : read_array(r, at, c, depth + 1);
}

// The links of a block CN.
enum { CN_NEXT, CN_COMPOSITION, CN_NAME, CN_SOURCE, CN_CONVERSION, CN_DATA, CN_UNIT, CN_COMMENT, CN_LINKS };

// Fills a channel from its block, without its conversion. *kind: the type of the channel. Fails with OD_BAD_INPUT, OD_IO or
// OD_NO_MEMORY.
static od_status read_fields(reader *r, const od_mdf_block *b, const uint64_t *link, od_mdf_channel *c, int *kind) {
  unsigned char fixed[24];
  od_status status = od_mdf_block_data(r->file, b, 0, sizeof fixed, fixed, r->err);
  if (status != OD_OK) return status;
  *kind = fixed[0];
  bool is_master = *kind == TYPE_MASTER || *kind == TYPE_VIRTUAL_MASTER;
  if (is_master)
    c->master = fixed[1] >= OD_MDF_TIME && fixed[1] <= OD_MDF_RECORD ? (od_mdf_master)fixed[1] : OD_MDF_NO_MASTER;
  c->type = fixed[2];
  c->bit = fixed[3];
  c->byte = od_mdf_u32(fixed + 4);
  c->bits = od_mdf_u32(fixed + 8);
  if (c->bits > 8u * OD_MDF_LONGEST_RECORD) c->bits = 8u * OD_MDF_LONGEST_RECORD;
  unsigned flags = od_mdf_u32(fixed + 12);
  c->invalid = flags & CN_HAS_INVALID_BIT ? (int64_t)od_mdf_u32(fixed + 16) : -1;
  c->raw = flags & CN_ALL_INVALID && !(flags & CN_HAS_INVALID_BIT) ? OD_MDF_NOTHING : OD_MDF_U8;
  c->data = link[CN_DATA];
  status = od_mdf_text(r->file, link[CN_NAME], OD_MDF_LONGEST_NAME, r->memory, &c->name, r->err);
  if (status == OD_OK)
    status = od_mdf_text(r->file, link[CN_UNIT], OD_MDF_LONGEST_COMMENT, r->memory, &c->unit, r->err);
  if (status == OD_OK) status = od_mdf_comment(r->file, link[CN_COMMENT], r->memory, &c->comment, r->err);
  return status;
}

// Appends the texts of an enumeration to the comment of a channel: "0 = off, 1 = on". The values of such a channel are raw
// numbers. Fails with OD_NO_MEMORY.
static od_status describe_texts(reader *r, od_mdf_channel *c) {
  const od_mdf_conversion *cc = c->conversion;
  char text[OD_MDF_LONGEST_COMMENT] = "";
  size_t length = 0;
  if (!cc || cc->gives_numbers || (cc->kind != OD_MDF_VALUE_TO_TEXT && cc->kind != OD_MDF_RANGE_TO_TEXT)) return OD_OK;
  for (int i = 0; i < cc->entries && length < sizeof text; i++) {
    const od_mdf_entry *e = &cc->entry[i];
    const char *between = length > 0 ? ", " : "";
    if (e->to != e->from)
      length += od_text_format(text + length, sizeof text - length, "%s%g to %g = %s", between, e->from, e->to,
                               e->text ? e->text : "");
    else
      length +=
          od_text_format(text + length, sizeof text - length, "%s%g = %s", between, e->from, e->text ? e->text : "");
  }
  c->comment = od_arena_format(r->memory, "%s%s%s", c->comment, c->comment[0] && length > 0 ? "; " : "", text);
  return c->comment ? OD_OK : no_memory(r);
}

// Chooses the decoding of a channel whose conversion is known, and adds the channel, or the channels of its array or structure.
// Fails with OD_BAD_INPUT, OD_IO or OD_NO_MEMORY.
static od_status place_channel(reader *r, od_mdf_channel *c, int kind, uint64_t composition, int depth) {
  bool is_nothing = c->raw == OD_MDF_NOTHING, is_structure = false;
  // Raw numbers of a channel with a conversion to texts do not have the unit of the conversion.
  if (!c->unit[0] && c->conversion && c->conversion->gives_numbers) c->unit = c->conversion->unit;
  od_status status = describe_texts(r, c);
  if (status != OD_OK) return status;
  if (composition) {
    const char *why = choose_raw(c, kind);
    od_mdf_block b;
    bool is_array = od_mdf_block_open(r->file, composition, "##CA", &b, NULL) == OD_OK;
    if (!is_array) return read_composition(r, composition, c, depth, &is_structure);
    if (!why) why = check_place(&r->c->group[c->group], c);
    if (why) return leave_out(r, c, why);
    if (is_nothing) c->raw = OD_MDF_NOTHING;
    return read_composition(r, composition, c, depth, &is_structure);
  }
  if (c->type == 15 || c->type == 16) return is_nothing ? OD_OK : add_complex(r, *c);
  const char *why = choose_raw(c, kind);
  if (!why && !is_nothing) why = check_place(&r->c->group[c->group], c);
  if (is_nothing) {
    c->raw = OD_MDF_NOTHING;
    c->byte = c->bytes = 0;
    c->invalid = -1;
  }
  return why ? leave_out(r, c, why) : add_channel(r, c);
}

// Reads a list of channels, with the channels of their structures and arrays. Fails with OD_BAD_INPUT, OD_IO or OD_NO_MEMORY.
static od_status read_channel_list(reader *r, int group, uint64_t at, const char *parent, int depth) {
  while (at) {
    od_mdf_block b;
    uint64_t link[CN_LINKS];
    od_mdf_channel c = {.group = group, .block = at, .parent = parent};
    int kind;
    od_error why = {0};
    od_status status = od_mdf_block_once(r->file, at, "##CN", &b, r->err);
    if (status == OD_OK) status = od_mdf_links(r->file, &b, 0, CN_LINKS, link, r->err);
    if (status == OD_OK) status = read_fields(r, &b, link, &c, &kind);
    if (status != OD_OK) return status;
    od_status found = od_mdf_conversion_read(&r->conversions, link[CN_CONVERSION], &c.conversion, &why);
    if (found == OD_NO_MEMORY || found == OD_IO) return od_fail(r->err, found, "%s", why.text);
    status = found == OD_OK ? place_channel(r, &c, kind, link[CN_COMPOSITION], depth) : leave_out(r, &c, why.text);
    if (status != OD_OK) return status;
    at = link[CN_NEXT];
  }
  return OD_OK;
}

// --- Groups ------------------------------------------------------------------------------------------------------

// Reads the name and the kind of the source of a group (block SI). A damaged block has no effect. Fails with OD_IO or OD_NO_MEMORY.
static od_status read_source(reader *r, uint64_t at, od_mdf_group *g) {
  od_mdf_block b;
  uint64_t link;
  unsigned char fixed[2];
  g->source = "";
  if (at == 0 || od_mdf_block_open(r->file, at, "##SI", &b, NULL) != OD_OK) return OD_OK;
  od_status status = od_mdf_links(r->file, &b, 0, 1, &link, r->err);
  if (status == OD_OK) status = od_mdf_block_data(r->file, &b, 0, sizeof fixed, fixed, r->err);
  if (status != OD_OK) return status;
  if (fixed[0] == BUS_SOURCE) g->bus = fixed[1];
  return od_mdf_comment(r->file, link, r->memory, &g->source, r->err);
}

// Fills a group from its block. link: the links of the block. Fails with OD_BAD_INPUT, OD_IO or OD_NO_MEMORY.
static od_status read_group_fields(reader *r, const od_mdf_block *b, const uint64_t *link, od_mdf_group *g) {
  unsigned char fixed[32];
  od_status status = od_mdf_block_data(r->file, b, 0, sizeof fixed, fixed, r->err);
  if (status != OD_OK) return status;
  g->id = od_mdf_u64(fixed);
  g->cycles = od_mdf_u64(fixed + 8);
  g->flags = od_mdf_u16(fixed + 16);
  g->bytes = od_mdf_u32(fixed + 24);
  g->invalid_bytes = od_mdf_u32(fixed + 28);
  g->is_vlsd = (g->flags & CG_IS_VLSD) != 0;
  if (!g->is_vlsd && (uint64_t)g->bytes + g->invalid_bytes > OD_MDF_LONGEST_RECORD)
    return od_mdf_damaged(r->file, b, "has records of more than 16 MB", r->err);
  if (g->flags & CG_HAS_REMOTE_MASTER) g->master_block = link[6];
  status = od_mdf_text(r->file, link[2], OD_MDF_LONGEST_COMMENT, r->memory, &g->name, r->err);
  if (status == OD_OK) status = od_mdf_comment(r->file, link[5], r->memory, &g->comment, r->err);
  if (status == OD_OK) status = read_source(r, link[3], g);
  if (status == OD_OK && !g->name[0]) g->name = g->source;
  return status;
}

// Reads a list of groups of a data group. Fails with OD_BAD_INPUT, OD_IO or OD_NO_MEMORY.
static od_status read_groups(reader *r, int part, uint64_t at) {
  od_mdf_contents *c = r->c;
  while (at) {
    od_mdf_block b;
    uint64_t link[7];
    od_status status = od_mdf_block_once(r->file, at, "##CG", &b, r->err);
    if (status == OD_OK) status = od_mdf_links(r->file, &b, 0, 7, link, r->err);
    if (status != OD_OK) return status;
    od_mdf_group *list = od_arena_extend(r->memory, c->group, c->groups, sizeof *list);
    if (!list) return no_memory(r);
    c->group = list;
    int group = c->groups++;
    list[group] = (od_mdf_group){.part = part, .block = at, .master = -1, .time = -1, .first = c->channels};
    status = read_group_fields(r, &b, link, &list[group]);
    if (status == OD_OK && !list[group].is_vlsd) status = read_channel_list(r, group, link[1], "", 0);
    if (status != OD_OK) return status;
    c->group[group].channels = c->channels - c->group[group].first;
    c->part[part].groups++;
    at = link[0];
  }
  return OD_OK;
}

// Reads all data groups. Fails with OD_BAD_INPUT, OD_IO or OD_NO_MEMORY.
static od_status read_parts(reader *r, uint64_t at) {
  od_mdf_contents *c = r->c;
  while (at) {
    od_mdf_block b;
    uint64_t link[3];
    unsigned char id_size;
    od_status status = od_mdf_block_once(r->file, at, "##DG", &b, r->err);
    if (status == OD_OK) status = od_mdf_links(r->file, &b, 0, 3, link, r->err);
    if (status == OD_OK) status = od_mdf_block_data(r->file, &b, 0, 1, &id_size, r->err);
    if (status != OD_OK) return status;
    if (id_size > 8 || (id_size & (id_size - 1)) != 0)
      return od_mdf_damaged(r->file, &b, "has record identifiers of a size other than 0, 1, 2, 4 and 8 bytes", r->err);
    od_mdf_part *list = od_arena_extend(r->memory, c->part, c->parts, sizeof *list);
    if (!list) return no_memory(r);
    c->part = list;
    int part = c->parts++;
    list[part] = (od_mdf_part){.data = link[2], .id_size = id_size, .first = c->groups};
    status = read_groups(r, part, link[1]);
    if (status != OD_OK) return status;
    if (id_size == 0 && c->part[part].groups > 1)
      return od_mdf_damaged(r->file, &b, "has several groups of records without record identifiers", r->err);
    at = link[0];
  }
  return OD_OK;
}

// Finds the channels with the lengths of texts. Such a channel is in the same group as its text. Returns false if an
// allocation fails.
static bool find_lengths(od_mdf_contents *c) {
  OD_SCOPED(od_key_map_free) od_key_map channel_at = {0};  // from the address of a block to its first channel
  bool any = false;
  for (int i = 0; i < c->channels; i++) {
    c->channel[i].length = -1;
    any = any || c->channel[i].has_length;
  }
  for (int i = 0; any && i < c->channels; i++) {
    uint64_t block = c->channel[i].block;
    if (od_key_map_find(&channel_at, block) < 0 && !od_key_map_add(&channel_at, block, i)) return false;
  }
  for (int i = 0; any && i < c->channels; i++) {
    od_mdf_channel *text = &c->channel[i];
    int found = text->has_length ? od_key_map_find(&channel_at, text->data) : -1;
    if (found >= 0 && c->channel[found].group == text->group && c->channel[found].raw < OD_MDF_INDEX)
      text->length = found;
  }
  return true;
}

// Finds the time channel of each group, and the group of a remote master. Returns false if an allocation fails.
static bool find_masters(od_mdf_contents *c) {
  OD_SCOPED(od_key_map_free) od_key_map group_at = {0};  // from the address of the block to the index of the group
  for (int i = 0; i < c->groups; i++) {
    od_mdf_group *g = &c->group[i];
    for (int k = g->first; k < g->first + g->channels && g->time < 0; k++)
      if (c->channel[k].master == OD_MDF_TIME && !c->channel[k].is_text) g->time = k;
    if (!od_key_map_add(&group_at, g->block, i)) return false;
  }
  for (int i = 0; i < c->groups; i++)
    if (c->group[i].master_block) c->group[i].master = od_key_map_find(&group_at, c->group[i].master_block);
  return true;
}

// --- Start time --------------------------------------------------------------------------------------------------

// Writes the start time: local time without a zone if the file marks the time as local, local time with its difference to UTC if the file
// states this difference, and UTC otherwise. Fails with OD_IO or OD_NO_MEMORY.
static od_status read_start_time(reader *r, const od_mdf_block *head) {
  enum { IS_LOCAL = 1, HAS_OFFSETS = 2, MINUTES_OF_A_DAY = 1440 };
  static const od_nanoseconds minute = (od_nanoseconds)60 * 1000000000;
  unsigned char b[16];
  char text[OD_DATE_TIME_SIZE], zone[8] = "";
  od_status status = od_mdf_block_data(r->file, head, 0, sizeof b, b, r->err);
  uint64_t ns = od_mdf_u64(b);
  if (status != OD_OK || ns == 0) return status;
  int minutes = (int16_t)od_mdf_u16(b + 8) + (int16_t)od_mdf_u16(b + 10), apart = minutes < 0 ? -minutes : minutes;
  bool is_local = b[12] & IS_LOCAL, has_zone = !is_local && b[12] & HAS_OFFSETS && apart < MINUTES_OF_A_DAY;
  if (has_zone) snprintf(zone, sizeof zone, "%c%02d:%02d", minutes < 0 ? '-' : '+', apart / 60 % 24, apart % 60);
  od_date_time_text(text, (od_nanoseconds)ns + (has_zone ? minutes * minute : 0), !is_local && !has_zone);
  r->c->start_time = od_arena_format(r->memory, "%s%s", text, zone);
  return r->c->start_time ? OD_OK : no_memory(r);
}

od_status od_mdf_contents_read(od_mdf_file *file, od_arena *memory, od_mdf_contents *c, od_error *err) {
  enum { HEAD = 64 };
  od_mdf_block head;
  uint64_t first;
  *c = (od_mdf_contents){0};
  reader r = {.file = file, .memory = memory, .c = c, .conversions = {.file = file, .memory = memory}, .err = err};
  od_status status = od_mdf_block_once(file, HEAD, "##HD", &head, err);
  if (status == OD_OK) status = od_mdf_links(file, &head, 0, 1, &first, err);
  if (status == OD_OK) status = read_start_time(&r, &head);
  if (status == OD_OK) status = read_parts(&r, first);
  od_mdf_conversions_free(&r.conversions);
  return status == OD_OK && !(find_masters(c) && find_lengths(c)) ? no_memory(&r) : status;
}
