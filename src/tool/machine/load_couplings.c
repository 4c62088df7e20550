// Loads couplings: rods between two points, and gears, racks and pinions between the coordinates of two joints.
#include "document/ranges.h"
#include "machine/machine_loader.h"
#include "machine/sections.h"
#include "model/joint_types.h"

static const od_key rod_keys[] = {
    {"between", OD_TEXTS, NULL, "the two points that the rod connects", .fallback = OD_REQUIRED},
    {"length", OD_NUMBER, "m", "distance between the points", OD_POSITIVE, OD_REQUIRED, OD_RANGE_LENGTH},
};
const od_section_class od_rod_section = {"rod", "a massless rod of fixed length, which closes a loop",
                                         OD_KEYS(rod_keys)};

static const od_key gear_keys[] = {
    {"joints", OD_TEXTS, NULL, "two joints that do not close a loop", .fallback = OD_REQUIRED},
    {"ratio", OD_NUMBER, NULL, "coordinate of the second joint per coordinate of the first joint: 1, m/rad or rad/m",
     OD_ANY, OD_REQUIRED},
    {"offset", OD_NUMBER, NULL, "coordinate of the second joint when the coordinate of the first joint is zero"},
};
const od_section_class od_gear_section = {"gear", "a fixed ratio between the coordinates of two joints",
                                          OD_KEYS(gear_keys)};

void od_load_rod(od_loader *ld, int key, int element) {
  od_section section = od_open_element(ld, key, element, &od_rod_section);
  od_point_ref ends[2];
  bool connected = od_names_find_pair(ld, &section, ends);
  int first = od_read_keys(ld, &section, OD_IN_MODEL, "length", NULL);
  if (!connected || ends[0].point < 0 || ends[1].point < 0) return;
  od_element *rod = od_element_at(ld, element);
  rod->index = od_build_rod(ld->draft->build, rod->name, ends[0].point, ends[1].point, od_number_theta(ld, first));
  od_remember(ld, OD_ABOUT_ROD, rod->index, key);
}

// Finds the two joints of a gear. On failure reports errors and returns false.
static bool find_joints(od_loader *ld, const od_section *section, const od_element *joint[2]) {
  int entry[2] = {-1, -1};
  bool ok = od_read_list(ld, od_section_need(ld, section, "joints"), "joints", "the names of two joints", 2, entry);
  for (int i = 0; i < 2; i++) {
    const char *text = od_read_text(ld, entry[i], "joints", "the name of a joint");
    int found = text ? od_names_find(ld, entry[i], text, OD_ELEMENT_JOINT) : -1;
    joint[i] = found >= 0 ? od_element_at(ld, found) : NULL;
    if (!joint[i] || joint[i]->broken || joint[i]->index == OD_NOT_BUILT) {
      ok = false;
    } else if (!od_joint_class_of(joint[i]->type)->drives) {
      od_complain(ld, entry[i], "a gear cannot couple '%s', a %s joint; expected a revolute, prismatic or screw joint",
                  text, od_joint_class_of(joint[i]->type)->name);
      ok = false;
    }
  }
  if (!ok || joint[0] != joint[1]) return ok;
  od_complain(ld, entry[1], "%s couples '%s' with itself; expected two different joints", section->what,
              joint[0]->name);
  return false;
}

void od_load_gear(od_loader *ld, int key, int element) {
  od_section section = od_open_element(ld, key, element, &od_gear_section);
  const od_element *joint[2];
  if (!find_joints(ld, &section, joint)) return;
  bool first = od_joint_turns(joint[0]->type), second = od_joint_turns(joint[1]->type);
  const char *per = first == second ? "1" : second ? "rad/m" : "m/rad";
  int number = od_read_key_in(ld, &section, "ratio", per, OD_IN_MODEL);
  od_read_key_in(ld, &section, "offset", second ? "rad" : "m", OD_IN_MODEL);
  od_element *gear = od_element_at(ld, element);
  gear->index =
      od_build_gear(ld->draft->build, gear->name, joint[0]->index, joint[1]->index, od_number_theta(ld, number));
  od_remember(ld, OD_ABOUT_GEAR, gear->index, key);
}
