// The text of an input file: read completely, within limits, and checked to be text.
#ifndef OD_DOCUMENT_TEXT_FILE_H
#define OD_DOCUMENT_TEXT_FILE_H

#include <stddef.h>

#include "document/messages.h"

// Reads the file. *text is zero-terminated; the caller frees *text with od_free(). OD_IO: the file could not be read.
// OD_BAD_INPUT: the file is too large or not UTF-8 text. Both errors are reported. After a failure *text is NULL.
od_status od_text_file_read(const char *path, char **text, size_t *length, od_messages *messages);

#endif
