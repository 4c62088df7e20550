// Converts numbers given by keys to the numbers of an element class.
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "model/builder.h"

static const od_keyed_number *find_key(const od_keyed_number *number, int count, const char *key) {
  for (int i = 0; i < count; i++)
    if (number[i].key && strcmp(number[i].key, key) == 0) return &number[i];
  return NULL;
}

static bool has_field(const od_element_description *c, const char *key) {
  for (int i = 0; i < c->field_count; i++)
    if (key && strcmp(c->fields[i].key, key) == 0) return true;
  return false;
}

// Returns the number of fields. The optional fields are included if at least one optional field is given.
static int field_count(const od_element_description *c, const od_keyed_number *number, int count) {
  for (int i = c->field_count - c->equations->optional_numbers; i < c->field_count; i++)
    if (find_key(number, count, c->fields[i].key)) return c->field_count;
  return c->field_count - c->equations->optional_numbers;
}

// Returns the value of a field for which the caller gave no number: the value of another field, or the default.
static double default_of(const od_element_field *f, const od_element_description *c, const od_keyed_number *number,
                         int count) {
  const od_keyed_number *given = f->same_as ? find_key(number, count, f->same_as) : NULL;
  if (given) return given->value;
  for (int i = 0; f->same_as && i < c->field_count; i++)
    if (strcmp(c->fields[i].key, f->same_as) == 0) return c->fields[i].fallback;
  return f->fallback;
}

// Reports each given key that the class does not have.
static void report_keys(od_build *b, const char *name, const od_element_description *c, const od_keyed_number *number,
                        int count) {
  char known[500] = "";
  for (int i = 0, at = 0; i < c->field_count && at < (int)sizeof known; i++)
    at += (int)od_text_format(known + at, sizeof known - (size_t)at, "%s%s", i ? ", " : "", c->fields[i].key);
  for (int i = 0; i < count; i++)
    if (!has_field(c, number[i].key))
      od_build_refuse(b, OD_ABOUT_MACHINE, -1, "'%s' has the unknown number '%s'; a %s has: %s", name,
                      number[i].key ? number[i].key : "", c->noun, known);
}

int od_build_element_numbers(od_build *b, const char *name, const char *class_name, const od_keyed_number *number,
                             int count) {
  int found = od_element_class_find(class_name), first = OD_UNUSED;
  if (found < 0) {
    od_build_refuse(b, OD_ABOUT_MACHINE, -1,
                    "'%s': there is no class of elements called '%s'; 'oleodyn components' lists the classes", name,
                    class_name);
    return OD_UNUSED;
  }
  const od_element_description *c = od_element_description_at(found);
  report_keys(b, name, c, number, count);
  for (int i = 0; i < field_count(c, number, count); i++) {
    const od_element_field *f = &c->fields[i];
    const od_keyed_number *given = find_key(number, count, f->key);
    char path[200];
    od_text_format(path, sizeof path, "%s.%s%s%s", name, f->section ? f->section : "", f->section ? "." : "", f->key);
    double value = given ? given->value : default_of(f, c, number, count);
    if (isnan(value) && !given) {
      od_build_refuse(b, OD_ABOUT_MACHINE, -1, "'%s' is missing: %s (%s)", path, f->meaning, f->unit);
      value = 1;  // prevents further messages about this number
    }
    // The unit of a signal is unknown here.
    int place = od_build_number(b, path, value, strcmp(f->unit, "*") ? f->unit : "1");
    if (i == 0) first = place;
  }
  return first;
}
