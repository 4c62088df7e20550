// Physical values of channels, from the records of their groups.
#ifndef OD_FORMATS_MDF_FIELDS_H
#define OD_FORMATS_MDF_FIELDS_H

#include <math.h>

#include "formats/mdf_records.h"

typedef struct od_mdf_field {
  const od_mdf_channel *channel;
  const od_mdf_channel *size;  // the channel with the length of a text in the record; NULL: none
  bool is_linear;              // whether the conversion is linear
  double offset, slope;        // of a linear conversion
  int column;
  od_mdf_texts *texts;  // texts outside of the records; NULL: the channel has no such texts
  bool is_cut;          // whether a text is missing in the file
} od_mdf_field;

// Prepares the decoding of a channel. needs_bytes: whether the caller reads bytes (od_mdf_field_bytes()) of a channel without numbers.
// The caller frees the field, also after a failure. Fails with OD_BAD_INPUT, OD_IO or OD_NO_MEMORY.
od_status od_mdf_field_init(od_mdf_field *f, const od_mdf_file *file, const od_mdf_contents *contents, int channel,
                            int column, bool needs_bytes, od_mdf_budget *budget, size_t capacity, od_error *err);
void od_mdf_field_free(od_mdf_field *f);

// Finds the bytes of a text in the current record, or elsewhere. *bytes is NULL if there is no text. Fails with OD_BAD_INPUT, OD_IO
// or OD_NO_MEMORY.
od_status od_mdf_field_bytes(od_mdf_field *f, const od_mdf_cursor *r, const unsigned char **bytes, size_t *length,
                             od_error *err);
// Computes the number that a text is converted to. Fails with OD_BAD_INPUT, OD_IO or OD_NO_MEMORY.
od_status od_mdf_field_text(od_mdf_field *f, const od_mdf_cursor *r, double *value, od_error *err);

// Computes the value of the current record; NAN: the value is missing. Fails with OD_BAD_INPUT, OD_IO or OD_NO_MEMORY.
static inline od_status od_mdf_field_value(od_mdf_field *f, const od_mdf_cursor *r, double *value, od_error *err) {
  const od_mdf_channel *c = f->channel;
  if (c->invalid >= 0 && od_mdf_is_invalid(c, r->invalid)) {
    *value = (double)NAN;
    return OD_OK;
  }
  if (c->raw == OD_MDF_TEXT || c->raw == OD_MDF_TEXT_ELSEWHERE) return od_mdf_field_text(f, r, value, err);
  double raw = c->raw == OD_MDF_F64 ? od_mdf_f64(r->record + c->byte) : od_mdf_raw_value(c, r->record, r->index);
  *value = f->is_linear ? f->offset + f->slope * raw : od_mdf_convert(c->conversion, raw, c->is_integer);
  return OD_OK;
}

#endif
