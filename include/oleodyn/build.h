// Builds a model piece by piece, without a machine file. The loader of machine files and programs for controllers use these
// functions; see examples/build_machine.c.
//
// od_build_number() adds a number with its path to one vector, theta. Elements refer to numbers by their index in theta. Elements
// refer to each other by the index that the adding function returned (-1: out of memory, which od_build_finish() reports). The
// ground is body -1. Names are unique. All values are in SI units.
//
// od_build_finish() checks the whole model, finds the tree and the loops, assembles the mechanism and returns an immutable model.
// od_model_plant() creates plants from the model. od_build_finish() collects all problems, including wrong indices.
// od_build_problem() returns each problem; od_error contains the first problem. The functions of this header allocate
// memory; steps of a plant do not.
#ifndef OLEODYN_BUILD_H
#define OLEODYN_BUILD_H

#include <stdbool.h>

#include "oleodyn/plant.h"
#include "oleodyn/status.h"

OD_BEGIN_C

typedef struct od_build od_build;
typedef struct od_model od_model;

enum { OD_GROUND = -1 };  // index of the ground, as a body
enum { OD_UNUSED = -1 };  // value of an index that is not used

// Creates an empty builder, freed with od_build_free(). Returns NULL if an allocation fails.
OD_API od_build *od_build_new(void);
// Frees a builder; NULL is allowed. Models of the builder stay valid.
OD_API void od_build_free(od_build *b);
// Sets the title of the model, which is copied.
OD_API void od_build_title(od_build *b, const char *title);

// Adds a number to theta: its path ("crank.beam.length"), its value in SI units and its SI unit ("m"). Returns the
// index of the number. Consecutive calls return consecutive indices; the numbers of an element must be consecutive.
OD_API int od_build_number(od_build *b, const char *path, double value, const char *unit);

// Sets the vector of gravity (m/s2, in ground axes): three numbers from theta[first_number] on.
OD_API void od_build_gravity(od_build *b, int first_number);

// The shape of a body. Each comment lists the numbers of the shape in their order; positions and the inertia tensor are
// in the frame of the body.
typedef enum od_shape {
  OD_SHAPE_GENERAL,   // mass, center[3], inertia tensor about the center: xx yy zz xy xz yz
  OD_SHAPE_BEAM,      // mass, length: slender, from the body's origin along +x
  OD_SHAPE_CYLINDER,  // mass, length, radius: solid, from the body's origin along +x
  OD_SHAPE_POINT,     // mass, position[3]
  OD_SHAPE_BOX,       // mass, size[3], center[3]
} od_shape;
// Adds a body. Returns the index of the body.
OD_API int od_build_body(od_build *b, const char *name, od_shape shape, int first_number);

// Adds a point of a body. Returns the index of the point. The position of the point is theta[first_number .. +2]
// (first_number -1: the origin) plus fraction * theta[length_number] along +x (length_number -1: this term is zero). Thus
// the end of a beam depends on the beam's length.
OD_API int od_build_point(od_build *b, const char *name, int body, int first_number, int length_number,
                          double fraction);

// A joint connects point_a of body a with point_b of body b. In the zero position the axes of both bodies are parallel.
// Coordinates measure b relative to a. Axis numbers: three theta entries, in the frame of body a for axis_a, of body b
// for axis_b.
//   revolute, prismatic: axis_a; axis_b is used only when the joint closes a loop (-1: same components as axis_a)
//   universal: axis_a fixed in body a, axis_b fixed in body b
//   cylindrical (slides along the axis and turns about it), planar (slides perpendicular to it, turns about it): axis_a;
//     axis_b as for revolute joints
//   screw: axis_a, and `lead`, the index of the travel along the axis per turn (m, not zero; negative: left-handed). A screw
//     cannot close a loop.
//   spherical, fixed: no axes (-1)
//   free: no axes (-1), no constraint: six coordinates of the outer body relative to the body nearer to the ground, in
//     the axes of this inner body.
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
  bool cut;          // whether the joint always closes a loop, even if the tree could contain the joint
  bool independent;  // whether the coordinates of this joint are preferred as independent coordinates
  int lead;          // index in theta of the travel per turn (m); only for screws
  int reserved[3];   // zero
} od_joint_spec;
// Returns the spec of a joint without axes; set the other fields afterward.
OD_API od_joint_spec od_joint_spec_of(od_joint_type type, int point_a, int point_b);
// Adds a joint. Returns the index of the joint.
OD_API int od_build_joint(od_build *b, const char *name, const od_joint_spec *spec);

