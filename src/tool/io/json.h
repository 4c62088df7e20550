// JSON output: the format of --json.
#ifndef OD_IO_JSON_H
#define OD_IO_JSON_H

#include <jansson.h>
#include <stdio.h>

#include "oleodyn/status.h"

// Returns a JSON number, or null for values that JSON cannot represent (infinite, NaN).
json_t *od_json_number(double value);
// Returns a JSON string; null if `text` is NULL or an allocation fails. If the text is not UTF-8 (for example a file
// name), all bytes above 0x7f become question marks.
json_t *od_json_text(const char *text);
// Returns a list of numbers: value[0], value[stride], value[2 * stride], ... Returns NULL if an allocation fails.
json_t *od_json_numbers(const double *value, long count, long stride);
// Frees a text that json_dumps() returned.
void od_json_text_free(char *text);
// Writes the value and a line end. The text is indented, fields are in the order of creation, and numbers read back
// exactly. The path "-" is standard output. On failure no file is written. Fails with OD_IO or OD_NO_MEMORY.
od_status od_json_write(const json_t *value, const char *path, od_error *err);
// Returns the text that od_json_write() writes, freed with od_free(); NULL if an allocation fails.
char *od_json_format(const json_t *value);

// Writes "key":value without spaces, with at most 12 digits per real number, and without characters that have a meaning in HTML or XML. If
// the value is a list, each object of the list begins a new line.
void od_json_write_safe(FILE *to, const char *key, const json_t *value);

#endif
