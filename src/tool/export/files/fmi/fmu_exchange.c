// Model exchange of a machine: the importer integrates the states. Within continuous time, inputs that follow the file have their values
// before the next jump; the jump itself is a time event.
#include <math.h>
#include <string.h>

#include "fmu_machine.h"
#include "integrate/sim_block.h"

static const fmu_description *const d = &fmu_described;

void fmu_exchange(fmu_run *r) {
  r->is_exchanged = r->is_initializing = r->in_event = true;
}

// ---- the point of the importer

// Returns the integrals of powers, which belong to the simulation.
static double *energy(fmu_run *r) {
  return (double *)od_sim_energy(r->sim);
}

void fmu_take_states(fmu_run *r) {
  int nx = od_plant_nx(r->plant);
  memcpy(r->x, od_sim_state(r->sim), (size_t)nx * sizeof *r->x);
  if (r->plant->nq) memcpy(r->x + nx, energy(r), (size_t)r->plant->nq * sizeof *r->x);
  r->next_event = fmu_next_break(r, r->now);
  r->has_new_point = false;
}

od_status fmu_set_time(fmu_run *r, double t) {
  if (!isfinite(t)) return OD_NOT_FINITE;
  r->has_new_point = r->has_new_point || t != r->now;
  r->has_outputs = r->has_outputs && t == r->now;
  r->now = t;
  r->is_initializing = false;
  return OD_OK;
}

od_status fmu_set_states(fmu_run *r, const double *x) {
  int count = od_plant_nx(r->plant) + r->plant->nq;
  for (int i = 0; i < count; i++)
    if (!isfinite(x[i])) return OD_NOT_FINITE;
  memcpy(r->x, x, (size_t)count * sizeof *x);
  r->has_new_point = true;
  r->has_outputs = r->is_initializing = false;
  return OD_OK;
}

od_status fmu_evaluate(fmu_run *r) {
  if (!r->has_new_point && !r->has_new_inputs && !r->has_new_parameters) return OD_OK;
  int nx = od_plant_nx(r->plant);
  double t = r->in_event || r->now < r->next_event ? r->now : nextafter(r->next_event, -INFINITY);
  fmu_inputs(r, t, r->u);
  od_status status = r->has_new_parameters ? od_sim_set_with_parameters(r->sim, r->now, r->x, r->u, r->p)
                                           : od_sim_set(r->sim, r->now, r->x, r->u);
  if (status != OD_OK) return status;
  if (r->plant->nq) memcpy(energy(r), r->x + nx, (size_t)r->plant->nq * sizeof *r->x);
  r->has_new_point = r->has_new_inputs = r->has_new_parameters = r->has_outputs = false;
  return OD_OK;
}

// ---- derivatives and indicators

// Computes the rate of state i: of a position, a state; of another state of the machine, a rate of the equations; of an integral, a power.
static od_status rate_of(fmu_run *r, int i, double *value) {
  int nz = r->plant->nz, nx = od_plant_nx(r->plant);
  if (i < nx) {
    *value = i < nz ? od_sim_state(r->sim)[nz + i] : od_sim_rates(r->sim)[i - nz];
    return OD_OK;
  }
  od_status status = r->plant->ops->powers(r->plant, od_sim_work(r->sim), r->power);
  *value = status == OD_OK ? r->power[i - nx] : 0;
  return status;
}

// Computes indicator i: margins and signs of guards, then the distance of a position in a table from each knot.
static od_status indicator(fmu_run *r, int i, double *value) {
  od_status status = od_sim_guards(r->sim, r->guard);
  if (status != OD_OK) return status;
  int simple = r->plant->margins + r->plant->zeros, scale = 0;
  if (i < simple) {
    *value = r->guard[i];
    return OD_OK;
  }
  for (i -= simple; i >= r->plant->scale_knots[scale]; scale++) i -= r->plant->scale_knots[scale];
  *value = r->guard[simple + scale] - i;
  return OD_OK;
}

od_status fmu_get_exchanged(fmu_run *r, fmu_kind kind, int i, double *value) {
  od_status status = fmu_settle(r);
  if (status != OD_OK) return status;
  if (!r->is_exchanged) fmu_take_states(r);
  if (kind == FMU_STATE) return *value = r->x[i], OD_OK;
  return kind == FMU_DERIVATIVE ? rate_of(r, i, value) : indicator(r, i, value);
}

// ---- events

void fmu_begin_event(fmu_run *r) {
  r->in_event = true;
  r->has_new_point = true;
}

od_status fmu_handle_event(fmu_run *r, double *next) {
  bool moved = false, switched = false;
  od_status status = fmu_settle(r);
  r->is_initializing = false;
  if (status == OD_OK) status = od_sim_repartition(r->sim, NULL, &moved);
  if (status == OD_OK && r->plant->ops->sample) status = od_sim_sample(r->sim, NULL, NULL, &switched);
  if (status != OD_OK) return status;
  r->has_outputs = false;
  fmu_take_states(r);
  *next = r->next_event;
  return OD_OK;
}

void fmu_end_event(fmu_run *r) {
  r->in_event = r->is_initializing = false;
  r->next_event = fmu_next_break(r, r->now);
}

bool fmu_wants_event(fmu_run *r) {
  if (fmu_settle(r) != OD_OK || !r->plant->ops->wants_repartition) return false;
  return r->plant->ops->wants_repartition(r->plant, od_sim_work(r->sim));
}

// ---- directional derivatives

// Finds the derivative of an unknown with respect to a known. Returns false if there is none.
static bool entry(const fmu_run *r, fmu_kind of, int i, fmu_kind by, int k, double *value) {
  int nx = od_plant_nx(r->plant), nu = r->plant->nu, np = r->plant->np;
  bool is_rate = of == FMU_DERIVATIVE;
  if ((!is_rate && of != FMU_OUTPUT) || (is_rate && i >= nx)) return false;
  if (by == FMU_INPUT) return *value = (is_rate ? r->fu : r->hu)[i * nu + k], true;
  if (by == FMU_PARAMETER) return *value = (is_rate ? r->fp : r->hp)[i * np + k], true;
  if (by != FMU_STATE || k >= nx) return false;
  return *value = (is_rate ? r->fx : r->hx)[i * nx + k], true;
}

od_status fmu_slopes(fmu_run *r, const uint32_t *unknown, size_t unknowns, const uint32_t *known, size_t knowns,
                     const double *seed, double *slope) {
  od_status status = fmu_settle(r);
  bool has_u = r->plant->nu > 0, has_p = r->plant->np > 0;
  if (status == OD_OK) status = od_sim_derivatives(r->at, NULL, r->fx, has_u ? r->fu : NULL, has_p ? r->fp : NULL);
  if (status == OD_OK && r->plant->ny)
    status = od_sim_output_jacobians(r->at, r->hx, has_u ? r->hu : NULL, has_p ? r->hp : NULL);
  for (size_t a = 0; a < unknowns && status == OD_OK; a++) {
    int i, k;
    fmu_kind of = fmu_find(&d->variables, unknown[a], &i);
    slope[a] = 0;
    for (size_t b = 0; b < knowns; b++) {
      fmu_kind by = fmu_find(&d->variables, known[b], &k);
      double value;
      if (!entry(r, of, i, by, k, &value)) return OD_NOT_AVAILABLE;
      slope[a] += value * seed[b];
    }
  }
  return status;
}
