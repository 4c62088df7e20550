#include "io/text_stream.h"

#include <stdbool.h>
#include <string.h>

#include "base/allocate.h"

void od_text_stream_open(od_text_stream *s) {
  *s = (od_text_stream){0};
  s->to = open_memstream(&s->text, &s->length);
}

char *od_text_stream_close(od_text_stream *s) {
  bool ok = s->to && !ferror(s->to);
  if (s->to && fclose(s->to) != 0) ok = false;
  char *copy = ok && s->text ? od_malloc(s->length + 1) : NULL;
  if (copy) memcpy(copy, s->text, s->length + 1);
  od_libc_free(s->text);
  return copy;
}
