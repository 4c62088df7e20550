// Inverse dynamics of a machine: computes the efforts of its drives for a prescribed motion of some quantities.
//
// The number of prescribed quantities equals the number of degrees of freedom. The quantities are joint coordinates, lengths of
// actuators, components of points, or angles of bodies in a plane. A drive is an actuator (a cylinder, a motor), an external force
// or torque, or a joint coordinate with a drive outside the model. Springs, friction, gravity and other forces act as in the
// machine. If there are more drives than degrees of freedom, the drives share the load: the sum of effort^2 / share is minimal.
// Drives with the same effect take loads in proportion to their shares.
//
// Outputs may also be loose, such as the swing of a hanging load. Their values and rates are given. Their second rates are computed
// together with the efforts, such that no drive acts on these outputs.
//
// Elements that exert forces and have states, such as bristle friction, exert the force of steady motion at the current speed.
#ifndef OD_INVERSE_H
#define OD_INVERSE_H

#include "model/model.h"

typedef enum od_drive_kind { OD_DRIVE_ELEMENT, OD_DRIVE_LOAD, OD_DRIVE_COORDINATE } od_drive_kind;
typedef struct od_drive {
  od_drive_kind kind;
  int index;     // index of the instance, load or coordinate
  double share;  // weight of this drive if several drives share the load, such as the piston area; positive
} od_drive;

typedef struct od_inverse od_inverse;

// Returns whether an output can be prescribed.
bool od_inverse_can_move(const od_output *o);

// Creates an inverse problem; the caller frees it with od_inverse_free(). `idle` lists instances that exert no force although they
// are not drives. The plant must be a plant of od_model_plant() and must outlive the inverse problem. The last `loose` of the moved
// outputs are loose. Fails with OD_BAD_INPUT if the counts do not match or if an output cannot be prescribed, and with OD_NO_MEMORY.
// The number of moved outputs must equal the number of degrees of freedom. There must be at least as many drives as driven outputs,
// or exactly as many if some outputs are loose.
od_status od_inverse_new(const od_plant *plant, const int *moved, int moved_count, int loose, const od_drive *drive,
                         int drives, const int *idle, int idles, od_inverse **out);
void od_inverse_free(od_inverse *inverse);

// Moves the machine to its initial state.
od_status od_inverse_start(od_inverse *inverse);

// Moves the machine from its current position to the given values, rates and second rates of the moved outputs; u: inputs of the
// machine. `second` receives the second rates of loose outputs. `effort` receives one entry per drive: the force of an element or
// coordinate, or the value of a load, in N or N m. Allocates nothing.
//   OD_NOT_CONVERGED or OD_NOT_FINITE: the values cannot be reached; the machine stays at its previous position.
//   OD_SINGULAR: at these positions the moved outputs do not determine the motion, or the drives cannot produce the motion;
//   od_inverse_stuck() returns the cause.
od_status od_inverse_solve(od_inverse *inverse, const double *u, const double *q, const double *rate, double *second,
                           double *effort);
typedef enum od_stuck { OD_STUCK_NOWHERE, OD_STUCK_MOTION, OD_STUCK_DRIVES } od_stuck;
od_stuck od_inverse_stuck(const od_inverse *inverse);

// Returns an output at the last solution: of the mechanism (including reactions of joints), or the length, the speed or the
// force of an element. Units are SI.
double od_inverse_output(od_inverse *inverse, const od_output *o);
// Returns whether od_inverse_output() supports an output.
bool od_inverse_has_output(const od_output *o);
// Returns the signal of an element; 1 if the element has no signal.
double od_inverse_signal(const od_inverse *inverse, int instance);

// State of an actuator (od_element_description.drives) at given pressures of its ends, with the position, speed and signal of the last
// solution. Forces of end stops are excluded: outside its stroke, the actuator has its shortest or longest length.
typedef struct od_actuation {
  double force;        // N, or N m in a revolute joint
  double force_by[2];  // derivative of the force with respect to the pressure of each end, N/Pa, or N m/Pa in a
                       // revolute joint
  double flow[2];      // flow from the lines into each end, m3/s, including leakage, without compression of the oil
  double volume[2];    // volume of the oil at each end, m3
} od_actuation;
void od_inverse_actuate(const od_inverse *inverse, int instance, const double pressure[2], od_actuation *out);
// Returns the derivative of an actuator's force with respect to the pressure of an end (0 or 1), in its shortest position with a
// signal of 1: a piston area or a displacement.
double od_actuator_size(const od_model *m, int instance, int end);

#endif
