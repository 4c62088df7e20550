// The text of a file of ours: read whole, within bounds, and known to be text.
#ifndef OD_DOCUMENT_TEXT_FILE_H
#define OD_DOCUMENT_TEXT_FILE_H

#include <stddef.h>

#include "document/messages.h"

// Reads the file; *text is zero-terminated and freed with free(). OD_IO: it could not be read, OD_BAD_INPUT: it is too
// large or not UTF-8 text; a message says so.
od_status od_text_file_read(const char *path, char **text, size_t *length, od_messages *messages);

#endif
