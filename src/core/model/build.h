// Building a model piece by piece: what the machine-file loader calls, and what a C program may call instead.
//
// Every number goes into one flat vector theta through od_build_number(), which gives it a path; elements refer to
// numbers by their index there. Elements are referred to by the index that adding them returned. The ground is body -1.
// od_build_finish() checks the whole, finds the tree and the loops, assembles the mechanism and hands out an
// immutable model. All problems are collected (od_build_problem()); od_error holds the first of them.
#ifndef OD_MODEL_BUILD_H
#define OD_MODEL_BUILD_H

#include <stdbool.h>

#include "blocks/block_classes.h"
#include "elements/elements.h"
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
  OD_SHAPE_GENERAL,   // mass, centre[3], inertia tensor about the centre: xx yy zz xy xz yz
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
// Coordinates measure b relative to a. Axis numbers: three theta entries, in the frame of body a for axis_a, of body b
// for axis_b.
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
  bool cut;          // always a loop closure, even where the tree could use it
  bool independent;  // prefer this joint's coordinates as independent ones
} od_joint_spec;
int od_build_joint(od_build *b, const char *name, const od_joint_spec *spec);

// A massless rod of fixed length between two points: one closure equation. One number: length.
int od_build_rod(od_build *b, const char *name, int point_a, int point_b, int first_number);

// An input of the machine; its value over time comes from outside (a signal, a log, a controller).
int od_build_input(od_build *b, const char *name, const char *unit);  // -1: too late, there are blocks already
// Its value at the start, for the static balance of the initial state (zero unless told).
void od_build_input_start(od_build *b, int input, double value);
// Wherever an element below takes an input it may be any signal: an input, or an output of a block.

// A force at a point, value * direction. Numbers: value (N), direction[3] (normalised when used). When input >= 0 the
// value is multiplied by that input. Direction in ground axes, or in the body's when follows_body.
int od_build_force(od_build *b, const char *name, int point, int first_number, int input, bool follows_body);

// A torque (or force) in a revolute (prismatic) joint, acting on b and against a. Numbers: value. Input as above.
int od_build_joint_force(od_build *b, const char *name, int joint, int first_number, int input);

// A torque on a body. Numbers: value (N m), direction[3]. Input and follows_body as for forces.
int od_build_torque(od_build *b, const char *name, int body, int first_number, int input, bool follows_body);

// ---- the hydraulic circuit

// The oil. Numbers: density (kg/m3), smoothing (Pa: orifices are smooth where the pressure difference is smaller than
// this), then what the law of its bulk modulus wants:
typedef enum od_oil_law {
  OD_OIL_CONSTANT,  // modulus (Pa)
  OD_OIL_LINEAR,    // kp (Pa), k0: modulus kp + k0 p
  OD_OIL_AIR,  // modulus of the liquid, volume fraction of air, the pressure (Pa) at which that is, polytropic exponent
} od_oil_law;
void od_build_oil(od_build *b, od_oil_law law, int first_number);

// Nodes of the circuit. Numbers: a volume's volume (m3; cylinder chambers add theirs), a tank's or source's pressure
// (Pa), which for a source is multiplied by the input if there is one (else input = -1).
typedef enum od_node_kind { OD_NODE_VOLUME, OD_NODE_TANK, OD_NODE_SOURCE } od_node_kind;
int od_build_node(od_build *b, const char *name, od_node_kind kind, int first_number, int input);

// An instance of an element class (elements/elements.h): its name, or "" where it belongs to another one. Its numbers stand
// in the order of its class's fields. What is not needed stays OD_UNUSED, which is what od_element_spec_of() begins with.
enum { OD_UNUSED = -1 };
typedef struct od_element_spec {
  int element_class;
  int first_number, numbers;  // numbers: only where the class leaves their count to the instance
  int end[OD_MOST_ENDS];      // nodes; an optional one may be OD_UNUSED
  int point_a, point_b;       // of one that acts between points
  int joint;                  // of one that acts in a joint; revolute and prismatic joints of the tree
  int host;                   // the instance that it belongs to
  int signal;                 // what it listens to
  int choice[OD_MOST_ELEMENT_CHOICES];
} od_element_spec;
od_element_spec od_element_spec_of(const char *class_name);
int od_build_element(od_build *b, const char *name, const od_element_spec *spec);

// ---- blocks: signals made of signals (blocks/block.h)

// Adds a block; returns its index. `unit` is that of its first output. All inputs of the machine come before.
int od_build_block(od_build *b, const char *name, const od_block_spec *spec, const char *unit);
// The signal of a block's output: the index to use in place of an input's.
int od_build_block_signal(const od_build *b, int block, int output);
// What its inputs are connected to: an input, a block's output, or a quantity of the machine that depends on states
// alone ("A.angle", "P.pressure"), by name. Inputs that are not connected are zero.
void od_build_block_input(od_build *b, int block, int place, int signal);
void od_build_block_measures(od_build *b, int block, int place, const char *quantity);
void od_build_block_numbers(od_build *b, int block, int first_number);
const od_block_spec *od_build_block_spec(const od_build *b, int block);
// Names of a block's outputs and states behind the block's own; "" for the block's name alone.
int od_build_block_output_count(const od_build *b, int block);
const char *od_build_block_output_name(const od_build *b, int block, int output);
int od_build_block_state_count(const od_build *b, int block);
const char *od_build_block_state_name(const od_build *b, int block, int state);

// The initial state. quantity is an output's name ("A.angle", "spring.length", "A.rate"); exact values are met
// exactly, the others are rough and choose the branch. Every joint coordinate of the tree needs one. Positions that no
// exact value decides stay as near to the rough ones as the loops allow; likewise rates, which are zero unless given.
// Every volume needs a pressure ("P.pressure"); spools ("valve.spool") and states of blocks are zero unless given.
void od_build_initial(od_build *b, const char *quantity, double value, bool exact);
// A quantity that is to be found such that the machine is in static balance; value is where the search begins. Joint
// coordinates and pressures can be balanced together: as many as the machine has degrees of freedom make the
// accelerations zero; balanced pressures beyond that get zero rates as well, and so do balanced states of blocks.
void od_build_balance(od_build *b, const char *quantity, double value);

// Checks, compiles and assembles. On failure *out is NULL and err says why.
od_status od_build_finish(od_build *b, od_model **out, od_error *err);

// Everything that od_build_finish() found wrong, each with the element it is about, for the loader's file:line:column.
typedef enum od_culprit_kind {
  OD_ABOUT_MACHINE,
  OD_ABOUT_BODY,
  OD_ABOUT_JOINT,
  OD_ABOUT_ROD,
  OD_ABOUT_INITIAL,
  OD_ABOUT_NODE,
  OD_ABOUT_ELEMENT,
  OD_ABOUT_BLOCK,
} od_culprit_kind;
typedef struct od_problem {
  od_culprit_kind kind;
  int index;
  const char *text;
} od_problem;
int od_build_problem_count(const od_build *b);
od_problem od_build_problem(const od_build *b, int i);

// Treats a planar machine as a spatial one (to compare, or because it is going to be made so).
void od_build_spatial(od_build *b, bool spatial);

void od_model_free(od_model *model);

#endif
