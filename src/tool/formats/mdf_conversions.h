// Conversions of raw values to physical values (blocks CC).
//
// A conversion to texts has no physical number. If some of its entries are conversions to numbers, texts such as "not available"
// are missing values (NAN). If all entries are texts, as of an enumeration, the raw number remains.
#ifndef OD_FORMATS_MDF_CONVERSIONS_H
#define OD_FORMATS_MDF_CONVERSIONS_H

#include "formats/mdf_blocks.h"
#include "formats/mdf_formula.h"

typedef enum od_mdf_conversion_kind {
  OD_MDF_IDENTITY,
  OD_MDF_LINEAR,
  OD_MDF_RATIONAL,
  OD_MDF_ALGEBRAIC,
  OD_MDF_INTERPOLATED,
  OD_MDF_NEAREST,
  OD_MDF_RANGE_TO_VALUE,
  OD_MDF_VALUE_TO_TEXT,
  OD_MDF_RANGE_TO_TEXT,
  OD_MDF_TEXT_TO_VALUE,
  OD_MDF_TEXT_TO_TEXT,
  OD_MDF_BITS_TO_TEXT
} od_mdf_conversion_kind;

typedef struct od_mdf_conversion od_mdf_conversion;

// A row of a table: values from `from` to `to`. In tables of single values, `to` equals `from`.
typedef struct od_mdf_entry {
  double from, to, value;
  const od_mdf_conversion *inner;  // conversion of the value; NULL: the entry gives a text, or `value`
  const char *text;                // NULL: no text
} od_mdf_entry;

struct od_mdf_conversion {
  od_mdf_conversion_kind kind;
  double number[6];  // parameters of linear and rational conversions
  od_mdf_formula *formula;
  od_mdf_entry *entry;
  int entries;
  bool is_sorted;         // whether the ranges are in ascending order and do not overlap
  od_mdf_entry standard;  // result for values that are not in the table
  bool gives_numbers;     // whether the conversion has any number as a result
  const char *unit;       // unit of the values; "" if there is no unit
};

// The conversions of a file, by their addresses.
typedef struct od_mdf_conversions {
  od_mdf_file *file;
  od_arena *memory;  // owns all conversions
  struct od_mdf_known *known;
  int count, capacity;
} od_mdf_conversions;
void od_mdf_conversions_free(od_mdf_conversions *list);

// Reads the conversion at an address; 0: *out is NULL. A conversion that cannot be used gives OD_BAD_INPUT. Also fails with OD_IO
// or OD_NO_MEMORY.
od_status od_mdf_conversion_read(od_mdf_conversions *list, uint64_t at, const od_mdf_conversion **out, od_error *err);

// Converts a raw number. is_integer: whether the raw value is an integer, for which ranges include their ends.
double od_mdf_convert(const od_mdf_conversion *c, double raw, bool is_integer);
// Converts a raw text. NAN: the conversion does not convert texts to numbers.
double od_mdf_convert_text(const od_mdf_conversion *c, const char *text);

#endif
