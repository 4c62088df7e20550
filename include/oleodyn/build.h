// Building a model piece by piece, without a machine file: what a controller calls, and what the loader of machine files calls.
// examples/build_machine.c shows it.
//
// Every number goes into one flat vector theta through od_build_number(), which gives it a path; elements refer to
// numbers by their index there. Elements are referred to by the index that adding them returned (-1: memory ran out, which
// od_build_finish() reports). The ground is body -1. Names are unique.
// od_build_finish() checks the whole, finds the tree and the loops, assembles the mechanism and hands out an
// immutable model, which makes plants (od_model_plant()). All problems are collected (od_build_problem()), wrong indices
// among them; od_error holds the first of them. All of this allocates; what steps a plant does not.
#ifndef OLEODYN_BUILD_H
#define OLEODYN_BUILD_H

#include <stdbool.h>

#include "oleodyn/plant.h"
#include "oleodyn/status.h"

OD_BEGIN_C

typedef struct od_build od_build;
typedef struct od_model od_model;

enum { OD_GROUND = -1 };  // a body
enum { OD_UNUSED = -1 };  // an index of nothing

OD_API od_build *od_build_new(void);
OD_API void od_build_free(od_build *b);
OD_API void od_build_title(od_build *b, const char *title);

// Adds a number to theta: its path ("crank.beam.length"), its value in SI and its SI unit ("m"). Returns its index.
// Consecutive calls give consecutive indices; elements with several numbers want them consecutive.
OD_API int od_build_number(od_build *b, const char *path, double value, const char *unit);

// The three numbers of gravity (m/s2), in ground axes.
OD_API void od_build_gravity(od_build *b, int first_number);

// Bodies. The numbers each shape wants, in this order, all in the body's own frame:
typedef enum od_shape {
  OD_SHAPE_GENERAL,   // mass, center[3], inertia tensor about the center: xx yy zz xy xz yz
  OD_SHAPE_BEAM,      // mass, length: slender, from the body's origin along +x
  OD_SHAPE_CYLINDER,  // mass, length, radius: solid, from the body's origin along +x
  OD_SHAPE_POINT,     // mass, position[3]
  OD_SHAPE_BOX,       // mass, size[3], center[3]
} od_shape;
OD_API int od_build_body(od_build *b, const char *name, od_shape shape, int first_number);

// Points. A point sits at theta[first_number .. +2] (or the origin when -1) plus fraction * theta[length_number] along
// +x (nothing when length_number is -1): that is how a beam's end follows its length.
OD_API int od_build_point(od_build *b, const char *name, int body, int first_number, int length_number,
                          double fraction);

// Joints connect point_a (on body a) with point_b (on body b). In the zero position the two bodies' axes are parallel.
// Coordinates measure b relative to a. Axis numbers: three theta entries, in the frame of body a for axis_a, of body b
// for axis_b.
//   revolute, prismatic: axis_a; axis_b is used only when the joint closes a loop (-1: same components as axis_a)
//   universal: axis_a fixed in body a, axis_b fixed in body b
//   cylindrical (slides along and turns about), planar (slides across, turns about): axis_a; axis_b as for revolute ones
//   screw: axis_a, and `lead`, the number of its way along the axis per turn (m, not zero; negative: left-handed). It cannot close a loop.
//   spherical, fixed: none (-1)
//   free: none (-1). It connects nothing: six coordinates of the outer body against the one nearer to the ground, in the axes of the latter.
typedef enum od_joint_type {
  OD_REVOLUTE,
  OD_PRISMATIC,
  OD_UNIVERSAL,
  OD_SPHERICAL,
  OD_FIXED,
  OD_CYLINDRICAL,
  OD_PLANAR_JOINT,
  OD_SCREW,
  OD_FREE,
} od_joint_type;
typedef struct od_joint_spec {
  od_joint_type type;
  int point_a, point_b;
  int axis_a, axis_b;
  bool cut;          // always a loop closure, even where the tree could use it
  bool independent;  // prefer this joint's coordinates as independent ones
  int lead;          // of a screw: its number
  int reserved[3];   // zero
} od_joint_spec;
// One without axes, to begin with.
OD_API od_joint_spec od_joint_spec_of(od_joint_type type, int point_a, int point_b);
OD_API int od_build_joint(od_build *b, const char *name, const od_joint_spec *spec);

