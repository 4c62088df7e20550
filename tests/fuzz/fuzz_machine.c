// Machine files.
#include "oleodyn/machine.h"

#include "fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const char *path = fuzz_file(data, size, "input.yaml", "cases/crane");
  od_messages *messages = od_messages_new();
  od_machine *made = NULL;
  od_status status = od_machine_load(path, NULL, &made, messages);
  fuzz_judge(status, made, messages);
  od_machine_free(made);
  return 0;
}
