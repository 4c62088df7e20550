// Plants in the memory of an arena. Such a plant needs no od_plant_free(); the plant ends with its arena. Programs without
// allocation create their plants with these functions.
#ifndef OD_PLANT_IN_ARENA_H
#define OD_PLANT_IN_ARENA_H

#include "base/arena.h"
#include "oleodyn/build.h"

// Outputs and parameters of a plant: indices of outputs and of numbers of the model.
typedef struct od_plant_choice {
  const int *output;
  int outputs;
  const int *parameter;
  int parameters;
} od_plant_choice;

// Create plants as od_model_plant() and od_plant_calibrated() do, but in the memory of an arena. The inner plant must
// outlive the plant of od_plant_calibrated_in().
od_status od_model_plant_in(od_arena *arena, const od_model *model, od_plant_choice choice, od_plant **out,
                            od_error *err);
od_status od_plant_calibrated_in(od_arena *arena, od_plant *inner, const od_calibration *item, int count,
                                 od_plant **out, od_error *err);

#endif
