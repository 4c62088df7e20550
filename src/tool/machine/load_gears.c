// Gears, racks and pinions: ideal couplings of the coordinates of two joints.
#include "machine/machine_loader.h"
#include "machine/sections.h"
#include "model/joint_types.h"

static const od_key keys[] = {
    {"joints", OD_TEXTS, NULL, "two joints of the tree", .fallback = OD_REQUIRED},
    {"ratio", OD_NUMBER, NULL, "coordinate of the second per coordinate of the first: 1, m/rad or rad/m", OD_ANY,
     OD_REQUIRED},
    {"offset", OD_NUMBER, NULL, "coordinate of the second where that of the first is zero"},
};
const od_section_class od_gear_section = {"gear", "coordinates of two joints in a fixed ratio", OD_KEYS(keys)};

// The two joints of a gear; false with messages.
static bool find_joints(od_loader *ld, const od_section *section, const od_element *joint[2]) {
  int entry[2] = {-1, -1};
  bool ok = od_read_list(ld, od_section_need(ld, section, "joints"), "joints", "the names of two joints", 2, entry);
  for (int i = 0; i < 2; i++) {
    const char *text = entry[i] >= 0 ? od_read_text(ld, entry[i], "joints", "the name of a joint") : NULL;
    int found = text ? od_names_find(ld, entry[i], text, OD_ELEMENT_JOINT) : -1;
    joint[i] = found >= 0 ? &ld->draft->names.element[found] : NULL;
    if (!joint[i] || joint[i]->broken || joint[i]->index == OD_NOT_BUILT) {
      ok = false;
    } else if (!od_joint_class_of(joint[i]->type)->drives) {
      od_complain(ld, entry[i], "gears couple revolute, prismatic and screw joints; '%s' is none of them", text);
      ok = false;
    }
  }
  if (ok && joint[0] == joint[1]) {
    od_complain(ld, entry[1], "%s couples '%s' with itself; expected two different joints", section->what,
                joint[0]->name);
    ok = false;
  }
  return ok;
}

static void load_gear(od_loader *ld, int key, int element) {
  const char *name = od_text_of(ld, key);
  od_section section =
      od_section_open(ld, od_value(ld, key), key, name, od_format(ld, "the gear '%s'", name), &od_gear_section);
  const od_element *joint[2];
  if (!find_joints(ld, &section, joint)) return;
  bool first = od_joint_turns(joint[0]->type), second = od_joint_turns(joint[1]->type);
  const char *per = first == second ? "1" : second ? "rad/m" : "m/rad";
  int number = od_read_key_in(ld, &section, "ratio", per, OD_IN_MODEL);
  od_read_key_in(ld, &section, "offset", second ? "rad" : "m", OD_IN_MODEL);
  int index = od_build_gear(ld->draft->build, name, joint[0]->index, joint[1]->index, od_number_theta(ld, number));
  ld->draft->names.element[element].index = index;
  od_remember(ld, OD_ABOUT_GEAR, index, key);
}

void od_load_gears(od_loader *ld, int node) {
  for (int key = od_first(ld, node, "gears"); key >= 0; key = od_next(ld, key)) {
    int element = od_names_declare(ld, key, OD_ELEMENT_GEAR);
    if (element >= 0) load_gear(ld, key, element);
  }
}
