// Free bodies of a machine: Newton's and Euler's equations by hand with the machine's outputs of joints, cylinders,
// springs and accelerations. An independent check of pin loads.
#ifndef OD_TEST_FREE_BODY_H
#define OD_TEST_FREE_BODY_H

#include "oleodyn/machine.h"
#include "oleodyn/sim.h"

enum { WATCHED_OUTPUTS = 1500, WATCHED_INPUTS = 16 };

// A machine with all of its outputs.
typedef struct watched_machine {
  od_machine *machine;
  od_plant *plant;
  od_sim *sim;
  int count;
  double y[WATCHED_OUTPUTS];
  double power, power_size;  // of joints on the bodies checked since the last run: sum, and sum of magnitudes
  // Largest defects of all checks: of forces, and of torques over 1 m, relative to the largest joint force of the body; of the power.
  double worst_force, worst_torque, worst_power;
} watched_machine;

void watched_begin(watched_machine *b, od_machine *machine);
void watched_run_to(watched_machine *b, double time, double step);
// Prints the largest defects of the bodies that were checked, if any. Frees the machine as well.
void watched_end(watched_machine *b);
// The total power of ideal joints is zero. Call this after every body of the machine was checked.
void watched_check_power(watched_machine *b);
// The value of "element.quantity". The test fails if there is no such output.
double shown(const watched_machine *b, const char *element, const char *quantity);

// A joint whose force acts on the body at one of its points, with the sign of the body's side.
typedef struct pin {
  const char *joint, *point;
  double sign;
} pin;
// A cylinder (sense 1: pushes) or a spring (-1: pulls) between a point of the body and another one; x, y for a point of the ground.
typedef struct push {
  const char *element, *own, *other;
  double sense, x, y;
} push;
typedef struct free_body {
  const char *name, *centre;
  double mass, inertia;  // about its center
  pin pins[6];
  push pushes[3];
  const char *
      turner;  // an output that is another torque about z on the body (torque_z of a slide or fixed joint, a damper), or NULL
  double turner_sign;
} free_body;

// Forces and torques must balance to 1e-9 of the largest joint force, with gravity of 9.81 along -y, plus this external force at a
// point of the body.
typedef struct outside_force {
  const char *point;
  double x, y;
} outside_force;
void free_body_check(watched_machine *b, const free_body *f);
void free_body_check_with(watched_machine *b, const free_body *f, const outside_force *forces, int count);

// In space. R: the body's rotation matrix, which the caller computes independently; torque: torques on the body along the coordinates
// of its joints (drives, dampers), in ground axes. Gravity is 9.81 along -z. A slide's force acts on both bodies at the point of its
// second body.
typedef struct space_body {
  const char *name, *centre;
  double mass, inertia[3];  // about its center, along its axes
  pin pins[7];
  push pushes[4];
} space_body;
void space_body_check(watched_machine *b, const space_body *f, double R[3][3], const double torque[3]);

#endif
