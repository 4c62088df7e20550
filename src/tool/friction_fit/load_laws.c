// Numbers of friction laws in a friction file: the section 'laws', and changes of the numbers.
#include <math.h>
#include <string.h>

#include "base/allocate.h"
#include "document/quantities.h"
#include "document/suggest.h"
#include "friction_fit/friction_loader.h"

static const od_element_field per_pressure[2] = {
    {.key = "per_p1", .unit = "1/Pa", .sign = OD_ANY, .limits = {.low = -INFINITY, .high = INFINITY}},
    {.key = "per_p2", .unit = "1/Pa", .sign = OD_ANY, .limits = {.low = -INFINITY, .high = INFINITY}}};

#define FACTOR_X(k)                                                                                              \
  {                                                                                                              \
    .key = "factor_x" #k, .unit = "1", .sign = OD_POSITIVE, .fallback = 1, .limits = {.low = 1e-3, .high = 1e3 } \
  }
static const od_element_field at_position[OD_MOST_POSITIONS] = {FACTOR_X(1), FACTOR_X(2),  FACTOR_X(3),  FACTOR_X(4),
                                                                FACTOR_X(5), FACTOR_X(6),  FACTOR_X(7),  FACTOR_X(8),
                                                                FACTOR_X(9), FACTOR_X(10), FACTOR_X(11), FACTOR_X(12)};

int od_law_key(const od_friction_law *law, const char *key) {
  for (int i = 0; i < law->element->field_count; i++)
    if (strcmp(law->element->fields[i].key, key) == 0) return i;
  if (od_friction_law_follows(law) < 0) return -1;
  for (int i = 0; i < 2; i++)
    if (strcmp(per_pressure[i].key, key) == 0) return OD_PER_P1 + i;
  for (int i = 0; i < OD_MOST_POSITIONS; i++)
    if (strcmp(at_position[i].key, key) == 0) return OD_FACTOR_X1 + i;
  return -1;
}

const od_element_field *od_law_field(const od_friction_law *law, int number) {
  if (number >= OD_FACTOR_X1) return &at_position[number - OD_FACTOR_X1];
  return od_is_per_pressure(number) ? &per_pressure[number - OD_PER_P1] : &law->element->fields[number];
}

double od_position_weight(const od_law_numbers *n, int k, double x) {
  const double *at = n->position;
  if (k > 0 && x <= at[k]) return x <= at[k - 1] ? 0 : (x - at[k - 1]) / (at[k] - at[k - 1]);
  if (k + 1 < n->positions && x > at[k]) return x >= at[k + 1] ? 0 : (at[k + 1] - x) / (at[k + 1] - at[k]);
  return 1;
}

double od_position_factor(const od_law_numbers *n, double x) {
  double factor = n->positions > 0 ? 0 : 1;
  for (int k = 0; k < n->positions; k++) factor += n->q[OD_FACTOR_X1 + k] * od_position_weight(n, k, x);
  return factor;
}

static od_law_numbers defaults_of(const char *name, const od_friction_law *law, bool two_sided) {
  od_law_numbers n = {.name = name, .law = law, .two_sided = two_sided};
  int base = law->sided + law->common;
  for (int i = 0; i < law->element->field_count; i++) {
    double fallback = law->element->fields[i].fallback;
    n.q[i] = i >= base ? n.q[i - base] : isnan(fallback) ? 0 : fallback;
  }
  for (int k = 0; k < OD_MOST_POSITIONS; k++) n.q[OD_FACTOR_X1 + k] = 1;
  return n;
}

od_law_numbers od_law_numbers_as(const od_law_numbers *from, const od_friction_law *law) {
  od_law_numbers n = defaults_of(from->name, law, from->two_sided);
  int base = law->sided + law->common, count = od_friction_law_numbers(law, from->two_sided);
  for (int i = 0; i < count; i++) {
    int place = od_law_key(from->law, law->element->fields[i].key);
    if (place >= 0 && place < od_friction_law_numbers(from->law, from->two_sided))
      n.q[i] = from->q[place];
    else if (i >= base)
      n.q[i] = n.q[i - base];
  }
  return n;
}

const od_friction_law *od_friction_read_law(od_friction_reader *r, int node) {
  const char *names[64] = {0};
  for (int i = 0; i < od_friction_law_count() && i < 63; i++) names[i] = od_friction_laws[i]->name;
  int chosen = node >= 0 ? od_read_choice(&r->ld, node, "law", names) : -1;
  return chosen >= 0 ? od_friction_laws[chosen] : NULL;
}

static od_field field_of(const od_element_field *f) {
  return (od_field){.key = f->key, .unit = f->unit, .range = f->sign, .fallback = f->fallback, .limits = &f->limits};
}

