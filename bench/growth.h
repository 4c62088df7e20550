// How machines grow: load, memory, and the cost of a trapezoidal step over the number N of their parts.
//
//   PROGRAM INSTRUCTIONS.sh MACHINE.yaml ...   the table: N, time to load, memory, time, instructions, fitted exponents
//   PROGRAM --steps COUNT MACHINE.yaml         just so many steps, for instructions.sh
//
// Memory: the block of a plain simulation, and the most that the process has ever used. Instructions: see instructions.h; they are
// not counted where loading takes a second.
#ifndef BENCH_GROWTH_H
#define BENCH_GROWTH_H

typedef struct bench_growth_kind {
  const char *machine, *parts;  // "Circuit", "volumes": what N counts, one rate each
  double step;                  // s
  int steps;                    // how many make a run; 0: fewer of larger machines
} bench_growth_kind;

int bench_growth(const bench_growth_kind *kind, int argc, char **argv);

#endif
