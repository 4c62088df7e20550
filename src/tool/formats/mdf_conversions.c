#include "formats/mdf_conversions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/allocate.h"

enum { CC_ENTRIES = 4, MOST_NESTED = 4, LONGEST_FORMULA = 4096, LONGEST_KEY = 256 };

typedef struct od_mdf_known {
  uint64_t at;                          // 0: a free place
  const od_mdf_conversion *conversion;  // the conversion; NULL: the conversion is being read, or has an error
} od_mdf_known;

void od_mdf_conversions_free(od_mdf_conversions *list) {
  od_free(list->known);
}

// --- Conversion of values ----------------------------------------------------------------------------------------

static double rational(const double *p, double x) {
  return (p[0] * x * x + p[1] * x + p[2]) / (p[3] * x * x + p[4] * x + p[5]);
}

// Returns the index of the last entry that begins at or below x, or -1. The entries are sorted.
static int last_at_or_below(const od_mdf_conversion *c, double x) {
  int low = 0, high = c->entries;
  while (low < high) {
    int middle = low + (high - low) / 2;
    if (c->entry[middle].from <= x)
      low = middle + 1;
    else
      high = middle;
  }
  return low - 1;
}

// A raw value outside of the table gives the value at the nearer end of the table.
static double interpolated(const od_mdf_conversion *c, double x) {
  int i = last_at_or_below(c, x);
  if (isnan(x) || c->entries == 0) return (double)NAN;
  if (i < 0) return c->entry[0].value;
  const od_mdf_entry *a = &c->entry[i], *b = a + 1;
  if (i + 1 == c->entries || x == a->from) return a->value;
  return a->value + (x - a->from) / (b->from - a->from) * (b->value - a->value);
}

// Returns the value of the nearest key. If x is in the middle between two keys, returns the value of the lower key.
static double nearest(const od_mdf_conversion *c, double x) {
  int i = last_at_or_below(c, x);
  if (isnan(x) || c->entries == 0) return (double)NAN;
  if (i < 0) return c->entry[0].value;
  const od_mdf_entry *a = &c->entry[i], *b = a + 1;
  return i + 1 < c->entries && x - a->from > b->from - x ? b->value : a->value;
}

// Returns whether an entry contains x. Ranges of integers include both ends, ranges of reals only the lower end.
static bool contains(const od_mdf_entry *e, double x, bool is_integer) {
  return x >= e->from && (x < e->to || (x == e->to && (is_integer || e->from == e->to)));
}

// Returns the first entry that contains x, or the standard entry.
static const od_mdf_entry *find(const od_mdf_conversion *c, double x, bool is_integer) {
  if (c->is_sorted) {
    int i = last_at_or_below(c, x);
    if (i > 0 && contains(&c->entry[i - 1], x, is_integer)) return &c->entry[i - 1];
    return i >= 0 && contains(&c->entry[i], x, is_integer) ? &c->entry[i] : &c->standard;
  }
  for (int i = 0; i < c->entries; i++)
    if (contains(&c->entry[i], x, is_integer)) return &c->entry[i];
  return &c->standard;
}

double od_mdf_convert(const od_mdf_conversion *c, double raw, bool is_integer) {
  if (!c) return raw;
  switch (c->kind) {
    case OD_MDF_LINEAR: return c->number[0] + c->number[1] * raw;
    case OD_MDF_RATIONAL: return rational(c->number, raw);
    case OD_MDF_ALGEBRAIC: return od_mdf_formula_value(c->formula, raw);
    case OD_MDF_INTERPOLATED: return interpolated(c, raw);
    case OD_MDF_NEAREST: return nearest(c, raw);
    case OD_MDF_RANGE_TO_VALUE: return find(c, raw, is_integer)->value;
    case OD_MDF_VALUE_TO_TEXT:
    case OD_MDF_RANGE_TO_TEXT: {
      if (!c->gives_numbers) return raw;
      const od_mdf_entry *e = find(c, raw, is_integer);
      if (e->inner) return e->inner->gives_numbers ? od_mdf_convert(e->inner, raw, is_integer) : (double)NAN;
      return e->text ? (double)NAN : raw;
    }
    case OD_MDF_IDENTITY:
    case OD_MDF_TEXT_TO_VALUE:
    case OD_MDF_TEXT_TO_TEXT:
    case OD_MDF_BITS_TO_TEXT: break;
  }
  return raw;
}

