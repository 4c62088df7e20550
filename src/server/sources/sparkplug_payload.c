// Wire format of protocol buffers: each field begins with a number of variable length, 8 times the number of the field plus the type of its
// contents: 0 a number of variable length, 1 eight bytes, 2 a length and as many bytes, 5 four bytes. Fields of Sparkplug B:
//
//   payload  1 time, 2 metric (repeated), 3 sequence, 4 uuid, 5 body
//   metric   1 name, 2 alias, 3 time, 4 data type, 5 historical, 6 transient, 7 null, 10 int, 11 long, 12 float, 13 double,
//            14 boolean, 15 string, 16 bytes, 17 data set, 18 template, 19 extension
#include "sources/sparkplug_payload.h"

#include <math.h>
#include <string.h>

enum { VARINT = 0, FIXED64 = 1, BYTES = 2, FIXED32 = 5 };

typedef struct field {
  uint32_t number;
  int type;
  uint64_t value;  // of VARINT, FIXED64, FIXED32
  od_sparkplug_bytes bytes;
} field;

// --- The wire format ----------------------------------------------------------------------------------------------

// Reads a number of variable length: 7 bits per byte, the lowest ones first. Returns false if the number is cut or longer than 64 bits.
static bool read_varint(const uint8_t **at, const uint8_t *end, uint64_t *out) {
  *out = 0;
  for (int shift = 0; shift < 70 && *at < end; shift += 7) {
    const uint8_t byte = *(*at)++;
    if (shift == 63 && byte > 1) return false;
    *out |= (uint64_t)(byte & 127) << shift;
    if (byte < 128) return true;
  }
  return false;
}

static bool read_fixed(const uint8_t **at, const uint8_t *end, int size, uint64_t *out) {
  *out = 0;
  if (end - *at < size) return false;
  for (int i = 0; i < size; i++) *out |= (uint64_t)(*at)[i] << 8 * i;
  *at += size;
  return true;
}

// Reads the next field. Returns false if the field is cut or not valid.
static bool read_field(const uint8_t **at, const uint8_t *end, field *f) {
  uint64_t key;
  *f = (field){0};
  if (!read_varint(at, end, &key) || key >> 3 == 0 || key >> 32 != 0) return false;
  f->number = (uint32_t)(key >> 3);
  f->type = (int)(key & 7);
  if (f->type == VARINT) return read_varint(at, end, &f->value);
  if (f->type == FIXED64) return read_fixed(at, end, 8, &f->value);
  if (f->type == FIXED32) return read_fixed(at, end, 4, &f->value);
  if (f->type != BYTES || !read_varint(at, end, &f->value) || f->value > (uint64_t)(end - *at)) return false;
  f->bytes = (od_sparkplug_bytes){*at, (size_t)f->value};
  *at += f->value;
  return true;
}

// --- Metrics and payloads -----------------------------------------------------------------------------------------

static double as_float(uint64_t bits) {
  const uint32_t word = (uint32_t)bits;
  float value;
  memcpy(&value, &word, sizeof value);
  return value;
}

