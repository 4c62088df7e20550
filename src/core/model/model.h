// The compiled machine: tables, written once by od_build_finish() and only read afterwards, by any number of threads.
//
// Bodies hang in a tree of links. A link carries at most one body and moves against its parent by at most one joint
// coordinate: a universal joint is two links, a spherical one three, a free one six, the inner ones without a body. Link 0 is the
// ground; parents come before children. A link's frame has the axes of its body and its origin in the joint's point.
// Joints that would close a loop are cut and come back as closures: scalar equations between two links.
#ifndef OD_MODEL_H
#define OD_MODEL_H

#include <stdbool.h>

#include "blocks/block_classes.h"
#include "elements/elements.h"
#include "oleodyn/build.h"
#include "model/layout.h"
#include "model/step_pattern.h"
#include "model/tree_states.h"
#include "oleodyn/plant.h"

typedef struct od_body {
  const char *name;
  od_shape shape;
  int number;  // first of its numbers in theta
  int link;    // the link that carries it
} od_body;

typedef struct od_point {
  const char *name;
  int body;    // OD_GROUND or a body
  int number;  // its three coordinates in theta, or -1
  int length;  // number of a length along +x, or -1
  double fraction;
  int link;
} od_point;

typedef struct od_joint {
  const char *name;
  od_joint_spec spec;
  int link, links;  // tree joints: its last link (the one that carries a body) and how many it has; cut joints: -1, 0
  int coordinate;   // first coordinate, or -1
  int coordinates;
} od_joint;

typedef enum od_link_kind { OD_LINK_FIXED, OD_LINK_REVOLUTE, OD_LINK_PRISMATIC, OD_LINK_SCREW } od_link_kind;
typedef struct od_link {
  int parent;
  od_link_kind kind;
  int body;        // or -1
  int coordinate;  // or -1
  int joint;
  int point_parent;  // the joint's point on the parent, or -1 for "at the parent's origin" (inner links)
  int point_child;   // the joint's point on this link's body, or -1
  int axis;          // three numbers in theta, or -1: the coordinate axis `unit_axis`
  int unit_axis;
  int across;        // 0: along the axis; 1, 2: across it
  int lead;          // of a screw: the number of its way per turn; else -1
  double axis_sign;  // -1 where the tree walks a joint from b to a
  int chart;         // first link of a spherical joint: index of its reference rotation; else -1
} od_link;

// Closure equations between link a and link b. d = r_b - r_a joins their points; u is a vector fixed in a, w in b.
typedef enum od_closure_kind {
  OD_CLOSE_POINT,  // d = 0, one row per dimension
  OD_CLOSE_SLIDE,  // u . d = 0
  OD_CLOSE_ROD,    // (d . d - length^2) / (2 length) = 0
  // The rest without d.
  OD_CLOSE_DOT,   // u . w = 0, or the cosine of the angle between a universal joint's axes
  OD_CLOSE_GEAR,  // z_b - ratio z_a - offset = 0, of two coordinates
} od_closure_kind;
// How a direction follows from the numbers of an axis: the axis itself or a perpendicular to it.
typedef enum od_direction_kind {
  OD_DIR_AXIS,
  OD_DIR_NORMAL_1,
  OD_DIR_NORMAL_2,
  OD_DIR_IN_PLANE,     // planar machines: perpendicular to the axis, in the plane
  OD_DIR_UNIT,         // a coordinate axis
  OD_DIR_UNIT_ACROSS,  // planar machines: perpendicular to a coordinate axis, in the plane
  OD_DIR_CARRIED,      // the second perpendicular of the axis `from`, turned along when `from` is turned into `axis`
} od_direction_kind;
typedef struct od_direction {
  od_direction_kind kind;
  int axis;  // numbers in theta, or the coordinate axis (0..2) for OD_DIR_UNIT
  int from;
} od_direction;
typedef struct od_closure {
  od_closure_kind kind;
  int link_a, link_b, point_a, point_b;
  od_direction u, w;
  int length;     // number of the rod's length, or of the gear's ratio, which its offset follows
  int row, rows;  // where its rows start, how many
  int path,
      path_count;  // its part of od_model.path: the links between a and b through the tree, without common ancestors
  int entry;       // its first entry in the closure Jacobian: row-major rows x path_count
  int joint, rod, gear;  // which joint, rod or gear it comes from, the others -1
} od_closure;
typedef struct od_path_step {
  int link, side;  // side -1: moves a, +1: moves b
} od_path_step;

