// Repeats a computation for many values of one or more numbers of a machine: a grid of points, or random draws. Threads share the
// points.
#ifndef OD_SWEEP_SWEEP_H
#define OD_SWEEP_SWEEP_H

#include <stdbool.h>

#include "io/table.h"
#include "io/workers.h"
#include "oleodyn/machine.h"
#include "random/draw.h"
#include "result/result.h"

enum { OD_SWEEP_AXES = 8, OD_SWEEP_POINTS = 10000, OD_SWEEP_SETTING = 480 };

// A number of the machine and its values: `count` values from `from` to `to`, or random values.
typedef struct od_sweep_axis {
  char path[300], unit[80];  // the unit of from, to and draw; "": SI
  char si[64];               // SI unit of the number, filled by od_sweep_take()
  double from, to;
  int count;  // 1 for draws
  od_draw draw;
} od_sweep_axis;

typedef struct od_sweep_plan {
  int axes, points;  // numbers of axes and points; the last axis changes fastest
  bool is_drawn;     // whether points are random draws instead of a grid
  unsigned long long seed;
  od_sweep_axis axis[OD_SWEEP_AXES];
} od_sweep_plan;

// Writes the number of an axis at a point: "PATH=VALUE UNIT".
void od_sweep_setting(const od_sweep_plan *plan, int point, int axis, char text[OD_SWEEP_SETTING]);

// The results of one point: named numbers. od_sweep_add() copies the name and the unit; false: out of memory. Rows do not use
// an arena, because there are thousands of small rows.
typedef struct od_sweep_row {
  int count, capacity;
  struct od_sweep_value {
    char *name, *unit;
    double value;
  } * item;
} od_sweep_row;
bool od_sweep_add(od_sweep_row *row, const char *name, const char *unit, double value);

// Computes a point, in any thread, and fills the row. Calls goes_on(going, completed fraction) regularly. After goes_on() has
// returned false, the function returns OD_INTERRUPTED.
typedef od_status od_sweep_measure(void *user, const od_machine *machine, bool (*goes_on)(void *going, double done),
                                   void *going, od_sweep_row *row, od_error *err);

typedef struct od_sweep {
  od_sweep_plan plan;
  char title[300];  // title of the first machine
  od_machine **machine;
  od_sweep_row *row;
  od_status *status;  // OD_INTERRUPTED: not computed
  od_error *err;
  double *value;   // points x axes, in SI
  od_arena arena;  // owns the lists, except the rows
  od_sweep_measure *measure;
  void *user;
  bool (*progress)(void *user, double done);
  void *progress_user;
  od_workers workers;  // the threads, and whether the caller has stopped the sweep
} od_sweep;

// Prepares a sweep. False: out of memory. Free the sweep in all cases.
bool od_sweep_begin(od_sweep *s, const od_sweep_plan *plan);
void od_sweep_free(od_sweep *s);
// Takes ownership of a machine that was loaded with the settings of the point.
void od_sweep_take(od_sweep *s, int point, od_machine *machine);
// Computes all points with `threads` threads (0: one for each core). `progress` is called regularly with the completed
// fraction. After `progress` has returned false, no further point begins.
void od_sweep_run(od_sweep *s, int threads, od_sweep_measure *measure, void *user,
                  bool (*progress)(void *user, double done), void *progress_user);
// Returns the number of points that were computed, with or without results.
int od_sweep_computed(const od_sweep *s);
// Returns whether at least one point has results.
bool od_sweep_has_results(const od_sweep *s);
// Creates a table with a row for each point: the axes, then the results; NAN if a point has no results. The caller frees the table.
// NULL: out of memory.
od_table *od_sweep_table(od_sweep *s);

// Creates the result: columns, rows and failures in the data; a table of points, or of statistics over draws, in the view. `table`:
// from od_sweep_table(); NULL: only failures.
od_result od_sweep_result(const od_sweep *s, const od_table *table);

#endif
