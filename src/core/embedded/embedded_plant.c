// The plant of a constant description.
#include "base/parts.h"
#include "embedded/embedded_parts.h"
#include "plant/plant_in_arena.h"

od_status od_embedded_make_plant(od_arena *arena, const od_embedded *d, od_plant **plant) {
  const od_plant_choice choice = {d->output, d->outputs, d->number, d->numbers};
  od_status status = od_model_plant_in(arena, d->model, choice, plant, NULL);
  if (status != OD_OK || d->calibrations == 0) return status;
  if (!OD_WITH_CALIBRATIONS) return OD_NOT_AVAILABLE;
  return od_plant_calibrated_in(arena, *plant, d->calibration, d->calibrations, plant, NULL);
}
