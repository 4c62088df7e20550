// Options of a sweep, and the sweep of a job.
#ifndef OD_JOBS_SWEEP_OPTIONS_H
#define OD_JOBS_SWEEP_OPTIONS_H

#include "jobs/open_machine.h"
#include "jobs/job_options.h"
#include "jobs/job_files.h"
#include "sweep/sweep.h"

// Entries of the option table for sweeps.
#define OD_SWEEP_OPTIONS(target)                                                                               \
  {"sweep", OD_OPTION_LIST, "PATH=A:B:N",                                                                      \
   "repeat for N values of a number, from A to B; several paths make a grid\n(repeatable)", &(target)->paths}, \
  {                                                                                                            \
    "threads", OD_OPTION_TEXT, "N", "number of threads that compute the points; default: the number of cores", \
        &(target)->threads                                                                                     \
  }

// Entries of the option table for jobs that can also draw numbers at random.
#define OD_DRAW_OPTIONS(target)                                                                                    \
  {"draw", OD_OPTION_LIST, "PATH=...",                                                                             \
   "draw a number at random: PATH=normal:MEAN:DEVIATION or PATH=uniform:FROM:TO\n(repeatable)", &(target)->drawn}, \
      {"draws", OD_OPTION_TEXT, "N", "number of draws; default: 100", &(target)->draws}, {                         \
    "seed", OD_OPTION_TEXT, "N", "seed of the draws; default: 1", &(target)->seed                                  \
  }

typedef struct od_sweep_arguments {
  od_words paths, drawn;
  const char *threads, *draws, *seed;
} od_sweep_arguments;

typedef struct od_sweep_job {
  const char *path;  // the machine file
  const od_load_arguments *load;
  const od_sweep_arguments *arguments;
  // Called in the main thread with the first machine. Chooses outputs and settings. Returns OD_GO_ON, or the outcome.
  int (*prepare)(od_job *job, void *user, const od_machine *machine);
  od_sweep_measure *measure;
  // Called with the table of all points. Returns false if out of memory. NULL: the table needs no further work.
  bool (*finish)(od_table *table, const int *counts, int axes);
  void *user;
  int drawn;  // number of results drawn by --plot and in reports, starting with the first; 0: all, up to a limit
} od_sweep_job;

// Loads and computes all points, prints the result and writes the files. Returns the outcome.
int od_sweep_job_run(od_job *job, const od_sweep_job *command);

#endif
