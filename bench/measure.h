// Measurements of the benchmarks: repeatable work, its processor time, its instructions.
//
// Environment variables select the measurements for all programs of a run (see scripts/bench-against):
//   OD_BENCH_FIGURES=FILE    every figure is also appended to FILE, a line each: name, kind, value and spread between tabs
//   OD_BENCH_OWN=yes         only oleodyn, without the programs it is compared with
//   OD_BENCH_TIMES=no        no times
//   OD_BENCH_INSTRUCTIONS=no no instructions
//   OD_BENCH_SECONDS=0.5     limit of the processor time of a subject (default 4 s): quick but less accurate
#ifndef BENCH_MEASURE_H
#define BENCH_MEASURE_H

#include <stdbool.h>

// Number of least times that are kept, and their allowed spread.
enum { BENCH_KEPT = 5 };
#define BENCH_SPREAD 0.01

typedef struct bench_subject {
  char name[64];
  const char *figure;  // name in the file of figures; NULL: not written
  double step;         // s
  void *self;
  int (*start)(void *self);                // back to t = 0; 0, or -1 on failure
  int (*advance)(void *self, int steps);   // 0, or -1 on failure
  void (*ends)(void *self, double xy[4]);  // x, y of the coupler's start and end; NULL: this subject does not move
  void (*destroy)(void *self);
  int steps;                 // of a run
  double least[BENCH_KEPT];  // s per step, the least of all runs so far, in order
  int runs;
  double instructions;  // per step; 0: not counted
  double error[2];      // m: distances of the coupler's start and end from the reference at 1 s
} bench_subject;

bool bench_own_only(void);
bool bench_wants_times(void);
bool bench_wants_instructions(void);

// Keeps this process on one core.
void bench_pin(void);

// Advances a subject by a number of steps. A separate function, because callgrind counts inside it.
int bench_advance(const bench_subject *subject, int steps);

// Runs all subjects in turns, so that variations of the computer's speed affect all alike, until the spread of each is
// at most BENCH_SPREAD or its time limit is reached. Measures processor time, so other work on the computer has little
// effect. Returns 0, or -1 after a message if a subject fails. Does nothing if times are not requested.
int bench_settle(bench_subject *subjects, int count);

// For subjects with slow steps: measures a few steps and limits a run to at most a second. Returns the seconds of a step, or -1
// after a message.
double bench_shorten(bench_subject *subject);

// The least time, s per step, and the relative distance of the last of the kept times from it.
double bench_best(const bench_subject *subject);
double bench_spread(const bench_subject *subject);

// Writes time and instructions of a subject to the file of figures, if there is one and the subject has a name for it.
void bench_write_figures(const bench_subject *subject);
// Prints a number of a table with a width; "-" if it was not measured (not finite, or not above zero).
void bench_print_number(double value, int width, int decimals);
// The same for a spread, with a width of 8.
void bench_print_spread(const bench_subject *subject);
// Prints whether a goal is met: kind is "must" or "goal". Prints nothing for values that were not measured.
void bench_verdict(const char *kind, const char *what, double value, const char *unit, double limit, bool at_least);
// Slope of log y over log n by least squares over the points from `from` on, without points that are not positive; NAN if fewer than
// two remain.
double bench_exponent(const int *n, const double *y, int from, int count);
// Prints how times were measured, and which subjects did not settle.
void bench_print_method(const bench_subject *subjects, int count);

#endif