typedef struct od_rod {
  const char *name;
  int point_a, point_b, number;
} od_rod;

typedef struct od_gear {
  const char *name;
  int joint_a, joint_b, number;
} od_gear;

typedef enum od_load_kind { OD_LOAD_FORCE, OD_LOAD_TORQUE, OD_LOAD_JOINT, OD_LOAD_CONTACT } od_load_kind;
// Numbers of a contact; its normal stands where forces have their direction.
enum {
  OD_CONTACT_STIFFNESS,
  OD_CONTACT_NORMAL,
  OD_CONTACT_PLANE = 4,
  OD_CONTACT_DAMPING = 7,
  OD_CONTACT_FRICTION,
  OD_CONTACT_SLIP,
  OD_CONTACT_NUMBERS
};
typedef struct
    od_load {  // a force at a point, a torque on a body, a force or torque in a joint, or a contact of a point with a plane
  const char *name;
  od_load_kind kind;
  int point, link, coordinate;
  int number, input;
  bool follows_body;
} od_load;

// A gauge between two nodes: the pressure of the first less that of the second.
typedef struct od_difference {
  const char *name;
  int node_a, node_b;
} od_difference;

// A signal: an input of the machine, or (behind all inputs) an output of a block.
typedef struct od_input {
  const char *name, *unit;
  double start;
} od_input;

// An actuator: a line between two points, or a joint's coordinate, along which elements push with forces that depend on its
// length and speed.
typedef struct od_actuator {
  int point_a, point_b;  // between two points, or -1:
  int coordinate;        // in a joint
  int length_row;  // its row of lengths by the independent coordinates; -1: its coordinate is one, a row of zeros with a one
} od_actuator;

// ---- the circuit: nodes have pressures, elements join nodes and act on the mechanism
typedef struct od_node {
  const char *name;
  od_node_kind kind;
  int number, input;
  int state;     // its pressure's place among the first-order states, or -1
  int junction;  // its place among the junctions, or -1
} od_node;
// Places of the oil's numbers.
enum { OD_OIL_DENSITY, OD_OIL_SMOOTHING, OD_OIL_LAW };
// Of its viscosity; their places are counted from OD_OIL_VISCOSITY on where both are meant.
enum {
  OD_VISCOSITY_VALUE,
  OD_VISCOSITY_REFERENCE,
  OD_VISCOSITY_TEMPERATURE,
  OD_VISCOSITY_THINNING,
  OD_VISCOSITY_THICKENING,
  OD_VISCOSITY_EXPANSION,
  OD_VISCOSITY_HOT_TEMPERATURE,
  OD_VISCOSITY_HOT_VALUE,  // zero: the thinning holds
  OD_VISCOSITY_NUMBERS,
  OD_OIL_VISCOSITY = 64
};

// An instance of an element class.
typedef struct od_instance {
  const char *name;  // "" where it belongs to another element or to a joint and has no name of its own
  int element_class;
  int number, numbers;  // first of its own in theta, how many
  int host, joint;      // the instance or the joint that it belongs to, or -1
  int friction;         // the friction that belongs to it, or -1
  int point_a, point_b, actuator;
  int end[OD_MOST_ENDS];              // nodes, or -1
  int signal;                         // what it listens to, or -1
  int more_signals[OD_MORE_SIGNALS];  // of classes with formulas
  int state[OD_MOST_ELEMENT_STATES];  // places among the first-order states, or -1
  int switcher;                       // place among the elements with modes, or -1
  int supplier;                       // place among the elements with a supply, or -1
  int choice[OD_MOST_ELEMENT_CHOICES];
  int batch, place;     // where it stands among those of its class
  int in, out, slope;   // its first place in the work memory
  int target, targets;  // its part of od_join.target
  od_formula formula;   // of classes that have one
  int held;             // where its jumps begin among all (od_layout.held)
} od_instance;

