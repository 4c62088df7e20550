#include "http/query.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "document/suggest.h"

void od_query_begin(od_query *q, const od_query_key *key, int keys) {
  memset(q, 0, sizeof *q);
  q->key = key;
  q->keys = keys;
}

static int find(const od_query *q, const char *name) {
  for (int i = 0; i < q->keys; i++)
    if (strcmp(q->key[i].name, name) == 0) return i;
  return -1;
}

// Returns a text of a request for a message: its first 40 bytes; '?' replaces bytes that are not visible ASCII characters or spaces.
typedef struct shown {
  char text[48];
} shown;
static shown show(const char *text) {
  shown s;
  size_t n = 0;
  for (; text[n] && n < 40; n++) s.text[n] = text[n] < ' ' || text[n] > '~' ? '?' : text[n];
  s.text[n] = '\0';
  return s;
}

static od_status unknown(const od_query *q, const char *key, od_error *err) {
  od_nearest nearest = od_nearest_to(key);
  for (int i = 0; i < q->keys; i++) od_nearest_try(&nearest, q->key[i].name);
  return od_fail(err, OD_BAD_INPUT, "unknown key '%s' of the query%s", show(key).text,
                 od_nearest_suggestion(&nearest, NULL).text);
}

static od_status read_number(const od_query_key *key, const char *text, double *out, od_error *err) {
  char *end = NULL;
  double value = 0;
  if (text[0] && strspn(text, "0123456789+-.eE") == strlen(text)) value = strtod(text, &end);
  if (!end || *end != '\0' || !isfinite(value) || (key->shape == OD_QUERY_WHOLE && value != floor(value)))
    return od_fail(err, OD_BAD_INPUT, "'%s' is '%s'; expected a %s", key->name, show(text).text,
                   key->shape == OD_QUERY_WHOLE ? "whole number" : "number");
  if (key->low < key->high && !(value >= key->low && value <= key->high))
    return od_fail(err, OD_BAD_INPUT, "'%s' is %g; expected %g to %g", key->name, value, key->low, key->high);
  *out = value;
  return OD_OK;
}

static od_status add_text(od_query *q, int i, const char *text, od_error *err) {
  if (q->value[i].texts == OD_MOST_QUERY_TEXTS)
    return od_fail(err, OD_BAD_INPUT, "too many values of '%s'; expected at most %d", q->key[i].name,
                   OD_MOST_QUERY_TEXTS);
  q->value[i].text[q->value[i].texts++] = text;
  return OD_OK;
}

od_status od_query_take(od_query *q, const char *key, const char *value, size_t size, od_arena *memory, od_error *err) {
  const int i = find(q, key);
  if (i < 0) return unknown(q, key, err);
  const od_query_key *k = &q->key[i];
  char *text = OD_TAKE(memory, char, size + 1);
  if (!text) return od_fail(err, OD_NO_MEMORY, "out of memory");
  if (size > 0) memcpy(text, value, size);
  if (strlen(text) != size)
    return od_fail(err, OD_BAD_INPUT, "the value of '%s' contains a zero byte; expected a text", key);
  if (q->value[i].is_given && k->shape != OD_QUERY_TEXTS)
    return od_fail(err, OD_BAD_INPUT, "the key '%s' is given twice; expected each key once", key);
  q->value[i].is_given = true;
  switch (k->shape) {
    case OD_QUERY_NUMBER:
    case OD_QUERY_WHOLE: return read_number(k, text, &q->value[i].number, err);
    case OD_QUERY_FLAG:
      q->value[i].number = strcmp(text, "true") == 0;
      if (q->value[i].number == 1 || strcmp(text, "false") == 0) return OD_OK;
      return od_fail(err, OD_BAD_INPUT, "'%s' is '%s'; expected true or false", key, show(text).text);
    case OD_QUERY_LIST: {
      od_status status = OD_OK;
      for (char *at = text, *comma; status == OD_OK && at; at = comma) {
        comma = strchr(at, ',');
        if (comma) *comma++ = '\0';
        status = add_text(q, i, at, err);
      }
      return status;
    }
    default: return add_text(q, i, text, err);
  }
}

bool od_query_has(const od_query *q, const char *name) {
  const int i = find(q, name);
  return i >= 0 && q->value[i].is_given;
}

double od_query_number(const od_query *q, const char *name, double otherwise) {
  return od_query_has(q, name) ? q->value[find(q, name)].number : otherwise;
}

const char *od_query_text(const od_query *q, const char *name) {
  return od_query_has(q, name) ? q->value[find(q, name)].text[0] : NULL;
}

int od_query_texts(const od_query *q, const char *name, const char *const **texts) {
  const int i = find(q, name);
  *texts = i >= 0 ? (const char *const *)q->value[i].text : NULL;
  return i >= 0 ? q->value[i].texts : 0;
}

// --- Paths and bodies ---------------------------------------------------------------------------------------------

long long od_read_id(const char *text, size_t size) {
  long long id = 0;
  if (size == 0 || size > 16) return -1;
  for (size_t i = 0; i < size; i++) {
    if (text[i] < '0' || text[i] > '9') return -1;
    id = 10 * id + (text[i] - '0');
  }
  return id <= 9007199254740992 ? id : -1;
}

static od_status read_object(const char *body, size_t size, json_t **out, od_error *err) {
  json_error_t why;
  *out = json_loadb(body, size, JSON_REJECT_DUPLICATES, &why);
  if (*out && json_is_object(*out)) return OD_OK;
  return *out ? od_fail(err, OD_BAD_INPUT, "the body is not a JSON object; expected an object")
              : od_fail(err, OD_BAD_INPUT, "the body is not JSON (line %d, column %d); expected a JSON object",
                        why.line, why.column);
}

od_status od_body_text(const char *body, size_t size, const char *key, od_arena *memory, const char **out,
                       od_error *err) {
  json_t *object = NULL;
  *out = NULL;
  od_status status = read_object(body, size, &object, err);
  const char *text = status == OD_OK ? json_string_value(json_object_get(object, key)) : NULL;
  if (status == OD_OK && (!text || json_object_size(object) != 1))
    status = od_fail(err, OD_BAD_INPUT, "the body has missing, other or wrong fields; expected {\"%s\": \"...\"}", key);
  if (status == OD_OK && !(*out = od_arena_text(memory, text))) status = od_fail(err, OD_NO_MEMORY, "out of memory");
  json_decref(object);
  return status;
}

od_status od_body_empty(const char *body, size_t size, od_error *err) {
  json_t *object = NULL;
  if (size == 0) return OD_OK;
  od_status status = read_object(body, size, &object, err);
  if (status == OD_OK && json_object_size(object) > 0)
    status = od_fail(err, OD_BAD_INPUT, "the body has fields; expected {}");
  json_decref(object);
  return status;
}
