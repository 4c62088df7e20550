// UTF-8 according to RFC 3629.
#include "io/utf8.h"

#include <stdint.h>
#include <string.h>

size_t od_utf8_length(const unsigned char *s, size_t left) {
  unsigned char c = s[0];
  if (c == '\t' || c == '\n' || c == '\r' || (c >= 0x20 && c < 0x7f)) return 1;
  size_t length = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : 2;
  if (c < 0xc2 || c > 0xf4 || left < length) return 0;
  uint32_t code = c & (0xffu >> (length + 1));
  for (size_t i = 1; i < length; i++) {
    if ((s[i] & 0xc0) != 0x80) return 0;
    code = code << 6 | (s[i] & 0x3f);
  }
  bool fits = length == 2 || (length == 3 && code >= 0x800) || (length == 4 && code >= 0x10000 && code <= 0x10ffff);
  return fits && (code < 0xd800 || code > 0xdfff) ? length : 0;
}

bool od_utf8_is_text(const char *text) {
  size_t left = strlen(text);
  while (left > 0) {
    size_t length = od_utf8_length((const unsigned char *)text, left);
    if (length == 0) return false;
    text += length;
    left -= length;
  }
  return true;
}

int od_utf8_width(const char *text) {
  int width = 0;
  for (; *text; text++) width += ((unsigned char)*text & 0xc0) != 0x80;
  return width;
}