// A massless rod of fixed length between two points: one closure equation. One number: length.
OD_API int od_build_rod(od_build *b, const char *name, int point_a, int point_b, int first_number);

// An ideal gear between two joints of the tree with one coordinate each: z_b = ratio z_a + offset, one closure equation. Numbers: ratio (not
// zero), offset. Two wheels: the ratio of their turns; a turning and a sliding joint, a rack and its pinion: way per radian.
OD_API int od_build_gear(od_build *b, const char *name, int joint_a, int joint_b, int first_number);

// An input of the machine; its value over time comes from outside (a signal, a log, a controller).
OD_API int od_build_input(od_build *b, const char *name, const char *unit);  // -1: too late, there are blocks already
// Its value at the start, for the static balance of the initial state (zero unless told).
OD_API void od_build_input_start(od_build *b, int input, double value);
// Wherever an element below takes an input it may be any signal: an input, or an output of a block.

// A force at a point, value * direction. Numbers: value (N), direction[3] (normalized when used). When input >= 0 the
// value is multiplied by that input. Direction in ground axes, or in the body's when follows_body.
OD_API int od_build_force(od_build *b, const char *name, int point, int first_number, int input, bool follows_body);

// A torque (or force) in a revolute (prismatic) joint, acting on b and against a. Numbers: value. Input as above.
OD_API int od_build_joint_force(od_build *b, const char *name, int joint, int first_number, int input);

// A torque on a body. Numbers: value (N m), direction[3]. Input and follows_body as for forces.
OD_API int od_build_torque(od_build *b, const char *name, int body, int first_number, int input, bool follows_body);

// Contact of a point with a plane of the ground. Numbers: stiffness (N/m, positive), normal[3] (normalized when used; the point stays on the side it
// points to), a point of the plane[3] (m), damping (s/m), friction coefficient, slip speed (m/s, positive: friction is smooth below it).
// At the depth d it pushes with stiffness d (1 + damping d'), never pulls, and rubs against the motion along the plane.
OD_API int od_build_contact(od_build *b, const char *name, int point, int first_number);

// ---- formulas

// A law as a list of operations, the last of which is the result. Each takes the results of others before it, by their places
// a, b and c in the list; a number has a value, a variable its index a. Which variables there are says what has the formula.
typedef enum od_operation_kind {
  OD_OPERATION_NUMBER,
  OD_OPERATION_VARIABLE,
  OD_OPERATION_ADD,
  OD_OPERATION_SUBTRACT,
  OD_OPERATION_MULTIPLY,
  OD_OPERATION_DIVIDE,
  OD_OPERATION_POWER,
  OD_OPERATION_NEGATE,
  OD_OPERATION_SQRT,
  OD_OPERATION_EXP,
  OD_OPERATION_LOG,
  OD_OPERATION_SIN,
  OD_OPERATION_COS,
  OD_OPERATION_TAN,
  OD_OPERATION_ASIN,
  OD_OPERATION_ACOS,
  OD_OPERATION_ATAN,
  OD_OPERATION_SINH,
  OD_OPERATION_COSH,
  OD_OPERATION_TANH,
  OD_OPERATION_ABS,
  OD_OPERATION_SIGN,
  OD_OPERATION_MIN,
  OD_OPERATION_MAX,
  OD_OPERATION_SMOOTH_ROOT,  // a / (a^2 + b^2)^(1/4): the root of a with its sign, straight where |a| is less than b
  OD_OPERATION_IF_NEGATIVE,  // b where a < 0, else c
  OD_OPERATION_KINDS
} od_operation_kind;
typedef struct od_operation {
  od_operation_kind kind;
  int a, b, c;
  double value;
} od_operation;
enum { OD_MOST_OPERATIONS = 400, OD_MOST_FORMULA_NUMBERS = 24, OD_MOST_MACHINE_STATES = 16 };
typedef struct od_formula {
  int count;
  const od_operation *operation;  // copied by what takes it
} od_formula;

