// Friction files. They are loaded but not fitted, because runs may be long.
#include "friction_fit/friction_plan.h"

#include "fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const char *path = fuzz_file(data, size, "input.yaml", "cases/cylinder-friction");
  static const char *const variants[] = {NULL, "map", "log"};
  for (int i = 0; i < 3; i++) {
    od_messages *messages = od_messages_new();
    od_friction_plan *made = NULL;
    const od_friction_options options = {.variant = variants[i]};
    od_status status = od_friction_plan_load(path, &options, &made, messages);
    fuzz_judge(status, made, messages);
    od_friction_plan_free(made);
  }
  return 0;
}
