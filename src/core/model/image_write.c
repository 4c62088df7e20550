// Writes images of models. Fields are copied one by one into zeroed memory, so that an image does not contain the padding of
// structs.
#include <string.h>

#include "model/fingerprint.h"
#include "model/image_form.h"
#include "model/model_parts.h"

static const od_image_options no_options;

static uint64_t hash_table(uint64_t hash, const od_model_table *t) {
  int shape[] = {(int)t->item, t->factor, t->more, t->fields};
  hash = od_hash_bytes(hash, shape, sizeof shape);
  for (int i = 0; i < t->fields; i++) {
    int field[] = {(int)t->field[i].kind, (int)t->field[i].offset};
    hash = od_hash_bytes(hash, field, sizeof field);
  }
  return hash;
}

uint64_t od_image_form(void) {
  uint64_t hash = OD_HASH_START;
  for (int i = 0; i < od_model_table_count; i++) hash = hash_table(hash, &od_model_tables[i]);
  for (int i = 0; i < od_name_table_count; i++) hash = hash_table(hash, &od_name_tables[i]);
  for (int i = 0; i < od_model_field_count; i++) {
    int kind = (int)od_model_fields[i].kind;
    hash = od_hash_bytes(hash, &kind, sizeof kind);
  }
  return hash;
}

uint64_t od_image_checksum(const void *image, size_t size) {
  static const uint64_t zero;
  size_t at = offsetof(od_image_header, checksum), after = at + sizeof zero;
  uint64_t hash = od_hash_bytes(OD_HASH_START, image, at);
  hash = od_hash_bytes(hash, &zero, sizeof zero);
  return od_hash_bytes(hash, (const char *)image + after, size - after);
}

// Computes the sizes of all parts of an image, bytes.
static void find_sizes(const od_model *m, const od_image_options *o, size_t part[OD_IMAGE_PARTS]) {
  size_t size = 0;
  for (int i = 0; i < od_model_field_count; i++)
    size += od_model_fields[i].kind == OD_FIELD_DOUBLE ? od_model_fields[i].size : sizeof(int64_t);
  size += (size_t)(m->element_classes + m->block_classes) * sizeof(od_image_class);
  for (int i = 0; i < od_model_table_count; i++)
    size += od_image_round((size_t)od_model_table_items(m, &od_model_tables[i]) * od_model_tables[i].item);
  part[OD_IMAGE_MODEL] = size;
  size = sizeof(od_image_names) + (size_t)m->text_size;
  for (int i = 0; i < od_name_table_count; i++)
    size += od_image_round((size_t)od_model_table_items(m, &od_name_tables[i]) * od_name_tables[i].item);
  part[OD_IMAGE_NAMES] = o->without_names || m->text_size == 0 ? 0 : size;
  part[OD_IMAGE_MACHINE] = o->machine ? o->machine_size : 0;
}

size_t od_image_size(const od_model *m, const od_image_options *options) {
  size_t part[OD_IMAGE_PARTS], size = sizeof(od_image_header);
  find_sizes(m, options ? options : &no_options, part);
  for (int i = 0; i < OD_IMAGE_PARTS; i++) size += od_image_round(part[i]);
  return size;
}

// Copies the fields of a table to `to`, without texts if `names` is false. Returns the address after the table.
static char *write_table(const od_model *m, const od_model_table *t, bool names, char *to) {
  const char *from = od_model_table_begin(m, t);
  long long items = od_model_table_items(m, t);
  for (long long i = 0; i < items; i++)
    for (int k = 0; k < t->fields; k++) {
      size_t at = (size_t)i * t->item + t->field[k].offset;
      if (names || t->field[k].kind != OD_FIELD_TEXT) memcpy(to + at, from + at, t->field[k].size);
    }
  return to + od_image_round((size_t)items * t->item);
}

