// MATLAB files. The check whether a file is complete runs in this process, under the sanitizers and the fuzzer. Files that
// pass are also read, by the program oleodyn-mat, in which the reading library may crash.
#include "fuzz/fuzz.h"

#include <stdlib.h>

#include "io/mat_integrity.h"
#include "formats/read_table.h"
#include "io/table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const char *path = fuzz_file(data, size, "input.mat", "cases/crane");
  long long bytes = 0;
  od_error err = {0}, why = {0};
  od_status whole = od_mat_check_integrity(path, 0, &bytes, &why);
  if (bytes != (long long)size || (whole != OD_OK && !why.text[0])) abort();
  od_table *table = NULL;
  if (whole == OD_OK && (od_table_read_mat(path, NULL, &table, &err) == OD_OK) != (table != NULL)) abort();
  if (whole == OD_OK && !table && !err.text[0]) abort();
  for (int i = 0; table && i < table->columns; i++) od_table_summary(table, i);
  od_table_free(table);
  return 0;
}