// ---- the hydraulic circuit

// The oil. Numbers: density (kg/m3), smoothing (Pa: orifices are smooth where the pressure difference is smaller than
// this), then what the law of its bulk modulus wants:
typedef enum od_oil_law {
  OD_OIL_CONSTANT,  // modulus (Pa)
  OD_OIL_LINEAR,    // kp (Pa), k0: modulus kp + k0 p
  OD_OIL_AIR,  // modulus of the liquid, volume fraction of air, the pressure (Pa) at which that is, polytropic exponent
} od_oil_law;
OD_API void od_build_oil(od_build *b, od_oil_law law, int first_number);
// Below zero pressure oil cavitates, and a volume counts its void, which takes as much oil to fill again. With this it goes on with p' = B/V sum Q
// instead, as if oil bore tension: what published models do, and what does not conserve oil while the volume changes.
OD_API void od_build_oil_tension(od_build *b);
// Its viscosity, and what temperature and pressure do. Numbers: kinematic viscosity (m2/s) and the temperature (K) at which it
// and the density hold, the oil's temperature (K), the relative decrease of viscosity per temperature (1/K) and its growth with
// pressure (1/Pa), the relative growth of volume per temperature (1/K), another temperature (K) and the kinematic viscosity there, with
// which Walther's law holds instead of the relative decrease (0: it does not). Without it: 46 mm2/s at any temperature. With an
// element of the class "reservoir" the oil's temperature is a state of that, and the number has no say.
OD_API void od_build_oil_viscosity(od_build *b, int first_number);

// Nodes of the circuit. Numbers: a volume's volume (m3; cylinder chambers add theirs), a tank's or source's pressure
// (Pa), which for a source is multiplied by the input if there is one (else input = -1). A junction has no volume and no
// numbers (first_number = OD_UNUSED): the flows into it sum up to zero at any moment, and that decides its pressure. Elements
// that act on the mechanism or add volume want a volume instead.
typedef enum od_node_kind { OD_NODE_VOLUME, OD_NODE_TANK, OD_NODE_SOURCE, OD_NODE_JUNCTION } od_node_kind;
OD_API int od_build_node(od_build *b, const char *name, od_node_kind kind, int first_number, int input);
// A gauge between two nodes, which adds nothing but an output: the pressure of the first less that of the second.
OD_API int od_build_pressure_difference(od_build *b, const char *name, int node_a, int node_b);

// An element of the circuit, or one that acts on the mechanism: an instance of one of the classes that `oleodyn components`
// lists ("pump", "orifice", "cylinder", "spring"). It has a name, or "" where it belongs to another one. Its numbers
// stand in the order of its class's fields; od_build_element_numbers() puts them in order. What is not needed stays OD_UNUSED,
// which is what od_element_spec_of() begins with.
//
// Classes with a formula ("flow formula", "force formula") have as many numbers as it wants. Its variables are the pressures at both ends, or
// length and speed; then signal and more_signals; then its numbers.
enum { OD_MOST_ENDS = 6, OD_MOST_ELEMENT_CHOICES = 4, OD_MORE_SIGNALS = 3 };
typedef struct od_element_spec {
  int element_class;          // -1: there is no class of that name
  int first_number, numbers;  // numbers: only where the class leaves their count to the instance
  int end[OD_MOST_ENDS];      // nodes; an optional one may be OD_UNUSED
  int point_a, point_b;       // of one that acts between points
  int joint;                  // of one that acts in a joint; revolute and prismatic joints of the tree
  int host;                   // the instance that it belongs to
  int signal;                 // what it listens to
  int choice[OD_MOST_ELEMENT_CHOICES];
  int more_signals[OD_MORE_SIGNALS];
  int reserved[5];  // zero
  od_formula formula;
} od_element_spec;
OD_API od_element_spec od_element_spec_of(const char *class_name);
OD_API int od_build_element(od_build *b, const char *name, const od_element_spec *spec);

