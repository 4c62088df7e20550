// Reads the query and the body of a request. Each route has a table of its keys; other keys and repeated keys are refused with the reason.
#ifndef OD_HTTP_QUERY_H
#define OD_HTTP_QUERY_H

#include <stdbool.h>

#include "base/arena.h"
#include "oleodyn/status.h"

typedef enum od_query_shape {
  OD_QUERY_NUMBER,
  OD_QUERY_WHOLE,
  OD_QUERY_TEXT,
  OD_QUERY_TEXTS,  // may be repeated
  OD_QUERY_LIST,   // texts, separated by commas
  OD_QUERY_FLAG    // true or false
} od_query_shape;

// A key of a query. low, high: limits of a number; if they are equal, there are no limits.
typedef struct od_query_key {
  const char *name;
  od_query_shape shape;
  const char *meaning;
  double low, high;
} od_query_key;

enum { OD_MOST_QUERY_KEYS = 8, OD_MOST_QUERY_TEXTS = 64 };

typedef struct od_query {
  const od_query_key *key;
  int keys;
  struct {
    bool is_given;
    double number;  // number, or 1: true
    const char *text[OD_MOST_QUERY_TEXTS];
    int texts;
  } value[OD_MOST_QUERY_KEYS];
} od_query;

// Begins a query without values. keys: at most OD_MOST_QUERY_KEYS.
void od_query_begin(od_query *q, const od_query_key *key, int keys);
// Adds a pair of the query, a key and its value of `size` bytes. The arena owns a copy of the value. Fails with OD_BAD_INPUT or
// OD_NO_MEMORY.
od_status od_query_take(od_query *q, const char *key, const char *value, size_t size, od_arena *memory, od_error *err);
// Return the value of a key of the table: whether the query has the key; its number (`otherwise` if not given); its first text (NULL); or its texts
// and their count.
bool od_query_has(const od_query *q, const char *name);
double od_query_number(const od_query *q, const char *name, double otherwise);
const char *od_query_text(const od_query *q, const char *name);
int od_query_texts(const od_query *q, const char *name, const char *const **texts);

// Reads a number from 0 to 2^53 that is the whole text. Returns -1 for other texts.
long long od_read_id(const char *text, size_t size);
// Reads a JSON object with one text, such as {"token": "..."}. The copy belongs to the arena. Fails with OD_BAD_INPUT or
// OD_NO_MEMORY; the message does not contain the text.
od_status od_body_text(const char *body, size_t size, const char *key, od_arena *memory, const char **out,
                       od_error *err);
// Checks that a body is empty or an empty JSON object. Otherwise fails with OD_BAD_INPUT.
od_status od_body_empty(const char *body, size_t size, od_error *err);

#endif
