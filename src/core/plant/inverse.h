// Inverse dynamics of a machine: which efforts of its drives make quantities move as prescribed.
//
// As many quantities move as the machine has degrees of freedom: joint coordinates, lengths of actuators, components of points,
// angles of bodies in a plane. A drive is a cylinder, motor or other element that pushes, a force or torque from outside, or a
// joint's coordinate that something not in the model drives. What else acts (springs, friction, gravity, other forces) acts as
// in the machine. With more drives than degrees of freedom they share the load: the sum of effort^2 / share is least, so that those that
// act alike take parts in proportion to their shares.
//
// Outputs may also be left to move on their own, such as the swing of a load that hangs: their values and rates are given, their second
// rates are found together with the efforts, such that nothing drives them.
//
// Elements that push and have states of their own, such as bristles of friction, push as they do in steady motion at the speed of the
// moment.
#ifndef OD_INVERSE_H
#define OD_INVERSE_H

#include "model/model.h"

typedef enum od_drive_kind { OD_DRIVE_ELEMENT, OD_DRIVE_LOAD, OD_DRIVE_COORDINATE } od_drive_kind;
typedef struct od_drive {
  od_drive_kind kind;
  int index;     // of the instance, load or coordinate
  double share;  // how much it takes where several can do the work: a piston's area; positive
} od_drive;

typedef struct od_inverse od_inverse;

// Whether an output can be prescribed.
bool od_inverse_can_move(const od_output *o);

// `idle` lists instances that push nothing although they are no drives. The plant is one of od_model_plant(), which it
// outlives. The last `loose` of the moved outputs move on their own. OD_BAD_INPUT where the counts do not suit: as many moved outputs as
// degrees of freedom; at least as many drives as outputs that are driven, and exactly as many where some are loose.
od_status od_inverse_new(const od_plant *plant, const int *moved, int moved_count, int loose, const od_drive *drive,
                         int drives, const int *idle, int idles, od_inverse **out);
void od_inverse_free(od_inverse *inverse);

// The machine's initial state, as the place to move on from.
od_status od_inverse_start(od_inverse *inverse);

// Moves the machine to values, rates and second rates of the moved outputs, near where it stands; u: its inputs. `second` gets those of
// outputs that move on their own. effort gets one entry per drive: what an element or coordinate pushes with, or the size of a load. Allocates nothing.
//   OD_NOT_CONVERGED: the values cannot be reached from where it stood, which is where it stands then.
//   OD_SINGULAR: at these positions the moved outputs do not decide the motion, or the drives cannot hold it; od_inverse_stuck()
//   says which.
od_status od_inverse_solve(od_inverse *inverse, const double *u, const double *q, const double *rate, double *second,
                           double *effort);
typedef enum od_stuck { OD_STUCK_NOWHERE, OD_STUCK_MOTION, OD_STUCK_DRIVES } od_stuck;
od_stuck od_inverse_stuck(const od_inverse *inverse);

// Of the last solution: an output of the mechanism (what joints carry included), of a length, speed or the force along it.
double od_inverse_output(od_inverse *inverse, const od_output *o);
// Whether od_inverse_output() has such an output.
bool od_inverse_has_output(const od_output *o);
// The signal that an element follows; 1: none.
double od_inverse_signal(const od_inverse *inverse, int instance);
// The coordinates of the last solution (all of them), their rates and accelerations.
const double *od_inverse_coordinates(const od_inverse *inverse, int order);

#endif
