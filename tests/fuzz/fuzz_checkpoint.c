// Checkpoints of runs of `simulate` and `observe`. An input chooses a run and lists changes of its checkpoint; most inputs have a
// repaired checksum. A run that goes on from a changed checkpoint ends with a result or a message: no crash and no hang. Without repair
// every changed checkpoint is refused. Some checkpoints pass through a file, as those of the program do.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/allocate.h"
#include "experiment/observe.h"
#include "fuzz/fuzz.h"
#include "machine/machine.h"
#include "simulate/run.h"

// Ways to run a small machine. Judged runs take longest; libFuzzer tries few of them.
static const struct {
  const char *integrator;
  bool adaptive, judged;
} methods[] = {{"tr-bdf2", true, true}, {"trapezoid", false, false}, {"tr-bdf2", true, false}, {"rk4", false, false}};
static const struct {
  const char *file, *variant;
} experiments[] = {{"lag", NULL},         {"lag", "iterated"},      {"lag", "second-order"},
                   {"lag", "ukf"},        {"lag", "relinearizing"}, {"leak", NULL},
                   {"leak", "continuous"}};
enum {
  METHODS = sizeof methods / sizeof *methods,
  EXPERIMENTS = sizeof experiments / sizeof *experiments,
  MACHINES = 12,  // the smallest machines
  RUNS = MACHINES * METHODS,
  SUBJECTS = RUNS + EXPERIMENTS,
  HEADER = 144,
  GROUP = 12,
  MOST_CHANGES = 30,
  // Number of calls of the function `progress`, once per 64 steps, after which a run is interrupted.
  MOST_CALLS = 4,
  MOST_CALLS_JUDGED = 30
};
enum {
  REPAIRED = 0x0f,
  IN_FILE = 0xf0
};  // bits of the second byte: one of them is set: repaired; none is set: in a file

typedef struct subject {
  const od_machine *machine;
  od_experiment *experiment;
  od_run_options run;
  od_checkpoint checkpoint, changed;
  int outputs[2];
} subject;

// ---- subjects

static int calls;
static bool is_patient(void *user, double done) {
  (void)done;
  return ++calls < *(const int *)user;
}

static od_status simulate(const subject *s, const od_checkpoint *resume, od_checkpoint *checkpoint, double time,
                          od_error *err) {
  OD_SCOPED(od_run_report_free) od_run_report report = {0};
  od_table *table = NULL;
  od_run_options options = s->run;
  options.time = time, options.resume = resume, options.checkpoint = checkpoint;
  int most = s->run.unjudged ? MOST_CALLS : MOST_CALLS_JUDGED;
  options.progress = is_patient, options.user = &most;
  calls = 0;
  od_status status = od_run(s->machine, &options, &table, &report, err);
  od_table_free(table);
  return status;
}

static od_status observe(const subject *s, const od_checkpoint *resume, od_checkpoint *checkpoint, long samples,
                         od_error *err) {
  OD_OWNED(od_observed_free) od_observed *o = NULL;
  int most = MOST_CALLS;
  const od_observe_options options = {
      .progress = is_patient, .user = &most, .resume = resume, .checkpoint = checkpoint, .samples = samples};
  calls = 0;
  return od_observe(s->experiment, &options, &o, err);
}

static const double row = 1e-3;  // s
enum { ROWS_BEFORE = 3, ROWS_AFTER = 2, SAMPLES_BEFORE = 4 };

static void make_run(subject *s, int machine, int method) {
  s->machine = fuzz_machine(FUZZ_MACHINES - 1 - machine);
  s->outputs[1] = od_machine_output_count(s->machine) - 1;
  s->run = (od_run_options){.step = row,
                            .integrator = methods[method].integrator,
                            .adaptive = methods[method].adaptive,
                            .unjudged = !methods[method].judged,
                            .outputs = s->outputs,
                            .output_count = 2};
  od_error err = {0};
  if (simulate(s, NULL, &s->checkpoint, ROWS_BEFORE * row, &err) != OD_OK) abort();
}

