// The texts of a document: allocated one by one, freed together.
//
// Running out of memory sets `failed` and gives an empty text, so that a long sequence of calls needs one check at its end.
#ifndef OD_DOCUMENT_TEXTS_H
#define OD_DOCUMENT_TEXTS_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"

typedef struct od_texts {
  od_arena arena;
  bool failed;
} od_texts;

const char *od_texts_copy(od_texts *texts, const char *text, size_t length);
const char *od_texts_format(od_texts *texts, const char *format, ...) __attribute__((format(printf, 2, 3)));
const char *od_texts_formatv(od_texts *texts, const char *format, va_list args) __attribute__((format(printf, 2, 0)));
void od_texts_free(od_texts *texts);

#endif
