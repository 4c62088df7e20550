// Building a model piece by piece: what the machine-file loader calls, and what a C program may call instead.
//
// Every number goes into one flat vector theta through od_build_number(), which gives it a path; elements refer to
// numbers by their index there. Elements are referred to by the index that adding them returned. The ground is body -1.
// od_build_finish() checks the whole, finds the tree and the loops, assembles the mechanism and hands out an
// immutable model. All problems are collected (od_build_problem()); od_error holds the first of them.
#ifndef OD_MODEL_BUILD_H
#define OD_MODEL_BUILD_H

#include <stdbool.h>

#include "oleodyn/status.h"

typedef struct od_build od_build;
typedef struct od_model od_model;

enum { OD_GROUND = -1 };

od_build *od_build_new(void);
void od_build_free(od_build *b);
void od_build_title(od_build *b, const char *title);

// Adds a number to theta: its path ("crank.beam.length"), its value in SI and its SI unit ("m"). Returns its index.
// Consecutive calls give consecutive indices; elements with several numbers want them consecutive.
int od_build_number(od_build *b, const char *path, double value, const char *unit);

// The three numbers of gravity (m/s2), in ground axes.
void od_build_gravity(od_build *b, int first_number);

// Bodies. The numbers each shape wants, in this order, all in the body's own frame:
typedef enum od_shape {
  OD_SHAPE_GENERAL,   // mass, centre[3], inertia about the centre: xx yy zz xy xz yz (products of inertia as in the tensor)
  OD_SHAPE_BEAM,      // mass, length: slender, from the body's origin along +x
  OD_SHAPE_CYLINDER,  // mass, length, radius: solid, from the body's origin along +x
  OD_SHAPE_POINT,     // mass, position[3]
  OD_SHAPE_BOX,       // mass, size[3], centre[3]
} od_shape;
int od_build_body(od_build *b, const char *name, od_shape shape, int first_number);

// Points. A point sits at theta[first_number .. +2] (or the origin when -1) plus fraction * theta[length_number] along
// +x (nothing when length_number is -1): that is how a beam's end follows its length.
int od_build_point(od_build *b, const char *name, int body, int first_number, int length_number, double fraction);

// Joints connect point_a (on body a) with point_b (on body b). In the zero position the two bodies' axes are parallel.
// Coordinates measure b relative to a. Axis numbers: three theta entries, in the frame of body a for axis_a, of body b for axis_b.
//   revolute, prismatic: axis_a; axis_b is used only when the joint closes a loop (-1: same components as axis_a)
//   universal: axis_a fixed in body a, axis_b fixed in body b
//   spherical, fixed: none (-1)
typedef enum od_joint_type {
  OD_REVOLUTE,
  OD_PRISMATIC,
  OD_UNIVERSAL,
  OD_SPHERICAL,
  OD_FIXED,
} od_joint_type;
typedef struct od_joint_spec {
  od_joint_type type;
  int point_a, point_b;
  int axis_a, axis_b;
  bool cut;         // always a loop closure, even where the tree could use it
  bool independent; // prefer this joint's coordinates as independent ones
} od_joint_spec;
int od_build_joint(od_build *b, const char *name, const od_joint_spec *spec);

// A massless rod of fixed length between two points: one closure equation. One number: length.
int od_build_rod(od_build *b, const char *name, int point_a, int point_b, int first_number);

// A spring-damper between two points. Numbers: stiffness (N/m), damping (N s/m), free length (m), preload (N, tension positive).
int od_build_spring(od_build *b, const char *name, int point_a, int point_b, int first_number);

// A spring-damper in a revolute or prismatic joint. Numbers: stiffness, damping, free position, preload.
int od_build_joint_spring(od_build *b, const char *name, int joint, int first_number);

// An input of the machine; its value over time comes from outside (a signal, a log, a controller).
int od_build_input(od_build *b, const char *name, const char *unit);

// A force at a point, value * direction. Numbers: value (N), direction[3] (normalised when used). When input >= 0 the
// value is multiplied by that input. Direction in ground axes, or in the body's when follows_body.
int od_build_force(od_build *b, const char *name, int point, int first_number, int input, bool follows_body);

// A torque (or force) in a revolute (prismatic) joint, acting on b and against a. Numbers: value. Input as above.
int od_build_joint_force(od_build *b, const char *name, int joint, int first_number, int input);

// A torque on a body. Numbers: value (N m), direction[3]. Input and follows_body as for forces.
int od_build_torque(od_build *b, const char *name, int body, int first_number, int input, bool follows_body);

// The initial state. quantity is an output's name ("A.angle", "spring.length", "A.rate"); exact values are met
// exactly, the others are rough and choose the branch. Every joint coordinate of the tree needs one. Positions that no
// exact value decides stay as near to the rough ones as the loops allow; likewise rates, which are zero unless given.
void od_build_initial(od_build *b, const char *quantity, double value, bool exact);

// Checks, compiles and assembles. On failure *out is NULL and err says why.
od_status od_build_finish(od_build *b, od_model **out, od_error *err);

// Everything that od_build_finish() found wrong, each with the element it is about, for the loader's file:line:column.
typedef enum od_culprit_kind {
  OD_ABOUT_MACHINE, OD_ABOUT_BODY, OD_ABOUT_JOINT, OD_ABOUT_ROD, OD_ABOUT_SPRING, OD_ABOUT_JOINT_SPRING, OD_ABOUT_INITIAL,
} od_culprit_kind;
typedef struct od_problem {
  od_culprit_kind kind;
  int index;
  const char *text;
} od_problem;
int od_build_problem_count(const od_build *b);
od_problem od_build_problem(const od_build *b, int i);
// The first of them.
void od_build_culprit(const od_build *b, od_culprit_kind *kind, int *index);

// Treats a planar machine as a spatial one (to compare, or because it is going to be made so).
void od_build_spatial(od_build *b, bool spatial);

void od_model_free(od_model *model);

#endif
