// One run: its memory, its rows, and the loop over its steps. Steps are in run_steps.c. run_judge.c compares several runs.
#include "simulate/run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "integrate/sim_block.h"
#include "machine/machine.h"
#include "simulate/cvodes_library.h"
#include "simulate/divergence.h"
#include "simulate/run_state.h"

enum {
  SCALE_INTERVAL = 32,  // number of rows between two evaluations of energies and vectors
  STABILITY_CHECKS = 8  // largest number of stability checks of explicit steps in a run
};

const char *const od_run_energies[] = {"energy.balance", "energy.kinetic", "energy.stored", "energy.dissipated",
                                       "energy.input"};

// --- Memory -------------------------------------------------------------------------------------------------------

void od_run_end(od_run_state *r) {
  od_run_drop_watched(r);
  od_cvodes_free(r->cvodes);
  if (r->laws) od_run_laws_end(r->laws);
  od_sim_free(r->sim);
  od_plant_free(r->plant);
  od_plant_free(r->energy);
  od_plant_free(r->vectors);
  od_table_free(r->table);
  od_arena_free(&r->arena);
}

// Allocates the simulation and the arrays of the run. Returns false if an allocation fails.
static bool allocate(od_run_state *r) {
  const od_integrator *integrator = r->method.integrator;
  od_arena *arena = &r->arena;
  int nu = r->plant->nu, outputs = r->options->output_count;
  r->sim = integrator && !r->options->differentiable ? od_sim_plain_new(r->plant) : od_sim_new(r->plant);
  if (!r->sim) return false;
  r->u = OD_TAKE(arena, double, nu);
  r->row = OD_TAKE(arena, double, 1 + outputs);
  r->y_before = OD_TAKE(arena, double, outputs);
  r->y_after = OD_TAKE(arena, double, outputs);
  r->y_vectors = OD_TAKE(arena, double, r->vectors ? r->vectors->ny : 0);
  r->cavitation = od_cavitation_new(od_machine_model(r->machine), arena);
  return od_arena_status(arena) == OD_OK;
}

// Creates a plant with the energies of the machine as outputs, if the machine has energies. Fails with a status of
// od_machine_plant().
static od_status make_energy_plant(od_run_state *r, od_error *err) {
  int outputs[OD_RUN_ENERGIES];
  for (int i = 0; i < OD_RUN_ENERGIES; i++) {
    outputs[i] = od_machine_output_find(r->machine, od_run_energies[i]);
    if (outputs[i] < 0) return OD_OK;
    r->energy_range[i] = (od_run_range){INFINITY, -INFINITY};
  }
  return od_machine_plant(r->machine, outputs, OD_RUN_ENERGIES, NULL, 0, &r->energy, err);
}

// Returns whether two outputs are components of one vector, or of the force and the torque of one joint. A torque that is tiny
// compared with the force of its joint is round-off.
static bool is_same_vector(const od_output *a, const od_output *b) {
  bool a_reacts = a->kind == OD_OUT_JOINT_FORCE || a->kind == OD_OUT_JOINT_TORQUE;
  bool b_reacts = b->kind == OD_OUT_JOINT_FORCE || b->kind == OD_OUT_JOINT_TORQUE;
  bool same_kind = a->kind == b->kind && a->kind >= OD_OUT_POINT && a->kind <= OD_OUT_BODY_GYRO_RATE;
  return a->index == b->index && (same_kind || (a_reacts && b_reacts));
}

// Creates a plant whose outputs are all components of the vectors of recorded outputs. Fails with OD_NO_MEMORY or a status of
// od_machine_plant().
static od_status make_vector_plant(od_run_state *r, od_error *err) {
  const od_model *m = od_machine_model(r->machine);
  const od_run_options *o = r->options;
  OD_SCRATCH(scratch);
  int *outputs = NULL, count = 0;
  r->vector_size = OD_TAKE(&r->arena, double, o->output_count);
  for (int i = 0; i < o->output_count; i++)
    for (int k = 0; k < m->outputs && o->outputs[i] < m->outputs; k++) {
      if (!is_same_vector(&m->output[o->outputs[i]], &m->output[k])) continue;
      outputs = od_arena_extend(&scratch, outputs, count, sizeof *outputs);
      r->vector_of = od_arena_extend(&r->arena, r->vector_of, count, sizeof *r->vector_of);
      if (!outputs || !r->vector_of) return od_fail(err, OD_NO_MEMORY, "out of memory");
      outputs[count] = k;
      r->vector_of[count++] = i;
    }
  return count > 0 ? od_machine_plant(r->machine, outputs, count, NULL, 0, &r->vectors, err) : OD_OK;
}

