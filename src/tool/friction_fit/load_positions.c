// The dependence of a law's factor on the position, in a friction file: 'position' of the section 'truth', and
// 'positions' of the section 'fit'.
#include <math.h>

#include "document/document.h"
#include "document/ranges.h"
#include "friction_fit/friction_loader.h"
#include "friction_fit/friction_sections.h"

static const od_key position_keys[] = {
    {"at", OD_NUMBERS, "m", "positions in ascending order, at most 12", OD_ANY, OD_REQUIRED},
    {"factor", OD_NUMBERS, "1", "factor at each of the positions; linear in between, constant beyond the ends",
     OD_POSITIVE, OD_REQUIRED},
};
const od_section_class od_friction_position_section = {"friction position", "factor of the true law over the position",
                                                       OD_KEYS(position_keys)};

// Reads a list of numbers with the field of a key. Returns the number of entries; 0: an error was reported.
static int read_numbers(od_friction_reader *r, int node, const char *path, od_field field,
                        double out[OD_MOST_POSITIONS]) {
  od_loader *ld = &r->ld;
  int count = 0;
  if (node < 0) return 0;
  if (ld->tree.node[node].kind != OD_TREE_LIST) {
    od_complain(ld, node, "found %s, expected a list of 2 to %d numbers", od_describe(ld, node), OD_MOST_POSITIONS);
    return 0;
  }
  for (int entry = ld->tree.node[node].first; entry >= 0; entry = ld->tree.node[entry].next) {
    if (count == OD_MOST_POSITIONS) {
      od_complain(ld, entry, "found %d numbers in '%s', expected at most %d", od_list_count(ld, node), field.key,
                  OD_MOST_POSITIONS);
      return 0;
    }
    int number =
        od_read_number(ld, entry, od_format(ld, "%s[%d]", path, count), &field, od_place_of(ld, entry), OD_IN_LOADER);
    out[count++] = od_number_value(ld, number);
  }
  if (count < 2) {
    od_complain(ld, node, "found %d numbers in '%s', expected 2 to %d", count, field.key, OD_MOST_POSITIONS);
    return 0;
  }
  return count;
}

static int read_places(od_friction_reader *r, int node, const char *path, od_field field,
                       double out[OD_MOST_POSITIONS]) {
  int count = read_numbers(r, node, path, field, out);
  for (int i = 1; i < count; i++)
    if (!(out[i] > out[i - 1])) {
      od_complain(&r->ld, node, "found the position %g m after %g m; expected positions in ascending order", out[i],
                  out[i - 1]);
      return 0;
    }
  return count;
}

void od_friction_read_true_position(od_friction_reader *r, int node) {
  od_loader *ld = &r->ld;
  od_law_numbers *n = &r->plan->truth;
  if (node < 0 || !n->law) return;
  od_section section =
      od_section_open(ld, node, node, "truth.position", "'position' of 'truth'", &od_friction_position_section);
  if (section.map < 0) return;
  if (od_friction_law_follows(n->law) < 0) {
    od_complain(ld, node, "the law '%s' has no factor that can depend on the position; choose a law with a factor",
                n->law->name);
    return;
  }
  int count = read_places(r, od_section_need(ld, &section, "at"), "truth.position.at", od_key_field(&section, "at"),
                          n->position);
  int factors = read_numbers(r, od_section_need(ld, &section, "factor"), "truth.position.factor",
                             od_key_field(&section, "factor"), n->q + OD_FACTOR_X1);
  if (count > 0 && factors > 0 && count != factors)
    od_complain(ld, node, "found %d positions and %d factors; expected a factor for each position", count, factors);
  else if (count > 0 && factors > 0)
    n->positions = count;
}

void od_friction_read_positions(od_friction_reader *r, const od_section *section) {
  od_loader *ld = &r->ld;
  od_friction_plan *plan = r->plan;
  od_law_numbers *n = &plan->start;
  int node = od_section_get(ld, section, "positions"), normal = od_section_get(ld, section, "normal_position");
  if (node < 0) {
    if (normal >= 0)
      od_complain(ld, normal, "'normal_position' needs 'positions'; add this key, or remove 'normal_position'");
    return;
  }
  if (od_friction_law_follows(n->law) < 0) {
    od_complain(ld, node, "the law '%s' has no factor that can depend on the position; choose a law with a factor",
                n->law->name);
    return;
  }
  n->positions = read_places(r, node, "fit.positions", od_key_field(section, "positions"), n->position);
  plan->normal_position = n->positions / 2;
  if (normal < 0 || n->positions == 0) return;
  double wanted = od_key_value(ld, section, "normal_position");
  for (int k = 0; k < n->positions; k++) {
    plan->normal_position = k;
    if (fabs(n->position[k] - wanted) <= 1e-9) return;
  }
  od_complain(ld, normal, "'normal_position' is %g m; expected one of 'positions'", wanted);
}
