// Scaling of chains of bodies without loops: load time, memory, and cost of a step over the number of joints (open_chain.sh).
// See growth.h.
#include <string.h>

#include "growth.h"

int main(int argc, char **argv) {
  // Each kind has its own table and figures; the file name contains the kind.
  const char *last = argv[argc - 1];
  return bench_growth(&(bench_growth_kind){.machine = strstr(last, "spatial") ? "Open chain in space" : "Open chain",
                                           .parts = "joints",
                                           .step = 1e-3,
                                           .steps = 200,
                                           .most_exponent = 1.3,
                                           .most_parts = 200},
                      argc, argv);
}
