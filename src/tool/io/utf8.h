// Text in UTF-8, character by character.
#ifndef OD_IO_UTF8_H
#define OD_IO_UTF8_H

#include <stdbool.h>
#include <stddef.h>

// The length of the character at s, of which `left` bytes are left; 0: there is none, or one that is no text (control
// characters other than tab and line ends). Overlong forms and surrogates are none.
size_t od_utf8_length(const unsigned char *s, size_t left);
bool od_utf8_is_text(const char *text);
// The columns a text takes on a terminal, near enough: one per character.
int od_utf8_width(const char *text);

#endif