// Adds a massless rod of fixed length between two points: one closure equation. Number: length (m). Returns the index
// of the rod.
OD_API int od_build_rod(od_build *b, const char *name, int point_a, int point_b, int first_number);

// Adds an ideal gear between two joints of the tree with one coordinate each: z_b = ratio z_a + offset, one closure
// equation. Numbers: ratio (not zero; for two wheels the ratio of angles, for rack and pinion the travel in m per
// radian), offset. Returns the index of the gear.
OD_API int od_build_gear(od_build *b, const char *name, int joint_a, int joint_b, int first_number);

// Adds an input of the machine. The caller provides the value of the input over time (a signal, a log, a controller).
// Returns the index of the input, or -1 if a block was already added. Wherever an element below takes an input, any
// signal is allowed: an input or an output of a block.
OD_API int od_build_input(od_build *b, const char *name, const char *unit);
// Sets the value of an input at the start, for the static balance of the initial state (default zero).
OD_API void od_build_input_start(od_build *b, int input, double value);

// Adds a force at a point: value * direction. Numbers: value (N), direction[3] (normalized). If input >= 0, the value is multiplied
// by this input. The direction is in ground axes, or in body axes if follows_body is true. Returns the index of the
// force.
OD_API int od_build_force(od_build *b, const char *name, int point, int first_number, int input, bool follows_body);

// Adds a torque in a revolute or screw joint, or a force in a prismatic joint. The torque or force acts on body b, and with the
// opposite sign on body a. Number: value (N m or N). The input has the same meaning as for forces. Returns the index of
// the joint force.
OD_API int od_build_joint_force(od_build *b, const char *name, int joint, int first_number, int input);

// Adds a torque on a body. Numbers: value (N m), direction[3]. input and follows_body have the same meaning as for
// forces. Returns the index of the torque.
OD_API int od_build_torque(od_build *b, const char *name, int body, int first_number, int input, bool follows_body);

// Adds the contact of a point with a plane of the ground. Numbers: stiffness (N/m, positive), normal[3] (normalized; the normal points to
// the free side), a point of the plane[3] (m), damping (s/m), friction coefficient, slip speed (m/s, positive: friction is smooth below
// this speed). At the depth d the normal force is stiffness d (1 + damping d'), never negative; friction opposes the motion along the
// plane. Returns the index of the contact.
OD_API int od_build_contact(od_build *b, const char *name, int point, int first_number);

// ---- formulas

// A formula: a list of operations. The result of the last operation is the value of the formula. The operands a, b and
// c are indices of earlier operations. OD_OPERATION_NUMBER has the constant `value`; OD_OPERATION_VARIABLE has the
// index `a` of the variable. The element or block that has the formula defines the variables.
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
  OD_OPERATION_SMOOTH_ROOT,  // a / (a^2 + b^2)^(1/4): the square root of |a| with the sign of a, nearly linear for |a|
                             // far below b
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
  const od_operation *operation;  // functions that take a formula copy the operations
} od_formula;

// ---- the hydraulic circuit

