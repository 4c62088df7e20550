// The section 'map' of a friction file: the pairs of pressures at which a run is fitted.
#include <string.h>

#include "document/document.h"
#include "document/quantities.h"
#include "document/suggest.h"
#include "friction_fit/friction_loader.h"
#include "friction_fit/friction_sections.h"

static const od_key run_keys[] = {
    {"p1", OD_NUMBER, "Pa", "pressure of the first chamber", OD_NOT_NEGATIVE, OD_REQUIRED},
    {"p2", OD_NUMBER, "Pa", "pressure of the second chamber", OD_NOT_NEGATIVE, OD_REQUIRED},
    {"log", OD_TEXT, NULL, "file with the log of the run", .fallback = OD_REQUIRED}};
static const od_section_class run_section = {"friction map run", "log at one pair of pressures", OD_KEYS(run_keys)};

static const od_key keys[] = {
    {"p1", OD_NUMBERS, "Pa", "pressures of the first chamber", OD_NOT_NEGATIVE, .otherwise = "required without `runs`"},
    {"p2", OD_NUMBERS, "Pa", "pressures of the second chamber", OD_NOT_NEGATIVE,
     .otherwise = "required without `runs`"},
    {"normal", OD_NUMBERS, "Pa", "pressures of the two chambers at which the numbers are valid", OD_NOT_NEGATIVE,
     OD_REQUIRED},
    {"form", OD_CHOICE, "linear|saturating|table", "form of the dependence of numbers on the pressures"},
    {"change", OD_SECTION, NULL, "relative change of numbers of the true law per pressure, for each chamber"},
    {"limit", OD_NUMBER, "Pa", "saturation pressure of the true dependence", OD_POSITIVE, 0, .otherwise = "none"},
    {"runs", OD_SECTIONS, NULL, "logs at pairs of pressures", .inside = &run_section},
};
const od_section_class od_friction_map_section = {"friction map", "pairs of chamber pressures at which a run is fitted",
                                                  OD_KEYS(keys)};

static double read_pressure(od_friction_reader *r, const od_section *section, const char *key, int node,
                            const char *path) {
  od_field field = od_key_field(section, key);
  field.key = "pressure";
  return od_number_value(&r->ld, od_read_number(&r->ld, node, path, &field, od_place_of(&r->ld, node), OD_IN_LOADER));
}

static int read_axis(od_friction_reader *r, const od_section *section, const char *key, double *out) {
  od_loader *ld = &r->ld;
  int node = od_section_need(ld, section, key), count = 0;
  if (node < 0) return 0;
  if (ld->tree.node[node].kind != OD_TREE_LIST) {
    od_complain(ld, node, "found %s, expected a list of pressures", od_describe(ld, node));
    return 0;
  }
  for (int entry = ld->tree.node[node].first; entry >= 0; entry = ld->tree.node[entry].next, count++) {
    if (count == OD_MOST_AXIS) {
      od_complain(ld, entry, "found %d pressures of a chamber, expected at most %d", od_list_count(ld, node),
                  OD_MOST_AXIS);
      return count;
    }
    out[count] = read_pressure(r, section, key, entry, od_format(ld, "map.%s[%d]", key, count));
  }
  return count;
}

