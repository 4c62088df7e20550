// Scaling of machines: load time, memory, and cost of a trapezoidal step over the number N of their parts.
//
//   PROGRAM INSTRUCTIONS.sh MACHINE.yaml ...   the table: N, time to load, memory, time, instructions, fitted exponents
//   PROGRAM --steps COUNT MACHINE.yaml         only COUNT steps, for instructions.sh
//
// Memory: the block of a plain simulation, and the peak memory of the process. Instructions: see instructions.h; they are not
// counted if loading takes a second or steps take milliseconds. Libraries of older commits may be far slower: runs are shortened to
// a second, and machines after one that took seconds to load are omitted.
#ifndef BENCH_GROWTH_H
#define BENCH_GROWTH_H

#include <stdbool.h>

typedef struct bench_growth_kind {
  const char *machine, *parts;  // "Circuit", "volumes": N is their number, one rate each
  double step;                  // s
  int steps;                    // of a run; 0: fewer for larger machines
  double most_exponent;         // upper limit of the exponent of the cost of a step, up to most_parts
  int most_parts;
} bench_growth_kind;

// Returns whether machines after one with this load time are measured. Otherwise prints their names: `files` from
// `from` on.
bool bench_goes_on(double load, char **files, int from, int count);
// Returns whether callgrind, which is fifty times slower, can count the instructions of such a machine.
bool bench_can_count(double load, double step);
// Prints "time A, instructions B" with the exponents of the points from `from` on.
void bench_print_exponents(const int *n, const double *time, const double *work, int from, int count);

int bench_growth(const bench_growth_kind *kind, int argc, char **argv);

#endif
