// A simulation: a plant, its state and all scratch memory in one block. After creation no function allocates; a step takes bounded
// time and returns a status. A copy of the block (od_sim_bytes() bytes) saves the simulation, and copying the block back restores
// the simulation. Such a copy is valid only in the same process, while plant and integrator keep their addresses. od_sim_save()
// makes copies for other processes. Times are in s; states, inputs and outputs are in the SI units of the plant. Functions that
// need a state fail with OD_BAD_ARGUMENT before the start. Functions that evaluate the plant return the status of the plant
// (od_plant_ops) where the plant cannot be evaluated; the arrays of their results are then undefined.
#ifndef OLEODYN_SIM_H
#define OLEODYN_SIM_H

#include <stdbool.h>
#include <stddef.h>

#include "oleodyn/integrator.h"
#include "oleodyn/plant.h"

OD_BEGIN_C

typedef struct od_sim od_sim;

// Returns the size of a simulation's block in bytes.
OD_API size_t od_sim_size(const od_plant *plant);
// Creates a simulation in the caller's memory: od_sim_size() bytes, aligned to 16. The caller still owns the memory. The plant
// must outlive the simulation. Returns NULL if memory is NULL.
OD_API od_sim *od_sim_init(void *memory, const od_plant *plant);
// Creates a simulation in memory allocated by the library, freed with od_sim_free(). Returns NULL if an allocation fails.
OD_API od_sim *od_sim_new(const od_plant *plant);
// Frees a simulation of od_sim_new() or od_sim_plain_new(); NULL is allowed.
OD_API void od_sim_free(od_sim *sim);
// A plain simulation has steps and outputs, but no derivatives, and no memory for derivatives. This memory grows with
// the square of the number of states. Functions that need derivatives return OD_NOT_AVAILABLE. Use plain simulations
// for large machines.
OD_API size_t od_sim_plain_size(const od_plant *plant);
OD_API od_sim *od_sim_plain_init(void *memory, const od_plant *plant);
OD_API od_sim *od_sim_plain_new(const od_plant *plant);
// Returns the size of this simulation's block in bytes, plain or not.
OD_API size_t od_sim_bytes(const od_sim *sim);

// Sets the plant's initial state at time t with inputs u (nu; NULL if nu is 0). After a failure the simulation is not
// started: functions that need a state return OD_BAD_ARGUMENT until od_sim_start() succeeds.
OD_API od_status od_sim_start(od_sim *sim, double t, const double *u);
// Sets the time, the state x (nx, in the coordinates of od_sim_state()) and the inputs u. If the plant cannot be evaluated at
// this point, the function returns the reason and leaves the simulation unchanged. The same holds for od_sim_set_parameters(),
// od_sim_set_with_parameters() and od_sim_set_inputs().
OD_API od_status od_sim_set(od_sim *sim, double t, const double *x, const double *u);
// Sets the free parameters p (np) and keeps the state.
OD_API od_status od_sim_set_parameters(od_sim *sim, const double *p);
// Copies the free parameters to p (np).
OD_API void od_sim_parameters(const od_sim *sim, double *p);
// Sets time, state, inputs and parameters together.
OD_API od_status od_sim_set_with_parameters(od_sim *sim, double t, const double *x, const double *u, const double *p);
// Sets the inputs to u (nu) at the current time, as a jump. The state does not change. Fails with OD_BAD_ARGUMENT before the
// start.
OD_API od_status od_sim_set_inputs(od_sim *sim, const double *u);

// Return the current time, state (nx), rates (nk) and inputs (nu). The arrays belong to the simulation and change with it.
OD_API double od_sim_time(const od_sim *sim);
OD_API const double *od_sim_state(const od_sim *sim);
OD_API const double *od_sim_rates(const od_sim *sim);
OD_API const double *od_sim_inputs(const od_sim *sim);
// Returns the nq integrals of the powers since the start, in J, or NULL if the plant has none; see
// od_model_plant_integrate_powers().
OD_API const double *od_sim_energy(const od_sim *sim);
// Computes the outputs y (ny) at the current point.
OD_API od_status od_sim_outputs(od_sim *sim, double *y);

