// Random machines for tests: trees of all joint types with springs, forces and torques, loops of all kinds that close,
// hydraulic circuits with every element, and networks of blocks that measure and drive them.
#ifndef OD_RANDOM_MACHINE_H
#define OD_RANDOM_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

#include "model/builder.h"
#include "model/model.h"

typedef struct od_dice {
  uint64_t state;
} od_dice;
double od_dice_uniform(od_dice *d, double low, double high);
int od_dice_pick(od_dice *d, int count);  // 0 .. count - 1
// Random numbers that belong to a name.
static inline uint64_t od_dice_seed(const char *name) {
  uint64_t seed = 100;
  for (; *name; name++) seed = 31 * seed + (unsigned char)*name;
  return seed;
}

// A machine of the requested kind; NULL if the random machine cannot move (try the next seed).
od_model *od_random_machine(uint64_t seed, bool planar, bool loops, bool circuit, bool blocks);
// The same with sparse or dense rows and matrices of the circuit.
od_model *od_random_machine_with(uint64_t seed, bool planar, bool loops, bool circuit, bool blocks,
                                 od_sparsity sparsity);

#endif