double od_mdf_convert_text(const od_mdf_conversion *c, const char *text) {
  if (!c || c->kind != OD_MDF_TEXT_TO_VALUE) return (double)NAN;
  int low = 0, high = c->entries;
  while (low < high) {
    int middle = low + (high - low) / 2;
    int order = strcmp(c->entry[middle].text, text);
    if (order == 0) return c->entry[middle].value;
    if (order < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return c->standard.value;
}

// --- Reading -----------------------------------------------------------------------------------------------------

static int by_text(const void *a, const void *b) {
  return strcmp(((const od_mdf_entry *)a)->text, ((const od_mdf_entry *)b)->text);
}

static int by_value(const void *a, const void *b) {
  double x = ((const od_mdf_entry *)a)->from, y = ((const od_mdf_entry *)b)->from;
  return (x > y) - (x < y);
}

// Returns whether the ranges are in ascending order. Neighbors may share an end.
static bool is_sorted(const od_mdf_conversion *c) {
  for (int i = 0; i < c->entries; i++) {
    const od_mdf_entry *e = &c->entry[i];
    if (!(e->from <= e->to) || (i > 0 && !(e[-1].to <= e->from && e[-1].from < e->from))) return false;
  }
  return true;
}

// Reads the entry of a link: a text or a conversion.
static od_status read_link(od_mdf_conversions *list, uint64_t at, int depth, od_mdf_entry *entry, od_error *err);

// The header of a block CC.
typedef struct cc {
  od_mdf_block block;
  int kind, links, values;
} cc;

static od_status value_at(const od_mdf_conversions *list, const cc *b, int i, double *value, od_error *err) {
  unsigned char bytes[8];
  od_status status = od_mdf_block_data(list->file, &b->block, 24 + 8 * (uint64_t)i, 8, bytes, err);
  *value = status == OD_OK ? od_mdf_f64(bytes) : 0;
  return status;
}

// Reads the entries of a table. Values of an entry: its key or range, then its value if there is one. Fails with OD_BAD_INPUT,
// OD_IO or OD_NO_MEMORY.
static od_status read_entries(od_mdf_conversions *list, const cc *b, int depth, od_mdf_conversion *c, od_error *err) {
  bool has_range = c->kind == OD_MDF_RANGE_TO_VALUE || c->kind == OD_MDF_RANGE_TO_TEXT;
  bool has_text_key = c->kind == OD_MDF_TEXT_TO_VALUE;
  bool has_value = c->kind == OD_MDF_INTERPOLATED || c->kind == OD_MDF_NEAREST || c->kind == OD_MDF_RANGE_TO_VALUE;
  bool has_link = c->kind == OD_MDF_VALUE_TO_TEXT || c->kind == OD_MDF_RANGE_TO_TEXT;
  int keys = has_text_key ? 0 : has_range ? 2 : 1, width = keys + (has_value || has_text_key);
  c->entries = b->values / width;
  if (has_link || has_text_key) c->entries = b->links < c->entries ? b->links : c->entries;
  c->entry = OD_TAKE(list->memory, od_mdf_entry, c->entries);
  if (!c->entry) return od_mdf_no_memory(list->file, err);
  od_status status = OD_OK;
  for (int i = 0; i < c->entries && status == OD_OK; i++) {
    od_mdf_entry *e = &c->entry[i];
    if (keys > 0) status = value_at(list, b, width * i, &e->from, err);
    e->to = e->from;
    if (status == OD_OK && keys > 1) status = value_at(list, b, width * i + 1, &e->to, err);
    if (status == OD_OK && width > keys) status = value_at(list, b, width * i + keys, &e->value, err);
    uint64_t link = 0;
    if (status == OD_OK && (has_link || has_text_key))
      status = od_mdf_links(list->file, &b->block, CC_ENTRIES + (uint64_t)i, 1, &link, err);
    if (status == OD_OK && has_link) status = read_link(list, link, depth, e, err);
    if (status == OD_OK && has_text_key) {
      e->text = "";
      status = od_mdf_text(list->file, link, LONGEST_KEY, list->memory, &e->text, err);
    }
  }
  int standard = width * c->entries;
  c->standard.value = (double)NAN;
  if (status == OD_OK && !has_link && b->values > standard)
    status = value_at(list, b, standard, &c->standard.value, err);
  if (status == OD_OK && has_link && b->links > c->entries) {
    uint64_t link;
    status = od_mdf_links(list->file, &b->block, CC_ENTRIES + (uint64_t)c->entries, 1, &link, err);
    if (status == OD_OK) status = read_link(list, link, depth, &c->standard, err);
  }
  if (status != OD_OK) return status;
  if (has_text_key) qsort(c->entry, (size_t)c->entries, sizeof *c->entry, by_text);
  if (!has_text_key && !has_range) qsort(c->entry, (size_t)c->entries, sizeof *c->entry, by_value);
  c->is_sorted = is_sorted(c);
  return status;
}

// Returns whether a conversion gives numbers for some values.
static bool gives_numbers(const od_mdf_conversion *c) {
  if (c->kind == OD_MDF_TEXT_TO_TEXT || c->kind == OD_MDF_BITS_TO_TEXT) return false;
  if (c->kind != OD_MDF_VALUE_TO_TEXT && c->kind != OD_MDF_RANGE_TO_TEXT) return true;
  bool any = c->standard.inner && c->standard.inner->gives_numbers;
  for (int i = 0; i < c->entries; i++) any = any || (c->entry[i].inner && c->entry[i].inner->gives_numbers);
  return any;
}

static od_status read_formula(od_mdf_conversions *list, const cc *b, od_mdf_conversion *c, od_error *err) {
  uint64_t link = 0;
  const char *why;
  od_status status = od_mdf_links(list->file, &b->block, CC_ENTRIES, 1, &link, err);
  if (status != OD_OK) return status;
  const char *text;
  status = od_mdf_text(list->file, link, LONGEST_FORMULA, list->memory, &text, err);
  if (status != OD_OK) return status;
  status = od_mdf_formula_parse(text, list->memory, &c->formula, &why);
  if (status == OD_NO_MEMORY) return od_mdf_no_memory(list->file, err);
  if (status == OD_OK) return OD_OK;
  return od_fail(err, status, "the formula '%.60s' of its conversion %s", text, why);
}

// Reads a conversion whose header is checked. Fails with OD_BAD_INPUT, OD_IO or OD_NO_MEMORY.
static od_status read_kind(od_mdf_conversions *list, const cc *b, int depth, od_mdf_conversion *c, od_error *err) {
  int numbers = c->kind == OD_MDF_LINEAR ? 2 : c->kind == OD_MDF_RATIONAL ? 6 : 0;
  if (b->values < numbers)
    return od_fail(err, OD_BAD_INPUT, "the number of values of its conversion is %d; expected at least %d", b->values,
                   numbers);
  for (int i = 0; i < numbers; i++) {
    od_status status = value_at(list, b, i, &c->number[i], err);
    if (status != OD_OK) return status;
  }
  od_status status = OD_OK;
  if (c->kind == OD_MDF_ALGEBRAIC) status = read_formula(list, b, c, err);
  bool is_table = c->kind >= OD_MDF_INTERPOLATED && c->kind <= OD_MDF_TEXT_TO_VALUE;
  if (is_table) status = read_entries(list, b, depth, c, err);
  c->gives_numbers = gives_numbers(c);
  return status;
}

// Reads and checks the header of a block CC. Fails with OD_BAD_INPUT, OD_IO or OD_NO_MEMORY.
static od_status read_head(od_mdf_conversions *list, uint64_t at, cc *b, od_error *err) {
  unsigned char fixed[24];
  od_status status = od_mdf_block_once(list->file, at, "##CC", &b->block, err);
  if (status == OD_OK) status = od_mdf_block_data(list->file, &b->block, 0, sizeof fixed, fixed, err);
  if (status != OD_OK) return status;
  b->kind = fixed[0];
  b->links = od_mdf_u16(fixed + 4);
  b->values = od_mdf_u16(fixed + 6);
  uint64_t room = od_mdf_block_room(&b->block);
  bool fits = b->block.links >= CC_ENTRIES + (uint64_t)b->links && room >= 24 && (room - 24) / 8 >= (uint64_t)b->values;
  if (!fits) return od_mdf_damaged(list->file, &b->block, "is too short for its values and links", err);
  if (b->kind > OD_MDF_BITS_TO_TEXT)
    return od_fail(err, OD_BAD_INPUT, "its conversion has the unknown type %d; expected a type of MDF 4, from 0 to 11",
                   b->kind);
  return OD_OK;
}

// Returns the slot of an address in the hash table: the slot with this address, or a free slot.
static od_mdf_known *place_of(od_mdf_known *known, int capacity, uint64_t at) {
  unsigned i = (unsigned)(at * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (unsigned)(capacity - 1);
  while (known[i].at && known[i].at != at) i = (i + 1) & (unsigned)(capacity - 1);
  return &known[i];
}

// Enlarges the hash table if necessary, so that one more address fits. Returns false if an allocation fails.
static bool make_room(od_mdf_conversions *list) {
  if (2 * list->count < list->capacity) return true;
  int capacity = list->capacity ? 2 * list->capacity : 64;
  od_mdf_known *larger = od_calloc((size_t)capacity, sizeof *larger);
  if (!larger) return false;
  for (int i = 0; i < list->capacity; i++)
    if (list->known[i].at) *place_of(larger, capacity, list->known[i].at) = list->known[i];
  od_free(list->known);
  list->known = larger;
  list->capacity = capacity;
  return true;
}

static od_status read_at_depth(od_mdf_conversions *list, uint64_t at, int depth, const od_mdf_conversion **out,
                               od_error *err) {
  cc b;
  uint64_t link[2];
  *out = NULL;
  if (at == 0) return OD_OK;
  if (!make_room(list)) return od_mdf_no_memory(list->file, err);
  od_mdf_known *known = place_of(list->known, list->capacity, at);
  if (known->at) {
    *out = known->conversion;
    return *out ? OD_OK : od_fail(err, OD_BAD_INPUT, "its conversion cannot be read, or contains itself");
  }
  if (depth > MOST_NESTED)
    return od_fail(err, OD_BAD_INPUT, "its conversions are nested deeper than %d levels", MOST_NESTED);
  known->at = at;
  list->count++;
  od_mdf_conversion *c = OD_TAKE(list->memory, od_mdf_conversion, 1);
  if (!c) return od_mdf_no_memory(list->file, err);
  od_status status = read_head(list, at, &b, err);
  if (status == OD_OK) status = od_mdf_links(list->file, &b.block, 1, 2, link, err);
  if (status == OD_OK) status = od_mdf_text(list->file, link[0], OD_MDF_LONGEST_COMMENT, list->memory, &c->unit, err);
  if (status != OD_OK) return status;
  c->kind = (od_mdf_conversion_kind)b.kind;
  status = read_kind(list, &b, depth, c, err);
  if (status == OD_OK) *out = place_of(list->known, list->capacity, at)->conversion = c;
  return status;
}

static od_status read_link(od_mdf_conversions *list, uint64_t at, int depth, od_mdf_entry *entry, od_error *err) {
  od_mdf_block block;
  if (at == 0) return OD_OK;
  if (od_mdf_block_open(list->file, at, "##CC", &block, NULL) == OD_OK)
    return read_at_depth(list, at, depth + 1, &entry->inner, err);
  return od_mdf_text(list->file, at, LONGEST_KEY, list->memory, &entry->text, err);
}

od_status od_mdf_conversion_read(od_mdf_conversions *list, uint64_t at, const od_mdf_conversion **out, od_error *err) {
  return read_at_depth(list, at, 0, out, err);
}
