#include "model/fingerprint.h"

#include <string.h>

#include "model/model_tables.h"

// Continues the hash with one field. The padding of structs is not read.
static uint64_t hash_field(uint64_t hash, const od_model *m, const char *item, const od_model_field *f) {
  int value;
  switch (f->kind) {
    case OD_FIELD_ELEMENT_CLASS:
      memcpy(&value, item + f->offset, sizeof value);
      hash = od_hash_bytes(hash, &m->element_class[value]->version, sizeof(int));
      return od_hash_text(hash, m->element_class[value]->name);
    case OD_FIELD_BLOCK_CLASS:
      memcpy(&value, item + f->offset, sizeof value);
      hash = od_hash_bytes(hash, &od_block_classes[m->block_class[value]]->version, sizeof(int));
      return od_hash_text(hash, od_block_classes[m->block_class[value]]->type);
    case OD_FIELD_ENUM:  // compilers for controllers may use one byte; the hash always uses four bytes
      value = 0;
      memcpy(&value, item + f->offset, f->size);
      return od_hash_bytes(hash, &value, sizeof value);
    case OD_FIELD_TEXT: return hash;
    default: return od_hash_bytes(hash, item + f->offset, f->size);
  }
}

uint64_t od_model_fingerprint(const od_model *m) {
  uint64_t hash = OD_HASH_START;
  for (int i = 0; i < od_model_field_count; i++) hash = hash_field(hash, m, (const char *)m, &od_model_fields[i]);
  for (int k = 0; k < od_model_table_count; k++) {
    const od_model_table *t = &od_model_tables[k];
    const char *item = od_model_table_begin(m, t);
    for (long long i = 0; i < od_model_table_items(m, t); i++, item += t->item)
      for (int j = 0; j < t->fields; j++) hash = hash_field(hash, m, item, &t->field[j]);
  }
  return hash;
}
