// Twin files, in a folder with the files of an experiment that they may name.
#include "fuzz/fuzz.h"
#include "twin/twin.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const char *path = fuzz_file(data, size, "input.yaml", "tests/fuzz/lag");
  od_messages *messages = od_messages_new();
  od_twin *made = NULL;
  od_status status = od_twin_load(path, (od_content){0}, &made, messages);
  fuzz_judge(status, made, messages);
  od_twin_free(made);
  return 0;
}