// How instances are joined to the rest of the machine: constant integers, without names or pointers to anything else but
// formulas, so that they can be written out one day. Made by model/join.c when the layout of the work memory is known.
typedef struct od_target {  // an out counts somewhere: w[to] += sign * w[from], and what that means for derivatives
  int from, to;
  double sign;
  od_out_kind kind;
  int target;  // a node, actuator or first-order state
  int slope, in,
      ins;  // its row of derivatives in w, the first `in` that belongs to it, and how many of them may change
  int row,
      state;  // the row of derivatives that it counts in, and the state whose rate that is; -1: none, as of a tank or junction
  int place;       // its part of od_join.place
  bool displaces;  // a flow that is nothing but the change of the volume that the same instance adds to the same node
} od_target;
// An instance that depends on a number, where it stands, and how its class calls the number.
typedef struct od_number_user {
  int instance, batch, place, number;
} od_number_user;
// Junctions: what has an end at one, and how its flows there move with the pressures of junctions.
typedef struct od_junction_in {  // an `in` that is the pressure of a junction
  int in, node;
} od_junction_in;
typedef struct od_junction_flow {  // an out that flows into a junction
  int from, junction;
  double sign;
} od_junction_flow;
typedef struct
    od_junction_slope {  // its slope by such an `in`: both places in w, the slope's, and which instance it is; `at`: of the matrix
  int row, column, from, in, slope, instance, at;
  double sign;
} od_junction_slope;
// Junctions that elements join with each other directly: they stand side by side, and their matrix is one of its own. Each has a row of
// derivatives, `columns` of them by what a rate's row has (`column`: by which; NULL: by all), then by inflows of the group.
typedef struct od_junction_group {
  int first, count;
  int matrix, row;  // where they begin in w
  int width, columns, *column;
} od_junction_group;
typedef struct od_junctions {
  int groups, instances, ins, flows, slopes;
  od_junction_group *group;
  int *group_of;    // of each junction
  int *node;        // of each junction
  int *instance;    // those with an end at a junction
  od_batch *alone;  // each of them as a batch of its own
  od_junction_in *in;
  od_junction_flow *flow;
  od_junction_slope *slope;
} od_junctions;
// What heats the oil: an instance and which of its reports that is.
typedef struct od_heater {
  int instance, report;
} od_heater;
typedef struct od_join {
  int batches, ins, outs, targets, forces, users, kept, reports, slopes, complex_steps;
  bool compliant;      // some element gives way beside the oil
  bool indirect;       // there are junctions or a reservoir: elements act on each other besides pressures and states
  int reservoir;       // instance, or -1
  int warms, heat_in;  // its state, or -1, and its `in` that is the heat of all heaters
  int heaters;
  od_heater *heater;
  od_batch *batch;    // instances of one class side by side, in the order of the classes
  int *pool;          // what batches point into: theta offsets of numbers, of hosts' numbers, choices
  int *gather;        // in[i] = w[gather[i]]
  int *column;        // of each `in`: its column in rows of derivatives of rates (see od_layout)
  int *force_column;  // the same in rows of derivatives of forces
  int *gain;          // of each `in`: where stands how it moves with what that column is
  int *node;          // of each `in` that is a pressure: its node; else -1
  od_target *target;
  int *place;     // of each target, by each `in` that may change: where in w that slope is added
  int *diagonal;  // of each circuit state: where in w the slope of its rate by itself stands
  // Rows of derivatives of rates that have what may differ from zero alone: of each rate, where its row begins behind
  // od_layout.rate_row (one more for the end), and the columns of all rows, increasing in each. NULL: rows have all columns.
  int *row_start, *row_column;
  int *force;                  // the targets that are forces
  int *displacer, displacers;  // the targets that displace oil
  int *by_complex_step;        // instances whose slopes are complex steps
  od_junctions at_junction;
  int *first_user;  // of each number of theta; one more for the end
  od_number_user *user;
} od_join;

// ---- blocks: signals made of signals
typedef struct od_block {
  const char *name, *unit;  // unit: of its first output
  od_block_spec spec;
  int number, numbers;  // first in theta, how many
  int line, inputs;     // its part of od_model.block_line: what its inputs are
  int signal, outputs;  // its first output among the signals, how many
  int state, states;    // its first place among the first-order states, how many
  int slope;            // its first derivative in the work memory
  int ring, samples;    // a sampled delay: its first place in the memory of delays, how many samples it keeps
  int held, jumps;      // where its jumps begin among all (od_layout.held), how many
  bool late;            // an input of it comes from a block that is evaluated after it
} od_block;
// What an input of a block is: a signal, a quantity that is measured (behind all signals), or -1: nothing.
typedef struct od_block_line {
  int source;
  const char *quantity;  // to be found when the model is compiled; or NULL
} od_block_line;

