// Options and common functions of jobs about linear models: operating point, inputs, outputs, sweeps.
#ifndef OD_JOBS_LINEAR_OPTIONS_H
#define OD_JOBS_LINEAR_OPTIONS_H

#include <stdatomic.h>

#include "jobs/open_machine.h"
#include "jobs/job_options.h"
#include "jobs/job_files.h"
#include "jobs/select_outputs.h"
#include "jobs/sweep_options.h"
#include "linear/linear_model.h"

typedef struct od_linear_arguments {
  od_load_arguments load;
  od_words inputs, outputs, hold, release;
  const char *at, *step;
  bool balance;  // whether an equilibrium is found even without --hold
  od_sweep_arguments sweep;
  od_point_state *state;  // filled if job->files.path[OD_FILE_STATE] is set
} od_linear_arguments;

// The arguments of a linear command, resolved for a machine.
typedef struct od_linear_plan {
  od_arena arena;
  od_selection outputs;
  int *inputs, input_count;  // indices of the inputs; NULL: all inputs
  od_point_options point;
  od_point_state *state;  // filled with the state of the point; may be NULL
} od_linear_plan;

// The entries for the operating point in the option table of a kind of job.
#define OD_LINEAR_OPTIONS(target)                                                                                      \
  {"at", OD_OPTION_TEXT, "T", "linearize at the state of a run at this time ('2 s'); default: the initial state",      \
   &(target)->at},                                                                                                     \
      {"step", OD_OPTION_TEXT, "H", "step of the run to --at; default: from the file, else 1 ms", &(target)->step},    \
      {"hold", OD_OPTION_LIST, "OUTPUT=VALUE",                                                                         \
       "find an equilibrium, near the initial state or the state of --at, with this value of\nan output (repeatable)", \
       &(target)->hold},                                                                                               \
      {"adjust", OD_OPTION_LIST, "NAME,...", "inputs that are adjusted for --hold (repeatable)", &(target)->release},  \
      OD_SWEEP_OPTIONS(&(target)->sweep), OD_LOAD_OPTIONS(&(target)->load)

// The sweep of a job: results are computed from the model at each point, in any thread.
typedef struct od_linear_sweep {
  const od_linear_arguments *arguments;
  od_linear_plan plan;
  // Called once with the model of the first point, for checks and choices of the job. Returns OD_GO_ON, or the outcome. NULL: not
  // called.
  int (*begin)(od_job *job, void *user, const od_machine *machine, const od_linear_model *model);
  // Long computations call goes_on regularly. After goes_on has returned false, the row is discarded.
  od_status (*measure)(const void *user, const od_linear_model *model, bool (*goes_on)(void *, double), void *going,
                       od_sweep_row *row, od_error *err);
  bool (*finish)(od_table *table, const int *counts, int axes);
  void *user;
  int drawn;                                   // number of results drawn by --plot; 0: all, up to a limit
  atomic_int kinked, narrow, moving, sampled;  // counts of points with a warning
} od_linear_sweep;

// A job about the linear model at a point, or at the points of a sweep. The model has the inputs of the arguments, else all
// inputs. The model has the outputs of the arguments, else the default outputs of od_select_outputs().
typedef struct od_linear_job {
  const od_usage *usage;
  od_linear_sweep *sweep;  // the sweep, which also contains the arguments
  // Checks that the arguments are compatible, before anything is loaded. Returns OD_GO_ON, or the outcome after
  // reporting an error. NULL: no check.
  int (*check)(od_job *job, void *user);
  int (*show)(od_job *job, void *user, const od_machine *machine,
              const od_linear_model *model);  // returns the outcome
  void *user;
} od_linear_job;
int od_linear_job_run(od_job *job, const od_linear_job *command);

// --- Frequencies of responses -----------------------------------------------------------------------------------------

typedef struct od_frequency_arguments {
  const char *low, *high, *points;
} od_frequency_arguments;

// The entries for frequencies in the option table of a kind of job.
#define OD_FREQUENCY_OPTIONS(target)                                                                                   \
  {"low", OD_OPTION_TEXT, "F", "lowest frequency, in Hz or with a unit; default: below the slowest pole",              \
   &(target)->low},                                                                                                    \
      {"high", OD_OPTION_TEXT, "F", "highest frequency; default: above the fastest pole", &(target)->high}, {          \
    "points", OD_OPTION_TEXT, "N", "number of frequencies, logarithmically spaced; default: 400 for bode, 60 for rga", \
        &(target)->points                                                                                              \
  }

// Chooses the frequencies. Returns OD_GO_ON, or the outcome after reporting an error. The list belongs to the arena.
int od_frequencies_choose(od_job *job, const od_frequency_arguments *arguments, const od_linear_model *model,
                          int points, od_arena *arena, double **out, int *count);

#endif
