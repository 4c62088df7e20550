// A plant around another one, of which it changes some operations: the others are handed on to the plant inside.
#ifndef OD_INNER_PLANT_H
#define OD_INNER_PLANT_H

#include "oleodyn/plant.h"

// Begins every such plant; plant.model points to it.
typedef struct od_inner_plant {
  od_plant plant, *inner;
  od_plant_ops ops;
  size_t work;  // where the memory of the plant inside begins
} od_inner_plant;

static inline double *od_inner_at(const void *work, size_t offset) {
  return (double *)((char *)work + offset);
}
static inline void *od_inner_work(const od_inner_plant *d, const void *work) {
  return (char *)work + d->work;
}

// What can be handed on as it is, and the plant inside offers.
od_plant_ops od_inner_plant_ops(const od_plant_ops *inner);

#endif
