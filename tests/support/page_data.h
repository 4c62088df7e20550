// Reads the data of a page in tests, independent of the code that writes them: JSON of the page, base64, zlib, differences, 16 bits.
// Include after cmocka.h.
#ifndef OD_TEST_PAGE_DATA_H
#define OD_TEST_PAGE_DATA_H

#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

typedef struct page_data {
  json_t *root;
  unsigned char *bytes;
  size_t size;
} page_data;

static inline page_data page_data_read(const char *page) {
  static const char begin[] = "<script type=\"application/json\" id=\"page-data\">";
  const char *from = strstr(page, begin);
  assert_non_null(from);
  from += strlen(begin);
  const char *end = strstr(from, "</script>");
  assert_non_null(end);
  // No character of markup is in the data.
  for (const char *c = from; c < end; c++) assert_true(*c != '<' && *c != '>' && *c != '&');
  json_error_t error;
  page_data d = {.root = json_loadb(from, (size_t)(end - from), JSON_REJECT_DUPLICATES, &error)};
  if (!d.root) fail_msg("%s at %d", error.text, error.position);
  const char *blob = json_string_value(json_object_get(d.root, "blob"));
  if (!blob) return d;
  size_t length = strlen(blob), packed = 0;
  unsigned char *bytes = malloc(length);
  unsigned long word = 0;
  int bits = 0;
  for (const char *c = blob; *c && *c != '='; c++) {
    int digit = *c >= 'A' && *c <= 'Z'   ? *c - 'A'
                : *c >= 'a' && *c <= 'z' ? *c - 'a' + 26
                : *c >= '0' && *c <= '9' ? *c - '0' + 52
                : *c == '+'              ? 62
                : *c == '/'              ? 63
                                         : -1;
    assert_true(digit >= 0);
    word = (word << 6 | (unsigned long)digit) & 0xffffff;
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes[packed++] = (unsigned char)(word >> bits & 0xff);
  }
  z_stream z = {.next_in = bytes, .avail_in = (uInt)packed};
  assert_int_equal(inflateInit(&z), Z_OK);
  size_t room = 0;
  int status = Z_OK;
  while (status == Z_OK) {
    room += 1 << 20;
    d.bytes = realloc(d.bytes, room);
    z.next_out = d.bytes + d.size;
    z.avail_out = (uInt)(room - d.size);
    status = inflate(&z, Z_NO_FLUSH);
    d.size = room - z.avail_out;
  }
  assert_int_equal(status, Z_STREAM_END);
  inflateEnd(&z);
  free(bytes);
  return d;
}

static inline void page_data_free(page_data *d) {
  json_decref(d->root);
  free(d->bytes);
}

static inline const json_t *page_data_at(const page_data *d, const char *list, long i) {
  const json_t *item = json_array_get(json_object_get(d->root, list), (size_t)i);
  assert_non_null(item);
  return item;
}

static inline double page_data_number(const json_t *object, const char *key, double missing) {
  const json_t *value = json_object_get(object, key);
  return value ? json_number_value(value) : missing;
}

// The values of series i in SI units, freed by the caller. *quantum: the distance of two numbers.
static inline double *page_data_values(const page_data *d, long i, long *count, double *quantum) {
  const json_t *s = page_data_at(d, "series", i);
  const json_t *g = page_data_at(d, "grids", (long)page_data_number(s, "grid", NAN));
  double low = page_data_number(s, "low", NAN), high = page_data_number(s, "high", NAN),
         at = page_data_number(s, "at", -1);
  *count = (long)page_data_number(g, "count", NAN);
  *quantum = (high - low) / page_data_number(s, "steps", 65534);
  double *value = malloc((size_t)*count * sizeof *value);
  unsigned q = 0, slope = 0;
  bool is_second = page_data_number(s, "order", 1) == 2;
  size_t n = (size_t)*count, from = at >= 0 ? (size_t)at : 0;
  if (at >= 0) assert_true(from + 2 * n <= d->size);
  for (size_t k = 0; k < n; k++) {
    unsigned stored = at >= 0 ? d->bytes[from + k] + 256u * d->bytes[from + n + k] : 0;
    slope = is_second ? slope + stored : stored;
    q = (q + slope) % 65536;
    value[k] = q == 65535 ? (double)NAN : low + q * *quantum;
    if (json_is_true(json_object_get(s, "log"))) value[k] = pow(10, value[k]);
  }
  return value;
}

// The x values of series i.
static inline double *page_data_x(const page_data *d, long i, long *count) {
  const json_t *g = page_data_at(d, "grids", (long)page_data_number(page_data_at(d, "series", i), "grid", NAN));
  double quantum;
  if (json_object_get(g, "series"))
    return page_data_values(d, (long)page_data_number(g, "series", NAN), count, &quantum);
  *count = (long)page_data_number(g, "count", NAN);
  double *x = malloc((size_t)*count * sizeof *x);
  for (long k = 0; k < *count; k++)
    x[k] = page_data_number(g, "start", NAN) + (double)k * page_data_number(g, "step", NAN);
  x[*count - 1] = page_data_number(g, "end", x[*count - 1]);
  return x;
}

// The index of the series with this name and "of" ("": the machine itself); fails if there is none.
static inline long page_data_find(const page_data *d, const char *name, const char *of) {
  const json_t *list = json_object_get(d->root, "series");
  for (size_t i = 0; i < json_array_size(list); i++) {
    const json_t *s = json_array_get(list, i);
    const char *own = json_string_value(json_object_get(s, "name")),
               *own_of = json_string_value(json_object_get(s, "of"));
    if (own && strcmp(own, name) == 0 && strcmp(own_of ? own_of : "", of) == 0) return (long)i;
  }
  fail_msg("no series %s", name);
  return -1;
}

#endif