static void read_numbers(od_friction_reader *r, int key, od_law_numbers *out) {
  od_loader *ld = &r->ld;
  const char *name = od_text_of(ld, key);
  int value = od_value(ld, key), law_node = od_map_find(ld, value, "law");
  const od_friction_law *law = od_friction_read_law(r, law_node);
  const char *keys[OD_MOST_LAW_NUMBERS + 2] = {"law"};
  if (!law) {
    if (ld->tree.node[value].kind != OD_TREE_MAP)
      od_complain(ld, value, "found %s, expected a map for '%s' with 'law' and its numbers", od_describe(ld, value),
                  od_excerpt(ld, name));
    else if (law_node < 0)
      od_complain(ld, key, "'%s' needs 'law', the friction law of its numbers", od_excerpt(ld, name));
    return;
  }
  const od_element_description *c = law->element;
  for (int i = 0; i < c->field_count; i++) keys[1 + i] = c->fields[i].key;
  od_section section = od_section_open_names(ld, value, key, od_format(ld, "laws.%s", name),
                                             od_format(ld, "'%s'", od_excerpt(ld, name)), keys);
  if (section.map < 0) return;
  *out = defaults_of(name, law, false);
  int base = law->sided + law->common;
  for (int i = 0; i < c->field_count; i++) {
    od_field field = field_of(&c->fields[i]);
    if (i >= base) field.fallback = out->q[i - base];
    int number = od_read_fields(ld, &section, &field, 1, OD_IN_LOADER);
    out->q[i] = od_number_value(ld, number);
    out->two_sided = out->two_sided || (i >= base && od_number_is_given(ld, number));
  }
}

void od_friction_read_laws(od_friction_reader *r, int node) {
  od_loader *ld = &r->ld;
  od_friction_plan *plan = r->plan;
  int count = node >= 0 && ld->tree.node[node].kind == OD_TREE_MAP ? ld->tree.node[node].count : 0;
  plan->set = od_calloc((size_t)count + 1, sizeof *plan->set);
  if (!plan->set) {
    ld->no_memory = true;
    return;
  }
  for (int key = od_first(ld, node, "laws and their numbers"); key >= 0; key = od_next(ld, key)) {
    od_law_numbers read = {0};
    read_numbers(r, key, &read);
    if (read.law) plan->set[plan->sets++] = read;
  }
}

const od_law_numbers *od_friction_find_numbers(od_friction_reader *r, int node, const char *name) {
  od_nearest nearest = od_nearest_to(name);
  for (int i = 0; i < r->plan->sets; i++) {
    if (strcmp(r->plan->set[i].name, name) == 0) return &r->plan->set[i];
    od_nearest_try(&nearest, r->plan->set[i].name);
  }
  const char *about = od_format(&r->ld, "'laws' has no entry '%s'%s", od_excerpt(&r->ld, name),
                                od_nearest_suggestion(&nearest, NULL).text);
  if (node >= 0)
    od_complain(&r->ld, node, "%s", about);
  else
    od_messages_add(r->ld.messages, (od_place){.file = "--truth"}, "%s", about);
  return NULL;
}

void od_friction_complain_no_number(od_friction_reader *r, int node, const od_friction_law *law, int count,
                                    const char *key) {
  od_nearest nearest = od_nearest_to(key);
  for (int i = 0; i < count; i++) od_nearest_try(&nearest, law->element->fields[i].key);
  od_complain(&r->ld, node, "the law '%s' has no number '%s'%s", law->name, od_excerpt(&r->ld, key),
              od_nearest_suggestion(&nearest, NULL).text);
}

static void change(od_friction_reader *r, int key, const char *path, od_law_numbers *n) {
  od_loader *ld = &r->ld;
  const char *name = od_text_of(ld, key);
  int place = od_law_key(n->law, name), base = n->law->sided + n->law->common;
  if (place < 0) {
    od_friction_complain_no_number(r, key, n->law, n->law->element->field_count, name);
    return;
  }
  const od_field field = field_of(od_law_field(n->law, place));
  int number =
      od_read_number(ld, od_value(ld, key), od_path(ld, path, name), &field, od_place_of(ld, key), OD_IN_LOADER);
  n->q[place] = od_number_value(ld, number);
  if (place >= base && !od_is_of_factor(place) && !n->two_sided) n->two_sided = true;
  if (place < n->law->sided) n->q[base + place] = n->q[place];
}

// Reads changes of numbers. Keys of one direction are read last, so that these keys override keys of both directions.
void od_friction_read_changes(od_friction_reader *r, int node, const char *path, od_law_numbers *numbers) {
  od_loader *ld = &r->ld;
  int base = numbers->law->sided + numbers->law->common;
  for (int negative = 0; negative < 2; negative++)
    for (int key = od_first(ld, node, "numbers of the law"); key >= 0; key = od_next(ld, key)) {
      int place = od_law_key(numbers->law, od_text_of(ld, key));
      bool one = place >= base && !od_is_of_factor(place);
      if (one == (negative == 1)) change(r, key, path, numbers);
    }
}
