// 'pressure' in the friction of a cylinder: parameters of the friction follow the pressures in the cylinder's chambers. An inner
// block computes a factor from the pressures. The keys under 'pressure' are the numbers of that block and determine its type.
#include <string.h>

#include "machine/load_blocks.h"
#include "machine/load_circuit.h"
#include "machine/sections.h"

// Lists the numbers of the blocks that compute a factor from pressures.
static bool block_key(int i, od_key *key) {
  static const char *const types[] = {"pressure-factor", "pressure-map", "pressure-table"};
  for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
    const od_block_class *c = od_block_classes[od_block_class_find(types[t])];
    for (int k = 0; k < OD_MOST_BLOCK_FIELDS && c->fields[k].key; k++) {
      const od_block_field *f = &c->fields[k];
      if (t == 2 && strcmp(f->key, "values") == 0) continue;  // a map also has this key
      if (i-- > 0) continue;
      *key = (od_key){
          f->key,   f->shape == OD_ONE_NUMBER ? OD_NUMBER : OD_NUMBERS, f->unit, f->meaning, f->sign, f->fallback,
          f->limits};
      return true;
    }
  }
  return false;
}

const od_section_class od_friction_pressure_section = {
    "friction pressure", "dependence of the friction on the pressures in the chambers: the numbers of a block",
    .more = block_key};

// The type of the block that has a given key.
static const char *type_by_keys(const od_loader *ld, int map) {
  if (od_map_find(ld, map, "at_a") >= 0 || od_map_find(ld, map, "at_b") >= 0) return "pressure-map";
  if (od_map_find(ld, map, "at_sum") >= 0 || od_map_find(ld, map, "values") >= 0) return "pressure-table";
  return "pressure-factor";
}

int od_load_friction_pressure(od_loader *ld, const od_element_class *c, const od_section *friction,
                              const od_section *owner, const int *chambers, int signal) {
  int node = od_section_get(ld, friction, "pressure"), follows = 0;
  if (chambers == NULL) {
    od_complain(ld, node,
                "'pressure' applies only to the friction of a cylinder; use 'factor' for the friction of a joint");
    return signal;
  }
  if (signal >= 0) {
    while (!c->fields[follows].follows_signal) follows++;  // every law has such a number
    od_complain(ld, node, "'%s' follows a signal already; expected 'pressure' or a signal, not both",
                c->fields[follows].key);
    return signal;
  }
  const char *path = od_path(ld, friction->path, "pressure"), *what = od_format(ld, "'pressure' of %s", friction->what);
  if (!od_is_map(ld, node)) {
    od_section_open(ld, node, friction->node, path, what, &od_friction_pressure_section);  // reports the error
    return signal;
  }
  if (chambers[0] < 0 || chambers[1] < 0) return signal;  // the error has been reported already
  od_loading_block block = {.key = node,
                            .block_class = od_block_class_find(type_by_keys(ld, node)),
                            .name = od_format(ld, "%s.friction_factor", owner->path),
                            .path = path,
                            .what = what,
                            .map = node,
                            .unit = "1",
                            .index = OD_NOT_BUILT};
  for (int i = 0; i < 2; i++) block.measures[i] = od_format(ld, "%s.pressure", od_element_at(ld, chambers[i])->name);
  return od_declare_inner_block(ld, block);
}
