// The texts of --set, one in each line, for a machine.
#include "fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  enum { MOST = 8 };
  static const char empty[] = "";
  fuzz_file((const uint8_t *)empty, 0, "input", "tests/fuzz/lag");  // the small database of units
  char *text = fuzz_text(data, size), *rest = NULL;
  const char *set[MOST];
  int count = 0;
  for (char *line = strtok_r(text, "\n", &rest); line && count < MOST; line = strtok_r(NULL, "\n", &rest))
    set[count++] = line;
  const od_load_options options = {.set = set, .set_count = count};
  od_messages *messages = od_messages_new();
  od_machine *machine = NULL;
  od_status status = od_machine_load(OD_SOURCE_DIR "/tests/fuzz/lag/lag.yaml", &options, &machine, messages);
  fuzz_judge(status, machine, messages);
  od_machine_free(machine);
  free(text);
  return 0;
}
