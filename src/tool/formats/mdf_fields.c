#include "formats/mdf_fields.h"

#include "base/allocate.h"

od_status od_mdf_field_init(od_mdf_field *f, const od_mdf_file *file, const od_mdf_contents *contents, int channel,
                            int column, bool needs_bytes, od_mdf_budget *budget, size_t capacity, od_error *err) {
  const od_mdf_channel *c = &contents->channel[channel];
  *f = (od_mdf_field){.channel = c, .column = column};
  if (c->length >= 0) f->size = &contents->channel[c->length];
  f->is_linear = c->conversion && c->conversion->kind == OD_MDF_LINEAR;
  if (f->is_linear) {
    f->offset = c->conversion->number[0];
    f->slope = c->conversion->number[1];
  }
  if (c->raw != OD_MDF_TEXT_ELSEWHERE || (c->is_text && !needs_bytes)) return OD_OK;
  f->texts = od_calloc(1, sizeof *f->texts);
  if (!f->texts) return od_mdf_no_memory(file, err);
  return od_mdf_texts_init(f->texts, file, contents, c, budget, capacity, err);
}

void od_mdf_field_free(od_mdf_field *f) {
  if (f->texts) od_mdf_texts_free(f->texts);
  od_free(f->texts);
  f->texts = NULL;
}

od_status od_mdf_field_bytes(od_mdf_field *f, const od_mdf_cursor *r, const unsigned char **bytes, size_t *length,
                             od_error *err) {
  const od_mdf_channel *c = f->channel;
  *bytes = r->record + c->byte;
  *length = c->bytes;
  if (f->texts) {
    bool found;
    od_status status = od_mdf_texts_find(f->texts, od_mdf_bits(c, r->record), &found, err);
    if (status != OD_OK) return status;
    f->is_cut = f->is_cut || !found;
    *bytes = found ? f->texts->text : NULL;
    *length = found ? f->texts->length : 0;
  }
  if (f->size) {
    double stated = od_mdf_raw_value(f->size, r->record, r->index);
    if (stated >= 0 && stated < (double)*length) *length = (size_t)stated;
  }
  return OD_OK;
}

od_status od_mdf_field_text(od_mdf_field *f, const od_mdf_cursor *r, double *value, od_error *err) {
  char text[260];
  const unsigned char *bytes;
  size_t length;
  *value = (double)NAN;
  if (f->channel->is_text) return OD_OK;
  od_status status = od_mdf_field_bytes(f, r, &bytes, &length, err);
  if (status != OD_OK || !bytes) return status;
  od_mdf_decode_text(f->channel->type, bytes, length, text, sizeof text);
  *value = od_mdf_convert_text(f->channel->conversion, text);
  return OD_OK;
}