// Creates the table of the run: time and the chosen outputs. Fails with OD_NO_MEMORY.
static od_status make_table(od_run_state *r) {
  const od_run_options *o = r->options;
  r->table = od_table_new(o->output_count + 1);
  if (!r->table) return OD_NO_MEMORY;
  od_status status = od_table_label(r->table, 0, "time", "s");
  for (int i = 0; i < o->output_count && status == OD_OK; i++)
    status = od_table_label(r->table, 1 + i, od_machine_output_name(r->machine, o->outputs[i]),
                            od_machine_output_unit(r->machine, o->outputs[i]));
  return status;
}

od_status od_run_prepare(od_run_state *r, const od_run_start *start, od_error *err) {
  const od_run_options *o = r->options;
  const od_run_method *method = &r->method;
  od_status status = od_machine_plant(r->machine, o->outputs, o->output_count, NULL, 0, &r->plant, err);
  if (status == OD_OK) status = od_model_plant_integrate_powers(r->plant);  // the energies for the energy balance
  if (status == OD_OK) status = make_energy_plant(r, err);
  if (status == OD_OK && r->compared) status = make_vector_plant(r, err);
  if (status == OD_OK) status = od_run_laws_new(r->machine, &r->arena, &r->laws, err);
  if (status != OD_OK) return status;
  if (make_table(r) != OD_OK || !allocate(r)) return od_fail(err, OD_NO_MEMORY, "out of memory");
  if (r->is_watched) status = od_run_begin_watched(r, err);
  if (status != OD_OK) return status;
  if (r->plant->nu) od_machine_inputs(r->machine, 0, r->u);
  status = od_sim_start(r->sim, 0, r->u);
  if (status != OD_OK) return od_fail_to_start(r->machine, r->sim, "cannot start", status, err);
  if (start) status = od_run_go_to_start(r, start, err);
  if (status != OD_OK) return status;
  if (!method->integrator) {
    if (!od_sundials_load(err)) return OD_IO;
    r->cvodes = od_cvodes_new(r->sim, r->plant, r->machine, method->tolerance);
    if (!r->cvodes) return od_fail(err, OD_NO_MEMORY, "CVODES could not be set up; choose another integrator");
    od_cvodes_watch(r->cvodes, r->time, od_run_keeps_going, r);
    od_cvodes_after_steps(r->cvodes, od_run_watch);
    return OD_OK;
  }
  od_sim_set_integrator(r->sim, method->integrator);
  if (!method->adaptive && r->compared && method->integrator->amplification)
    r->stability = od_rate_stability_new(r->sim, r->plant, method->integrator->amplification, &r->arena);
  if (!od_run_make_advance(r)) return od_fail(err, OD_NO_MEMORY, "out of memory");
  return od_arena_status(&r->arena) == OD_OK ? OD_OK : od_fail(err, OD_NO_MEMORY, "out of memory");
}

// --- Rows ---------------------------------------------------------------------------------------------------------

// Computes outputs of another plant of the machine. All plants of a machine have the same layout of the work memory, for any
// outputs. False: there is no such plant, or its outputs cannot be computed.
static bool outputs_of(const od_plant *plant, od_sim *sim, double *y) {
  return plant && plant->ops->outputs(plant, od_sim_work(sim), od_sim_energy(sim), y) == OD_OK;
}

// Updates the scales of errors at a row: the ranges of the energies and the sizes of vectors.
static void watch_scales(od_run_state *r, od_sim *sim) {
  double y[OD_RUN_ENERGIES];
  if (outputs_of(r->energy, sim, y)) {
    for (int i = 0; i < OD_RUN_ENERGIES; i++) od_run_widen(&r->energy_range[i], y[i]);
    if (fabs(y[0]) > fabs(r->balance)) r->balance = y[0];
  }
  if (outputs_of(r->vectors, sim, r->y_vectors))
    for (int k = 0; k < r->vectors->ny; k++) {
      double *size = &r->vector_size[r->vector_of[k]];
      *size = fmax(*size, fabs(r->y_vectors[k]));
    }
}

