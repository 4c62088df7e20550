// Rods between two points.
#include <math.h>

#include "machine/machine_loader.h"

static od_section open_element(od_loader *ld, int key, const char *noun, const char *const *keys) {
  const char *name = od_text_of(ld, key);
  const char *what = od_format(ld, "the %s '%s'", noun, name);
  return od_section_open(ld, od_value(ld, key), key, name, what, keys);
}

static void load_rod(od_loader *ld, int key, int element) {
  static const char *const keys[] = {"between", "length", NULL};
  static const od_field length = {"length", "m", OD_POSITIVE, NAN};
  od_section section = open_element(ld, key, "rod", keys);
  od_point_ref ends[2];
  bool connected = od_names_find_pair(ld, &section, ends);
  int first = od_read_fields(ld, &section, &length, 1, OD_IN_MODEL);
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
