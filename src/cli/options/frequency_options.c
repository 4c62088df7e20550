#include "options/frequency_options.h"

#include "terminal/exit_codes.h"
#include "options/option_values.h"
#include "terminal/terminal.h"
#include "linear/response.h"

int od_frequencies_choose(const od_frequency_arguments *a, const od_linear_model *model, int points, od_arena *arena,
                          double **out, int *count) {
  double low, high;
  od_frequencies_range(model, &low, &high);
  *count = points;
  bool ok = od_option_quantity("low", a->low, "Hz", &low);
  ok = od_option_quantity("high", a->high, "Hz", &high) && ok;
  ok = od_option_count("points", a->points, count) && ok;
  if (ok && !(low < high)) {
    od_cli_error("--high: the highest frequency, %.6g Hz, is not above the lowest, %.6g Hz", high, low);
    ok = false;
  }
  if (ok && (*count < 2 || *count > 1000000)) {
    od_cli_error("--points: between 2 and 1000000 frequencies are possible, not %d", *count);
    ok = false;
  }
  if (!ok) return OD_EXIT_BAD_INPUT;
  *out = od_frequencies_make(low, high, *count, arena);
  if (*out) return -1;
  od_cli_error("%s", od_status_text(OD_NO_MEMORY));
  return od_exit_code(OD_NO_MEMORY);
}