// Selects the integrator of the next steps. The integrator may change between any two steps. The default is the first integrator of the
// table (the implicit trapezoidal rule).
OD_API void od_sim_set_integrator(od_sim *sim, const od_integrator *integrator);
// Returns the integrator in use.
OD_API const od_integrator *od_sim_integrator(const od_sim *sim);
// Takes one step to t + h. The inputs change linearly from the current inputs to u at the end of the step. A step that fails leaves
// the simulation unchanged. OD_OK means that the equations of the rule are solved, not that h is short enough for the motion: see
// od_sim_local_error(). A step that is too long may overshoot the pressure at which flows balance, and end at a negative pressure.
// If the laws on both sides of a jump (od_plant.jumps) lead back to the jump, the step ends at the jump; the laws stay held until
// od_sim_set() or the next step. Fails with OD_NOT_CONVERGED, OD_NOT_FINITE or OD_SINGULAR; with OD_BAD_ARGUMENT if h is not
// positive; with OD_TIME_STANDS if h is below the round-off of the time. The functions with derivatives also fail with
// OD_NOT_AVAILABLE if the simulation was created without them.
OD_API od_status od_sim_step(od_sim *sim, double h, const double *u);
// Takes one step with inputs that are not linear in time: inside (inside_count x nu) contains the inputs at the integrator's
// points within the step.
OD_API od_status od_sim_step_within(od_sim *sim, double h, const double *inside, const double *u);
// Takes one step with linear inputs and computes the exact derivatives of the new state: F (nx x nx) with respect to the old
// state; Gu0 and Gu1 (nx x nu) with respect to the old and new inputs; Gp (nx x np) with respect to the parameters. Any may be
// NULL.
OD_API od_status od_sim_step_with_jacobians(od_sim *sim, double h, const double *u, double *F, double *Gu0, double *Gu1,
                                            double *Gp);
// Takes one step with derivatives, then adds dx (nx) to the state. dx must be so small that second-order terms in dx
// are negligible. Integrators that support the shift evaluate the plant once, half-way between the end of the step and
// the shifted state, and use this evaluation for both points. Until od_sim_end_shift(), outputs and their derivatives
// refer to the shifted state minus *part times dx (*part is 0.5 or 0). In this time, call only functions that compute
// outputs and their derivatives; call od_sim_end_shift() before any other function of the simulation. A step that fails
// leaves the simulation unchanged. If only the shift fails, the time has advanced (od_sim_time()) and the state is the
// state of the step without the shift.
OD_API od_status od_sim_step_and_shift(od_sim *sim, double h, const double *u, const double *dx, double *F, double *Gp,
                                       double *part);
OD_API void od_sim_end_shift(od_sim *sim);
// Estimates the local error of the state in the step just taken: G before + after (nx each), with G from the integrator's
// error_form. Call this function before the state changes again.
OD_API void od_sim_local_error(od_sim *sim, double *before, double *after);

// Changes the independent coordinates if they are ill-conditioned. Call this function between steps. map (nx x nx; may
// be NULL) receives the derivatives of the new state with respect to the old state if the coordinates have changed. *changed
// receives whether the coordinates have changed. A change that fails leaves the simulation unchanged. If the function fails with *changed
// true, only the rates after the change could not be computed: start the simulation again or restore a copy.
OD_API od_status od_sim_repartition(od_sim *sim, double *map, bool *changed);
// Changes the coordinates like od_sim_repartition(). map_p (nx x np) also receives the derivatives of the new state with
// respect to the parameters at a constant old state.
OD_API od_status od_sim_repartition_with_parameters(od_sim *sim, double *map, double *map_p, bool *changed);

// Plants with samples (digital controllers, delays) or modes (brakes, valves with hysteresis). od_sim_next_sample() returns the
// time of the next sample (INFINITY: none). od_sim_sample() takes the samples and switches that are due at the current time. Call
// this function between steps and after jumps of the inputs. map (nx x nx) and by_parameters (nx x np) receive the derivatives of
// the new state; they may be NULL and are written only if *changed becomes true. *changed receives whether a sample or switch was
// taken. od_sim_start() takes the first samples. If a sample or switch fails, or if the plant cannot be evaluated afterward, the
// simulation does not change.
OD_API double od_sim_next_sample(const od_sim *sim);
OD_API od_status od_sim_sample(od_sim *sim, double *map, double *by_parameters, bool *changed);
// Computes the guards of the plant at the current point (od_plant_guards() values).
OD_API od_status od_sim_guards(od_sim *sim, double *guard);
// Computes the smallest of the margins of all modes: positive until a switch is due, INFINITY without modes.
OD_API od_status od_sim_margin(od_sim *sim, double *margin);

// Events within a step: switches of modes and knots of laws, including two crossings of the same guard within the step. Without a
// search, switches are taken at the end of the step in which they occur.
//
//   od_sim_begin_events(sim, &search, false)      before a step
//   od_sim_step_within(sim, h, ...)
//   od_sim_end_events(sim, &search, h)            after the step
//   od_sim_find_switch(sim, &search, h, &taken)   takes a shorter step if the step passed a switch
//   od_sim_sample(sim, ...)                       takes the switch
//
// The caller owns all memory.
typedef struct od_event_search {
  void *before,
      *after;  // od_sim_bytes() each: the copy of the simulation before the step, and memory for a copy after the step
  double *memory;  // od_event_doubles() doubles

  // Computes the inputs u at time t within the step; NULL: the inputs are linear.
  void (*inputs)(void *user, double t, double *u);
  void *user;
  void *reserved[2];  // zero
} od_event_search;
enum {
  OD_MOST_SWITCHES = 16
};  // largest number of switches that callers search for in a fixed step; further switches are taken at the end of the step