od_status od_run_record(od_run_state *r, od_sim *sim, double t, bool last, od_error *err) {
  // Ends the run as soon as a state is out of bounds, before numbers overflow.
  if (od_has_diverged(r->plant, od_sim_state(sim))) {
    char state[300];
    od_largest_state(r->machine, sim, state, sizeof state);
    return od_fail(err, OD_DIVERGED, "at %.6g s %s%s%s", t, od_status_text(OD_DIVERGED), *state ? "; " : "", state);
  }
  r->row[0] = t;
  od_status status = od_sim_outputs(sim, r->row + 1);
  if (status == OD_OK) {
    r->last_row = t;
    od_cavitation_watch(r->cavitation, t, od_sim_state(sim) + 2 * r->plant->nz);
    od_run_laws_watch(r->laws, t, sim);
    if (last || r->rows % SCALE_INTERVAL == 0) watch_scales(r, sim);
    status = od_table_append(r->table, r->row);
    if (status == OD_OK) status = od_run_watch_row(r, sim, t);
  }
  r->rows++;
  return status == OD_OK ? OD_OK : od_fail(err, status, "at %.6g s: %s", t, od_status_text(status));
}

// Returns the time of point i of the grid, s. The times of requested rows do not depend on the points between them.
static double time_of(const od_run_state *r, long i) {
  const od_run_method *m = &r->method;
  bool fixed = !m->adaptive && m->integrator;
  if (!fixed && i == r->steps) return r->time;
  return m->parts > 1 && i % m->parts == 0 ? (double)(i / m->parts) * m->row : (double)i * m->step;
}

// Records the rows of the grid. Adaptive steps do not depend on the rows. Fails with a status of od_run_advance() or
// od_run_record().
static od_status record_rows(od_run_state *r, od_error *err) {
  bool adaptive = r->method.adaptive && r->method.integrator;
  long stability_interval = (r->steps + STABILITY_CHECKS - 1) / STABILITY_CHECKS;
  od_status status = OD_OK;
  long first = r->first_row > 0 ? r->first_row : 1;
  for (long i = first; i <= r->steps && status == OD_OK; i++) {
    bool last = i == r->steps, row = last || i % r->method.every == 0;
    double t = time_of(r, i);
    if (r->stability && (i - 1) % stability_interval == 0)
      r->stable_step = fmin(r->stable_step, od_rate_stability_longest_step(r->stability, r->sim));
    if (adaptive && !row) continue;
    od_sim *at;
    status = od_run_advance(r, t, &at, err);
    if (status == OD_OK && row) status = od_run_record(r, at, t, last, err);
  }
  return status;
}

od_status od_run_all(od_run_state *r, od_error *err) {
  // A resumed run begins with the first row after the checkpoint.
  bool resumed = !isnan(r->last_row);
  if (resumed) r->first_row = (long)floor(r->last_row / r->method.step * (1 + 1e-12) + 1e-6) + 1;
  if (resumed) od_cavitation_watch(r->cavitation, od_sim_time(r->sim), od_sim_state(r->sim) + 2 * r->plant->nz);
  od_status status = resumed ? OD_OK : od_run_record(r, r->sim, 0, r->steps == 0, err);
  if (status == OD_OK) status = od_run_watch(r);
  if (status == OD_OK) status = record_rows(r, err);
  if (status != OD_OK && status != OD_INTERRUPTED && status != OD_DIVERGED)
    od_explain_failure(r->machine, r->sim, status, err);
  return status;
}

od_run_state od_run_begin(const od_machine *machine, const od_run_options *options, double time, od_run_method method) {
  od_step_grid grid = od_step_grid_of(time, method.step);
  if (!method.adaptive && method.integrator) method.step = grid.length;
  return (od_run_state){.machine = machine,
                        .options = options,
                        .method = method,
                        .time = time,
                        .steps = grid.count,
                        .portion = 1,
                        .last_row = NAN,
                        .stable_step = INFINITY};
}
