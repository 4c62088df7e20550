// Intel: bit b is bit b % 8 of byte b / 8, and the start is the lowest bit. Motorola: the start is the highest bit, in the same
// numbering; the lower bits follow in the same byte and then from bit 7 of the next byte downward. A signal of 64 bits may begin
// within a byte, so it has parts in nine bytes.
//
// Codes for missing values (SAE J1939-71): a signal of 8, 16, 24 or 32 bits has values up to 0xfa in its highest byte; 0xfb is
// reserved for indicators, 0xfc and 0xfd are reserved, 0xfe means "error", 0xff "not available". The same rule holds for the
// highest 8 bits of other lengths from 8 bits. Signed signals have no codes. A signal of 2 to 7 bits has the codes "error" (the second largest value)
// and "not available" (the largest value). NMEA 2000 has instead: the largest value "not available" from 2 bits, the
// one below "out of range" from 4 bits, and the next one "reserved" from 8 bits; signed signals have the codes at the
// end of their positive range. A code to which the database gives the name of a state is a value.
//
// In other messages, a raw value is missing if the database names the value "not available", "SNA" or similar, and if the value is one of
// the three largest values (with 2 bits: the two largest values), or, for a signed signal, one of the three smallest values. A signal of 1
// bit and a signed signal of less than 4 bits have no codes: the state "invalid" of a signal with the states "invalid" and "valid" is a
// value.
#include "formats/can_signal.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

// Returns whether the name of a raw value contains one of the words, or is one of the usual abbreviations.
static bool has_word(const char *name, const char *const *words) {
  char text[64] = "";
  for (size_t i = 0; name[i] && i + 1 < sizeof text; i++) text[i] = (char)tolower((unsigned char)name[i]);
  for (; *words; words++)
    if (strstr(text, *words)) return true;
  return !strcmp(text, "na") || !strcmp(text, "n/a") || !strcmp(text, "sna");
}

static bool means_missing(const char *name) {
  static const char *const words[] = {"not available", "not_available", "notavailable", "unavailable",
                                      "invalid",       "no data",       "nodata",       NULL};
  return has_word(name, words);
}

static bool means_no_value(const char *name) {
  static const char *const words[] = {"error",        "fault",         "reserved", "not defined",
                                      "out of range", "not supported", NULL};
  return means_missing(name) || has_word(name, words);
}

static uint64_t largest(int bits) {
  return bits >= 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
}

static od_can_signal_codes codes_of(const od_dbc_message *m, const od_dbc_signal *s) {
  static const od_can_signal_codes none = {1, 0};
  int n = s->length;
  if (!m->is_j1939 || s->number == OD_DBC_FLOAT || s->number == OD_DBC_DOUBLE) return none;
  if (m->is_nmea) {
    uint64_t top = largest(s->number == OD_DBC_SIGNED ? n - 1 : n);
    return n < 2 ? none : (od_can_signal_codes){top - (n >= 8 ? 2 : n >= 4 ? 1 : 0), top};
  }
  if (s->number == OD_DBC_SIGNED || n < 2) return none;
  if (n < 8) return (od_can_signal_codes){largest(n) - 1, largest(n)};
  return (od_can_signal_codes){UINT64_C(0xfb) << (n - 8), largest(n)};
}

// Finds the raw values that the database names as missing.
static void find_named(od_can_signal_form *f) {
  uint64_t top = largest(f->length), middle = top >> 1;
  bool is_signed = f->number == OD_DBC_SIGNED;
  if (f->length < 2 || f->number == OD_DBC_FLOAT || f->number == OD_DBC_DOUBLE) return;
  for (int i = 0; i < f->values && f->named < OD_CAN_SIGNAL_NAMED; i++) {
    uint64_t raw = (uint64_t)f->value[i].raw & top;
    bool is_end = is_signed ? f->length > 3 && raw - (middle - 2) < 6 : raw >= top - (f->length > 2 ? 2 : 1);
    if (is_end && means_missing(f->value[i].name)) f->missing[f->named++] = raw;
  }
}

