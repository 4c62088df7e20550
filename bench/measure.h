// What the benchmarks measure and how: work that can be repeated, its processor time, its instructions.
//
// The environment says what is wanted, so that all programs of a run agree (see scripts/bench-against):
//   OD_BENCH_FIGURES=FILE    every figure is also appended to FILE, a line each: name, kind, value and spread between tabs
//   OD_BENCH_OWN=yes         only what oleodyn does, nothing it is compared with
//   OD_BENCH_TIMES=no        no times
//   OD_BENCH_INSTRUCTIONS=no no instructions
//   OD_BENCH_SECONDS=0.5     no subject gets more processor time than that (4 s otherwise): quick, and rough
#ifndef BENCH_MEASURE_H
#define BENCH_MEASURE_H

#include <stdbool.h>

// How many of the least times are kept, and how near to each other they must be for a figure to be trusted.
enum { BENCH_KEPT = 5 };
#define BENCH_SPREAD 0.01

typedef struct bench_subject {
  char name[64];
  const char *figure;  // its name in the file of figures; NULL: it is not written there
  double step;         // s
  void *self;
  int (*start)(void *self);                // back to t = 0; 0, or -1 on failure
  int (*advance)(void *self, int steps);   // 0, or -1 on failure
  void (*ends)(void *self, double xy[4]);  // x, y of the coupler's start and end; NULL: this subject does not move
  void (*destroy)(void *self);
  int steps;                 // how many make a run
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

// Advances a subject by so many steps. A function of its own, since callgrind counts inside it.
int bench_advance(const bench_subject *subject, int steps);

// Runs all subjects in turns, so that a slow spell of the machine hits all alike, until the spread of each is at most
// BENCH_SPREAD or it has had its share of time. Processor time: what else the machine does counts little. Returns 0, or
// -1 when a subject fails, which is then told. Does nothing when no times are wanted.
int bench_settle(bench_subject *subjects, int count);

// For subjects whose steps may take long: tries a few steps and makes a run so short that it takes a second at most. Returns the
// seconds of a step, or -1 after a message.
double bench_shorten(bench_subject *subject);

// The least time, s per step, and how far the last of the least times kept is above it, as a part of it.
double bench_best(const bench_subject *subject);
double bench_spread(const bench_subject *subject);

// Writes time and instructions of a subject to the file of figures, if there is one and the subject has a name for it.
void bench_write_figures(const bench_subject *subject);
// A number of a table in so many columns; "-" where it was not measured (not finite, or not above zero).
void bench_print_number(double value, int width, int decimals);
// The same of a spread, which stands for 8 columns.
void bench_print_spread(const bench_subject *subject);
// A line that says whether a goal is met: kind is "must" or "goal". Nothing is said about what was not measured.
void bench_verdict(const char *kind, const char *what, double value, const char *unit, double limit, bool at_least);
// Slope of log y over log n by least squares over the points from `from` on, without those that are not positive; NAN when there are
// fewer than two.
double bench_exponent(const int *n, const double *y, int from, int count);
// Says how times were taken, and which of these did not settle.
void bench_print_method(const bench_subject *subjects, int count);

#endif
