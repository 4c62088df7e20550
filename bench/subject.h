// What the benchmarks measure: a simulator that can swing the four-bar, and how its cost and error are taken.
#ifndef BENCH_SUBJECT_H
#define BENCH_SUBJECT_H

typedef struct bench_subject {
  char name[64];
  double step;  // s
  void *self;
  int (*start)(void *self);                // back to t = 0; 0, or -1 on failure
  int (*advance)(void *self, int steps);   // 0, or -1 on failure
  void (*ends)(void *self, double xy[4]);  // x, y of the coupler's start and end; NULL: this subject does not move
  void (*destroy)(void *self);
  int steps;            // how many make a run; 0: a second's worth, or 500 for subjects that do not move
  double best;          // s per step, least of all repetitions so far
  double instructions;  // per step; 0: not counted
  double error[2];      // m: distances of the coupler's start and end from the reference at 1 s
} bench_subject;

// Keeps this process on one core.
void bench_pin(void);
// Seconds from an arbitrary zero.
double bench_now(void);

// Repeats `steps` steps from the start for about `budget` seconds (at least three times) and lowers subject->best to
// the least time per step seen. Returns 0, or -1 when the subject fails.
int bench_time(bench_subject *subject, int steps, double budget);

// The larger of the two errors: what subjects are compared by.
double bench_error(const bench_subject *subject);

// Where the freely swinging four-bar starts and where its coupler is after 1 s: from the oracle, tightly integrated.
typedef struct bench_reference {
  double angle[3];  // initial absolute angles of crank, coupler and rocker
  double xy[4];     // coupler's start and end after 1 s
} bench_reference;
int bench_reference_make(bench_reference *reference);
// Swings for 1 s, which the step must divide, and fills subject->error; infinite where the subject fails.
void bench_compare(bench_subject *subject, const bench_reference *reference);

// Subjects. Each returns 0, or -1 when the simulator is not there or cannot run the machine.
enum { BENCH_EULER, BENCH_RK4, BENCH_FORWARD_DIFFERENCES, BENCH_CENTRED_DIFFERENCES };
// hardness: 1/s^2, the stiffness of MuJoCo's constraint per unit of inertia, critically damped; 0: MuJoCo's default.
int bench_mujoco_new(bench_subject *subject, const bench_reference *reference, int mode, double step, double hardness);
const char *bench_mujoco_version(void);  // NULL: built without MuJoCo

enum { BENCH_TRAPEZOID, BENCH_TRAPEZOID_JACOBIAN, BENCH_OLEODYN_RK4 };
int bench_oleodyn_new(bench_subject *subject, const char *machine_file, int mode, double step);

// The same four-bar driven by a cylinder, a valve and a pump (cases/fourbar-valve, six control points), 5 s. With
// Jacobian: the transition in all states and in 18 parameters, two of the oil and the 16 inner control points.
// BENCH_TRAPEZOID or BENCH_TRAPEZOID_JACOBIAN.
int bench_hydraulic_new(bench_subject *subject, const char *machine_file, int mode, double step);

#endif
