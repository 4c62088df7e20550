// UTF-8 according to RFC 3629.
#include "io/utf8.h"

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

bool od_utf8_has_only(const char *text, size_t length) {
  for (size_t i = 0, n; i < length; i += n) {
    const unsigned char c = (unsigned char)text[i];
    n = c < 0x80 ? 1 : od_utf8_length((const unsigned char *)text + i, length - i);
    if (n == 0) return false;
  }
  return true;
}

size_t od_utf8_write(uint32_t code, char *to) {
  static const unsigned char first[] = {0, 0xc0, 0xe0, 0xf0};
  const size_t more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  to[0] = (char)(first[more] | code >> (6 * more));
  for (size_t i = 1; i <= more; i++) to[i] = (char)(0x80 | (code >> (6 * (more - i)) & 0x3f));
  return more + 1;
}

// Characters of Windows-1252 in the range 0x80 to 0x9f. All other codes are equal to the codes of Unicode.
static const unsigned short windows_1252[32] = {0x20ac, 0xfffd, 0x201a, 0x0192, 0x201e, 0x2026, 0x2020, 0x2021,
                                                0x02c6, 0x2030, 0x0160, 0x2039, 0x0152, 0xfffd, 0x017d, 0xfffd,
                                                0xfffd, 0x2018, 0x2019, 0x201c, 0x201d, 0x2022, 0x2013, 0x2014,
                                                0x02dc, 0x2122, 0x0161, 0x203a, 0x0153, 0xfffd, 0x017e, 0x0178};

size_t od_utf8_from_1252(unsigned char code, char *to) {
  const uint32_t c = code >= 0x80 && code < 0xa0 ? windows_1252[code - 0x80] : code;
  return od_utf8_write(c, to);
}

int od_utf8_width(const char *text) {
  int width = 0;
  for (; *text; text++) width += ((unsigned char)*text & 0xc0) != 0x80;
  return width;
}