// The numbers of an element by the keys of its class: adds all of them, in their order, those that are not given with
// their defaults, each with the path "name.key". Returns the first. A class with a curve wants its points behind them.
typedef struct od_keyed_number {
  const char *key;
  double value;
} od_keyed_number;
OD_API int od_build_element_numbers(od_build *b, const char *name, const char *class_name,
                                    const od_keyed_number *number, int count);

// Places of numbers and choices of directional valves, of their ports and of cylinders. A port belongs to its valve (host). Its
// numbers are the overlap, then the abscissae of the points of its curve, then their ordinates; its choices are the side of
// the spool's travel on which it opens (+1, -1), the degree of the curve, the count of its points, and what the ordinates are
// (od_valve_law). Cylinders have areas, or bore and rod in their place if the choice OD_CYLINDER_DIAMETERS is 1.
// Leakage past the piston is an element of its own, a "leak" between the chambers whose host is the cylinder and whose number is
// the cylinder's.
enum { OD_VALVE_TIME_CONSTANT, OD_VALVE_STROKE, OD_VALVE_AREA, OD_VALVE_DISCHARGE, OD_VALVE_FULL, OD_VALVE_DEAD_BAND };
typedef enum od_valve_law { OD_VALVE_OPENING, OD_VALVE_COEFFICIENT } od_valve_law;
enum { OD_PORT_SIDE, OD_PORT_DEGREE, OD_PORT_COUNT, OD_PORT_LAW, OD_PORT_CHOICES };
enum {
  OD_CYLINDER_A,
  OD_CYLINDER_B,
  OD_CYLINDER_CLOSED,
  OD_CYLINDER_STROKE,
  OD_CYLINDER_DEAD_A,
  OD_CYLINDER_DEAD_B,
  OD_CYLINDER_LEAKAGE,
  OD_CYLINDER_STOP_STIFFNESS,
  OD_CYLINDER_STOP_DAMPING,
  OD_CYLINDER_NUMBERS
};
enum { OD_CYLINDER_DIAMETERS };

// ---- blocks: signals made of signals

// A block of one of the types that `oleodyn components` lists ("gain", "pid"). Its numbers stand in the order of the keys
// there. Choices decide its shape: od_block_choose() sets the one that a key stands for, 1 where files would give that key
// ("limits", "kd", "time_constant"), the degree of a polynomial ("numerator"), the order of an approximation ("pade"), the
// length of a sampled delay in samples ("time"). What is not given has no numbers.
enum { OD_MOST_BLOCK_INPUTS = 32, OD_MOST_BLOCK_ORDER = 16, OD_MOST_BLOCK_CHOICES = 3 };
typedef struct od_block_spec {
  int block_class;  // -1: there is no such type
  int inputs;       // how many, of a type that takes a list of them
  int choice[OD_MOST_BLOCK_CHOICES];
  int reserved[7];     // zero
  double sample;       // a block that runs once per sample (s) and holds its output in between; 0: continuous
  od_formula formula;  // of a block that is one: its variables are its inputs, then its numbers
} od_block_spec;
OD_API od_block_spec od_block_spec_of(const char *type);
OD_API bool od_block_choose(od_block_spec *spec, const char *key, int value);  // false: the type has no such choice
// Adds a block; returns its index. `unit` is that of its first output. All inputs of the machine come before.
OD_API int od_build_block(od_build *b, const char *name, const od_block_spec *spec, const char *unit);
// The signal of a block's output: the index to use in place of an input's. -2: there is no such output.
OD_API int od_build_block_signal(const od_build *b, int block, int output);
// What its inputs are connected to: an input, a block's output, or a quantity of the machine that depends on states
// alone ("A.angle", "P.pressure"), by name. Inputs that are not connected are zero.
OD_API void od_build_block_input(od_build *b, int block, int place, int signal);
OD_API void od_build_block_measures(od_build *b, int block, int place, const char *quantity);
OD_API void od_build_block_numbers(od_build *b, int block, int first_number);
// The formula of a block, where its spec has none yet.
OD_API void od_build_block_formula(od_build *b, int block, od_formula formula);
// Names of a block's outputs and states behind the block's own; "" for the block's name alone.
OD_API int od_build_block_output_count(const od_build *b, int block);
OD_API const char *od_build_block_output_name(const od_build *b, int block, int output);
OD_API int od_build_block_state_count(const od_build *b, int block);
OD_API const char *od_build_block_state_name(const od_build *b, int block, int state);

