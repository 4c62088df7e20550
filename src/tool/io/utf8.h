// Text in UTF-8, character by character, and texts of Windows-1252 as UTF-8.
#ifndef OD_IO_UTF8_H
#define OD_IO_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Returns the length in bytes of the character at s, where `left` bytes are available. Returns 0 if the bytes are not a valid
// character, or are a control character other than tab and line ends. Overlong forms and surrogates are invalid.
size_t od_utf8_length(const unsigned char *s, size_t left);
bool od_utf8_is_text(const char *text);
// Returns whether `length` bytes are UTF-8. Control characters of ASCII are allowed.
bool od_utf8_has_only(const char *text, size_t length);

// Writes a character with a code of Unicode up to 0x10ffff to `to`, without a zero byte. Returns the number of bytes, at most 4.
size_t od_utf8_write(uint32_t code, char *to);

enum { OD_UTF8_OF_1252 = 3 };  // greatest number of bytes in UTF-8 of a character of Windows-1252

// Writes the character of Windows-1252 with this code to `to` as UTF-8, without a zero byte. Returns the number of bytes. A code without a
// character gives U+FFFD.
size_t od_utf8_from_1252(unsigned char code, char *to);
// Returns the approximate width of a text in terminal columns: one per character.
int od_utf8_width(const char *text);

#endif
