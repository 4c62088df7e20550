// Rods between two points.
#include "document/ranges.h"
#include "machine/machine_loader.h"
#include "machine/sections.h"

static const od_key keys[] = {
    {"between", OD_TEXTS, NULL, "two points", .fallback = OD_REQUIRED},
    {"length", OD_NUMBER, "m", "distance of the points", OD_POSITIVE, OD_REQUIRED, OD_RANGE_LENGTH},
};
const od_section_class od_rod_section = {"rod", "massless, of fixed length: it closes a loop", OD_KEYS(keys)};

static void load_rod(od_loader *ld, int key, int element) {
  const char *name = od_text_of(ld, key);
  od_section section =
      od_section_open(ld, od_value(ld, key), key, name, od_format(ld, "the rod '%s'", name), &od_rod_section);
  od_point_ref ends[2];
  bool connected = od_names_find_pair(ld, &section, ends);
  int first = od_read_keys(ld, &section, OD_IN_MODEL, "length", NULL);
  if (!connected || ends[0].point < 0 || ends[1].point < 0) return;
  od_element *rod = &ld->draft->names.element[element];
  rod->index = od_build_rod(ld->draft->build, rod->name, ends[0].point, ends[1].point, od_number_theta(ld, first));
  od_remember(ld, OD_ABOUT_ROD, rod->index, key);
}

void od_load_rods(od_loader *ld, int node) {
  for (int key = od_first(ld, node, "rods"); key >= 0; key = od_next(ld, key)) {
    int element = od_names_declare(ld, key, OD_ELEMENT_ROD);
    if (element >= 0) load_rod(ld, key, element);
  }
}
