// A plant that contains an inner plant and replaces some of its functions; the other functions are forwarded to the inner plant.
#ifndef OD_INNER_PLANT_H
#define OD_INNER_PLANT_H

#include "oleodyn/plant.h"

// The first member of the data of a containing plant; plant.model points to this struct.
typedef struct od_inner_plant {
  od_plant plant, *inner;
  od_plant_ops ops;
  size_t work;  // offset of the inner plant's work memory
} od_inner_plant;

static inline double *od_inner_at(const void *work, size_t offset) {
  return (double *)((char *)work + offset);
}
static inline void *od_inner_work(const od_inner_plant *d, const void *work) {
  return (char *)work + d->work;
}

// Returns the functions of the inner plant that can be forwarded unchanged.
od_plant_ops od_inner_plant_ops(const od_plant_ops *inner);

// Returns the innermost plant of a plant that may contain others, and replaces *work, the work memory of the plant, by the work memory
// of the innermost plant.
const od_plant *od_innermost_plant(const od_plant *plant, void **work);

#endif
