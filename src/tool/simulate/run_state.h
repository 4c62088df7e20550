// The internal state of a run, shared by the files that step, record and judge the run.
#ifndef OD_SIMULATE_RUN_STATE_H
#define OD_SIMULATE_RUN_STATE_H

#include "oleodyn/advance.h"
#include "simulate/cavitation.h"
#include "simulate/cvodes.h"
#include "simulate/run.h"
#include "simulate/run_laws.h"
#include "simulate/stability.h"

// Energies whose ranges give the energy moved. The first energy is the balance, which must remain zero.
enum { OD_RUN_ENERGIES = 5 };
extern const char *const od_run_energies[OD_RUN_ENERGIES];

typedef struct od_run_range {
  double low, high;
} od_run_range;

// The integration method of a run, and its settings.
typedef struct od_run_method {
  const od_integrator *integrator;  // NULL: CVODES
  bool adaptive;
  double tolerance, longest;  // tolerance (also for CVODES) and longest step, s, of adaptive steps
  double step;                // time between points of the grid, s: the fixed step, or the time between rows
  double row;                 // time between rows that the caller requested, s
  long parts;                 // points of the grid per requested row
  long every;                 // points of the grid per row
} od_run_method;

// The point at which resumed runs begin, for runs with any method: a saved simulation at or before the last row of the
// checkpoint.
typedef struct od_run_start {
  od_checkpoint sim;
  const od_integrator *integrator;
  double row;  // time of the last row, s
  double balance;
  od_run_range energy_range[OD_RUN_ENERGIES];
} od_run_start;

// A watcher of a run: its outputs as plants of the machine, and its record.
typedef struct od_watched_run {
  const od_run_watcher *watcher;
  od_plant *steps, *final;  // NULL: the watcher has no such outputs
  void *record;
  double *y;
} od_watched_run;

typedef struct od_run_state {
  const od_machine *machine;
  const od_run_options *options;
  od_run_method method;
  double time;
  long steps;   // number of intervals of the grid
  long pieces;  // number of steps and parts of steps that were started
  // Largest number of evaluations; a run that exceeds this number ends with OD_NOT_AVAILABLE. 0: no limit.
  long most_residuals;
  // Progress of all runs at the start of this run, and the progress that this run adds (0 to 1 each).
  double begins, portion;
  bool compared;  // whether this run is compared with other runs
  bool stopped;   // whether the caller has stopped the run
  od_plant *plant;
  od_sim *sim;
  od_cvodes *cvodes;
  od_advance *advance;  // takes the steps, unless CVODES does
  od_error *error;      // receives the reason if `watch` of the advance ends the run
  od_rate_stability *stability;
  double stable_step;  // the longest stable step found, s
  od_plant *energy;    // the same machine with its energies as outputs
  od_run_range energy_range[OD_RUN_ENERGIES];
  double balance;  // the energy balance with the largest magnitude, J
  // The same machine with all components of the vectors of recorded outputs; NULL: no vector is recorded.
  od_plant *vectors;
  int *vector_of;  // per output of `vectors`: index of the recorded output
  // Per recorded output: largest component of its vector so far, in SI units; 0: not a component of a vector.
  double *vector_size;
  od_cavitation *cavitation;
  od_run_laws *laws;
  long rows;                // number of recorded rows
  double last_row;          // time of the last recorded row, s; NAN: none
  long first_row;           // point of the grid of the first row
  od_table *table;          // recorded rows
  bool is_watched;          // whether the run may be delivered, so that watchers follow the run
  od_watched_run *watched;  // one per watcher; NULL: the run is not watched
  od_sim *watched_sim;      // memory for a copy of the simulation
  bool watch_is_due;        // whether watchers have not received the current point
  double *event;            // times at which inputs, modes or samples jumped, s
  unsigned char *jumped;    // events x outputs: whether an output jumped at an event
  int events;
  od_arena arena;  // owns the lists and the copies of the simulation
  double *u, *row, *y_before, *y_after, *y_vectors;
} od_run_state;

// run_judge.c: returns the method that the options describe.
od_run_method od_run_method_of(const od_run_options *o, double step);

