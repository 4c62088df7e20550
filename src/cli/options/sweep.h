// The same command for many values of one or more numbers of the machine, on all cores.
#ifndef OD_OPTIONS_SWEEP_H
#define OD_OPTIONS_SWEEP_H

#include "options/open_machine.h"
#include "options/options.h"
#include "options/result_files.h"

// The entries for a command's table of options.
#define OD_SWEEP_OPTIONS(target)                                                                                      \
  {"sweep", OD_OPTION_LIST, "PATH=A:B:N",                                                                             \
   "do it for N values of a number, from A to B; several paths make a grid\n(repeatable)", &(target)->paths},         \
  {                                                                                                                   \
    "threads", OD_OPTION_TEXT, "N", "with --sweep: how many; default: as many as there are cores", &(target)->threads \
  }

// The same for commands that can draw numbers at random.
#define OD_DRAW_OPTIONS(target)                                                                                    \
  {"draw", OD_OPTION_LIST, "PATH=...",                                                                             \
   "draw a number at random: PATH=normal:MEAN:DEVIATION or PATH=uniform:FROM:TO\n(repeatable)", &(target)->drawn}, \
      {"draws", OD_OPTION_TEXT, "N", "how many draws; default: 100", &(target)->draws}, {                          \
    "seed", OD_OPTION_TEXT, "N", "seed of the draws; default: 1", &(target)->seed                                  \
  }

typedef struct od_sweep_arguments {
  od_words paths, drawn;
  const char *threads, *draws, *seed;
} od_sweep_arguments;

// What comes out at one point: named numbers. Names and units are copied.
typedef struct od_sweep_row {
  int count, capacity;
  struct od_sweep_value {
    char *name, *unit;
    double value;
  } * item;
} od_sweep_row;
bool od_sweep_add(od_sweep_row *row, const char *name, const char *unit, double value);

typedef struct od_sweep {
  const char *path;  // of the machine file
  const od_load_arguments *load;
  const od_sweep_arguments *arguments;
  const od_files *files;
  bool quiet;
  // Called with the first machine, in the main thread: chooses outputs and so on. -1 to go on, or the exit code.
  int (*prepare)(void *user, const od_machine *machine);
  // Called once per point, in any thread: fills the row; keeps_going says whether to go on.
  od_status (*measure)(void *user, const od_machine *machine, bool (*keeps_going)(void *, double), void *going,
                       od_sweep_row *row, od_error *err);
  // Called with all points, axes first; the last axis changes fastest. NULL: nothing is to be done.
  bool (*finish)(od_table *table, const int *counts, int axes);
  void *user;
  int drawn;  // how many results --plot draws, the first ones; 0: a sweep of this command is not drawn
} od_sweep;

// Does it all, prints and writes files; the exit code. Points that fail have no values; the first messages are shown.
int od_sweep_run(const od_sweep *sweep);

#endif
