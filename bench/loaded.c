#include "loaded.h"

#include <stdio.h>

// Older commits have no plain simulations.
#ifdef BENCH_PLAIN
static void make_sim(bench_loaded *c, bool plain) {
  c->sim = plain ? od_sim_plain_new(c->plant) : od_sim_new(c->plant);
  if (c->sim) c->bytes = od_sim_bytes(c->sim);
}
#else
static void make_sim(bench_loaded *c, bool plain) {
  (void)plain;
  c->sim = od_sim_new(c->plant);
  c->bytes = od_sim_size(c->plant);
}
#endif

int bench_load(bench_loaded *c, const char *file, bool plain) {
  *c = (bench_loaded){0};
  od_messages *messages = od_messages_new();
  od_error error = {0};
  if (od_machine_load(file, NULL, &c->machine, messages) != OD_OK)
    od_messages_print(messages, stderr, false);
  else if (od_machine_plant(c->machine, NULL, 0, NULL, 0, &c->plant, &error) != OD_OK)
    fprintf(stderr, "%s: %s\n", file, error.text);
  else
    make_sim(c, plain);
  od_messages_free(messages);
  return c->sim != NULL ? 0 : -1;
}

void bench_unload(bench_loaded *c) {
  od_sim_free(c->sim);
  od_plant_free(c->plant);
  od_machine_free(c->machine);
}
