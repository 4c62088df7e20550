// A simulation: a plant, its state and all scratch memory in one block. After creation nothing allocates; a step takes
// bounded time and returns a status. To save a simulation copy its block (od_sim_size() bytes), to restore it copy
// back.
#ifndef OLEODYN_SIM_H
#define OLEODYN_SIM_H

#include <stdbool.h>
#include <stddef.h>

#include "oleodyn/integrator.h"
#include "oleodyn/plant.h"

OD_BEGIN_C

typedef struct od_sim od_sim;

// Memory: let the library allocate it, or ask for the size and bring your own (aligned to 16 bytes).
OD_API size_t od_sim_size(const od_plant *plant);
OD_API od_sim *od_sim_init(void *memory, const od_plant *plant);
OD_API od_sim *od_sim_new(const od_plant *plant);
OD_API void od_sim_free(od_sim *sim);
// A plain simulation steps and has outputs, but no derivatives, and no room for them, which grows with the square of the
// number of states: what needs them returns OD_NOT_AVAILABLE. Large machines are simulated so.
OD_API size_t od_sim_plain_size(const od_plant *plant);
OD_API od_sim *od_sim_plain_init(void *memory, const od_plant *plant);
OD_API od_sim *od_sim_plain_new(const od_plant *plant);
// The size of this simulation's block, plain or not.
OD_API size_t od_sim_bytes(const od_sim *sim);

// Puts the plant in its initial state at time t with inputs u. Where that fails, the simulation is not started: until it is, all that needs a
// state returns OD_BAD_ARGUMENT.
OD_API od_status od_sim_start(od_sim *sim, double t, const double *u);
// Sets the state (coordinates as od_sim_state() shows them) and the inputs. Where nothing can be evaluated there, a status
// says so, and the simulation stays as it was; the same holds for the functions that follow.
OD_API od_status od_sim_set(od_sim *sim, double t, const double *x, const double *u);
// Sets the free parameters; the state stays.
OD_API od_status od_sim_set_parameters(od_sim *sim, const double *p);
OD_API void od_sim_parameters(const od_sim *sim, double *p);
// Both at once.
OD_API od_status od_sim_set_with_parameters(od_sim *sim, double t, const double *x, const double *u, const double *p);
// Tells that the inputs jump at the present time.
OD_API od_status od_sim_set_inputs(od_sim *sim, const double *u);

OD_API double od_sim_time(const od_sim *sim);
OD_API const double *od_sim_state(const od_sim *sim);   // nx
OD_API const double *od_sim_rates(const od_sim *sim);   // nk
OD_API const double *od_sim_inputs(const od_sim *sim);  // nu
// nq integrals of the powers since the start, J; NULL: the plant has none, see od_model_plant_integrate_powers().
OD_API const double *od_sim_energy(const od_sim *sim);
OD_API od_status od_sim_outputs(od_sim *sim, double *y);  // ny

// The integrator that takes the steps: the first of the table (the implicit trapezoidal rule) until another one is chosen,
// which may happen between any two steps.
OD_API void od_sim_set_integrator(od_sim *sim, const od_integrator *integrator);
OD_API const od_integrator *od_sim_integrator(const od_sim *sim);
// One step to t + h, where the inputs are u; in between they are straight. A step that fails changes nothing.
// OD_OK says that the equations of the rule are solved, not that the step is short enough for the motion: see od_sim_local_error(). A long
// step may lead past a pressure at which flows balance, below zero, where no flow leads.
OD_API od_status od_sim_step(od_sim *sim, double h, const double *u);
// The same with inputs that bend: inside has those at the integrator's points within the step.
OD_API od_status od_sim_step_within(od_sim *sim, double h, const double *inside, const double *u);
// One step with straight inputs and the exact derivatives of the new state: by the old state F (nx x nx), by the old and
// new inputs Gu0, Gu1 (nx x nu), by the parameters Gp (nx x np). Any may be NULL.
OD_API od_status od_sim_step_with_jacobians(od_sim *sim, double h, const double *u, double *F, double *Gu0, double *Gu1,
                                            double *Gp);
// The same, after which the state is moved by dx (nx), so little that what is of second order in it does not count. Where the integrator
// can, it evaluates half-way between the step's end and the new state what is needed there and for the next step. *part: as much of dx lies
// behind the point of which outputs and their derivatives are told, 0.5 or 0, until od_sim_end_shift(), which must come before anything else
// is done with the simulation. A step that fails changes nothing; where only the shift fails, the time has gone on (od_sim_time()), and the
// state is that of the step without the shift.
OD_API od_status od_sim_step_and_shift(od_sim *sim, double h, const double *u, const double *dx, double *F, double *Gp,
                                       double *part);
OD_API void od_sim_end_shift(od_sim *sim);
// An estimate of what the step just taken has added to the error of the state: G before + after (nx each), with G as the
// integrator's error_form says. It must be asked for before the state is changed by anything else.
OD_API void od_sim_local_error(od_sim *sim, double *before, double *after);

