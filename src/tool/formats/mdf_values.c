// Decodes raw values of channels.
#include <math.h>
#include <string.h>

#include "formats/mdf_channels.h"
#include "io/date_time.h"
#include "io/utf8.h"

uint64_t od_mdf_bits(const od_mdf_channel *c, const unsigned char *data) {
  const unsigned char *b = data + c->byte;
  uint32_t n = c->bytes;  // 1 to 9 bytes
  uint64_t low = 0, high = 0;
  if (c->is_big_endian) {
    for (uint32_t i = 0; i < n; i++) {
      high = high << 8 | low >> 56;
      low = low << 8 | b[i];
    }
  } else {
    for (uint32_t i = 0; i < n && i < 8; i++) low |= (uint64_t)b[i] << (8 * i);
    if (n > 8) high = b[8];
  }
  uint64_t bits = low >> c->bit;
  if (c->bit > 0) bits |= high << (64 - c->bit);
  return c->bits < 64 ? bits & ((UINT64_C(1) << c->bits) - 1) : bits;
}

// Returns the value of an IEEE number of 16, 32 or 64 bits.
static double real_of(uint64_t bits, uint32_t size) {
  if (size == 64) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
  }
  if (size == 32) {
    uint32_t half = (uint32_t)bits;
    float value;
    memcpy(&value, &half, sizeof value);
    return (double)value;
  }
  int exponent = (int)(bits >> 10 & 31);
  double fraction = (double)(bits & 1023), sign = bits >> 15 & 1 ? -1 : 1;
  if (exponent == 31) return fraction > 0 ? (double)NAN : sign * (double)INFINITY;
  return sign * (exponent == 0 ? ldexp(fraction, -24) : ldexp(1024 + fraction, exponent - 25));
}

static double bits_value(const od_mdf_channel *c, const unsigned char *data) {
  uint64_t bits = od_mdf_bits(c, data);
  if (c->number == OD_MDF_REAL) return real_of(bits, c->bits);
  if (c->number == OD_MDF_SIGNED && c->bits < 64 && bits >> (c->bits - 1) & 1) bits |= ~UINT64_C(0) << c->bits;
  return c->number == OD_MDF_SIGNED ? (double)(int64_t)bits : (double)bits;
}

// Returns the time of a CANopen date, s since 1970-01-01; NAN if the month or the day is not valid.
static double date_value(const unsigned char *b) {
  double ms = od_mdf_u16(b);
  int minute = b[2] & 63, hour = b[3] & 31, day = b[4] & 31, month = b[5] & 63, year = b[6] & 127;
  if (month < 1 || month > 12 || day < 1) return (double)NAN;
  year += year < 84 ? 2000 : 1900;
  return (double)od_days_since_1970(year, month, day) * 86400 + hour * 3600.0 + minute * 60.0 + ms / 1000;
}

// Returns the time of a CANopen time, s since 1970-01-01: ms after midnight, and days since 1984-01-01.
static double time_of_day_value(const unsigned char *b) {
  return (double)od_days_since_1970(1984, 1, 1) * 86400 + od_mdf_u16(b + 4) * 86400.0 +
         (od_mdf_u32(b) & 0xfffffff) / 1000.0;
}

double od_mdf_raw_value(const od_mdf_channel *c, const unsigned char *data, uint64_t index) {
  const unsigned char *b = data + c->byte;
  switch (c->raw) {
    case OD_MDF_U8: return b[0];
    case OD_MDF_U16: return od_mdf_u16(b);
    case OD_MDF_U32: return od_mdf_u32(b);
    case OD_MDF_U64: return (double)od_mdf_u64(b);
    case OD_MDF_I8: return (int8_t)b[0];
    case OD_MDF_I16: return (int16_t)od_mdf_u16(b);
    case OD_MDF_I32: return (int32_t)od_mdf_u32(b);
    case OD_MDF_I64: return (double)(int64_t)od_mdf_u64(b);
    case OD_MDF_F32: {
      uint32_t bits = od_mdf_u32(b);
      float value;
      memcpy(&value, &bits, sizeof value);
      return (double)value;
    }
    case OD_MDF_F64: return od_mdf_f64(b);
    case OD_MDF_BITS: return bits_value(c, data);
    case OD_MDF_INDEX: return (double)index;
    case OD_MDF_DATE: return date_value(b);
    case OD_MDF_TIME_OF_DAY: return time_of_day_value(b);
    case OD_MDF_TEXT:
    case OD_MDF_TEXT_ELSEWHERE:
    case OD_MDF_NOTHING: break;
  }
  return (double)NAN;
}

void od_mdf_decode_text(uint8_t type, const unsigned char *bytes, size_t count, char *text, size_t size) {
  enum { LATIN_1 = 6, UTF_16 = 8, UTF_16_BE = 9, WITH_MARK = 17 };
  size_t length = 0;
  if (type == WITH_MARK) {
    bool is_big = count >= 2 && bytes[0] == 0xfe && bytes[1] == 0xff;
    bool is_little = count >= 2 && bytes[0] == 0xff && bytes[1] == 0xfe;
    size_t mark = is_big || is_little ? 2 : count >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    type = is_big ? UTF_16_BE : is_little ? UTF_16 : 7;
    bytes += mark, count -= mark;
  }
  bool is_wide = type == UTF_16 || type == UTF_16_BE;
  for (size_t i = 0; i + is_wide < count && length + 5 < size;) {
    uint32_t c = bytes[i];
    if (is_wide) {
      size_t high = type == UTF_16_BE ? 0 : 1;
      c = (uint32_t)bytes[i + high] << 8 | bytes[i + 1 - high];
      bool is_pair = c >= 0xd800 && c < 0xdc00 && i + 3 < count;
      if (is_pair) c = 0x10000 + ((c & 0x3ff) << 10 | ((uint32_t)(bytes[i + 2 + high] & 3) << 8 | bytes[i + 3 - high]));
      i += is_pair ? 2 : 0;
    }
    i += is_wide ? 2 : 1;
    if (c == 0) break;
    if (is_wide || type == LATIN_1)
      length += od_utf8_write(c, text + length);
    else
      text[length++] = (char)c;
  }
  text[length] = 0;
}
