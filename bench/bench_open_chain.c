// How a chain of bodies without loops grows: load, memory, and the cost of a step over the number of joints (open_chain.sh). See
// growth.h.
#include <string.h>

#include "growth.h"

int main(int argc, char **argv) {
  // Both kinds have a table and figures of their own; their files say which they are.
  const char *last = argv[argc - 1];
  return bench_growth(&(bench_growth_kind){.machine = strstr(last, "spatial") ? "Open chain in space" : "Open chain",
                                           .parts = "joints",
                                           .step = 1e-3,
                                           .steps = 200,
                                           .most_exponent = 1.3,
                                           .most_parts = 200},
                      argc, argv);
}
