#include "report/estimated_outputs.h"

#include "integrate/sim_block.h"
#include "plant/inner_plant.h"

// Scalars of the model have the same places in the work memory of all plants of a machine; reactions, which need more memory, are not among
// the outputs.
od_status od_estimated_outputs(const od_plant *plant, od_sim *sim, double *y) {
  void *work = od_sim_work(sim);
  od_status status = od_sim_refresh(sim);
  od_innermost_plant(sim->plant, &work);
  return status == OD_OK ? plant->ops->outputs(plant, work, od_sim_energy(sim), y) : status;
}
