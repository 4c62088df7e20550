#include "machine/start_kicks.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "integrate/sim_block.h"
#include "io/display.h"
#include "machine/machine.h"
#include "math/dense.h"
#include "memory/owned.h"
#include "plant/model_plant.h"

// Marks the blocks that measure the machine, directly or through other blocks. Blocks can be in any order, so a chain may need
// several passes.
static void mark_measuring(const od_model *m, bool *measures) {
  for (int pass = 0; pass < m->blocks; pass++)
    for (int i = 0; i < m->blocks; i++)
      for (int k = 0; k < m->block[i].inputs && !measures[i]; k++) {
        int source = m->block_line[m->block[i].line + k].source;
        measures[i] = source >= m->signals;
        for (int j = 0; j < m->blocks && !measures[i]; j++)
          measures[i] =
              measures[j] && source >= m->block[j].signal && source < m->block[j].signal + m->block[j].outputs;
      }
}

// Returns the steady value minus the initial value of a block's first output, for the initial inputs, in the unit of the block. The
// difference dy follows from the linearized rates: A dx = -f, dy = C dx. Returns 0 if there is no steady value.
static double kick_of(const od_model *m, const double *w, const double *rate, const od_block *b) {
  double A[OD_MOST_BLOCK_STATES * OD_MOST_BLOCK_STATES], dx[OD_MOST_BLOCK_STATES], dy = 0;
  int pivot[OD_MOST_BLOCK_STATES], n = b->states, columns = b->states + b->inputs;
  const double *slope = w + m->layout.block_slope + b->slope;
  for (int i = 0; i < n; i++) {
    dx[i] = -rate[b->state + i];
    for (int j = 0; j < n; j++) A[i * n + j] = slope[(b->outputs + i) * columns + j];
  }
  if (od_lu_factor(n, A, pivot) != OD_OK) return 0;
  od_lu_solve(n, A, pivot, dx, 1);
  for (int j = 0; j < n; j++) dy += slope[j] * dx[j];
  return isfinite(dy) ? dy : 0;
}

// Returns whether a block is linear and all its states are zero at the start.
static bool may_kick(const od_model *m, const od_block *b) {
  for (int i = 0; i < b->states; i++)
    if (m->c0[b->state + i] != 0) return false;
  return b->states > 0 && od_block_is_linear(od_block_spec_in(m, b));
}

// Adds a remark about blocks whose output is not at its steady value. w: scalars of the plant at the start. Returns false if an
// allocation fails.
static bool add_remark(const od_model *m, const od_sim *sim, const double *w, const bool *measures,
                       od_verdict *verdict) {
  char list[400] = "";
  int count = 0;
  for (int i = 0; i < m->blocks; i++) {
    const od_block *b = &m->block[i];
    if (!measures[i] || !may_kick(m, b)) continue;
    double kick = kick_of(m, w, od_sim_rates(sim) + (od_plant_nk(sim->plant) - m->states), b);
    size_t used = strlen(list);
    if (fabs(kick) < 1e-9 || ++count > 5) continue;
    snprintf(list + used, sizeof list - used, "%s'%.60s' by %s", used ? ", " : "", od_model_text(m, b->name),
             od_display_quantity(kick, od_model_text(m, b->unit)).text);
  }
  if (count == 0) return true;
  return od_verdict_add(
      verdict, OD_SOUND, "start.kick", "Transient at the start:",
      "Filters and delays start at zero, not at their steady value for the initial signal. The outputs differ "
      "from the steady values: %s%s. With 'initial: {others: steady}' these blocks start at their steady value.",
      list, count > 5 ? " and more" : "");
}

bool od_start_kicks(const od_machine *machine, od_verdict *verdict) {
  OD_SCRATCH(scratch);
  OD_OWNED(od_plant_free) od_plant *plant = NULL;
  const od_model *m = od_machine_model(machine);
  bool *measures = OD_TAKE(&scratch, bool, m->blocks), any = false;
  double *u = OD_TAKE(&scratch, double, m->inputs);
  if (scratch.exhausted) return false;
  mark_measuring(m, measures);
  for (int i = 0; i < m->blocks; i++) any = any || (measures[i] && may_kick(m, &m->block[i]));
  if (!any) return true;
  od_status status = od_machine_plant(machine, NULL, 0, NULL, 0, &plant, NULL);
  if (status != OD_OK) return status != OD_NO_MEMORY;
  OD_OWNED(od_sim_free) od_sim *sim = od_sim_new(plant);
  int nx = od_plant_nx(plant);
  double *f = OD_TAKE(&scratch, double, nx), *fx = OD_TAKE_MATRIX(&scratch, double, nx, nx);
  if (sim == NULL || scratch.exhausted) return false;
  if (m->inputs) od_machine_inputs(machine, 0, u);
  if (od_sim_start(sim, 0, u) != OD_OK || od_sim_derivatives(sim, f, fx, NULL, NULL) != OD_OK) return true;
  return add_remark(m, sim, od_model_plant_scalars(plant, od_sim_work(sim)), measures, verdict);
}
