// The description of the model's tables: place, count and fields of each table. The fingerprint and the writer, reader and checker
// of images iterate over this description.
#ifndef OD_MODEL_TABLES_H
#define OD_MODEL_TABLES_H

#include <stddef.h>
#include <string.h>

#include "model/model.h"

// The meaning of a field. `bound` is the offset in od_model of a count, or (OD_FIELD_ENUM) the number of values.
typedef enum od_model_field_kind {
  OD_FIELD_DOUBLE,
  OD_FIELD_INT,            // any value; rules of a class may restrict the value
  OD_FIELD_BOOL,           // false or true
  OD_FIELD_ENUM,           // 0 to bound - 1
  OD_FIELD_COUNT,          // zero or more
  OD_FIELD_INDEX,          // 0 to the count minus one
  OD_FIELD_OPTIONAL,       // as OD_FIELD_INDEX, or -1
  OD_FIELD_START,          // 0 to the count: the first entry of a section that may be empty
  OD_FIELD_ELEMENT_CLASS,  // index in od_model.element_class
  OD_FIELD_BLOCK_CLASS,    // index in od_model.block_class
  OD_FIELD_TEXT,           // offset of a text in od_model.text; zero in images without names
} od_model_field_kind;
// A field of the items of a table, or a field of od_model. A field may be an array of integers or doubles; `size` is
// the size of the whole array. name: the member in C; NULL: the items of the table are single values.
typedef struct od_model_field {
  od_model_field_kind kind;
  const char *name;
  size_t offset, size, bound;
} od_model_field;

// A table: the pointer at the offset `place` of od_model refers to (count + more) * factor items. `count` is the offset of the
// count in od_model.
typedef struct od_model_table {
  const char *type, *name;  // the type of the items, and the member of od_model, in C
  size_t place, count, item;
  int factor, more;
  const od_model_field *field;
  int fields;
} od_model_table;

// The largest count of a model from an image. With this limit, sums of some counts and products with small factors fit
// an int.
enum { OD_MOST_ITEMS = 1 << 26 };

extern const od_model_table od_model_tables[];
extern const int od_model_table_count;
// Tables of the names part of images: texts of numbers and the order of the names of outputs.
extern const od_model_table od_name_tables[];
extern const int od_name_table_count;
// Fields of od_model itself: counts, single indices, numbers.
extern const od_model_field od_model_fields[];
extern const int od_model_field_count;

static inline int od_model_count_at(const od_model *m, size_t offset) {
  int count;
  memcpy(&count, (const char *)m + offset, sizeof count);
  return count;
}
// Returns the number of items of a table.
static inline long long od_model_table_items(const od_model *m, const od_model_table *t) {
  return ((long long)od_model_count_at(m, t->count) + t->more) * t->factor;
}
// Returns the address of the first item of a table.
static inline const char *od_model_table_begin(const od_model *m, const od_model_table *t) {
  const char *begin;
  memcpy(&begin, (const char *)m + t->place, sizeof begin);
  return begin;
}
static inline void od_model_table_set(od_model *m, const od_model_table *t, const void *begin) {
  memcpy((char *)m + t->place, &begin, sizeof begin);
}

#endif
