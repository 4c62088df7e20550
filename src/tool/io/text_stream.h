// A text that is printed into memory.
#ifndef OD_IO_TEXT_STREAM_H
#define OD_IO_TEXT_STREAM_H

#include <stdio.h>

typedef struct od_text_stream {
  FILE *to;  // the stream to print to; NULL: the stream could not be opened
  char *text;
  size_t length;
} od_text_stream;

// Opens the stream. The struct must stay at its address until the stream is closed.
void od_text_stream_open(od_text_stream *s);
// Closes the stream. Returns the text, freed with od_free(); NULL if an allocation fails.
char *od_text_stream_close(od_text_stream *s);

#endif
