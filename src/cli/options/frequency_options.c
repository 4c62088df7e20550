#include "options/frequency_options.h"

#include "linear/response.h"
#include "options/option_values.h"
#include "terminal/exit_codes.h"
#include "terminal/terminal.h"

int od_frequencies_choose(const od_frequency_arguments *a, const od_linear_model *model, int points, od_arena *arena,
                          double **out, int *count) {
  double low, high;
  od_frequencies_range(model, &low, &high);
  *count = points;
  bool ok = od_option_quantity("low", a->low, "Hz", &low);
  ok = od_option_quantity("high", a->high, "Hz", &high) && ok;
  ok = od_option_count("points", a->points, count) && ok;
  if (!ok) return OD_EXIT_BAD_INPUT;
  if (!(low < high)) {
    od_cli_error("--high: found %.6g Hz, expected more than the lowest frequency, %.6g Hz", high, low);
    return OD_EXIT_BAD_INPUT;
  }
  if (*count < 2 || *count > 1000000) {
    od_cli_error("--points: found %d, expected 2 to 1000000 frequencies", *count);
    return OD_EXIT_BAD_INPUT;
  }
  *out = od_frequencies_make(low, high, *count, arena);
  return *out ? OD_GO_ON : od_exit_early(OD_NO_MEMORY, &(od_error){.text = "out of memory"});
}