// The initial state. quantity is an output's name ("A.angle", "spring.length", "A.rate"); exact values are met
// exactly, the others are rough and choose the branch. Every joint coordinate of the tree needs one. Positions that no
// exact value decides stay as near to the rough ones as the loops allow; likewise rates, which are zero unless given.
// Every volume needs a pressure ("P.pressure"); spools ("valve.spool") and states of blocks are zero unless given.
OD_API void od_build_initial(od_build *b, const char *quantity, double value, bool exact);
// A quantity that is to be found such that the machine is in static balance; value is where the search begins. Joint
// coordinates and pressures can be balanced together: as many as the machine has degrees of freedom make the
// accelerations zero; balanced pressures beyond that get zero rates as well, and so do balanced states of blocks.
OD_API void od_build_balance(od_build *b, const char *quantity, double value);

// Checks, compiles and assembles. On failure *out is NULL and err says why; what is missing may be added then, and it be
// called again.
OD_API od_status od_build_finish(od_build *b, od_model **out, od_error *err);

// Everything that od_build_finish() found wrong, each with the element it is about.
typedef enum od_culprit_kind {
  OD_ABOUT_MACHINE,
  OD_ABOUT_BODY,
  OD_ABOUT_JOINT,
  OD_ABOUT_ROD,
  OD_ABOUT_INITIAL,
  OD_ABOUT_NODE,
  OD_ABOUT_ELEMENT,
  OD_ABOUT_BLOCK,
  OD_ABOUT_NUMBER,
  OD_ABOUT_POINT,
  OD_ABOUT_LOAD,  // a force or torque
  OD_ABOUT_PRESSURE_DIFFERENCE,
  OD_ABOUT_GEAR,
} od_culprit_kind;
typedef struct od_problem {
  od_culprit_kind kind;
  int index;
  const char *text;
  void *reserved[2];  // zero
} od_problem;
OD_API int od_build_problem_count(const od_build *b);
OD_API od_problem od_build_problem(const od_build *b, int i);

// Treats a planar machine as a spatial one (to compare, or because it is going to be made so).
OD_API void od_build_spatial(od_build *b, bool spatial);

// ---- the model

OD_API void od_model_free(od_model *model);

// Outputs: everything that can be observed, by name ("boom.end.x", "P.pressure", "relief.flow", "energy.balance").
OD_API int od_model_output_count(const od_model *model);
OD_API const char *od_model_output_name(const od_model *model, int i);
OD_API const char *od_model_output_unit(const od_model *model, int i);
OD_API int od_model_output_find(const od_model *model, const char *name);  // -1: no such output

// The model as a plant with the chosen outputs and the chosen free parameters (indices that od_build_number() gave). Its inputs
// are those of the model, in their order. The plant refers to the model and must not outlive it. Free it with
// od_plant_free().
OD_API od_status od_model_plant(const od_model *model, const int *outputs, int output_count, const int *parameters,
                                int parameter_count, od_plant **out, od_error *err);
// Steps integrate powers (nq of the plant) where one of the chosen outputs shows an energy that is an integral, such as
// "energy.dissipated". This asks for them in any case, for those who look at outputs of another plant of the same model: right after
// the plant was made, before anything else is made of it. OD_BAD_ARGUMENT: it is another plant, such as one with sensors in front.
OD_API od_status od_model_plant_integrate_powers(od_plant *plant);

OD_END_C

#endif
