// Simulators of the four-bar, and the definition of their errors.
#ifndef BENCH_FOURBAR_SUBJECTS_H
#define BENCH_FOURBAR_SUBJECTS_H

#include "measure.h"

// The larger of the two errors, by which subjects are compared.
double bench_error(const bench_subject *subject);

// Start of the freely swinging four-bar and position of its coupler after 1 s, from the accurately integrated oracle.
typedef struct bench_reference {
  double angle[3];  // initial absolute angles of crank, coupler and rocker
  double xy[4];     // coupler's start and end after 1 s
} bench_reference;
int bench_reference_make(bench_reference *reference);
// Simulates 1 s, which the step must divide, and fills subject->error; infinite if the subject fails.
void bench_compare(bench_subject *subject, const bench_reference *reference);

// Subjects. Each returns 0, or -1 if the simulator is missing or cannot run the machine.
enum { BENCH_EULER, BENCH_RK4, BENCH_FORWARD_DIFFERENCES, BENCH_CENTRED_DIFFERENCES };
// hardness: 1/s^2, the stiffness of MuJoCo's constraint per unit of inertia, critically damped; 0: MuJoCo's default.
int bench_mujoco_new(bench_subject *subject, const bench_reference *reference, int mode, double step, double hardness);
const char *bench_mujoco_version(void);  // NULL: built without MuJoCo

enum { BENCH_TRAPEZOID, BENCH_TRAPEZOID_JACOBIAN, BENCH_OLEODYN_RK4, BENCH_TRAPEZOID_JACOBIAN_MASSES };
int bench_oleodyn_new(bench_subject *subject, const char *machine_file, int mode, double step);

// The same four-bar driven by a cylinder, a valve and a pump (cases/fourbar-valve, six control points), 5 s. With Jacobian: with
// respect to all states and 18 parameters, two of the oil and the 16 inner control points. With masses: also with respect to
// masses and lengths of the three bodies. BENCH_TRAPEZOID, BENCH_TRAPEZOID_JACOBIAN or BENCH_TRAPEZOID_JACOBIAN_MASSES.
int bench_hydraulic_new(bench_subject *subject, const char *machine_file, int mode, double step);

#endif
