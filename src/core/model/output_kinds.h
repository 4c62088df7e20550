// Outputs: quantities of a machine that can be observed.
#ifndef OD_OUTPUT_KINDS_H
#define OD_OUTPUT_KINDS_H

#include <stdbool.h>

// The kind of an output. The comments give the meaning of od_output.index, component and second.
typedef enum od_output_kind {
  OD_OUT_COORDINATE,
  OD_OUT_COORDINATE_RATE,
  OD_OUT_COORDINATE_ACCELERATION,  // index: coordinate
  OD_OUT_POINT,
  OD_OUT_POINT_VELOCITY,
  OD_OUT_POINT_ACCELERATION,  // index: point; component: ground axis
  OD_OUT_POINT_BODY_VELOCITY,
  OD_OUT_POINT_BODY_ACCELERATION,
  OD_OUT_POINT_SPECIFIC_FORCE,  // index: point; component: body axis. Specific force: acceleration minus gravity
  OD_OUT_BODY_POSE,  // index: body; component: 0..2 ground coordinates of the body's origin, then the unit quaternion w x y z
  OD_OUT_BODY_ANGLE,
  OD_OUT_BODY_TURN_RATE,
  OD_OUT_BODY_TURN_ACCELERATION,  // index: body; in spatial machines, component: ground axis
  OD_OUT_BODY_GYRO,
  OD_OUT_BODY_GYRO_RATE,  // index: body; component: axis of the body. Turn rates and turn accelerations in body axes
  OD_OUT_BODY_KINETIC,
  OD_OUT_BODY_POTENTIAL,  // index: body

  // Reaction of a joint, index: joint; component: ground axis, or OD_REACTION_SIZE for the magnitude. For a rod or gear, index:
  // rod or gear.
  OD_OUT_JOINT_FORCE,
  OD_OUT_JOINT_TORQUE,
  OD_OUT_ROD_FORCE,
  OD_OUT_GEAR_FORCE,
  OD_OUT_LOAD,
  OD_OUT_LOAD_POWER,   // index: load. Supplied power; for a contact, dissipated power
  OD_OUT_LOAD_STORED,  // index: load that is a contact
  OD_OUT_INPUT,        // index: signal

  // Outputs of a node of the circuit. index: node.
  OD_OUT_NODE_PRESSURE,
  OD_OUT_NODE_INFLOW,
  OD_OUT_NODE_CAVITATING,
  OD_OUT_NODE_VOID,
  OD_OUT_NODE_MASS,            // void and mass: volumes only
  OD_OUT_PRESSURE_DIFFERENCE,  // second: the node whose pressure is subtracted

  // Outputs of an actuator. index: actuator.
  OD_OUT_LENGTH,
  OD_OUT_SPEED,
  OD_OUT_FORCE,
  // Outputs of an instance. index: instance; component: index of the result (`out`), report or state; second: another instance
  // whose value is added.
  OD_OUT_ELEMENT,
  OD_OUT_REPORT,
  OD_OUT_ELEMENT_STATE,
  OD_OUT_BLOCK_STATE,  // index: state; component: block
  OD_OUT_KINETIC,
  OD_OUT_POTENTIAL,
  OD_OUT_STORED,
  // Integrals of powers. index: power; second: another power that is added.
  OD_OUT_INTEGRAL,
  OD_OUT_DISSIPATED,
  OD_OUT_SUPPLIED,
  OD_OUT_COMPRESSED,
  OD_OUT_OIL_BALANCE,
  OD_OUT_BALANCE,
} od_output_kind;
enum { OD_REACTION_SIZE = 3 };
enum { OD_POSE_QUATERNION = 3, OD_POSE_SIZE = 7 };  // components of a pose
typedef struct od_output {
  int name, unit;
  od_output_kind kind;
  int index, component;
  int second;        // second instance, power or node, or -1
  bool negative;     // whether the output has the opposite sign
  bool is_pressure;  // states of blocks: whether the unit begins with Pa
} od_output;

#endif