// run.c: od_run_begin() creates a run, od_run_prepare() allocates its memory and starts the simulation, od_run_all() takes all steps
// and rows, od_run_end() frees the memory.
od_run_state od_run_begin(const od_machine *machine, const od_run_options *options, double time, od_run_method method);
// start: the point at which a resumed run begins; NULL: the run begins at 0.
od_status od_run_prepare(od_run_state *r, const od_run_start *start, od_error *err);
od_status od_run_all(od_run_state *r, od_error *err);
void od_run_end(od_run_state *r);
// Records the row at time t, which is the current point of `sim`. Fails with OD_DIVERGED if a state has left all bounds, with
// OD_NO_MEMORY, or if the outputs cannot be computed.
od_status od_run_record(od_run_state *r, od_sim *sim, double t, bool last, od_error *err);

// run_checkpoint.c: reads the longest step, the time of the last row (*row) and, unless the options have a tolerance, the tolerance
// from the checkpoint options->resume. Fails with OD_BAD_INPUT or OD_BAD_ARGUMENT if the checkpoint is damaged or is not a checkpoint
// of a run.
od_status od_run_read_method(const od_run_options *options, od_run_method *method, double *row, od_error *err);
// Restores a prepared run with the method of the checkpoint, and fills *start for runs with other methods. The caller frees
// start->sim with od_checkpoint_free(). Fails with OD_BAD_INPUT if the checkpoint is damaged or belongs to another machine or method,
// with OD_NOT_AVAILABLE if the run does not support checkpoints, and with OD_NO_MEMORY.
od_status od_run_resume(od_run_state *r, od_run_start *start, od_error *err);
// Moves a simulation that is not advanced yet to the start of a resumed run. Fails with a status of od_sim_restore().
od_status od_run_go_to_start(od_run_state *r, const od_run_start *start, od_error *err);
// Writes the checkpoint of a run. Fails with OD_NOT_AVAILABLE or OD_NO_MEMORY.
od_status od_run_take_checkpoint(od_run_state *r, od_checkpoint *out, od_error *err);

// run_watch.c: watchers of a run. od_run_watch() passes the current outputs to all watchers. od_run_deliver_watched() passes the
// records to the watchers; od_run_drop_watched() frees the memory of a run, and the records that were not delivered.
od_status od_run_begin_watched(od_run_state *r, od_error *err);
od_status od_run_watch(void *run);
// od_run_watch_row() passes the outputs at the row at time t. sim: the simulation at this time, whose outputs have been computed.
od_status od_run_watch_row(od_run_state *r, od_sim *sim, double t);
// Calls od_run_watch() if a step or an event has ended since the last call. Called before the simulation changes again: a row at the
// current time may have evaluated the outputs already, which saves an evaluation.
od_status od_run_watch_due(od_run_state *r);
od_status od_run_deliver_watched(od_run_state *r);
void od_run_drop_watched(od_run_state *r);
// Creates the advance of a started simulation. Returns false if out of memory.
bool od_run_make_advance(od_run_state *r);
// Advances to time t, s. *at is the simulation at this time, or a copy that is valid until the next call. Fails with a status of
// od_sim_advance() or od_cvodes_advance(), and with OD_NOT_AVAILABLE if the limit of the evaluations is exceeded.
od_status od_run_advance(od_run_state *r, double t, od_sim **at, od_error *err);
// Calls options->progress at intervals. Returns false if the caller has stopped the run. Also called within steps, because a step
// may have many parts.
bool od_run_keeps_going(void *run);

// run_compare.c: computes the error of every output of a run relative to its range: the difference from a better run times
// `factor`. *first: the first time at which the error of a judged output exceeds OD_ACCURATE (INFINITY: never). False: the runs
// have no rows in common.
bool od_run_compare(const od_run_state *r, const od_run_state *better, double factor, od_output_error *error,
                    double *first);
bool od_run_is_judged(const od_run_state *r, int output);
double od_run_energy_moved(const od_run_state *r);
// Returns whether the machine has events: modes, samples, quantizers, or laws with jumps, contacts or knots.
bool od_run_has_events(const od_run_state *r);

// run_verdict.c: adds the remarks about the accuracy of a run to a verdict. step: the step of the run, s.
void od_run_judge(const od_machine *machine, const od_run_options *options, double step, bool incomplete,
                  const od_run_accuracy *a, od_verdict *verdict);

static inline void od_run_widen(od_run_range *r, double value) {
  r->low = fmin(r->low, value);
  r->high = fmax(r->high, value);
}

#endif
