// Formats texts in bounded memory. The printf functions of the C library need 20 kB and more in a controller, allocate memory and
// depend on the locale.
#ifndef OD_BASE_TEXT_H
#define OD_BASE_TEXT_H

#include <stdarg.h>
#include <stddef.h>

#include "oleodyn/export.h"

// Fills `text`, of `size` bytes, from a format. The format supports these conversions of printf: %s %c %d %ld %lld %u
// %lu %llu %zu %g %e %f %%. A precision is allowed (%.4g, %.60s, %.*s); flags and widths are not. Reals have exactly
// rounded digits and a decimal point in any locale. Text that does not fit is cut off. Returns the length of the whole
// text, without the zero byte; `text` may be NULL if `size` is 0. Does not allocate. Any other conversion is copied to
// the text unchanged, and its argument is not read.
size_t od_text_format(char *text, size_t size, const char *format, ...) OD_PRINTF_FORMAT(3, 4);
size_t od_text_format_list(char *text, size_t size, const char *format, va_list args) OD_PRINTF_FORMAT(3, 0);

#endif