// The law of the bulk modulus of the oil. Numbers of the oil: density (kg/m3), smoothing (Pa: pressure difference below which
// orifices are laminar), then the numbers of the law:
typedef enum od_oil_law {
  OD_OIL_CONSTANT,  // modulus (Pa)
  OD_OIL_LINEAR,    // kp (Pa), k0: modulus kp + k0 p
  // modulus of the liquid (Pa), volume fraction of air, the pressure (Pa) at which this fraction is valid, polytropic exponent
  OD_OIL_AIR,
} od_oil_law;
// Sets the law of the oil. The numbers of the oil are theta[first_number], theta[first_number + 1], ... in the order above.
OD_API void od_build_oil(od_build *b, od_oil_law law, int first_number);
// Allows negative pressures: p' = B/V sum Q also holds below zero, as in many published models. Without this call, oil cavitates at
// zero pressure: each volume stores the size of its void until the same amount of oil has filled the void. With this call, oil is
// not conserved while the volume changes.
OD_API void od_build_oil_tension(od_build *b);
// Sets the viscosity of the oil and the influence of temperature and pressure. Numbers, in this order: kinematic viscosity
// (m2/s); temperature (K) at which this viscosity and the density are valid; temperature of the oil (K); relative decrease of
// viscosity per temperature (1/K); relative increase of viscosity per pressure (1/Pa); relative increase of volume per
// temperature (1/K); a second temperature (K; 0: not used); kinematic viscosity at the second temperature. With a second
// temperature, Walther's law replaces the relative decrease. Without this call the viscosity is 46 mm2/s. With an element of
// the class "reservoir", the state of the reservoir is the temperature of the oil. Then the number for this temperature is only the
// default of the initial value of this state.
OD_API void od_build_oil_viscosity(od_build *b, int first_number);

// A node of the circuit. Number of a volume: its volume (m3; cylinder chambers add their volumes). Number of a tank or source:
// its pressure (Pa), which for a source is multiplied by `input` (-1: none). A junction has no volume and no numbers
// (first_number = OD_UNUSED): its pressure is such that the flows into the junction sum to zero. Elements that act on the mechanism or add
// volume need a volume, not a junction.
typedef enum od_node_kind { OD_NODE_VOLUME, OD_NODE_TANK, OD_NODE_SOURCE, OD_NODE_JUNCTION } od_node_kind;
// Adds a node. Returns the index of the node.
OD_API int od_build_node(od_build *b, const char *name, od_node_kind kind, int first_number, int input);
// Adds an output: the pressure of node_a minus the pressure of node_b. Returns the index of this pressure difference.
OD_API int od_build_pressure_difference(od_build *b, const char *name, int node_a, int node_b);

// An element of the circuit or of the mechanism: an instance of a class that `oleodyn components` lists ("pump",
// "orifice", "cylinder", "spring"). An element that belongs to another element may have the name "". The numbers of an
// element are in the order of the fields of the class; od_build_element_numbers() adds them in this order. Unused indices
// are OD_UNUSED, the initial value of od_element_spec_of().
//
// Classes with a formula ("flow formula", "force formula") have as many numbers as the formula needs. The variables of
// the formula are the pressures at both ends ("flow formula"), or length and speed ("force formula"); then signal and
// more_signals; then the numbers of the element.
enum { OD_MOST_ENDS = 6, OD_MOST_ELEMENT_CHOICES = 4, OD_MORE_SIGNALS = 3 };
typedef struct od_element_spec {
  int element_class;          // index of the class; -1: there is no class with the given name
  int first_number, numbers;  // index of the first number in theta; count of numbers (only for classes without a fixed
                              // count)
  int end[OD_MOST_ENDS];      // index of the node at each end; OD_UNUSED for an optional end that is not connected
  int point_a, point_b;       // points of an element that acts between points
  int joint;                  // a revolute, prismatic or screw joint of the tree, for an element that acts in a joint
  int host;                   // the element that this element belongs to
  int signal;                 // signal of the element: an input or the output of a block
  int choice[OD_MOST_ELEMENT_CHOICES];
  int more_signals[OD_MORE_SIGNALS];
  int reserved[5];  // zero
  od_formula formula;
} od_element_spec;
// Returns the spec of a class with all indices unused; element_class is -1 if there is no such class.
OD_API od_element_spec od_element_spec_of(const char *class_name);
// Adds an element. Returns the index of the element.
OD_API int od_build_element(od_build *b, const char *name, const od_element_spec *spec);

