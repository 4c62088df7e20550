// Text in UTF-8, character by character.
#ifndef OD_IO_UTF8_H
#define OD_IO_UTF8_H

#include <stdbool.h>
#include <stddef.h>

// Returns the length in bytes of the character at s, where `left` bytes are available. Returns 0 if the bytes are not a valid
// character, or are a control character other than tab and line ends. Overlong forms and surrogates are invalid.
size_t od_utf8_length(const unsigned char *s, size_t left);
bool od_utf8_is_text(const char *text);
// Returns the approximate width of a text in terminal columns: one per character.
int od_utf8_width(const char *text);

#endif