static void make_experiment(subject *s, int index) {
  char path[500];
  snprintf(path, sizeof path, OD_SOURCE_DIR "/tests/fuzz/lag/%s.experiment.yaml", experiments[index].file);
  const od_experiment_options options = {.variant = experiments[index].variant};
  od_error err = {0};
  od_messages *messages = od_messages_new();
  if (od_experiment_load(path, &options, &s->experiment, messages) != OD_OK ||
      observe(s, NULL, &s->checkpoint, SAMPLES_BEFORE, &err) != OD_OK)
    abort();
  od_messages_free(messages);
}

static subject *subject_of(int index) {
  static subject all[SUBJECTS];
  subject *s = &all[index];
  if (s->checkpoint.bytes) return s;
  if (index < RUNS)
    make_run(s, index % MACHINES, index / MACHINES);
  else
    make_experiment(s, index - RUNS);
  s->changed = (od_checkpoint){od_malloc(s->checkpoint.size), s->checkpoint.size};
  if (!s->checkpoint.bytes || !s->changed.bytes) abort();
  return s;
}

static od_status go_on(const subject *s, const od_checkpoint *from, od_error *err) {
  return s->experiment ? observe(s, from, NULL, 0, err)
                       : simulate(s, from, NULL, (ROWS_BEFORE + ROWS_AFTER) * row, err);
}

// ---- changes

static void change(unsigned char *bytes, size_t size, const uint8_t *by) {
  static const double values[] = {0, -1, 1, NAN, INFINITY, 1e300, 2147483648.0, 1e-300};
  static const int64_t integers[] = {0, 1, -1, 2, 3, 1 << 30, INT64_MIN, INT64_MAX};
  size_t place = ((size_t)by[0] | (size_t)by[1] << 8 | (size_t)by[2] << 16);
  if (by[3] >= 250)
    place %= HEADER;
  else if (by[3] % 2)  // times, counts and flags are in the first pieces
    place = HEADER + place % (size < HEADER + 512 ? size - HEADER : 512);
  else
    place = HEADER + place % (size - HEADER);
  double value = values[by[4] % 8];
  int64_t integer = integers[by[4] % 8];
  size_t eight = place / 8 * 8;
  switch (by[3] / 2 % 4) {
    case 0: memcpy(bytes + eight, &value, sizeof value); break;
    case 1: memcpy(bytes + eight, &integer, sizeof integer); break;
    case 2: memcpy(bytes + eight, by + 4, 8); break;
    default: bytes[place] = by[4];
  }
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed) {
  return fuzz_mutate(data, size, most, seed, 2, GROUP, SUBJECTS, MACHINES);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 2) return 0;
  od_error err = {0};
  subject *s = subject_of(data[0] % SUBJECTS);
  size_t bytes = s->checkpoint.size;
  memcpy(s->changed.bytes, s->checkpoint.bytes, bytes);
  for (size_t at = 2, k = 0; at + GROUP <= size && k < MOST_CHANGES; at += GROUP, k++)
    change(s->changed.bytes, bytes, data + at);
  bool same = memcmp(s->changed.bytes, s->checkpoint.bytes, bytes) == 0, repaired = (data[1] & REPAIRED) != 0;
  if (repaired) od_saved_repair(s->changed.bytes, bytes);
  od_checkpoint copy = s->changed;
  bool in_file = (data[1] & IN_FILE) == 0;
  if (in_file &&
      od_checkpoint_read(&copy, fuzz_file(s->changed.bytes, bytes, "checkpoint", "tests/fuzz/lag"), &err) != OD_OK)
    abort();
  od_status status = go_on(s, &copy, &err);
  if (in_file) od_checkpoint_free(&copy);
  // The original is always accepted. Refused checkpoints and failed runs have a message.
  if (same ? status != OD_OK : !repaired && status != OD_BAD_INPUT) abort();
  if (status != OD_OK && !err.text[0]) abort();
  return 0;
}
