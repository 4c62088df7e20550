#include "jobs/section_reference.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/display.h"

void od_plain_meaning(const char *text, char *plain, size_t size) {
  size_t used = 0;
  bool linked = false;
  for (const char *c = text ? text : ""; *c && used + 1 < size; c++) {
    if (*c == '[' && strstr(c, "](") && strcspn(c, "]") < strcspn(c + 1, "[") && strchr(c, ']')[1] == '(') {
      linked = true;
    } else if (linked && *c == ']') {
      c += strcspn(c, ")");
      linked = false;
    } else if (*c == '`') {
      plain[used++] = '\'';
    } else {
      plain[used++] = *c;
    }
  }
  plain[used] = '\0';
}

// Prints the type and unit of a key's value.
static void print_shape(const od_key *key) {
  static const char *const shapes[] = {[OD_NUMBER] = "number",
                                       [OD_NUMBERS] = "list",
                                       [OD_ROWS] = "list of lists",
                                       [OD_WHOLE] = "whole number",
                                       [OD_TEXT] = "text",
                                       [OD_TEXTS] = "text or list",
                                       [OD_FLAG] = "true or false",
                                       [OD_CHOICE] = "",
                                       [OD_SECTION] = "section",
                                       [OD_SECTIONS] = "list of",
                                       [OD_SECTION_MAP] = "map of",
                                       [OD_NUMBER_MAP] = "map of numbers",
                                       [OD_NUMBERS_OR_WORD] = "map of numbers"};
  bool has_unit = key->shape <= OD_ROWS && key->of != NULL && strcmp(key->of, "1") != 0;
  const char *word, *section = key->inside ? key->inside->name : key->of;
  int length = 0;
  if (key->shape == OD_CHOICE) {
    for (int i = 0; (word = od_key_word(key, i, &length)) != NULL; i++) printf("%s`%.*s`", i ? ", " : "", length, word);
  } else if (key->shape >= OD_SECTION && key->shape <= OD_SECTION_MAP) {
    printf("%s%s%s", section ? shapes[key->shape] : "see meaning", section ? " " : "", section ? section : "");
  } else {
    printf("%s%s%s", shapes[key->shape], has_unit ? ", " : "", has_unit ? key->of : "");
    if (key->shape == OD_NUMBERS_OR_WORD) printf(" or `%s`", key->of);
  }
}

static void print_default(const od_key *key) {
  bool is_number = key->shape == OD_NUMBER || key->shape == OD_WHOLE, is_choice = key->shape == OD_CHOICE;
  int length = 0;
  const char *word = is_choice && !isnan(key->fallback) ? od_key_word(key, (int)key->fallback, &length) : NULL;
  if (key->otherwise)
    printf("%s", key->otherwise);
  else if (isnan(key->fallback))
    printf("required");
  else if (is_choice)
    printf("`%.*s`", length, word ? word : "");
  else if (key->shape == OD_FLAG)
    printf("%s", key->fallback != 0 ? "true" : "false");
  else if (is_number && key->of && key->fallback != 0)
    printf("%s", od_display_quantity(key->fallback, key->of).text);
  else if (is_number)
    printf("%g", key->fallback);
}

static void print_range(const od_key *key) {
  char possible[OD_RANGE_SIZE], usual[OD_RANGE_SIZE];
  const od_limits *l = &key->limits;
  if (key->shape == OD_WHOLE && od_limits_are_known(l)) {
    printf("%.16g to %.16g", l->low, l->high);
  } else if (od_limits_are_known(l) && key->of) {
    od_display_range(possible, l->low, l->high, key->shape <= OD_ROWS ? key->of : "1");
    od_display_range(usual, l->usual_low, l->usual_high, key->shape <= OD_ROWS ? key->of : "1");
    printf("%s; usual %s", possible, usual);
  } else if (key->sign != OD_ANY) {
    printf("%s", key->sign == OD_POSITIVE ? "positive" : "not negative");
  }
}

void od_print_section_keys(const od_section_class *c) {
  od_key key;
  printf("| key | value | default | possible | meaning |\n|---|---|---|---|---|\n");
  for (int i = 0; od_key_at(c, i, &key); i++) {
    printf("| `%s` | ", key.name);
    print_shape(&key);
    printf(" | ");
    print_default(&key);
    printf(" | ");
    print_range(&key);
    printf(" | %s |\n", key.meaning ? key.meaning : "");
  }
}

void od_print_section(const od_section_class *c) {
  printf("\n### %s\n\n%c%s.%s\n\n", c->name, toupper((unsigned char)c->meaning[0]), c->meaning + 1,
         c->or_word ? " A single text may replace the section." : "");
  od_print_section_keys(c);
}

// Lists a section and all sections inside it, depth first, in the order of the keys. Returns the new number of sections in
// `all`.
static int list_inside(const od_section_class *c, const od_section_class *all[OD_MOST_SECTIONS], int count) {
  od_key key;
  for (int i = 0; i < count; i++)
    if (all[i] == c) return count;
  if (count < OD_MOST_SECTIONS) all[count++] = c;
  for (int i = 0; od_key_at(c, i, &key); i++)
    if (key.inside) count = list_inside(key.inside, all, count);
  return count;
}

int od_list_sections(const od_section_class *file, const od_section_class *all[OD_MOST_SECTIONS]) {
  return list_inside(file, all, 0);
}
