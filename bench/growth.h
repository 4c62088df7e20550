// How machines grow: load, memory, and the cost of a trapezoidal step over the number N of their parts.
//
//   PROGRAM INSTRUCTIONS.sh MACHINE.yaml ...   the table: N, time to load, memory, time, instructions, fitted exponents
//   PROGRAM --steps COUNT MACHINE.yaml         just so many steps, for instructions.sh
//
// Memory: the block of a plain simulation, and the most that the process has ever used. Instructions: see instructions.h; they are
// not counted where loading takes a second or steps take milliseconds. Libraries of older commits may be far slower: runs become so
// short that they take a second, and what follows a machine that took seconds to load is left out.
#ifndef BENCH_GROWTH_H
#define BENCH_GROWTH_H

#include <stdbool.h>

typedef struct bench_growth_kind {
  const char *machine, *parts;  // "Circuit", "volumes": what N counts, one rate each
  double step;                  // s
  int steps;                    // how many make a run; 0: fewer of larger machines
  double most_exponent;         // of the cost of a step, up to so many parts: what is wanted
  int most_parts;
} bench_growth_kind;

// Whether machines after one that took so long to load are measured. Tells which are not: `files` from `from` on.
bool bench_goes_on(double load, char **files, int from, int count);
// Whether instructions of such a machine can be counted by callgrind, which takes fifty times as long.
bool bench_can_count(double load, double step);
// Prints "time A, instructions B" with the exponents of the points from `from` on.
void bench_print_exponents(const int *n, const double *time, const double *work, int from, int count);

int bench_growth(const bench_growth_kind *kind, int argc, char **argv);

#endif