od_can_signal_form od_can_signal_form_of(const od_dbc_message *m, const od_dbc_signal *s) {
  int in_byte = s->start % 8, skip = s->is_motorola ? 7 - in_byte : in_byte;
  od_can_signal_form f = {.byte = (uint16_t)(s->start / 8),
                          .end = (uint16_t)(s->start / 8 + (skip + s->length + 7) / 8),
                          .skip = (uint8_t)skip,
                          .length = (uint8_t)s->length,
                          .is_motorola = s->is_motorola,
                          .number = s->number,
                          .factor = s->factor,
                          .offset = s->offset,
                          .codes = codes_of(m, s),
                          .value = s->value,
                          .values = s->values};
  if (!m->is_j1939) find_named(&f);
  return f;
}

static uint64_t low_first(const uint8_t *b) {
  return (uint64_t)b[0] | (uint64_t)b[1] << 8 | (uint64_t)b[2] << 16 | (uint64_t)b[3] << 24 | (uint64_t)b[4] << 32 |
         (uint64_t)b[5] << 40 | (uint64_t)b[6] << 48 | (uint64_t)b[7] << 56;
}

static uint64_t high_first(const uint8_t *b) {
  return (uint64_t)b[7] | (uint64_t)b[6] << 8 | (uint64_t)b[5] << 16 | (uint64_t)b[4] << 24 | (uint64_t)b[3] << 32 |
         (uint64_t)b[2] << 40 | (uint64_t)b[1] << 48 | (uint64_t)b[0] << 56;
}

uint64_t od_can_signal_raw(const od_can_signal_form *f, const uint8_t *data) {
  const uint8_t *b = data + f->byte;
  if (f->is_motorola) {
    uint64_t bits = high_first(b) << f->skip;
    if (f->skip + f->length > 64) bits |= (uint64_t)b[8] >> (8 - f->skip);
    return bits >> (64 - f->length);
  }
  uint64_t bits = low_first(b) >> f->skip;
  if (f->skip + f->length > 64) bits |= (uint64_t)b[8] << (64 - f->skip);
  return bits & largest(f->length);
}

// Returns the name of a raw value; NULL: none.
static const char *name_of(const od_can_signal_form *f, int64_t raw) {
  int low = 0, high = f->values;
  while (low < high) {
    int middle = low + (high - low) / 2;
    if (f->value[middle].raw < raw)
      low = middle + 1;
    else
      high = middle;
  }
  return low < f->values && f->value[low].raw == raw ? f->value[low].name : NULL;
}

// Returns whether the database has the name of a state for a code. Some databases give the largest values as negative numbers.
static bool is_state(const od_can_signal_form *f, uint64_t raw) {
  const char *name = name_of(f, (int64_t)raw);
  if (!name) name = name_of(f, (int64_t)(raw | ~largest(f->length)));
  return name && !means_no_value(name);
}

double od_can_signal_value(const od_can_signal_form *f, uint64_t raw) {
  if (raw >= f->codes.from && raw <= f->codes.to && !is_state(f, raw)) return NAN;
  for (int i = 0; i < f->named; i++)
    if (raw == f->missing[i]) return NAN;
  if (f->number == OD_DBC_FLOAT) {
    float value;
    uint32_t bits = (uint32_t)raw;
    memcpy(&value, &bits, sizeof value);
    return f->factor * (double)value + f->offset;
  }
  if (f->number == OD_DBC_DOUBLE) {
    double value;
    memcpy(&value, &raw, sizeof value);
    return f->factor * value + f->offset;
  }
  if (f->number == OD_DBC_SIGNED) {
    uint64_t sign = UINT64_C(1) << (f->length - 1);
    return f->factor * (double)(int64_t)((raw ^ sign) - sign) + f->offset;
  }
  return f->factor * (double)raw + f->offset;
}
