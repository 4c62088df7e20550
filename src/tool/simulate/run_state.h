// The inside of a run, shared by the files that step, record and judge it.
#ifndef OD_SIMULATE_RUN_STATE_H
#define OD_SIMULATE_RUN_STATE_H

#include "oleodyn/sim.h"
#include "simulate/accuracy.h"
#include "simulate/cavitation.h"
#include "simulate/cvodes.h"
#include "simulate/run.h"
#include "simulate/run_bounds.h"
#include "simulate/stability.h"
#include "simulate/step_control.h"

// The energies whose ranges say how much was moved about; the first is what must stay zero.
enum { OD_RUN_ENERGIES = 5 };
enum { OD_LARGE_RUN = 200 };  // states from which on a sparse machine is judged by a second run
extern const char *const od_run_energies[OD_RUN_ENERGIES];

typedef struct od_run_range {
  double low, high;
} od_run_range;

typedef struct od_run_switch od_run_switch;

typedef struct od_run_state {
  const od_machine *machine;
  const od_run_options *options;
  const od_integrator *integrator;  // NULL: CVODES
  double step;                      // from one point of the grid to the next, which is a step unless steps are adaptive
  long steps, every;
  bool samples;   // the machine has sampled blocks or modes
  bool is_large;  // it is judged by a second run, not beside its steps
  bool stopped;   // somebody does not want it to go on
  long pieces;    // steps and parts of steps that were begun
  od_plant *plant;
  od_sim *sim;
  od_cvodes *cvodes;
  od_step_control *control;      // of adaptive steps
  od_accuracy *accuracy;         // NULL: cvodes controls its error itself, a second run judges, or nobody wants to know
  od_rate_stability *stability;  // of large machines with a rule that is not stable with any step
  double stable_step;            // the longest that it found to be stable
  od_run_switch *modes;          // NULL: the machine has none, or cvodes locates their switches
  od_plant *energy;              // the same machine with its energies as outputs
  od_run_range energy_range[OD_RUN_ENERGIES];
  double balance;  // the largest
  od_cavitation *cavitation;
  od_run_bounds *bounds;
  long rows, inputs_watched;
  od_run_range *input_range;
  double *input_bend;         // the largest distance of each input from the straight line within a step
  od_table *table;            // NULL: nobody wants it
  const od_table *looser;     // the rows of the run that this one is to judge; NULL: none
  od_output_error *distance;  // of each output from those rows, the largest
  double *u, *u_inside, *u_before, *u_after, *row, *map, *watched;
} od_run_state;

// run.c: a run of a length in steps of about so much; what it needs; all of its steps and rows; the end.
od_run_state od_run_begin(const od_machine *machine, const od_run_options *options, double time, double step,
                          long every);
od_status od_run_prepare(od_run_state *r, od_error *err);
od_status od_run_all(od_run_state *r, od_error *err);
void od_run_end(od_run_state *r);
// The tolerance that the run works with.
double od_run_tolerance(const od_run_options *options);

// run_steps.c: the present outputs, for whoever watches all steps. Trials without a table nobody watches.
od_status od_run_watch(od_run_state *r);
// From time t to its successor on the grid.
od_status od_run_advance(od_run_state *r, double t, double next, od_error *err);
// Asks now and then whether to go on, wherever a run may stay for long: steps may have many parts. Trials without a table
// come after the run.
bool od_run_keeps_going(void *run);

// run_switch.c: steps that end where the machine switches. Before a step (at_grid: from a point of the grid); after it: how long it
// has become, and how fast the margin fell there (0: nothing switches within it); and taking the switches and samples that are due,
// with the map that carries errors across (NULL: not wanted).
od_run_switch *od_run_switch_new(const od_sim *sim, const od_plant *plant);
void od_run_switch_free(od_run_switch *w);
void od_run_switch_begin_step(od_run_state *r, bool at_grid);
od_status od_run_switch_end_step(od_run_state *r, double h, double *taken, double *rate);
od_status od_run_switch_take(od_run_state *r, double rate, double *map, bool *changed);

// run_accuracy.c: how far off it was, and what would be better.
od_status od_run_find_accuracy(const od_run_state *r, bool complete, od_run_accuracy *a);

static inline void od_run_widen(od_run_range *r, double value) {
  r->low = fmin(r->low, value);
  r->high = fmax(r->high, value);
}

#endif
