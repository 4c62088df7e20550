// Checkpoints of runs. A checkpoint contains the advance with its simulation, the tolerance and the longest step, the time of the
// last row, and the energies so far.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "integrate/advance_save.h"
#include "base/allocate.h"
#include "machine/machine.h"
#include "machine/method_names.h"
#include "simulate/run_state.h"

// The first piece of a checkpoint of a run: time of its last row, limits of its steps, and energies.
typedef struct fields {
  double row;  // time of the last row, s
  double tolerance, longest;
  double balance;
  od_run_range energy_range[OD_RUN_ENERGIES];
} fields;

static bool are_possible(const fields *f) {
  return isfinite(f->row) && f->row >= 0 && f->tolerance > 0 && f->longest > 0;
}

static void transfer(void *run, od_pieces *t) {
  od_run_state *r = run;
  fields f = {
      .row = r->last_row, .tolerance = r->method.tolerance, .longest = r->method.longest, .balance = r->balance};
  memcpy(f.energy_range, r->energy_range, sizeof f.energy_range);
  const void *saved = od_pieces_bytes(t, &f, sizeof f);
  if (saved) memcpy(&f, saved, sizeof f);
  od_pieces_expect(t, are_possible(&f), "a time or tolerance of the run is invalid");
  if (t->mode == OD_PIECES_RESTORE) {
    r->last_row = f.row;
    r->balance = f.balance;
    memcpy(r->energy_range, f.energy_range, sizeof f.energy_range);
  }
  od_advance_transfer(r->advance, t);
}

static od_status owner_of(const od_run_state *r, od_saved_owner *owner, od_error *err) {
  if (!r->advance)
    return od_fail(err, OD_NOT_AVAILABLE,
                   "checkpoints are not possible with the integrator '" OD_CVODES "'; choose another integrator");
  if (!od_advance_owner(r->advance, owner))
    return od_fail(
        err, OD_NOT_AVAILABLE,
        "checkpoints are not possible for this machine, because its model has no fingerprint; run without a checkpoint");
  owner->kind = OD_SAVED_RUN;
  return OD_OK;
}

od_status od_run_read_method(const od_run_options *options, od_run_method *method, double *row, od_error *err) {
  fields f;
  const od_checkpoint *c = options->resume;
  od_status status = od_saved_first(OD_SAVED_RUN, c->bytes, c->size, &f, sizeof f, err);
  if (status != OD_OK) return status;
  if (!are_possible(&f))
    return od_fail(err, OD_BAD_INPUT, "the saved state is damaged: a time or tolerance of the run is invalid");
  if (!(options->tolerance > 0)) method->tolerance = f.tolerance;
  method->longest = f.longest;
  *row = f.row;
  return OD_OK;
}

od_status od_run_resume(od_run_state *r, od_run_start *start, od_error *err) {
  const od_checkpoint *c = r->options->resume;
  od_saved_owner owner;
  od_status status = owner_of(r, &owner, err);
  if (status == OD_OK) status = od_saved_read(&owner, r, transfer, c->bytes, c->size, err);
  if (status != OD_OK) return status;
  if (!(od_sim_time(r->sim) >= r->last_row - 1e-9 * (1 + r->last_row)))
    return od_fail(err, OD_BAD_INPUT, "the saved state is damaged: its time, %.9g s, is before its last row, %.9g s",
                   od_sim_time(r->sim), r->last_row);
  const od_sim *begin = od_advance_step_begin(r->advance);
  if (od_sim_time(begin) > r->last_row) begin = r->sim;
  *start = (od_run_start){.sim = {od_malloc(od_sim_save_size(begin)), od_sim_save_size(begin)},
                          .integrator = od_sim_integrator(r->sim),
                          .row = r->last_row,
                          .balance = r->balance};
  memcpy(start->energy_range, r->energy_range, sizeof start->energy_range);
  return start->sim.bytes ? od_sim_save(begin, start->sim.bytes) : od_fail(err, OD_NO_MEMORY, "out of memory");
}

od_status od_run_go_to_start(od_run_state *r, const od_run_start *start, od_error *err) {
  od_sim_set_integrator(r->sim, start->integrator);
  od_status status = od_sim_restore(r->sim, start->sim.bytes, start->sim.size, err);
  r->last_row = start->row;
  r->balance = start->balance;
  memcpy(r->energy_range, start->energy_range, sizeof r->energy_range);
  return status;
}

od_status od_run_take_checkpoint(od_run_state *r, od_checkpoint *out, od_error *err) {
  od_saved_owner owner;
  od_status status = owner_of(r, &owner, err);
  if (status != OD_OK) return status;
  status = od_checkpoint_take(out, &owner, r, transfer);
  return status == OD_OK ? OD_OK : od_fail(err, status, "out of memory");
}
