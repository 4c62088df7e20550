// MATLAB files.
#include "fuzz/fuzz.h"
#include "io/table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  od_table *table = NULL;
  od_error err = {0};
  od_table_read_mat(fuzz_file(data, size, "input.mat", "cases/crane"), NULL, &table, &err);
  for (int i = 0; table && i < table->columns; i++) od_table_summary(table, i);
  od_table_free(table);
  return 0;
}
