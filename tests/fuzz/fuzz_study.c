// Study files, in a folder with the files of a case that they may name.
#include "study/study.h"

#include "fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const char *path = fuzz_file(data, size, "input.yaml", "cases/fin-servo");
  od_messages *messages = od_messages_new();
  od_study *made = NULL;
  const od_study_options options = {0};
  od_status status = od_study_load(path, &options, &made, messages);
  fuzz_judge(status, made, messages);
  od_study_free(made);
  return 0;
}
