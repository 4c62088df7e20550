// Experiment files, in a folder with the files of a case that they may name.
#include "experiment/experiment.h"

#include "fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const char *path = fuzz_file(data, size, "input.yaml", "cases/fourbar-valve");
  od_messages *messages = od_messages_new();
  od_experiment *made = NULL;
  od_status status = od_experiment_load(path, NULL, &made, messages);
  fuzz_judge(status, made, messages);
  od_experiment_free(made);
  return 0;
}