// What can be observed: a kind, the element it is about, and a component.
typedef enum od_output_kind {
  OD_OUT_COORDINATE,
  OD_OUT_COORDINATE_RATE,
  OD_OUT_COORDINATE_ACCELERATION,  // index: coordinate
  OD_OUT_POINT,
  OD_OUT_POINT_VELOCITY,
  OD_OUT_POINT_ACCELERATION,  // index: point; component: ground axis
  OD_OUT_POINT_BODY_VELOCITY,
  OD_OUT_POINT_BODY_ACCELERATION,
  OD_OUT_POINT_SPECIFIC_FORCE,  // index: point; component: axis of its body. Specific force: acceleration less gravity
  OD_OUT_BODY_ANGLE,
  OD_OUT_BODY_TURN_RATE,
  OD_OUT_BODY_TURN_ACCELERATION,  // index: body; in space with a component: ground axis
  OD_OUT_BODY_GYRO,
  OD_OUT_BODY_GYRO_RATE,  // index: body; component: axis of the body. Its turn rates and turn accelerations
  OD_OUT_BODY_KINETIC,
  OD_OUT_BODY_POTENTIAL,  // index: body
  // What a joint's bearing carries, index: joint; component: ground axis, or OD_REACTION_SIZE; and a rod or gear, index: its own.
  OD_OUT_JOINT_FORCE,
  OD_OUT_JOINT_TORQUE,
  OD_OUT_ROD_FORCE,
  OD_OUT_GEAR_FORCE,
  OD_OUT_LOAD,
  OD_OUT_LOAD_POWER,   // index: load. What it supplies; of a contact, what it loses
  OD_OUT_LOAD_STORED,  // index: load that is a contact
  OD_OUT_INPUT,        // index: signal
  // The circuit. index: node
  OD_OUT_NODE_PRESSURE,
  OD_OUT_NODE_INFLOW,
  OD_OUT_NODE_CAVITATING,
  OD_OUT_NODE_VOID,  // volumes
  OD_OUT_NODE_MASS,
  OD_OUT_NODE_POWER,           // a volume: work done on its oil; a tank or source: energy it takes
  OD_OUT_PRESSURE_DIFFERENCE,  // second: the node whose pressure is subtracted
  // index: actuator
  OD_OUT_LENGTH,
  OD_OUT_SPEED,
  OD_OUT_FORCE,
  // index: instance; component: which of its outs, reports or states; second: the same of another instance on top
  OD_OUT_ELEMENT,
  OD_OUT_REPORT,
  OD_OUT_ELEMENT_STATE,
  OD_OUT_BLOCK_STATE,  // index: state; component: block
  OD_OUT_KINETIC,
  OD_OUT_POTENTIAL,
  OD_OUT_STORED,
  // Integrals: index of the power; second: another one on top
  OD_OUT_INTEGRAL,
  OD_OUT_DISSIPATED,
  OD_OUT_SUPPLIED,
  OD_OUT_COMPRESSED,
  OD_OUT_OIL_BALANCE,
  OD_OUT_BALANCE,
} od_output_kind;
enum { OD_REACTION_SIZE = 3 };
typedef struct od_output {
  const char *name, *unit;
  od_output_kind kind;
  int index, component;
  int second;     // one more instance, power or node, or -1
  bool negative;  // it counts the other way round
} od_output;
typedef struct od_output_name {
  const char *name;
  int output;
} od_output_name;

// How Newton's matrix of implicit steps is factored; chosen when the model is made (plant/newton_choice.c).
typedef enum od_newton { OD_NEWTON_DENSE, OD_NEWTON_SPARSE, OD_NEWTON_TREE } od_newton;

struct od_model {
  const char *title;
  int numbers;
  double *theta;
  const char **path, **unit;

  int bodies, points, joints, rods, gears, loads, inputs, differences, outputs;
  od_body *body;
  od_point *point;
  od_joint *joint;
  od_rod *rod;
  od_gear *gear;
  od_difference *difference;
  od_load *load;
  od_input *input;
  od_output *output;
  od_output_name *output_name;  // of all outputs, in the order of strcmp()
  int gravity;                  // three numbers, or -1

  int nodes, instances, actuators, junctions;
  int length_rows;  // of actuators
  od_node *node;
  od_instance *instance;
  od_actuator *actuator;
  od_join join;
  od_oil_law oil_law;
  bool oil_tension;    // below zero pressure it goes on as if it bore tension: voids are not conserved
  int oil;             // first of the oil's numbers, or -1
  int viscosity;       // first of the numbers of its viscosity, or -1: the usual one
  int circuit_states;  // pressures of volumes, then states of elements

