// The text of an input file. The file must be within limits and must contain text.
#ifndef OD_DOCUMENT_TEXT_FILE_H
#define OD_DOCUMENT_TEXT_FILE_H

#include <stddef.h>

#include "document/messages.h"

// Reads the file. *text is zero-terminated; the caller frees *text with od_free(). Fails with OD_IO if the file cannot be read, and
// with OD_BAD_INPUT if the file exceeds the limit of its size or is not UTF-8 text; reports these errors. Fails with OD_NO_MEMORY
// if an allocation fails. After a failure *text is NULL.
od_status od_text_file_read(const char *path, char **text, size_t *length, od_messages *messages);

#endif
