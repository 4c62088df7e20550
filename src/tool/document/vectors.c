// Lists of numbers: vectors in space, pairs.
#include <math.h>
#include <string.h>

#include "document/quantities.h"

// The nodes of a vector's entries, -1: none; false with a message if it is not a list of two or three.
static bool vector_nodes(od_loader *ld, int node, const char *label, int *entry) {
  if (node < 0) return true;
  const od_tree_node *n = &ld->tree.node[node];
  if (n->kind != OD_TREE_LIST) {
    od_complain(ld, node, "found %s; '%s' wants a list of two or three numbers", od_describe(ld, node), label);
    return false;
  }
  if (n->count != 2 && n->count != 3) {
    od_complain(ld, node, "found a list of %d; '%s' wants two or three numbers", n->count, label);
    return false;
  }
  int at = n->first;
  for (int i = 0; i < n->count; i++, at = ld->tree.node[at].next) entry[i] = od_tree_value(&ld->tree, at);
  return true;
}

int od_read_vector(od_loader *ld, int node, const char *path, const char *label, const od_key *key, od_vector_kind kind,
                   const double *fallback, od_place place) {
  int entry[3] = {-1, -1, -1};
  int errors_before = od_messages_errors(ld->messages);
  bool is_vector = vector_nodes(ld, node, label, entry);
  if (node >= 0) place = od_place_of(ld, node);
  int first = ld->document->numbers.count;
  double sum = 0;
  for (int i = 0; i < 3; i++) {
    od_field field = {
        .key = od_format(ld, "%s[%d]", label, i),
        .unit = key->of != NULL ? key->of : "1",
        .range = kind == OD_SIZE ? OD_POSITIVE : OD_ANY,
        .fallback = node < 0 && fallback != NULL ? fallback[i] : 0,
        .limits = &key->limits,
    };
    const char *entry_path = od_format(ld, "%s[%d]", path, i);
    int number = od_read_number(ld, entry[i], entry_path, &field, place, OD_IN_MODEL);
    sum += fabs(od_number_value(ld, number));
  }
  bool sound = is_vector && od_messages_errors(ld->messages) == errors_before;
  if (sound && kind == OD_DIRECTION && sum == 0)
    od_messages_add(ld->messages, place, "'%s' has no direction: all its entries are zero", label);
  if (sound && kind == OD_SIZE && node >= 0 && entry[2] < 0 && !od_number_is_given(ld, first + 2))
    od_messages_add(ld->messages, place, "found a list of 2; '%s' wants three lengths", label);
  return first;
}

int od_read_vector_key(od_loader *ld, const od_section *section, const char *name, od_vector_kind kind,
                       const double *fallback) {
  int node = fallback == NULL ? od_section_need(ld, section, name) : od_section_get(ld, section, name);
  static const double nothing[3] = {0, 0, 1};  // replaces a missing vector: valid for any kind
  return od_read_vector(ld, node, od_path(ld, section->path, name), name, od_key_of(section->of, name), kind,
                        fallback != NULL ? fallback : nothing, od_place_of(ld, section->node));
}

int od_read_two_numbers(od_loader *ld, const od_section *section, const char *key, const char *wanted,
                        const od_field field[2]) {
  int entry[2] = {-1, -1};
  int node = od_section_get(ld, section, key);
  od_read_list(ld, node, key, wanted, 2, entry);
  int first = ld->document->numbers.count;
  for (int i = 0; i < 2; i++)
    od_read_number(ld, entry[i], od_path(ld, section->path, field[i].key), &field[i],
                   od_place_of(ld, node >= 0 ? node : section->node), OD_IN_MODEL);
  bool given = od_number_is_given(ld, first) && od_number_is_given(ld, first + 1);
  if (node < 0 && isnan(field[0].fallback) && !given) od_section_lacks(ld, section, key);
  return first;
}