// Returns the value of a field of the size of an enum, bool or int.
static int64_t small_value(const char *from, const od_model_field *f) {
  int value = 0;
  bool is = false;
  if (f->kind == OD_FIELD_BOOL) {
    memcpy(&is, from, sizeof is);
    return is;
  }
  unsigned char byte;
  unsigned short two;
  if (f->size == sizeof byte) return memcpy(&byte, from, sizeof byte), byte;
  if (f->size == sizeof two) return memcpy(&two, from, sizeof two), two;
  memcpy(&value, from, sizeof value);
  return value;
}

static char *write_fields(const od_model *m, char *to) {
  for (int i = 0; i < od_model_field_count; i++) {
    const od_model_field *f = &od_model_fields[i];
    const char *from = (const char *)m + f->offset;
    int64_t value = f->kind == OD_FIELD_DOUBLE ? 0 : small_value(from, f);
    size_t size = f->kind == OD_FIELD_DOUBLE ? f->size : sizeof value;
    memcpy(to, f->kind == OD_FIELD_DOUBLE ? from : (const char *)&value, size);
    to += size;
  }
  return to;
}

static char *write_class(const char *name, int version, char *to) {
  od_image_class c = {.version = version};
  strncpy(c.name, name, sizeof c.name - 1);
  memcpy(to, &c, sizeof c);
  return to + sizeof c;
}

static void write_names(const od_model *m, char *to) {
  od_image_names head = {m->text_size, m->title};
  memcpy(to, &head, sizeof head);
  to += sizeof head;
  for (int i = 0; i < od_name_table_count; i++) to = write_table(m, &od_name_tables[i], true, to);
  memcpy(to, m->text, (size_t)m->text_size);
}

od_status od_image_write(const od_model *m, const od_image_options *options, void *memory, size_t size, od_error *err) {
  const od_image_options *o = options ? options : &no_options;
  size_t part[OD_IMAGE_PARTS], needed = od_image_size(m, o);
  const char *foreign = od_model_foreign_block(m);
  if (foreign)
    return od_fail(
        err, OD_NOT_AVAILABLE,
        "the law of the block '%s' is a function of the program or an FMU, which an image cannot contain; replace this block",
        foreign);
  if (size < needed)
    return od_fail(err, OD_BAD_ARGUMENT, "the image needs %zu bytes; the memory has %zu bytes", needed, size);
  find_sizes(m, o, part);
  memset(memory, 0, needed);
  od_image_header head = {.version = OD_IMAGE_VERSION,
                          .byte_order = OD_IMAGE_BYTE_ORDER,
                          .int_size = sizeof(int),
                          .double_size = sizeof(double),
                          .size = needed,
                          .fingerprint = od_model_fingerprint(m),
                          .form = od_image_form()};
  memcpy(head.magic, OD_IMAGE_MAGIC, sizeof head.magic);
  for (int i = 0; i < OD_IMAGE_PARTS; i++) head.part[i] = part[i];
  bool names = part[OD_IMAGE_NAMES] > 0;
  char *begin = (char *)memory + sizeof head, *to = write_fields(m, begin);
  for (int i = 0; i < m->element_classes; i++)
    to = write_class(m->element_class[i]->name, m->element_class[i]->version, to);
  for (int i = 0; i < m->block_classes; i++)
    to = write_class(od_block_classes[m->block_class[i]]->type, od_block_classes[m->block_class[i]]->version, to);
  for (int i = 0; i < od_model_table_count; i++) to = write_table(m, &od_model_tables[i], names, to);
  to = begin + od_image_round(part[OD_IMAGE_MODEL]);
  if (names) write_names(m, to);
  to += od_image_round(part[OD_IMAGE_NAMES]);
  if (part[OD_IMAGE_MACHINE]) memcpy(to, o->machine, o->machine_size);
  memcpy(memory, &head, sizeof head);
  head.checksum = od_image_checksum(memory, needed);
  memcpy(memory, &head, sizeof head);
  return OD_OK;
}