static double as_double(uint64_t bits) {
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static void take_value(od_sparkplug_metric *m, od_sparkplug_field kind, uint64_t whole, double real) {
  m->field = kind;
  m->whole = whole;
  m->real = real;
}

// Takes a field of a metric. Unknown fields, and fields whose type of contents differs from the standard, are skipped.
static void take_metric_field(od_sparkplug_metric *m, const field *f) {
  const bool is_flag = f->value != 0;
  switch (f->number << 3 | (uint32_t)f->type) {
    case 1 << 3 | BYTES: m->name = f->bytes; break;
    case 2 << 3 | VARINT: m->alias = f->value, m->has_alias = true; break;
    case 3 << 3 | VARINT: m->time = f->value, m->has_time = true; break;
    case 4 << 3 | VARINT: m->type = (uint32_t)f->value; break;
    case 5 << 3 | VARINT: m->is_historical = is_flag; break;
    case 6 << 3 | VARINT: m->is_transient = is_flag; break;
    case 7 << 3 | VARINT: m->is_null = is_flag; break;
    case 10 << 3 | VARINT: take_value(m, OD_SPARKPLUG_INT, (uint32_t)f->value, 0); break;
    case 11 << 3 | VARINT: take_value(m, OD_SPARKPLUG_LONG, f->value, 0); break;
    case 12 << 3 | FIXED32: take_value(m, OD_SPARKPLUG_FLOAT, 0, as_float(f->value)); break;
    case 13 << 3 | FIXED64: take_value(m, OD_SPARKPLUG_DOUBLE, 0, as_double(f->value)); break;
    case 14 << 3 | VARINT: take_value(m, OD_SPARKPLUG_BOOLEAN, is_flag, 0); break;
    case 15 << 3 | BYTES:
      take_value(m, OD_SPARKPLUG_STRING, 0, 0);
      m->string = f->bytes;
      break;
    case 16 << 3 | BYTES:
    case 17 << 3 | BYTES:
    case 18 << 3 | BYTES:
    case 19 << 3 | BYTES: take_value(m, OD_SPARKPLUG_OTHER, 0, 0); break;
    default: break;
  }
}

static bool read_metric(od_sparkplug_bytes from, od_sparkplug_metric *m) {
  const uint8_t *at = from.at, *end = from.at + from.length;
  *m = (od_sparkplug_metric){0};
  for (field f; at < end; take_metric_field(m, &f))
    if (!read_field(&at, end, &f)) return false;
  return true;
}

static bool is_metric(const field *f) {
  return f->number == 2 && f->type == BYTES;
}

od_status od_sparkplug_read(const void *data, size_t size, od_sparkplug_payload *out, od_error *err) {
  const uint8_t *const begin = data, *const end = begin + size, *at = begin;
  od_sparkplug_metric metric;
  *out = (od_sparkplug_payload){.at = begin, .end = end};
  if (size > OD_SPARKPLUG_LONGEST)
    return od_fail(err, OD_BAD_INPUT, "the payload has %zu bytes; expected at most %d bytes", size,
                   OD_SPARKPLUG_LONGEST);
  for (field f; at < end;) {
    const uint8_t *const start = at;
    if (!read_field(&at, end, &f) || (is_metric(&f) && !read_metric(f.bytes, &metric)))
      return od_fail(err, OD_BAD_INPUT, "byte %zu of the payload is not a field of Sparkplug B",
                     (size_t)(start - begin) + 1);
    if (is_metric(&f) && ++out->metrics > OD_SPARKPLUG_METRICS)
      return od_fail(err, OD_BAD_INPUT, "the payload has too many metrics; expected at most %d metrics",
                     OD_SPARKPLUG_METRICS);
    if (f.number == 1 && f.type == VARINT) out->time = f.value, out->has_time = true;
    if (f.number == 3 && f.type == VARINT) out->sequence = f.value, out->has_sequence = true;
    if (f.number == 4 && f.type == BYTES) out->uuid = f.bytes;
    if (f.number == 5 && f.type == BYTES) out->body = f.bytes;
  }
  return OD_OK;
}

bool od_sparkplug_next(od_sparkplug_payload *p, od_sparkplug_metric *out) {
  for (field f; p->at < p->end && read_field(&p->at, p->end, &f);)
    if (is_metric(&f)) return read_metric(f.bytes, out);
  return false;
}

// --- Values -------------------------------------------------------------------------------------------------------

// Data types of the standard.
enum { INT8 = 1, INT16, INT32, INT64, UINT8, UINT16, UINT32, UINT64, FLOAT, DOUBLE, BOOLEAN, STRING, DATE_TIME };

bool od_sparkplug_is_number(uint32_t type) {
  return type >= INT8 && type <= DATE_TIME && type != STRING;
}

// Returns an integer of a data type. Negative numbers are two's complements of the size of the type; senders store them as int or as long, with or
// without extension of the sign.
static double integer(uint64_t bits, uint32_t type) {
  switch (type) {
    case INT8: return (int8_t)(uint8_t)bits;
    case INT16: return (int16_t)(uint16_t)bits;
    case INT32: return (int32_t)(uint32_t)bits;
    case INT64: return (double)(int64_t)bits;
    case UINT8: return (uint8_t)bits;
    case UINT16: return (uint16_t)bits;
    case UINT32: return (uint32_t)bits;
    case BOOLEAN: return bits != 0;
    default: return (double)bits;
  }
}

double od_sparkplug_number(const od_sparkplug_metric *m, uint32_t type) {
  if (m->is_null || (type != 0 && !od_sparkplug_is_number(type))) return NAN;
  switch (m->field) {
    case OD_SPARKPLUG_INT:
    case OD_SPARKPLUG_LONG:
    case OD_SPARKPLUG_BOOLEAN: return integer(m->whole, type);
    case OD_SPARKPLUG_FLOAT:
    case OD_SPARKPLUG_DOUBLE: return m->real;
    default: return NAN;
  }
}

// --- The command --------------------------------------------------------------------------------------------------

static size_t put_varint(uint8_t *to, uint64_t value) {
  size_t n = 0;
  for (; value > 127; value >>= 7) to[n++] = (uint8_t)(value | 128);
  to[n++] = (uint8_t)value;
  return n;
}

size_t od_sparkplug_rebirth(uint64_t time, uint8_t out[OD_SPARKPLUG_COMMAND]) {
  static const char name[] = "Node Control/Rebirth";
  const size_t length = sizeof name - 1;
  size_t n = 0;
  out[n++] = 1 << 3 | VARINT;
  n += put_varint(out + n, time);
  out[n++] = 2 << 3 | BYTES;
  out[n++] = (uint8_t)(2 + length + 2 + 2);
  out[n++] = 1 << 3 | BYTES;
  out[n++] = (uint8_t)length;
  memcpy(out + n, name, length);
  n += length;
  out[n++] = 4 << 3 | VARINT;
  out[n++] = BOOLEAN;
  out[n++] = 14 << 3 | VARINT;
  out[n++] = 1;
  return n;
}