  int signals;  // inputs, then outputs of blocks
  int blocks, block_lines, measures, drives, states;
  od_block *block;
  od_block_line *block_line;
  int *block_order;    // each block after those whose outputs it passes on at once
  od_output *measure;  // what blocks measure
  int *drive;          // signals of blocks that act on the mechanism or the circuit
  int block_slopes;    // how many derivatives all blocks have
  int suppliers;       // elements with a supply
  int jumps;           // of formulas and blocks, that can be held (base/formula.h)
  int switchers;       // elements with modes
  int *switcher;
  int block_switchers;  // blocks with modes
  int *block_switcher;
  int samplers;  // sampled blocks, in the order in which they run
  int *sampler;
  int rings;  // samples that delays remember
  // states: all first-order ones, those of the circuit first

  int links, coordinates, charts;
  od_link *link;
  int *coordinate_link;       // link of each coordinate
  double *coordinate_weight;  // how much a coordinate is preferred as a dependent one (smaller: rather independent)
  int closures, rows, path_steps, entries;
  od_closure *closure;
  od_path_step *path_step;

  bool planar;
  double plane[3][3];  // rows: the plane's two axes and its normal (spatial machines: the identity)
  double size;         // a typical length of the machine, m

  int freedom;  // degrees of freedom
  od_newton newton;
  od_tree_states tree_states;  // of machines without loops
  double *chart0;              // reference rotations of spherical joints at the start, 9 each
  double *z0, *zd0, *c0;       // the assembled initial state: all coordinates, their rates, circuit and blocks
  double stored0, oil0;        // energy stored in it; mass of oil in its volumes

  od_layout layout;
  od_step_pattern step;
  void *memory;  // everything above lives in here
};

// Powers, in the order in which a plant reports them: losses of elements; what loads supply; what nodes take; what elements supply; and, of
// machines with nodes, the mass of oil that elements supply to volumes, in kg/s.
enum { OD_POWER_ELEMENT, OD_POWER_LOAD, OD_POWER_NODE, OD_POWER_SUPPLY, OD_POWER_OIL, OD_POWER_KINDS };
// Where each kind begins; at OD_POWER_KINDS, how many there are.
static inline int od_model_power(const od_model *m, int kind) {
  const int count[OD_POWER_KINDS] = {m->instances, m->loads, m->nodes, m->suppliers, m->nodes > 0};
  int begin = 0;
  for (int i = 0; i < kind; i++) begin += count[i];
  return begin;
}

static inline const od_element_class *od_instance_class(const od_instance *instance) {
  return od_element_class_at(instance->element_class);
}

// What switches: elements, then blocks.
static inline int od_model_switchers(const od_model *m) {
  return m->switchers + m->block_switchers;
}
static inline const char *od_model_switcher_name(const od_model *m, int i) {
  return i < m->switchers ? m->instance[m->switcher[i]].name : m->block[m->block_switcher[i - m->switchers]].name;
}

// One instance as a batch of its own.
static inline od_batch od_instance_batch(const od_model *m, const od_instance *e) {
  const od_element_class *c = od_instance_class(e);
  od_batch b = m->join.batch[e->batch];
  b.count = 1;
  b.in = e->in, b.out = e->out;
  b.kept += e->place * c->kept, b.report += e->place * c->reports, b.slope = e->slope;
  b.number += e->place, b.host += e->place, b.choice += e->place * c->choices;
  if (b.formula) b.formula += e->place;
  if (b.held) b.held += e->place;
  return b;
}

// What counts as one in a coordinate: a radian, or a typical length of the machine.
static inline double od_model_coordinate_unit(const od_model *m, int coordinate) {
  return m->link[m->coordinate_link[coordinate]].kind == OD_LINK_PRISMATIC ? m->size : 1;
}

// How far a point of a planar machine lies out of the plane; it stays there.
double od_model_level(const od_model *m, int point);

typedef struct od_model_facts {
  int bodies, joints, loops, coordinates, closure_rows, closure_rank, freedom, blocks;
  bool planar, linear;
} od_model_facts;
od_model_facts od_model_get_facts(const od_model *model);

// What a block's output or state is called behind the block's name: "" for the name alone, NULL for a state that is an
// output as well.

// The unit of a quantity's rate (order 1) or a higher derivative: "m" gives "m/s", "m/s" gives "m/s2".
void od_rate_unit(const char *unit, int order, char *text, size_t size);

// Whether rates and outputs of blocks are linear in states and inputs, with constant coefficients: blocks alone, and
// linear ones.
bool od_model_is_linear(const od_model *model);

// What a block that is being built is made as.
const od_block_spec *od_build_block_spec(const od_build *b, int block);

#endif