// Adds all numbers of an element in the order of its class, each with the path "name.key". Keys that are not given get their
// defaults. Returns the index of the first number, or OD_UNUSED if there is no such class. od_build_finish() reports unknown classes
// and keys. If the class has a curve, add the points of the curve afterward.
typedef struct od_keyed_number {
  const char *key;
  double value;
} od_keyed_number;
OD_API int od_build_element_numbers(od_build *b, const char *name, const char *class_name,
                                    const od_keyed_number *number, int count);

// Indices of the numbers and choices of directional valves, their ports and cylinders. A port belongs to its valve (host). The
// numbers of a port are the overlap, the abscissae of the points of the curve, then the ordinates. The first three choices of a
// port are the side of the spool's travel on which the port opens (+1, -1), the degree of the curve, and the number of points. The
// last choice is the meaning of the ordinates (od_valve_law). Cylinders have areas, or bore and rod diameters in their place if the
// choice OD_CYLINDER_DIAMETERS is 1. Leakage past the piston is a separate element, a "leak" between the chambers. The host of the
// leak is the cylinder, and the leak uses the leakage number of the cylinder.
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

// ---- blocks, which compute signals from signals

// A block of a type that `oleodyn components` lists ("gain", "pid"). The numbers of a block are in the order of the keys in that
// list. Choices determine the structure of the block: od_block_choose() sets the choice of a key. The choice of an optional key is
// 1 if the block has this key ("limits", "kd", "time_constant"). The choice of "numerator" and similar keys is the degree of a
// polynomial. The choice of "pade" is the order of an approximation. The choice of "time" is the length of a sampled delay in
// samples. Keys that are not given have no numbers.
enum { OD_MOST_BLOCK_INPUTS = 32, OD_MOST_BLOCK_ORDER = 16, OD_MOST_BLOCK_CHOICES = 3 };
typedef struct od_block_spec {
  int block_class;  // index of the type; -1: there is no such type
  int inputs;       // number of inputs, for a type with a list of inputs
  int choice[OD_MOST_BLOCK_CHOICES];
  int reserved[5];                       // zero
  const struct od_foreign_law *foreign;  // law of a foreign block (oleodyn/foreign.h); not copied
  double sample;                         // sampling period in s (the output is held between samples); 0: continuous
  od_formula formula;                    // formula of a formula block: the variables are the inputs, then the numbers
} od_block_spec;
// Returns the spec of a type; block_class is -1 if there is no such type.
OD_API od_block_spec od_block_spec_of(const char *type);
// Sets the choice of a key. Returns false if the type has no such choice.
OD_API bool od_block_choose(od_block_spec *spec, const char *key, int value);
// Adds a block; unit: the unit of its first output. Returns the index of the block. Add all inputs of the machine
// first.
OD_API int od_build_block(od_build *b, const char *name, const od_block_spec *spec, const char *unit);
// Returns the signal of an output of a block, or -2 if there is no such output. The signal can replace an input.
OD_API int od_build_block_signal(const od_build *b, int block, int output);
// Connect input `place` (an index from 0) of a block. The source is a signal (an input or the output of a block), or
// the name of a quantity of the machine ("A.angle", "P.pressure"). The quantity must depend on states alone. Inputs
// that are not connected are zero.
OD_API void od_build_block_input(od_build *b, int block, int place, int signal);
OD_API void od_build_block_measures(od_build *b, int block, int place, const char *quantity);
// Sets the numbers of a block: theta[first_number], theta[first_number + 1], ... in the order of the keys.
OD_API void od_build_block_numbers(od_build *b, int block, int first_number);
// Sets the formula of a block whose spec has none.
OD_API void od_build_block_formula(od_build *b, int block, od_formula formula);
// Return the number of outputs and of states of a block, and the names of the outputs and states. These names are
// appended to the block's name ("": the block's name alone). An index out of range gives 0 or "".
OD_API int od_build_block_output_count(const od_build *b, int block);
OD_API const char *od_build_block_output_name(const od_build *b, int block, int output);
OD_API int od_build_block_state_count(const od_build *b, int block);
OD_API const char *od_build_block_state_name(const od_build *b, int block, int state);