// Reads { Fs: [0.5 1/bar, 0.5 %/bar] }: the relative change of a number of the true law per pressure of each chamber. The
// change applies to both directions unless the key ends in _negative.
static void read_change(od_friction_reader *r, int key) {
  static const od_field field = {"change", "1/Pa", OD_ANY, 0};
  od_loader *ld = &r->ld;
  od_map_plan *map = &r->plan->map;
  const char *name = od_text_of(ld, key);
  const od_friction_law *law = r->plan->truth.law;
  int place = od_law_key(law, name), pair[2], base = law->sided + law->common;
  if (place < 0) {
    od_friction_complain_no_number(r, key, law, law->element->field_count, name);
    return;
  }
  if (!od_read_list(ld, od_value(ld, key), name,
                    "a list of two relative changes per pressure, one for each chamber, such as [0.5 %/bar, 0.5 %/bar]",
                    2, pair))
    return;
  od_map_change change = {.number = place};
  for (int c = 0; c < 2; c++)
    change.by[c] = od_number_value(ld, od_read_number(ld, pair[c], od_format(ld, "map.change.%s[%d]", name, c), &field,
                                                      od_place_of(ld, pair[c]), OD_IN_LOADER));
  map->change[map->changes++] = change;
  if (place < law->sided && r->plan->truth.two_sided && map->changes < OD_MOST_LAW_NUMBERS) {
    change.number = base + place;
    map->change[map->changes++] = change;
  }
}

static void read_runs(od_friction_reader *r, int node) {
  od_loader *ld = &r->ld;
  od_map_plan *map = &r->plan->map;
  if (ld->tree.node[node].kind != OD_TREE_LIST) {
    od_complain(ld, node, "found %s, expected a list of runs", od_describe(ld, node));
    return;
  }
  for (int entry = ld->tree.node[node].first; entry >= 0; entry = ld->tree.node[entry].next) {
    if (map->pairs == OD_MOST_PAIRS) {
      od_complain(ld, entry, "found %d runs, expected at most %d", od_list_count(ld, node), OD_MOST_PAIRS);
      return;
    }
    od_section run =
        od_section_open(ld, entry, entry, od_format(ld, "map.runs[%d]", map->pairs), "a run of the map", &run_section);
    int p1 = od_section_need(ld, &run, "p1"), p2 = od_section_need(ld, &run, "p2"),
        log = od_section_need(ld, &run, "log");
    const char *file = log >= 0 ? od_read_text(ld, log, "log", "a file") : NULL;
    if (p1 < 0 || p2 < 0 || !file) continue;
    map->pressure[map->pairs][0] = read_pressure(r, &run, "p1", p1, od_path(ld, run.path, "p1"));
    map->pressure[map->pairs][1] = read_pressure(r, &run, "p2", p2, od_path(ld, run.path, "p2"));
    map->log[map->pairs++] = od_document_beside(ld, log, file);
  }
}

void od_friction_read_map(od_friction_reader *r, int node) {
  od_loader *ld = &r->ld;
  od_map_plan *map = &r->plan->map;
  double axis[2][OD_MOST_AXIS];
  int count[2];
  if (node < 0) return;
  od_section section = od_section_open(ld, node, node, "map", "map", &od_friction_map_section);
  if (section.map < 0) return;
  map->given = true;
  map->form = (od_map_form)od_key_setting(ld, &section, "form");
  map->limit = od_key_value(ld, &section, "limit");
  od_field normal = od_key_field(&section, "normal");
  normal.key = "pressure";
  od_friction_read_pair(r, od_section_need(ld, &section, "normal"), "map.normal", "two pressures", &normal,
                        map->normal);
  int runs = od_section_get(ld, &section, "runs");
  if (runs >= 0) {
    read_runs(r, runs);
  } else {
    count[0] = read_axis(r, &section, "p1", axis[0]), count[1] = read_axis(r, &section, "p2", axis[1]);
    for (int i = 0; i < count[0]; i++)
      for (int k = 0; k < count[1]; k++) {
        map->pressure[map->pairs][0] = axis[0][i];
        map->pressure[map->pairs++][1] = axis[1][k];
      }
    if (!r->plan->simulates) od_complain(ld, node, "a map without 'runs' is simulated; add the section 'truth'");
  }
  int change = od_section_get(ld, &section, "change");
  for (int key = change >= 0 && r->plan->simulates ? od_first(ld, change, "changes") : -1; key >= 0;
       key = od_next(ld, key))
    if (map->changes < OD_MOST_LAW_NUMBERS) read_change(r, key);
}