// Returns the number of doubles of od_event_search.memory.
OD_API size_t od_event_doubles(const od_plant *plant);
// Copies the simulation to search->before and computes the guards and their rates at this point. continues: the simulation has
// not changed since od_sim_end_events(), and its guards are used again.
OD_API od_status od_sim_begin_events(od_sim *sim, const od_event_search *search, bool continues);
// After a step of length h: computes the guards and their rates at the end of the step.
OD_API od_status od_sim_end_events(od_sim *sim, const od_event_search *search, double h);
// After od_sim_end_events(): returns the length of a shorter step that passes only one knot, or h if the step passes at most one
// knot.
OD_API double od_sim_knot_step(const od_sim *sim, const od_event_search *search, double h);
// After a step of length h that passed a switch: takes the step again so that it ends just after the first switch. *taken is the
// new length; h if there is no switch. The number of trial steps is bounded. If a trial step fails, the simulation is restored to
// the beginning of the step and *taken is 0.
OD_API od_status od_sim_find_switch(od_sim *sim, const od_event_search *search, double h, double *taken);

// Dense output: sets `between`, a copy of `after`, to time t within the step from `before` to `after`, with inputs u. States
// and integrals are interpolated by cubics; rates and outputs are computed from them.
OD_API od_status od_sim_interpolate(od_sim *between, const od_sim *before, const od_sim *after, double t,
                                    const double *u);

// Computes the explicit form at the current point: x' = f (nx), and its Jacobians with respect to x (nx x nx), u (nx x nu) and p
// (nx x np). Any may be NULL.
OD_API od_status od_sim_derivatives(od_sim *sim, double *f, double *fx, double *fu, double *fp);
// Computes the Jacobians of the outputs at the current point with respect to x (ny x nx), u (ny x nu) and p (ny x np). Any may be
// NULL.
OD_API od_status od_sim_output_jacobians(od_sim *sim, double *hx, double *hu, double *hp);
// Computes the Jacobians only for outputs with nonzero entries in `wanted` (ny); other rows may stay unchanged.
OD_API od_status od_sim_output_rows(od_sim *sim, const unsigned char *wanted, double *hx, double *hu, double *hp);

// Computes the outputs y (ny) at another state x (nx) and other parameters p (np; NULL: the current parameters), at the current
// time, inputs and integrals. Use this function on copies of a simulation. The parameters become p, but state and rates do not change, so
// set a state before the copy takes a step. The function is cheaper than od_sim_set(), because it computes rates only if outputs need them.
OD_API od_status od_sim_outputs_elsewhere(od_sim *sim, const double *x, const double *p, double *y);
// Computes the Jacobians of the outputs at the point of od_sim_outputs_elsewhere(), which must be the preceding call for this
// simulation. Arguments: see od_sim_output_rows().
OD_API od_status od_sim_output_rows_elsewhere(od_sim *sim, const unsigned char *wanted, double *hx, double *hu,
                                              double *hp);

// Counts since the start: steps, evaluations of the residual, factored matrices, changes of coordinates.
typedef struct od_sim_counts {
  long steps, residuals, matrices, repartitions;
  long reserved[4];  // zero
} od_sim_counts;
OD_API od_sim_counts od_sim_count(const od_sim *sim);

// Saved states. A saved state contains no addresses, so another process can restore the simulation later and continue
// with bit-identical results. A saved state also contains a checksum and the identity of its owner: the version of the
// library, sizes of numbers, machine, outputs and free parameters, integrator. Only an owner with the same identity can
// restore the state. If a state was changed and its checksum computed again, its numbers are wrong, but no function
// crashes. od_sim_save_size() returns the size of a saved state in bytes.
OD_API size_t od_sim_save_size(const od_sim *sim);
// Writes the state to `saved`: od_sim_save_size() bytes of the caller, aligned to 16. Fails with OD_NOT_AVAILABLE if the plant has no
// fingerprint (od_plant_ops).
OD_API od_status od_sim_save(const od_sim *sim, void *saved);
// Restores a saved state of `size` bytes, aligned to 16. The simulation must have the same plant, integrator and kind
// of memory (plain or not); the simulation need not be started. Fails with OD_BAD_INPUT if the state is damaged or has
// another owner; err (may be NULL) has the reason, and the simulation does not change. Fails with OD_BAD_ARGUMENT if
// `saved` is not aligned, and with OD_NOT_AVAILABLE as od_sim_save().
OD_API od_status od_sim_restore(od_sim *sim, const void *saved, size_t size, od_error *err);

OD_END_C

#endif
