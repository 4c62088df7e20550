// jansson stores the values. This file formats numbers, because jansson writes 0.1 as 0.10000000000000001.
#include "io/json.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/allocate.h"
#include "io/atomic_file.h"
#include "io/number.h"
#include "io/text_stream.h"

static void pass_allocator_on(void) {
  json_set_alloc_funcs(od_malloc, od_free);
}

// Runs when the library is loaded, before the program can set an allocator.
__attribute__((constructor)) static void listen_for_allocator(void) {
  od_allocator_listen(pass_allocator_on);
}

void od_json_text_free(char *text) {
  json_free_t release;
  json_get_alloc_funcs(NULL, &release);
  release(text);
}

json_t *od_json_number(double value) {
  return isfinite(value) ? json_real(value) : json_null();
}

json_t *od_json_text(const char *text) {
  if (!text) return json_null();
  json_t *value = json_string(text);
  if (value) return value;
  char *copy = od_strdup(text);
  if (!copy) return json_null();
  for (char *c = copy; *c; c++)
    if ((unsigned char)*c >= 0x80) *c = '?';
  value = json_string(copy);
  od_free(copy);
  return value;
}

json_t *od_json_numbers(const double *value, long count, long stride) {
  json_t *list = json_array();
  for (long i = 0; i < count; i++)
    if (json_array_append_new(list, od_json_number(value[i * stride])) != 0) break;
  if (list && (long)json_array_size(list) == count) return list;
  json_decref(list);
  return NULL;
}

static void indent(FILE *to, int depth) {
  fprintf(to, "\n%*s", 2 * depth, "");
}

static void write_value(FILE *to, const json_t *value, int depth);

static void write_object(FILE *to, const json_t *object, int depth) {
  fputc('{', to);
  bool first = true;
  // jansson's iterators need a non-const pointer, but do not change the object.
  json_t *o = (json_t *)(uintptr_t)object;
  for (void *i = json_object_iter(o); i; i = json_object_iter_next(o, i), first = false) {
    if (!first) fputc(',', to);
    indent(to, depth + 1);
    json_t *key = json_string(json_object_iter_key(i));
    json_dumpf(key, to, JSON_ENCODE_ANY);
    json_decref(key);
    fputs(": ", to);
    write_value(to, json_object_iter_value(i), depth + 1);
  }
  if (!first) indent(to, depth);
  fputc('}', to);
}

static void write_array(FILE *to, const json_t *array, int depth) {
  fputc('[', to);
  for (size_t i = 0; i < json_array_size(array); i++) {
    if (i > 0) fputc(',', to);
    indent(to, depth + 1);
    write_value(to, json_array_get(array, i), depth + 1);
  }
  if (json_array_size(array) > 0) indent(to, depth);
  fputc(']', to);
}

static void write_value(FILE *to, const json_t *value, int depth) {
  if (json_is_object(value)) {
    write_object(to, value, depth);
  } else if (json_is_array(value)) {
    write_array(to, value, depth);
  } else if (json_is_real(value)) {
    char text[OD_NUMBER_SIZE];
    od_number_format(text, json_real_value(value));
    // A real number keeps a decimal point, for readers that distinguish reals from integers.
    fprintf(to, strpbrk(text, ".e") ? "%s" : "%s.0", text);
  } else {
    json_dumpf(value, to, JSON_ENCODE_ANY);
  }
}

od_status od_json_write(const json_t *value, const char *path, od_error *err) {
  if (!strcmp(path, "-")) {
    errno = 0;
    write_value(stdout, value, 0);
    fputc('\n', stdout);
    if (fflush(stdout) == 0 && !ferror(stdout)) return OD_OK;
    return od_fail(err, OD_IO, "cannot write to standard output: %s", strerror(errno));
  }
  od_atomic_file f;
  od_status status = od_atomic_open(&f, path, err);
  if (status != OD_OK) return status;
  write_value(f.file, value, 0);
  fputc('\n', f.file);
  return od_atomic_commit(&f, err);
}

char *od_json_format(const json_t *value) {
  od_text_stream s;
  od_text_stream_open(&s);
  if (s.to) write_value(s.to, value, 0);
  if (s.to) fputc('\n', s.to);
  return od_text_stream_close(&s);
}

// Writes a string as JSON. Characters of markup are written as escape sequences.
static void write_safe_text(FILE *to, const char *text) {
  json_t *value = od_json_text(text);
  char *dump = json_dumps(value, JSON_ENCODE_ANY);
  for (const char *c = dump ? dump : "\"\""; *c; c++) {
    if (*c == '<' || *c == '>' || *c == '&' || *c == 0x7f)
      fprintf(to, "\\u%04x", (unsigned)*c);
    else if (!strncmp(c, "\xef\xbf\xbe", 3) || !strncmp(c, "\xef\xbf\xbf", 3))
      fputc('?', to), c += 2;  // U+FFFE and U+FFFF are valid UTF-8, but not allowed in XML
    else
      fputc(*c, to);
  }
  od_json_text_free(dump);
  json_decref(value);
}

static void write_safe(FILE *to, const json_t *value, int depth) {
  bool first = true;
  json_t *v = (json_t *)(uintptr_t)value;
  if (json_is_object(value)) {
    fputc('{', to);
    for (void *i = json_object_iter(v); i; i = json_object_iter_next(v, i), first = false) {
      if (!first) fputc(',', to);
      write_safe_text(to, json_object_iter_key(i));
      fputc(':', to);
      write_safe(to, json_object_iter_value(i), depth + 1);
    }
    fputc('}', to);
  } else if (json_is_array(value)) {
    fputc('[', to);
    for (size_t i = 0; i < json_array_size(value); i++) {
      const json_t *item = json_array_get(value, i);
      if (i > 0) fputc(',', to);
      if (depth == 0 && json_is_object(item)) fputc('\n', to);
      write_safe(to, item, depth + 1);
    }
    fputc(']', to);
  } else if (json_is_real(value)) {
    char text[OD_NUMBER_SIZE];
    od_number_round(text, json_real_value(value), 12);
    fputs(text, to);
  } else if (json_is_string(value)) {
    write_safe_text(to, json_string_value(value));
  } else {
    json_dumpf(value, to, JSON_ENCODE_ANY);
  }
}

void od_json_write_safe(FILE *to, const char *key, const json_t *value) {
  write_safe_text(to, key);
  fputc(':', to);
  write_safe(to, value, 0);
}
