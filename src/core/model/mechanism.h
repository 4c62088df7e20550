// Tables of the mechanism: bodies, points, joints, links, closures, loads and actuators.
//
// Bodies form a tree of links. A link carries at most one body and moves relative to its parent by at most one joint
// coordinate. A universal joint has two links, a spherical joint three and a free joint six; only the last link carries a body.
// Link 0 is the ground; parents come before children. A link's frame has the axes of its body and its origin at the joint's
// point. Joints that would close a loop are cut and become closures: scalar equations between two links.
#ifndef OD_MECHANISM_H
#define OD_MECHANISM_H

#include <stdbool.h>

#include "oleodyn/build.h"

typedef struct od_body {
  int name;
  od_shape shape;
  int number;  // index of the body's first number in theta
  int link;    // index of the link that carries the body
} od_body;

// Returns the count of numbers of a shape, or -1 if there is no such shape.
static inline int od_shape_numbers(od_shape shape) {
  static const int numbers[] = {
      [OD_SHAPE_GENERAL] = 10, [OD_SHAPE_BEAM] = 2, [OD_SHAPE_CYLINDER] = 3, [OD_SHAPE_POINT] = 4, [OD_SHAPE_BOX] = 7};
  return (unsigned)shape < sizeof numbers / sizeof *numbers ? numbers[shape] : -1;
}

typedef struct od_point {
  int name;
  int body;    // OD_GROUND or a body
  int number;  // index in theta of the first of the three coordinates of the point, or -1
  int length;  // index in theta of a length along +x, or -1
  double fraction;
  int link;
} od_point;

typedef struct od_joint {
  int name;
  od_joint_spec spec;
  int link, links;  // tree joints: last link (which carries a body) and number of links; cut joints: -1, 0
  int coordinate;   // first coordinate, or -1
  int coordinates;
} od_joint;

typedef enum od_link_kind { OD_LINK_FIXED, OD_LINK_REVOLUTE, OD_LINK_PRISMATIC, OD_LINK_SCREW } od_link_kind;
typedef struct od_link {
  int parent;
  od_link_kind kind;
  int body;        // index of the body that the link carries, or -1
  int coordinate;  // index of the joint coordinate that moves the link, or -1
  int joint;
  int point_parent;  // the joint's point on the parent; -1: the parent's origin (inner links)
  int point_child;   // the joint's point on this link's body, or -1
  int axis;          // index of the first of the three numbers of the axis in theta; -1: the axis is `unit_axis`
  int unit_axis;
  int across;        // direction of the motion: 0: along the axis; 1, 2: perpendicular to the axis
  int lead;          // screw: index of the travel per turn in theta; otherwise -1
  double axis_sign;  // -1 if the tree goes through the joint from b to a
  int chart;         // first angle of a spherical or free joint: index of the reference rotation; otherwise -1
} od_link;

// Data of a reference rotation: matrix (row-major) and unit quaternion (w x y z). The quaternion has the sign that makes
// quaternions of bodies continuous.
enum { OD_CHART_QUATERNION = 9, OD_CHART_SIZE = 13 };

// Closure equations between link a and link b. d = r_b - r_a is the vector between their points; u is fixed in a, w is fixed in
// b.
typedef enum od_closure_kind {
  OD_CLOSE_POINT,  // d = 0, one row per dimension
  OD_CLOSE_SLIDE,  // u . d = 0
  OD_CLOSE_ROD,    // (d . d - length^2) / (2 length) = 0

  // The other kinds do not use d.
  OD_CLOSE_DOT,   // u . w = 0; for a universal joint, the cosine of the angle between the axes in the zero position
                  // instead of 0
  OD_CLOSE_GEAR,  // z_b - ratio z_a - offset = 0, for two coordinates
} od_closure_kind;
// Rules for a direction that is computed from the numbers of an axis: the axis, or a perpendicular to the axis.
typedef enum od_direction_kind {
  OD_DIR_AXIS,
  OD_DIR_NORMAL_1,
  OD_DIR_NORMAL_2,
  OD_DIR_IN_PLANE,     // planar machines: perpendicular to the axis, in the plane
  OD_DIR_UNIT,         // a coordinate axis
  OD_DIR_UNIT_ACROSS,  // planar machines: perpendicular to a coordinate axis, in the plane
  OD_DIR_CARRIED,      // the second perpendicular of `from`, rotated by the rotation that turns `from` into `axis`
} od_direction_kind;
typedef struct od_direction {
  od_direction_kind kind;
  int axis;  // index in theta, or the coordinate axis (0..2) for OD_DIR_UNIT
  int from;
} od_direction;
typedef struct od_closure {
  od_closure_kind kind;
  int link_a, link_b, point_a, point_b;
  od_direction u, w;
  int length;     // index in theta of the rod's length, or of the gear's ratio; the gear's offset follows the ratio
  int row, rows;  // first row of the closure; number of rows
  // Section of the path table: the links between a and b through the tree, without common ancestors.
  int path, path_count;
  int entry;             // first entry of the closure in the closure Jacobian: row-major rows x path_count
  int joint, rod, gear;  // the joint, rod or gear of the closure; the other two indices are -1
} od_closure;
typedef struct od_path_step {
  int link, side;  // side -1: moves a, +1: moves b
} od_path_step;

typedef struct od_rod {
  int name;
  int point_a, point_b, number;
} od_rod;

typedef struct od_gear {
  int name;
  int joint_a, joint_b, number;
} od_gear;

typedef enum od_load_kind { OD_LOAD_FORCE, OD_LOAD_TORQUE, OD_LOAD_JOINT, OD_LOAD_CONTACT } od_load_kind;
// Numbers of a contact. The normal has the same index as the direction of a force.
enum {
  OD_CONTACT_STIFFNESS,
  OD_CONTACT_NORMAL,
  OD_CONTACT_PLANE = 4,
  OD_CONTACT_DAMPING = 7,
  OD_CONTACT_FRICTION,
  OD_CONTACT_SLIP,
  OD_CONTACT_NUMBERS
};
// A load: a force at a point, a torque on a body, a force or torque in a joint, or a contact of a point with a plane.
typedef struct od_load {
  int name;
  od_load_kind kind;
  int point, link, coordinate;
  int number, input;
  bool follows_body;
} od_load;
// Returns the count of numbers of a load of this kind.
static inline int od_load_numbers(od_load_kind kind) {
  return kind == OD_LOAD_JOINT ? 1 : kind == OD_LOAD_CONTACT ? OD_CONTACT_NUMBERS : 4;
}

// An actuator: a line between two points or a joint coordinate, along which elements exert forces that depend on its length
// and speed.
typedef struct od_actuator {
  int point_a, point_b;  // the two points of a line, or -1
  int coordinate;        // the coordinate of a joint, or -1
  int length_row;        // row of the derivatives of the length; -1: the row is a unit vector, because the coordinate
                         // is independent
} od_actuator;

#endif