// Sets an initial value. `quantity` is the name of an output ("A.angle", "spring.length", "A.rate"). The initial state has the
// exact values. Other values are approximate and select the branch of the assembly. Each joint coordinate of the tree needs a
// value. Positions that no exact value determines stay as near to the approximate values as the loops allow. The same rule holds
// for rates, which are zero by default. Each volume needs a pressure ("P.pressure"). States of elements ("valve.spool") have the
// default of their class, states of foreign blocks the default of their law; states of other blocks are zero by default.
OD_API void od_build_initial(od_build *b, const char *quantity, double value, bool exact);
// Declares a quantity whose initial value is computed such that the machine is in static balance. The computation starts at
// `value`. Joint coordinates and pressures can be balanced together. One balanced quantity per degree of freedom makes the
// accelerations zero. Further balanced pressures, and balanced states of elements and blocks, get zero rates.
OD_API void od_build_balance(od_build *b, const char *quantity, double value);

// Checks, compiles and assembles the model. On success *out is the model, freed with od_model_free(). On failure *out is NULL and
// err (may be NULL) has the reason; the caller may add missing elements and call od_build_finish() again. Fails with OD_BAD_INPUT,
// OD_NO_MEMORY, or OD_NOT_AVAILABLE if this build of the core has no complex numbers.
OD_API od_status od_build_finish(od_build *b, od_model **out, od_error *err);

// The problems that od_build_finish() found, each with the kind and index of the part of the model that causes the
// problem.
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
// Return the number of problems, and problem i (from 0). The text belongs to the builder.
OD_API int od_build_problem_count(const od_build *b);
OD_API od_problem od_build_problem(const od_build *b, int i);

// Selects the equations of a planar machine. spatial true: spatial equations, for comparisons; false: planar equations (default).
OD_API void od_build_spatial(od_build *b, bool spatial);

// ---- the model

// Frees a model; NULL is allowed. Free the plants of the model first.
OD_API void od_model_free(od_model *model);

// Outputs: the quantities that can be observed, by name ("boom.end.x", "P.pressure", "relief.flow", "energy.balance"). The
// functions return the number of outputs; the name and the SI unit of output i; and the index of the output with this name, or -1.
OD_API int od_model_output_count(const od_model *model);
OD_API const char *od_model_output_name(const od_model *model, int i);
OD_API const char *od_model_output_unit(const od_model *model, int i);
OD_API int od_model_output_find(const od_model *model, const char *name);

// Creates a plant with the chosen outputs (indices) and free parameters (indices of od_build_number()). The inputs of the
// plant are the inputs of the model, in the same order. The model must outlive the plant. Free the plant with
// od_plant_free(). Fails with OD_BAD_ARGUMENT, OD_NO_MEMORY, or OD_NOT_AVAILABLE if this build of the core lacks a derivative that
// the plant needs; err (may be NULL) has the reason.
OD_API od_status od_model_plant(const od_model *model, const int *outputs, int output_count, const int *parameters,
                                int parameter_count, od_plant **out, od_error *err);
// After this call, steps integrate all powers (nq of the plant). By default steps integrate powers only if a chosen output is an
// integral, such as "energy.dissipated". Use this function if the outputs of another plant of the same model are computed from the
// same simulation. Call this function right after od_model_plant(). Returns OD_BAD_ARGUMENT for plants that od_model_plant() did
// not create, such as plants with calibrated sensors.
OD_API od_status od_model_plant_integrate_powers(od_plant *plant);

OD_END_C

#endif
