#include "model/joint_types.h"

#define TURN(axis, number) \
  { OD_LINK_REVOLUTE, axis, {"angle" number, "rate" number, "acceleration" number}, false }
#define SLIDE(axis, number) \
  { OD_LINK_PRISMATIC, axis, {"position" number, "rate" number, "acceleration" number}, false }
#define SCREW(axis) \
  { OD_LINK_SCREW, axis, {"angle", "rate", "acceleration"}, false }
#define SHIFT(axis, letter) \
  { OD_LINK_PRISMATIC, axis, {letter, "v" letter, "a" letter}, false }
#define BALL                                                                        \
  {OD_LINK_REVOLUTE, OD_ALONG_X, {"angle1", "rate1", "acceleration1"}, true},       \
      {OD_LINK_REVOLUTE, OD_ALONG_Y, {"angle2", "rate2", "acceleration2"}, true}, { \
    OD_LINK_REVOLUTE, OD_ALONG_Z, {"angle3", "rate3", "acceleration3"}, true        \
  }

// Entries are in the order of od_joint_type.
static const od_joint_class classes[] = {
    {.name = "revolute",
     .axis = true,
     .drives = true,
     .closes = true,
     .coordinates = 1,
     .chart = -1,
     .coordinate = {TURN(OD_ALONG_A, "")}},
    {.name = "prismatic",
     .axis = true,
     .drives = true,
     .closes = true,
     .coordinates = 1,
     .chart = -1,
     .coordinate = {SLIDE(OD_ALONG_A, "")}},
    {.name = "universal",
     .axes = true,
     .closes = true,
     .coordinates = 2,
     .chart = -1,
     .coordinate = {TURN(OD_ALONG_A, "1"), TURN(OD_ALONG_B, "2")}},
    {.name = "spherical", .closes = true, .coordinates = 3, .chart = 0, .coordinate = {BALL}},
    {.name = "fixed", .closes = true, .coordinates = 0, .chart = -1},
    {.name = "cylindrical",
     .axis = true,
     .closes = true,
     .coordinates = 2,
     .chart = -1,
     .coordinate = {SLIDE(OD_ALONG_A, "1"), TURN(OD_ALONG_A, "2")}},
    {.name = "planar",
     .axis = true,
     .closes = true,
     .coordinates = 3,
     .chart = -1,
     .coordinate = {SLIDE(OD_ACROSS_1, "1"), SLIDE(OD_ACROSS_2, "2"), TURN(OD_ALONG_A, "3")}},
    {.name = "screw", .axis = true, .drives = true, .coordinates = 1, .chart = -1, .coordinate = {SCREW(OD_ALONG_A)}},
    {.name = "free",
     .coordinates = 6,
     .chart = 3,
     .coordinate = {SHIFT(OD_ALONG_X, "x"), SHIFT(OD_ALONG_Y, "y"), SHIFT(OD_ALONG_Z, "z"), BALL}},
};

const od_joint_class *od_joint_class_of(od_joint_type type) {
  return (size_t)type < sizeof classes / sizeof *classes ? &classes[type] : NULL;
}