// Changes the coordinates if those in use have become bad; between steps. map (nx x nx) may be NULL. A change that fails changes nothing
// (*changed is false), unless the rates cannot be found afterwards (*changed is true): then the simulation has to be started again, or a copy taken back.
OD_API od_status od_sim_repartition(od_sim *sim, double *map, bool *changed);
// The same, also with the derivatives of the new state by the parameters at a fixed old state (nx x np).
OD_API od_status od_sim_repartition_with_parameters(od_sim *sim, double *map, double *map_p, bool *changed);

// Plants with samples (digital controllers, delays) or modes (brakes, valves with hysteresis): the time of the next sample
// (INFINITY: none), and taking what is due at the present time, between steps and after jumps of the inputs. map (nx x nx) and by_parameters (nx x np)
// receive the derivatives of the new state; they may be NULL. od_sim_start() takes the first samples itself. Where a sample or a switch fails, or
// leads to a state in which nothing can be evaluated, none is taken, and the simulation stays as it was.
OD_API double od_sim_next_sample(const od_sim *sim);
OD_API od_status od_sim_sample(od_sim *sim, double *map, double *by_parameters, bool *changed);
// The guards of the plant at the present point (od_plant_guards() of them), and the smallest margin of a mode: positive until a switch is
// due, INFINITY without modes.
OD_API od_status od_sim_guards(od_sim *sim, double *guard);
OD_API od_status od_sim_margin(od_sim *sim, double *margin);

// Events within a step: switches of modes and knots of laws, also those that the plant passes and comes back from between two points.
// Without a search, switches are taken at the end of the step in which they happen.
//
//   od_sim_begin_events(sim, &search, false)      before a step
//   od_sim_step_within(sim, h, ...)
//   od_sim_end_events(sim, &search, h)            after it
//   od_sim_find_switch(sim, &search, h, &taken)   takes the step again where it has led past a switch
//   od_sim_sample(sim, ...)                       takes the switch
//
// All memory is the caller's.
typedef struct od_event_search {
  void *before, *after;  // od_sim_bytes() each: the simulation before the step, and room for that behind it
  double *memory;        // od_event_doubles() of them
  // Inputs within the step; NULL: they are straight lines.
  void (*inputs)(void *user, double t, double *u);
  void *user;
  void *reserved[2];  // zero
} od_event_search;
enum { OD_MOST_SWITCHES = 16 };  // callers look for so many within a step of theirs; more are taken where steps end
OD_API size_t od_event_doubles(const od_plant *plant);
// Copies the simulation to `before` and finds the guards there and how fast they change. goes_on: nothing has changed since
// od_sim_end_events(), which has found them already.
OD_API od_status od_sim_begin_events(od_sim *sim, const od_event_search *search, bool goes_on);
// After a step of length h: the guards at its end and how fast they change.
OD_API od_status od_sim_end_events(od_sim *sim, const od_event_search *search, double h);
// Then: the length of a shorter step that passes one knot alone, or h where this step does.
OD_API double od_sim_knot_step(const od_sim *sim, const od_event_search *search, double h);
// After a step of length h, if it has led past a switch: takes it again, so that it ends right behind the first switch. *taken is how long it has
// become; h: nothing switches within it. A bounded number of steps are tried. Where one of them fails, the simulation is as it was before
// the step, and *taken is 0.
OD_API od_status od_sim_find_switch(od_sim *sim, const od_event_search *search, double h, double *taken);

// Dense output: makes `between`, a copy of the simulation behind a step (`after`), stand at a time within the step that began at `before`, with
// inputs u. States and integrals are cubic there, rates and outputs follow from them.
OD_API od_status od_sim_interpolate(od_sim *between, const od_sim *before, const od_sim *after, double t,
                                    const double *u);

// The explicit form at the present point: x' = f (nx), and its Jacobians by x, u, p; outputs' Jacobians. Any may be
// NULL.
OD_API od_status od_sim_derivatives(od_sim *sim, double *f, double *fx, double *fu, double *fp);
OD_API od_status od_sim_output_jacobians(od_sim *sim, double *hx, double *hu, double *hp);
// The same for the outputs that are wanted (ny, nonzero) alone; other rows may stay as they are.
OD_API od_status od_sim_output_rows(od_sim *sim, const unsigned char *wanted, double *hx, double *hu, double *hp);

// The outputs y (ny) at another state x (nx) and with other parameters p (np; NULL: the present ones), with the time, inputs and integrals
// at hand. For copies of a simulation: the parameters become p, while state and rates stay, so that another state must be set before the
// copy can go on. Costs less than setting a state, since rates are found only where outputs show them.
OD_API od_status od_sim_outputs_elsewhere(od_sim *sim, const double *x, const double *p, double *y);

// What has been done since the start.
typedef struct od_sim_counts {
  long steps, residuals, matrices, repartitions;
  long reserved[4];  // zero
} od_sim_counts;
OD_API od_sim_counts od_sim_count(const od_sim *sim);

OD_END_C

#endif
