// Texts in an arena. If memory runs out, the arena records it and the text is empty, so that a long sequence of calls needs only
// one check at the end.
#ifndef OD_DOCUMENT_TEXTS_H
#define OD_DOCUMENT_TEXTS_H

#include <stdarg.h>

#include "base/arena.h"

const char *od_texts_copy(od_arena *arena, const char *text, size_t length);
const char *od_texts_format(od_arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));
const char *od_texts_formatv(od_arena *arena, const char *format, va_list args) __attribute__((format(printf, 2, 0)));

#endif
