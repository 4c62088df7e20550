// Fit files, in a folder with the files of a case that they may name.
#include "identify/fit.h"

#include "fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const char *path = fuzz_file(data, size, "input.yaml", "cases/fin-servo");
  od_messages *messages = od_messages_new();
  od_fit_plan *made = NULL;
  od_status status = od_fit_plan_load(path, NULL, &made, messages);
  fuzz_judge(status, made, messages);
  od_fit_plan_free(made);
  return 0;
}
