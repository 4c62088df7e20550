// Rods and springs: what acts between two points.
#include <math.h>

#include "machine/draft.h"

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

static void load_spring(od_loader *ld, int key, int element) {
  static const char *const keys[] = {"between", "stiffness", "damping", "length", "preload", NULL};
  enum { STIFFNESS, DAMPING, LENGTH, PRELOAD, FIELDS };
  static const od_field fields[FIELDS] = {
      [STIFFNESS] = {"stiffness", "N/m", OD_ANY, 0},
      [DAMPING] = {"damping", "N s/m", OD_NOT_NEGATIVE, 0},
      [LENGTH] = {"length", "m", OD_NOT_NEGATIVE, 0},
      [PRELOAD] = {"preload", "N", OD_ANY, 0},
  };
  od_section section = open_element(ld, key, "spring", keys);
  od_point_ref ends[2];
  bool connected = od_names_find_pair(ld, &section, ends);
  int first = od_read_fields(ld, &section, fields, FIELDS, OD_IN_MODEL);
  bool acts = od_number_is_given(ld, first + STIFFNESS) || od_number_is_given(ld, first + DAMPING) ||
              od_number_is_given(ld, first + PRELOAD);
  if (!acts && section.map >= 0) od_complain(ld, key, "%s needs 'stiffness', 'damping' or 'preload'", section.what);
  if (!connected || ends[0].point < 0 || ends[1].point < 0) return;
  od_element *spring = &ld->draft->names.element[element];
  spring->index =
      od_build_spring(ld->draft->build, spring->name, ends[0].point, ends[1].point, od_number_theta(ld, first));
  od_remember(ld, OD_ABOUT_SPRING, spring->index, key);
}

void od_load_springs(od_loader *ld, int node) {
  for (int key = od_first(ld, node, "springs"); key >= 0; key = od_next(ld, key)) {
    int element = od_names_declare(ld, key, OD_ELEMENT_SPRING);
    if (element >= 0) load_spring(ld, key, element);
  }
}
