// Scaling of large circuits: load time, memory, and cost of a step over the number of volumes (circuit.sh). See
// growth.h.
#include "growth.h"

int main(int argc, char **argv) {
  return bench_growth(
      &(bench_growth_kind){
          .machine = "Circuit", .parts = "volumes", .step = 2e-4, .most_exponent = 1.3, .most_parts = 3000},
      argc, argv);
}
