// Units, as a text.
#include "fuzz/fuzz.h"

#include <stdlib.h>

#include "document/units.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  fuzz_file(data, 0, "input", "cases/crane");  // the small database of units
  char *text = fuzz_text(data, size);
  od_error err = {0};
  od_units *units = od_units_new(&err);
  double value;
  if (!units) abort();
  od_units_convert(units, text, "Pa", 1, &value);
  od_units_measures(units, text);
  od_units_is_si(units, text);
  od_units_suggest(text);
  od_units_free(units);
  free(text);
  return 0;
}
