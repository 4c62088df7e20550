// A machine file with a simulation of it, to be measured.
#ifndef BENCH_LOADED_H
#define BENCH_LOADED_H

#include <stdbool.h>
#include <stddef.h>

#include "oleodyn/oleodyn.h"

typedef struct bench_loaded {
  od_machine *machine;
  od_plant *plant;
  od_sim *sim;
  size_t bytes;  // of the simulation
} bench_loaded;

// Plain: a simulation without derivatives, if the library has it. Returns -1 after a message.
int bench_load(bench_loaded *c, const char *file, bool plain);
void bench_unload(bench_loaded *c);

#endif
