// The types of joints as a table: their names, axes and coordinates. The tree has one link per coordinate.
#ifndef OD_JOINT_TYPES_H
#define OD_JOINT_TYPES_H

#include "model/model.h"

enum { OD_MOST_JOINT_COORDINATES = 6 };

// The axis of a coordinate's rotation or translation, in the frame of the first body.
typedef enum od_axis_rule {
  OD_ALONG_A,  // the joint's first axis
  OD_ALONG_B,  // the joint's second axis
  // Two directions perpendicular to the first axis. First axis z: x and y. First axis x: y and z. First axis y: z and x.
  OD_ACROSS_1,
  OD_ACROSS_2,
  OD_ALONG_X,
  OD_ALONG_Y,
  OD_ALONG_Z,
} od_axis_rule;

typedef struct od_joint_coordinate {
  od_link_kind kind;
  od_axis_rule axis;
  const char *label[3];  // names of the coordinate, its rate and its acceleration
  bool
      hidden;  // whether the meaning of the coordinate changes with the reference rotation; such a coordinate is used only for
               // initial values
} od_joint_coordinate;

typedef struct od_joint_class {
  const char *name;
  bool axis, axes;  // whether the joint has one axis; whether it needs two axes
  bool drives;  // whether springs, friction, torques and motors may act in the joint; such a joint has one coordinate
  bool closes;  // whether the joint can close a loop
  int coordinates;
  int chart;  // index of the coordinate that is the first of the three angles of a spherical joint; -1: none
  od_joint_coordinate coordinate[OD_MOST_JOINT_COORDINATES];
} od_joint_class;

// Returns the class of a joint type, or NULL if there is no such type.
const od_joint_class *od_joint_class_of(od_joint_type type);

// Returns whether the coordinate of a joint with one coordinate is an angle.
static inline bool od_joint_turns(od_joint_type type) {
  return od_joint_class_of(type)->coordinate[0].kind != OD_LINK_PRISMATIC;
}

#endif
