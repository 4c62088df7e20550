// The friction test bench written by hand: equations B.1 to B.13 and B.34 to B.39 of source 28 in docs/theory.md with the corrections
// of the case's README, in the pressures above ambient of the source, integrated by Runge-Kutta of fourth order. It shares no code with
// the library.
#ifndef OD_ORACLE_FRICTION_BENCH_H
#define OD_ORACLE_FRICTION_BENCH_H

#include <stdbool.h>

typedef struct oracle_bench {
  double pressure;  // reference of both main chambers, Pa above ambient
  double position;  // at the start, m
  bool step;        // -0.25 m/s through a lag of 200 rad/s at 0.5 s; else the sine
  bool feed_forward;
} oracle_bench;

// Errors of the pressures of piston and rod side (Pa) and of the speed (m/s) at the times i * 1 ms, i = 0 .. rows - 1.
void oracle_bench_run(const oracle_bench *bench, int rows, double (*error)[3]);

#endif
