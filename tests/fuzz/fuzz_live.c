// Live lines: an experiment's sensors as a stream with arbitrary lines.
#include "fuzz/fuzz.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "experiment/live_source.h"

static void refuse(void *user, double t, const char *why) {
  (void)t;
  *(size_t *)user += why[0] != '\0';
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  int input = open(fuzz_file(data, size, "input.csv", "tests/fuzz/lag"), O_RDONLY);
  static const char experiment[] = "machine: lag.yaml\nsensors: {lag: {sigma: 50 mV}}\n";
  const char *path = fuzz_file((const uint8_t *)experiment, sizeof experiment - 1, "experiment.yaml", "tests/fuzz/lag");
  od_messages *messages = od_messages_new();
  const od_experiment_options options = {.log.data = {(const char *const[]){"-"}, 1}};
  od_experiment *e = NULL;
  od_experiment_load(path, &options, &e, messages);
  if (!e) abort();
  size_t refused = 0;
  const od_live_options live = {.input = input, .name = "stdin", .refuse = refuse, .user = &refused};
  od_sample_source source = {0};
  od_error err = {0};
  bool more = od_sample_source_live(e, &live, &source, messages, &err) == OD_OK;
  for (od_sample sample; more && source.next(source.self, &sample, &more, &err) == OD_OK;) continue;
  od_sample_source_free(&source);
  od_experiment_free(e);
  od_messages_free(messages);
  close(input);
  return 0;
}
