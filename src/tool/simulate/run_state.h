// The inside of a run, shared by the files that step, record and judge it.
#ifndef OD_SIMULATE_RUN_STATE_H
#define OD_SIMULATE_RUN_STATE_H

#include "oleodyn/sim.h"
#include "simulate/cavitation.h"
#include "simulate/cvodes.h"
#include "simulate/run.h"
#include "simulate/run_bounds.h"
#include "simulate/stability.h"
#include "simulate/step_control.h"

// The energies whose ranges say how much was moved about; the first is what must stay zero.
enum { OD_RUN_ENERGIES = 5 };
extern const char *const od_run_energies[OD_RUN_ENERGIES];

typedef struct od_run_range {
  double low, high;
} od_run_range;

// How a run takes its steps.
typedef struct od_run_method {
  const od_integrator *integrator;  // NULL: CVODES
  bool adaptive;
  double tolerance, longest;  // of adaptive steps; the tolerance of CVODES, too
  double step;                // s from one point of the grid to the next: a fixed step, or the time between rows
  long every;                 // points of the grid from row to row
} od_run_method;

typedef struct od_run_state {
  const od_machine *machine;
  const od_run_options *options;
  od_run_method method;
  double time;
  long steps;              // intervals of the grid
  long pieces;             // steps and parts of steps that were begun
  long most_residuals;     // evaluations after which the run ends with OD_NOT_AVAILABLE; 0: any number
  double begins, portion;  // of what progress reports: where this run begins, and its part
  bool compared;           // with other runs
  bool stopped;            // the caller does not want it to go on
  bool samples;            // the machine has sampled blocks or modes
  od_plant *plant;
  od_sim *sim;
  od_sim *between;  // a row within a step
  od_cvodes *cvodes;
  od_step_control *control;  // of adaptive steps
  od_event_search search;
  int located;     // switches since the last point of the grid, or of adaptive steps since a longest step ago
  double counted;  // s: since when
  bool goes_on;    // nothing has changed since the end of the last step
  od_rate_stability *stability;
  double stable_step;  // the longest that it found to be stable
  od_plant *energy;    // the same machine with its energies as outputs
  od_run_range energy_range[OD_RUN_ENERGIES];
  double balance;  // the largest
  od_cavitation *cavitation;
  od_run_bounds *bounds;
  long next_row;            // point of the grid of the row to be recorded next, of adaptive steps
  long rows;                // recorded
  od_table *table;          // rows
  od_table *watched_steps;  // what options->watch is to be called with; NULL: not wanted
  double *event;            // s: when inputs, modes or samples jumped
  unsigned char *jumped;    // events x outputs: whether the output jumped then
  long events, event_room;
  double now;  // s: where adaptive steps have come to
  double *u, *u_inside, *u_after, *row, *y_before, *y_after, *map;
} od_run_state;

// run_judge.c: the method that options ask for.
od_run_method od_run_method_of(const od_run_options *o, double step);

// run.c: a run; what it needs; all of its steps and rows; the end.
od_run_state od_run_begin(const od_machine *machine, const od_run_options *options, double time, od_run_method method);
od_status od_run_prepare(od_run_state *r, od_error *err);
od_status od_run_all(od_run_state *r, od_error *err);
void od_run_end(od_run_state *r);
// Records the row at time t, where `sim` stands.
od_status od_run_record(od_run_state *r, od_sim *sim, double t, bool last, od_error *err);

// run_steps.c: keeps the present outputs for the caller that watches all steps.
od_status od_run_watch(od_run_state *r);
// From one point of the grid to the next, with fixed steps or CVODES; all of it with adaptive steps.
od_status od_run_advance(od_run_state *r, double t, double next, od_error *err);
od_status od_run_advance_adaptively(od_run_state *r, od_error *err);
// Asks now and then whether to go on, wherever a run may stay for long: steps may have many parts.
bool od_run_keeps_going(void *run);

// run_compare.c: the error of every output of a run, as the difference from a better one times `factor`, in parts of its range; and the first
// time at which an output that is judged is off by more than OD_ACCURATE (INFINITY: never). false: they have no rows in common.
bool od_run_compare(const od_run_state *r, const od_run_state *better, double factor, od_output_error *error,
                    double *first);
bool od_run_is_judged(const od_run_state *r, int output);
double od_run_energy_moved(const od_run_state *r);
// Whether the machine has events: modes, samples, or laws with jumps, contacts and knots.
bool od_run_has_events(const od_run_state *r);

static inline void od_run_widen(od_run_range *r, double value) {
  r->low = fmin(r->low, value);
  r->high = fmax(r->high, value);
}

#endif
