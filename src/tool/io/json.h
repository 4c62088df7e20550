// JSON output: the format of --json.
#ifndef OD_IO_JSON_H
#define OD_IO_JSON_H

#include <jansson.h>

#include "oleodyn/status.h"

// A JSON number, or null for values that JSON cannot represent (infinite, NaN).
json_t *od_json_number(double value);
// A JSON string, or null. Bytes that are not UTF-8 (for example in a file name) become question marks.
json_t *od_json_text(const char *text);
// A list of numbers: value[0], value[stride], value[2 * stride], ... NULL: out of memory.
json_t *od_json_numbers(const double *value, long count, long stride);
// Frees a text of json_dumps().
void od_json_text_free(char *text);
// Writes the value and a line end: indented, objects in the order of creation, numbers that read back exactly. Path "-" is
// standard output; other files appear complete or not at all.
od_status od_json_write(const json_t *value, const char *path, od_error *err);
// The same text in memory, freed with od_free(); NULL: out of memory.
char *od_json_format(const json_t *value);

#endif
