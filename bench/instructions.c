#define _GNU_SOURCE
#include "instructions.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/perf_event.h>

static const char *source = "callgrind";

static double by_hardware(const bench_subject *s, int steps) {
  struct perf_event_attr what = {.type = PERF_TYPE_HARDWARE,
                                 .size = sizeof what,
                                 .config = PERF_COUNT_HW_INSTRUCTIONS,
                                 .disabled = 1,
                                 .exclude_kernel = 1,
                                 .exclude_hv = 1};
  const int counter = (int)syscall(SYS_perf_event_open, &what, 0, -1, -1, 0);
  if (counter < 0) return -1;
  uint64_t value = 0;
  bool good = s->start(s->self) == 0 && ioctl(counter, PERF_EVENT_IOC_ENABLE, 0) == 0 && bench_advance(s, steps) == 0;
  good = ioctl(counter, PERF_EVENT_IOC_DISABLE, 0) == 0 && good;
  good = read(counter, &value, sizeof value) == (ssize_t)sizeof value && good;
  close(counter);
  return good && value > 0 ? (double)value / steps : -1;
}

// Appends a word for the shell in single quotes. A word that contains a single quote is rejected.
static bool append(char *command, size_t size, const char *word) {
  const size_t used = strlen(command);
  if (strchr(word, '\'')) return false;
  const int length = snprintf(command + used, size - used, " '%s'", word);
  return length > 0 && (size_t)length < size - used;
}

static double by_callgrind(const bench_callgrind *how) {
  char command[4096] = "", few[16], many[16];
  snprintf(few, sizeof few, "%d", how->few);
  snprintf(many, sizeof many, "%d", how->many);
  const char *const words[] = {how->script, few, many, "bench_advance", how->program};
  bool good = true;
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) good = good && append(command, sizeof command, words[i]);
  for (int i = 0; i < 3 && how->arguments[i]; i++) good = good && append(command, sizeof command, how->arguments[i]);
  FILE *pipe = good ? popen(command, "r") : NULL;
  if (pipe == NULL) return -1;
  double value;
  good = fscanf(pipe, "%lf", &value) == 1;
  return pclose(pipe) == 0 && good ? value : -1;
}

double bench_instructions(const bench_subject *subject, const bench_callgrind *how) {
  if (!bench_wants_instructions()) return 0;
  const double value = by_hardware(subject, how->many);
  source = value > 0 ? "the processor's counter" : "callgrind";
  return value > 0 ? value : by_callgrind(how);
}

const char *bench_instructions_source(void) {
  return source;
}
