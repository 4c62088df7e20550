// Functions by which programs read a result: verdict, remarks, data by path, JSON.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/allocate.h"
#include "io/json.h"
#include "memory/scoped.h"
#include "result/result.h"

// --- Verdict ------------------------------------------------------------------------------------------------------------

static const od_verdict *verdict_of(const od_result *r) {
  for (const od_view_item *item = r->first; item; item = item->next)
    if (item->verdict) return item->verdict;
  return NULL;
}

od_trust od_result_trust(const od_result *r) {
  const od_verdict *v = verdict_of(r);
  return v ? v->trust : OD_SOUND;
}

int od_result_remark_count(const od_result *r) {
  const od_verdict *v = verdict_of(r);
  return v ? v->count : 0;
}

od_result_remark od_result_remark_at(const od_result *r, int i) {
  if (i < 0 || i >= od_result_remark_count(r)) return (od_result_remark){0};
  const od_remark *remark = &verdict_of(r)->remark[i];
  return (od_result_remark){.trust = remark->trust, .code = remark->code, .lead = remark->lead, .text = remark->text};
}

void od_result_each_warning(const od_result *r, void (*print)(void *user, const char *text), void *user) {
  OD_SCRATCH(scratch);
  for (const od_view_item *item = r->first; item; item = item->next) {
    if (item->audience == OD_FOR_PAGE) continue;
    for (int i = 0; item->verdict && i < item->verdict->count; i++) {
      const od_remark *remark = &item->verdict->remark[i];
      const char *text =
          remark->trust > OD_SOUND ? od_arena_format(&scratch, "%s %s", remark->lead, remark->text) : NULL;
      if (text) print(user, text);
    }
    const char *text = item->trust > OD_SOUND ? od_arena_format(&scratch, "%s %s", item->lead, item->text) : NULL;
    if (text) print(user, text);
  }
}

// --- Data by path -------------------------------------------------------------------------------------------------------

// Returns the entry of an object whose key is the beginning of *path, and moves *path behind the key. Returns NULL if there is no
// such entry.
static const json_t *enter_object(const json_t *object, const char **path) {
  const char *key = *path;
  bool is_quoted = *key == '"';
  size_t length = is_quoted ? strcspn(++key, "\"") : strcspn(key, ".[");
  if (is_quoted && key[length] != '"') return NULL;
  *path = key + length + is_quoted;
  return json_object_getn(object, key, length);
}

// Returns the entry of a list by the index ("[2]") or the field "name" ("[boom.angle]") at the beginning of *path. Moves *path
// behind the bracket. Returns NULL if there is no such entry.
static const json_t *enter_list(const json_t *list, const char **path) {
  const char *text = *path + 1, *end = strchr(text, ']');
  if (!end || end == text) return NULL;
  size_t length = (size_t)(end - text);
  *path = end + 1;
  if (strspn(text, "0123456789") == length) return json_array_get(list, strtoul(text, NULL, 10));
  for (size_t i = 0; i < json_array_size(list); i++) {
    const json_t *entry = json_array_get(list, i);
    const char *name = json_string_value(json_object_get(entry, "name"));
    if (name && strlen(name) == length && !strncmp(name, text, length)) return entry;
  }
  return NULL;
}

static const json_t *find(const od_result *r, const char *path) {
  const json_t *value = r->data;
  bool begins = true;
  while (value && *path) {
    if (*path == '[') {
      value = enter_list(value, &path);
    } else {
      if (!begins && *path++ != '.') return NULL;
      value = enter_object(value, &path);
    }
    begins = false;
  }
  return value;
}

double od_result_get_number(const od_result *r, const char *path) {
  const json_t *value = find(r, path);
  if (json_is_boolean(value)) return json_is_true(value);
  return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

const char *od_result_get_text(const od_result *r, const char *path) {
  return json_string_value(find(r, path));
}

long od_result_get_count(const od_result *r, const char *path) {
  const json_t *value = find(r, path);
  if (json_is_array(value)) return (long)json_array_size(value);
  return json_is_object(value) ? (long)json_object_size(value) : -1;
}

// --- JSON ---------------------------------------------------------------------------------------------------------------

char *od_result_json(const od_result *r) {
  return od_json_format(r->data);
}

void od_text_free(char *text) {
  od_free(text);
}
